// Accounts and sign-in: the first owner, invitations, name and password, links in an open tab, guests, a lowered role.
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "@playwright/test";
import { BINARY, type TestServer, expect, fresh, person, saved, test } from "./server.ts";

const PASSWORD = "a horse in the harbour";

async function type(page: Page, label: string, text: string): Promise<void> {
  await page
    .locator("input")
    .and(page.getByLabel(new RegExp(`^${label}`)))
    .click();
  await page.keyboard.press("Control+A");
  await page.keyboard.type(text);
}

async function isIn(page: Page): Promise<void> {
  await expect(page.getByRole("button", { name: "New notebook" })).toBeInViewport();
  expect(page.url()).not.toContain("token");
}

interface Made {
  invitation: { token: string };
}

async function invite(server: TestServer, login: string, name: string): Promise<string> {
  const made = (await (await server.send("POST", "/api/users", { login, name })).json()) as Made;
  return made.invitation.token;
}

async function notebook(server: TestServer, title: string, ...sources: string[]): Promise<string> {
  const id = await server.command("new", title);
  for (const source of sources) await server.command("cell", "add", id, "--source", source);
  return id;
}

/** Starts `notarium serve` on an empty folder; returns the printed link. */
async function firstServer(folder: string): Promise<{ running: ChildProcess; url: string; link: string }> {
  const options = ["serve", "--data", join(folder, "data"), "--listen", "127.0.0.1:0"];
  const running = spawn(BINARY, options, { env: { ...process.env, HOME: folder }, stdio: ["ignore", "pipe", "inherit"] });
  let text = "";
  for await (const piece of running.stdout) {
    text += String(piece);
    const [, link, url] = /Or open ((http:\S+?)\/#token=\S+)/.exec(text) ?? [];
    if (link && url) return { running, url, link };
  }
  throw new Error(`the server did not start: ${text}`);
}

test("the first owner chooses a login and a password, and gets in again with them @smoke", async ({ browser }) => {
  const folder = mkdtempSync(join(tmpdir(), "notarium-owner-"));
  const { running, url, link } = await firstServer(folder);
  try {
    const page = await (await fresh(browser)).newPage();
    await page.goto(link);
    await expect(page.getByRole("heading", { name: "Welcome to Notarium" })).toBeInViewport();
    expect(page.url()).not.toContain("token");
    await type(page, "Your name", "Ada Löwe");
    await type(page, "Login", "ada");
    await page.getByLabel("New password").click();
    await page.keyboard.type(PASSWORD);
    await page.getByLabel("Repeat the password").click();
    await page.keyboard.type("another horse");
    await page.keyboard.press("Enter");
    await expect(page.getByRole("alert")).toHaveText("The two passwords differ.");
    await type(page, "Repeat the password", PASSWORD);
    await page.keyboard.press("Enter");
    await isIn(page);
    await page.getByRole("button", { name: "Sign out" }).click();
    // The fields of a login come first for who has a password.
    await expect(page.getByLabel("Login")).toBeFocused();
    await type(page, "Login", "ada");
    await type(page, "Password", PASSWORD);
    await page.keyboard.press("Enter");
    await isIn(page);
    await expect(page.getByRole("button", { name: "Ada Löwe" })).toBeInViewport();
    const again = await fetch(`${url}/api/session`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ login: "ada", password: PASSWORD }),
    });
    expect(again.status).toBe(201);
  } finally {
    running.kill("SIGKILL");
    rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
  }
});

test("an invitation is redeemed in the page, and name and password are changed there", async ({ browser, server }) => {
  const token = await invite(server, "bea", "Bea");
  const page = await (await fresh(browser)).newPage();
  await page.goto(server.url);
  await page.getByLabel("Token").click();
  await page.keyboard.type(token);
  await page.keyboard.press("Enter");
  await expect(page.getByRole("heading", { name: "Welcome, Bea" })).toBeInViewport();
  await page.getByLabel("New password").click();
  await page.keyboard.type(PASSWORD);
  await type(page, "Repeat the password", PASSWORD);
  await page.keyboard.press("Enter");
  await isIn(page);

  await page.getByRole("button", { name: "Bea", exact: true }).click();
  await type(page, "Name", "Beatrix");
  await page.keyboard.press("Enter");
  await expect(page.getByText("Saved")).toBeInViewport();
  await page.getByRole("button", { name: "Change password" }).click();
  await page.keyboard.type("not my password");
  await type(page, "New password", "another horse");
  await type(page, "Repeat the password", "another horse");
  await page.keyboard.press("Enter");
  await expect(page.getByRole("dialog").getByRole("alert")).toHaveText("The current password is wrong.");
  await expect(page.getByLabel("Current password")).toBeFocused();
  await type(page, "Current password", PASSWORD);
  await page.keyboard.press("Enter");
  await expect(page.getByRole("region", { name: "Password" }).getByText("Saved")).toBeInViewport();
  await page.getByRole("button", { name: "Done" }).click();
  await expect(page.getByRole("button", { name: "Beatrix" })).toBeInViewport();
  await expect.poll(() => server.command("user", "ls")).toContain("Beatrix");
  const signIn = (password: string) =>
    fetch(`${server.url}/api/session`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ login: "bea", password }),
    });
  expect((await signIn(PASSWORD)).status).toBe(401);
  expect((await signIn("another horse")).status).toBe(201);
});

test("links that are opened in a tab that has the page work, and leave the address @smoke", async ({ browser, server }) => {
  const id = await notebook(server, "Tides", "moon = 1");
  const page = await (await fresh(browser)).newPage();
  await page.goto(server.url);
  await expect(page.getByRole("button", { name: "Sign in" })).toBeInViewport();
  const open = (link: string) => page.evaluate((to) => void (location.href = to), link);
  const link = await server.command("link");
  await open(link);
  await isIn(page);

  // The same link again: the person stays signed in and sees a notice.
  await open(link);
  await expect(page.getByRole("alert")).toContainText("You are still signed in as");
  await isIn(page);

  // Another person's invitation asks for a password first.
  await open(`${server.url}/#token=${await invite(server, "cleo", "Cleo")}`);
  await expect(page.getByRole("heading", { name: "Welcome, Cleo" })).toBeInViewport();
  expect(page.url()).not.toContain("token");
  await page.getByRole("button", { name: "Not now" }).click();
  await isIn(page);

  // A share link opened over an open notebook leads the guest to the linked notebook.
  const body = { role: "viewer", label: "Class" };
  const made = (await (await server.send("POST", `/api/notebooks/${id}/share-links`, body)).json()) as { token: string };
  await open(`${server.url}/#token=${made.token}&notebook=${id}`);
  await expect(page.locator(".cell").first()).toContainText("moon = 1");
  await expect(page.locator(".tag.plain")).toHaveText("Guest “Class”: Can view");
  expect(page.url()).not.toContain("token");
  await page.goBack();
  expect(page.url()).not.toContain("token");
});

test("people are found by name to share with", async ({ browser, server }) => {
  await invite(server, "karl.1", "Karl Löwe");
  await invite(server, "karla.1", "Karla Maus");
  const id = await notebook(server, "Shared");
  const page = await person(browser, server);
  await page.goto(`${server.url}/#/n/${id}`);
  await page.getByRole("button", { name: "Share", exact: true }).click();
  await page.getByLabel("Name or login of a person").click();
  await page.keyboard.type("lö");
  const option = page.getByRole("option", { name: /Karl Löwe/ });
  await expect(option).toBeInViewport();
  // The list lies over the dialog.
  const isOnTop = (element: Element) => {
    const { left, top, width, height } = element.getBoundingClientRect();
    return element.contains(document.elementFromPoint(left + width / 2, top + height / 2));
  };
  await expect.poll(() => option.evaluate(isOnTop)).toBe(true);
  await page.keyboard.press("Control+A");
  await page.keyboard.type("karl");
  await expect(page.getByRole("listbox").getByRole("option")).toHaveCount(2);
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await expect(page.getByLabel("Name or login of a person")).toHaveValue("Karla Maus (karla.1)");
  await page.getByRole("button", { name: "Add" }).click();
  const people = page.getByRole("region", { name: "People" }).getByRole("listitem");
  await expect(people.filter({ hasText: "Karla Maus" })).toBeInViewport();
  await page.getByLabel("Name or login of a person").click();
  await page.keyboard.type("karl");
  await option.click();
  await expect(page.getByLabel("Name or login of a person")).toHaveValue("Karl Löwe (karl.1)");
  await expect(page.getByRole("listbox")).toHaveCount(0);
  await page.getByLabel("Name or login of a person").click();
  await page.keyboard.press("Control+A");
  await page.keyboard.type("nobody.at.all");
  await expect(page.getByText(/^No account with this login or name\. .*notarium user new/)).toBeInViewport();
  await page.keyboard.press("Enter");
  await expect(page.getByRole("alert")).toHaveText("No account with the login ‘nobody.at.all’.");
  expect(await server.command("access", "ls", id)).toContain("Karla Maus");
});

test("guests see names, and others see theirs", async ({ browser, server }) => {
  const id = await notebook(server, "Names", "a = 1");
  const body = { role: "editor", label: "Zoë from Lyon" };
  const made = (await (await server.send("POST", `/api/notebooks/${id}/share-links`, body)).json()) as { token: string };
  const guest = await (await fresh(browser)).newPage();
  await guest.goto(`${server.url}/#token=${made.token}&notebook=${id}`);
  await expect(guest.locator(".cell").first()).toContainText("a = 1");
  await guest.locator(".cell .source").first().click();
  await guest.keyboard.press("Control+End");
  await guest.keyboard.type(" + 2");
  await saved(guest);
  await guest.keyboard.press("Escape");
  await guest.getByRole("button", { name: "History" }).click();
  const panel = guest.locator("aside, .panel").first();
  await expect(panel).toContainText("Owner");
  await expect(panel).not.toContainText(/[0-9A-Z]{26}/);
  expect(await server.command("log", id)).toContain("Zoë from Lyon (guest)");

  const ann = await person(browser, server);
  await ann.goto(`${server.url}/#/n/${id}`);
  await ann.getByRole("button", { name: "History" }).click();
  await expect(ann.locator("aside, .panel").first()).toContainText("Zoë from Lyon");
});

test("a lowered role gives one notice with all the text that was not saved @smoke", async ({ browser, server }) => {
  const id = await notebook(server, "Lowered", "first = 1", "second = 2");
  const { id: user, token } = await server.account("Bo Berg");
  const grant = (role: string) => server.send("PUT", `/api/notebooks/${id}/access`, { subject: { kind: "user", id: user }, role });
  await grant("editor");
  const page = await (await fresh(browser)).newPage();
  await page.goto(`${server.url}/#token=${token}`);
  await page.goto(`${server.url}/#/n/${id}`);
  await expect(page.locator(".cell")).toHaveCount(2);
  await page.locator(".cell .source").first().click();
  await expect(page.locator(".editing .cm-content")).toBeInViewport();
  await page.context().setOffline(true);
  await page.keyboard.press("Control+End");
  await page.keyboard.type(" # kept one");
  await page.locator(".cell .source").nth(1).click();
  await page.keyboard.press("Control+End");
  await page.keyboard.type(" # kept two");
  await grant("viewer");
  await page.context().setOffline(false);
  const notice = page.locator(".toast").filter({ hasText: "You can no longer edit this notebook." });
  await expect(notice).toBeInViewport();
  await expect(notice).toContainText("kept one");
  await expect(notice).toContainText("kept two");
  await expect(page.locator(".toast")).toHaveCount(1);
  const shown = await server.command("show", id);
  expect(shown).toContain("first = 1");
  expect(shown).not.toContain("kept");
});

test("the list of notebooks: rename, delete and undo, owner, order, and what was found", async ({ browser, server }) => {
  const { id: user, token } = await server.account("Dora Dorn");
  const first = await notebook(server, "Bread", "flour = 500");
  await notebook(server, "Apples", "x = 1\nneedle_in_hay = 'pins'");
  for (const id of [first])
    await server.send("PUT", `/api/notebooks/${id}/access`, { subject: { kind: "user", id: user }, role: "viewer" });
  const page = await person(browser, server);
  const row = (text: string) => page.locator(".notebook-row").filter({ hasText: text });
  await page.getByLabel("Search notebooks").click();
  await page.keyboard.type("needle");
  await expect(row("Apples").locator(".snippet")).toHaveText("needle_in_hay = 'pins'");
  await expect(row("Apples").locator("mark")).toHaveText("needle");
  await page.keyboard.press("Control+A");
  await page.keyboard.press("Delete");

  await page.getByLabel("Sort by").selectOption("title");
  await expect(row("Apples")).toBeInViewport();
  const titles = page.locator(".notebook-row .title");
  const ordered = [...(await titles.allTextContents())].sort((a, b) => a.toLowerCase().localeCompare(b.toLowerCase()));
  await expect(titles).toHaveText(ordered);

  await page.getByRole("button", { name: "More about “Apples”" }).click();
  await page.getByRole("menuitem", { name: "Rename" }).click();
  await page.keyboard.type("Pears");
  await page.keyboard.press("Enter");
  await expect(row("Pears")).toBeInViewport();
  await page.getByRole("button", { name: "More about “Pears”" }).click();
  await page.getByRole("menuitem", { name: "Delete notebook" }).click();
  await expect(row("Pears")).toHaveCount(0);
  expect(await server.command("ls")).not.toContain("Pears");
  await page.getByRole("button", { name: "Undo" }).click();
  await expect(row("Pears")).toBeInViewport();
  await expect.poll(() => server.command("ls")).toContain("Pears");

  // Notebooks of other people show their owner.
  const dora = await (await fresh(browser)).newPage();
  await dora.goto(`${server.url}/#token=${token}`);
  await expect(dora.locator(".notebook-row").filter({ hasText: "Bread" }).locator(".owners")).toHaveText("Owner");
});
