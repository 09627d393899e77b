// Machines in the kernel panel: the agents with cores and load, the reason for which a kernel waits, and the choice of another.
import { expect, person, test, write } from "./server.ts";

test("a kernel that needs labels waits with the reason, and starts on the machine that is chosen", async ({ browser, server }) => {
  const page = await person(browser, server);
  await page.getByRole("button", { name: "New notebook" }).click();
  await expect(page.locator(".cell")).toHaveCount(1);
  await page.getByRole("button", { name: /^Kernel/ }).click();
  const machine = page.getByRole("group", { name: /^Machine / });
  await expect(machine).toContainText(/\d+ cores?/, { timeout: 60_000 });

  const labels = page.getByLabel("Needs a machine with labels");
  await labels.fill("gpu");
  await expect(page.getByText("Write labels as key=value")).toBeVisible();
  await labels.fill("gpu=a100");
  await labels.press("Enter");
  await page.getByRole("radio", { name: /^Replace/ }).click();
  await expect(page.getByRole("radio", { name: /^Replace/ })).toBeChecked();
  await page.keyboard.press("Escape");

  await write(page, "print('ran', 6 * 7)");
  await page.keyboard.press("Control+Enter");
  const strip = page.getByRole("status").filter({ hasText: "No connected agent has gpu=a100." });
  await expect(strip).toBeVisible();
  await strip.getByRole("button", { name: "Use any machine" }).click();
  await expect(page.getByText("ran 42")).toBeVisible({ timeout: 60_000 });
  await expect(strip).toBeHidden();
});
