// A table of data: what is sorted, found, shown on a page, copied. Knows no DOM.

export interface Field {
  text: string;
  isHeader?: boolean;
  /** A database's NULL, which is no empty text. */
  isNull?: boolean;
  /** What stands where there is no value, if it is not NULL. */
  word?: string;
}

export interface Column {
  name: string;
  /** Its type, as Polars writes it below the name. */
  note?: string;
  isNumeric: boolean;
  /** Of a data frame: `integer`, `number`, `boolean`, `datetime`, `text`, `any`. */
  kind?: string;
  missing?: string;
  isIndex?: boolean;
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
  /** Of a data frame: `pandas.DataFrame` … */
  kind?: string;
  /** Its name in the kernel, which has more of it. */
  name?: string;
  /** How many columns are not here. */
  columnsLeftOut?: number;
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
  const { isNumeric, kind } = table.columns[column] ?? { isNumeric: false };
  const text = (row: Field[]) => row[column]?.text ?? "";
  // A data frame says itself where a value is missing.
  const isGone = (row: Field[]) => (kind === undefined ? isMissing(text(row)) : row[column]?.isNull === true);
  return [...table.rows].sort((a, b) => {
    if (isGone(a) || isGone(b)) return Number(isGone(a)) - Number(isGone(b));
    const order = isNumeric ? compareNumbers(text(a), text(b)) : words.compare(text(a), text(b));
    return isDown ? -order : order;
  });
}

/** Also of whole numbers that no number of JavaScript holds. */
export function compareNumbers(left: string, right: string): number {
  if (/^-?\d{16,}$/.test(left) && /^-?\d+$/.test(right))
    return Number(BigInt(left) > BigInt(right)) - Number(BigInt(left) < BigInt(right));
  if (/^-?\d{16,}$/.test(right) && /^-?\d+$/.test(left)) return -compareNumbers(right, left);
  const [first, second] = [valueOf(left), valueOf(right)];
  return first === second ? 0 : first < second ? -1 : 1;
}

function valueOf(text: string): number {
  if (text === "inf" || text === "-inf") return text === "inf" ? Infinity : -Infinity;
  return numberOf(text) ?? 0;
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

/** Columns by their names and types. `total`: of the data, which may have more rows. */
export function headed(names: string[], notes: string[], rows: Field[][], total?: number): Table {
  const texts = (index: number) => rows.map((row) => row[index]?.text ?? "");
  const columns = names.map((name, index) => columnOf(name, texts(index), notes[index]));
  return { columns, rows, ...(total !== undefined && total > rows.length && { total }) };
}

interface Resource {
  /** Of a query whose rows a variable holds: its name in the kernel. */
  table?: unknown;
  schema?: { fields?: { name: unknown; type?: unknown; database_type?: unknown }[] };
  data?: unknown;
  total?: unknown;
  caption?: unknown;
}

/** A tabular data resource (Frictionless), as pandas and nteract write it; of an SQL cell with the database's types and all rows. */
export function ofResource(resource: unknown): Table | undefined {
  const { schema, data, total, caption, table: name } = (resource ?? {}) as Resource;
  if (!Array.isArray(schema?.fields) || !Array.isArray(data)) return undefined;
  const names = schema.fields.map(({ name }) => String(name));
  const textOf = (value: unknown) =>
    value === null || value === undefined ? "" : typeof value === "object" ? JSON.stringify(value) : String(value);
  const rows = data.map((row: Record<string, unknown>) =>
    names.map((name): Field => ({ text: textOf(row[name]), ...(row[name] === null && { isNull: true }) })),
  );
  const types = schema.fields.map(({ type, database_type }) => String(database_type ?? type ?? ""));
  const table = headed(names, types, rows, typeof total === "number" ? total : undefined);
  return { ...table, ...(typeof caption === "string" && captionOf(caption)), ...(typeof name === "string" && { name }) };
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
