import { expect, test } from "vitest";
import { type Now, nextShown } from "../../src/outputs/kept.ts";

const output = (text: string) => ({ content: { output_type: "stream", name: "stdout", text } });
const now = (execution: string, more: Partial<Now> = {}): Now => ({
  execution,
  outputs: [],
  isFinished: false,
  waits: false,
  ...more,
});

test("old outputs stay, greyed, until the first new one is there", () => {
  const old = nextShown(undefined, now("one", { outputs: [output("a")], isFinished: true }));
  expect(old).toMatchObject({ isOld: false, isGoing: false });
  const waiting = nextShown(old, now("two"));
  expect(waiting).toMatchObject({ execution: "one", isOld: true, isGoing: false });
  expect(nextShown(waiting, now("two", { outputs: [output("b")] }))).toMatchObject({ execution: "two", isOld: false });
});

test("a run that ends without outputs leaves none", () => {
  const old = nextShown(undefined, now("one", { outputs: [output("a")], isFinished: true }));
  expect(nextShown(nextShown(old, now("two")), now("two", { isFinished: true }))).toBeUndefined();
  expect(nextShown(old, undefined)).toBeUndefined();
});

test("what a run clears itself goes after a moment, what waits to be replaced is greyed", () => {
  const shown = nextShown(undefined, now("one", { outputs: [output("a")] }));
  expect(nextShown(shown, now("one"))).toMatchObject({ isGoing: true, isOld: false });
  expect(nextShown(shown, now("one", { outputs: [output("a")], waits: true }))).toMatchObject({ isOld: true });
});
