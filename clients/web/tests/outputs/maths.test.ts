import { Marked } from "marked";
import { expect, test } from "vitest";
import { bareLatex, putFormulas, takeFormulas } from "../../src/outputs/maths.ts";
import { asScript } from "../../src/outputs/renderers.ts";

const marked = new Marked({ gfm: true });

function html(text: string): string {
  const { text: source, formulas } = takeFormulas(text);
  return putFormulas(marked.parse(source, { async: false }), formulas).trim();
}

/** Formulas of a text; those displayed begin with `$$`. */
const formulas = (text: string) => takeFormulas(text).formulas.map(({ tex, isDisplay }) => (isDisplay ? `$$${tex}` : tex));

test("formulas in a line and by themselves", () => {
  expect(html("so $a_1 < b$ holds")).toBe('<p>so <span class="math">a_1 &lt; b</span> holds</p>');
  expect(html("$$\nx^2\n$$\n\nand")).toBe('<div class="math display">x^2</div>\n<p>and</p>');
  expect(html("\\[ x \\]")).toBe('<div class="math display">x</div>');
  expect(html("\\(x_1\\) is")).toBe('<p><span class="math">x_1</span> is</p>');
  expect(html("\\begin{align}a&=b\\\\c&=d\\end{align}")).toContain('<div class="math display">\\begin{align}a&amp;=b');
  expect(html("text before $$E = mc^2$$ text after $$\na_1 < b\n$$")).toBe(
    '<p>text before <span class="math display">E = mc^2</span> text after <span class="math display">a_1 &lt; b</span></p>',
  );
});

test("over several lines, with blanks at the ends, with signs of Markdown and pipes", () => {
  expect(formulas("two lines: $a +\nb$ end")).toEqual(["a +\nb"]);
  expect(formulas("$ \\alpha + \\beta $ and $\\gamma $ and $ \\delta$ and $ x $")).toEqual([
    "\\alpha + \\beta",
    "\\gamma",
    "\\delta",
    "x",
  ]);
  expect(formulas("$a\n- b\n= c\n> d$ and $$\n# x\n---\n+ y\n$$")).toEqual(["a\n- b\n= c\n> d", "$$# x\n---\n+ y"]);
  expect(html("*emph* $a*b*c$ and $a_1 b_2$ and $x\\ $.")).toBe(
    '<p><em>emph</em> <span class="math">a*b*c</span> and <span class="math">a_1 b_2</span> and <span class="math">x\\ </span>.</p>',
  );
  expect(html("| a | b |\n|---|---|\n| $|x|$ | $a\\|b$ |")).toContain(
    '<td><span class="math">|x|</span></td>\n<td><span class="math">a\\|b</span></td>',
  );
  expect(html("**Note:**$x$ and **$y$**")).toBe(
    '<p><strong>Note:</strong><span class="math">x</span> and <strong><span class="math">y</span></strong></p>',
  );
  expect(html("> $$\n> a\n> = b\n> $$")).toContain('<div class="math display">a\n= b</div>');
  expect(html("1. one\n\n   $$a=b$$\n\n2. two\n   - $$c=d$$")).toMatch(/<li><p>one<\/p>\s*<div class="math display">a=b<\/div>/);
  expect(html("# The $x$ of *it*\n\n[$y$](https://example.org)")).toBe(
    '<h1>The <span class="math">x</span> of <em>it</em></h1>\n<p><a href="https://example.org"><span class="math">y</span></a></p>',
  );
});

test("Jupyter's brackets, environments in a text, nested ones, formulas in a formula's text, references", () => {
  expect(formulas("\\\\(x^2\\\\) and \\\\[y^2\\\\] and \\(z^2\\)")).toEqual(["x^2", "$$y^2", "z^2"]);
  expect(formulas("see \\begin{cases}a\\\\ \\begin{cases}b\\end{cases}\\end{cases} there")).toEqual([
    "$$\\begin{cases}a\\\\ \\begin{cases}b\\end{cases}\\end{cases}",
  ]);
  expect(formulas("$a \\text{ if $x$ holds}$ b")).toEqual(["a \\text{ if $x$ holds}"]);
  expect(formulas("$$a \\text{ if $x$}$$")).toEqual(["$$a \\text{ if $x$}"]);
  expect(formulas("by \\eqref{eq:1} and \\ref{a b}")).toEqual(["\\eqref{eq:1}", "\\ref{a b}"]);
  expect(formulas("an escaped \\[link\\] and \\\\[2pt]")).toEqual([]);
});

test("prices, shells and code are no formulas", () => {
  for (const text of [
    "it costs $5 and $6",
    "it costs $ 5 and $ 6, or $ 5 - $ 6",
    "from $5\nto 7 US$ today",
    "$ pip install x\n$ python y.py",
    "Costs \\$1 or \\$2",
    "an open $x and\n\nthe next paragraph$",
    "a lone $$ and",
    "nothing in $$$$",
    "\\begin{align} without its end",
  ])
    expect([text, formulas(text)]).toEqual([text, []]);
  expect(formulas("Costs \\\\$1 or \\\\$100 with $\\frac{1}{80}$")).toEqual(["\\frac{1}{80}"]);
  expect(html("`$x$` and ``a ` $y$``")).toBe("<p><code>$x$</code> and <code>a ` $y$</code></p>");
  expect(html("```\n$x$\n```")).toBe("<pre><code>$x$\n</code></pre>");
  expect(html("- item\n\n  ~~~\n  $x$ \\(x\\)\n  ~~~\n  $y$")).toMatch(/<code>\$x\$ \\\(x\\\)\n<\/code>[^]*<span class="math">y/);
  expect(html("a $x and\n```\ny$\n```")).not.toContain("math");
});

test("indented code, addresses, tags and comments get their text back", () => {
  expect(html("text\n\n    $a<b$")).toContain("<pre><code>$a&lt;b$\n</code></pre>");
  expect(html("<code>$x$</code> <pre>$y$</pre> $z$")).toBe('<p><code>$x$</code> <pre>$y$</pre> <span class="math">z</span></p>');
  expect(html('[a](b/$x$/$y$ "a $t$ < b")')).toBe('<p><a href="b/$x$/$y$" title="a $t$ &lt; b">a</a></p>');
  expect(html('<a href="?$a" title="$b">x</a> <!-- $y$ -->')).toBe('<p><a href="?$a" title="$b">x</a> <!-- $y$ --></p>');
  expect(html("https://example.org/$a$/b <https://example.org/$c$>")).not.toContain("math");
  expect(html("![$x$](a.png)")).toBe('<p><img src="a.png" alt="$x$"></p>');
  expect(html("<div>$x$</div>")).toBe('<div><span class="math">x</span></div>');
  expect(html("\u{fdd0}0\u{fdd1} $x$ $\u{fdd0}0\u{fdd1}$")).toBe(
    '<p>0 <span class="math">x</span> <span class="math">0</span></p>',
  );
});

/** A random text of pieces that matter to the scanner. */
function randomText(random: () => number): string {
  const pieces = [
    "$",
    "$$",
    "\\(",
    "\\)",
    "\\\\[",
    "\\\\]",
    "a",
    " ",
    "\n",
    "\n\n",
    "{",
    "}",
    "`",
    "```\n",
    "<b>",
    "\\$",
    "|",
    "*",
    "_",
    "5",
    "\\begin{align}",
    "\\end{align}",
    "> ",
    "- ",
    "\\alpha",
  ];
  return Array.from({ length: Math.floor(random() * 24) }, () => pieces[Math.floor(random() * pieces.length)]).join("");
}

function randomOf(seed: number): () => number {
  let state = seed;
  return () => (state = (state * 1_103_515_245 + 12_345) % 2 ** 31) / 2 ** 31;
}

test("any text: what is taken out and put back is the text, and no placeholder is left", () => {
  const random = randomOf(7);
  for (let count = 0; count < 3_000; count++) {
    const text = randomText(random);
    const taken = takeFormulas(text);
    const back = taken.text.replace(/\$\u{fdd0}(\d+)\u{fdd1}\$/gu, (_, index: string) => taken.formulas[Number(index)]?.raw ?? "?");
    expect(back).toBe(text);
    expect(html(text)).not.toMatch(/[\u{fdd0}\u{fdd1}]|EF%B7%9/u);
  }
});

/** A quadratic scan of these takes minutes. */
test("hostile texts of 100 KB are scanned", () => {
  const pieces = [
    "$",
    "${",
    "$a ",
    "\\(",
    "\\begin{a}",
    "`",
    "`` ` ",
    "<!--",
    "<a b=",
    "\\\\[",
    "$$\n",
    "\\[\n",
    '<a "',
    "[$x$",
    "\\begin{a}\\begin{b}",
  ];
  for (const piece of pieces) {
    const text = piece.repeat(100_000 / piece.length);
    expect(takeFormulas(text).formulas.reduce((sum, { raw }) => sum + raw.length, 0)).toBeLessThanOrEqual(text.length);
  }
});

test("LaTeX without what marks it as such; text around formulas is text", () => {
  expect(["$x$", "$$x$$", "$\\displaystyle x$", "\\[x\\]", "x"].map(bareLatex)).toEqual(["x", "x", "x", "x", "x"]);
  expect(bareLatex("\\begin{align}\na &= b\n\\end{align}")).toBe("\\begin{align}\na &= b\n\\end{align}");
  expect(bareLatex("so $x$ and $y$")).toBeUndefined();
});

test("Vega's interpreter as a script that needs no module", () => {
  const script = asScript(
    "import { isString } from 'vega-util';\nconst f = () => isString;\nexport { f as expressionInterpreter };",
  );
  const scope: Record<string, unknown> = { vega: { isString: "util" } };
  new Function("vega", "globalThis", script)(scope.vega, scope);
  expect((scope.expressionInterpreter as () => unknown)()).toBe("util");
});
