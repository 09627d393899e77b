// Macros, numbers, labels and references across the formulas of a notebook, as MathJax has them in Jupyter.
import katex from "katex";
import { expect, test } from "vitest";
import { NOWHERE, definitionsIn, numbered } from "../../src/outputs/equations.ts";
import { needsChemistry, settingsOf } from "../../src/outputs/macros.ts";
import { takeFormulas } from "../../src/outputs/maths.ts";
import { keptPlaces, placesOf } from "../../src/outputs/places.ts";

/** MathML of each formula of the cells, in their order. An error is shown as KaTeX's message. */
function mathmlOf(...sources: string[]): string[] {
  const places = placesOf(sources.map((source, at) => [String(at), source] as const));
  return sources.flatMap((source, at) =>
    settingsOf(takeFormulas(source).formulas, places.get(String(at)) ?? NOWHERE).map(({ tex, options }) =>
      katex.renderToString(tex, { ...options, output: "htmlAndMathml", throwOnError: true }),
    ),
  );
}

/** Text that is seen of each formula, without blanks. */
const textsOf = (...sources: string[]) =>
  mathmlOf(...sources).map((html) =>
    html
      .replace(/^[^]*?<span class="katex-html"/, "<span")
      .replace(/<[^>]*>/g, "")
      .replace(/[\s\u200b\u00a0]/g, ""),
  );

test("definitions with all their arguments", () => {
  expect(definitionsIn("\\newcommand{\\R}{\\mathbb{R}} x \\def\\zz{zeta}")).toEqual([
    "\\newcommand{\\R}{\\mathbb{R}}",
    "\\def\\zz{zeta}",
  ]);
  const all = [
    "\\newcommand\\a[1]{b{c}#1}",
    "\\renewcommand*{\\vec}[2][x]{\\mathbf{#1}#2}",
    "\\providecommand{\\p} {q}",
    "\\gdef\\d#1#2{#2 \\} #1}",
    "\\let\\e=\\epsilon",
    "\\DeclareMathOperator*{\\argmin}{arg\\,min}",
    "\\newcommand\\s\\alpha",
  ];
  expect(definitionsIn(all.join(" and "))).toEqual(all);
  for (const broken of ["\\newcommand", "\\newcommand{\\R", "\\def", "\\def\\x", "\\let", "\\newcommand{\\a}[", "\\define{x}", "x"])
    expect([broken, definitionsIn(broken)]).toEqual([broken, []]);
});

test("macros of the cells above, also with names that KaTeX has", () => {
  const defining = "$$\\newcommand{\\R}{\\mathbb{Q}}$$ or $\\def\\zz{zeta}\\DeclareMathOperator*{\\argmin}{arg\\,min}$";
  expect(textsOf(defining, "use $\\R$ and $\\zz$", "$\\argmin f$").slice(2)).toEqual(["Q", "zeta", "argminf"]);
  expect(textsOf("$\\newcommand{\\v}[2][x]{#1_{#2}} \\v{i}\\v[y]{j}$")).toEqual(["xiyj"]);
  expect(
    textsOf("$\\newcommand{\\a}{1}$", "$\\renewcommand{\\a}{2}$", "$\\a$", "$\\renewcommand{\\never}{3}\\never$").slice(2),
  ).toEqual(["2", "3"]);
  expect(textsOf("$\\require{cancel}\\cancel{x}$")).toEqual(["x"]);
  expect(() => mathmlOf("use $\\zz$", "$\\def\\zz{z}$")).toThrow("\\zz");
  // One definition with a mistake leaves the others.
  const [own] = settingsOf([{ tex: "\\ok", isDisplay: false }], { ...NOWHERE, definitions: ["\\let", "\\def\\ok{1}"] });
  expect(katex.renderToString("\\ok", { ...own?.options, throwOnError: true })).toContain("<mn>1</mn>");
});

test("numbers go on through the notebook; tags, starred environments and \\notag have none", () => {
  const cells = [
    "\\begin{equation}\na = b\n\\end{equation}",
    "\\begin{align}\na &= b \\\\\nc &= \\begin{cases} 1 \\\\ 2 \\end{cases} \\notag \\\\[2pt]\nd &= e \\tag{A} \\\\\nf &= \\{g\\}\\\\\n\\end{align}",
    "\\begin{align*} x &= y \\end{align*} and $$z$$",
    "$$\\begin{gather} u % comment\n\\\\ v \\end{gather}$$",
    "\\begin{eqnarray} a &=& b \\\\ c &\\le& d \\end{eqnarray}\n\n\\begin{multline} p \\\\ q \\end{multline}",
  ];
  const shown = textsOf(...cells);
  expect(shown.map((text) => text.match(/\((?:\d+|A)\)/g) ?? [])).toEqual([
    ["(1)"],
    ["(2)", "(A)", "(3)"],
    [],
    [],
    ["(4)", "(5)"],
    ["(6)", "(7)"],
    ["(8)"],
  ]);
});

test("references are links with the number, to equations above and below; unknown ones have question marks", () => {
  const cells = [
    "see \\eqref{eq:b} and $\\ref{eq:t}$, \\eqref{none}",
    "\\begin{equation}\\label{eq:1}\na = b \\tag{7}\n\\end{equation}\nsee $\\eqref{eq:1}$",
    "\\begin{align} x \\\\ y \\label{eq:b} \\end{align}",
    "$$ z \\tag{$*$}\\label{eq:t} $$",
  ];
  const [below, tagged, none, , seven] = mathmlOf(...cells);
  expect(below).toContain('href="#eq%3Ab"');
  expect(textsOf(...cells).slice(0, 3)).toEqual(["(2)", "∗", "(???)"]);
  expect(tagged).toContain('href="#eq%3At"');
  expect(none).not.toContain("href");
  expect(seven).toContain('href="#eq%3A1"');
  expect(textsOf(...cells)[4]).toBe("(7)");
});

test("underlines in a text need no backslash", () => {
  expect(textsOf("$\\textit{hello_world} \\text{a\\_b} x_1$")).toEqual(["hello_worlda_bx1"]);
});

test("no other address is a link", () => {
  for (const address of ["https://example.org", "javascript:alert(1)", "/api/x"])
    expect(() =>
      katex.renderToString(`\\href{${address}}{x}`, {
        ...settingsOf([{ tex: "x", isDisplay: false }], NOWHERE)[0]?.options,
        throwOnError: true,
      }),
    ).not.toThrow();
  for (const address of ["https://example.org", "javascript:alert(1)", "/api/x"])
    expect(mathmlOf(`$\\href{${address}}{x}$`)[0]).not.toContain("<a ");
});

test("chemistry is seen in formulas and definitions, and set once it is loaded", async () => {
  expect([needsChemistry(["\\ce{H2O}"]), needsChemistry(["\\def\\w{\\ce{H2O}}"]), needsChemistry(["\\cdot \\cell"])]).toEqual([
    true,
    true,
    false,
  ]);
  await import("../../src/outputs/chemistry.ts");
  expect(textsOf("$\\ce{2H2 + O2 -> 2H2O}$")[0]).toMatch(/^2H.*O.*2H.*O$/);
});

test("a line's number does not depend on what is in its text", () => {
  for (const line of [
    "a",
    "\\text{ \\\\ }",
    "\\begin{pmatrix} 1 \\\\ 2 \\end{pmatrix}",
    "{a \\\\ b}",
    "\\{ x",
    "50\\% % \\\\ in a comment\n",
  ]) {
    const done = numbered(`\\begin{align} ${line} \\\\ z \\end{align}`, 4, new Map());
    expect([line, done.next, done.tex.match(/\\tag\{\d\}/g)]).toEqual([line, 6, ["\\tag{4}", "\\tag{5}"]]);
  }
});

test("places that stay are the same objects, so that their cells are not rendered again", () => {
  const of = (...texts: string[]) => placesOf(texts.map((text, at) => [String(at), text] as const));
  const before = keptPlaces(new Map(), of("$\\def\\a{1}$", "text", "\\begin{equation} x \\label{l} \\end{equation}", "$y$"));
  const same = keptPlaces(before, of("$\\def\\a{1}$ more", "text", "\\begin{equation} x \\label{l} \\end{equation}", "$y$"));
  expect([...same.values()]).toEqual([...before.values()]);
  expect([...same].every(([name, place]) => before.get(name) === place)).toBe(true);
  const other = keptPlaces(same, of("$\\def\\a{2}$", "text", "\\begin{equation} x \\label{l} \\end{equation}", "$y$"));
  expect([...other].map(([name, place]) => same.get(name) === place)).toEqual([true, false, false, false]);
  const numberedNow = keptPlaces(same, of("$\\def\\a{1}$", "text", "\\begin{equation} x \\end{equation}", "$y$"));
  expect(numberedNow.get("3")?.references.size).toBe(0);
});
