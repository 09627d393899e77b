// Column statistics of rows loaded in the page; the kernel computes those of its tables (clients/python/notarium_kernel/tables). Does
// not use the DOM.
import { compareNumbers, numberOf } from "./numbers.ts";
import type { Table } from "./table.ts";

/** Same shape as the protocol's `ColumnSummary`. */
export interface Statistics {
  rows: number;
  missing: number;
  distinct?: number | null;
  min?: unknown;
  max?: unknown;
  mean?: unknown;
  std?: unknown;
  quartiles?: unknown[];
  top?: { value: unknown; count: number }[];
}

const MOST_FREQUENT = 5;

export function statisticsOf({ columns, rows }: Table, at: number): Statistics {
  const column = columns[at];
  const fields = rows.flatMap((row) => row[at] ?? []);
  const texts = fields.filter(({ isNull, text }) => !isNull && (column?.kind !== undefined || text !== "")).map(({ text }) => text);
  const counted = new Map<string, number>();
  for (const text of texts) counted.set(text, (counted.get(text) ?? 0) + 1);
  const top = [...counted].sort(([, one], [, other]) => other - one).slice(0, MOST_FREQUENT);
  const common = {
    rows: rows.length,
    missing: rows.length - texts.length,
    distinct: counted.size,
    top: top.map(([value, count]) => ({ value, count })),
  };
  return column?.isNumeric
    ? { ...common, ...ofNumbers(texts) }
    : column?.kind === "datetime"
      ? { ...common, ...ofTexts(texts) }
      : common;
}

function ofNumbers(texts: string[]): Partial<Statistics> {
  const ordered = texts.filter((text) => numberOf(text) !== undefined).sort(compareNumbers);
  const numbers = ordered.map((text) => numberOf(text) ?? NaN);
  const [smallest, largest] = [ordered[0], ordered.at(-1)];
  if (smallest === undefined || largest === undefined) return {};
  const mean = numbers.reduce((sum, each) => sum + each, 0) / numbers.length;
  const squares = numbers.reduce((sum, each) => sum + (each - mean) ** 2, 0);
  const std = numbers.length > 1 ? Math.sqrt(squares / (numbers.length - 1)) : undefined;
  const quartiles = [0.25, 0.5, 0.75].map((part) => quantile(numbers, part));
  return { min: exactly(smallest), max: exactly(largest), mean, ...(std !== undefined && { std }), quartiles };
}

/** The text of an integer that a double rounds; the value of any other number. */
function exactly(text: string): string | number | undefined {
  const value = numberOf(text);
  return Number.isInteger(value) && !Number.isSafeInteger(value) ? text : value;
}

function quantile(sorted: number[], part: number): number {
  const place = (sorted.length - 1) * part;
  const below = sorted[Math.floor(place)] ?? NaN;
  return below + ((sorted[Math.ceil(place)] ?? NaN) - below) * (place - Math.floor(place));
}

/** Range of times, which in Python's format sort as texts. */
function ofTexts(texts: string[]): Partial<Statistics> {
  const sorted = [...texts].sort();
  return sorted.length === 0 ? {} : { min: sorted[0], max: sorted.at(-1) };
}
