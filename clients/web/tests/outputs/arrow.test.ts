// Arrow rows of an SQL result equal its first rows in JSON (protocol/golden/sql_result.json, which Python tests too).
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { rowsOf } from "../../src/outputs/arrow.ts";
import { allRowsOf, bytesOf, firstRows } from "../../src/outputs/groups.ts";
import { ofResource, whole } from "../../src/outputs/table.ts";
import type { Output } from "../../src/protocol/messages.ts";

const golden = JSON.parse(readFileSync(new URL("../../../../protocol/golden/sql_result.json", import.meta.url), "utf8")) as {
  arrow: string;
  names: string[];
  rows: string[][];
};

test("every type reads as in the first rows", () => {
  const rows = rowsOf(golden.arrow).map((row) => row.map(({ text }) => text));
  const named = (row: string[]) => Object.fromEntries(golden.names.map((name, index) => [name, row[index]]));
  expect(rows.map(named)).toEqual(golden.rows.map(named));
});

test("what is no Arrow stream says so", () => {
  expect(() => rowsOf("bm90IGFycm93")).toThrow();
  expect(() => rowsOf("*")).toThrow();
});

const ARROW = "/data/application~1vnd.apache.arrow.stream";

test("the rest of a table is not fetched with its first rows", () => {
  const blob = { pointer: ARROW, sha256: "ab", size_bytes: 9_000_000 };
  const other = { pointer: "/data/text~1html", sha256: "cd", size_bytes: 10 };
  const output: Output = { content: { output_type: "display_data", data: {} }, blobs: [blob, other] };
  expect(bytesOf(firstRows([output]))).toBe(10);
  expect(allRowsOf(output)).toEqual({ at: { sha256: "ab", bytes: 9_000_000 } });
  const small = { content: { data: { "application/vnd.apache.arrow.stream": "QQ==" } } };
  expect(allRowsOf(small)).toEqual({ at: { text: "QQ==" } });
  expect(firstRows([small])[0]).toBe(small);
  expect(allRowsOf({ content: { output_type: "stream" } })).toBeUndefined();
});

test("with all rows a column knows anew what it holds", () => {
  const resource = { schema: { fields: [{ name: "n", type: "integer" }] }, data: [{ n: 1 }], total: 2 };
  const table = ofResource(resource);
  expect(table?.total).toBe(2);
  const all = whole(table!, [[{ text: "1" }], [{ text: "x" }]]);
  expect(all.total).toBeUndefined();
  expect(all.columns).toEqual([{ name: "n", note: "integer", isNumeric: false }]);
  expect(all.rows).toHaveLength(2);
});
