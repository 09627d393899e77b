// Accessibility (looks.spec.ts runs axe on every screen): main tasks by keyboard; print; few colours.
import type { Page } from "@playwright/test";
import { complaints } from "./axe.ts";
import { notebook, python, query } from "./cells.ts";
import { bringIn } from "./demo.ts";
import { expect, fresh, person, saved, test } from "./server.ts";

test("axe: long lines that nobody edits, and comments in fenced code", async ({ browser, server }) => {
  const page = await person(browser, server);
  const text = {
    id: "t",
    cell_type: "markdown",
    source: "Read it so:\n\n```python\n# the cleaned file\nread()\n```",
    metadata: {},
  };
  await bringIn(page, notebook(python("a", `total = ${"1 + ".repeat(80)}1`), text, python("b", "short = 1")), "long.ipynb");
  await expect(page.locator(".rendered .tok-comment")).toBeVisible();
  const long = page.locator(".cell").first().locator(".source");
  expect(await long.evaluate((node) => node.scrollWidth > node.clientWidth)).toBe(true);
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
    expect(await complaints(page), colorScheme).toEqual([]);
  }
  await expect(long).toHaveAttribute("tabindex", "0");
  await expect(page.locator(".cell").last().locator(".source")).not.toHaveAttribute("tabindex");
  await page.context().close();
});

/** Presses Tab until the named element has the focus. */
async function tabTo(page: Page, name: string, role = "button"): Promise<void> {
  for (let count = 0; count < 80; count++) {
    await page.keyboard.press("Tab");
    const isThere = await page
      .getByRole(role as "button", { name, exact: true })
      .evaluateAll((all) => all.includes(document.activeElement as HTMLElement));
    if (isThere) return;
  }
  throw new Error(`Tab does not reach ${name}`);
}

test("the main tasks without a pointer: make, write, run, share, decide, go back", async ({ browser, server }) => {
  server.model.script = ({ results }) => {
    if (results.length === 0) return { calls: [{ name: "get_notebook_state", arguments: {} }] };
    if (results.length > 1) return { text: "Gone." };
    const [cell] = (JSON.parse(results[0] ?? "{}") as { cells: { cell_id: string; version: number }[] }).cells;
    return { calls: [{ name: "delete_cell", arguments: { cell_id: cell?.cell_id, cell_version: cell?.version } }] };
  };
  const page = await (await fresh(browser)).newPage();
  await page.goto(server.url);
  await page.getByLabel("Token").waitFor();
  await page.keyboard.insertText(server.token);
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: "New notebook" }).waitFor();
  await tabTo(page, "New notebook");
  await page.keyboard.press("Enter");
  await expect(page.locator(".editing .cm-content")).toBeFocused();
  await page.keyboard.type("6 * 7");
  await page.keyboard.press("Alt+Enter");
  await expect(page.locator(".outputs")).toContainText("42", { timeout: 60_000 });
  await page.keyboard.type("# last");
  await page.keyboard.press("Escape");
  await saved(page);

  await tabTo(page, "Share");
  await page.keyboard.press("Enter");
  await page.getByRole("dialog").waitFor();
  await tabTo(page, "New link");
  await page.keyboard.press("Enter");
  await page.getByLabel("Link to copy").waitFor();
  await page.keyboard.press("Escape");
  await expect(page.getByRole("dialog")).toHaveCount(0);

  await page.keyboard.press("Control+Shift+a");
  await expect(page.getByLabel("Message to the assistant")).toBeFocused();
  await page.keyboard.type("delete the first cell");
  await page.keyboard.press("Enter");
  await page.locator(".confirmation").waitFor();
  await tabTo(page, "Delete cell");
  await page.keyboard.press("Enter");
  await expect(page.locator(".transcript")).toContainText("Gone.");
  await expect(page.locator(".cell")).toHaveCount(1);
  await tabTo(page, "Undo this turn");
  await page.keyboard.press("Enter");
  await expect(page.locator(".cell")).toHaveCount(2);
  await page.context().close();
});

test("on paper: all cells and outputs, and nothing to press", async ({ browser, server }) => {
  const page = await person(browser, server);
  await bringIn(page);
  await expect(page.locator(".sheet")).toBeVisible();
  await page.emulateMedia({ media: "print", colorScheme: "light" });
  await page.locator(".cell.code").first().focus();
  for (const part of [".bar", ".cell-tools", ".failure .fix", ".gutter .run", ".add", ".sheet .foot select"])
    for (const each of await page.locator(part).all()) await expect(each).toBeHidden();
  await expect(page.locator(".cell")).toHaveCount(6);
  await expect(page.locator(".sheet tbody tr")).toHaveCount(48);
  for (const cell of await page.locator(".cell .source").all()) {
    await expect(cell).toBeVisible();
    expect((await cell.boundingBox())?.width, "as wide as the paper").toBeGreaterThan(700);
  }
  await expect(page.locator(".failure")).toContainText("KeyError");
  await page.context().close();
});

test("on paper the head of a query is text: where it runs and its variable", async ({ browser, server }) => {
  const page = await person(browser, server);
  await bringIn(page, notebook(query("named", "-- > total\nselect 1"), query("bare", "select 2")), "Paper.ipynb");
  await expect(page.getByLabel("Variable for the result").first()).toHaveValue("total");
  await page.emulateMedia({ media: "print", colorScheme: "light" });
  for (const each of await page.locator(".sql-head button").all()) await expect(each).toBeHidden();
  await expect(page.getByLabel("Connection")).toHaveCount(2);
  for (const each of await page.getByLabel("Connection").all()) {
    await expect(each).toBeVisible();
    await expect(each).toHaveCSS("appearance", "none");
  }
  await expect(page.getByLabel("Variable for the result").first()).toBeVisible();
  await expect(page.getByLabel("Variable for the result").nth(1)).toBeHidden();
  await expect(page.locator("#cell-bare .sql-head > span", { hasText: "→" })).toBeHidden();
  await page.context().close();
});

test("with forced colours the focus and the selected cell are still seen", async ({ browser, server }) => {
  const page = await person(browser, server);
  await bringIn(page);
  await page.emulateMedia({ forcedColors: "active" });
  await page.locator(".cell.code").first().focus();
  const style = await page.locator(".cell.current .source").evaluate((node) => {
    const { outlineStyle, outlineWidth, borderTopColor } = getComputedStyle(node);
    return { outlineStyle, outlineWidth, borderTopColor };
  });
  expect(style).toMatchObject({ outlineStyle: "solid", outlineWidth: "2px" });
  await page.context().close();
});

test("with reduced motion nothing moves for long", async ({ browser, server }) => {
  const page = await person(browser, server);
  await page.emulateMedia({ reducedMotion: "reduce" });
  await bringIn(page);
  await page.keyboard.press("Control+Shift+P");
  const moving = await page.evaluate(
    () => document.getAnimations().filter(({ effect }) => Number(effect?.getComputedTiming().duration ?? 0) > 10).length,
  );
  expect(moving).toBe(0);
  await page.context().close();
});
