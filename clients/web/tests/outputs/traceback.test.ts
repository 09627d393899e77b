import { expect, test } from "vitest";
import { framesOf, placeOf } from "../../src/outputs/traceback.ts";

const TRACEBACK = [
  "\u001b[31m---------------------------------------------------------------------------\u001b[39m",
  "\u001b[31mZeroDivisionError\u001b[39m                         Traceback (most recent call last)",
  "\u001b[36mCell\u001b[39m\u001b[36m \u001b[39m\u001b[32mIn[4]\u001b[39m\u001b[32m, line 2\u001b[39m",
  "      1 x = 1",
  "----> 2 f(x)",
  "",
  "\u001b[36mFile \u001b[39m\u001b[32m/usr/lib/python3/json/decoder.py:355\u001b[39m, in \u001b[36mJSONDecoder.decode\u001b[39m(self)",
  "    354 try:",
  "",
  "\u001b[36mCell\u001b[39m\u001b[36m \u001b[39m\u001b[32mIn[3]\u001b[39m\u001b[32m, line 7\u001b[39m, in \u001b[36mf\u001b[39m(x)",
  "----> 7     return x / 0",
  "",
  "\u001b[31mZeroDivisionError\u001b[39m: division by zero",
].join("\n");

test("the frames of a traceback, with the run and the line of those in cells", () => {
  const frames = framesOf(TRACEBACK);
  expect(frames.map(({ title, count, line }) => [title, count, line])).toEqual([
    ["Cell In[4], line 2", 4, 2],
    ["File /usr/lib/python3/json/decoder.py:355, in JSONDecoder.decode(self)", undefined, undefined],
    ["Cell In[3], line 7, in f(x)", 3, 7],
  ]);
  expect(frames[0]?.text).toBe("      1 x = 1\n----> 2 f(x)");
  expect(placeOf(frames)).toMatchObject({ count: 3, line: 7 });
});

test("a syntax error has its place, text that is no traceback has none", () => {
  const syntax = framesOf(
    "  \u001b[36mCell\u001b[39m \u001b[32mIn[2], line 1\u001b[39m\n    print(\n         ^\nSyntaxError: incomplete input",
  );
  expect(placeOf(syntax)).toMatchObject({ count: 2, line: 1 });
  expect(framesOf("Oh no")).toEqual([]);
  expect(framesOf("Input In [5], in <cell line: 3>()")).toMatchObject([{ count: 5, line: 3 }]);
});
