import { expect, test } from "vitest";
import { Places } from "../../src/app/state/places.ts";

const all = () => true;

function visited(...cells: string[]): Places {
  const places = new Places();
  for (const cell of cells) places.visit(cell);
  return places;
}

test("back through what was edited, and forward again", () => {
  const places = visited("a", "b", "b", "c");
  expect(places.go(-1, "c", all)).toBe("b");
  expect(places.go(-1, "b", all)).toBe("a");
  expect(places.go(-1, "a", all)).toBeUndefined();
  expect(places.go(1, "a", all)).toBe("b");
  expect(places.go(1, "b", all)).toBe("c");
  expect(places.go(1, "c", all)).toBeUndefined();
});

test("from somewhere else back leads to where was edited last", () => {
  expect(visited("a", "b").go(-1, "z", all)).toBe("b");
});

test("deleted cells are passed over, and an edit forgets what was ahead", () => {
  const places = visited("a", "b", "c");
  expect(places.go(-1, "c", (cell) => cell !== "b")).toBe("a");
  places.visit("d");
  expect(places.go(1, "d", all)).toBeUndefined();
  expect(places.go(-1, "d", all)).toBe("a");
});
