// Find and replace, editor settings, the outline, and the runs of a cell.
import { AxeBuilder } from "@axe-core/playwright";
import type { Page } from "@playwright/test";
import { recorded } from "./record.ts";
import { expect, person, saved, test, write } from "./server.ts";

async function notebook(page: Page, ...cells: string[]): Promise<void> {
  await page.getByRole("button", { name: "New notebook" }).click();
  await write(page, cells[0] ?? "");
  for (const [index, source] of cells.slice(1).entries()) {
    await page.keyboard.press("Escape");
    await page.keyboard.press("b");
    await expect(page.locator(".cell").nth(index + 1)).toHaveClass(/current/);
    await page.keyboard.press("Enter");
    await page.locator(".editing .cm-focused").waitFor();
    await page.keyboard.insertText(source);
  }
  await page.keyboard.press("Escape");
  await saved(page);
}

test("find and replace go through all cells, and one undo takes it all back", async ({ browser, server }) => {
  const page = await person(browser, server);
  await notebook(page, "total = 1", "print(total)\ntotal += 1", "# Total");
  await page.keyboard.press("m");
  await page.keyboard.press("Control+f");
  const find = page.getByRole("search", { name: "Find in the notebook" });
  await expect(find.getByLabel("Find", { exact: true })).toBeFocused();
  await page.keyboard.type("total");
  await expect(find.getByRole("status")).toHaveText(/of 4/);
  await find.getByRole("button", { name: "Match case" }).click();
  await expect(find.getByRole("status")).toHaveText(/of 3/);
  await find.getByLabel("Find", { exact: true }).press("Enter");
  await find.getByRole("button", { name: "Replace", exact: true }).click();
  await find.getByLabel("Replace with").click();
  await page.keyboard.type("sum_of_all");
  await find.getByRole("button", { name: "Replace all" }).click();
  await expect(page.locator(".cell .source").nth(1)).toHaveText(/print\(sum_of_all\)\s*sum_of_all \+= 1/);
  await expect(find.getByRole("status")).toHaveText("No results");
  await find.getByLabel("Find", { exact: true }).press("Escape");
  await expect(find).toHaveCount(0);
  await page.keyboard.press("z");
  await expect(page.locator(".cell .source").first()).toHaveText(/^total = 1/);
  await expect(page.locator(".cell .source").nth(1)).toHaveText(/print\(total\)\s*total \+= 1/);
});

test("Enter in “Replace with” replaces the match and goes to the next, also where the new text matches again", async ({
  browser,
  server,
}) => {
  const page = await person(browser, server);
  await notebook(page, "a = 1", "b = a", "c = a");
  await page.keyboard.press("Control+f");
  const find = page.getByRole("search", { name: "Find in the notebook" });
  await expect(find.getByLabel("Find", { exact: true })).toBeFocused();
  await page.keyboard.type("a");
  await find.getByRole("button", { name: "Whole words" }).click();
  await expect(find.getByRole("status")).toHaveText(/of 3/);
  await find.getByRole("button", { name: "Replace", exact: true }).click();
  await find.getByLabel("Replace with").click();
  await page.keyboard.type("a + a");
  await page.keyboard.press("Enter");
  await page.keyboard.press("Enter");
  await page.keyboard.press("Enter");
  const sources = page.locator(".cell .source");
  await expect(sources.nth(0)).toHaveText("a + a = 1");
  await expect(sources.nth(1)).toHaveText("b = a + a");
  await expect(sources.nth(2)).toHaveText("c = a + a");
});

test("one by one, replacing passes what it inserted: also slowly, with a pattern, and while somebody types before it", async ({
  browser,
  server,
}) => {
  const page = await person(browser, server);
  await notebook(page, "x x x\nx", "x");
  await page.keyboard.press("Control+f");
  const find = page.getByRole("search", { name: "Find in the notebook" });
  await page.keyboard.type("x");
  await find.getByRole("button", { name: "Regular expression" }).click();
  await expect(find.getByRole("status")).toHaveText(/of 5/);
  // The search begins in the current cell, the last one; here with the first.
  await find.getByRole("button", { name: "Next match" }).click();
  await expect(find.getByRole("status")).toHaveText("1 of 5");
  await find.getByRole("button", { name: "Replace", exact: true }).click();
  await find.getByLabel("Replace with").fill("[x$&x]");
  const source = page.locator(".cell .source").first();
  for (const [shown, status] of [
    ["[xxx] x x", "4 of 7"],
    ["[xxx] [xxx] x", "7 of 9"],
  ] as const) {
    await find.getByLabel("Replace with").press("Enter");
    await expect(source).toContainText(shown);
    await expect(find.getByRole("status")).toHaveText(status);
  }
  // A peer's text before the place moves it.
  const bo = await person(browser, server);
  await bo.goto(page.url());
  await bo.locator(".cell .source").first().click();
  await bo.locator(".editing .cm-content").waitFor();
  await bo.keyboard.press("Control+Home");
  await bo.keyboard.insertText("some words xx ");
  await bo.keyboard.press("Escape");
  await expect(source).toContainText("some words xx [xxx]");
  await expect(find.getByRole("status")).toHaveText("9 of 11");
  for (let times = 0; times < 3; times++) await find.getByLabel("Replace with").press("Enter");
  await expect(source).toHaveText(/some words xx \[xxx\] \[xxx\] \[xxx\]\s*\[xxx\]/);
  await expect(page.locator(".cell .source").nth(1)).toHaveText("[xxx]");
});

test("a pattern that runs away is stopped, and the page answers meanwhile", async ({ browser, server }) => {
  const page = await person(browser, server);
  await notebook(page, `text = "${"a".repeat(60)}!"`, "aab");
  await page.keyboard.press("Control+f");
  const find = page.getByRole("search", { name: "Find in the notebook" });
  await find.getByRole("button", { name: "Regular expression" }).click();
  await find.getByLabel("Find", { exact: true }).fill("(a+)+$");
  await expect(find.locator(".count")).toHaveText("Searching…");
  // The page is not busy: another pattern is answered, and the first one's end does not come back.
  await find.getByLabel("Find", { exact: true }).fill("a+b");
  await expect(find.getByRole("status")).toHaveText("1 of 1");
  await find.getByLabel("Find", { exact: true }).fill("(a+)+$");
  await expect(find.getByRole("alert")).toHaveText(/This pattern takes too long/);
  await find.getByLabel("Find", { exact: true }).fill("(a)(a)b");
  await expect(find.getByRole("status")).toHaveText("1 of 1");
  await find.getByRole("button", { name: "Replace", exact: true }).click();
  await find.getByLabel("Replace with").fill("$2b$1");
  await find.getByRole("button", { name: "Replace all" }).click();
  await expect(page.locator(".cell .source").nth(1)).toHaveText("aba");
});

test("the editor's settings are kept: line numbers, indent, Vim keys", async ({ browser, server }) => {
  const page = await person(browser, server);
  await notebook(page, "one\ntwo");
  await page.keyboard.press("Control+,");
  const settings = page.getByRole("dialog", { name: "Settings" });
  await settings.getByLabel("Line numbers").check();
  await settings.getByLabel(/Vim keys/).check();
  await settings.getByLabel("Indent with").selectOption("2");
  await page.keyboard.press("Escape");
  await expect(page.locator(".source.still .line")).toHaveCount(2);
  await page.reload();
  await expect(page.locator(".source.still .line")).toHaveCount(2);
  await page.locator(".cell .source").first().click();
  await page.locator(".cm-fat-cursor").first().waitFor();
  await page.keyboard.type("ggOzero");
  await page.keyboard.press("Escape");
  await expect(page.locator(".cm-vim-panel")).toContainText("NORMAL");
  await expect(page.locator(".cm-vim-panel")).toBeInViewport();
  // Another Escape in Vim's normal mode does not leave the cell.
  await page.keyboard.press("Escape");
  await page.keyboard.press("Escape");
  await expect(page.locator(".editing .cm-content")).toBeFocused();
  await page.keyboard.press("Shift+Escape");
  await expect(page.locator(".editing")).toHaveCount(0);
  await expect(page.locator(".cell .source").first()).toHaveText(/zero\s*one\s*two/);
});

test("comments and several carets by keys", async ({ browser, server }) => {
  const page = await person(browser, server);
  await notebook(page, "value = 1\nprint(value)");
  await page.keyboard.press("Enter");
  await page.locator(".editing .cm-focused").waitFor();
  await page.keyboard.press("Control+Home");
  await page.keyboard.press("Control+d");
  await page.keyboard.press("Control+d");
  await page.keyboard.insertText("x");
  await expect(page.locator(".cm-content")).toHaveText(/x = 1\s*print\(x\)/);
  await page.keyboard.press("Control+Home");
  await page.keyboard.press("Control+/");
  await expect(page.locator(".cm-line").first()).toHaveText("# x = 1");
});

test("Ctrl+Shift+Z redoes with Caps Lock too, where the key is a small z", async ({ browser, server }) => {
  const page = await person(browser, server);
  await notebook(page, "one = 1");
  await page.locator(".cell .source").first().click();
  await page.keyboard.press("Control+End");
  await page.keyboard.type("\n");
  await page.keyboard.press("Home");
  await page.keyboard.press("Control+End");
  await page.keyboard.type("two = 2");
  await page.keyboard.press("Control+z");
  await recorded(server, page, "one = 1\n");
  await page.keyboard.press("Control+Shift+z");
  await recorded(server, page, "one = 1\ntwo = 2");
});

test("the outline leads to headings", async ({ browser, server }) => {
  const page = await person(browser, server);
  await notebook(page, "# First", "1 + 1", "## Second");
  await page.keyboard.press("m");
  await page.keyboard.press("k");
  await page.keyboard.press("k");
  await page.keyboard.press("m");
  await page.keyboard.press("Control+Shift+o");
  const outline = page.getByRole("navigation", { name: "Outline" });
  await expect(outline.getByRole("link")).toHaveText(["First", "Second"]);
  await outline.getByRole("link", { name: "Second" }).click();
  await expect(page.locator(".cell").nth(2)).toHaveClass(/current/);
});

test("all runs of a cell, two side by side", async ({ browser, server }) => {
  const page = await person(browser, server);
  await notebook(page, "import time\nprint('at', time.time_ns())");
  for (const count of ["[1]", "[2]"]) {
    await page.keyboard.press("Control+Enter");
    await expect(page.locator(".cell .count")).toContainText(count, { timeout: 60_000 });
  }
  await page.keyboard.press("Control+Shift+P");
  await expect(page.getByRole("combobox", { name: "Search commands" })).toBeFocused();
  await page.keyboard.type("compare runs");
  await page.keyboard.press("Enter");
  const dialog = page.getByRole("dialog", { name: "Runs of this cell" });
  await expect(dialog.locator("section")).toHaveCount(2);
  await expect(dialog.locator("section .outputs")).toHaveCount(2);
  await expect(dialog.getByRole("status")).toHaveText("Same code, different outputs");
});

test("a cell is dragged to another place", async ({ browser, server }) => {
  const page = await person(browser, server);
  await notebook(page, "first", "second", "third");
  const cell = page.locator(".cell").nth(2);
  await cell.hover();
  await cell.locator(".grip").hover();
  await expect(cell).toHaveAttribute("draggable", "true");
  await page.mouse.down();
  const box = await page.locator(".cell").first().boundingBox();
  await page.mouse.move(400, (box?.y ?? 0) + 20, { steps: 4 });
  await page.mouse.move(400, (box?.y ?? 0) + 4, { steps: 4 });
  await expect(page.locator(".drop-line")).toBeVisible();
  await page.mouse.up();
  await expect(page.locator(".cell .source")).toHaveText([/third/, /first/, /second/]);
  await expect(page.locator(".drop-line")).toBeHidden();
});

test("axe finds nothing to complain about: find, outline, settings, runs", async ({ browser, server }) => {
  const page = await person(browser, server);
  await notebook(page, "# First", "print(1)");
  await page.keyboard.press("Control+Enter");
  await expect(page.locator(".outputs")).toContainText("1", { timeout: 60_000 });
  const check = async (screen: string) => {
    const { violations } = await new AxeBuilder({ page }).analyze();
    expect(
      violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 160)).join(" | ")}`),
      screen,
    ).toEqual([]);
  };
  await page.keyboard.press("Control+Shift+o");
  await page.keyboard.press("Control+f");
  const field = page.getByLabel("Find", { exact: true });
  await expect(field).toBeFocused();
  await page.keyboard.type("print");
  await page.getByRole("button", { name: "Replace", exact: true }).click();
  await check("find and outline");
  await field.press("Escape");
  await page.keyboard.press("Escape");
  await page.keyboard.press("Control+,");
  await page.getByRole("dialog", { name: "Settings" }).waitFor();
  await check("settings");
  await page.keyboard.press("Escape");
  await page.keyboard.press("Control+Shift+P");
  await expect(page.getByRole("combobox", { name: "Search commands" })).toBeFocused();
  await page.keyboard.type("compare runs");
  await page.keyboard.press("Enter");
  await expect(page.getByRole("dialog", { name: "Runs of this cell" }).locator("section")).toHaveCount(1);
  await check("runs");
});

test("a cell that moves keeps its frame as it is", async ({ browser, server }) => {
  const page = await person(browser, server);
  await notebook(page, "1", "2", "display({'text/html': '<input id=typed>'}, raw=True)");
  await page.keyboard.press("Control+Enter");
  const typed = page.frameLocator("iframe.frame").locator("#typed");
  await typed.waitFor({ timeout: 60_000 });
  await typed.click();
  await page.keyboard.type("still here");
  await page.locator(".cell").nth(2).focus();
  for (const place of [1, 0]) {
    await page.keyboard.press("Alt+ArrowUp");
    await expect(page.locator(".cell").nth(place).locator("iframe")).toHaveCount(1);
  }
  await expect(typed).toHaveValue("still here");
});
