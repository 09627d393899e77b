// Ruff on notebooks: names across cells, magics, formatting. Uses the page's build of ruff.
import { readFileSync } from "node:fs";
import { beforeAll, expect, test } from "vitest";
import { PositionEncoding, Workspace, initSync } from "@astral-sh/ruff-wasm-web";
import { masked, unmasked } from "../../src/python/magics.ts";
import { type Ruff, check, format } from "../../src/python/notebook.ts";

const ruff: Ruff = (options) => new Workspace(options, PositionEncoding.Utf16);
beforeAll(() => {
  const place = "node_modules/@astral-sh/ruff-wasm-web/ruff_wasm_bg.wasm";
  initSync({ module: readFileSync(place) });
});

const found = (sources: string[], others: string[] = []) => {
  const all = check(
    ruff,
    sources.map((source, index) => ({ id: String(index + 1), source })),
    others,
  );
  return [...all].flatMap(([id, list]) =>
    list.map(({ from, to, code }) => `${id} ${code ?? "syntax"} ${sources[Number(id) - 1]?.slice(from, to)}`),
  );
};
const formatted = (source: string, indent = "4") => format(ruff, source, indent);

test("a name of an earlier cell is known, a misspelt one is not", () => {
  expect(found(["total = 1", "print(total)"])).toEqual([]);
  expect(found(["total = 1", "x = '😀'; print(totl)"])).toEqual(["2 F821 totl"]);
  expect(found(["def f():\n    return later", "later = 1"])).toEqual([]);
  expect(found(["orders.head()"], ["orders"])).toEqual([]);
  expect(found(["display(In, Out, _)\nawait x()", "async def x(): ..."])).toContain("1 F821 x");
  expect(found(["from numpy import *", "zeros(3)"])).toEqual([]);
  expect(found(["import os", "import os"])).toEqual([]);
});

test("a cell that cannot be read is no other cell's fault", () => {
  const all = found(["value = 1\nprint(", "print(value)"]);
  expect(all.length).toBeGreaterThan(0);
  expect(all.every((each) => each.startsWith("1 syntax"))).toBe(true);
});

test("magics and commands are no mistakes, other languages are not read", () => {
  const cell = "%matplotlib inline\nfiles = !ls\nif files:\n    !echo {files} \\\n      more\nfiles?\nprint(files)";
  expect(found([cell, "%%bash\nif [ x ]; then echo; fi", "%%time\nprint(nowhere)"])).toEqual(["3 F821 nowhere"]);
  expect(found(["%run other.py", "print(from_other)"])).toEqual([]);
  const text = 'text = """\n%not a magic\n"""';
  expect(masked(text)?.taken).toEqual([]);
  const kept = masked(cell);
  expect(kept && unmasked(kept.code, kept).split("\n")[3]).toBe("    !echo {files} \\");
});

test("a cell is formatted as in a notebook", () => {
  expect(formatted("x=1\ny  = [1,2,\n3]")).toBe("x = 1\ny = [1, 2, 3]");
  expect(formatted("plt.plot( x );")).toBe("plt.plot(x);");
  expect(formatted("%matplotlib inline\nx=1\nfiles = !ls -l\nif x:\n  !pwd")).toBe(
    "%matplotlib inline\nx = 1\nfiles = !ls -l\nif x:\n    !pwd",
  );
  expect(formatted("%%time\nx=1")).toBe("%%time\nx = 1");
  expect(formatted("if x:\n  y=1", "2")).toBe("if x:\n  y = 1");
  expect(formatted("if x:\n  y=1", "tab")).toBe("if x:\n\ty = 1");
  for (const none of ["print(", "%%bash\nls   -l", "", "# a note"]) expect([undefined, none]).toContain(formatted(none));
});
