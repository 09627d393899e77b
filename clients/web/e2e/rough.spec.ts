// The page under bad conditions: a slow connection, a lost one, a lower role, a kernel that dies, two tabs,
// right-to-left and composed text, a zoomed window, forced colours, no pointer.
import type { Browser, Page } from "@playwright/test";
import { notebook, python } from "./cells.ts";
import { bringIn } from "./demo.ts";
import { recorded } from "./record.ts";
import { type TestServer, expect, fresh, person, saved, test } from "./server.ts";
import { become, slowly } from "./weather.ts";

const long = { timeout: 60_000 };

async function opened(page: Page, ...sources: string[]): Promise<void> {
  await bringIn(page, notebook(...sources.map((source, at) => python(`c${at}`, source))), "Rough.ipynb");
  await page
    .locator(".cell .source, .cell .cm-content")
    .nth(sources.length - 1)
    .waitFor();
}

/** Opens the page's notebook for Bo over a slow connection. */
async function far(browser: Browser, server: TestServer, page: Page): Promise<{ bo: Page; id: string }> {
  const { id, token } = await server.account("Bo");
  await become(server, page, id, "editor");
  const bo = await (await fresh(browser)).newPage();
  await slowly(bo, 400);
  await bo.goto(`${server.url}/#token=${token}`);
  await expect(bo.getByRole("button", { name: "New notebook" })).toBeVisible();
  await bo.goto(page.url());
  await bo.locator(".cell").first().waitFor();
  return { bo, id };
}

async function edit(page: Page, at: number): Promise<void> {
  await page.locator(".cell").nth(at).locator(".source, .cm-content").first().click();
  await expect(page.locator(".cell").nth(at).locator(".cm-content")).toBeFocused();
  await page.keyboard.press("Control+End");
}

async function command(page: Page, words: string): Promise<void> {
  await page.keyboard.press("Control+Shift+P");
  await expect(page.getByRole("combobox", { name: "Search commands" })).toBeFocused();
  await page.keyboard.type(words);
  await page.keyboard.press("Enter");
}

test("@smoke 400 ms away: what is typed, inserted, split and taken back comes in its order", async ({ browser, server }) => {
  const ann = await person(browser, server);
  await opened(ann, "one = 1", "two = 2");
  const { bo } = await far(browser, server, ann);
  await edit(bo, 0);
  await bo.keyboard.type(" + 10");
  await bo.keyboard.press("Escape");
  await bo.keyboard.press("b");
  await bo.keyboard.press("Enter");
  await bo.keyboard.type("new = 3");
  await bo.keyboard.press("Enter");
  await bo.keyboard.type("rest = 4");
  await recorded(server, bo, "one = 1 + 10", "new = 3\nrest = 4", "two = 2");
  await bo.keyboard.press("Home");
  await bo.keyboard.press("Control+Shift+Minus");
  await recorded(server, bo, "one = 1 + 10", "new = 3\n", "rest = 4", "two = 2");
  await expect(bo.locator(".cell").nth(2).locator(".cm-content")).toBeFocused();
  // Two people type in one cell, and each undoes their own text. At one and the same place letters that cross may interleave.
  await edit(ann, 0);
  await edit(bo, 0);
  await bo.keyboard.press("Home");
  await Promise.all([ann.keyboard.type(" # ann"), bo.keyboard.type("# bo ")]);
  await Promise.all([saved(ann), saved(bo)]);
  await expect(bo.locator(".cell").first()).toContainText("# ann");
  await bo.keyboard.press("Control+z");
  await saved(bo);
  await expect(bo.locator(".cell").first()).not.toContainText("# bo");
  await recorded(server, bo, "one = 1 + 10 # ann", "new = 3\n", "rest = 4", "two = 2");
});

test("@smoke offline in the middle: it is said, what is typed is kept, taken back here, and recorded once", async ({
  browser,
  server,
}) => {
  const page = await person(browser, server);
  await opened(page, "one = 1");
  await edit(page, 0);
  await page.keyboard.type(" + 1");
  await saved(page);
  await page.context().setOffline(true);
  await expect(page.locator(".connection")).toContainText("Offline");
  // Words typed in one go are one undo step, unless the caret moved in between.
  await page.keyboard.press("ArrowLeft");
  await page.keyboard.press("End");
  await page.keyboard.type(" # half");
  await page.keyboard.press("Control+z");
  await page.keyboard.type(" # whole");
  // A panel that needs the server shows that and takes no keys.
  await command(page, "variables");
  await expect(page.getByRole("complementary", { name: "Variables" })).toBeInViewport();
  await edit(page, 0);
  await page.keyboard.type(".");
  await page.context().setOffline(false);
  await saved(page);
  await recorded(server, page, "one = 1 + 1 # whole.");
});

test("a lower role in the middle of writing, finding and choosing ends that alone, and is told once", async ({
  browser,
  server,
}) => {
  const ann = await person(browser, server);
  await opened(ann, "one = 1", "two = 1");
  const { bo, id } = await far(browser, server, ann);
  await edit(bo, 0);
  await bo.keyboard.press("Control+f");
  await bo.keyboard.type("1");
  await expect(bo.getByRole("search")).toBeInViewport();
  await become(server, ann, id, "viewer");
  const role = bo.getByText("Can view");
  await expect(role).toBeInViewport();
  await expect(bo.getByRole("button", { name: "Replace all" })).toHaveCount(0);
  await bo.keyboard.press("Escape");
  await bo.keyboard.type("bdd");
  await command(bo, "delete cell");
  await bo.keyboard.press("Escape");
  await recorded(server, ann, "one = 1", "two = 1");
  await become(server, ann, id, "editor");
  await expect(role).toHaveCount(0);
  await edit(bo, 1);
  await bo.keyboard.type("0");
  await recorded(server, ann, "one = 1", "two = 10");
});

test("@smoke a kernel that dies in the middle: the run, the variables and the next run tell it", async ({ browser, server }) => {
  const page = await person(browser, server);
  await opened(page, "kept = 41", "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)", "kept + 1");
  await page.locator(".cell").first().getByRole("button", { name: "Run", exact: true }).click();
  await command(page, "variables");
  const panel = page.getByRole("complementary", { name: "Variables" });
  await expect(panel.locator("li .name")).toHaveText(["kept"], long);
  await page.locator(".cell").nth(1).getByRole("button", { name: "Run", exact: true }).click();
  await expect(page.locator(".cell").nth(1)).toContainText(/died|crashed/i, long);
  await expect(panel.locator("li .name")).toHaveCount(0);
  // Typing continues, and the next run starts a new kernel, in which the name is undefined.
  await edit(page, 2);
  await page.keyboard.type("  # after");
  await page.keyboard.press("Control+Enter");
  await expect(page.locator(".cell").nth(2).locator(".outputs")).toContainText("NameError", long);
  await recorded(server, page, "kept = 41", "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)", "kept + 1  # after");
});

test("two tabs of one person: both type in one cell, and each tab takes back its own steps", async ({ browser, server }) => {
  const one = await person(browser, server);
  await opened(one, "value = 1", "other = 2");
  const two = await one.context().newPage();
  await two.goto(one.url());
  await two.locator(".cell").nth(1).waitFor();
  await edit(one, 0);
  await one.keyboard.type(" # one");
  await saved(one);
  await expect(two.locator(".cell").first()).toContainText("# one");
  await edit(two, 1);
  await two.keyboard.type(" # two");
  await saved(two);
  await one.bringToFront();
  await one.keyboard.press("Control+z");
  await recorded(server, one, "value = 1", "other = 2 # two");
  // The other tab is no other person.
  const other = one.getByRole("button", { name: /^You are here in another tab in cell 2/ });
  await expect(other).toBeInViewport();
  await expect(one.locator("#cell-c1").getByRole("img", { name: "Here: You, in another tab" })).toBeInViewport();
  await other.click();
  await other.click();
  await expect(one.getByText("Following your other tab")).toBeInViewport();
});

test("@smoke composed and right-to-left text stays whole while another person writes in the same line", async ({
  browser,
  server,
}) => {
  const ann = await person(browser, server);
  await opened(ann, "# ");
  const { bo } = await far(browser, server, ann);
  await edit(ann, 0);
  const ime = await ann.context().newCDPSession(ann);
  for (const text of ["n", "ni", "にほ", "日本"]) {
    await ime.send("Input.imeSetComposition", { text, selectionStart: text.length, selectionEnd: text.length });
    if (text === "ni") {
      await edit(bo, 0);
      await bo.keyboard.press("Home");
      await bo.keyboard.type("## שלום ");
      await saved(bo);
    }
  }
  await ime.send("Input.insertText", { text: "日本" });
  await ann.keyboard.type(" né");
  await Promise.all([saved(ann), saved(bo)]);
  await recorded(server, ann, "## שלום # 日本 né");
  await expect(bo.locator(".cell").first()).toContainText("## שלום # 日本 né");
  await ann.keyboard.press("Control+z");
  await saved(ann);
  await expect(bo.locator(".cell").first()).toContainText("## שלום # ");
  await expect(bo.locator(".cell").first()).not.toContainText("né");
});

/** Checks that the page does not scroll sideways. */
async function fits(page: Page): Promise<void> {
  const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  expect(over, "the page is wider than the window").toBeLessThanOrEqual(0);
}

test("at 200 % zoom: completion, palette, find, panels and menus are in the window", async ({ browser, server }) => {
  const page = await person(browser, server);
  // Equals a window of 1,280 × 860 at 200 %.
  await page.setViewportSize({ width: 640, height: 430 });
  await opened(page, "import math", "x = 1");
  await edit(page, 1);
  await page.keyboard.press("Enter");
  await page.keyboard.type("pri");
  await expect(page.getByRole("listbox")).toBeInViewport(long);
  await page.keyboard.press("Escape");
  await page.keyboard.type("nt(1)");
  await page.keyboard.press("Control+f");
  await page.keyboard.type("print");
  await expect(page.getByRole("search")).toBeInViewport({ ratio: 0.99 });
  await expect(page.locator(".cell").nth(1)).toBeInViewport();
  await page.keyboard.press("Escape");
  for (const words of ["variables", "files", "history", "comments"]) {
    await command(page, words);
    await fits(page);
    await expect(page.locator(".panel, .dialog").last()).toBeInViewport();
    await page.keyboard.press("Escape");
    await command(page, words);
  }
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "All commands" }).click();
  await expect(page.getByRole("dialog", { name: "All commands" })).toBeInViewport({ ratio: 0.99 });
  await page.keyboard.press("Escape");
  await recorded(server, page, "import math", "x = 1\nprint(1)");
});

test("with forced colours what is chosen in a list, and what an edit changed, is told by more than a colour", async ({
  browser,
  server,
}) => {
  const page = await person(browser, server);
  await page.emulateMedia({ forcedColors: "active" });
  await opened(page, "alpha = 1");
  await edit(page, 0);
  await page.keyboard.press("Enter");
  await page.keyboard.type("pri");
  await expect(page.getByRole("listbox")).toBeInViewport(long);
  // A key right after the list has opened is meant for the text.
  await expect(page.locator(".cm-tooltip-autocomplete")).not.toHaveClass(/is-unseen/);
  await page.keyboard.press("ArrowDown");
  const chosen = page.getByRole("option", { selected: true });
  const other = page.getByRole("option", { selected: false }).first();
  const look = (element: Element) => {
    const { backgroundColor, color, outlineStyle } = getComputedStyle(element);
    return `${backgroundColor} ${color} ${outlineStyle}`;
  };
  expect(await chosen.evaluate(look)).not.toBe(await other.evaluate(look));
  await page.keyboard.press("Escape");
  await page.keyboard.press("Escape");
  await page.keyboard.press("Control+Shift+P");
  await expect(page.getByRole("dialog", { name: "All commands" })).toBeInViewport();
  expect(await chosen.first().evaluate(look)).not.toBe(await other.evaluate(look));
});

test("without a pointer: variables, files and history are opened, used and left by keys, and the caret is where it was", async ({
  browser,
  server,
}) => {
  const page = await person(browser, server);
  await opened(page, "number = 7", "number");
  await edit(page, 0);
  await page.keyboard.press("Control+Enter");
  await expect(page.locator(".cell").first().locator(".count")).toHaveText("[1]", long);
  for (const [words, name] of [
    ["variables", "Variables"],
    ["files", "Files"],
    ["history", "History"],
  ] as const) {
    await edit(page, 1);
    await command(page, words);
    const panel = page.getByRole("complementary", { name });
    await expect(panel).toBeInViewport();
    await tabInto(page, panel);
    await page.keyboard.press("Escape");
    await command(page, words);
    await expect(panel).toHaveCount(0);
  }
  await recorded(server, page, "number = 7", "number");
});

/** Moves the focus into the panel by Tab only. */
async function tabInto(page: Page, panel: ReturnType<Page["getByRole"]>): Promise<void> {
  await page.keyboard.press("Escape");
  for (let key = 0; key < 60; key += 1) {
    if (await panel.evaluate((element) => element.contains(document.activeElement))) return;
    await page.keyboard.press("Tab");
  }
  throw new Error("Tab does not reach the panel");
}
