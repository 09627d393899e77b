// A data frame in an output: its first rows, and its name in the kernel. Does not use the DOM.
import type { ReadTable, TableColumn, TablePage } from "../protocol/messages.ts";
import type { ColumnFilter, Operator } from "./columns.ts";
import type { Column, Field, Sorting, Table } from "./table.ts";

/** Metadata of a table in an output, without rows. */
export interface Head {
  version: number;
  kind: string;
  rows: number;
  columns: TableColumn[];
  columns_left_out?: number;
  /** Name of the frame in the kernel; undefined if the output has all rows. */
  table?: string;
}

export type Value = string | number | boolean | bigint | null;

export const ARROW_TABLE = "application/vnd.notarium.table+arrow";
export const JSON_TABLE = "application/vnd.notarium.table+json";

/** Parses the head of a table; undefined if this page does not support it. */
export function readHead(value: unknown): Head | undefined {
  const head = value as Partial<Head> | null;
  const isKnown = head?.version === 1 && typeof head.rows === "number" && Array.isArray(head.columns);
  return isKnown ? (head as Head) : undefined;
}

/** Table from columns of values. */
export function tableOf(head: Head, columns: Value[][]): Table {
  const count = columns[0]?.length ?? head.rows;
  const described = head.columns.map(columnOf);
  const rows = Array.from({ length: count }, (_, row) =>
    described.map((column, at) => fieldOf(columns[at]?.[row] ?? null, column)),
  );
  return { ...partial(head, count), kind: head.kind, columns: described, rows };
}

export function tableOfPage(page: TablePage): Table {
  const columns = page.columns.map(columnOf);
  return { kind: page.kind, columns, rows: rowsOfPage(page), ...partial(page, page.data.length) };
}

export function rowsOfPage({ columns, data }: TablePage): Field[][] {
  const described = columns.map(columnOf);
  return data.map((row) => described.map((column, at) => fieldOf((row[at] ?? null) as Value, column)));
}

function partial(head: { rows: number; columns_left_out?: number; table?: string }, here: number): Partial<Table> {
  return {
    ...(head.rows > here && { total: head.rows }),
    ...(head.columns_left_out && { columnsLeftOut: head.columns_left_out }),
    ...(head.table !== undefined && { name: head.table }),
  };
}

function columnOf({ name, type, kind, missing, is_index }: TableColumn): Column {
  const isNumeric = kind === "integer" || kind === "number";
  const shown = is_index ? { isIndex: true } : { note: type };
  return { name, kind, isNumeric, missing: missing ?? "NaN", ...shown };
}

function fieldOf(value: Value, { isIndex, missing = "NaN" }: Column): Field {
  const header = isIndex && { isHeader: true };
  if (value === null) return { text: "", isNull: true, word: missing, ...header };
  return { text: textOf(value), ...header };
}

/** Text of a value as Python prints it. */
function textOf(value: Exclude<Value, null>): string {
  if (typeof value === "boolean") return value ? "True" : "False";
  if (typeof value !== "number" || Number.isFinite(value)) return String(value);
  return Number.isNaN(value) ? "NaN" : value > 0 ? "inf" : "-inf";
}

const OPERATORS: Record<Operator, NonNullable<ReadTable["filters"]>[number]["operator"]> = {
  contains: "contains",
  lacks: "lacks",
  "=": "equal",
  "≠": "not_equal",
  "<": "less",
  "≤": "at_most",
  ">": "more",
  "≥": "at_least",
  empty: "empty",
  "not empty": "not_empty",
};

/** Sorting, filters and search of a displayed table. */
export interface Look {
  sorting: Sorting | undefined;
  filters: readonly ColumnFilter[];
  search: string;
}

export function questionOf(of: ReadTable["of"], { sorting, filters, search }: Look, first: number, count: number): ReadTable {
  return {
    of,
    first,
    count,
    ...(sorting && { sort: { column: sorting.column, is_descending: sorting.isDown } }),
    ...(filters.length > 0 && {
      filters: filters.map(({ column, operator, value }) => ({ column, operator: OPERATORS[operator], value: value.trim() })),
    }),
    ...(search.trim() !== "" && { search: search.trim() }),
  };
}

/** No double is written with more digits. */
const DOUBLE_DIGITS = 17;

/** Shortens long fractions for display; copying uses the full value. */
export function shortened(text: string): string {
  const value = Number(text);
  if (text.length < 10 || !/[.e]/.test(text) || !Number.isFinite(value)) return text;
  // A decimal, not a double: all its digits count.
  if (text.replace(/e.*|\D/g, "").replace(/^0+/, "").length > DOUBLE_DIGITS) return text;
  if (value !== 0 && (Math.abs(value) < 1e-4 || Math.abs(value) >= 1e15)) return value.toPrecision(7).replace(/\.?0+(e|$)/, "$1");
  return String(Number(value.toFixed(6)));
}
