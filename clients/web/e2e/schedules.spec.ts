// Schedules: the dialog sets one, refuses a line that never comes, runs it now, and shows how the run ended.
import { expect, person, test, write } from "./server.ts";

test("a schedule is set by choice, runs now, and its run is a notebook of its own", async ({ browser, server }) => {
  const page = await person(browser, server);
  await page.getByRole("button", { name: "New notebook" }).click();
  await expect(page.locator(".cell")).toHaveCount(1);
  await write(page, "print('ran', 6 * 7)");
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "Schedules" }).click();
  const dialog = page.getByRole("dialog", { name: "Schedules" });
  await expect(dialog.getByText("No schedules yet.")).toBeVisible();
  await dialog.getByRole("button", { name: "Add a schedule" }).click();

  await dialog.getByLabel("Repeat").selectOption({ label: "Custom (cron)" });
  await dialog.getByLabel(/^Cron/).fill("0 0 31 2 *");
  await expect(dialog.getByText(/never comes/)).toBeVisible();
  await dialog.getByRole("button", { name: "Add schedule" }).click();
  await expect(dialog.getByRole("alert")).toContainText("never comes");

  await dialog.getByLabel("Repeat").selectOption({ label: "Every weekday, Monday to Friday" });
  await dialog.getByLabel("Time", { exact: true }).fill("06:30");
  await dialog.getByLabel("Time zone").fill("Europe/Berlin");
  await expect(dialog.getByRole("status")).toContainText("First run");
  await dialog.getByRole("button", { name: "Add schedule" }).click();

  const schedule = dialog.getByRole("region", { name: "Every weekday at 06:30 (Europe/Berlin)" });
  await expect(schedule).toContainText("next run");
  await schedule.getByRole("button", { name: "Run now" }).click();
  await expect(schedule.getByText(/Succeeded/)).toBeVisible({ timeout: 60_000 });
  await schedule.getByText("Past runs").click();
  await expect(schedule.getByRole("list", { name: "Past runs, newest first" }).getByRole("listitem")).toHaveCount(1);
  await page.screenshot({ path: "test-results/schedules-wide.png" });
  for (const [name, width] of [
    ["tablet", 820],
    ["phone", 390],
  ] as const) {
    await page.setViewportSize({ width, height: 844 });
    await page.screenshot({ path: `test-results/schedules-${name}.png` });
  }
  await page.setViewportSize({ width: 1280, height: 800 });

  await schedule.getByRole("link", { name: "Open the run" }).first().click();
  await expect(page.getByText("ran 42")).toBeVisible();
  await expect(page.getByRole("textbox", { name: "Title" })).toHaveValue(/ – \d{4}-\d\d-\d\d \d\d:\d\d$/);

  await page.goBack();
  await page.getByRole("button", { name: "Schedules" }).click();
  await dialog.getByRole("button", { name: "Delete", exact: true }).click();
  await dialog.getByRole("button", { name: "Delete schedule" }).click();
  await expect(dialog.getByText("No schedules yet.")).toBeVisible();
});
