// Comment threads on cells and on their text, with two people in two browsers.
import { AxeBuilder } from "@axe-core/playwright";
import type { Browser, Page } from "@playwright/test";
import { bringIn } from "./demo.ts";
import { LOOKS } from "./looks.ts";
import { type TestServer, expect, fresh, person, saved, test, write } from "./server.ts";

const notebookOf = (page: Page) => /n\/([^/]+)/.exec(page.url())?.[1] ?? "";
const panel = (page: Page) => page.getByRole("complementary", { name: "Comments" });

/** Opens Ann's notebook with one cell for Ann, and for Bo with a role. */
async function two(browser: Browser, server: TestServer, role: string, name: string): Promise<[Page, Page]> {
  const ann = await person(browser, server);
  await ann.getByRole("button", { name: "New notebook" }).click();
  await write(ann, "total = price * amount");
  await saved(ann);
  const { id, token } = await server.account(name);
  await server.send("PUT", `/api/notebooks/${notebookOf(ann)}/access`, { subject: { kind: "user", id }, role });
  const bo = await (await fresh(browser)).newPage();
  await bo.goto(`${server.url}/#token=${token}&notebook=${notebookOf(ann)}`);
  await expect(bo.locator(".cell").first()).toContainText("total");
  return [ann, bo];
}

/** Selects the first word of the cell in its editor. */
async function markFirstWord(page: Page): Promise<void> {
  await page.locator(".cell .source").first().click();
  await page.locator(".editing .cm-focused").waitFor();
  await page.keyboard.press("Control+Home");
  await page.keyboard.press("Control+Shift+ArrowRight");
}

/** Starts a comment by its keys. The field has the focus then. */
async function begin(page: Page): Promise<void> {
  await page.keyboard.press("Control+Alt+m");
  await expect(panel(page).getByRole("textbox", { name: "Comment" })).toBeFocused();
}

test("a comment that is begun again keeps its text and takes the keys, also from another cell", async ({ browser, server }) => {
  const page = await person(browser, server);
  await page.getByRole("button", { name: "New notebook" }).click();
  await write(page, "total = 1");
  await page.keyboard.press("Escape");
  await page.keyboard.press("b");
  await page.keyboard.press("Enter");
  await page.locator(".cell").nth(1).locator(".cm-focused").waitFor();
  await page.keyboard.type("second = 2");
  await saved(page);
  await page.locator(".cell .source").first().click();
  await begin(page);
  await page.keyboard.type("draft ");
  for (const cell of [0, 1]) {
    await page.locator(".cell .source").nth(cell).click();
    await page.keyboard.press("End");
    await page.keyboard.press("Control+Alt+m");
    await page.keyboard.type(`more ${cell} `);
  }
  const field = panel(page).getByRole("textbox", { name: "Comment" });
  await expect(field).toBeFocused();
  await expect(field).toBeInViewport();
  await expect(field).toHaveValue("draft more 0 more 1 ");
  await page.keyboard.press("Control+Enter");
  await expect(panel(page).getByRole("article").first()).toContainText("draft more 0 more 1");
  await expect(page.locator(".cell .source").first()).toHaveText(/^\s*total = 1\s*$/);
  await expect(page.locator(".cell .source").nth(1)).toHaveText(/^\s*second = 2\s*$/);
  await page.context().close();
});

test("a thread on marked text: begun by keys, answered by another, follows its text, resolved and reopened", async ({
  browser,
  server,
}) => {
  const [ann, bo] = await two(browser, server, "commenter", "Bo Berg");
  await markFirstWord(ann);
  await begin(ann);
  await expect(panel(ann).locator("blockquote")).toHaveText("total");
  await ann.keyboard.insertText("Is this net? Ask @Bo");
  await expect(ann.getByRole("option", { name: "Bo Berg" })).toBeInViewport();
  await ann.keyboard.press("Enter");
  await expect(panel(ann).getByRole("textbox", { name: "Comment" })).toHaveValue("Is this net? Ask @Bo Berg ");
  await ann.keyboard.press("Control+Enter");
  await expect(panel(ann).locator(".comment strong").first()).toHaveText("You");

  // The mentioned person is notified, and the cell shows the thread.
  const mark = bo.getByRole("button", { name: "1 open comment thread" });
  await expect(mark).toBeInViewport();
  await expect(bo.getByRole("button", { name: "Comments: 1 new" })).toBeInViewport();
  await expect(bo.locator(".toast")).toContainText("mentioned you on cell 1");
  await bo.locator(".toast").getByRole("button", { name: "Show" }).click();
  await expect(panel(bo).getByRole("textbox", { name: "Reply" })).toBeFocused();
  await expect(panel(bo).locator(".rendered strong")).toHaveText("@Bo Berg");
  await expect(bo.getByRole("button", { name: "Comments", exact: true })).toBeInViewport();
  await bo.keyboard.insertText("Gross.");
  await bo.keyboard.press("Control+Enter");
  await expect(panel(ann).locator(".comment")).toHaveCount(2);
  await expect(ann.locator("[role=status]", { hasText: "Bo Berg commented on cell 1: Gross." })).toHaveCount(1);

  // The highlight moves with the text.
  await ann.locator(".editing .cm-content, .cell .source").first().click();
  await ann.locator(".editing .cm-focused").waitFor();
  await expect(ann.locator(".cm-content .commented")).toHaveText("total");
  await ann.keyboard.press("Control+Home");
  await ann.keyboard.insertText("# sums\n");
  await expect(ann.locator(".cm-content .commented")).toHaveText("total");
  await saved(ann);
  await panel(bo).getByRole("button", { name: "Cell 1" }).click();
  await expect(bo.locator(".cm-content .commented")).toHaveText("total");

  // Bo can edit and delete only his own comments.
  await expect(panel(bo).getByRole("button", { name: "Edit" })).toHaveCount(1);
  await panel(bo).getByRole("button", { name: "Edit" }).click();
  await expect(panel(bo).getByRole("textbox", { name: "Comment" })).toBeFocused();
  await bo.keyboard.press("Control+a");
  await bo.keyboard.type("Gross, *as agreed*.");
  await panel(bo).getByRole("button", { name: "Save" }).click();
  await expect(panel(ann).locator(".rendered em")).toHaveText("as agreed");
  await expect(panel(ann).getByText("edited")).toBeInViewport();

  await panel(bo).getByRole("button", { name: "Resolve" }).click();
  await expect(panel(ann).getByText("No open comments.")).toBeInViewport();
  await expect(ann.locator(".commented")).toHaveCount(0);
  await panel(ann).getByLabel("Filter comments").selectOption("Resolved");
  await expect(panel(ann).getByText(/Resolved by Bo Berg/)).toBeInViewport();
  await panel(ann).getByRole("button", { name: "Reopen" }).click();
  await expect(panel(bo).getByRole("button", { name: "Resolve" })).toBeInViewport();
  await panel(bo).getByRole("button", { name: "Delete", exact: true }).click();
  await panel(bo).getByRole("button", { name: "Delete permanently" }).click();
  await panel(ann).getByLabel("Filter comments").selectOption("Open");
  await expect(panel(ann).locator(".comment")).toHaveCount(1);
});

test("a comment without a connection is kept, and goes when there is one", async ({ browser, server }) => {
  const [ann, bo] = await two(browser, server, "viewer", "Cy");
  // Viewers see the comments and a notice that they cannot write.
  await bo.getByRole("button", { name: "Comments", exact: true }).click();
  await expect(panel(bo)).toContainText("You can read comments but not write them");
  await server.kill();
  await expect(ann.locator(".connection")).toContainText("retrying in");
  await ann.keyboard.press("Escape");
  await begin(ann);
  await ann.keyboard.insertText("Looks right.");
  await ann.keyboard.press("Control+Enter");
  await expect(panel(ann)).toContainText("Will be sent when you’re back online");
  await server.start();
  await expect(panel(bo)).toContainText("Looks right.");
  await expect(panel(ann).locator(".unsent")).toHaveCount(0);
  await expect(panel(bo).getByRole("textbox")).toHaveCount(0);
});

test("threads go with their text when cells are split and merged", async ({ browser, server }) => {
  const ann = await person(browser, server);
  await ann.getByRole("button", { name: "New notebook" }).click();
  await write(ann, "first = 1\n");
  await ann.keyboard.insertText("second = 2");
  await saved(ann);
  await ann.keyboard.press("Control+Shift+ArrowLeft");
  await begin(ann);
  await ann.keyboard.insertText("Why two?");
  await ann.keyboard.press("Control+Enter");
  await expect(panel(ann).locator(".comment strong").first()).toHaveText("You");
  await ann.locator(".editing .cm-content, .cell .source").first().click();
  await ann.locator(".editing .cm-focused").waitFor();
  await ann.keyboard.press("Control+Home");
  await ann.keyboard.press("ArrowDown");
  await ann.keyboard.press("Control+Shift+Minus");
  await expect(ann.locator(".cell")).toHaveCount(2);
  await expect(panel(ann).getByRole("button", { name: "Cell 2" })).toBeInViewport();
  await ann.keyboard.press("Escape");
  await ann.keyboard.press("ArrowUp");
  await ann.keyboard.press("Shift+M");
  await expect(ann.locator(".cell")).toHaveCount(1);
  await expect(panel(ann).getByRole("button", { name: "Cell 1" })).toBeInViewport();
  await panel(ann).getByRole("button", { name: "Cell 1" }).click();
  await expect(ann.locator(".cm-content .commented")).toHaveText("2");
});

test("axe: comments, also while people are chosen from", async ({ browser, server }) => {
  const [ann] = await two(browser, server, "editor", "Di");
  await ann.keyboard.press("Escape");
  await begin(ann);
  await ann.keyboard.insertText("For all to see");
  await ann.keyboard.press("Control+Enter");
  await expect(panel(ann).locator(".comment strong").first()).toHaveText("You");
  await panel(ann).getByRole("textbox", { name: "Reply" }).click();
  await ann.keyboard.insertText("@");
  await ann.getByRole("option", { name: "Di" }).waitFor();
  for (const look of LOOKS) {
    await ann.setViewportSize({ width: look.width, height: 800 });
    await ann.emulateMedia({ colorScheme: look.colorScheme, reducedMotion: "reduce" });
    const { violations } = await new AxeBuilder({ page: ann }).exclude("iframe").analyze();
    expect(
      violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 160)).join(" | ")}`),
      look.name,
    ).toEqual([]);
    const wide = await ann.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    expect(wide, "nothing sticks out").toBeLessThanOrEqual(0);
  }
});

test("threads stand at the height of their cells, also when cells grow, and below one another", async ({ browser, server }) => {
  const ann = await person(browser, server);
  const text = (id: string, lines: number) => ({ id, cell_type: "code", source: Array(lines).fill(`${id} = 1`).join("\n") });
  const cells = [text("a", 3), text("b", 30), text("c", 3)].map((cell) => ({ ...cell, metadata: {}, outputs: [] }));
  await bringIn(ann, { nbformat: 4, nbformat_minor: 5, metadata: {}, cells }, "margin.ipynb");
  const threads = panel(ann).locator(".thread");
  for (const [at, words] of ["First", "Second", "Third"].entries()) {
    await ann.locator(".cell").nth(at).focus();
    await begin(ann);
    await ann.keyboard.insertText(words);
    await ann.keyboard.press("Control+Enter");
    await expect(threads).toHaveCount(at + 1);
    await expect(threads.nth(at)).toContainText(words);
  }
  const top = async (locator: ReturnType<Page["locator"]>) => Math.round((await locator.boundingBox())?.y ?? 0);
  const sources = ann.locator(".cell .source");
  // The last written thread is the current one and is aligned with its cell. The second is less than a thread below its cell: the
  // first stands wholly below the head.
  await expect.poll(async () => (await top(threads.nth(2))) - (await top(sources.nth(2)))).toBe(0);
  await expect.poll(async () => (await top(threads.nth(1))) - (await top(sources.nth(1)))).toBeLessThanOrEqual(190);
  const boxes = await threads.evaluateAll((all) => all.map((each) => each.getBoundingClientRect()));
  for (const [at, box] of boxes.entries()) expect(box.top, "none over another").toBeGreaterThan(boxes[at - 1]?.bottom ?? -Infinity);

  // Threads move with their cells, when the page scrolls and when a cell above grows.
  const before = await top(sources.nth(2));
  await sources.nth(1).click();
  await ann.locator(".editing .cm-focused").waitFor();
  await ann.keyboard.press("Control+End");
  await ann.keyboard.insertText("\nmore = 1".repeat(10));
  await expect.poll(() => top(sources.nth(2))).not.toBe(before);
  await expect.poll(async () => (await top(threads.nth(2))) - (await top(sources.nth(2)))).toBe(0);
  await panel(ann).getByRole("button", { name: "Cell 2" }).click();
  // On a phone the threads are a list.
  await ann.setViewportSize({ width: 360, height: 760 });
  await expect.poll(async () => (await top(threads.nth(1))) - (await top(threads.nth(0)))).toBeLessThan(260);
});

test("guests cannot be mentioned, and the list says so", async ({ browser, server }) => {
  const [ann] = await two(browser, server, "commenter", "Zora Bell");
  const made = await server.send("POST", `/api/notebooks/${notebookOf(ann)}/share-links`, { role: "commenter", label: "Zoë" });
  const { token } = (await made.json()) as { token: string };
  const guest = await (await fresh(browser)).newPage();
  await guest.goto(`${server.url}/#token=${token}&notebook=${notebookOf(ann)}`);
  await expect(guest.locator(".cell").first()).toContainText("total");
  await ann.locator(".cell").first().focus();
  await begin(ann);
  await ann.keyboard.type("Ask @Zo");
  await expect(ann.getByRole("option", { name: "Zora Bell" })).toBeInViewport();
  await expect(ann.getByText("Guests can’t be mentioned: Zoë")).toBeInViewport();
  await ann.keyboard.type("ë");
  await expect(ann.getByRole("option", { name: "Zora Bell" })).toHaveCount(0);
  await expect(ann.getByText("Guests can’t be mentioned: Zoë")).toBeInViewport();
  await ann.keyboard.press("Control+Enter");
  await expect(panel(ann).getByRole("article").first()).toContainText("Ask @Zoë");
  await expect(ann.getByText("Guests can’t be mentioned: Zoë")).toHaveCount(0);
  await ann.context().close();
});
