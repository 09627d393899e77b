// The bell and the inbox: a mention arrives live, leads to its cell, is read, and is chosen away.
import { AxeBuilder } from "@axe-core/playwright";
import type { Browser, Page } from "@playwright/test";
import { LOOKS } from "./looks.ts";
import { type TestServer, expect, fresh, person, saved, test, write } from "./server.ts";

const notebookOf = (page: Page) => /n\/([^/]+)/.exec(page.url())?.[1] ?? "";
const inbox = (page: Page) => page.getByRole("dialog", { name: "Notices" });

/** Opens the list of notebooks for Bo, whom `mention` mentions in Ann's notebook. */
async function bo(browser: Browser, server: TestServer, name: string) {
  const ann = await person(browser, server);
  await ann.getByRole("button", { name: "New notebook" }).click();
  await write(ann, "total = price * amount");
  await saved(ann);
  const notebook = notebookOf(ann);
  const { id, token } = await server.account(name);
  await server.send("PUT", `/api/notebooks/${notebook}/access`, { subject: { kind: "user", id }, role: "commenter" });
  const { notebook: state } = (await (await server.send("GET", `/api/notebooks/${notebook}`)).json()) as {
    notebook: { order: string[] };
  };
  const page = await (await fresh(browser)).newPage();
  await page.goto(`${server.url}/#token=${token}`);
  await page.getByRole("heading", { name: "Notebooks" }).waitFor();
  const mention = () =>
    server.send("POST", `/api/notebooks/${notebook}/cells/${state.order[0]}/threads`, { text: "Look at this", mentions: [id] });
  return { page, mention, notebook };
}

test("a mention counts at once in every tab, leads to its cell and is read", async ({ browser, server }) => {
  const { page, mention, notebook } = await bo(browser, server, "Bo");
  const second = await page.context().newPage();
  await second.goto(page.url());
  await expect(page.getByRole("button", { name: "Notices", exact: true })).toBeVisible();
  await mention();
  await expect(page.getByRole("button", { name: "Notices: 1 unread" })).toBeVisible();
  await expect(second.getByRole("button", { name: "Notices: 1 unread" })).toBeVisible();
  await page.getByRole("button", { name: "Notices: 1 unread" }).click();
  const entry = inbox(page).getByRole("link", { name: "mentioned you in a comment" });
  await expect(entry).toBeVisible();
  await mention();
  await expect(inbox(page).getByRole("link")).toHaveCount(2);
  await inbox(page).getByRole("button", { name: "Mark all as read" }).click();
  await expect(inbox(page).getByRole("button", { name: "Mark as unread" })).toHaveCount(2);
  await inbox(page).getByRole("button", { name: "Mark as unread" }).first().click();
  await expect(second.getByRole("button", { name: "Notices: 1 unread" })).toBeVisible();
  await inbox(page).getByRole("link").first().click();
  await expect(inbox(page)).toBeHidden();
  await expect(page).toHaveURL(new RegExp(`n/${notebook}/`));
  await expect(page.locator(".cell").first()).toContainText("total");
  await expect(page.getByRole("button", { name: "Notices", exact: true })).toBeVisible();
});

test("what came while the page was closed waits in the inbox", async ({ browser, server }) => {
  const { page, mention } = await bo(browser, server, "Cy");
  await page.goto("about:blank");
  await mention();
  await page.goBack();
  await expect(page.getByRole("button", { name: "Notices: 1 unread" })).toBeVisible();
});

test("topics are chosen away, and webhooks are made, tested and deleted", async ({ browser, server }) => {
  const { page, mention } = await bo(browser, server, "Di");
  await page.getByRole("button", { name: "Notices", exact: true }).click();
  await expect(inbox(page)).toContainText("No notices.");
  await inbox(page).getByRole("button", { name: "Choose" }).click();
  const mentions = inbox(page).getByRole("checkbox", { name: "You are mentioned: Inbox" });
  await expect(mentions).toBeChecked();
  await mentions.click();
  await expect(mentions).not.toBeChecked();
  await mention();
  await inbox(page).getByLabel("Address of a webhook").fill("http://127.0.0.1:9/");
  await inbox(page).getByRole("button", { name: "Add webhook" }).click();
  await expect(inbox(page).getByRole("alert")).toContainText("https");
  await inbox(page).getByLabel("Address of a webhook").fill("https://localhost/hook");
  await inbox(page).getByRole("button", { name: "Add webhook" }).click();
  await expect(inbox(page).getByRole("textbox", { name: "Secret" })).toHaveValue(/^whsec_/);
  await inbox(page).getByRole("button", { name: "Test https://localhost/hook" }).click();
  await expect(inbox(page).getByRole("status")).toContainText("The test failed");
  await inbox(page).getByRole("button", { name: "Delete https://localhost/hook" }).click();
  await expect(inbox(page).getByText("https://localhost/hook")).toHaveCount(0);
  await inbox(page).getByRole("button", { name: "Done" }).click();
  await page.reload();
  await expect(page.getByRole("button", { name: "Notices", exact: true })).toBeVisible();
});

for (const { name, colorScheme, width } of LOOKS)
  test(`the inbox and its choices fit and can be used: ${name}`, async ({ browser, server }, info) => {
    const { page, mention } = await bo(browser, server, `Eve ${name}`);
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize({ width, height: 800 });
    await mention();
    await mention();
    await page.getByRole("button", { name: "Notices: 2 unread" }).click();
    await inbox(page).getByRole("button", { name: "Mark as read" }).first().click();
    await expect(inbox(page).getByRole("button", { name: "Mark as unread" })).toBeVisible();
    for (const screen of ["inbox", "choices"]) {
      if (screen === "choices") await inbox(page).getByRole("button", { name: "Choose" }).click();
      if (screen === "choices") await inbox(page).getByRole("checkbox").first().waitFor();
      await page.screenshot({ path: info.outputPath(`${screen}.png`) });
      const tooWide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
      expect(tooWide).toBeLessThanOrEqual(0);
      const found = await new AxeBuilder({ page }).include(".inbox").analyze();
      expect(found.violations).toEqual([]);
    }
  });
