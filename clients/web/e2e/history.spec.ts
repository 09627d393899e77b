import { expect, person, saved, test, write } from "./server.ts";

test("back in time: look, compare by word, name, restore as one step, and undo that", async ({ browser, server }) => {
  const page = await person(browser, server);
  await page.getByRole("button", { name: "New notebook" }).click();
  await write(page, "total = 1");
  await saved(page);
  await page.keyboard.press("Escape");
  await page.keyboard.press("b");
  await expect(page.locator(".cell")).toHaveCount(2);
  await page.getByRole("button", { name: "History", exact: true }).click();
  const first = page.locator(".steps .step", { hasText: /edited (a )?cell/ }).last();
  await first.click();
  const past = page.locator(".past");
  await expect(past.locator(".past-cell")).toHaveCount(1);
  await expect(past).toContainText("total = 1");
  await past.getByRole("button", { name: "Name this version" }).click();
  await past.getByLabel(/Name of version/).fill("Begin");
  await page.keyboard.press("Enter");
  await expect(page.getByRole("region", { name: "Named versions" })).toContainText("Begin");
  await past.getByRole("button", { name: "Back to current" }).click();

  await page.locator(".cell .source").first().click();
  await page.locator(".editing .cm-content").waitFor();
  await page.keyboard.press("Control+End");
  await page.keyboard.insertText("0 * 2");
  await page.keyboard.press("Escape");
  await saved(page);
  await page.getByRole("region", { name: "Named versions" }).getByRole("button").first().click();
  await past.getByLabel("Compare with").selectOption("now");
  await expect(past.locator("ins").first()).toContainText("0 * 2");
  await past.getByRole("button", { name: "Restore" }).click();
  await expect(page.locator(".cell")).toHaveCount(1);
  await expect(page.locator(".cell").first()).toContainText(/total = 1$/m);
  await page.locator(".toast").getByRole("button", { name: "Undo" }).click();
  await expect(page.locator(".cell")).toHaveCount(2);
  await expect(page.locator(".cell").first()).toContainText("total = 10 * 2");
  // The filters stay in sight above the entries.
  await page.setViewportSize({ width: 1280, height: 360 });
  const panel = page.locator(".panel.history");
  await panel.evaluate((all) => all.scrollTo(0, all.scrollHeight));
  await expect.poll(() => panel.evaluate(({ scrollTop }) => scrollTop)).toBeGreaterThan(100);
  await expect(panel.getByLabel("Kind", { exact: true })).toBeInViewport({ ratio: 1 });
});

test("the trash gives cells back; runs and lines name who it was", async ({ browser, server }) => {
  const page = await person(browser, server);
  await page.getByRole("button", { name: "New notebook" }).click();
  await write(page, "print('hello')\nx = 1");
  await page.keyboard.press("Control+Enter");
  await expect(page.locator(".outputs")).toContainText("hello", { timeout: 60_000 });
  await page.getByRole("button", { name: "History", exact: true }).click();
  await page.getByRole("tab", { name: "Runs" }).click();
  await expect(page.locator(".run-line")).toContainText("You ran cell 1");
  await page.getByRole("tab", { name: "Lines" }).click();
  await expect(page.locator(".blame [role=row]")).toHaveCount(2);
  await expect(page.locator(".blame")).toContainText("You");
  await page.getByRole("tab", { name: "Trash" }).click();
  await expect(page.getByText("The trash is empty.")).toBeVisible();
  await page.locator(".cell .gutter").first().click();
  await page.keyboard.press("d");
  await page.keyboard.press("d");
  await page.getByRole("button", { name: "Restore" }).click();
  await expect(page.locator(".cell").first()).toContainText("print('hello')");
  await expect(page.locator(".cell .outputs")).toContainText("hello");
});
