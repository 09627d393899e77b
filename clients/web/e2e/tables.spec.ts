// Data frames and variables of a real kernel: all rows can be reached, sorted and filtered, and requests are not recorded.
import type { Page } from "@playwright/test";
import { hasDuckDb, notebook, python, query } from "./cells.ts";
import { bringIn } from "./demo.ts";
import { KERNELS, type TestServer, expect, person, saved, test, write } from "./server.ts";

const HAS_PANDAS = hasDuckDb(KERNELS);
const NEEDS = "the Python of NOTARIUM_KERNEL_PATH needs pip install duckdb pandas pyarrow";
const shown = { timeout: 60_000 };

const cell = (page: Page, id: string) => page.locator(`#cell-${id}`);
const run = (page: Page, id: string) => cell(page, id).getByRole("button", { name: "Run", exact: true }).click();

async function command(page: Page, words: string): Promise<void> {
  await page.keyboard.press("Control+Shift+P");
  await page.getByRole("combobox", { name: "Search commands" }).waitFor();
  await page.keyboard.type(words);
  await page.keyboard.press("Enter");
}

const idOf = (page: Page) => page.url().match(/#\/n\/([^/?]+)/)?.[1] ?? "";

/** Version of the notebook on the server. */
const versionOf = async (server: TestServer, page: Page) =>
  (JSON.parse(await server.command("show", idOf(page), "--json")) as { version: number }).version;

const column = (page: Page, at: number) => page.locator(`.sheet tbody tr > :nth-child(${at})`).allTextContents();

test("a DataFrame of 5,000 rows: its shape, all rows, sort and filter over all of them, statistics, CSV @smoke", async ({
  browser,
  server,
}) => {
  test.skip(!HAS_PANDAS, NEEDS);
  const page = await person(browser, server);
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  await page.getByRole("button", { name: "New notebook" }).click();
  await write(
    page,
    "import pandas as pd\ndf = pd.DataFrame({'n': [(7 * i) % 5000 for i in range(5000)], 'word': [f'w{i}' for i in range(5000)]})\ndf",
  );
  await page.keyboard.press("Control+Enter");
  const foot = page.locator(".sheet .foot");
  await expect(foot).toContainText("5,000 rows × 2 columns", shown);
  await saved(page);
  const before = await versionOf(server, page);

  await expect(page.locator(".sheet tbody tr").first()).toHaveText("00w0");
  await expect(page.locator(".sheet .pages")).toContainText("1 of 500");
  const head = page.getByRole("button", { name: /^n int64/ });
  await head.click();
  await head.click();
  await expect(page.locator(".sheet tbody tr").first()).toContainText("4999");
  expect(await column(page, 2)).toEqual(["4999", "4998", "4997", "4996", "4995", "4994", "4993", "4992", "4991", "4990"]);
  await expect(foot.getByText("Live")).toBeInViewport();

  await page.getByRole("searchbox", { name: "Filter rows" }).click();
  await page.keyboard.type("w49");
  await expect(foot).toContainText("111 of 5,000 rows");
  await page.keyboard.press("Control+A");
  await page.keyboard.press("Delete");
  await expect(foot).not.toContainText("of 5,000");

  await page.locator(".sheet thead th").nth(1).hover();
  await page.getByRole("button", { name: "Column “n”" }).click();
  await page.getByRole("menuitem", { name: "Statistics" }).click();
  const statistics = page.getByRole("region", { name: "Statistics of “n”" });
  await expect(statistics).toContainText("2,499.5");
  await expect(statistics).toContainText("5,000");
  await page.keyboard.press("Enter");
  await expect(statistics).toHaveCount(0);

  await page.getByRole("button", { name: "Copy as CSV" }).click();
  await expect(foot).toContainText("Copied 5,000 rows");
  await expect(foot).not.toContainText("Copied", { timeout: 20_000 });
  const lines = (await page.evaluate(() => navigator.clipboard.readText())).trim().split("\n");
  expect([lines.length, lines[0], lines[1]?.split(",")[1], lines.at(-1)?.split(",")[1]]).toEqual([5001, ",n,word", "4999", "0"]);
  expect(await versionOf(server, page), "a question was recorded").toBe(before);
  const file = JSON.parse(await server.command("export", idOf(page))) as { cells: { outputs?: { data?: object }[] }[] };
  expect(Object.keys(file.cells[0]?.outputs?.[0]?.data ?? {}).sort()).toEqual(["text/html", "text/plain"]);
});

test("5 × 40 has 40 columns, a Series is a table, and a table of 120 rows is here as a whole when the kernel is gone", async ({
  browser,
  server,
}) => {
  test.skip(!HAS_PANDAS, NEEDS);
  const page = await person(browser, server);
  const source =
    "import pandas as pd\ndisplay(pd.DataFrame({f'c{i}': range(5) for i in range(40)}))\ndisplay(pd.Series(range(120), name='s'))";
  await bringIn(page, notebook(python("small", source)), "Small.ipynb");
  await saved(page);
  await run(page, "small");
  const sheets = page.locator(".sheet");
  await expect(sheets.nth(0).locator(".foot")).toContainText("5 rows × 40 columns", shown);
  await expect(sheets.nth(1).locator(".foot")).toContainText("120 rows × 1 column");
  // A single column is narrower than the page.
  expect((await sheets.nth(1).boundingBox())?.width).toBeLessThan(520);
  await server.command("kernels", "shutdown", idOf(page));
  await expect(page.locator(".button.kernel")).not.toContainText("Idle");
  await sheets
    .nth(1)
    .getByRole("button", { name: /^s int64/ })
    .click();
  await sheets
    .nth(1)
    .getByRole("button", { name: /^s int64/ })
    .click();
  await expect(sheets.nth(1).locator("tbody tr").first()).toHaveText("119119");
  await expect(page.locator(".sheet .notice")).toHaveCount(0);
});

test("the very frame of the output, not a later one of its name; as it is now; and a word when the kernel has it no more", async ({
  browser,
  server,
}) => {
  test.skip(!HAS_PANDAS, NEEDS);
  const page = await person(browser, server);
  const make = "import pandas as pd\nkept = df = pd.DataFrame({'n': range(3_000_000)})\ndisplay(df)";
  await bringIn(
    page,
    notebook(
      python("make", make),
      python("other", "df = pd.DataFrame({'x': [1]})\n'other'"),
      python("change", "kept.loc[0, 'n'] = -5\n'changed'"),
      python("drop", "del kept\nimport gc; gc.collect()\n'dropped'"),
    ),
    "Frames.ipynb",
  );
  await saved(page);
  await run(page, "make");
  const sheet = cell(page, "make").locator(".sheet");
  await expect(sheet.locator(".foot")).toContainText("3,000,000 rows × 1 column", shown);
  await run(page, "other");
  await expect(cell(page, "other").locator(".outputs")).toContainText("other");
  const head = sheet.getByRole("button", { name: /^n int64/ });
  await head.click();
  await head.click();
  await expect(sheet.locator("tbody tr").first()).toHaveText("2999999".repeat(2));
  await run(page, "change");
  await expect(cell(page, "change").locator(".outputs")).toContainText("changed");
  await head.click();
  await head.click();
  await expect(sheet.locator("tbody tr").first()).toHaveText("0-5");
  await expect(sheet.locator(".notice")).toHaveText("Changed since it was shown. These are its rows now.");
  await run(page, "drop");
  await expect(cell(page, "drop").locator(".outputs")).toContainText("dropped");
  await head.click();
  await expect(sheet.locator(".notice")).toContainText("The kernel no longer has this table: 200 of 3,000,000 rows.");
  await expect(sheet.locator(".notice")).toContainText("Sorting and filtering use only these.");
});

test("integers beyond 2^53 sort, filter and stay as they are: a data frame, its first rows, a query, JSON", async ({
  browser,
  server,
}) => {
  test.skip(!HAS_PANDAS, NEEDS);
  const page = await person(browser, server);
  const ids = (count: string) => `import pandas as pd\npd.DataFrame({"id": [1152921504606846976 + i for i in ${count}]})`;
  await bringIn(
    page,
    notebook(
      python("few", ids("(3, 1, 2, 0)")),
      python("many", ids("[(7 * i) % 5000 for i in range(5000)]")),
      query("sql", "SELECT 1152921504606846976 + i AS id FROM (VALUES (3), (1), (2), (0)) t(i)"),
      python("json", 'from IPython.display import JSON\nJSON({"id": 1152921504606846977, "list": [9007199254740993]})'),
    ),
    "Large.ipynb",
  );
  await saved(page);
  const last = (id: string) => cell(page, id).locator(".sheet tbody tr > td:last-child").allTextContents();
  const shownIds = (...more: number[]) => more.map((each) => String(2n ** 60n + BigInt(each)));
  for (const [id, name] of [
    ["few", /^id int64/],
    ["many", /^id int64/],
    ["sql", /^id /],
  ] as const) {
    await run(page, id);
    const sheet = cell(page, id).locator(".sheet");
    const head = sheet.getByRole("button", { name });
    await head.click({ timeout: 60_000 });
    await expect.poll(async () => (await last(id)).slice(0, 4), id).toEqual(shownIds(0, 1, 2, 3));
    await head.click();
    await expect.poll(async () => (await last(id))[0], id).toEqual(shownIds(id === "many" ? 4999 : 3)[0]);
    await sheet.locator("thead th").last().hover();
    await sheet.getByRole("button", { name: "Column “id”" }).click();
    await page.getByRole("menuitem", { name: "Filter…" }).click();
    await sheet.getByLabel("Operator").selectOption("=");
    await sheet.getByLabel("Value to filter “id” by").fill("1152921504606846977");
    await page.keyboard.press("Enter");
    await expect.poll(() => last(id), id).toEqual(shownIds(1));
  }
  await run(page, "json");
  await expect(cell(page, "json").locator(".json-tree")).toContainText("1152921504606846977", shown);
  await expect(cell(page, "json").locator(".json-tree")).toContainText("9007199254740993");
});

test("a query's variable gives all its rows", async ({ browser, server }) => {
  test.skip(!HAS_PANDAS, NEEDS);
  const page = await person(browser, server);
  await bringIn(page, notebook(query("q", "-- > found\nSELECT range AS n, range % 7 AS m FROM range(3000)")), "Query.ipynb");
  await saved(page);
  await run(page, "q");
  const sheet = cell(page, "q").locator(".sheet");
  await expect(sheet.locator(".foot")).toContainText("3,000 rows × 2 columns", shown);
  const head = sheet.getByRole("button", { name: /^n BIGINT/ });
  await head.click();
  await head.click();
  await expect(sheet.locator("tbody tr").first()).toHaveText("29993");
});

test("variables: listed after each run, sorted; a click inserts the name, or opens the table; nothing is recorded @smoke", async ({
  browser,
  server,
}) => {
  const page = await person(browser, server);
  await page.getByRole("button", { name: "New notebook" }).click();
  await write(page, "zebra = [1, 2, 3]\nalpha = 'word'\napi_key = 'secret'\nimport os\ndef f(): pass");
  await page.keyboard.press("Escape");
  await command(page, "variables");
  const panel = page.getByRole("complementary", { name: "Variables" });
  await expect(panel).toContainText("No kernel is running.");
  await page.locator(".cell .source").first().click();
  await page.locator(".editing .cm-focused").waitFor();
  await page.keyboard.press("Control+Enter");
  await expect(panel.locator("li .name")).toHaveText(["alpha", "api_key", "zebra"], shown);
  await expect(panel.locator("li").nth(2)).toContainText("[1, 2, 3]");
  await expect(panel.locator("li").nth(1)).toContainText("[hidden]");
  await expect(panel).not.toContainText("secret");
  await saved(page);
  const before = await versionOf(server, page);
  await panel.getByRole("button", { name: "Refresh" }).click();
  await panel.getByLabel("Sort variables").selectOption("type");
  await expect(panel.locator("li .name")).toHaveText(["zebra", "alpha", "api_key"]);
  expect(await versionOf(server, page), "a question was recorded").toBe(before);

  await page.locator(".cell .source, .cell .cm-content").first().click();
  await page.locator(".editing .cm-focused").waitFor();
  await page.keyboard.press("Control+End");
  await page.keyboard.press("Enter");
  await page.keyboard.type("later = ");
  await panel.getByTitle("Insert zebra").click();
  await page.keyboard.type("[0]");
  await expect(page.locator(".cm-line").last()).toHaveText("later = zebra[0]");
  await page.keyboard.press("Control+Enter");
  await expect(panel.locator("li .name")).toContainText(["later"]);
});

test("a DataFrame among the variables opens as a table, which sorts all its rows", async ({ browser, server }) => {
  test.skip(!HAS_PANDAS, NEEDS);
  const page = await person(browser, server);
  await page.getByRole("button", { name: "New notebook" }).click();
  await write(page, "import pandas as pd\nframe = pd.DataFrame({'n': range(1000)})");
  await page.keyboard.press("Control+Enter");
  await page.keyboard.press("Escape");
  await command(page, "variables");
  const panel = page.getByRole("complementary", { name: "Variables" });
  await expect(panel.locator("li")).toContainText("1,000 × 1", shown);
  await panel.getByRole("button", { name: "Open frame as a table" }).click();
  const dialog = page.getByRole("dialog", { name: "frame" });
  await dialog.getByRole("button", { name: /^n int64/ }).click();
  await dialog.getByRole("button", { name: /^n int64/ }).click();
  await expect(dialog.locator("tbody tr").first()).toHaveText("999999");
  await expect(dialog.locator(".foot")).toContainText("1,000 rows × 1 column");
  await page.keyboard.press("Escape");
  await expect(dialog).toHaveCount(0);
});
