// Invitations by a CSV list: reading the list before it is sent, and the result of each line.
import type { InvitedPeople, WrongLine } from "../../protocol/rest.ts";

/** Limits of the server. */
export const MOST_LINES = 1_000;
export const MOST_BYTES = 256 * 1_024;

interface Record {
  /** Line on which the record begins, from 1. */
  line: number;
  fields: string[];
}

/** Records of CSV text (RFC 4180). Empty lines are left out. */
export function recordsOf(text: string): Record[] {
  const records: Record[] = [];
  let [fields, field, line, start, isQuoted] = [[] as string[], "", 1, 1, false];
  const end = () => {
    fields.push(field);
    if (fields.length > 1 || field.trim() !== "") records.push({ line: start, fields });
    [fields, field] = [[], ""];
  };
  for (let at = 0; at < text.length; at++) {
    const character = text[at];
    if (character === "\n") line++;
    if (isQuoted) {
      if (character !== '"') field += character;
      else if (text[at + 1] === '"') field += text[++at];
      else isQuoted = false;
    } else if (character === '"' && field === "") isQuoted = true;
    else if (character === ",") {
      fields.push(field);
      field = "";
    } else if (character === "\n") {
      end();
      start = line;
    } else if (character !== "\r") field += character;
  }
  end();
  return records;
}

export interface ReadList {
  /** Logins by line. */
  logins: Map<number, string>;
  /** Reason for which the list is not sent. */
  problem?: string;
}

/** Reads a list as far as the page needs it; the server checks each line. */
export function readList(text: string): ReadList {
  const [head, ...people] = recordsOf(text.replace(/^\uFEFF/, ""));
  const names = head?.fields.map((name) => name.trim().toLowerCase()) ?? [];
  const column = names.indexOf("login");
  const logins = new Map(people.map(({ line, fields }) => [line, fields[column]?.trim() ?? ""]));
  const problem = problemOf(text, column, people.length);
  return { logins, ...(problem && { problem }) };
}

function problemOf(text: string, column: number, count: number): string | undefined {
  if (text.trim() === "") return "Paste a list or choose a file.";
  if (column < 0) return "The first line must name the columns, and “login” must be one of them.";
  if (count === 0) return "The list has no people below its first line.";
  if (count > MOST_LINES)
    return `The list has ${count.toLocaleString()} people. At most ${MOST_LINES.toLocaleString()} fit; split it.`;
  if (new TextEncoder().encode(text).length > MOST_BYTES) return "The list is larger than 256 KB. Split it.";
  return undefined;
}

export type ListRow = { line: number; login: string; name?: string; email?: string } & (
  { state: "invited"; token: string; expires_at?: number | null } | { state: "existing" } | { state: "wrong"; message: string }
);

/** Results by line, in the order of the list. */
export function rowsOf({ invited, existing }: InvitedPeople): ListRow[] {
  const rows: ListRow[] = [
    ...invited.map(({ line, user, email, token, expires_at }) => ({
      line,
      login: user.login ?? "",
      name: user.name,
      email: email ?? "",
      state: "invited" as const,
      token,
      ...(expires_at != null && { expires_at }),
    })),
    ...existing.map(({ line, login }) => ({ line, login, state: "existing" as const })),
  ];
  return rows.sort((one, other) => one.line - other.line);
}

export function wrongRows(lines: readonly WrongLine[], { logins }: ReadList): ListRow[] {
  return lines.map(({ line, message }) => ({ line, login: logins.get(line) ?? "", state: "wrong", message }));
}

/** Wrong lines of a refusal; empty if it names none. */
export function wrongLines(body: unknown): WrongLine[] {
  const { lines } = (body ?? {}) as { lines?: WrongLine[] | null };
  return lines ?? [];
}

/** Links of invited people as CSV. */
export function linksCsv(rows: readonly ListRow[], linkOf: (token: string) => string): string {
  const lines = rows.flatMap((row) =>
    row.state === "invited" ? [[row.login, row.name ?? "", row.email ?? "", linkOf(row.token)]] : [],
  );
  return [["login", "name", "email", "link"], ...lines].map((fields) => fields.map(quoted).join(",")).join("\r\n") + "\r\n";
}

/** Links of invited people as text, one a line. */
export function linksText(rows: readonly ListRow[], linkOf: (token: string) => string): string {
  return rows.flatMap((row) => (row.state === "invited" ? [`${row.name || row.login}: ${linkOf(row.token)}`] : [])).join("\n");
}

/** A field of CSV. A spreadsheet would calculate a text that begins like a formula. */
function quoted(field: string): string {
  const text = /^[=+\-@\t]/.test(field) ? `'${field}` : field;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Text of a file; undefined if it is not UTF-8. */
export function textOf(bytes: ArrayBuffer): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
