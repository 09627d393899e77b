import { expect, test } from "vitest";
import { blockOf, wordsOf } from "../../src/app/state/inline.ts";
import { type Inline, keepInline, keptInline } from "../../src/app/state/inlineField.ts";
import type { OpenNotebook } from "../../src/app/state/notebook.ts";

test("the longest block of code of an answer is the proposal; an answer in words has none", () => {
  expect(blockOf("Like this:\n\n```python\nx = 1\n```\nor\n```\nx = 1\ny = 2\n```\n")).toBe("x = 1\ny = 2");
  expect(blockOf("It adds `a` and `b`.")).toBeUndefined();
  expect(blockOf("```\n```")).toBe("");
  // The answer for a text cell with code has a longer fence.
  expect(blockOf("````markdown\n# Title\n```python\nx\n```\n````")).toBe("# Title\n```python\nx\n```");
  expect(blockOf("~~~\nx = '''\n```\n'''\n~~~")).toBe("x = '''\n```\n'''");
  // An incomplete block is no proposal.
  expect(blockOf("```python\nx = 1\n")).toBeUndefined();
});

test("the model is told the question first, the cell, and the marked lines in a fence that nothing in them ends", () => {
  const cells = new Map([["c2", { cell_type: "sql" }]]);
  const notebook = { replica: { document: { cells, order: ["c1", "c2"] } } } as unknown as OpenNotebook;
  const asked: Inline = { cell: "c2", marked: "", conversation: "k", question: "faster, please" };
  expect(wordsOf(notebook, asked)).toMatch(/^faster, please\n\nThis is about cell 2 \(c2, SQL\)\.\nChange nothing/);
  expect(wordsOf(notebook, { ...asked, marked: "a\n```\nb" })).toContain("these lines of it:\n````\na\n```\nb\n````\n");
});

test("a question that was sent is kept for the tab until it is closed; what is damaged is none", () => {
  const kept = new Map<string, string>();
  const storage = {
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, text: string) => void kept.set(key, text),
    removeItem: (key: string) => void kept.delete(key),
  };
  const asked: Inline = { cell: "a", marked: "", conversation: "c", question: "why?" };
  keepInline("n", asked, storage);
  expect(keptInline("n", storage)).toBeUndefined();
  const sent = { ...asked, turn: "t", isSent: true, before: { source: "x", version: 3 } };
  keepInline("n", sent, storage);
  expect(keptInline("n", storage)).toEqual(sent);
  expect(keptInline("other", storage)).toBeUndefined();
  keepInline("n", { ...asked, proposal: "y" }, storage);
  expect(keptInline("n", storage)?.proposal).toBe("y");
  const full = {
    ...storage,
    setItem: () => {
      throw new Error("quota");
    },
  };
  keepInline("n", { ...asked, proposal: "z" }, full);
  expect(keptInline("n", storage)).toBeUndefined();
  for (const damaged of ["{", "null", "[]", '{"cell": 1}']) {
    kept.set("notarium.inline.n", damaged);
    expect(keptInline("n", storage), damaged).toBeUndefined();
  }
});
