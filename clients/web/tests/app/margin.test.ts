import { expect, test } from "vitest";
import { type Note, tops } from "../../src/app/cells/margin.ts";

const note = (wanted: number | undefined, height = 50): Note => ({ wanted, height });

test("each stands at its place, or below the one before", () => {
  expect(tops([note(10), note(300), note(320)], 8)).toEqual([10, 300, 358]);
});

test("what is not shown stands below the one before", () => {
  expect(tops([note(undefined), note(100), note(undefined)], 8)).toEqual([0, 100, 158]);
});

test("the current one stands at its place, and those above make room", () => {
  expect(tops([note(300), note(320), note(330)], 8, 2)).toEqual([214, 272, 330]);
  expect(tops([note(300), note(320), note(330)], 8, 0)).toEqual([300, 358, 416]);
});

test("nothing goes above the margin, nor over another, whatever is current", () => {
  let seed = 7;
  const random = (most: number) => (seed = (seed * 48271) % 2147483647) % most;
  for (let round = 0; round < 500; round++) {
    const sorted = Array.from({ length: 1 + random(8) }, () => random(1_000)).sort((a, b) => a - b);
    const notes = sorted.map((wanted) => note(random(5) === 0 ? undefined : wanted, 20 + random(200)));
    const found = tops(notes, 8, random(notes.length + 1) - 1);
    let free = 0;
    for (const [at, top] of found.entries()) {
      expect(top).toBeGreaterThanOrEqual(free);
      free = top + (notes[at]?.height ?? 0) + 8;
    }
  }
});
