import { expect, test } from "vitest";
import { wayOf } from "../../src/app/state/connections.ts";
import { sqlLine } from "../../src/outputs/traceback.ts";
import { Document } from "../../src/protocol/document.ts";
import type { Cell, Execution } from "../../src/protocol/messages.ts";
import { textToRun, writtenText } from "../../src/protocol/values.ts";

const known = [
  { name: "warehouse", kind: "postgresql" },
  { name: "shop", kind: "postgresql", writes: true },
];

test("a connection is known, a file, or none; and only where a cell may write has it the choice", () => {
  expect(wayOf("warehouse", known)).toEqual({ isUnknown: false, hasChoice: false, mayWrite: false });
  expect(wayOf("shop", known)).toEqual({ isUnknown: false, hasChoice: true, mayWrite: true });
  expect(wayOf("duckdb", known)).toEqual({ isUnknown: false, hasChoice: false, mayWrite: true });
  expect(wayOf("data/shop.sqlite", known)).toEqual({ isUnknown: false, hasChoice: true, mayWrite: true });
  expect(wayOf("wharehouse", known)).toEqual({ isUnknown: true, hasChoice: false, mayWrite: false });
});

test("before the server has said which there are, none is wrong", () => {
  expect(wayOf("wharehouse", undefined)).toMatchObject({ isUnknown: false, mayWrite: true });
});

test("a query that has run is not stale: the line before its text in the record is no change", () => {
  const document = new Document("nb");
  const ran = (cell_type: "sql" | "code", source: string, recorded: string) => {
    document.cells.set("q", { cell_type, source } as Cell);
    document.latest.set("q", "run");
    document.executions.set("run", { subject: { kind: "cell", cell_id: "q", source: recorded } } as Execution);
    return document.isStale("q");
  };
  expect(ran("sql", "SELECT 1", "%%notarium_sql\nSELECT 1")).toBe(false);
  expect(ran("sql", "SELECT 2", "%%notarium_sql\nSELECT 1")).toBe(true);
  expect(ran("code", "SELECT 1", "%%notarium_sql\nSELECT 1")).toBe(true);
  expect(writtenText(textToRun({ cell_type: "sql", source: "SELECT 1" }))).toBe("SELECT 1");
});

test("an error of a query says its line", () => {
  expect(sqlLine('line 3: Parser Error: syntax error at or near "SELEC"')).toBe(3);
  expect(sqlLine("there is no connection 'x'; line 3: no")).toBeUndefined();
});
