// Sessions: another tab, a restarted server, signing out.
import { expect, fresh, person, saved, test, write } from "./server.ts";

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

test("the link that `up` prints opens one browser, once, and `notarium link` gives another", async ({ browser, server }) => {
  const first = await fresh(browser);
  const page = await first.newPage();
  const isIn = (of: typeof page) => expect(of.getByRole("button", { name: "New notebook" })).toBeVisible();
  expect(server.link).toContain("#token=nt_link_");
  await page.goto(server.link);
  await isIn(page);
  expect(page.url()).not.toContain("token");
  await page.reload();
  await isIn(page);
  const tab = await first.newPage();
  await tab.goto(server.url);
  await isIn(tab);
  await tab.goto("about:blank");
  await tab.goto(server.link);
  await isIn(tab);
  await expect(tab.getByText("This link was already used. You’re signed in as")).toBeVisible();

  const second = await (await fresh(browser)).newPage();
  await second.goto(server.link);
  await expect(second.getByRole("alert")).toContainText("This link was already used or has expired");
  await second.goto("about:blank");
  await second.goto(await server.command("link"));
  await isIn(second);
});
