// Widgets of ipywidgets with a real kernel: everybody sees the same, who may run moves them, and what they showed last stays.
import type { Page } from "@playwright/test";
import { expect, person, test, write } from "./server.ts";

const run = async (page: Page, source: string, cell = 0) => {
  await write(page, source);
  await page.keyboard.press("Alt+Enter");
  await expect(page.locator(".cell .count").nth(cell)).toHaveText(/\d/, { timeout: 60_000 });
};
const inside = (page: Page, nth = 0) => page.locator("iframe.frame").nth(nth).contentFrame();

test("a slider that is moved in one browser moves in the other, and its value in the kernel", async ({ browser, server }) => {
  const page = await person(browser, server);
  await page.getByRole("button", { name: "New notebook" }).click();
  await run(
    page,
    "import ipywidgets as w\ns = w.IntSlider(value=3, max=9, description='Sail')\nl = w.Label('none')\ns.observe(lambda c: setattr(l, 'value', f'knots {c.new}'), 'value')\nw.VBox([s, l])",
  );
  const handle = inside(page).getByRole("slider");
  await expect(handle).toBeVisible({ timeout: 60_000 });

  const other = await person(browser, server);
  await other.goto(page.url());
  const theirs = inside(other).getByRole("slider");
  await expect(theirs).toBeVisible({ timeout: 60_000 });
  await handle.focus();
  await handle.press("ArrowRight");
  await handle.press("ArrowRight");
  await expect(inside(page).getByText("knots 5")).toBeVisible({ timeout: 30_000 });
  await expect(inside(other).getByText("knots 5")).toBeVisible({ timeout: 30_000 });
  await expect(theirs).toHaveAttribute("aria-valuenow", "5.0");

  // Who opens it later sees how it is now, and moves it too.
  const late = await person(browser, server);
  await late.goto(page.url());
  await expect(inside(late).getByText("knots 5")).toBeVisible({ timeout: 60_000 });
  await inside(late).getByRole("slider").focus();
  await inside(late).getByRole("slider").press("ArrowLeft");
  await expect(inside(page).getByText("knots 4")).toBeVisible({ timeout: 30_000 });
  await expect(handle).toHaveAttribute("aria-valuenow", "4.0");
});
