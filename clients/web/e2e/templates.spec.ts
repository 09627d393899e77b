// New notebooks from templates.
import { expect, person, saved, test, write } from "./server.ts";

test("a notebook begins from a starter, becomes a template, and another is made of it", async ({ browser, server }) => {
  const page = await person(browser, server);
  const menu = page.getByRole("button", { name: "New from template" });
  await menu.click();
  await page.getByRole("menuitem", { name: /Look into a table/ }).click();
  await expect(page.locator(".cell").nth(1)).toContainText("read_csv");
  await expect(page).toHaveTitle(/Look into a table/);

  await page.getByRole("link", { name: "All notebooks" }).click();
  await page.getByRole("button", { name: "New notebook" }).click();
  await write(page, "week = 1");
  await saved(page);
  await page.getByRole("link", { name: "All notebooks" }).click();
  const row = page.locator(".notebook-row").filter({ hasText: "Untitled" }).first();
  await row.getByRole("button", { name: /More about/ }).click();
  await page.getByRole("menuitem", { name: "Use as template" }).click();
  await expect(row).toContainText("Template");

  await menu.click();
  await page.getByRole("menuitem", { name: /Untitled/ }).click();
  await expect(page.locator(".cell").first()).toContainText("week = 1");
  await page.getByRole("link", { name: "All notebooks" }).click();
  await expect(page.locator(".notebook-row").filter({ hasText: "Template" })).toHaveCount(1);
  await page.context().close();
});
