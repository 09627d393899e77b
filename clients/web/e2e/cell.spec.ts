// Cell tools by pointer, links within a notebook, right-to-left scripts, and addresses of versions.
import { AxeBuilder } from "@axe-core/playwright";
import type { Locator } from "@playwright/test";
import { bringIn } from "./demo.ts";
import { expect, fresh, person, saved, test, write } from "./server.ts";

const text = (id: string, source: string) => ({ id, cell_type: "markdown", source, metadata: {} });
const code = (id: string, source: string) => ({ id, cell_type: "code", source, metadata: {}, outputs: [], execution_count: null });
const notebook = (...cells: object[]) => ({ nbformat: 4, nbformat_minor: 5, metadata: {}, cells });

/** Moves the pointer onto the cell. Retries if the page has scrolled. */
async function pointAt(cell: Locator): Promise<void> {
  await expect(async () => {
    await cell.page().mouse.move(0, 0);
    await cell.hover();
    await expect(cell.locator(".cell-tools")).toBeVisible({ timeout: 1_000 });
  }).toPass();
}

test("beside the cell under the pointer: move, insert, menu, delete", async ({ browser, server }) => {
  const page = await person(browser, server);
  await bringIn(page, notebook(code("a", "first"), code("b", "second"), code("c", "third")), "tools.ipynb");
  const cells = page.locator(".cell");
  await pointAt(cells.nth(1));
  await expect(page.locator(".cell-tools")).toHaveCount(1);
  await cells.nth(1).getByRole("button", { name: "Move cell up" }).click();
  await expect(page.locator(".cell .source")).toHaveText([/second/, /first/, /third/]);

  await pointAt(cells.nth(1));
  await cells.nth(1).getByRole("button", { name: "More about this cell" }).click();
  await expect(page.getByRole("menuitem", { name: "Run all cells above" })).toBeVisible();
  const { violations } = await new AxeBuilder({ page }).analyze();
  expect(violations.map(({ id, nodes }) => `${id} ${nodes[0]?.html}`)).toEqual([]);
  await page.getByRole("menuitem", { name: "Change to text (Markdown)" }).click();
  await expect(cells.nth(1)).toHaveClass(/markdown/);

  await pointAt(cells.nth(0));
  await cells.nth(0).locator(".between").hover();
  await cells.nth(0).getByRole("button", { name: "Insert text below" }).click();
  await expect(cells).toHaveCount(4);
  await expect(cells.nth(1)).toHaveClass(/markdown.*editing/);
  await page.locator(".editing .cm-content").waitFor();
  await page.keyboard.insertText("## Between");
  await saved(page);

  await pointAt(cells.nth(3));
  await cells.nth(3).getByRole("button", { name: "Delete cell" }).click();
  await expect(cells).toHaveCount(3);
  await expect(page.locator(".toast").getByRole("button", { name: "Undo" })).toBeVisible();
  await page.context().close();
});

test("a finger has the menu at the chosen cell; who may not edit has what is left", async ({ browser, server }) => {
  const page = await person(browser, server);
  await bringIn(page, notebook(code("a", "one"), code("b", "two")), "touch.ipynb");
  const token = (await (
    await server.send("POST", `/api/notebooks/${/n\/([^/]+)/.exec(page.url())?.[1] ?? ""}/share-links`, {
      role: "viewer",
      label: "Bo",
    })
  ).json()) as { token: string };
  await page.setViewportSize({ width: 360, height: 760 });
  await page.locator(".cell").nth(1).focus();
  const tools = page.getByRole("toolbar", { name: "Cell 2" });
  await expect(tools).toBeInViewport();
  // The tools are at the bottom of the page and do not cover the cell.
  const [bar, cell] = [await tools.boundingBox(), await page.locator(".cell").nth(1).boundingBox()];
  expect(bar?.y ?? 0).toBeGreaterThan((cell?.y ?? 0) + (cell?.height ?? 0));
  for (const button of await tools.getByRole("button").all())
    expect(
      await button.evaluate(({ offsetWidth, offsetHeight }: HTMLElement) => Math.min(offsetWidth, offsetHeight)),
    ).toBeGreaterThanOrEqual(44);
  await tools.getByRole("button", { name: "Delete cell" }).click();
  await expect(page.locator(".cell")).toHaveCount(1);
  await page.getByRole("button", { name: /^Undo: deleted/ }).click();
  await expect(page.locator(".cell")).toHaveCount(2);

  const guest = await (await fresh(browser)).newPage();
  await guest.goto(`${server.url}/#token=${token.token}&notebook=${/n\/([^/]+)/.exec(page.url())?.[1] ?? ""}`);
  await guest.locator(".cell").first().hover();
  await expect(guest.getByRole("button", { name: "Delete cell" })).toHaveCount(0);
  await guest.getByRole("button", { name: "More about this cell" }).click();
  await expect(guest.getByRole("menuitem", { name: /Copy cells/ })).toBeVisible();
  await expect(guest.getByRole("menuitem", { name: /Change to code/ })).toHaveCount(0);
  await guest.context().close();
  await page.context().close();
});

test("the menu of a cell fits a small window, to its last item", async ({ browser, server }) => {
  const page = await person(browser, server);
  await bringIn(page, notebook(code("a", "one"), code("b", "two")), "menu.ipynb");
  for (const [width, height] of [
    [1024, 600],
    [390, 620],
  ] as const) {
    await page.setViewportSize({ width, height });
    await page.locator(".cell").nth(1).focus();
    await page.getByRole("button", { name: "More about this cell" }).click();
    const items = page.getByRole("menuitem");
    await expect(items.first()).toBeInViewport();
    await page.keyboard.press("End");
    await expect(items.last()).toBeFocused();
    await expect(items.last()).toBeInViewport({ ratio: 0.9 });
    await expect(page.locator(".menu kbd:empty")).toHaveCount(0);
    await page.keyboard.press("Escape");
  }
  await page.context().close();
});

test("what the assistant always or never sees is marked on the cell", async ({ browser, server }) => {
  const page = await person(browser, server);
  await bringIn(page, notebook(code("a", "secret = 1")), "marks.ipynb");
  const cell = page.locator(".cell").first();
  await pointAt(cell);
  await cell.getByRole("button", { name: "More about this cell" }).click();
  await page.getByRole("menuitem", { name: /^Never include in assistant context/ }).click();
  await cell.getByRole("button", { name: /Never in the assistant’s context/ }).click();
  await expect(cell.locator(".mark")).toHaveCount(0);
  await page.context().close();
});

test("links within the notebook lead to headings; ticks are shown", async ({ browser, server }) => {
  const page = await person(browser, server);
  const long = Array.from({ length: 80 }, (_, line) => `line_${line}`).join("\n");
  await bringIn(
    page,
    notebook(text("a", "[to the results](#The-results)\n\n- [x] done\n- [ ] open"), code("b", long), text("c", "## The results")),
    "links.ipynb",
  );
  await expect(page.locator(".rendered li")).toHaveText([/☑ done/, /☐ open/]);
  const place = page.url();
  await page.getByRole("link", { name: "to the results" }).click();
  await expect(page.locator(".cell").nth(2)).toHaveClass(/current/);
  await expect(page.getByRole("heading", { name: "The results" })).toBeInViewport();
  expect(page.url()).toBe(place);
  expect(page.context().pages()).toHaveLength(1);
  await page.context().close();
});

test("text from right to left stands on the right, code beside it does not", async ({ browser, server }) => {
  const page = await person(browser, server);
  await bringIn(
    page,
    notebook(text("a", "# שלום עולם\n\nטקסט עם `code = 1` בתוכו\n\nand English below"), code("b", "# שלום\nx = 1")),
    "rtl.ipynb",
  );
  const right = (selector: string) =>
    page.locator(selector).evaluate((node) => {
      const range = document.createRange();
      range.selectNodeContents(node);
      const [inner, outer] = [range.getBoundingClientRect(), node.getBoundingClientRect()];
      return inner.left - outer.left > outer.right - inner.right;
    });
  expect(await right(".rendered h1")).toBe(true);
  expect(await right(".rendered p:nth-of-type(1)")).toBe(true);
  expect(await right(".rendered p:nth-of-type(2)")).toBe(false);
  await page.locator(".cell").first().locator(".rendered").dblclick();
  await page.locator(".editing .cm-content").waitFor();
  expect(
    await page
      .locator(".editing .cm-line")
      .first()
      .evaluate((node) => getComputedStyle(node).unicodeBidi),
  ).toBe("plaintext");
  await page.context().close();
});

test("a version has an address", async ({ browser, server }) => {
  const page = await person(browser, server);
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  await page.getByRole("button", { name: "New notebook" }).click();
  await write(page, "before = 1");
  await saved(page);
  await page.keyboard.press("Escape");
  await page.keyboard.press("b");
  await expect(page.locator(".cell")).toHaveCount(2);
  await page.getByRole("button", { name: "History", exact: true }).click();
  await page.getByRole("slider", { name: "Version" }).focus();
  await page.keyboard.press("ArrowLeft");
  await page.locator(".past").waitFor();
  await page.getByRole("button", { name: "Copy link to this version" }).click();
  await expect(page.locator(".toast")).toContainText("Link copied");
  const address = await page.evaluate(() => navigator.clipboard.readText());
  expect(address).toMatch(/#\/n\/[\w-]+\?at=\d+$/);
  const other = await person(browser, server);
  await other.goto(address);
  await expect(other.locator(".past")).toContainText("before = 1");
  await expect(other.locator(".past-cell")).toHaveCount(1);
  await other.getByRole("button", { name: "Back to current" }).click();
  await expect(other.locator(".cell:visible")).toHaveCount(2);
  await other.context().close();
  await page.context().close();
});

test("after the kernel died the page says that the variables are gone, and runs what is above again", async ({
  browser,
  server,
}) => {
  const page = await person(browser, server);
  const cells = page.locator(".cell");
  const run = async (index: number) => {
    await cells.nth(index).locator(".source").click();
    await page.keyboard.press("Control+Enter");
  };
  await bringIn(
    page,
    notebook(code("a", "kept = 6 * 7\nkept"), code("b", "kept"), code("c", "import os\nos._exit(1)")),
    "gone.ipynb",
  );
  await run(0);
  await expect(cells.nth(0).locator(".outputs")).toContainText("42");
  await run(2);
  const notice = page.locator(".strip", { hasText: "Variables are lost" });
  await expect(notice).toBeVisible();
  await cells.nth(1).locator(".source").click();
  await notice.getByRole("button", { name: "Run all above" }).click();
  await expect(notice).toHaveCount(0);
  await page.keyboard.press("Control+Enter");
  await expect(cells.nth(1).locator(".outputs")).toContainText("42");
  await page.context().close();
});
