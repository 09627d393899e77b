import { expect, test } from "vitest";
import { CELLS_MIME, cellsOfFile, fromNbformat, pasted, toNbformat } from "../../src/app/cells/clipboard.ts";

const data = (values: Record<string, string>) => ({ getData: (type: string) => values[type] ?? "" });

test("cells come back as they were, prompts too", () => {
  const cells = [
    { cell_type: "code" as const, source: "a = 1\nb = 2" },
    { cell_type: "prompt" as const, source: "why?" },
    { cell_type: "markdown" as const, source: "# T" },
  ];
  expect(fromNbformat(toNbformat(cells))).toEqual(cells);
});

test("cells of another program: sources as lists of lines, foreign line breaks, unknown types", () => {
  const cells = [
    { cell_type: "code", source: ["a\r\n", "b"], metadata: {} },
    { cell_type: "heading", source: "old" },
  ];
  const expected = [
    { cell_type: "code", source: "a\nb" },
    { cell_type: "raw", source: "old" },
  ];
  expect(pasted(data({ [CELLS_MIME]: JSON.stringify(cells) }))).toEqual(expected);
  expect(pasted(data({ "text/plain": JSON.stringify({ nbformat: 4, cells }) }))).toEqual(expected);
});

test("other text becomes a cell; what is no notebook is text", () => {
  expect(pasted(data({ "text/plain": "x = 1\r\ny" }))).toEqual([{ cell_type: "code", source: "x = 1\ny" }]);
  for (const text of ["[1, 2]", '{"cells": [{"cell_type": 3}]}', "[]"])
    expect(pasted(data({ "text/plain": text }))).toEqual([{ cell_type: "code", source: text }]);
  expect(pasted(data({ "text/plain": " \n" }))).toEqual([]);
});

test("a file becomes cells by its name; what no cell can hold becomes none", () => {
  expect(cellsOfFile("A.PY", "a = 1\r\nb\n")).toEqual([{ cell_type: "code", source: "a = 1\nb" }]);
  expect(cellsOfFile("notes.md", "# T")).toEqual([{ cell_type: "markdown", source: "# T" }]);
  expect(cellsOfFile("q.sql", "select 1")).toEqual([{ cell_type: "sql", source: "select 1" }]);
  const notebook = JSON.stringify({ cells: [{ cell_type: "code", source: ["a\n", "b"] }] });
  expect(cellsOfFile("n.ipynb", notebook)).toEqual([{ cell_type: "code", source: "a\nb" }]);
  for (const [name, text] of [
    ["n.ipynb", "no"],
    ["p.png", "x"],
    ["noending", "x"],
    ["b.py", "\0"],
  ] as const)
    expect(cellsOfFile(name, text)).toEqual([]);
});
