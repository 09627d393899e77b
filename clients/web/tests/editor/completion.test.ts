// Completion by the kernel, as the editor requests it.
import { CompletionContext } from "@codemirror/autocomplete";
import { python } from "@codemirror/lang-python";
import { ensureSyntaxTree } from "@codemirror/language";
import { EditorState } from "@codemirror/state";
import { expect, test, vi } from "vitest";
import { completionSource } from "../../src/editor/completion.ts";
import type { Ask } from "../../src/editor/kernel.ts";
import { isInside, nameAt, signatureOf } from "../../src/editor/notes.ts";
import type { CompletionMatch, KernelAnswer } from "../../src/protocol/messages.ts";

const matches = (from: number, to: number, ...found: (string | CompletionMatch)[]): KernelAnswer => ({
  completed: { from, to, matches: found.map((each) => (typeof each === "string" ? { text: each } : each)) },
});

/** Editor state with a complete syntax tree, also on slow machines. */
function python3(code: string): EditorState {
  const state = EditorState.create({ doc: code, extensions: [python()] });
  ensureSyntaxTree(state, code.length, 60_000);
  return state.update({}).state;
}

/** Requests completion at the end of the code. */
async function complete(
  code: string,
  answer: KernelAnswer | undefined | Promise<undefined>,
  explicit = false,
  others: string[] = [],
) {
  const ask = vi.fn<Ask>(() => Promise.resolve(answer));
  const state = python3(code);
  const result = await completionSource(ask, () => others, 1)(new CompletionContext(state, code.length, explicit));
  const labels = result?.options.map(({ label }) => label) ?? [];
  return { ask, result, labels };
}

test("behind a dot the kernel's names are offered with their types", async () => {
  const append = { text: "append", type: "function", signature: "(object, /)" };
  const { ask, result } = await complete("data.app", matches(5, 8, append, { text: "apply", type: "instance" }));
  expect(ask).toHaveBeenCalledWith({ complete: {} }, "data.app", 8);
  expect(result).toMatchObject({ from: 5, to: 8 });
  expect(result?.options).toMatchObject([
    { label: "append", type: "function", detail: "function", info: "append(object, /)" },
    { label: "apply", type: "variable", detail: "instance" },
  ]);
  expect(result?.validFor).toBeInstanceOf(RegExp);
});

test("unasked it asks only for names: not in comments, strings, numbers, or at the first letter", async () => {
  for (const code of ["# data.", "'data.", "f'data.", "3.", "x = 12.5", "d", "", "f(", "1e"]) {
    const { ask } = await complete(code, matches(0, code.length, "x"));
    expect([code, ask.mock.calls.length]).toEqual([code, 0]);
  }
  for (const code of ["data.", "f(x).", "données.col", "_name", "x1.", "len", "import js"]) {
    const { ask } = await complete(code, matches(0, code.length, "x"));
    expect([code, ask.mock.calls.length]).toEqual([code, 1]);
  }
  const asked = await complete("open('data/", matches(6, 11, "data/a.csv"), true);
  expect(asked.labels).toEqual(["data/a.csv"]);
  expect((await complete("# data", matches(2, 6, "x"), true)).ask).not.toHaveBeenCalled();
});

test("the kernel's names and the language's are offered once each", async () => {
  const code = "total = 1\nto";
  const { labels, result } = await complete(code, matches(10, 12, { text: "total", type: "instance" }, "totals"));
  expect(labels.filter((label) => label === "total")).toHaveLength(1);
  expect(result?.options.find(({ label }) => label === "total")?.detail).toBe("instance");
  expect(labels).toContain("totals");
  const loop = await complete("fo", matches(0, 2, "for"));
  const snippets = loop.result?.options.filter(({ label }) => label === "for") ?? [];
  expect(snippets.length).toBeGreaterThan(0);
  expect(snippets.every(({ apply }) => apply !== undefined)).toBe(true);
});

test("a kernel that answers late, nothing or what does not fit takes nothing away", async () => {
  const late = await complete("pri", new Promise(() => undefined));
  expect(late.labels).toContain("print");
  const refused: KernelAnswer = { refused: { code: "kernel_busy", message: "the kernel is executing something" } };
  expect((await complete("pri", refused)).labels).toContain("print");
  expect((await complete("pri", matches(7, 9, "elsewhere"))).labels).toContain("print");
  expect((await complete("data.", refused)).result).toBeNull();
  expect((await complete("data.", undefined)).result).toBeNull();
});

test("a list that was cut is asked for again with the next letter", async () => {
  const cut: KernelAnswer = { completed: { from: 5, to: 5, matches: [{ text: "a" }], is_cut: true } };
  expect((await complete("data.", cut)).result?.validFor).toBeUndefined();
});

test("a call's signature stays until the bracket is closed or left", () => {
  const inside = (code: string) => {
    const head = code.indexOf("|");
    const state = EditorState.create({ doc: code.replace("|", ""), selection: { anchor: head } });
    return isInside(state, code.indexOf("(") + 1);
  };
  expect(["f(|", "f(a, |)", "f((1), [2], |)", "f(g(|))"].map(inside)).toEqual([true, true, true, true]);
  expect(["f()|", "f|()", "f(a)| + 1"].map(inside)).toEqual([false, false, false]);
});

test("the signature is taken from IPython's description", () => {
  const red = (text: string) => `\u001b[31m${text}\u001b[39m`;
  const description = `${red("Signature:")} area(width, height=${red("2")})\n${red("Docstring:")} The area.\nMore.\n${red("File:")} x.py\n`;
  expect(signatureOf(description)).toBe("area(width, height=2)\nThe area.");
  const long = "Init signature:\nBig(\n    a,\n    b,\n)\nDocstring:     \nMakes it.\nType: type\n";
  expect(signatureOf(long)).toBe("Big(\n    a,\n    b,\n)\nMakes it.");
  expect(signatureOf("plain words\nof another kernel")).toBe("plain words\nof another kernel");
  expect(signatureOf("")).toBeUndefined();
});

test("the pointer finds names: no keywords, texts, comments", () => {
  const code = "for ship in fleet.ships: print('ship')  # ship";
  const state = python3(code);
  const found = (at: number) => {
    const name = nameAt(state, at, 1);
    return name && code.slice(name.from, name.to);
  };
  expect(found(code.indexOf("for"))).toBeUndefined();
  expect(found(code.indexOf("ship in") + 2)).toBe("ship");
  expect(found(code.indexOf("fleet"))).toBe("fleet");
  expect(found(code.indexOf("ships"))).toBe("ships");
  expect(found(code.indexOf("print"))).toBe("print");
  expect(found(code.indexOf("'ship") + 2)).toBeUndefined();
  expect(found(code.length - 2)).toBeUndefined();
});

test("without the kernel's answer the names of the other cells are offered, not behind a dot", async () => {
  const busy: KernelAnswer = { refused: { code: "kernel_busy", message: "the kernel is executing something" } };
  for (const answer of [busy, undefined, new Promise<undefined>(() => undefined)]) {
    const { labels } = await complete("total = 1\ntem", answer, false, ["temperatures", "total"]);
    expect(labels).toContain("temperatures");
    expect(labels.filter((label) => label === "total")).toHaveLength(1);
  }
  expect((await complete("data.tem", busy, false, ["temperatures"])).result).toBeNull();
  const { labels } = await complete("tem", matches(0, 3, "temp"), false, ["temperatures"]);
  expect(labels).toEqual(expect.arrayContaining(["temp", "temperatures"]));
});
