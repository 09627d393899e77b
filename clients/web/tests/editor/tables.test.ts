// SQL completion: tables and columns of the connection, variables in braces.
import { CompletionContext, type CompletionSource } from "@codemirror/autocomplete";
import { ensureSyntaxTree } from "@codemirror/language";
import { EditorState } from "@codemirror/state";
import { expect, test, vi } from "vitest";
import type { Ask } from "../../src/editor/kernel.ts";
import { language } from "../../src/editor/sql.ts";
import { type Tables, mentioned, named, variables, words } from "../../src/editor/tables.ts";
import type { ConnectionSchema } from "../../src/protocol/messages.ts";

const column = (name: string, type = "INTEGER") => ({ name, type, nullable: true });
const table = (name: string, columns: string[], more: object = {}) => ({
  ...{ schema: "main", name, kind: "table", is_visible: true, columns: columns.map((each) => column(each)) },
  ...more,
});
const shop: ConnectionSchema = {
  kind: "duckdb",
  tables: [
    table("orders", ["id", "city", "order"]),
    table("Odd name", ["a b"], { kind: "view" }),
    table("days", ["day"], { schema: "other", is_visible: false }),
    table("lakes", ["depth"], { catalog: "lake", is_visible: false }),
    table("v1.2", ["dotted"]),
  ],
};

/** Labels offered at the caret `|`, or null. */
async function offered(make: (tables: Tables) => CompletionSource, text: string, schema = shop, explicit = false) {
  const ask = vi.fn<Tables>(() => Promise.resolve(schema));
  const result = await make(ask)(at(text, explicit));
  const from = result && text.slice(result.from, text.indexOf("|"));
  return { ask, result, from, labels: result?.options.map(({ label }) => label) ?? null };
}

function at(text: string, explicit = false): CompletionContext {
  const pos = text.indexOf("|");
  const state = EditorState.create({ doc: text.replace("|", ""), extensions: [language] });
  ensureSyntaxTree(state, state.doc.length, 60_000);
  return new CompletionContext(state.update({}).state, pos, explicit);
}

test("tables stand by their names where SQL finds them so, the others behind their schemas", async () => {
  const { labels, ask } = await offered(named, "-- @shop\nSELECT * FROM o|");
  expect(ask).toHaveBeenCalledWith("shop");
  expect(labels).toEqual(expect.arrayContaining(["orders", "Odd name", "main", "other", "lake", "v1.2"]));
  expect(labels).not.toContain("days");
  expect((await offered(named, "SELECT * FROM other.|")).labels).toEqual(["days"]);
  expect((await offered(named, "SELECT * FROM lake.main.|")).labels).toEqual(["lakes"]);
  const { ask: here } = await offered(named, "SELECT * FROM o|");
  expect(here).toHaveBeenCalledWith("duckdb");
});

test("behind a table or its alias stand its columns", async () => {
  expect((await offered(named, "SELECT orders.|")).labels).toEqual(["id", "city", "order"]);
  expect((await offered(named, "SELECT o.| FROM orders AS o")).labels).toEqual(["id", "city", "order"]);
  expect((await offered(named, "SELECT o.c| FROM orders o")).from).toBe("c");
});

test("columns of the tables that the statement names stand alone, and those of other statements do not", async () => {
  expect((await offered(mentioned, "SELECT c| FROM orders")).labels).toEqual(["id", "city", "order"]);
  expect((await offered(mentioned, "SELECT * FROM ORDERS WHERE c|")).labels).toEqual(["id", "city", "order"]);
  expect((await offered(mentioned, 'SELECT d| FROM "Odd name", other.days')).labels).toEqual(["a b", "day"]);
  expect((await offered(mentioned, "SELECT * FROM orders; SELECT c|")).labels).toBeNull();
  expect((await offered(mentioned, "SELECT orders.|")).labels).toBeNull();
  const { result } = await offered(mentioned, "SELECT c| FROM orders");
  expect(result?.options[1]).toEqual({ label: "city", type: "property", detail: "INTEGER · of orders" });
});

test("what SQL would not take as a name is written in quotes", async () => {
  const written = async (text: string, schema = shop) =>
    Object.fromEntries(
      (await offered(mentioned, text, schema)).result?.options.map(({ label, apply }) => [label, apply ?? label]) ?? [],
    );
  expect(await written("SELECT x| FROM orders")).toEqual({ id: "id", city: "city", order: '"order"' });
  expect(await written('SELECT x| FROM "Odd name"')).toEqual({ "a b": '"a b"' });
  const capitals = { kind: "postgresql", tables: [table("T", ["Name", 'with "quotes"'])] };
  expect(await written("SELECT x| FROM t", capitals)).toEqual({ Name: '"Name"', 'with "quotes"': '"with ""quotes"""' });
  expect(await written("SELECT x| FROM t", { ...capitals, kind: "sqlite" })).toMatchObject({ Name: "Name" });
});

test("in comments and texts nothing is offered, and nobody is asked", async () => {
  for (const text of ["-- orders o|", "SELECT 'o|'", "/* o| */ SELECT 1"]) {
    for (const source of [named, mentioned]) {
      const { labels, ask } = await offered(source, text);
      expect([text, labels, ask.mock.calls.length]).toEqual([text, null, 0]);
    }
  }
  const nobody: Tables = () => Promise.resolve(undefined);
  expect(await named(nobody)(at("SELECT o|"))).toBeNull();
});

test("in braces stand the kernel's variables alone", async () => {
  const matches = [
    { text: "start", type: "instance" },
    { text: "str", type: "class" },
    { text: "start.day", type: "instance" },
  ];
  const ask = vi.fn<Ask>(() => Promise.resolve({ completed: { from: 0, to: 2, matches } }));
  const result = await variables(ask)(at("SELECT * FROM orders WHERE day >= { st|}"));
  expect(ask).toHaveBeenCalledWith({ complete: {} }, "st", 2);
  expect(result?.options.map(({ label }) => label)).toEqual(["start"]);
  for (const text of ["SELECT st|", "SELECT {{st|", "SELECT {a} st|"]) {
    expect([text, await variables(ask)(at(text))]).toEqual([text, null]);
  }
  expect(ask).toHaveBeenCalledTimes(1);
  expect(await variables(() => Promise.resolve(undefined))(at("SELECT {st|"))).toBeNull();
});

test("a word of SQL that is a name here stands there once, unless it is written in quotes as a name", async () => {
  const lake = { kind: "duckdb", tables: [table("lakes", ["depth", "order"])] };
  const tables: Tables = () => Promise.resolve(lake);
  const offer = async (text: string, source: CompletionSource) => (await source(at(text)))?.options.map(({ label }) => label) ?? [];
  const names = [named(tables), mentioned(tables)];
  const found = await offer("SELECT d| FROM lakes", words(names));
  expect(found).toContain("order");
  expect(found).not.toContain("depth");
  expect(await offer("SELECT d|", words(names))).toContain("depth");
  const never: CompletionSource = () => new Promise(() => undefined);
  expect(await offer("SELECT d| FROM lakes", words([never], 1))).toContain("depth");
});
