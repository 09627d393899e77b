// Outputs of runs on the page. The kernel needs only ipykernel: MIME bundles of libraries are displayed directly.
import { AxeBuilder } from "@axe-core/playwright";
import type { Page } from "@playwright/test";
import { bringIn } from "./demo.ts";
import { expect, person, test, write } from "./server.ts";

/** Creates a notebook with one cell of this source and runs it. */
async function ran(page: Page, source: string): Promise<void> {
  await page.getByRole("button", { name: "New notebook" }).click();
  await write(page, source);
  await page.keyboard.press("Control+Enter");
}

const display = (bundle: object) => `display(${JSON.stringify(bundle)}, raw=True)`;
/** Source that displays a MIME bundle. JSON text, because Python spells booleans differently. */
const displayJson = (bundle: object) => `import json; display(json.loads(${JSON.stringify(JSON.stringify(bundle))}), raw=True)`;
const shown = { timeout: 60_000 };

const at = Array.from({ length: 30 }, (_, row) => row);
/** First rows of a table of 1,000: no kernel has the others. */
const FRAME = {
  "application/vnd.notarium.table+json": {
    version: 1,
    kind: "pandas.DataFrame",
    rows: 1000,
    columns: [
      { name: "", type: "int64", kind: "integer", is_index: true },
      { name: "name", type: "str", kind: "text" },
      { name: "value", type: "int64", kind: "integer" },
    ],
    data: [at, at.map((row) => `name ${row}`), at.map((row) => (row * 7) % 30)],
  },
  "text/html": "<table class='dataframe'><tr><td>7</td></tr></table>",
  "text/plain": "df",
};
const PRINTED = `<div><style scoped>.dataframe tbody tr th { vertical-align: top; }</style><table border="1" class="dataframe"><thead><tr style="text-align: right;"><th></th><th>v</th><th>...</th></tr></thead><tbody><tr><th>4</th><td>a</td><td>...</td></tr><tr><th>...</th><td>...</td><td>...</td></tr><tr><th>115</th><td>b</td><td>...</td></tr></tbody></table><p>120 rows × 40 columns</p></div>`;

test("what is only printed HTML stands as it was printed, and says that it does not sort", async ({ browser, server }) => {
  const page = await person(browser, server);
  await ran(page, display({ "text/html": PRINTED, "text/plain": "df" }));
  await expect(page.locator(".outputs .rendered.table")).toContainText("120 rows × 40 columns", shown);
  await expect(page.locator(".outputs tbody tr")).toHaveCount(3);
  await expect(page.locator(".outputs tbody tr").nth(1)).toHaveText("...".repeat(3));
  await expect(page.getByText("Printed table: can’t be sorted or filtered.")).toBeInViewport();
  await expect(page.locator(".sheet")).toHaveCount(0);
  const { violations } = await new AxeBuilder({ page }).include(".outputs").analyze();
  expect(violations.map(({ id }) => id)).toEqual([]);
});

test("a DataFrame is sorted, filtered and paged", async ({ browser, server }) => {
  const page = await person(browser, server);
  await ran(page, displayJson(FRAME));
  const rows = page.locator(".sheet tbody tr");
  await expect(rows).toHaveCount(10, shown);
  await expect(page.locator(".sheet .foot")).toContainText("1,000 rows × 2 columns");
  await expect(page.locator(".sheet .notice")).toHaveText("Only the first rows were recorded: 30 of 1,000 rows.");
  const values = () => page.locator(".sheet tbody tr td:last-child").allTextContents();
  await page.getByRole("button", { name: /^value/ }).click();
  await expect(page.locator(".sheet .notice")).toContainText("Sorting and filtering use only these.");
  expect(await values()).toEqual(["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"]);
  await page.getByRole("button", { name: /^value/ }).click();
  expect((await values())[0]).toBe("29");
  await page.getByRole("button", { name: "Next page" }).click();
  expect((await values())[0]).toBe("19");
  await page.getByRole("searchbox", { name: "Filter rows" }).fill("name 7");
  await expect(rows).toHaveCount(1);
  const { violations } = await new AxeBuilder({ page }).include(".outputs").analyze();
  expect(violations.map(({ id }) => id)).toEqual([]);
});

test("a table's columns are filtered, renamed, moved and hidden", async ({ browser, server }) => {
  const page = await person(browser, server);
  await ran(page, displayJson(FRAME));
  const sheet = page.locator(".sheet");
  await expect(sheet.locator("tbody tr")).toHaveCount(10, shown);
  const choose = async (column: string, item: string) => {
    await sheet.getByRole("button", { name: `Column “${column}”` }).click();
    await page.getByRole("menuitem", { name: item }).click();
  };
  await choose("value", "Filter…");
  await sheet.getByLabel("Value to filter “value” by").fill("27");
  await page.keyboard.press("Enter");
  await expect(sheet.locator("tbody tr")).toHaveCount(3);
  await expect(sheet.locator(".filter-tag")).toHaveText("value ≥ 27");
  await choose("name", "Rename…");
  await sheet.getByLabel("New name for “name”").fill("station");
  await page.keyboard.press("Enter");
  await choose("station", "Move right");
  await expect(sheet.locator("thead .sort")).toHaveText(["", /^value/, /^station/]);
  await sheet.getByRole("button", { name: "Remove the filter of “value”" }).click();
  await expect(sheet.locator("tbody tr")).toHaveCount(10);
  await choose("station", "Hide");
  await expect(sheet.locator("thead .sort")).toHaveText(["", /^value/]);
  await sheet.locator("tbody td").first().click();
  expect(await page.evaluate(() => getSelection()?.toString())).toBe(await sheet.locator("tbody td").first().textContent());
  const { violations } = await new AxeBuilder({ page }).include(".outputs").analyze();
  expect(violations.map(({ id }) => id)).toEqual([]);
});

test("an error shows its line, and leads to it", async ({ browser, server }) => {
  const page = await person(browser, server);
  await ran(page, "def f():\n    return 1 / 0\n\nf()");
  await expect(page.locator(".failure .message")).toContainText("ZeroDivisionError: division by zero", shown);
  await page.locator(".failure .message").getByRole("button", { name: "Go to line 2" }).click();
  await page.locator(".editing .cm-focused").waitFor();
  await page.keyboard.insertText("    return 2");
  await expect(page.locator(".cm-line").nth(1)).toHaveText("    return 2");
});

test("long text is laid out where it is seen", async ({ browser, server }) => {
  const page = await person(browser, server);
  await ran(page, 'print("\\n".join(f"line {i}" for i in range(20_000)))');
  const lines = page.getByRole("region", { name: "Text, 20,000 lines" });
  await lines.waitFor(shown);
  await lines.evaluate((node) => node.scrollTo(0, node.scrollHeight));
  await expect(lines).toContainText("line 19999");
  expect(await lines.locator("pre").count()).toBeLessThan(200);
  await lines.evaluate((node) => node.scrollTo(0, 0));
  await expect(lines).toContainText("line 0line 1");
});

test("text that comes faster than it is shown is followed to its end, until somebody goes up in it", async ({
  browser,
  server,
}) => {
  const page = await person(browser, server);
  const batches = (from: number, to: number) =>
    `for batch in range(${from}, ${to}):\n    print("\\n".join(f"line {batch * 100 + n}" for n in range(100)), flush=True)\n    time.sleep(0.01)\n`;
  await ran(page, `import time\n${batches(0, 200)}input("more?")\n${batches(200, 300)}print("that is all")`);
  const lines = page.getByRole("region", { name: /^Text, / });
  await lines.waitFor(shown);
  const answer = page.locator(".input input");
  await answer.waitFor(shown);
  await expect(lines).toContainText("line 19999");
  await lines.hover();
  await page.mouse.wheel(0, -1_000_000);
  await expect(lines).toContainText("line 0line 1");
  await answer.fill("yes");
  await answer.press("Enter");
  await expect(page.getByRole("region", { name: /^Text, 30,00\d lines/ })).toBeVisible(shown);
  await expect(lines).toContainText("line 0line 1");
});

test("formulas, diagrams and code in Markdown", async ({ browser, server }) => {
  const page = await person(browser, server);
  const text =
    "# Sum\\n\\nso $e^{i\\\\pi} = -1$ and\\n\\n$$\\\\int_0^1 x\\\\,dx$$\\n\\n```mermaid\\ngraph LR; A[Start] --> B[End]\\n```\\n";
  await ran(page, `display({"text/markdown": "${text}"}, raw=True)`);
  await expect(page.locator(".output .katex")).toHaveCount(2, shown);
  await expect(page.frameLocator("iframe.frame").locator("svg")).toContainText("Start", shown);
});

test("Plotly and Vega-Lite draw in their frames", async ({ browser, server }) => {
  const page = await person(browser, server);
  const plotly = display({
    "application/vnd.plotly.v1+json": { data: [{ type: "bar", x: ["a", "b"], y: [1, 2] }], layout: { title: { text: "Bars" } } },
  });
  const spec = {
    data: { values: [{ a: "x", b: 3 }] },
    mark: "bar",
    encoding: { x: { field: "a" }, y: { field: "b", type: "quantitative" } },
    transform: [{ calculate: "datum.b * 2", as: "c" }],
  };
  await ran(page, `${plotly}\n${display({ "application/vnd.vegalite.v6+json": spec })}`);
  await expect(page.frameLocator("iframe.frame >> nth=0").locator(".main-svg").first()).toBeVisible(shown);
  await expect(page.frameLocator("iframe.frame >> nth=1").locator("canvas, svg").first()).toBeVisible(shown);
  await expect(page.locator(".outputs .error")).toHaveCount(0);
});

test("old outputs stay, greyed, until the first new one; an edit greys them too", async ({ browser, server }) => {
  const page = await person(browser, server);
  await ran(page, "import time\nprint('first')");
  await expect(page.locator(".outputs")).toContainText("first", shown);
  await expect(page.locator(".outputs.old")).toHaveCount(0);
  await page.locator(".cell .source").first().click();
  await page.locator(".editing .cm-focused").waitFor();
  await page.keyboard.press("Control+a");
  await page.keyboard.insertText("import time\ntime.sleep(2)\nprint('second')");
  await expect(page.locator(".outputs.old")).toContainText("first");
  await page.keyboard.press("Control+Enter");
  await expect(page.locator(".cell.is-running")).toBeVisible();
  await expect(page.locator(".outputs.old")).toContainText("first");
  await expect(page.locator(".outputs")).toHaveText("second", shown);
  await expect(page.locator(".outputs.old")).toHaveCount(0);
});

const PICTURE =
  '<svg xmlns="http://www.w3.org/2000/svg" width="200" height="100"><rect width="200" height="100" fill="teal"/></svg>';

test("a picture is enlarged and saved, JSON is a tree, sound plays in its frame", async ({ browser, server }) => {
  const page = await person(browser, server);
  const json = display({ "application/json": { rows: [{ id: 1, tags: ["a"] }] } });
  const sound = display({ "audio/wav": "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQAAAAA=" });
  await ran(page, `${display({ "image/svg+xml": PICTURE, "text/plain": "<Figure>" })}\n${json}\n${sound}`);
  await expect(page.locator(".output .image")).toBeVisible(shown);
  await expect(page.locator('.output a[download="output.svg"]')).toHaveCount(1);
  await page.getByRole("button", { name: /Enlarge the picture/ }).click({ force: true });
  await expect(page.locator("[data-rmiz-modal-img]")).toBeVisible();
  await page.keyboard.press("Escape");
  // The next key counts, however soon it comes.
  await page.keyboard.press("b");
  await expect(page.locator(".cell")).toHaveCount(2);
  await expect(page.locator("dialog[open]")).toHaveCount(0);
  await expect(page.locator(".json-tree")).toContainText("tags");
  await expect(page.frameLocator("iframe.frame").locator("audio")).toBeVisible();
});

test("what one reads stays where it is while an output above it grows", async ({ browser, server }) => {
  const page = await person(browser, server);
  const code = (id: string, source: string) => ({
    id,
    cell_type: "code",
    source,
    execution_count: null,
    metadata: {},
    outputs: [],
  });
  const text = (id: string) => ({
    id,
    cell_type: "markdown",
    source: `## Part ${id}\n\n${"Words to read. ".repeat(120)}`,
    metadata: {},
  });
  const grows = "import time\nfor line in range(25):\n    print(line)\n    time.sleep(0.1)";
  const cells = [code("a", grows), ...["1", "2", "3", "4", "5", "6"].map(text)];
  await bringIn(page, { nbformat: 4, nbformat_minor: 5, metadata: {}, cells }, "drift.ipynb");
  const read = page.locator(".cell").nth(3);
  await expect(read.getByRole("heading")).toBeVisible();
  await read.evaluate((cell) => cell.scrollIntoView({ block: "start", behavior: "instant" }));
  const first = page.locator(".cell").first();
  const height = () => first.evaluate((cell) => cell.clientHeight);
  const before = await height();
  const top = (await read.boundingBox())?.y ?? 0;
  const id = /n\/([^/?]+)/.exec(page.url())?.[1] ?? "";
  await server.send("POST", `/api/notebooks/${id}/runs`, { cells: ["a"] });
  let most = 0;
  await expect(async () => {
    most = Math.max(most, Math.abs(((await read.boundingBox())?.y ?? 0) - top));
    expect((await height()) - before).toBeGreaterThan(400);
  }).toPass({ timeout: 90_000, intervals: [20] });
  expect(most, "pixels that it moved").toBeLessThanOrEqual(2);
});
