import { Marked } from "marked";
import { expect, test } from "vitest";
import { colouredCode } from "../../src/outputs/code.ts";

const render = (text: string) => new Marked({ async: false }, colouredCode).parse(text) as string;

test("Python in Markdown has colours, and stays text", () => {
  expect(render("```python\nif a < 1: '<b>'\n```")).toBe(
    '<pre><code><span class="tok-keyword">if</span> a &lt; ' +
      '<span class="tok-number">1</span>: <span class="tok-string">\'&lt;b&gt;\'</span></code></pre>',
  );
});

test("other languages are as they are", () => {
  expect(render("```text\nif a\n```")).toContain('<code class="language-text">if a');
});
