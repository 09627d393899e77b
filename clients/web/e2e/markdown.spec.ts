// Markdown cells as Jupyter shows them: formulas that know of each other, chemistry, and attachments of any name.
import { bringIn } from "./demo.ts";
import { expect, person, saved, test } from "./server.ts";

const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

const text = (id: string, source: string, more: object = {}) => ({ cell_type: "markdown", id, metadata: {}, source, ...more });

const CELLS = [
  text("refs", "see \\eqref{eq:b}, and \\eqref{none}"),
  text("defining", "$$\\newcommand{\\R}{\\mathbb{Q}}$$"),
  text("lines", "two lines $a +\n- b$, blanks $ \\alpha $, a macro $x \\in \\R$"),
  text("table", "| a | b |\n|---|---|\n| $|x|$ | $a\\|b$ |"),
  text("first", "\\begin{equation}\na = b\n\\end{equation}"),
  text("second", "\\begin{align}\nc &= d \\\\\ne &= f \\label{eq:b}\n\\end{align}"),
  text("chemistry", "$\\ce{H2O}$"),
  text("pictures", "![a](attachment:50%.png) ![b](attachment:a&b.png) ![c](attachment:my%20pic.png)", {
    attachments: Object.fromEntries(["50%.png", "a&b.png", "my pic.png"].map((name) => [name, { "image/png": PIXEL }])),
  }),
];

const book = { cells: CELLS, metadata: {}, nbformat: 4, nbformat_minor: 5 };

test("formulas: lines, blanks, tables, macros, numbers, references and chemistry; pictures with % in their names @smoke", async ({
  browser,
  server,
}) => {
  const page = await person(browser, server);
  await bringIn(page, book, "Formulas.ipynb");
  await saved(page);
  const cell = (id: string) => page.locator(`#cell-${id}`);
  const shown = (id: string) => cell(id).locator(".katex-html");
  await expect(shown("lines")).toHaveCount(3);
  await expect(shown("lines").last()).toHaveText(/Q$/);
  await expect(cell("table").locator("td")).toHaveCount(2);
  await expect(shown("table").first()).toHaveText("∣x∣");
  await expect(shown("first")).toContainText("(1)");
  await expect(shown("second")).toContainText(/\(2\)\s*\(3\)/);
  await expect(shown("refs").first()).toHaveText("(3)");
  await expect(shown("refs").last()).toHaveText("(???)");
  await expect(shown("chemistry")).toContainText("O");
  await expect(page.locator(".katex-error")).toHaveCount(0);
  await expect(cell("pictures").locator('img[src^="data:image/png"]')).toHaveCount(3);

  // A reference leads to its equation, and stays in the notebook.
  await cell("refs").locator("a").click();
  await expect(cell("second")).toBeFocused();
  expect(page.url()).toContain("#/n/");

  // Another definition and one equation more reach the cells below.
  await cell("defining").locator(".rendered").dblclick();
  await page.locator(".editing .cm-content").waitFor();
  await page.keyboard.press("Control+A");
  await page.keyboard.insertText("$\\def\\R{Z}$\n\n\\begin{equation} n \\end{equation}");
  await page.keyboard.press("Control+Enter");
  await expect(shown("lines").last()).toHaveText(/Z$/);
  await expect(shown("first")).toContainText("(2)");
  await expect(shown("refs").first()).toHaveText("(4)");
});
