// The administrators' page: accounts, agents, storage, spending, audit and nodes.
import { readFileSync } from "node:fs";
import type { Browser, Page } from "@playwright/test";
import { complaints } from "./axe.ts";
import { ASKING, type TestServer, TestServer as Server, expect, fresh, person, test } from "./server.ts";

const PASSWORD = "a horse in the harbour";

const main = (page: Page) => page.getByRole("main");
const row = (page: Page, text: string) => main(page).getByRole("row").filter({ hasText: text });

async function administration(browser: Browser, server: TestServer, section = "people"): Promise<Page> {
  const page = await person(browser, server);
  await page.goto(`${server.url}/#/administration/${section}`);
  await expect(page.getByRole("heading", { name: "Administration" })).toBeVisible();
  return page;
}

async function choose(page: Page, name: string, item: string): Promise<void> {
  await main(page)
    .getByRole("button", { name: `Actions for ${name}` })
    .click();
  await page.getByRole("menuitem", { name: item }).click();
}

test("administrators get there from their account, everyone else reads why not @smoke", async ({ browser, server }) => {
  const page = await person(browser, server);
  await page.getByRole("button", { name: "Owner", exact: true }).click();
  await page.getByRole("link", { name: "Administration" }).click();
  await expect(page.getByRole("heading", { name: "People" })).toBeVisible();
  await expect(row(page, "Owner")).toContainText("Administrator");
  await expect(page).toHaveTitle("Administration – Notarium");
  await page.goBack();
  await expect(page.getByRole("button", { name: "New notebook" })).toBeVisible();

  const { token } = await server.account("Nobody Special");
  const other = await (await fresh(browser)).newPage();
  await other.goto(`${server.url}/#token=${token}`);
  await other.getByRole("button", { name: "Nobody Special" }).click();
  await expect(other.getByRole("heading", { name: "Name and login" })).toBeVisible();
  await expect(other.getByRole("link", { name: "Administration" })).toHaveCount(0);
  await other.goto(`${server.url}/#/administration`);
  await expect(other.getByRole("heading", { name: "Only administrators can open this page" })).toBeVisible();
  await expect(other.getByRole("navigation")).toHaveCount(0);
});

test("an invited person chooses a password by the link, becomes an administrator and is deactivated", async ({
  browser,
  server,
}) => {
  const page = await administration(browser, server);
  await page.getByRole("button", { name: "Invite" }).click();
  const dialog = page.getByRole("dialog", { name: "Invite people" });
  await expect(dialog.getByLabel("Name", { exact: true })).toBeFocused();
  await dialog.getByLabel("Name", { exact: true }).fill("Zoë Quist");
  await dialog.getByRole("textbox", { name: /^Login/ }).fill("zoe quist");
  await dialog.getByRole("button", { name: "Create invitation", exact: true }).click();
  await expect(dialog.getByRole("alert")).toBeVisible();
  await dialog.getByRole("textbox", { name: /^Login/ }).fill("zoe.quist");
  await dialog.getByRole("button", { name: "Create invitation", exact: true }).click();
  const field = dialog.getByLabel("Link for Zoë Quist");
  await expect(field).toBeFocused();
  const link = await field.inputValue();
  await dialog.getByRole("button", { name: "Done" }).click();
  await expect(page.getByRole("button", { name: "Invite" })).toBeFocused();

  await main(page).getByPlaceholder("Name or login").fill("zoe q");
  await expect(main(page).getByRole("row")).toHaveCount(2);
  await expect(row(page, "Zoë Quist")).toContainText("No password");

  const invited = await (await fresh(browser)).newPage();
  await invited.goto(link);
  await expect(invited.getByRole("heading", { name: "Welcome, Zoë Quist" })).toBeVisible();

  await choose(page, "Zoë Quist", "Make administrator…");
  await expect(page.getByRole("alertdialog")).toContainText("Make Zoë Quist an administrator?");
  await page.getByRole("button", { name: "Make administrator" }).click();
  await expect(main(page).getByRole("status").first()).toHaveText("Zoë Quist is now an administrator.");
  await expect(row(page, "Zoë Quist")).toContainText("Administrator");
  await expect(page.getByRole("button", { name: "Actions for Zoë Quist" })).toBeFocused();
  await choose(page, "Zoë Quist", "Remove as administrator…");
  await page.getByRole("button", { name: "Remove as administrator" }).click();
  await expect(row(page, "Zoë Quist")).toContainText("Member");

  await choose(page, "Zoë Quist", "New invitation link…");
  await page.getByRole("button", { name: "Create link" }).click();
  const again = page.getByRole("textbox", { name: "Link for Zoë Quist" });
  await expect(again).toHaveValue(/#token=nt_reset_/);
  expect(await again.inputValue()).not.toBe(link);
  await page.getByRole("button", { name: "Done" }).click();

  await choose(page, "Zoë Quist", "Linked sign-ins…");
  await expect(page.getByRole("dialog")).toContainText("No linked sign-ins.");
  await page.getByRole("button", { name: "Done" }).click();

  await choose(page, "Zoë Quist", "Deactivate…");
  await page.getByRole("alertdialog").getByRole("button", { name: "Cancel" }).click();
  await expect(row(page, "Zoë Quist")).toBeVisible();
  await choose(page, "Zoë Quist", "Deactivate…");
  await page.getByRole("alertdialog").getByRole("button", { name: "Deactivate" }).click();
  await expect(row(page, "Zoë Quist")).toHaveCount(0);
  await page.getByLabel("Accounts to show").selectOption("Deactivated");
  await choose(page, "Zoë Quist", "Reactivate…");
  await page.getByRole("alertdialog").getByRole("button", { name: "Reactivate" }).click();
  await expect(row(page, "Zoë Quist")).toHaveCount(0);
  await page.getByLabel("Accounts to show").selectOption("Everyone");
  await expect(row(page, "Zoë Quist")).toBeVisible();
});

test("the last administrator stays, and the question shows why", async ({ browser, server }) => {
  const page = await administration(browser, server);
  await choose(page, "Owner", "Remove as administrator…");
  await page.getByRole("button", { name: "Remove as administrator" }).click();
  await expect(page.getByRole("alertdialog").getByRole("alert")).toContainText("administrator");
  await page.getByRole("button", { name: "Cancel" }).click();
  await expect(row(page, "Owner")).toContainText("Administrator");
});

test("a list invites many people, and wrong lines are named", async ({ browser, server }) => {
  const page = await administration(browser, server);
  await page.getByRole("button", { name: "Invite" }).click();
  const many = page.getByRole("dialog").getByRole("region", { name: "Many people" });
  await many.getByRole("button", { name: "Create invitations" }).click();
  await expect(many.getByRole("alert")).toHaveText("Paste a list or choose a file.");
  await many.locator("textarea").fill("name,mail\nAnn,ann@example.org");
  await many.getByRole("button", { name: "Create invitations" }).click();
  await expect(many.getByRole("alert")).toContainText("“login”");

  const list = "login,name,email\nmia,Mia Falk,mia@example.org\nowner two,Owner,\nlea,Lea Blom,\n";
  await many.getByLabel("CSV file").setInputFiles({ name: "people.csv", mimeType: "text/csv", buffer: Buffer.from(list) });
  await expect(many.locator("textarea")).toHaveValue(list);
  await many.getByRole("button", { name: "Create invitations" }).click();
  await expect(many).toContainText("Nobody was invited. Correct these lines and try again.");
  await expect(many.getByRole("row", { name: /owner two/ })).toContainText("without spaces");
  await expect(many.locator("textarea")).toHaveValue(list);

  await many.locator("textarea").fill("login,name\nlea,Lea Blom");
  await many.getByRole("button", { name: "Create invitations" }).click();
  await expect(many.getByRole("row", { name: /lea/ })).toBeVisible();
  await many.locator("textarea").fill(list.replace("owner two,Owner,\n", ""));
  await many.getByRole("button", { name: "Create invitations" }).click();
  await expect(many).toContainText("1 person was invited. 1 account existed already.");
  await expect(many.getByRole("row", { name: /lea/ })).toContainText("Has an account already");
  const [saved] = await Promise.all([page.waitForEvent("download"), many.getByRole("button", { name: "Save as CSV" }).click()]);
  const text = readFileSync(await saved.path(), "utf8");
  const link = /mia,Mia Falk,mia@example.org,(\S+)/.exec(text)?.[1] ?? "";
  expect(text).toBe(`login,name,email,link\r\nmia,Mia Falk,mia@example.org,${link}\r\n`);
  expect(link).toContain(`${server.url}/#token=nt_reset_`);
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  await many.getByRole("button", { name: "Copy all links" }).click();
  await expect(many.getByRole("button", { name: "Copied" })).toBeVisible();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(`Mia Falk: ${link}`);
  await page.getByRole("button", { name: "Done" }).click();
  await expect(row(page, "Mia Falk")).toBeVisible();
});

test("a server without lists and nodes leaves them out", async ({ browser, server }) => {
  const page = await person(browser, server);
  const missing = { status: 404, json: { code: "not_found", detail: "there is nothing at this address" } };
  await page.route("**/api/users/invited", (route) => route.fulfill(missing));
  await page.route("**/api/nodes", (route) => route.fulfill(missing));
  await page.goto(`${server.url}/#/administration`);
  await page.getByRole("button", { name: "Invite" }).click();
  await expect(page.getByRole("dialog").getByRole("region")).toHaveCount(1);
  await page.getByRole("button", { name: "Done" }).click();
  await expect(page.getByRole("navigation").getByRole("link")).toHaveText(["People", "Agents", "Storage", "Spending", "Audit"]);
});

test("agents show their load, and a token is made and revoked", async ({ browser, server }) => {
  await server.command("new", "For its kernel's load");
  const page = await administration(browser, server, "agents");
  await expect(main(page)).toContainText(/1 machine connected: \d+ cores?/);
  await expect(row(page, "this machine")).toContainText(/core/);
  await page.getByRole("button", { name: "New agent" }).click();
  await page.getByLabel("Name").fill("GPU machine");
  await page.getByRole("button", { name: "Create token" }).click();
  await expect(page.getByLabel("Token", { exact: true })).toHaveValue(/^nt_agent_/);
  await expect(page.getByLabel("Command")).toHaveValue(`notarium agent --server ${server.url} --token-file agent.token`);
  await page.getByRole("button", { name: "Done" }).click();
  await expect(row(page, "GPU machine")).toContainText("Never connected");
  await page.getByRole("button", { name: "Revoke the token of GPU machine" }).click();
  await page.getByRole("alertdialog").getByRole("button", { name: "Revoke token" }).click();
  await expect(row(page, "GPU machine")).toHaveCount(0);
});

test("storage is shown with quotas, and the audit in sentences by pages", async ({ browser, server }) => {
  await server.command("new", "Counted");
  const page = await administration(browser, server, "storage");
  await expect(row(page, "Owner")).toContainText(/of 10,000/);
  for (let count = 0; count < 30; count++)
    await server.send("POST", "/api/users", { name: `Page ${count}`, login: `page.${count}` });
  await page.getByRole("link", { name: "Audit" }).click();
  await expect(row(page, "Created Page 29’s account")).toContainText("Owner");
  await expect(main(page).getByRole("row")).toHaveCount(51);
  // Tests before this one may have filled more pages.
  const first = row(page, "Created the first token for Owner");
  while ((await first.count()) === 0) {
    const shown = await main(page).getByRole("row").count();
    await page.getByRole("button", { name: "Older" }).click();
    await expect.poll(() => main(page).getByRole("row").count()).toBeGreaterThan(shown);
  }
  await expect(first).toContainText("The server");
});

test("caps are set for everyone and for one person, and removed", async ({ browser, server }) => {
  await server.account("Kai Capped");
  const page = await administration(browser, server, "spending");
  await expect(main(page)).toContainText("No assistant was used in this month.");
  await expect(main(page)).toContainText("No caps. Assistants can spend without a limit.");
  await page.getByRole("button", { name: "Set cap" }).click();
  const dialog = page.getByRole("dialog", { name: "Set a cap" });
  await dialog.getByLabel("For").selectOption("Everyone together");
  await dialog.getByLabel("Unit").selectOption("Tokens");
  await dialog.getByLabel("Amount").fill("1.5");
  await dialog.getByRole("button", { name: "Set cap" }).click();
  await expect(dialog.getByRole("alert")).toHaveText("Enter a whole number of tokens.");
  await dialog.getByLabel("Amount").fill("5,000,000");
  await dialog.getByRole("button", { name: "Set cap" }).click();
  await expect(row(page, "Everyone together")).toContainText("5M tokens a month");

  await page.getByRole("button", { name: "Set cap" }).click();
  await dialog.getByLabel("For").selectOption("One person");
  await dialog.getByRole("combobox", { name: "Person" }).click();
  await page.keyboard.type("kai");
  await page.getByRole("option", { name: /Kai Capped/ }).click();
  await dialog.getByLabel("Amount").fill("2.5");
  await dialog.getByLabel("Period").selectOption("a day");
  await dialog.getByRole("button", { name: "Set cap" }).click();
  await expect(row(page, "Kai Capped")).toContainText("2.50 USD a day");
  expect(await server.command("cap", "ls", "--all")).toContain("2.50");

  for (const name of ["Kai Capped", "Everyone together"]) {
    await page.getByRole("button", { name: `Remove the cap for ${name}` }).click();
    await page.getByRole("alertdialog").getByRole("button", { name: "Remove cap" }).click();
    await expect(row(page, name)).toHaveCount(0);
  }
});

test("a section that fails has an error of its own, and tries again", async ({ browser, server }) => {
  const page = await administration(browser, server);
  await page.route("**/api/audit*", (route) => route.fulfill({ status: 503, json: { code: "unavailable", detail: "not now" } }));
  await page.getByRole("link", { name: "Audit" }).click();
  await expect(main(page).getByRole("alert")).toContainText("The server couldn’t do this right now.");
  await page.unroute("**/api/audit*");
  await main(page).getByRole("button", { name: "Try again" }).click();
  await expect(main(page).getByRole("row").nth(1)).toBeVisible();
  await expect(main(page).getByRole("alert")).toHaveCount(0);
});

test("a server that asks for the password asks before it shows accounts", async ({ browser }) => {
  const asking = new Server();
  try {
    await asking.start();
    await asking.askForPassword(PASSWORD);
    expect(ASKING).toContain("password");
    const page = await person(browser, asking);
    await page.goto(`${asking.url}/#/administration`);
    await expect(page.getByRole("heading", { name: "Enter your password to continue" })).toBeVisible();
    await page.getByRole("button", { name: "Continue" }).click();
    await page.getByLabel("Password for ann").fill(PASSWORD);
    await page.keyboard.press("Enter");
    await expect(row(page, "Ann")).toContainText("Administrator");
    await page.getByRole("link", { name: "Audit" }).click();
    await expect(main(page).getByRole("row").nth(1)).toBeVisible();
  } finally {
    await asking.end();
  }
});

const SECTIONS = ["people", "agents", "storage", "spending", "audit", "nodes"];

for (const width of [390, 820, 1440])
  for (const colorScheme of ["light", "dark"] as const)
    test(`all sections fit and can be used: ${width} px, ${colorScheme}`, async ({ browser, server }, info) => {
      const page = await person(browser, server);
      await filled(page, server);
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize({ width, height: 900 });
      for (const section of SECTIONS) {
        await page.goto(`${server.url}/#/administration/${section}`);
        await main(page).getByRole("row").nth(1).waitFor();
        await page.screenshot({ path: info.outputPath(`${section}.png`) });
        const tooWide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
        expect(tooWide, section).toBeLessThanOrEqual(0);
        expect(await complaints(page), section).toEqual([]);
      }
    });

/** Accounts, notebooks, and answers about spending and nodes that a test's server has no reason to give. */
async function filled(page: Page, server: TestServer): Promise<void> {
  const people = ["Annika Sørensen-Blaauwgeers", "Bo", "Chiamaka Okafor", "Dmitri Volkov", "李小龍"];
  const users = (await (await server.send("GET", "/api/users?limit=1000")).json()) as { id: string; name: string }[];
  for (const [index, name] of people.entries())
    if (!users.some((user) => user.name === name))
      await server.send("POST", "/api/users", { name, login: `look.${index}@example.org` });
  await server.command("new", "Tides");
  const ids = users.map(({ id }) => id).slice(0, 4);
  const used = (value: string, index: number) => ({
    value,
    name: people[index] ?? null,
    calls: 1200 - index * 170,
    estimated_calls: index === 1 ? 2 : 0,
    input_tokens: 48_000_000 / (index + 1),
    cached_tokens: 9_000_000,
    output_tokens: 1_800_000 / (index + 1),
    cost: [{ amount: String(182.4 / (index + 1)), currency: "USD" }],
    unpriced_calls: index === 2 ? 4 : 0,
  });
  await page.route("**/api/spending?by=person*", (route) =>
    route.fulfill({ json: { since: "2026-11-01", until: "2026-11-30", rows: ids.map(used) } }),
  );
  const cap = { by_owner: false, is_fixed: false, is_reached: false, ends_at: 1796083200000, reserved: "0", period: "month" };
  const caps = [
    { ...cap, spender: "server", unit: "USD", amount: "500.00", used: "341.90" },
    { ...cap, spender: "each_person", period: "day", unit: "tokens", amount: "5000000", is_fixed: true },
    { ...cap, spender: "person", person: ids[0], unit: "USD", amount: "50.00", used: "50.12", is_reached: true },
  ];
  await page.route("**/api/caps?all=true", (route) => route.fulfill({ json: { caps } }));
  const node = { seen_at: Date.now() - 4_000, version: "0.2.0", level: 2, is_draining: false };
  const nodes = [
    { ...node, node: "a", url: "https://node-1.notarium.example.org:8787", is_this: true, rooms: 41 },
    { ...node, node: "b", url: "https://node-2.notarium.example.org:8787", is_draining: true, rooms: 1207 },
  ];
  await page.route("**/api/nodes", (route) => route.fulfill({ json: { nodes } }));
}
