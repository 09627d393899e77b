import { expect, test } from "vitest";
import { bytesOf, grouped, tail } from "../../src/outputs/groups.ts";

const stream = (name: string, text: string, size?: number) => ({
  content: { output_type: "stream", name, text },
  ...(size !== undefined && { blobs: [{ pointer: "/text", sha256: text, size_bytes: size }] }),
});
const picture = { content: { output_type: "display_data", data: {} } };

test("neighbouring pieces of one stream are one text, also those that stand in blobs", () => {
  const outputs = [stream("stdout", "a"), stream("stdout", "b", 9), stream("stderr", "c"), picture, picture, stream("stdout", "d")];
  expect(grouped(outputs).map(({ outputs: { length }, isStream }) => [length, isStream])).toEqual([
    [2, true],
    [1, true],
    [1, false],
    [1, false],
    [1, true],
  ]);
});

test("of much text the last pieces are taken, at least one", () => {
  const pieces = [stream("stdout", "a", 40), stream("stdout", "b", 30), stream("stdout", "c", 20)];
  expect(bytesOf(pieces)).toBe(90);
  expect(tail(pieces, 50)).toEqual(pieces.slice(1));
  expect(tail(pieces, 1)).toHaveLength(1);
  expect(tail(pieces, 90)).toHaveLength(3);
});
