import { expect, test } from "vitest";
import { fieldOfRefusal, fieldsOf, filled, initially } from "../../src/app/state/functions.ts";
import { missingIn, missingWords } from "../../src/app/state/missingFunctions.ts";

const schema = {
  type: "object",
  properties: {
    rows: { type: "integer", minimum: 1, maximum: 9, description: "how many" },
    name: { type: "string", default: "x" },
    kind: { $ref: "#/$defs/Kind", default: "b" },
    fast: { type: "boolean" },
    day: { anyOf: [{ type: "string", format: "date" }, { type: "null" }], default: null },
    list: { type: "array", items: { type: "integer" } },
    either: { anyOf: [{ type: "string" }, { type: "integer" }] },
  },
  required: ["rows", "name"],
  $defs: { Kind: { type: "string", enum: ["a", "b"] } },
};
const fields = fieldsOf(schema);
const of = (name: string) => fields.find((field) => field.name === name)!;

test("fields are of the kinds that the schema says, with their defaults", () => {
  expect(fields.map(({ name, kind, initial }) => [name, kind, initial])).toEqual([
    ["rows", "number", ""],
    ["name", "text", "x"],
    ["kind", "choice", "1"],
    ["fast", "choice", ""],
    ["day", "date", ""],
    ["list", "json", ""],
    ["either", "json", ""],
  ]);
  expect([of("list").example, of("either").example, of("name").example]).toEqual(["[…]", "", ""]);
  const open = { type: "object", properties: { x: {}, y: {} }, additionalProperties: true };
  expect(fieldsOf({ properties: { at: open, any: { type: "object" } } }).map(({ example }) => example)).toEqual([
    '{"x": …, "y": …}',
    "{…}",
  ]);
  expect(of("rows")).toMatchObject({ isRequired: true, about: "how many", words: "a whole number" });
  expect(of("day")).toMatchObject({ isRequired: false, isNullable: true });
});

test("what is typed becomes arguments, and what is left empty is left out", () => {
  const texts = { rows: "3", name: "", kind: "0", fast: "1", day: "2024-02-29", list: "[1]", either: '"a"' };
  expect(filled(fields, texts)).toEqual({
    arguments: { rows: 3, name: "", kind: "a", fast: false, day: "2024-02-29", list: [1], either: "a" },
    errors: {},
  });
  expect(filled(fields, { rows: "1", name: "n" }).arguments).toEqual({ rows: 1, name: "n" });
});

test("what is wrong is said at its field", () => {
  const errors = (texts: Record<string, string>) => filled(fields, { rows: "1", ...texts }).errors;
  expect(errors({ rows: "" })).toEqual({ rows: "Required" });
  expect(errors({ rows: "1.5" })).toEqual({ rows: "Must be a whole number" });
  expect(errors({ rows: "x" })).toEqual({ rows: "Must be a whole number" });
  expect(errors({ rows: "0" })).toEqual({ rows: "At least 1" });
  expect(errors({ rows: "10" })).toEqual({ rows: "At most 9" });
  expect(errors({ list: "{" })).toEqual({ list: "Must be a list, as JSON" });
  expect(errors({ list: "{}" })).toEqual({ list: "Must be a list, as JSON" });
});

test("an object has fields of its own, each with its place", () => {
  const point = { type: "object", properties: { x: { type: "integer" }, y: { type: "integer", default: 2 } }, required: ["x"] };
  const Tree = { type: "object", properties: { left: { $ref: "#/$defs/Tree" }, size: { type: "integer" } } };
  const sail = { type: "object", properties: { at: { $ref: "#/$defs/Point" }, name: { type: "string" } }, required: ["name"] };
  const nested = fieldsOf({
    properties: { sail, from: { anyOf: [point, { type: "null" }], default: { x: 7, y: 8 } }, tree: Tree },
    required: ["sail"],
    $defs: { Point: point, Tree },
  });
  const started = initially(nested);
  expect(started).toMatchObject({ "sail.at.x": "", "sail.at.y": "2", "sail.name": "", "from.x": "7", "from.y": "8" });
  // A recursive type ends as a JSON field.
  expect(Object.keys(started).filter((path) => path.startsWith("tree."))).toEqual([
    "tree.left.left.left",
    "tree.left.left.size",
    "tree.left.size",
    "tree.size",
  ]);

  const done = filled(nested, { ...started, "sail.at.x": "1", "from.x": "", "from.y": "" });
  expect(done).toEqual({ arguments: { sail: { at: { x: 1, y: 2 }, name: "" } }, errors: {} });
  // An optional object without input has no required fields.
  expect(filled(fieldsOf({ properties: { at: point } }), { "at.x": "", "at.y": "2" })).toEqual({ arguments: {}, errors: {} });
  expect(filled(nested, { ...started, "sail.at.y": "3", "from.x": "a" }).errors).toEqual({
    "sail.at.x": "Required",
    "from.x": "Must be a whole number",
  });
  expect(fieldOfRefusal(nested, "sail.at.x")).toBe("sail.at.x");
});

test("a refusal finds its field", () => {
  expect(fieldOfRefusal(fields, "rows")).toBe("rows");
  expect(fieldOfRefusal(fields, "list[1].x")).toBe("list");
  expect(fieldOfRefusal(fields, "")).toBeUndefined();
});

test("an odd schema makes no harm", () => {
  const odd = fieldsOf({ type: "object", properties: { a: { $ref: "#/none" }, b: {}, c: { type: ["string", "number"] } } });
  expect(odd.map(({ kind }) => kind)).toEqual(["json", "json", "json"]);
  expect(fieldsOf({ type: "object" })).toEqual([]);
});

test("a new kernel's missing functions are told with the cell to run", () => {
  const missing = { names: ["load"], cell_id: "c", reason: "a person is asked before its code runs" };
  expect(missingIn({ type: "KernelSessionStarted", payload: { missing_functions: [missing] } })).toEqual([missing]);
  expect(missingIn({ type: "KernelSessionStarted", payload: {} })).toEqual([]);
  expect(missingWords(missing, 3)).toBe(
    "The new kernel is missing the function load. Run cell 3 again: a person is asked before its code runs.",
  );
  expect(missingWords({ names: ["a", "b"], reason: "no cell registered them" }, 0)).toBe(
    "The new kernel is missing the functions a, b. No cell registered them.",
  );
});
