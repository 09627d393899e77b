import { Marked } from "marked";
import { expect, test } from "vitest";
import { bareLatex, maths } from "../../src/outputs/maths.ts";
import { asScript } from "../../src/outputs/renderers.ts";

const html = (text: string) => new Marked(maths).parse(text, { async: false }).trim();

test("formulas in a line and by themselves", () => {
  expect(html("so $a_1 < b$ holds")).toBe('<p>so <span class="math">a_1 &lt; b</span> holds</p>');
  expect(html("$$\nx^2\n$$\nand")).toBe('<div class="math display">x^2</div><p>and</p>');
  expect(html("\\[ x \\]")).toBe('<div class="math display">x</div>');
  expect(html("\\(x_1\\) is")).toBe('<p><span class="math">x_1</span> is</p>');
  expect(html("\\begin{align}a&=b\\\\c&=d\\end{align}")).toContain('<div class="math display">\\begin{align}a&amp;=b');
});

test("prices and code are no formulas", () => {
  expect(html("it costs $5 and $6")).toBe("<p>it costs $5 and $6</p>");
  expect(html("`$x$`")).toBe("<p><code>$x$</code></p>");
  expect(html("```\n$x$\n```")).not.toContain("math");
});

test("LaTeX without what marks it as such", () => {
  expect(["$x$", "$$x$$", "$\\displaystyle x$", "\\[x\\]", "x"].map(bareLatex)).toEqual(["x", "x", "x", "x", "x"]);
});

test("Vega's interpreter as a script that needs no module", () => {
  const script = asScript(
    "import { isString } from 'vega-util';\nconst f = () => isString;\nexport { f as expressionInterpreter };",
  );
  const scope: Record<string, unknown> = { vega: { isString: "util" } };
  new Function("vega", "globalThis", script)(scope.vega, scope);
  expect((scope.expressionInterpreter as () => unknown)()).toBe("util");
});
