// Model of a displayed table: sorting, columns, parsing. Does not use the DOM.
import { exactJson, exactText } from "../protocol/exactJson.ts";
import { compareNumbers, numberOf } from "./numbers.ts";

export interface Field {
  text: string;
  isHeader?: boolean;
  /** The value is NULL in the database, which differs from an empty text. */
  isNull?: boolean;
  /** Text displayed for a missing value that is not NULL. */
  word?: string;
}

export interface Column {
  name: string;
  /** Type of the column, displayed below the name. */
  note?: string;
  isNumeric: boolean;
  /** Kind of a data frame's column: `integer`, `number`, `boolean`, `datetime`, `text`, `any`. */
  kind?: string;
  missing?: string;
  isIndex?: boolean;
}

export interface Table {
  columns: Column[];
  rows: Field[][];
  /** Number of rows of the data, if the output has fewer. */
  total?: number;
  /** Duration and connection of a query. */
  caption?: string;
  /** A remark, such as rows left out. */
  notice?: string;
  /** Type of a data frame: `pandas.DataFrame` … */
  kind?: string;
  /** Name in the kernel, which has all rows. */
  name?: string;
  /** Number of columns that were left out. */
  columnsLeftOut?: number;
}

export interface Sorting {
  column: number;
  isDown: boolean;
}

const MISSING = new Set(["", "nan", "none", "null", "<na>", "nat", "…", "..."]);
const words = new Intl.Collator(undefined, { numeric: true, sensitivity: "base" });

const isMissing = (text: string) => MISSING.has(text.trim().toLowerCase());

/** Column of texts; numeric if all present values are. */
export function columnOf(name: string, texts: string[], note?: string): Column {
  const held = texts.filter((text) => !isMissing(text));
  const isNumeric = held.length > 0 && held.every((text) => numberOf(text) !== undefined);
  return { name, isNumeric, ...(note && { note }) };
}

/** Sorted rows: missing values last in both directions, equal rows in their order. */
export function sorted(table: Table, { column, isDown }: Sorting): Field[][] {
  const { isNumeric: isDeclared, kind } = table.columns[column] ?? { isNumeric: false };
  const text = (row: Field[]) => row[column]?.text ?? "";
  // Data frames mark missing values.
  const isGone = (row: Field[]) => (kind === undefined ? isMissing(text(row)) : row[column]?.isNull === true);
  // A data frame keeps integers beyond 64 bits as objects.
  const isNumeric = isDeclared || (kind === "any" && table.rows.every((row) => isGone(row) || numberOf(text(row)) !== undefined));
  return [...table.rows].sort((a, b) => {
    if (isGone(a) || isGone(b)) return Number(isGone(a)) - Number(isGone(b));
    const order = isNumeric ? compareNumbers(text(a), text(b)) : words.compare(text(a), text(b));
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

/** Table from names and types of columns. `total` is the number of rows of the data, if more. */
export function headed(names: string[], notes: string[], rows: Field[][], total?: number): Table {
  const texts = (index: number) => rows.map((row) => row[index]?.text ?? "");
  const columns = names.map((name, index) => columnOf(name, texts(index), notes[index]));
  return { columns, rows, ...(total !== undefined && total > rows.length && { total }) };
}

interface Resource {
  /** Name in the kernel of the variable with a query's rows. */
  table?: unknown;
  schema?: { fields?: { name: unknown; type?: unknown; database_type?: unknown }[] };
  data?: unknown;
  total?: unknown;
  caption?: unknown;
}

/**
 * Table from a tabular data resource (Frictionless) by pandas or nteract. SQL cells add database types and the number of all
 * rows.
 */
export function ofResource(resource: unknown): Table | undefined {
  const { schema, data, total, caption, table: name } = (resource ?? {}) as Resource;
  if (!Array.isArray(schema?.fields) || !Array.isArray(data)) return undefined;
  const names = schema.fields.map(({ name }) => String(name));
  const textOf = (row: Record<string, unknown>, name: string) => {
    const value = row[name];
    if (value === null || value === undefined) return "";
    return typeof value === "object" ? exactJson(value) : (exactText(row, name) ?? String(value));
  };
  const rows = data.map((row: Record<string, unknown>) =>
    names.map((name): Field => ({ text: textOf(row, name), ...(row[name] === null && { isNull: true }) })),
  );
  const types = schema.fields.map(({ type, database_type }) => String(database_type ?? type ?? ""));
  const table = headed(names, types, rows, typeof total === "number" ? total : undefined);
  return { ...table, ...(typeof caption === "string" && captionOf(caption)), ...(typeof name === "string" && { name }) };
}

/**
 * Splits a caption like `the first 1,000 of 3,000 rows, 6 ms, duckdb. More rows …`, without the row counts, which the page
 * displays itself.
 */
export function captionOf(text: string): Pick<Table, "caption" | "notice"> {
  const [, soFar = "", rest = ""] = /^(?:(?:the first [\d,]+ of )?[\d,]+ rows?( so far)?, )?(.*)$/s.exec(text) ?? [];
  const [, caption = "", notice] = /^(.*?)(?:\. (.*))?$/s.exec(rest) ?? [];
  return { caption: `${soFar && "so far, "}${caption}`, ...(notice && { notice }) };
}

/** Table with all its rows; column types are detected again from them. */
export function whole({ columns, caption, notice }: Table, rows: Field[][]): Table {
  const texts = (index: number) => rows.map((row) => row[index]?.text ?? "");
  const said = { ...(caption && { caption }), ...(notice && { notice }) };
  return { ...said, rows, columns: columns.map(({ name, note }, index) => columnOf(name, texts(index), note)) };
}
