// Words for effects that a person's own code does not lead to.
import { expect, test } from "vitest";
import { isSurprised, surpriseWords } from "../../src/app/words/surprises.ts";

const removed = { kind: "remove" as const, target: "data.csv", count: 1 };

test("only a person's run with a refusal has a surprise", () => {
  const of = (effects: unknown, refused = [removed]) => isSurprised({ effects, refused } as never);
  expect(of({ expected: { kinds: ["open"] } })).toBe(true);
  expect(of({ expected: { kinds: ["open"] } }, [])).toBe(false);
  expect(isSurprised({ effects: { expected: { kinds: [] } } } as never)).toBe(false);
  expect([of("free"), of({ held: { allowed: [] } }), of("bound")]).toEqual([false, false, false]);
});

test("a surprise names what the cell wants", () => {
  expect(surpriseWords(removed, true).join("")).toBe("Your cell wants to delete data.csv, though nothing in it says so.");
  expect(surpriseWords({ kind: "network", target: "10.0.0.1:443", count: 3 }, false).join("")).toBe(
    "This cell wants to connect to 10.0.0.1:443 and 2 more, though nothing in it says so.",
  );
});
