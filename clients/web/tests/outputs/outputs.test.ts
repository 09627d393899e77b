import { expect, test } from "vitest";
import { needsFrame, shapeOf } from "../../src/outputs/mime.ts";
import { parts, settle } from "../../src/outputs/text.ts";

test("a carriage return writes the line over, a backspace takes back", () => {
  expect(settle("10%\r20%\r100%\nnext")).toBe("100%\nnext");
  expect(settle("long line\rab")).toBe("abng line");
  expect(settle("a\r\nb")).toBe("a\nb");
  expect(settle("abc\b\bX")).toBe("aX");
});

test("ANSI colours become classes, true colours a colour, and no escape is left", () => {
  const [red, plain, rgb] = parts("\u001b[1;31mred\u001b[0m plain \u001b[38;2;1;2;3mrgb\u001b[0m");
  expect([red?.text, red?.className]).toEqual(["red", "ansi-fg-red ansi-bold"]);
  expect([plain?.text, plain?.className]).toEqual([" plain ", ""]);
  expect(rgb?.color).toBe("rgb(1, 2, 3)");
});

test("the richest form that is known is shown", () => {
  const display = (data: object) => shapeOf({ output_type: "display_data", data, metadata: {} }).kind;
  expect(display({ "text/plain": "1" })).toBe("text");
  expect(display({ "text/plain": "<Figure>", "image/png": "AA==\n" })).toBe("image");
  expect(display({ "text/html": ["<table>", "<tr></tr></table>"], "text/plain": "df" })).toBe("html");
  expect(display({ "application/json": { a: 1 } })).toBe("json");
  expect(display({ "application/x-new": 1 })).toBe("unknown");
  expect(shapeOf({ output_type: "stream", name: "stderr", text: ["a\n", "b"] })).toEqual({
    kind: "text",
    text: "a\nb",
    stream: "stderr",
  });
  expect(shapeOf({ output_type: "error", ename: "ValueError", evalue: "no", traceback: ["x", "y"] })).toMatchObject({
    kind: "error",
    traceback: "x\ny",
  });
  expect(shapeOf(undefined).kind).toBe("unknown");
});

test("what could run goes into the frame", () => {
  for (const html of [
    "<script>1</script>",
    "<img src=x onerror=alert(1)>",
    "<IFRAME src=x>",
    "<svg onload=x>",
    "<form action=x>",
  ]) {
    expect([html, needsFrame(html)]).toEqual([html, true]);
  }
  expect(needsFrame("<table><tr><td>script</td></tr></table>")).toBe(false);
});
