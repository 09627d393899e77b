// Tests of the focus: letters go into the field that was opened, back on closing, and nowhere while the focused part is gone.
import type { Browser, Page } from "@playwright/test";
import { notebookOf, record, recorded } from "./record.ts";
import { type TestServer, expect, fresh, person, saved, test } from "./server.ts";

/** Creates a notebook with these cells. */
async function begun(page: Page, ...sources: string[]): Promise<void> {
  await page.getByRole("button", { name: "New notebook" }).click();
  await expect(page.locator(".editing .cm-content")).toBeFocused();
  for (const [index, source] of sources.entries()) {
    if (index > 0) {
      await page.keyboard.press("Escape");
      await page.keyboard.press("b");
      await expect(page.locator(".cell").nth(index)).toHaveClass(/current/);
      await page.keyboard.press("Enter");
      await expect(page.locator(".cell").nth(index).locator(".cm-content")).toBeFocused();
    }
    await page.keyboard.insertText(source);
  }
  await saved(page);
}

/** Opens the notebook for another person. */
async function joined(browser: Browser, server: TestServer, page: Page, name = "Bo"): Promise<Page> {
  const { id, token } = await server.account(name);
  await server.send("PUT", `/api/notebooks/${notebookOf(page)}/access`, { subject: { kind: "user", id }, role: "editor" });
  const other = await (await fresh(browser)).newPage();
  await other.goto(`${server.url}/#token=${token}`);
  await expect(other.getByRole("button", { name: "New notebook" })).toBeInViewport();
  await other.goto(page.url());
  await other.locator(".cell").first().waitFor();
  return other;
}

const caretIsIn = (page: Page, cell: number) => expect(page.locator(".cell").nth(cell).locator(".cm-content")).toBeFocused();

test("@smoke find from an editor has its field, at once and again, and leads back to the caret", async ({ browser, server }) => {
  const page = await person(browser, server);
  await begun(page, "one = 1", "two = 2");
  // Type without a pause: letters must wait for the field.
  await page.keyboard.press("Control+f");
  await page.keyboard.type("zebra");
  const field = page.getByLabel("Find", { exact: true });
  await expect(field).toBeFocused();
  await expect(field).toHaveValue("zebra");
  await expect(field).toBeInViewport();
  await page.keyboard.press("Escape");
  await caretIsIn(page, 1);
  await page.keyboard.type("x");
  await page.keyboard.press("Control+f");
  await page.keyboard.type("one");
  await expect(page.getByRole("search").getByRole("status")).toHaveText("1 of 1");
  // The same keys in a cell focus the open panel again.
  await page.locator(".cell .source").nth(1).click();
  await caretIsIn(page, 1);
  await page.keyboard.press("Control+f");
  await page.keyboard.type("mdd");
  await expect(field).toBeFocused();
  await expect(field).toHaveValue(/mdd$/);
  await page.keyboard.press("Escape");
  await recorded(server, page, "one = 1", "two = 2x");
  expect((await record(server, page)).map(({ cell_type }) => cell_type)).toEqual(["code", "code"]);
});

test("@smoke who types in a cell that others delete loses no word, and no word is a command", async ({ browser, server }) => {
  const ann = await person(browser, server);
  await begun(ann, "first = 1", "second = 2", "third = 3");
  const bo = await joined(browser, server, ann);
  await ann.locator(".cell .source").nth(1).click();
  await caretIsIn(ann, 1);
  await ann.keyboard.press("Control+End");
  await ann.keyboard.type("  # a sentence that ");
  await saved(ann);
  await bo.locator(".cell").nth(1).focus();
  await bo.keyboard.press("d");
  await bo.keyboard.press("d");
  await expect(ann.locator(".cell")).toHaveCount(2);
  await ann.keyboard.type("dd added my words\nb x\n");
  const toast = ann.locator(".toast", { hasText: "Bo deleted the cell you were editing" });
  await expect(toast).toBeInViewport();
  await expect(toast.locator("pre")).toHaveText("second = 2  # a sentence that dd added my words\nb x\n");
  await recorded(server, ann, "first = 1", "third = 3");
  await toast.getByRole("button", { name: "Restore" }).click();
  await recorded(server, ann, "first = 1", "second = 2  # a sentence that dd added my words\nb x\n", "third = 3");
  await caretIsIn(ann, 1);
  // Also in command mode: the second d was meant for a deleted cell.
  await ann.keyboard.press("Escape");
  await ann.keyboard.press("ArrowDown");
  await expect(ann.locator(".cell").nth(2)).toBeFocused();
  await bo.locator(".cell").nth(2).focus();
  await bo.keyboard.press("d");
  await bo.keyboard.press("d");
  await expect(ann.locator(".cell")).toHaveCount(2);
  await ann.keyboard.type("dd");
  await expect(ann.locator(".toast", { hasText: "Keys are paused" })).toBeInViewport();
  await ann.keyboard.press("ArrowUp");
  await ann.keyboard.press("m");
  await expect.poll(async () => (await record(server, ann)).filter((cell) => cell.cell_type === "markdown").length).toBe(1);
  expect(await record(server, ann)).toHaveLength(2);
});

test("what is opened gives the focus back; a field that others close keeps its text", async ({ browser, server }) => {
  const ann = await person(browser, server);
  await begun(ann, "value = 1");
  for (const [open, dialog] of [
    ["Control+Shift+P", "All commands"],
    ["Control+,", "Settings"],
  ] as const) {
    await ann.keyboard.press(open);
    await expect(ann.getByRole("dialog", { name: dialog })).toBeInViewport();
    await ann.keyboard.press("Escape");
    await expect(ann.getByRole("dialog")).toHaveCount(0);
    await caretIsIn(ann, 0);
    await ann.keyboard.type("+");
  }
  await ann.getByRole("button", { name: "Share" }).click();
  await expect(ann.getByRole("dialog")).toBeInViewport();
  await ann.keyboard.press("Escape");
  await expect(ann.getByRole("dialog")).toHaveCount(0);
  await ann.keyboard.type("1");
  await recorded(server, ann, "value = 1++1");

  const bo = await joined(browser, server, ann, "Cy");
  await ann.keyboard.press("Control+Alt+m");
  await ann.keyboard.type("why?");
  await expect(ann.getByLabel("Comment", { exact: true })).toHaveValue("why?");
  await ann.keyboard.press("Control+Enter");
  await expect(bo.getByRole("button", { name: /Comments: 1 new/ })).toBeInViewport();
  await ann.locator(".thread textarea").click();
  await ann.keyboard.type("half an answ");
  await bo.locator(".cell").first().focus();
  await bo.keyboard.press("d");
  await bo.keyboard.press("d");
  await expect(ann.locator(".cell")).toHaveCount(0);
  await ann.keyboard.type("er\nb");
  const toast = ann.locator(".toast", { hasText: "half an answ" });
  await expect(toast).toBeInViewport();
  await expect(toast.locator("pre")).toHaveText("half an answer\nb");
  await recorded(server, ann);
});

test("keys lead to the assistant's field and back", async ({ browser, server }) => {
  const page = await person(browser, server);
  await begun(page, "value = 1");
  await page.keyboard.press("Control+Shift+A");
  await page.keyboard.type("dd what");
  const field = page.getByLabel("Message to the assistant");
  await expect(field).toBeFocused();
  await expect(field).toHaveValue("dd what");
  await page.locator(".cell .source").click();
  await page.keyboard.press("Control+Shift+A");
  await expect(field).toBeFocused();
  await page.keyboard.press("Control+Shift+A");
  await expect(field).toHaveCount(0);
  await caretIsIn(page, 0);
  await recorded(server, page, "value = 1");
});

test("a cell that others move or give another type keeps the caret; a lowered role ends the writing alone", async ({
  browser,
  server,
}) => {
  const ann = await person(browser, server);
  await begun(ann, "first", "second", "third");
  const bo = await joined(browser, server, ann, "Di");
  // Ann moves the cell in which Di types, and changes it to text.
  await bo.locator(".cell .source").nth(1).click();
  await caretIsIn(bo, 1);
  await bo.keyboard.press("End");
  await bo.keyboard.type(" one");
  await saved(bo);
  await ann.keyboard.press("Escape");
  await ann.keyboard.press("ArrowUp");
  await ann.keyboard.press("Alt+ArrowUp");
  await expect(bo.locator(".cell").first()).toHaveClass(/editing/);
  await bo.keyboard.type(" two");
  await recorded(server, ann, "second one two", "first", "third");
  await ann.keyboard.press("m");
  await expect(bo.locator(".cell.markdown.editing")).toHaveCount(1);
  await bo.keyboard.type(" three");
  await recorded(server, ann, "second one two three", "first", "third");
  const access = (await (await server.send("GET", `/api/notebooks/${notebookOf(ann)}`)).json()) as {
    notebook: { access: { subject: { kind: string; id: string }; role: string }[] };
  };
  const subject = access.notebook.access.find(({ role }) => role === "editor")?.subject;
  await server.send("PUT", `/api/notebooks/${notebookOf(ann)}/access`, { subject, role: "viewer" });
  await expect(bo.locator(".bar")).toContainText("Can view");
  await bo.keyboard.type(" four dd b");
  await expect(bo.locator(".editing .cm-content")).toHaveText("second one two three");
  const toast = bo.locator(".toast", { hasText: "You can no longer edit this notebook. Your unsaved text:" });
  await expect(toast.locator("pre")).toHaveText("second one two three four dd b");
  await recorded(server, ann, "second one two three", "first", "third");
  await server.send("PUT", `/api/notebooks/${notebookOf(ann)}/access`, { subject, role: "editor" });
  const again = bo.locator(".toast", { hasText: "You can edit this notebook again. Your unsaved text:" });
  await again.getByRole("button", { name: "Insert into cell" }).click();
  await recorded(server, ann, "second one two three four dd b", "first", "third");
});

test("a command that is typed before the palette is there runs, Enter and all", async ({ browser, server }) => {
  const ann = await person(browser, server);
  await begun(ann, "value = 1");
  const keyboard = await ann.context().newCDPSession(ann);
  const [down, up] = ["rawKeyDown", "keyUp"] as const;
  const letters = [..."duplicate"].flatMap((text) => [
    { type: "keyDown" as const, key: text, text },
    { type: up, key: text },
  ]);
  const keys = [
    { type: down, key: "P", code: "KeyP", windowsVirtualKeyCode: 80, modifiers: 2 | 8 },
    { type: up, key: "P", code: "KeyP", modifiers: 2 | 8 },
    ...letters,
    { type: "keyDown" as const, key: "Enter", code: "Enter", text: "\r", windowsVirtualKeyCode: 13 },
    { type: up, key: "Enter", code: "Enter" },
  ];
  // Send all keys without waiting for the page.
  await Promise.all(keys.map((key) => keyboard.send("Input.dispatchKeyEvent", key)));
  await recorded(server, ann, "value = 1", "value = 1");
});

test("the palette keeps the keys when another person deletes the last cell", async ({ browser, server }) => {
  const ann = await person(browser, server);
  await begun(ann, "only = 1");
  const bo = await joined(browser, server, ann);
  await ann.keyboard.press("Control+Shift+P");
  const field = ann.getByLabel("Search commands");
  await expect(field).toBeFocused();
  await bo.locator(".cell").first().focus();
  await bo.keyboard.press("d");
  await bo.keyboard.press("d");
  await expect(ann.getByRole("button", { name: "Code", exact: true, includeHidden: true })).toBeAttached();
  // A space would press a button that had taken the focus.
  await ann.keyboard.type("a b c");
  await expect(field).toHaveValue("a b c");
  expect(await record(server, ann)).toEqual([]);
  await ann.keyboard.press("Escape");
  await ann.getByRole("button", { name: "Code", exact: true }).click();
  await recorded(server, ann, "");
});

test("letters for a field that does not open in time are offered, and are no commands", async ({ browser, server }) => {
  const page = await person(browser, server);
  // The code of the field never arrives.
  await page.route(/assets\/Find-.*\.js/, () => new Promise(() => undefined));
  await begun(page, "one = 1");
  await page.keyboard.press("Escape");
  await page.keyboard.press("Control+f");
  await page.keyboard.type("mdd b");
  const toast = page.locator(".toast", { hasText: "The field you opened isn’t there yet. Your text:" });
  await expect(toast).toBeInViewport();
  await expect(toast.locator("pre")).toHaveText("mdd b");
  await page.keyboard.type("dd");
  await expect(toast.locator("pre")).toHaveText("mdd bdd");
  await expect(toast.getByRole("button", { name: "Copy your text" })).toBeInViewport();
  // A click ends the holding back.
  await page.locator(".cell .source").click();
  await caretIsIn(page, 0);
  await page.keyboard.press("End");
  await page.keyboard.type("2");
  await recorded(server, page, "one = 12");
  expect((await record(server, page)).map(({ cell_type }) => cell_type)).toEqual(["code"]);
});

test("a restored cell has the caret where it was, behind what was typed meanwhile", async ({ browser, server }) => {
  const ann = await person(browser, server);
  await begun(ann, "first = 1", "total = price");
  const bo = await joined(browser, server, ann, "Ed");
  await ann.locator(".cell .source").nth(1).click();
  await caretIsIn(ann, 1);
  await ann.keyboard.press("Home");
  for (let step = 0; step < "total".length; step += 1) await ann.keyboard.press("ArrowRight");
  for (const [typed, whole] of [
    ["", "total = price"],
    ["_sum", "total_net_sum = price"],
  ] as const) {
    await bo.locator(".cell").nth(1).focus();
    await bo.getByRole("toolbar", { name: "Cell 2" }).getByRole("button", { name: "Delete cell" }).click();
    await expect(ann.locator(".cell")).toHaveCount(1);
    await ann.keyboard.type(typed);
    const toast = ann.locator(".toast", { hasText: "Ed deleted the cell you were editing" }).last();
    await expect(toast.locator("pre")).toHaveText(whole);
    await toast.getByRole("button", { name: "Restore" }).click();
    await caretIsIn(ann, 1);
    await recorded(server, ann, "first = 1", whole);
    await ann.keyboard.type("_net");
  }
  await recorded(server, ann, "first = 1", "total_net_sum_net = price");
});
