// JSON with integers beyond 2^53: the values of JSON.parse, with their digits beside them.
import { expect, test } from "vitest";
import { exactJson, exactText, parseJson, sameDigits, withExact } from "../../src/protocol/exactJson.ts";

const TEXTS = [
  '{"id": 1152921504606846977, "list": [9007199254740993, -18446744073709551617, 5], "text": "1152921504606846977"}',
  "[1152921504606846977]",
  "1152921504606846977",
  '{"#": "#1152921504606846977", "a": [12345678901234567890], "b\\"": ", 12345678901234567 ]"}',
  '{"f": 0.12345678901234567, "e": 12345678901234567e3, "n": 1234567890123456}',
  '{"a": "\\\\", "b": 9007199254740993, "c": "\\\\\\"9007199254740993"}',
  "{}",
];

test("values are those of JSON.parse, in any text", () => {
  for (const text of TEXTS) expect(parseJson(text)).toEqual(JSON.parse(text));
});

test("what is written again has all the digits", () => {
  const without = (text: string) => text.replace(/\s(?=(?:[^"]*"[^"]*")*[^"]*$)/g, "");
  for (const text of [TEXTS[0], TEXTS[1]]) expect(exactJson(parseJson(text ?? ""))).toBe(without(text ?? ""));
  expect(exactJson(parseJson(TEXTS[3] ?? ""))).toBe(
    '{"#":"#1152921504606846977","a":[12345678901234567890],"b\\"":", 12345678901234567 ]"}',
  );
  expect(exactJson({ a: 1, b: ["x", null] }, 2)).toBe(JSON.stringify({ a: 1, b: ["x", null] }, null, 2));
});

test("digits are found by holder and key, also in a copy", () => {
  const value = parseJson(TEXTS[0] ?? "") as { id: number; list: number[] };
  expect([exactText(value, "id"), exactText(value.list, 1), exactText(value.list, 2)]).toEqual([
    "1152921504606846977",
    "-18446744073709551617",
    undefined,
  ]);
  expect(exactText(sameDigits(value, { ...value }), "id")).toBe("1152921504606846977");
  expect(withExact(value, BigInt)).toMatchObject({ id: 2n ** 60n + 1n, list: [2n ** 53n + 1n, -(2n ** 64n) - 1n, 5] });
  const plain = { a: [1] };
  expect(withExact(plain, BigInt)).toBe(plain);
});

test("a message of 8 MB of text and quotation marks is parsed too", () => {
  const long = JSON.stringify({ picture: "A".repeat(6_000_000), escapes: '"\\'.repeat(500_000), id: 0 }).replace(
    /0}$/,
    "9007199254740993}",
  );
  expect(exactText(parseJson(long) as object, "id")).toBe("9007199254740993");
});
