// What people do all day, where the day is rough: 400 ms to the server, a connection that breaks, a role that is lowered, a kernel
// that dies, two tabs, scripts from right to left, composed text, a page at 200 %, forced colours, no pointer. Each ends with the record.
import type { Browser, CDPSession, Page } from "@playwright/test";
import { notebook, python } from "./cells.ts";
import { bringIn } from "./demo.ts";
import { Door } from "./door.ts";
import { TestServer, expect, fresh, person, saved, test as base } from "./server.ts";

interface Rough {
  server: TestServer;
  door: Door;
  address: string;
}

const test = base.extend<{ open: void }, { rough: Rough }>({
  rough: [
    async ({}, use) => {
      const [server, door] = [new TestServer(), new Door(400)];
      const address = await door.listen();
      await server.start(["--allow-origin", address]);
      door.leadTo(server.url);
      await use({ server, door, address });
      door.close();
      await server.end();
    },
    { scope: "worker", timeout: 240_000 },
  ],
  open: [
    async ({ rough }, use) => {
      rough.door.unlock();
      await use();
    },
    { auto: true },
  ],
});

const idOf = (page: Page) => /n\/([^/?]+)/.exec(page.url())?.[1] ?? "";
const cell = (page: Page, at: number) => page.locator(".cell").nth(at);
const editor = (page: Page) => page.locator(".editing .cm-content");

/** Somebody behind the slow door. */
async function far(browser: Browser, { address, server }: Rough, token = server.token): Promise<Page> {
  const page = await (await fresh(browser)).newPage();
  await page.goto(`${address}/#token=${token}`);
  await expect(page.getByRole("button", { name: "New notebook" })).toBeVisible();
  return page;
}

async function opened(browser: Browser, rough: Rough, ...sources: string[]): Promise<Page> {
  const page = await far(browser, rough);
  const cells = sources.map((source, at) => python(`c${at}`, source));
  await bringIn(page, notebook(...cells), "Rough.ipynb");
  await cell(page, sources.length - 1)
    .locator(".source")
    .waitFor();
  return page;
}

interface Exported {
  cells: { source: string | string[] }[];
}

/** The record's own word for it, not the page's. */
async function sources(page: Page, server: TestServer): Promise<string[]> {
  await saved(page);
  const file = (await (await server.send("GET", `/api/notebooks/${idOf(page)}/export`)).json()) as Exported;
  return file.cells.map(({ source }) => [source].flat().join(""));
}

async function edit(page: Page, at: number): Promise<void> {
  await cell(page, at).locator(".source").click();
  await expect(editor(page)).toBeFocused();
  await page.keyboard.press("Control+End");
}

test("at 400 ms: typing, running, undo, a comment, deleting and restoring, find", async ({ browser, rough }) => {
  const page = await opened(browser, rough, "first = 1", "second = 2", "third = 3");
  await edit(page, 0);
  await page.keyboard.type("0 + 32");
  await page.keyboard.press("Enter");
  await page.keyboard.type("first");
  // Faster than the server: into the next cell, and on.
  await page.keyboard.press("Shift+Enter");
  await expect(cell(page, 0).locator(".outputs")).toContainText("42", { timeout: 60_000 });
  expect((await sources(page, rough.server))[0]).toBe("first = 10 + 32\nfirst");

  await page.keyboard.press("Escape");
  await cell(page, 1).focus();
  await page.keyboard.press("d");
  await page.keyboard.press("d");
  await expect(page.locator(".cell")).toHaveCount(2);
  expect(await sources(page, rough.server)).toEqual(["first = 10 + 32\nfirst", "third = 3"]);
  await page.keyboard.press("z");
  await expect(page.locator(".cell")).toHaveCount(3);
  expect((await sources(page, rough.server))[1]).toBe("second = 2");

  await cell(page, 1).focus();
  await page.keyboard.press("Control+Alt+m");
  const comments = page.getByRole("complementary", { name: "Comments" });
  await expect(comments.getByRole("textbox", { name: "Comment" })).toBeFocused();
  await page.keyboard.type("Is this still right?");
  await page.keyboard.press("Control+Enter");
  await expect(comments).toContainText("Is this still right?");
  expect(await rough.server.command("comments", idOf(page))).toContain("Is this still right?");
  await page.keyboard.press("Escape");

  await edit(page, 2);
  await page.keyboard.press("Control+f");
  await expect(page.getByLabel("Find", { exact: true })).toBeFocused();
  await page.keyboard.type("second");
  await expect(page.getByRole("search").getByRole("status")).toHaveText(/of 1/);
  await page.keyboard.press("Escape");
  expect(await sources(page, rough.server)).toEqual(["first = 10 + 32\nfirst", "second = 2", "third = 3"]);
});

test("offline in the middle: what is typed, moved and deleted meanwhile is there once, in its order", async ({
  browser,
  rough,
}) => {
  const page = await opened(browser, rough, "first = 1", "second = 2", "third = 3");
  await edit(page, 0);
  await page.keyboard.type("0");
  rough.door.shut();
  await page.keyboard.type("0 # offline", { delay: 30 });
  await expect(page.locator(".connection")).not.toHaveText("Saved");
  await page.keyboard.press("Escape");
  await cell(page, 1).focus();
  await page.keyboard.press("Enter");
  await expect(editor(page)).toBeFocused();
  await page.keyboard.press("Control+End");
  await page.keyboard.type("00");
  rough.door.unlock();
  await saved(page);
  await page.keyboard.type("7");
  expect(await sources(page, rough.server)).toEqual(["first = 100 # offline", "second = 2007", "third = 3"]);
});

test("a role that is lowered while one types: the text is kept and offered, nothing of it is lost silently", async ({
  browser,
  rough,
}) => {
  const page = await opened(browser, rough, "first = 1");
  const id = idOf(page);
  const { server } = rough;
  const bob = await server.account("Bob Rough");
  const give = (role: string) => server.send("PUT", `/api/notebooks/${id}/access`, { subject: { kind: "user", id: bob.id }, role });
  await give("editor");
  const theirs = await far(browser, rough, bob.token);
  await theirs.goto(`${rough.address}/#/n/${id}`);
  await theirs.locator(".cell .source").first().waitFor();
  await edit(theirs, 0);
  await theirs.keyboard.type("0");
  await saved(theirs);
  rough.door.shut();
  await give("viewer");
  await theirs.keyboard.type(" # unsaved");
  rough.door.unlock();
  await expect(theirs.locator(".toast, .strip").filter({ hasText: "# unsaved" })).toBeInViewport();
  // Keys go nowhere from here on.
  await theirs.keyboard.type("ddx");
  await expect(theirs.locator(".cell")).toHaveCount(1);
  expect(await sources(page, server)).toEqual(["first = 10"]);
});

test("a kernel that dies in the middle: it is said, the text stays, the next run has a new kernel", async ({ browser, rough }) => {
  const page = await opened(browser, rough, "import os, time", "print('begun'); time.sleep(0.2); os._exit(9)", "6 * 7");
  await page.keyboard.press("Escape");
  for (const at of [0, 1, 2]) {
    await cell(page, at).focus();
    await page.keyboard.press("Control+Enter");
  }
  await edit(page, 2);
  await page.keyboard.type(" + 0");
  await expect(page.locator(".strip", { hasText: "Variables are lost" })).toBeInViewport({ timeout: 60_000 });
  await page.keyboard.type(" + 0");
  await page.keyboard.press("Control+Enter");
  await expect(cell(page, 2).locator(".outputs")).toContainText("42", { timeout: 60_000 });
  expect((await sources(page, rough.server))[2]).toBe("6 * 7 + 0 + 0");
});

test("two tabs of one person: both write, and each takes back its own", async ({ browser, rough }) => {
  const one = await opened(browser, rough, "first = 1", "second = 2");
  const two = await one.context().newPage();
  await two.goto(one.url());
  await two.locator(".cell .source").nth(1).waitFor();
  await edit(one, 0);
  await edit(two, 1);
  await Promise.all([one.keyboard.type("0 # one", { delay: 20 }), two.keyboard.type("0 # two", { delay: 20 })]);
  await saved(two);
  expect(await sources(one, rough.server)).toEqual(["first = 10 # one", "second = 20 # two"]);
  // Both in one cell: no letter of either is lost.
  await edit(two, 0);
  await two.keyboard.press("Control+Home");
  await Promise.all([one.keyboard.type("AAAA", { delay: 40 }), two.keyboard.type("BBBB", { delay: 40 })]);
  await saved(two);
  const [both] = await sources(one, rough.server);
  expect(both).toBe("BBBBfirst = 10 # oneAAAA");
  await expect(cell(two, 0).locator(".source")).toContainText("BBBBfirst = 10 # oneAAAA");
});

async function compose(cdp: CDPSession, ...steps: string[]): Promise<void> {
  for (const text of steps)
    await cdp.send("Input.imeSetComposition", { text, selectionStart: text.length, selectionEnd: text.length });
  await cdp.send("Input.insertText", { text: steps.at(-1) ?? "" });
}

test("composed text and scripts from right to left, while another writes in the cell", async ({ browser, rough }) => {
  const page = await opened(browser, rough, "# x", "# y");
  const other = await far(browser, rough);
  await other.goto(page.url());
  await other.locator(".cell .source").nth(1).waitFor();
  const cdp = await page.context().newCDPSession(page);
  await edit(page, 0);
  await cdp.send("Input.imeSetComposition", { text: "に", selectionStart: 1, selectionEnd: 1 });
  // In the middle of a composition somebody else writes before it.
  await edit(other, 0);
  await other.keyboard.press("Control+Home");
  await other.keyboard.type("AA");
  await saved(other);
  await compose(cdp, "にほ", "にほん", "日本");
  await page.keyboard.type("!");
  await edit(page, 1);
  await page.keyboard.type(" שלום ");
  await compose(cdp, "م", "مر", "مرحبا");
  await page.keyboard.press("Home");
  await page.keyboard.type("# ");
  expect(await sources(page, rough.server)).toEqual(["AA# x日本!", "# # y שלום مرحبا"]);
  await expect(cell(other, 0).locator(".source")).toContainText("AA# x日本!");
});

test("at 200 %, in forced colours, without a pointer: a notebook is made, written, run, commented, deleted, found", async ({
  browser,
  rough,
}) => {
  const page = await person(browser, rough.server);
  // As a window of 1,280 × 860 is at 200 %.
  await page.setViewportSize({ width: 640, height: 430 });
  await page.emulateMedia({ forcedColors: "active" });
  const make = page.getByRole("button", { name: "New notebook" });
  await make.focus();
  await page.keyboard.press("Enter");
  await expect(editor(page)).toBeFocused();
  await page.keyboard.type("6 * 7");
  await page.keyboard.press("Control+Enter");
  await expect(cell(page, 0).locator(".outputs")).toContainText("42", { timeout: 60_000 });
  await expect(cell(page, 0).locator(".outputs")).toBeInViewport();
  await page.keyboard.press("Escape");
  await expect(cell(page, 0)).toBeFocused();
  // The ring is seen without colours of ours.
  const ring = await cell(page, 0).evaluate((element) => {
    const { outlineStyle, outlineWidth, borderStyle } = getComputedStyle(element);
    const before = getComputedStyle(element, "::before");
    return [outlineStyle !== "none" && outlineWidth !== "0px", borderStyle !== "none", before.content !== "none"].some(Boolean);
  });
  expect(ring).toBe(true);
  await page.keyboard.press("b");
  await expect(page.locator(".cell")).toHaveCount(2);
  await expect(cell(page, 1)).toBeInViewport();
  await page.keyboard.press("Enter");
  await page.keyboard.type("gone = 1");
  await saved(page);
  await page.keyboard.press("Escape");
  await page.keyboard.press("d");
  await page.keyboard.press("d");
  await expect(page.locator(".cell")).toHaveCount(1);
  await page.keyboard.press("z");
  await expect(page.locator(".cell")).toHaveCount(2);
  await page.keyboard.press("Control+f");
  await expect(page.getByLabel("Find", { exact: true })).toBeFocused();
  await expect(page.getByLabel("Find", { exact: true })).toBeInViewport();
  await page.keyboard.type("gone");
  await expect(page.getByRole("search").getByRole("status")).toHaveText(/of 1/);
  await page.keyboard.press("Escape");
  expect(await sources(page, rough.server)).toEqual(["6 * 7", "gone = 1"]);
});
