import { describe, expect, it } from "vitest";
import { emphasised, mentionAt, mentionsIn, nearest } from "../../src/app/state/comments.ts";

describe("the place of a text in another", () => {
  it.each([
    ["a b a b a", "a", 4, 4],
    ["a b a b a", "b", 3, 2],
    ["a b a b a", "b", 5, 6],
    ["a b", "c", 0, undefined],
    ["xx ab", "ab", 0, 3],
    ["ab xx", "ab", 4, 0],
  ])("in %j, %j near %i is at %s", (text, wanted, at, place) => expect(nearest(text, wanted, at)).toBe(place));
});

describe("a name that is being written", () => {
  it.each([
    ["@", 1, { from: 1, name: "" }],
    ["ask @An", 7, { from: 5, name: "An" }],
    ["(@Zoë", 5, { from: 2, name: "Zoë" }],
    ["ann@example", 11, undefined],
    ["@Ann is", 7, undefined],
    ["@Ann and", 3, { from: 1, name: "An" }],
  ])("%j at %i: %j", (text, caret, at) => expect(mentionAt(text, caret)).toEqual(at));
});

it("those are mentioned whose names the text still has", () => {
  const chosen = new Map([
    ["1", "Ann Lee"],
    ["2", "Bo"],
  ]);
  expect(mentionsIn("@Ann Lee, look", chosen)).toEqual(["1"]);
  expect(mentionsIn("Bo knows", chosen)).toEqual([]);
});

it("names stand out, the longer before the shorter", () => {
  expect(emphasised("@Ann Lee and @Ann (a.b)", ["Ann", "Ann Lee"])).toBe("**@Ann Lee** and **@Ann** (a.b)");
  expect(emphasised("@Anna", ["Ann"])).toBe("@Anna");
  expect(emphasised("@A.B", ["A.B"])).toBe("**@A.B**");
  expect(emphasised("@AxB", ["A.B"])).toBe("@AxB");
});
