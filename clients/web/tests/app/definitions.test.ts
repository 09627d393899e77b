// Go to definition over the cells of a notebook. `|` marks the caret.
import { expect, test } from "vitest";
import { definitionOf } from "../../src/python/definitions.ts";

function found(...sources: string[]): string | undefined {
  const index = sources.findIndex((source) => source.includes("|"));
  const at = sources[index]?.indexOf("|") ?? 0;
  const cells = sources.map((source, each) => ({ id: String(each + 1), source: source.replace("|", "") }));
  const definition = definitionOf(cells, String(index + 1), at);
  const source = cells.find(({ id }) => id === definition?.cell)?.source ?? "";
  if (!definition) return undefined;
  const line = source.slice(0, definition.from).split("\n").length;
  return `${definition.cell}:${line} ${source.slice(definition.from, definition.to)}`;
}

test("of the cells above the nearest, else of those below the first", () => {
  expect(found("x = 1", "x = 2", "print(|x)")).toBe("2:1 x");
  expect(found("print(|x)", "y = 1", "x = 1", "x = 2")).toBe("3:1 x");
  expect(found("x = 1\nx = 2\nprint(x|)\nx = 3")).toBe("1:2 x");
  expect(found("x = 1", "|x = 2")).toBe("1:1 x");
  expect(found("print(|nowhere)")).toBeUndefined();
});

test("functions, classes, methods, imports, loops", () => {
  expect(found("def load(path):\n    return path", "lo|ad('a')")).toBe("1:1 load");
  expect(found("class Ship:\n    def sail(self):\n        pass", "Ship().sa|il()")).toBe("1:2 sail");
  expect(found("class Ship:\n    pass", "ship = Sh|ip()")).toBe("1:1 Ship");
  expect(found("import pandas as pd", "p|d.read_csv('x')")).toBe("1:1 pd");
  expect(found("for row in rows:\n    print(ro|w)")).toBe("1:1 row");
  expect(found("with open('x') as f:\n    print(|f)")).toBe("1:1 f");
  expect(found("a, (b, c) = 1, (2, 3)", "print(|c)")).toBe("1:1 c");
});

test("what a function binds is its own", () => {
  expect(found("x = 1", "def f(x):\n    return |x")).toBe("2:1 x");
  expect(found("x = 1", "def f():\n    return |x")).toBe("1:1 x");
  expect(found("i = 1", "[i for i in range(3) if |i]")).toBe("2:1 i");
  expect(found("def f():\n    def g():\n        pass\n    |g()")).toBe("1:2 g");
});

test("a cell that cannot be read, and a place without a name", () => {
  expect(found("total = (", "print(|total)")).toBe("1:1 total");
  expect(found("x = '|text'")).toBeUndefined();
  expect(found("|")).toBeUndefined();
});
