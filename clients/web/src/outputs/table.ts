// A table of data: what is sorted, found, shown on a page, copied. Knows no DOM.

export interface Field {
  text: string;
  /** Harmless HTML, where a cell holds more than text. */
  html?: string;
  isHeader?: boolean;
  /** A database's NULL, which is no empty text. */
  isNull?: boolean;
}

export interface Column {
  name: string;
  /** Its type, as Polars writes it below the name. */
  note?: string;
  isNumeric: boolean;
}

export interface Table {
  columns: Column[];
  rows: Field[][];
  /** How many rows the data has, where the output shows fewer. */
  total?: number;
  /** Of a query: how long it took, and where. */
  caption?: string;
  /** What is to be known of it: that rows were left out. */
  notice?: string;
}

export interface Sorting {
  column: number;
  isDown: boolean;
}

const MISSING = new Set(["", "nan", "none", "null", "<na>", "nat", "…", "..."]);
const words = new Intl.Collator(undefined, { numeric: true, sensitivity: "base" });

export function numberOf(text: string): number | undefined {
  const plain = text.replace(/[\s_,$€£%]/g, "");
  const value = plain === "" ? NaN : Number(plain);
  return Number.isNaN(value) ? undefined : value;
}

const isMissing = (text: string) => MISSING.has(text.trim().toLowerCase());

/** A column is numeric when all that it holds is. */
export function columnOf(name: string, texts: string[], note?: string): Column {
  const held = texts.filter((text) => !isMissing(text));
  const isNumeric = held.length > 0 && held.every((text) => numberOf(text) !== undefined);
  return { name, isNumeric, ...(note && { note }) };
}

/** What is missing stands last in both directions; equal rows keep their order. */
export function sorted(table: Table, { column, isDown }: Sorting): Field[][] {
  const isNumeric = table.columns[column]?.isNumeric ?? false;
  const text = (row: Field[]) => row[column]?.text ?? "";
  return [...table.rows].sort((a, b) => {
    const [left, right] = [text(a), text(b)];
    if (isMissing(left) || isMissing(right)) return Number(isMissing(left)) - Number(isMissing(right));
    const order = isNumeric ? (numberOf(left) ?? 0) - (numberOf(right) ?? 0) : words.compare(left, right);
    return isDown ? -order : order;
  });
}

export function filtered(rows: Field[][], text: string): Field[][] {
  const wanted = text.trim().toLowerCase();
  return wanted === "" ? rows : rows.filter((row) => row.some((field) => field.text.toLowerCase().includes(wanted)));
}

export function csv(table: Table, rows: Field[][], columns: number[]): string {
  const line = (fields: string[]) =>
    fields.map((field) => (/[",\n\r]/.test(field) ? `"${field.replaceAll('"', '""')}"` : field)).join(",");
  const head = line(columns.map((column) => table.columns[column]?.name ?? ""));
  return [head, ...rows.map((row) => line(columns.map((column) => row[column]?.text ?? "")))].join("\n") + "\n";
}

/** The two header rows of pandas (names, then the index's name) and of Polars (names, then types) are one. */
export function headed(head: string[][], rows: Field[][], total?: number): Table | undefined {
  const [first, second = []] = head;
  if (!first || head.length > 2 || rows.some((row) => row.length !== first.length)) return undefined;
  if (second.length > 0 && second.length !== first.length) return undefined;
  const kept = rows.filter((row) => !row.every(({ text }) => text === "..." || text === "…" || text === "⋮"));
  const columns = first.map((name, index) => {
    const below = second[index] ?? "";
    const texts = kept.map((row) => row[index]?.text ?? "");
    return columnOf(name || below, texts, name && below ? below : undefined);
  });
  const isCut = total !== undefined && total > kept.length;
  return { columns, rows: kept, ...(isCut && { total }) };
}

/** “1000 rows × 5 columns” of pandas, “shape: (1_000, 5)” of Polars. */
export function totalIn(text: string): number | undefined {
  const found = /([\d_,]+) rows ×/.exec(text)?.[1] ?? /shape: \(([\d_,]+)/.exec(text)?.[1];
  return found === undefined ? undefined : Number(found.replace(/[_,]/g, ""));
}

interface Resource {
  schema?: { fields?: { name: unknown; type?: unknown; database_type?: unknown }[] };
  data?: unknown;
  total?: unknown;
  caption?: unknown;
}

/** A tabular data resource (Frictionless), as pandas and nteract write it; of an SQL cell with the database's types and all rows. */
export function ofResource(resource: unknown): Table | undefined {
  const { schema, data, total, caption } = (resource ?? {}) as Resource;
  if (!Array.isArray(schema?.fields) || !Array.isArray(data)) return undefined;
  const names = schema.fields.map(({ name }) => String(name));
  const textOf = (value: unknown) =>
    value === null || value === undefined ? "" : typeof value === "object" ? JSON.stringify(value) : String(value);
  const rows = data.map((row: Record<string, unknown>) =>
    names.map((name): Field => ({ text: textOf(row[name]), ...(row[name] === null && { isNull: true }) })),
  );
  const types = schema.fields.map(({ type, database_type }) => String(database_type ?? type ?? ""));
  const table = headed([names, types], rows, typeof total === "number" ? total : undefined);
  return table && { ...table, ...(typeof caption === "string" && captionOf(caption)) };
}

/** `the first 1,000 of 3,000 rows, 6 ms, duckdb. More rows …`: the page counts the rows itself. */
export function captionOf(text: string): Pick<Table, "caption" | "notice"> {
  const [, soFar = "", rest = ""] = /^(?:(?:the first [\d,]+ of )?[\d,]+ rows?( so far)?, )?(.*)$/s.exec(text) ?? [];
  const [, caption = "", notice] = /^(.*?)(?:\. (.*))?$/s.exec(rest) ?? [];
  return { caption: `${soFar && "so far, "}${caption}`, ...(notice && { notice }) };
}

/** The table with all its rows; what its columns hold may show only then. */
export function whole({ columns, caption, notice }: Table, rows: Field[][]): Table {
  const texts = (index: number) => rows.map((row) => row[index]?.text ?? "");
  const said = { ...(caption && { caption }), ...(notice && { notice }) };
  return { ...said, rows, columns: columns.map(({ name, note }, index) => columnOf(name, texts(index), note)) };
}
