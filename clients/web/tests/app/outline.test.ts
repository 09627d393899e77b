import { expect, test } from "vitest";
import { outlineOf } from "../../src/app/cells/headings.ts";
import type { Cell } from "../../src/protocol/messages.ts";

test("the headings of Markdown cells, without marks, none in code", () => {
  const cell = (cell_type: string, source: string) => ({ cell_type, source, order_key: "a", cell_version: 1 }) as Cell;
  const cells = new Map([
    ["a", cell("markdown", "# **Bold** and `code` #\n\ntext\n## A [link](http://x)\n```\n# no heading\n```\n### Last")],
    ["b", cell("code", "# a comment")],
    ["c", cell("markdown", "#no heading")],
  ]);
  expect(outlineOf(["a", "b", "c"], cells)).toEqual([
    { cell: "a", level: 1, text: "Bold and code" },
    { cell: "a", level: 2, text: "A link" },
    { cell: "a", level: 3, text: "Last" },
  ]);
});
