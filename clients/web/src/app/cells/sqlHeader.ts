// Header line of an SQL cell: `-- @warehouse write > orders`. Same grammar as clients/python/notarium_kernel/sql/header.py.

export interface SqlHeader {
  /** Undefined: DuckDB in the kernel. */
  connection: string | undefined;
  writes: boolean;
  /** Undefined: the result is only displayed. */
  variable: string | undefined;
}

export interface FoundHeader extends SqlHeader {
  /** Range of the line; both 0 without a header. */
  from: number;
  to: number;
}

const LINE = /^--[ \t]*(?=[@>])(?:@(\S*))?((?:[ \t]+[^\s>]+)*)[ \t]*(?:>(.*))?$/;

export function readHeader(source: string): FoundHeader {
  const none = { connection: undefined, writes: false, variable: undefined, from: 0, to: 0 };
  const found = /[^\s][^\n]*/.exec(source);
  const line = found && LINE.exec(found[0].trimEnd());
  if (!line) return none;
  const [connection, words, variable] = [line[1], line[2]?.trim() ?? "", line[3]?.trim()];
  const [from, to] = [found.index, found.index + found[0].trimEnd().length];
  return {
    connection: connection || undefined,
    writes: words.split(/\s+/).includes("write"),
    variable: variable || undefined,
    from,
    to,
  };
}

/** Line of a source as a person counts who sees the header as fields, not as a line. */
export function seenLine(source: string, line: number): number {
  const { from, to } = readHeader(source);
  const isLine = from === 0 && to > 0 && source[to] === "\n";
  return isLine && line > 1 ? line - 1 : line;
}

/** The header line without its line break; empty if all values are defaults. */
export function headerLine({ connection, writes, variable }: SqlHeader): string {
  if (connection === undefined && !writes && variable === undefined) return "";
  // `write` needs a connection name, so the default (DuckDB) is named.
  const named = connection ?? (writes ? "duckdb" : undefined);
  return ["--", named && `@${named}`, writes && "write", variable !== undefined && `> ${variable}`].filter(Boolean).join(" ");
}

/** Edit that replaces the header line, with its line break. */
export function headerChange(source: string, header: SqlHeader): { from: number; to: number; insert: string } {
  const { from, to } = readHeader(source);
  const line = headerLine(header);
  if (from === to) return { from: 0, to: 0, insert: line && line + "\n" };
  const isWhole = line === "" && source[to] === "\n";
  return { from, to: isWhole ? to + 1 : to, insert: line };
}

const KEYWORDS = new Set(
  (
    "False None True and as assert async await break class continue def del elif else except finally for from global if import in is lambda " +
    "nonlocal not or pass raise return try while with yield"
  ).split(" "),
);

/** True for a valid Python variable name. */
export function isVariable(name: string): boolean {
  return /^[\p{L}_][\p{L}\p{N}_]*$/u.test(name) && !KEYWORDS.has(name);
}
