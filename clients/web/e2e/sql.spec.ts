// SQL cells on the page, with DuckDB and SQLite in a real kernel.
import { AxeBuilder } from "@axe-core/playwright";
import type { Page } from "@playwright/test";
import { hasDuckDb, notebook, python, query } from "./cells.ts";
import { bringIn } from "./demo.ts";
import { KERNELS, TestServer, expect, person, saved, test, write } from "./server.ts";

const HAS_DUCKDB = hasDuckDb(KERNELS);
const NEEDS = "the Python of NOTARIUM_KERNEL_PATH needs pip install duckdb pandas pyarrow";

const cell = (page: Page, id: string) => page.locator(`#cell-${id}`);
const run = (page: Page, id: string) => cell(page, id).getByRole("button", { name: "Run", exact: true }).click();

async function command(page: Page, words: string): Promise<void> {
  await page.keyboard.press("Control+Shift+P");
  await expect(page.getByRole("combobox", { name: "Search commands" })).toBeFocused();
  await page.keyboard.type(words);
  await page.keyboard.press("Enter");
}

test("a cell becomes a query with colours, its head writes its first line, its result is a table", async ({ browser, server }) => {
  test.skip(!HAS_DUCKDB, NEEDS);
  const page = await person(browser, server);
  await page.getByRole("button", { name: "New notebook" }).click();
  await write(page, "SELECT 7 AS answer, NULL AS nothing, 'a' AS word");
  await page.keyboard.press("Escape");
  await command(page, "change to sql");
  const sql = page.locator(".cell.sql");
  await expect(sql.locator(".source .tok-keyword").first()).toHaveText("SELECT");
  await sql.locator(".source").click();
  await expect(sql.locator(".cm-content .tok-keyword").first()).toHaveText("SELECT");

  const head = sql.getByRole("group", { name: "Where this query runs" });
  await expect(head.getByLabel("Connection")).toHaveValue("duckdb");
  await head.getByLabel("Variable for the result").fill("2nd");
  await expect(head.getByLabel("Variable for the result")).toHaveAttribute("aria-invalid", "true");
  await head.getByLabel("Variable for the result").fill("found");
  await page.keyboard.press("Enter");
  await expect(sql.locator(".cm-line").first()).toHaveText("-- > found");
  await saved(page);

  await sql.getByRole("button", { name: "Run", exact: true }).click();
  const table = sql.getByRole("table");
  await expect(table.getByRole("columnheader").first()).toHaveText(/answer INTEGER/, { timeout: 60_000 });
  await expect(table.getByRole("cell")).toHaveText(["7", "NULL", "a"]);
  await expect(sql.locator(".foot")).toContainText(/1 row × 3 columns · \d+ ms · duckdb/);
  await expect(sql.getByText("Edited since last run")).toHaveCount(0);

  await page.getByRole("button", { name: "Code", exact: true }).last().click();
  await page.locator(".editing .cm-focused").waitFor();
  await page.keyboard.insertText("print(type(found).__name__, len(found))");
  await page.keyboard.press("Control+Enter");
  await expect(page.locator(".cell.code .outputs")).toHaveText("DataFrame 1", { timeout: 60_000 });
});

test("a click on a query's button is not missed because another query was chosen; more rows come when asked for", async ({
  browser,
  server,
}) => {
  test.skip(!HAS_DUCKDB, NEEDS);
  const page = await person(browser, server);
  const many = query("many-cell", "SELECT range AS n FROM range(3000)");
  await bringIn(
    page,
    notebook(python("frame-cell", "least = 2"), query("one-cell", "SELECT {least} + 1 AS three"), many),
    "Queries.ipynb",
  );
  await saved(page);
  await run(page, "frame-cell");
  await run(page, "one-cell");
  await run(page, "many-cell");
  await expect(cell(page, "one-cell").getByRole("cell")).toHaveText("3", { timeout: 60_000 });
  const foot = cell(page, "many-cell").locator(".foot");
  await expect(foot).toContainText("3,000 rows × 1 column", { timeout: 60_000 });
  await foot.getByRole("button", { name: "Show all 3,000 rows" }).click();
  await expect(foot.getByRole("button", { name: "Show all 3,000 rows" })).toHaveCount(0);
  await expect(foot).toContainText("3,000 rows × 1 column");
});

test("what goes wrong is said in words, at its line; a query that was stopped is no failure", async ({ browser, server }) => {
  test.skip(!HAS_DUCKDB, NEEDS);
  const page = await person(browser, server);
  const cells = [
    query("nowhere-cell", "-- @wharehouse\nSELECT 1"),
    query("wrong-cell", "SELECT 1\nFRM x"),
    query("long-cell", "SELECT count(*) FROM range(100000000000) a, range(1000000) b"),
  ];
  await bringIn(page, notebook(...cells), "Wrong.ipynb");
  await saved(page);
  await expect(cell(page, "nowhere-cell").getByText("Unknown connection")).toBeVisible();
  await run(page, "nowhere-cell");
  await expect(cell(page, "nowhere-cell").locator(".failure")).toContainText(
    "there is no connection 'wharehouse'; there are: duckdb",
    { timeout: 60_000 },
  );

  await run(page, "wrong-cell");
  const failure = cell(page, "wrong-cell").locator(".failure");
  await expect(failure).toContainText(/line 2: .*syntax error/, { timeout: 60_000 });
  await failure.getByRole("button", { name: "Go to line 2" }).click();
  await expect(cell(page, "wrong-cell")).toHaveClass(/editing/);

  await run(page, "long-cell");
  await expect(cell(page, "long-cell")).toHaveClass(/is-running/, { timeout: 60_000 });
  await cell(page, "long-cell").getByRole("button", { name: "Stop" }).click();
  await expect(cell(page, "long-cell").getByText("Interrupted by you")).toBeVisible({ timeout: 60_000 });
  await expect(cell(page, "long-cell").locator(".failure.stopped")).toBeVisible();
  await expect(cell(page, "long-cell").getByRole("button", { name: "Ask the assistant to fix it" })).toHaveCount(0);
});

test("the head offers the agent's connections, and says which may write", async ({ browser }) => {
  test.skip(!HAS_DUCKDB, NEEDS);
  const server = new TestServer();
  const named = ["shelf", "store"].flatMap((name) => ["--connection", `${name}=sqlite:${server.data}/../${name}.sqlite`]);
  await server.start([...named, "--connection-writes", "store"]);
  try {
    const page = await person(browser, server);
    await bringIn(page, notebook(query("query-cell", "SELECT 1 AS one")), "Connections.ipynb");
    await saved(page);
    const head = cell(page, "query-cell").getByRole("group", { name: "Where this query runs" });
    await expect(head.getByRole("option")).toHaveText(["DuckDB in the kernel", "shelf (SQLite)", "store (SQLite)"]);
    await head.getByLabel("Connection").selectOption("shelf");
    await expect(cell(page, "query-cell").locator(".source")).toContainText("-- @shelf");
    await expect(head.getByRole("button", { name: /Read-only|Can write/ })).toHaveCount(0);

    await head.getByLabel("Connection").selectOption("store");
    await head.getByRole("button", { name: "Read-only" }).click();
    await expect(cell(page, "query-cell").locator(".source")).toContainText("-- @store write");
    await expect(head.getByRole("button", { name: "Can write" })).toHaveAttribute("aria-pressed", "true");
    await saved(page);
    await run(page, "query-cell");
    await expect(cell(page, "query-cell").locator(".foot")).toContainText("store", { timeout: 60_000 });

    await head.getByLabel("Connection").selectOption("duckdb");
    await expect(cell(page, "query-cell").locator(".source")).toHaveText("SELECT 1 AS one");
  } finally {
    await server.end();
  }
});

test("a kernel without DuckDB says how it is installed", async ({ browser }) => {
  const { NOTARIUM_BARE_KERNEL_PATH: bare = KERNELS } = process.env;
  test.skip(!bare || hasDuckDb(bare), "NOTARIUM_BARE_KERNEL_PATH is to be an environment without DuckDB");
  const server = new TestServer(bare);
  await server.start();
  try {
    const page = await person(browser, server);
    await bringIn(page, notebook(query("query-cell", "SELECT 1")), "Missing.ipynb");
    await saved(page);
    await run(page, "query-cell");
    await expect(cell(page, "query-cell").locator(".failure")).toContainText("%pip install", { timeout: 60_000 });
  } finally {
    await server.end();
  }
});

test("tables are seen from the head of a query, and completed in it", async ({ browser, server }) => {
  test.skip(!HAS_DUCKDB, NEEDS);
  const page = await person(browser, server);
  const cells = [
    python("frame-cell", "least = 2"),
    query(
      "make-cell",
      'CREATE TABLE harbours (id INT NOT NULL, depth DOUBLE, "Odd name" TEXT); CREATE VIEW deep AS SELECT depth FROM harbours',
    ),
    query("look-cell", ""),
  ];
  await bringIn(page, notebook(...cells), "Tables.ipynb");
  await saved(page);
  const way = cell(page, "look-cell").getByRole("button", { name: "Tables" });
  const panel = page.getByRole("dialog", { name: "Tables in DuckDB in the kernel" });

  await way.click();
  await expect(panel.getByRole("alert")).toContainText("No kernel is running. Run a cell first.");
  await page.keyboard.press("Escape");
  await expect(panel).toHaveCount(0);
  await expect(way).toBeFocused();
  await run(page, "frame-cell");
  await expect(cell(page, "frame-cell").locator(".count")).toHaveText(/^\[1\]/, { timeout: 60_000 });
  await way.click();
  await expect(panel.getByRole("status")).toHaveText("No tables yet.");
  await page.keyboard.press("Escape");
  await run(page, "make-cell");
  await expect(cell(page, "make-cell").locator(".count")).toHaveText(/^\[2\]/, { timeout: 60_000 });

  // A table created by a cell appears immediately, by keyboard only.
  await way.focus();
  await page.keyboard.press("Enter");
  await expect(panel.getByRole("searchbox", { name: "Find a table or column" })).toBeFocused();
  await expect(panel.getByRole("list", { name: "Tables", exact: true }).getByRole("button")).toHaveText(["deep view", "harbours"]);
  await panel.getByRole("button", { name: "harbours" }).focus();
  await page.keyboard.press("Enter");
  const columns = panel.getByRole("list", { name: "Columns of harbours" }).getByRole("listitem");
  await expect(columns).toHaveText(["id INTEGER not null", "depth DOUBLE", "Odd name VARCHAR"]);
  expect((await new AxeBuilder({ page }).include(".schema").analyze()).violations).toEqual([]);
  const search = panel.getByRole("searchbox", { name: "Find a table or column" });
  await search.fill("odd");
  await expect(panel.getByRole("button", { expanded: true })).toHaveText("harbours");
  await search.fill("nowhere");
  await expect(panel.getByRole("status")).toHaveText("No results.");
  await page.setViewportSize({ width: 360, height: 640 });
  const box = await panel.boundingBox();
  expect(box && box.x >= 0 && box.x + box.width <= 360 && box.y + box.height <= 640).toBe(true);
  await page.setViewportSize({ width: 1280, height: 720 });
  await page.keyboard.press("Escape");

  await cell(page, "look-cell").locator(".source").click();
  await cell(page, "look-cell").locator(".cm-focused").waitFor();
  const list = page.locator(".cm-tooltip-autocomplete");
  const complete = async (typed: string, option: RegExp, text: string) => {
    await page.keyboard.type(typed);
    // The first request to a kernel may be too slow for typing: open the list explicitly.
    await expect(async () => {
      if (!(await list.isVisible())) await page.keyboard.press("Control+Space");
      await expect(list.getByRole("option", { name: option })).toBeInViewport({ timeout: 3_000 });
    }).toPass();
    // The list ignores keys right after it opens: retry.
    await expect(async () => {
      await page.keyboard.press("Tab");
      await expect(cell(page, "look-cell").locator(".cm-content")).toHaveText(text, { timeout: 200 });
    }).toPass();
  };
  await complete("SELECT * FROM harb", /^harbours/, "SELECT * FROM harbours");
  await complete(" WHERE dep", /^depth/, "SELECT * FROM harbours WHERE depth");
  await complete(" > {leas", /^least/, "SELECT * FROM harbours WHERE depth > {least}");
});
