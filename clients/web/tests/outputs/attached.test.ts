// Pictures of attachments, by any name and in any way of writing it.
import { Marked } from "marked";
import { expect, test } from "vitest";
import { withAttachments } from "../../src/outputs/attached.ts";

const PICTURE = { "image/png": "AAAA\n" };
const html = (markdown: string, ...names: string[]) =>
  withAttachments(new Marked().parse(markdown, { async: false }), Object.fromEntries(names.map((name) => [name, PICTURE]))).trim();

test("names with percent signs, blanks, ampersands, quotation marks and umlauts", () => {
  for (const [written, name] of [
    ["50%.png", "50%.png"],
    ["100%25.png", "100%.png"],
    ["100%25.png", "100%25.png"],
    ["%.png", "%.png"],
    ["%ff.png", "%ff.png"],
    ["a%2.png", "a%2.png"],
    ["my%20pic.png", "my pic.png"],
    ["my%20pic.png", "my%20pic.png"],
    ["a&b.png", "a&b.png"],
    ["a%26b'c.png", "a&b'c.png"],
    ["Gr%C3%B6%C3%9Fe%20in%20%.png", "Größe in %.png"],
    ["Größe.png", "Größe.png"],
    ["50%20%.png", "50 %.png"],
  ] as const)
    expect([written, name, html(`![p](attachment:${written})`, name)]).toEqual([
      written,
      name,
      '<p><img src="data:image/png;base64,AAAA" alt="p"></p>',
    ]);
});

test("tags of HTML, with any quotation marks; text and other names stay", () => {
  expect(html('<img src="attachment:raw.png" width="30"/>', "raw.png")).toContain('src="data:image/png;base64,AAAA" width="30"');
  expect(html("<img alt='a > b' src='attachment:raw.png'>", "raw.png")).toContain('src="data:image/png;base64,AAAA"');
  expect(html("<img src=attachment:raw.png>", "raw.png")).toContain('src="data:image/png;base64,AAAA"');
  expect(html("![p](attachment:50%.png)", "other.png")).toContain('src="attachment:50%.png"');
  expect(html("text src=attachment:raw.png", "raw.png")).toBe("<p>text src=attachment:raw.png</p>");
  expect(withAttachments('<img src="attachment:a.svg">', { "a.svg": { "text/html": "<b>" } })).toBe('<img src="attachment:a.svg">');
  expect(withAttachments('<img src="attachment:__proto__">', { a: PICTURE })).toBe('<img src="attachment:__proto__">');
});
