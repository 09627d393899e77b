import { expect, test } from "vitest";
import { typedOn } from "../../src/collab/typedOn.ts";

/** Text with “|” at the caret. */
const on = (text: string, typed: string, closes = true) => typedOn(text.replace("|", ""), text.indexOf("|"), typed, closes);

test.each([
  ['x = "abc|"', 'def"\ny = 1', 'x = "abcdef"\ny = 1'],
  ["print(foo(1|))", "2))", "print(foo(12))"],
  ['print("a|")', '")', 'print("a")'],
  // Brackets that close something else stay.
  ["(foo(|)", "1)", "(foo(1))"],
  ['x = |"abc"', '"', 'x = ""abc"'],
  ["total |)", ")", "total ))"],
  // Letters that open and close bring both signs themselves.
  ["x = |", 'f("a")', 'x = f("a")'],
  ["a = 1|\nb = (2)", ")", "a = 1)\nb = (2)"],
])("%s and then %s", (text, typed, whole) => expect(on(text, typed)).toBe(whole));

test("without the setting to close brackets, and in text, each sign counts", () => {
  expect(on('x = "abc|"', '"', false)).toBe('x = "abc""');
});
