// Server that asks for the password before confirming, sharing or managing (protocol/decisions/0013).
import { AxeBuilder } from "@axe-core/playwright";
import type { Browser, Page } from "@playwright/test";
import { bringIn } from "./demo.ts";
import { LOOKS } from "./looks.ts";
import { ask, asksBeforeDeleting } from "./scenes.ts";
import { ASKING, test as base, TestServer, expect, person, saved } from "./server.ts";

const PASSWORD = "a horse in the harbour";

const test = base.extend<object, { asking: TestServer }>({
  asking: [
    async ({}, use) => {
      const server = new TestServer();
      await server.start();
      await server.askForPassword(PASSWORD);
      await use(server);
      await server.end();
    },
    { scope: "worker", timeout: 240_000 },
  ],
});

async function waitingCall(browser: Browser, server: TestServer): Promise<Page> {
  asksBeforeDeleting(server);
  const page = await person(browser, server);
  await bringIn(page);
  await saved(page);
  await ask(page, "tidy this up, please");
  await page.locator(".confirmation .effect").waitFor();
  return page;
}

test("a decision asks for the password, once for a quarter of an hour", async ({ browser, asking }) => {
  const page = await waitingCall(browser, asking);
  const dialog = page.getByRole("dialog");
  const field = dialog.getByLabel(/^Password for/);

  await page.locator(".confirmation").getByRole("button", { name: "Delete cell", exact: true }).click();
  await expect(field).toBeFocused();
  await dialog.getByRole("button", { name: "Cancel" }).click();
  await expect(dialog).toHaveCount(0);
  await expect(page.locator(".cell")).toHaveCount(6);
  await expect(page.locator(".confirmation").getByRole("button", { name: "Delete cell", exact: true })).toBeEnabled();

  await page.locator(".confirmation").getByRole("button", { name: "Delete cell", exact: true }).click();
  await field.fill("a cow in the harbour");
  await field.press("Enter");
  await expect(dialog.getByRole("alert")).toBeVisible();
  await expect(page.locator(".cell")).toHaveCount(6);
  await field.fill(PASSWORD);
  await field.press("Enter");
  await expect(dialog).toHaveCount(0);
  await expect(page.locator(".cell")).toHaveCount(5);
  await expect(page.locator(".transcript")).toContainText("the means are");

  // The typed password is not stored.
  const kept = await page.evaluate(() => JSON.stringify([{ ...sessionStorage }, { ...localStorage }]));
  expect(kept).not.toContain(PASSWORD);
  expect(kept).not.toContain("nt_");

  await page.getByRole("button", { name: "Share", exact: true }).click();
  await page.getByLabel("Guest name").fill("Bo");
  await page.getByRole("button", { name: "New link" }).click();
  await expect(page.getByLabel("Link to copy")).toHaveValue(/#token=/);
  await page.context().close();
});

test("sharing asks for it too, above what is open; by keys alone", async ({ browser, asking }) => {
  const page = await person(browser, asking);
  await page.getByRole("button", { name: "New notebook" }).click();
  await page.locator(".cell").waitFor();
  await page.getByRole("button", { name: "Share", exact: true }).click();
  await page.getByLabel("Guest name").fill("Bo");
  await page.keyboard.press("Enter");
  await expect(page.getByLabel(/^Password for/)).toBeFocused();
  await page.keyboard.insertText(PASSWORD);
  await page.keyboard.press("Enter");
  await expect(page.getByLabel("Link to copy")).toHaveValue(/#token=/);
  await expect(page.getByRole("dialog")).toHaveCount(1);
  await page.context().close();
});

test("axe: the question for the password", async ({ browser, asking }) => {
  const page = await waitingCall(browser, asking);
  await page.locator(".confirmation").getByRole("button", { name: "Delete cell", exact: true }).click();
  await page.getByLabel(/^Password for/).waitFor();
  for (const look of LOOKS) {
    await page.setViewportSize({ width: look.width, height: 800 });
    await page.emulateMedia({ colorScheme: look.colorScheme, reducedMotion: "reduce" });
    const { violations } = await new AxeBuilder({ page }).exclude("iframe").analyze();
    expect(
      violations.map(({ id }) => id),
      look.name,
    ).toEqual([]);
  }
  await page.context().close();
});

test("who has no password learns how to get one", async ({ browser }) => {
  const server = new TestServer();
  await server.start(ASKING);
  const page = await waitingCall(browser, server);
  await page.locator(".confirmation").getByRole("button", { name: "Delete cell", exact: true }).click();
  await expect(page.getByRole("dialog")).toContainText("Set a password first");
  await page.keyboard.press("Escape");
  await expect(page.getByRole("dialog")).toHaveCount(0);
  await expect(page.locator(".confirmation").getByRole("button", { name: "Delete cell", exact: true })).toBeEnabled();
  await page.context().close();
  await server.end();
});
