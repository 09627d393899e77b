// Presence, authorship and other views of a notebook.
import { AxeBuilder } from "@axe-core/playwright";
import type { Browser, Page } from "@playwright/test";
import { bringIn } from "./demo.ts";
import { asksBeforeDeleting, ask } from "./scenes.ts";
import { type TestServer, expect, fresh, person, saved, test, write } from "./server.ts";

const notebookOf = (page: Page) => /n\/([^/]+)/.exec(page.url())?.[1] ?? "";

/** Opens the notebook for another person with an account. */
async function joined(browser: Browser, server: TestServer, page: Page, name: string): Promise<Page> {
  const { id, token } = await server.account(name);
  await server.send("PUT", `/api/notebooks/${notebookOf(page)}/access`, { subject: { kind: "user", id }, role: "editor" });
  const other = await (await fresh(browser)).newPage();
  await other.goto(`${server.url}/#token=${token}&notebook=${notebookOf(page)}`);
  await expect(other.locator(".cell").first()).toBeVisible();
  return other;
}

async function command(page: Page, words: string): Promise<void> {
  await page.keyboard.press("Control+Shift+P");
  await page.getByRole("combobox", { name: "Search commands" }).fill(words);
  await page.keyboard.press("Enter");
}

test("the runtime agent stands beside the people, with what it runs; who stopped a run is named", async ({ browser, server }) => {
  const ann = await person(browser, server);
  await ann.getByRole("button", { name: "New notebook" }).click();
  await write(ann, "import time\nprint('begun')\ntime.sleep(600)");
  await ann.keyboard.press("Control+Enter");
  await expect(ann.locator(".outputs")).toContainText("begun", { timeout: 60_000 });
  const agent = ann.locator(".people").getByRole("button", { name: /^Runtime agent .* running cell 1$/ });
  await expect(agent).toBeVisible();

  const bo = await joined(browser, server, ann, "Bo Fields");
  await bo.locator(".cell").first().getByRole("button", { name: "Stop" }).click();
  await expect(ann.locator(".cell .state")).toHaveText(/(Cancelled|Interrupted) by Bo Fields/, { timeout: 30_000 });
  await expect(bo.locator(".cell .state")).toHaveText(/(Cancelled|Interrupted) by you/);
  await ann.getByRole("button", { name: "History", exact: true }).click();
  await ann.getByRole("tab", { name: "Runs" }).click();
  await expect(ann.locator(".run-line").first()).toContainText("Bo Fields");

  // Without a running cell, a click shows the kernel panel.
  await ann
    .locator(".people")
    .getByRole("button", { name: /^Runtime agent .* idle$/ })
    .click();
  await expect(ann.locator(".kernel-panel")).toContainText("Runs on");
});

test("an assistant stands in the cell that it works on", async ({ browser, server }) => {
  asksBeforeDeleting(server);
  const page = await person(browser, server);
  await bringIn(page);
  await ask(page, "tidy this up, please");
  await page.locator(".confirmation").waitFor();
  await expect(page.locator(".cell").last().locator(".here")).toHaveAttribute("aria-label", /assistant is waiting for approval/);
  await page.locator(".confirmation").getByRole("button", { name: "Deny" }).click();
  await expect(page.locator(".here")).toHaveCount(0);
});

test("who wrote which line stands beside the text, also while it is edited", async ({ browser, server }) => {
  const ann = await person(browser, server);
  await ann.getByRole("button", { name: "New notebook" }).click();
  await write(ann, "first = 1\nsecond = 2");
  await ann.keyboard.press("Escape");
  await saved(ann);
  const bo = await joined(browser, server, ann, "Bo Waters");
  await bo.locator(".cell .source").first().click();
  await bo.locator(".editing .cm-content").waitFor();
  await bo.keyboard.press("Control+End");
  await bo.keyboard.insertText("\nthird = 3");
  await saved(bo);
  await bo.keyboard.press("Escape");

  await command(ann, "authors of lines");
  const names = ann.locator(".source.still .author");
  await expect(names).toHaveCount(3);
  await expect(names.nth(0)).toHaveAttribute("data-name", "You");
  await expect(names.nth(1)).toHaveAttribute("data-name", "");
  await expect(names.nth(2)).toHaveAttribute("data-name", "Bo Waters");

  await ann.locator(".source.still .line").nth(1).click();
  await ann.locator(".editing .cm-content").waitFor();
  const gutter = ann.locator(".cm-authors .author");
  await expect(gutter).toHaveText(["You", "", "Bo Waters"]);
  await ann.keyboard.press("Control+Home");
  await ann.keyboard.insertText("zeroth = 0\n");
  await saved(ann);
  await expect(gutter).toHaveText(["You", "You", "", "Bo Waters"]);
  // A click opens the version that added the line.
  await gutter.nth(3).click();
  await expect(ann.locator(".past")).toContainText("third = 3");
  await expect(ann.locator(".past")).not.toContainText("zeroth");
});

test("zen shows the cells alone, presenting what they say without code; Esc leads back", async ({ browser, server }) => {
  const page = await person(browser, server);
  await bringIn(page);
  await page.locator(".cell").first().focus();
  await page.keyboard.press("Control+Alt+z");
  await expect(page.locator(".bar")).toBeHidden();
  await expect(page.locator(".cell.code .source").first()).toBeVisible();
  await page.keyboard.press("Escape");
  await expect(page.locator(".bar")).toBeVisible();

  await command(page, "presentation");
  await expect(page.locator(".bar")).toBeHidden();
  await expect(page.getByRole("heading", { name: "The year at a glance" })).toBeVisible();
  await expect(page.locator(".sheet")).toBeVisible();
  for (const source of await page.locator(".cell.code .source").all()) await expect(source).toBeHidden();
  const { violations } = await new AxeBuilder({ page }).exclude("iframe").analyze();
  expect(violations.map(({ id }) => id)).toEqual([]);
  await page.getByRole("button", { name: "Leave" }).click();
  await expect(page.locator(".cell.code .source").first()).toBeVisible();
});

test("high contrast is seven to one, by the settings or by the system; the page is as wide as one wants", async ({
  browser,
  server,
}) => {
  const page = await person(browser, server);
  await bringIn(page);
  await expect(page.locator(".sheet")).toBeVisible();
  await page.emulateMedia({ contrast: "more" });
  await expect(page.locator("html")).toHaveAttribute("data-contrast", "more");
  await page.emulateMedia({ contrast: "no-preference" });
  await expect(page.locator("html")).toHaveAttribute("data-contrast", "usual");

  await page.keyboard.press("Control+,");
  await page.getByLabel("Contrast").selectOption("more");
  await page.getByLabel("Cell width").selectOption("full");
  await page.keyboard.press("Escape");
  await page.setViewportSize({ width: 1920, height: 900 });
  expect((await page.locator("main").boundingBox())?.width).toBeGreaterThan(1_800);
  await page.getByRole("button", { name: "Assistant", exact: true }).click();
  await page.getByLabel("Message to the assistant").waitFor();
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
    const { violations } = await new AxeBuilder({ page })
      .exclude("iframe")
      .options({ rules: { "color-contrast-enhanced": { enabled: true } } })
      .analyze();
    expect(violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 120)).join(" | ")}`)).toEqual([]);
  }
  await page.reload();
  await expect(page.locator("html")).toHaveAttribute("data-contrast", "more");
});
