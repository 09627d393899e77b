// A person's arrangement of a table: order and names of columns, hidden columns, filters, wrapping. Does not use the DOM.
import { compareNumbers, numberOf } from "./numbers.ts";
import type { Field, Table } from "./table.ts";

export type Operator = "contains" | "lacks" | "=" | "≠" | "<" | "≤" | ">" | "≥" | "empty" | "not empty";

export interface ColumnFilter {
  column: number;
  operator: Operator;
  value: string;
}

export interface Arrangement {
  /** Order of all columns, including hidden ones. */
  order: number[];
  hidden: ReadonlySet<number>;
  /** Renamed columns, in this page only. */
  names: ReadonlyMap<number, string>;
  filters: readonly ColumnFilter[];
  isWrapped: boolean;
}

export const OPERATORS: Operator[] = ["contains", "lacks", "=", "≠", "<", "≤", ">", "≥", "empty", "not empty"];
export const ALONE: ReadonlySet<Operator> = new Set<Operator>(["empty", "not empty"]);

export function plainArrangement(columns: number): Arrangement {
  const order = Array.from({ length: columns }, (_, index) => index);
  return { order, hidden: new Set(), names: new Map(), filters: [], isWrapped: false };
}

export function shownColumns({ order, hidden }: Arrangement): number[] {
  return order.filter((column) => !hidden.has(column));
}

export function nameOf(table: Table, { names }: Arrangement, column: number): string {
  return names.get(column) ?? table.columns[column]?.name ?? "";
}

/** Moves a column past the next visible one. */
export function moved(arrangement: Arrangement, column: number, step: 1 | -1): Arrangement {
  const shown = shownColumns(arrangement);
  const other = shown[shown.indexOf(column) + step];
  if (other === undefined) return arrangement;
  const without = arrangement.order.filter((each) => each !== column);
  const at = without.indexOf(other) + (step > 0 ? 1 : 0);
  return { ...arrangement, order: [...without.slice(0, at), column, ...without.slice(at)] };
}

export function renamed(arrangement: Arrangement, column: number, name: string): Arrangement {
  const names = new Map(arrangement.names);
  if (name.trim() === "") names.delete(column);
  else names.set(column, name.trim());
  return { ...arrangement, names };
}

export function hiding(arrangement: Arrangement, column: number, isHidden: boolean): Arrangement {
  const hidden = new Set(arrangement.hidden);
  if (isHidden) hidden.add(column);
  else hidden.delete(column);
  return { ...arrangement, hidden };
}

/** Example: “150” of a filter as a person reads it: 150 in a column of numbers, “150” in others. */
export function filterValue(table: Table, column: number, value: string): string {
  const isNumber = table.columns[column]?.isNumeric === true && numberOf(value.trim()) !== undefined;
  return isNumber ? value.trim() : `“${value}”`;
}

/** Rows that pass all filters. */
export function passing(rows: Field[][], filters: readonly ColumnFilter[]): Field[][] {
  if (filters.length === 0) return rows;
  return rows.filter((row) => filters.every((filter) => passes(row[filter.column]?.text ?? "", filter)));
}

/** Compares as exact numbers if both are numbers, else as texts. */
function passes(text: string, { operator, value }: ColumnFilter): boolean {
  const [held, wanted] = [text.trim(), value.trim()];
  if (operator === "empty" || operator === "not empty") return (held === "") === (operator === "empty");
  const isIn = held.toLowerCase().includes(wanted.toLowerCase());
  if (operator === "contains" || operator === "lacks") return isIn === (operator === "contains");
  const [left, right] = [numberOf(held), numberOf(wanted)];
  const areNumbers = left !== undefined && right !== undefined;
  const order = areNumbers ? compareNumbers(held, wanted) : held.localeCompare(wanted, undefined, { sensitivity: "base" });
  if (operator === "=" || operator === "≠") return (order === 0) === (operator === "=");
  // Text is neither less nor greater than a number.
  if (right !== undefined && left === undefined) return false;
  return { "<": order < 0, "≤": order <= 0, ">": order > 0, "≥": order >= 0 }[operator];
}
