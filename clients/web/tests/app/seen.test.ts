import { expect, test } from "vitest";
import { see, seenAt } from "../../src/app/session/seen.ts";

function storage() {
  const values = new Map<string, string>();
  return {
    getItem: (key: string) => values.get(key) ?? null,
    setItem: (key: string, value: string) => void values.set(key, value),
  };
}

test("what each person has seen of each notebook is kept; the oldest of many are forgotten", () => {
  const kept = storage();
  expect(seenAt("ann", "n", kept)).toBeUndefined();
  see("ann", "n", 5, kept);
  see("bo", "n", 7, kept);
  see("ann", "n", 9, kept);
  expect([seenAt("ann", "n", kept), seenAt("bo", "n", kept), seenAt("ann", "m", kept)]).toEqual([9, 7, undefined]);
  for (let index = 0; index < 100; index++) see("ann", `m${index}`, index, kept);
  expect([seenAt("bo", "n", kept), seenAt("ann", "m99", kept)]).toEqual([undefined, 99]);
});

test("what another program has left there does no harm", () => {
  const kept = storage();
  for (const text of ["", "[1", "null", "7"]) {
    kept.setItem("notarium.seen", text);
    expect(seenAt("ann", "n", kept)).toBeUndefined();
    see("ann", "n", 1, kept);
    expect(seenAt("ann", "n", kept)).toBe(1);
  }
});
