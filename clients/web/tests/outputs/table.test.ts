import { expect, test } from "vitest";
import { type Field, compareNumbers, csv, filtered, headed, captionOf, ofResource, sorted } from "../../src/outputs/table.ts";

const row = (...texts: string[]): Field[] => texts.map((text) => ({ text }));
const first = (rows: Field[][]) => rows.map(([field]) => field?.text);
const people = headed(["", "name", "age"], [], [row("0", "Bo", "9"), row("1", "ann", "10"), row("2", "Cy", "NaN")]);

test("numbers sort as numbers, words as people write them, what is missing last in both directions", () => {
  expect(people.columns.map(({ isNumeric }) => isNumeric)).toEqual([true, false, true]);
  expect(first(sorted(people, { column: 2, isDown: false }))).toEqual(["0", "1", "2"]);
  expect(first(sorted(people, { column: 2, isDown: true }))).toEqual(["1", "0", "2"]);
  expect(first(sorted(people, { column: 1, isDown: false }))).toEqual(["1", "0", "2"]);
});

test("a filter looks into every column; what is copied is CSV", () => {
  expect(first(filtered(people.rows, " ANN "))).toEqual(["1"]);
  expect(filtered(people.rows, "")).toHaveLength(3);
  expect(csv(people, [row("0", 'a "b", c', "1")], [1, 2])).toBe('name,age\n"a ""b"", c",1\n');
});

test("a row of dots is a row: nothing that the data has is left out", () => {
  const rows = [row("0", "1"), row("...", "..."), row("99", "2")];
  expect(headed(["id", "x"], ["", "i64"], rows, 100)).toMatchObject({
    columns: [{ name: "id" }, { note: "i64" }],
    rows,
    total: 100,
  });
});

test("whole numbers beyond 2^53 sort as they are, and so do infinite ones", () => {
  expect(compareNumbers("1152921504606846977", "1152921504606846976")).toBe(1);
  expect(compareNumbers("-1152921504606846977", "2")).toBe(-1);
  expect(["3", "-inf", "inf", "-2.5"].sort(compareNumbers)).toEqual(["-inf", "-2.5", "3", "inf"]);
});

test("a data resource is a table; anything else is none", () => {
  const table = ofResource({ schema: { fields: [{ name: "a", type: "integer" }] }, data: [{ a: 1 }, { a: null }] });
  expect(table).toMatchObject({
    columns: [{ name: "a", note: "integer", isNumeric: true }],
    rows: [row("1"), [{ text: "", isNull: true }]],
  });
  expect(ofResource({ data: 1 })).toBeUndefined();
});

test("the result of an SQL cell has the database's types, and says how many rows there are", () => {
  const field = { name: "net", type: "number", database_type: "numeric(9,2)" };
  const table = ofResource({ schema: { fields: [field] }, data: [{ net: "1.50" }], total: 2500 });
  expect(table?.columns).toEqual([{ name: "net", note: "numeric(9,2)", isNumeric: true }]);
  expect(table?.total).toBe(2500);
  expect(ofResource({ schema: { fields: [field] }, data: [{ net: "1.50" }], total: 1 })?.total).toBeUndefined();
});

test("the caption of a query says time and place once, and what was left out beside it", () => {
  expect(captionOf("3 rows, 6 ms, duckdb")).toEqual({ caption: "6 ms, duckdb" });
  expect(captionOf("the first 1,000 of 3,000 rows, 1.2 s, warehouse. More rows were not read. LIMIT")).toEqual({
    caption: "1.2 s, warehouse",
    notice: "More rows were not read. LIMIT",
  });
  expect(captionOf("1 row so far, 6 ms, a.sqlite")).toEqual({ caption: "so far, 6 ms, a.sqlite" });
  expect(captionOf("as somebody wrote it")).toEqual({ caption: "as somebody wrote it" });
});
