import { expect, test } from "vitest";
import { fieldOfRefusal, fieldsOf, filled, missingIn, missingWords } from "../../src/app/functions.ts";

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
  const point = { type: "object", properties: { x: {}, y: {} } };
  expect(fieldsOf({ properties: { at: point, any: { type: "object" } } }).map(({ example }) => example)).toEqual([
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
  expect(errors({ rows: "" })).toEqual({ rows: "This is needed" });
  expect(errors({ rows: "1.5" })).toEqual({ rows: "This is a whole number" });
  expect(errors({ rows: "x" })).toEqual({ rows: "This is a whole number" });
  expect(errors({ rows: "0" })).toEqual({ rows: "At least 1" });
  expect(errors({ rows: "10" })).toEqual({ rows: "At most 9" });
  expect(errors({ list: "{" })).toEqual({ list: "This is a list, as JSON" });
  expect(errors({ list: "{}" })).toEqual({ list: "This is a list, as JSON" });
});

test("a refusal finds its field", () => {
  expect(fieldOfRefusal(fields, "load", "load: rows must be integer, not string")).toBe("rows");
  expect(fieldOfRefusal(fields, "load", "the kernel that had load has ended")).toBeUndefined();
});

test("an odd schema makes no harm", () => {
  const odd = fieldsOf({ type: "object", properties: { a: { $ref: "#/none" }, b: {}, c: { type: ["string", "number"] } } });
  expect(odd.map(({ kind }) => kind)).toEqual(["json", "json", "json"]);
  expect(fieldsOf({ type: "object" })).toEqual([]);
});

test("a new kernel's missing functions are told with the cell to run", () => {
  const missing = { names: ["load"], cell_id: "c", reason: "it is not known to be harmless" };
  expect(missingIn({ type: "KernelSessionStarted", payload: { missing_functions: [missing] } })).toEqual([missing]);
  expect(missingIn({ type: "KernelSessionStarted", payload: {} })).toEqual([]);
  expect(missingWords(missing, 3)).toBe(
    "The new kernel does not have the function load: run cell 3, which was not run by itself because it is not known to be harmless.",
  );
  expect(missingWords({ names: ["a", "b"], reason: "no cell registered them" }, 0)).toBe(
    "The new kernel does not have the functions a, b: no cell registered them.",
  );
});
