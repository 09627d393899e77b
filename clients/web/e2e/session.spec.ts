// Staying signed in: another tab, a server that was started anew, signing out.
import { expect, person, saved, test, write } from "./server.ts";

test("another tab is signed in, a restart is survived, and signing out ends both", async ({ browser, server }) => {
  const page = await person(browser, server);
  const tab = await page.context().newPage();
  await tab.goto(server.url);
  const create = tab.getByRole("button", { name: "New notebook" });
  await create.click();
  await write(tab, "a = 1");
  await saved(tab);
  const kept = await tab.evaluate(() => JSON.stringify([{ ...sessionStorage }, { ...localStorage }]));
  expect(kept).not.toContain("nt_");

  await server.kill();
  await server.start();
  await tab.keyboard.insertText("\nb = 2");
  await saved(tab);
  await expect(tab.getByText("Signed out")).toHaveCount(0);

  await page.reload();
  await page.getByRole("button", { name: /Sign out/ }).click();
  await expect(page.getByRole("button", { name: "Sign in" })).toBeVisible();
  await tab.reload();
  await expect(tab.getByRole("button", { name: "Sign in" })).toBeVisible();
  await page.context().close();
});
