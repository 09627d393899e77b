import { expect, test } from "vitest";
import { filterValue, hiding, moved, nameOf, passing, plainArrangement, renamed, shownColumns } from "../../src/outputs/columns.ts";
import { type Field, headed } from "../../src/outputs/table.ts";

const row = (...texts: string[]): Field[] => texts.map((text) => ({ text }));
const rows = [row("Harbour", "9.5", ""), row("Old Town", "10", "x"), row("Airport", "n/a", "y")];
const names = (...filters: Parameters<typeof passing>[1]) => passing(rows, filters).map(([first]) => first?.text);

test("a column moves past the next one that is shown", () => {
  const hidden = hiding(plainArrangement(4), 1, true);
  expect(shownColumns(moved(hidden, 0, 1))).toEqual([2, 0, 3]);
  expect(shownColumns(hiding(moved(hidden, 0, 1), 1, false))).toEqual([1, 2, 0, 3]);
  expect(shownColumns(moved(hidden, 3, -1))).toEqual([0, 3, 2]);
  expect(moved(hidden, 0, -1)).toBe(hidden);
  expect(moved(hidden, 3, 1)).toBe(hidden);
});

test("another name stands until it is taken away", () => {
  const table = headed(["a", "b"], [], [row("1", "2")]);
  const other = renamed(plainArrangement(2), 1, " price ");
  expect([nameOf(table, other, 0), nameOf(table, other, 1)]).toEqual(["a", "price"]);
  expect(nameOf(table, renamed(other, 1, " "), 1)).toBe("b");
});

test("filters: words, numbers as numbers, what is empty, and all of them together", () => {
  expect(names()).toEqual(["Harbour", "Old Town", "Airport"]);
  expect(names({ column: 0, operator: "contains", value: "TOWN" })).toEqual(["Old Town"]);
  expect(names({ column: 0, operator: "lacks", value: "r" })).toEqual(["Old Town"]);
  expect(names({ column: 1, operator: ">", value: "9.5" })).toEqual(["Old Town"]);
  expect(names({ column: 1, operator: "≥", value: "9.50" })).toEqual(["Harbour", "Old Town"]);
  expect(names({ column: 1, operator: "<", value: "100" })).toEqual(["Harbour", "Old Town"]);
  expect(names({ column: 1, operator: "≠", value: "10.0" })).toEqual(["Harbour", "Airport"]);
  expect(names({ column: 2, operator: "empty", value: "" })).toEqual(["Harbour"]);
  expect(names({ column: 2, operator: "not empty", value: "" }, { column: 0, operator: "=", value: "airport" })).toEqual([
    "Airport",
  ]);
});

test("filters compare integers beyond 2^53 and long decimals by all their digits", () => {
  const ids = [3, 1, 2, 0].map((more) => row(String(2n ** 60n + BigInt(more))));
  const passed = (operator: "=" | "≠" | "<" | "≤" | ">" | "≥", value: string) =>
    passing(ids, [{ column: 0, operator, value }]).map(([field]) => Number(BigInt(field?.text ?? 0) - 2n ** 60n));
  const one = "1152921504606846977";
  expect([passed("=", one), passed("≠", one), passed("<", one), passed("≤", one)]).toEqual([[1], [3, 2, 0], [0], [1, 0]]);
  expect([passed(">", one), passed("≥", "1152921504606846977.5"), passed("=", "1,152,921,504,606,846,977")]).toEqual([
    [3, 2],
    [3, 2],
    [1],
  ]);
  const amounts = [row("12345678901234567.01"), row("12345678901234567.02")];
  expect(passing(amounts, [{ column: 0, operator: ">", value: "12345678901234567.01" }])).toEqual([amounts[1]]);
});

test("the value of a filter has quotation marks, unless it is a number in a column of numbers", () => {
  const table = headed(["name", "price"], [], rows);
  const numbers = { ...table, columns: table.columns.map((column, at) => ({ ...column, isNumeric: at === 1 })) };
  expect([filterValue(numbers, 0, "150"), filterValue(numbers, 1, " 150 "), filterValue(numbers, 1, "many")]).toEqual([
    "“150”",
    "150",
    "“many”",
  ]);
});
