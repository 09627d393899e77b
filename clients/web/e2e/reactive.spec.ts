// Reactive notebooks: runs of dependents, stale marks with reasons, and the dependency map.
import AxeBuilder from "@axe-core/playwright";
import type { Locator, Page } from "@playwright/test";
import { notebook, python } from "./cells.ts";
import { bringIn } from "./demo.ts";
import { expect, person, saved, test } from "./server.ts";

const cell = (page: Page, id: string) => page.locator(`#cell-${id}`);
const output = (page: Page, id: string) => cell(page, id).locator(".outputs");

async function choose(page: Page, mode: string): Promise<void> {
  await page.locator(".kernel").click();
  // The mode changes once the server has confirmed it.
  await page.getByRole("radio", { name: mode }).click();
  await expect(page.getByRole("radio", { name: mode })).toBeChecked();
  await page.keyboard.press("Escape");
}

async function replace(page: Page, of: Locator, text: string): Promise<void> {
  await of.locator(".source").click();
  await of.locator(".cm-focused").waitFor();
  await page.keyboard.press("Control+a");
  await page.keyboard.insertText(text);
}

const CHAIN = notebook(
  python("rate-cell", "rate = 3"),
  python("total-cell", "total = rate * 2"),
  python("print-cell", 'print("The total is", total)'),
  python("alone-cell", "1"),
);

test("lazy marks what is out of date and why, eager runs it; the bar says which", async ({ browser, server }) => {
  const page = await person(browser, server);
  await bringIn(page, CHAIN, "Chain.ipynb");
  await expect(page.locator(".kernel").getByRole("img", { name: /Reactive/ })).toHaveCount(0);
  await choose(page, "Lazy");
  await expect(page.locator(".kernel").getByRole("img", { name: "Reactive: lazy" })).toBeVisible();

  // Stale inputs run first.
  await cell(page, "print-cell").getByRole("button", { name: "Run", exact: true }).click();
  await expect(output(page, "print-cell")).toHaveText("The total is 6", { timeout: 60_000 });
  await expect(cell(page, "rate-cell").locator(".count")).toHaveText(/1/);

  await replace(page, cell(page, "rate-cell"), "rate = 4");
  await expect(cell(page, "rate-cell").getByText("Stale: edited since last run")).toBeVisible();
  await expect(cell(page, "total-cell").getByText("Stale: depends on cell 1")).toBeVisible();
  await cell(page, "total-cell").getByRole("button", { name: "cell 1" }).click();
  await expect(cell(page, "rate-cell")).toHaveClass(/current/);

  await choose(page, "Eager");
  await cell(page, "rate-cell").getByRole("button", { name: "Run", exact: true }).click();
  await expect(output(page, "print-cell")).toHaveText("The total is 8", { timeout: 60_000 });
  await expect(page.locator(".standing")).toHaveCount(0);

  await choose(page, "Off");
  await replace(page, cell(page, "rate-cell"), "rate = 5");
  await expect(cell(page, "rate-cell").getByText("Edited since last run")).toBeVisible();
  await expect(page.locator(".standing")).toHaveCount(0);
});

test("circles, doubles, what failed before it and unknown names are said on their cells", async ({ browser, server }) => {
  const page = await person(browser, server);
  const cells = [
    python("fails-cell", "bad = 1 / 0"),
    python("reads-cell", "print(bad)"),
    python("first-cell", "twice = 1"),
    python("second-cell", "twice = 2"),
    python("left-cell", "left = right"),
    python("right-cell", "right = left"),
    python("lost-cell", "print(nowhere)"),
  ];
  await bringIn(page, notebook(...cells), "Wrong.ipynb");
  await choose(page, "Eager");
  await expect(
    cell(page, "left-cell").getByText("Can’t run: circular dependency: cell 5 (left) → cell 6 (right) → cell 5"),
  ).toBeVisible();
  await expect(cell(page, "first-cell").getByText("twice is also defined in cell 4")).toBeVisible();
  await expect(cell(page, "lost-cell").getByText("No cell defines nowhere")).toBeVisible();

  // The refusal names cells by number, not by id.
  await cell(page, "right-cell").getByRole("button", { name: "Run", exact: true }).click();
  await expect(page.locator(".toasts")).toContainText("Nothing ran: circular dependency (cell 6 → cell 5 → cell 6)");
  await expect(page.locator(".toasts")).not.toContainText("-cell");

  await cell(page, "fails-cell").getByRole("button", { name: "Run", exact: true }).click();
  await expect(cell(page, "reads-cell").getByText("Skipped: cell 1 failed")).toBeVisible({ timeout: 60_000 });
  // A failed cell shows its error and no stale mark.
  await expect(cell(page, "fails-cell").locator(".failure")).toBeVisible();
  await expect(cell(page, "fails-cell").locator(".standing")).toHaveCount(0);
});

test("the map says who reads from whom, leads to the cells, and follows what is typed", async ({ browser, server }) => {
  const page = await person(browser, server);
  await bringIn(page, CHAIN, "Map.ipynb");
  await saved(page);
  await page.keyboard.press("Control+Shift+o");
  const map = page.getByRole("region", { name: "Dependencies" });
  await expect(map.getByRole("listitem")).toHaveText([/1\s*rate/, /2\s*total/, /3\s*print/]);
  await expect(map.getByText("1 cell has no dependencies.")).toBeVisible();
  await expect(map.locator("path")).toHaveCount(2);

  await map.getByRole("button", { name: /total/ }).first().click();
  await expect(cell(page, "total-cell")).toHaveClass(/current/);
  await expect(map.getByText("Cell 2 uses rate from cell 1")).toBeVisible();
  await expect(map.getByText("Cell 2 is used by cell 3 (total)")).toBeVisible();
  await expect(map.locator("path.near")).toHaveCount(2);

  // Stale marks appear only in reactive notebooks.
  await expect(map.getByText("Stale")).toHaveCount(0);
  await choose(page, "Lazy");
  await expect(map.getByText("Stale")).toHaveCount(3);

  await replace(page, cell(page, "alone-cell"), "print(rate)");
  await expect(map.getByRole("listitem")).toHaveCount(4);
  await expect(map.locator("path")).toHaveCount(3);
  expect((await new AxeBuilder({ page }).analyze()).violations.map(({ id }) => id)).toEqual([]);

  // On a phone the outline covers the notebook and closes when a cell is chosen.
  await page.setViewportSize({ width: 390, height: 800 });
  await map.getByRole("button", { name: /rate/ }).first().click();
  await expect(map).toHaveCount(0);
  await expect(cell(page, "rate-cell")).toHaveClass(/current/);
});
