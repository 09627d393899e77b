import { expect, test } from "vitest";
import { type Head, questionOf, readHead, rowsOfPage, shortened, tableOf } from "../../src/outputs/kernelTable.ts";
import { shapeOf } from "../../src/outputs/mime.ts";
import { statisticsOf } from "../../src/outputs/statistics.ts";
import { sorted } from "../../src/outputs/table.ts";

const head: Head = {
  version: 1,
  kind: "pandas.DataFrame",
  rows: 120,
  columns: [
    { name: "", type: "int64", kind: "integer", is_index: true },
    { name: "a", type: "float64", kind: "number" },
    { name: "a", type: "object", kind: "any", missing: "None" },
  ],
  table: "t1",
};
const frame = tableOf(head, [
  [0, 1, 2],
  [1.5, null, -2],
  ["x", null, true],
]);

test("a data frame has its types, its index, all its rows counted, and no value that is missing looks like one", () => {
  expect(frame).toMatchObject({
    total: 120,
    name: "t1",
    columns: [{ isIndex: true }, { note: "float64", isNumeric: true }, { kind: "any" }],
  });
  expect(frame.rows[1]).toEqual([
    { text: "1", isHeader: true },
    { text: "", isNull: true, word: "NaN" },
    { text: "", isNull: true, word: "None" },
  ]);
  expect(frame.rows[2]?.[2]?.text).toBe("True");
  const order = (isDown: boolean) => sorted(frame, { column: 1, isDown }).map(([first]) => first?.text);
  expect([order(false), order(true)]).toEqual([
    ["2", "0", "1"],
    ["0", "2", "1"],
  ]);
});

test("a form that is newer than the page is not read", () => {
  expect(readHead({ ...head, version: 2 })).toBeUndefined();
  const data = {
    "application/vnd.notarium.table+json": { ...head, version: 2 },
    "text/html": "<table class='dataframe'></table>",
    "text/plain": "t",
  };
  expect(shapeOf({ output_type: "display_data", data }).kind).toBe("html");
  expect(shapeOf({ output_type: "display_data", data: { ...data, "application/vnd.notarium.table+json": head } }).kind).toBe(
    "data frame",
  );
});

test("what is looked at becomes a question, in the protocol's words", () => {
  const look = {
    sorting: { column: 1, isDown: true },
    filters: [{ column: 2, operator: "≥" as const, value: " 5 " }],
    search: " x ",
  };
  expect(questionOf({ table: "t1" }, look, 10, 25)).toEqual({
    of: { table: "t1" },
    first: 10,
    count: 25,
    sort: { column: 1, is_descending: true },
    filters: [{ column: 2, operator: "at_least", value: "5" }],
    search: "x",
  });
  expect(questionOf({ variable: "df" }, { sorting: undefined, filters: [], search: "" }, 0, 1)).toEqual({
    of: { variable: "df" },
    first: 0,
    count: 1,
  });
});

test("a page of the kernel reads as the first rows do", () => {
  const page = {
    table: "t1",
    kind: head.kind,
    rows: 120,
    matching: 120,
    first: 0,
    columns: head.columns,
    data: [
      [0, 1.5, "x"],
      [1, null, null],
      [2, -2, true],
    ],
  };
  expect(rowsOfPage(page)).toEqual(frame.rows);
});

test("a decimal with more digits than a double has is shown with all of them", () => {
  expect(["1152921504606846977.50", "0.12345678901234567890", "-12345678901234567.8e1"].map(shortened)).toEqual([
    "1152921504606846977.50",
    "0.12345678901234567890",
    "-12345678901234567.8e1",
  ]);
});

test("long fractions are short to look at", () => {
  expect(
    ["0.30000000000000004", "1234567.891234567", "1.2345678901e-7", "12", "abc.defghijk", "1152921504606846977"].map(shortened),
  ).toEqual(["0.3", "1234567.891235", "1.234568e-7", "12", "abc.defghijk", "1152921504606846977"]);
});

test("statistics of rows that are here are those that pandas tells", () => {
  const table = tableOf({ ...head, rows: 5 }, [
    [0, 1, 2, 3, 4],
    [1, 2, 3, 4, null],
    ["a", "b", "a", null, "a"],
  ]);
  const { min, max, mean, std, quartiles, missing } = statisticsOf(table, 1);
  expect({ min, max, mean, std: Number(std).toFixed(4), quartiles, missing }).toEqual({
    min: 1,
    max: 4,
    mean: 2.5,
    std: "1.2910",
    quartiles: [1.75, 2.5, 3.25],
    missing: 1,
  });
  expect(statisticsOf(table, 2)).toMatchObject({
    distinct: 2,
    missing: 1,
    top: [
      { value: "a", count: 3 },
      { value: "b", count: 1 },
    ],
  });
});
