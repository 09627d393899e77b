import { Text } from "@codemirror/state";
import { expect, test } from "vitest";
import {
  type Query,
  MOST_MATCHES,
  answerOf,
  matchFrom,
  movedPlace,
  matchesIn,
  patternOf,
  replacing,
} from "../../src/app/cells/find.ts";

const query = (text: string, more: Partial<Query> = {}): Query => ({ text, isRegex: false, isCase: false, isWord: false, ...more });
const found = (source: string, asked: Query) => {
  const pattern = patternOf(asked);
  return typeof pattern === "string" ? pattern : matchesIn([["a", source]], pattern).map(({ from, to }) => source.slice(from, to));
};

test("text, case, whole words, patterns", () => {
  expect(found("df DF Df", query("df"))).toEqual(["df", "DF", "Df"]);
  expect(found("df DF Df", query("df", { isCase: true }))).toEqual(["df"]);
  expect(found("df dfs my_df", query("df", { isWord: true }))).toEqual(["df"]);
  expect(found("a.b a+b axb", query("a.b"))).toEqual(["a.b"]);
  expect(found("x1 = 2\nx22 = 3", query("^x\\d+", { isRegex: true }))).toEqual(["x1", "x22"]);
  expect(found("a/b-c", query("a/b-c"))).toEqual(["a/b-c"]);
});

test("no pattern, an empty match, and too many do no harm", () => {
  expect(found("x", query("(", { isRegex: true }))).toMatch(/^Invalid pattern/);
  expect(found("abc", query("x*", { isRegex: true }))).toEqual([]);
  expect(found("x".repeat(MOST_MATCHES + 10), query("x"))).toHaveLength(MOST_MATCHES);
});

test("the next match from a place, around the end", () => {
  const matches = [
    { cell: "a", from: 3, to: 4 },
    { cell: "c", from: 1, to: 2 },
  ];
  const order = ["a", "b", "c"];
  expect([matchFrom(matches, order, "a", 0), matchFrom(matches, order, "a", 4), matchFrom(matches, order, "b", 0)]).toEqual([
    0, 1, 1,
  ]);
  expect([matchFrom(matches, order, "c", 2), matchFrom(matches, order, undefined, 0)]).toEqual([0, 0]);
});

test("what is replaced: all, or one; groups in a pattern's replacement alone", () => {
  const replaced = (source: string, asked: Query, by: string, only?: number) => {
    const pattern = patternOf(asked) as RegExp;
    const matches = matchesIn([["a", source]], pattern).filter((_, index) => only === undefined || index === only);
    return replacing(source, matches, pattern, by, asked.isRegex)
      .apply(Text.of(source.split("\n")))
      .toString();
  };
  expect(replaced("x + x\nx", query("x"), "$1")).toBe("$1 + $1\n$1");
  expect(replaced("x + x", query("x"), "long", 1)).toBe("x + long");
  expect(replaced("a=1, b=2", query("(\\w)=(\\d)", { isRegex: true }), "$2=$1 $$ $9")).toBe("1=a $ $9, 2=b $ $9");
  expect(replaced("a,b", query(",", { isRegex: true }), "\\n")).toBe("a\nb");
});

test("a place moves with a change before it, and stays where the text after it changes", () => {
  const moved = (before: string, after: string, at: number) => after.slice(0, movedPlace(before, after, at));
  expect(moved("one two three", "one 2 three", 8)).toBe("one 2 ");
  expect(moved("one two three", "zero one two three", 8)).toBe("zero one two ");
  expect(moved("one two three", "one two four", 8)).toBe("one two ");
  expect(moved("one two three", "one two three", 13)).toBe("one two three");
  expect(moved("one two three", "one", 8)).toBe("one");
  expect(moved("aaa", "aaaa", 3)).toBe("aaa");
  expect(moved("", "new", 0)).toBe("");
});

test("the worker finds and replaces as the page does", () => {
  const asked = query("(\\w)=(\\d)", { isRegex: true });
  const source = "a=1, b=2";
  const found = answerOf({ find: { sources: [["a", source]], query: asked } });
  expect(found).toEqual({
    matches: [
      { cell: "a", from: 0, to: 3 },
      { cell: "a", from: 5, to: 8 },
    ],
  });
  const matches = "matches" in found ? found.matches.slice(1) : [];
  const answer = answerOf({ replace: { source, matches, query: asked, by: "$2=$1" } });
  expect(answer).toEqual({ change: [5, [3, "2=b"]] });
  expect(answerOf({ find: { sources: [["a", source]], query: query("(", { isRegex: true }) } })).toEqual({ matches: [] });
});
