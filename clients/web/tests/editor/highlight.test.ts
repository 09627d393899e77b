import { expect, test } from "vitest";
import { highlight, linesOf } from "../../src/outputs/highlight.ts";

test("what has no colour is one piece, and all pieces together are the text", () => {
  const source = "total = rate * 2  # in kroner\n\nif total:\n    print('dear', total)\n";
  const tokens = highlight(source);
  expect(tokens.map(({ text }) => text).join("")).toBe(source);
  expect(tokens.map(({ text, className }) => (className ? `${className.replace("tok-", "")}:${text}` : text))).toEqual([
    "total = rate * ",
    "number:2",
    "  ",
    "comment:# in kroner",
    "\n\n",
    "keyword:if",
    " total:\n    print(",
    "string:'dear'",
    ", total)\n",
  ]);
  expect(linesOf(tokens).map((line) => line.map(({ text }) => text).join(""))).toEqual([
    "total = rate * 2  # in kroner\n",
    "\n",
    "if total:\n",
    "    print('dear', total)\n",
    "",
  ]);
});
