// Code in an assistant's answer, and the cell made from it.
import { expect, test } from "vitest";
import { answerParts, cellOfCode } from "../../src/outputs/answer.ts";

const codeOf = (answer: string) => answerParts(answer).flatMap((part) => ("code" in part ? [part] : []));

test("fences at the margin are code, what is between them is text", () => {
  const answer = "First:\n\n```python\nx = 1\n\ny = 2\n```\n\nThen:\n\n~~~sql\nselect 1\n~~~\n";
  expect(answerParts(answer).map((part) => ("code" in part ? [part.language, part.code] : part.text.trim()))).toEqual([
    "First:",
    ["python", "x = 1\n\ny = 2"],
    "Then:",
    ["sql", "select 1"],
  ]);
});

test("a fence that is not closed yet, one in a list, and a diagram stay text", () => {
  for (const answer of ["see\n```python\nx = 1", "- a\n  ```python\n  x\n  ```", "```mermaid\nflowchart\n```"])
    expect(answerParts(answer)).toEqual([{ text: answer }]);
});

test("a longer fence holds shorter ones", () => {
  expect(codeOf("````md\n```python\nx\n```\n````").map(({ code }) => code)).toEqual(["```python\nx\n```"]);
});

test("Python becomes a code cell, SQL an SQL cell, another language text with its fence", () => {
  const cells = ["python", "", "sql", "md", "text", "rust"].map((language) => {
    const [part] = codeOf(`\`\`\`${language}\nwords\n\`\`\``);
    return cellOfCode(part!);
  });
  expect(cells.map(({ type }) => type)).toEqual(["code", "code", "sql", "markdown", "raw", "markdown"]);
  expect(cells.at(-1)?.source).toBe("```rust\nwords\n```");
  expect(cells[0]?.source).toBe("words");
});
