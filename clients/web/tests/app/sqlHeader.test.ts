import { expect, test } from "vitest";
import { headerChange, headerLine, isVariable, readHeader, seenLine } from "../../src/app/cells/sqlHeader.ts";

const said = (source: string) => {
  const { connection, writes, variable } = readHeader(source);
  return [connection, writes, variable];
};

test("the first line says where a query runs and what its result is called", () => {
  expect(said("-- @warehouse write > orders\nSELECT 1")).toEqual(["warehouse", true, "orders"]);
  expect(said("\n\n  -- > t\nSELECT 1")).toEqual([undefined, false, "t"]);
  expect(said("--@shop.sqlite\nSELECT 1")).toEqual(["shop.sqlite", false, undefined]);
  for (const plain of ["SELECT 1 -- > t", "-- a comment > t\nSELECT 1", "", "-- \nSELECT 1"]) {
    expect(said(plain)).toEqual([undefined, false, undefined]);
    expect(readHeader(plain).to).toBe(0);
  }
});

const changed = (source: string, header: Parameters<typeof headerLine>[0]) => {
  const { from, to, insert } = headerChange(source, header);
  return source.slice(0, from) + insert + source.slice(to);
};

test("a change writes the line, takes its place, or takes it away", () => {
  const query = "SELECT 1";
  expect(changed(query, { connection: "warehouse", writes: false, variable: "orders" })).toBe("-- @warehouse > orders\nSELECT 1");
  expect(changed("\n-- @a > b  \nSELECT 1", { connection: undefined, writes: false, variable: "b" })).toBe("\n-- > b  \nSELECT 1");
  expect(changed("-- @a\nSELECT 1", { connection: undefined, writes: false, variable: undefined })).toBe(query);
  expect(changed("-- @a", { connection: undefined, writes: false, variable: undefined })).toBe("");
  expect(changed(query, { connection: undefined, writes: false, variable: undefined })).toBe(query);
});

test("what is written reads the same", () => {
  for (const connection of [undefined, "warehouse", "shop.sqlite"]) {
    for (const variable of [undefined, "orders"]) {
      for (const writes of connection === undefined ? [false] : [false, true]) {
        expect(said(headerLine({ connection, writes, variable }) + "\nSELECT 1")).toEqual([connection, writes, variable]);
      }
    }
  }
});

test("a variable is a name of Python's", () => {
  expect(["orders", "_x1", "größe"].every(isVariable)).toBe(true);
  expect(["1x", "a b", "a-b", "class", ""].some(isVariable)).toBe(false);
});

test("lines are counted without the header that is shown as fields", () => {
  expect(seenLine("-- @warehouse > t\nSELEC 1", 2)).toBe(1);
  expect(seenLine("-- > t\nSELECT 1,\n  x", 3)).toBe(2);
  expect(seenLine("-- > t\nSELECT 1", 1)).toBe(1);
  expect(seenLine("SELECT 1,\n  x", 2)).toBe(2);
  // Behind empty lines the header is shown as a line.
  expect(seenLine("\n-- > t\nSELEC 1", 3)).toBe(3);
});
