import { expect, test } from "vitest";
import { rechunk } from "../../src/app/cells/chunks.ts";

const cells = (count: number) => Array.from({ length: count }, (_, index) => `c${index}`);

test("groups of ten, which stay the same objects while nothing changes in them", () => {
  const before = rechunk(cells(24), []);
  expect(before.map((chunk) => chunk.cells.length)).toEqual([10, 10, 4]);
  const order = cells(24).toSpliced(12, 0, "new");
  const after = rechunk(order, before);
  expect(after.flatMap((chunk) => chunk.cells)).toEqual(order);
  expect([after[0], after[2]]).toEqual([before[0], before[2]]);
  expect(after[0] === before[0] && after[2] === before[2]).toBe(true);
  expect(after.slice(0, 3).map((chunk) => chunk.id)).toEqual(before.map((chunk) => chunk.id));
});

test("any series of insertions, moves and deletions keeps the order, every cell once, and no group above twenty", () => {
  let state = 1;
  const random = (below: number) => (state = (state * 48_271) % 2_147_483_647) % below;
  let order = cells(130);
  let chunks = rechunk(order, []);
  for (let step = 0; step < 600; step++) {
    const at = random(order.length + 1);
    if (random(3) > 0) order = order.toSpliced(at, 0, `n${step}`);
    else if (random(2) === 0) order = order.toSpliced(at, 1);
    else order = order.toSpliced(at, 1).toSpliced(random(order.length), 0, ...order.slice(at, at + 1));
    chunks = rechunk(order, chunks);
    expect(chunks.flatMap((chunk) => chunk.cells)).toEqual(order);
    expect(Math.max(...chunks.map((chunk) => chunk.cells.length))).toBeLessThanOrEqual(20);
    expect(new Set(chunks.map((chunk) => chunk.id)).size).toBe(chunks.length);
  }
});
