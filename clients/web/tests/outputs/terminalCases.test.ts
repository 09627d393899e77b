// Streams that the agent folds and the page shows alike: tests/fixtures/terminal/. NOTARIUM_TERMINAL_CASES names a file of more.
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { withoutEscapes } from "../../src/outputs/escapes.ts";
import { parts } from "../../src/outputs/text.ts";
import { Screen, joinedLines, settledLines } from "../../src/outputs/terminal.ts";
import { widthOf } from "../../src/outputs/widths.ts";

interface Case {
  pieces: string[];
  folded: string;
  plain: string;
}

const fixtures = new URL("../../../../tests/fixtures/terminal/", import.meta.url);
const more = process.env.NOTARIUM_TERMINAL_CASES;
const isEqual = (some: string[], others: string[]) => some.join("\n") === others.join("\n");
const cases = readFileSync(more ?? new URL("cases.jsonl", fixtures), "utf8")
  .trimEnd()
  .split("\n")
  .map((line) => JSON.parse(line) as Case);

/** The page shows no control characters. */
const CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g;
const hasColumns = (letter: string) => letter !== "\t" && widthOf(letter.codePointAt(0) ?? 0) > 0;

/** Rows of letters with their looks. Rows without a column, such as one of a tab alone, look like empty ones. */
function rowsOf(text: string): string[] {
  const rows = [""];
  const isSeen = [false];
  for (const { text: shown, ...look } of parts(text)) {
    const name = JSON.stringify(look);
    for (const letter of shown.replace(CONTROLS, "")) {
      const at = letter === "\n" ? rows.push("") - 1 : rows.length - 1;
      if (letter !== "\n") rows[at] += ` ${letter} ${name}`;
      isSeen[at] = letter !== "\n" && (isSeen[at] || hasColumns(letter));
    }
  }
  return rows.map((row, at) => (isSeen[at] ? row : ""));
}

test("each stream shows the characters of the agent's fold, in its colours", () => {
  expect(cases.length).toBeGreaterThanOrEqual(100);
  const wrong = cases.flatMap(({ pieces, folded, plain }) => {
    const ours = joinedLines(settledLines(pieces.join("")));
    const isRight = isEqual(rowsOf(ours), rowsOf(folded)) && isEqual(rowsOf(withoutEscapes(ours)), rowsOf(plain));
    return isRight ? [] : [{ pieces, folded, ours }];
  });
  expect([wrong.length, ...wrong.slice(0, 3)]).toEqual([0]);
});

test("a reader who looks after each piece sees the same at the end", () => {
  const wrong = cases.filter(({ pieces }) => {
    const screen = new Screen();
    for (const piece of pieces) {
      screen.write(piece);
      screen.lines();
    }
    return !isEqual(rowsOf(joinedLines(screen.lines())), rowsOf(joinedLines(settledLines(pieces.join("")))));
  });
  expect(wrong.slice(0, 3)).toEqual([]);
});

test("characters have the widths that the agent counts", () => {
  const changes = readFileSync(new URL("widths.txt", fixtures), "utf8");
  const wrong: number[] = [];
  let [code, width, next] = [0x20, 1, 0];
  for (const [, count = "", name = ""] of changes.matchAll(/([0-9a-z]+)([ZNWT])/g)) {
    next += Number.parseInt(count, 36);
    for (; code < next; code++) wrong.push(...(widthOf(code) === width ? [] : [code]));
    width = "ZNWT".indexOf(name);
  }
  expect(code).toBe(0xe1000);
  expect(wrong).toEqual([]);
});
