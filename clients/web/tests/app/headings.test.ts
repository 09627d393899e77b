import { expect, test } from "vitest";
import { foldsOf, headingAbove, headingLevel } from "../../src/app/cells/headings.ts";
import type { Cell } from "../../src/protocol/messages.ts";

const cell = (source: string, cell_type = "markdown") =>
  ({ cell_type, source, order_key: "", cell_version: 1, source_version: 1 }) as unknown as Cell;
const cells = new Map([
  ["a", cell("# One")],
  ["b", cell("x = 1", "code")],
  ["c", cell("## Inner\ntext")],
  ["d", cell("y = 2", "code")],
  ["e", cell("# Two")],
  ["f", cell("# no heading", "code")],
]);
const order = [...cells.keys()];

test("a heading is what a Markdown cell begins with", () => {
  expect(order.map((id) => headingLevel(cells.get(id)))).toEqual([1, undefined, 2, undefined, 1, undefined]);
  expect(headingLevel(cell("#tag"))).toBeUndefined();
});

test("a collapsed heading hides what follows it, with the headings below its level", () => {
  const { hidden, counts } = foldsOf(order, cells, (id) => id === "a");
  expect([...hidden]).toEqual(["b", "c", "d"]);
  expect(counts.get("a")).toBe(3);
});

test("an inner heading hides its own part alone; at the end, the rest", () => {
  expect([...foldsOf(order, cells, (id) => id === "c").hidden]).toEqual(["d"]);
  expect([...foldsOf(order, cells, (id) => id === "e").hidden]).toEqual(["f"]);
  expect(foldsOf(order, cells, () => false).hidden.size).toBe(0);
});

test("from a cell the way up leads over the inner heading to the outer one", () => {
  expect(headingAbove(order, cells, "d")).toBe("c");
  expect(headingAbove(order, cells, "c")).toBe("a");
  expect(headingAbove(order, cells, "e")).toBeUndefined();
});
