import { expect, test } from "vitest";
import { compareNumbers } from "../../src/outputs/numbers.ts";
import { parseJson } from "../../src/protocol/exactJson.ts";
import { type Field, csv, filtered, headed, captionOf, ofResource, sorted } from "../../src/outputs/table.ts";

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

/** Exact order by another way: whole parts as bigints, fractions as texts of one length. */
function orderOf(left: [bigint, string], right: [bigint, string]): number {
  const of = ([whole, fraction]: [bigint, string]) => whole * 10n ** 12n + BigInt(fraction.padEnd(12, "0"));
  return of(left) < of(right) ? -1 : Number(of(left) > of(right));
}

test("numbers of any length compare by all their digits", () => {
  const wholes = [0n, 7n, 2n ** 53n, 2n ** 53n + 1n, 2n ** 64n, 2n ** 64n + 1n, 10n ** 30n, 10n ** 30n + 1n];
  const numbers = wholes.flatMap((whole) =>
    ["0", "5", "500000000001", "25"].map((fraction): [bigint, string] => [whole, fraction]),
  );
  for (const left of numbers)
    for (const right of numbers) {
      const [one, other] = [left.join("."), right.join(".")];
      expect([one, other, compareNumbers(one, other)]).toEqual([one, other, orderOf(left, right)]);
      expect([one, other, compareNumbers(`-${one}`, `-${other}`)]).toEqual([one, other, 0 - orderOf(left, right)]);
    }
  expect(compareNumbers("1e+30", "1000000000000000000000000000001")).toBe(-1);
  expect(compareNumbers("1,152,921,504,606,846,977", "1152921504606846977")).toBe(0);
  expect(compareNumbers("1e99999", "1e9999999")).toBe(0);
});

test("large integers of a data frame's objects and of a JSON resource keep their digits", () => {
  const texts = ["1180591620717411303425", "-3", "1180591620717411303424"];
  const objects = { columns: [{ name: "id", isNumeric: false, kind: "any" }], rows: texts.map((text) => row(text)) };
  expect(first(sorted(objects, { column: 0, isDown: false }))).toEqual(["-3", "1180591620717411303424", "1180591620717411303425"]);
  const json =
    '{"schema": {"fields": [{"name": "id"}, {"name": "in"}]}, "data": [{"id": 1152921504606846977, "in": [9007199254740993]}]}';
  expect(ofResource(parseJson(json))?.rows).toEqual([row("1152921504606846977", "[9007199254740993]")]);
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
