// The notebook's layout with classic scrollbars: nothing overlaps, is cut without need, or moves when something opens.
import { type Page, chromium } from "@playwright/test";
import { notebook, python } from "./cells.ts";
import { bringIn } from "./demo.ts";
import { expect, fresh, person, saved, test } from "./server.ts";

const boxOf = async (page: Page, selector: string) => {
  const box = await page.locator(selector).first().boundingBox();
  if (!box) throw new Error(`${selector} is not shown`);
  return { ...box, right: box.x + box.width, bottom: box.y + box.height };
};

type Box = Awaited<ReturnType<typeof boxOf>>;

const meet = (one: Box, other: Box) => one.x < other.right && other.x < one.right && one.y < other.bottom && other.y < one.bottom;

/** Boxes of the lines of an element's text. */
const linesOf = (page: Page, selector: string): Promise<Box[]> =>
  page
    .locator(selector)
    .first()
    .evaluate((element) => {
      const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
      const boxes = [];
      for (let node = walker.nextNode(); node; node = walker.nextNode()) {
        const range = document.createRange();
        range.selectNodeContents(node);
        boxes.push(...range.getClientRects());
      }
      return boxes.map(({ x, y, width, height, right, bottom }) => ({ x, y, width, height, right, bottom }));
    });

const overflow = (page: Page) => page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);

test("opening a dialog or the assistant's panel and a dialog moves no cell", async ({ server }) => {
  const use = test.info().project.use.launchOptions;
  const browser = await chromium.launch({ ...use, ignoreDefaultArgs: ["--hide-scrollbars"] });
  try {
    const page = await person(browser, server);
    await page.setViewportSize({ width: 1440, height: 700 });
    const lines = Array.from({ length: 60 }, (_, line) => `value_${line} = ${line}`).join("\n");
    await bringIn(page, notebook(python("long", lines)), "long.ipynb");
    await saved(page);
    for (const panel of [false, true]) {
      if (panel) await page.getByRole("button", { name: "Assistant", exact: true }).click();
      if (panel) await expect(page.locator(".assistant-panel")).toBeInViewport();
      const before = await boxOf(page, ".cell .source");
      await page.getByRole("button", { name: "Share", exact: true }).click();
      await expect(page.getByRole("dialog", { name: /^Share/ })).toBeInViewport();
      expect(await boxOf(page, ".cell .source")).toEqual(before);
      await page.keyboard.press("Escape");
      await expect(page.getByRole("dialog", { name: /^Share/ })).toHaveCount(0);
      expect(await boxOf(page, ".cell .source")).toEqual(before);
    }
  } finally {
    await browser.close();
  }
});

test("a guest's tag shows the role; a state stands beside the output's tools; a crashed kernel fits the bar", async ({
  browser,
  server,
}) => {
  const ann = await person(browser, server);
  await bringIn(ann, notebook(python("say", 'print("said")'), python("crash", "import os\nos._exit(3)")), "states.ipynb");
  await saved(ann);
  await ann.locator(".cell .source").first().click();
  await ann.keyboard.press("Control+Enter");
  await expect(ann.locator(".cell").first().locator(".outputs")).toContainText("said", { timeout: 90_000 });
  await ann.locator(".cell .source").first().click();
  await ann.keyboard.press("Control+End");
  await ann.keyboard.type("  # more");
  const chip = ann.locator(".cell").first().locator(".state.chip");
  await expect(chip).toContainText("Edited since last run");
  await ann.locator(".cell").first().locator(".output").first().hover();
  const [words, tools] = [await boxOf(ann, ".state.chip > *"), await boxOf(ann, ".output > .tools")];
  expect(words.right).toBeLessThanOrEqual(tools.x);
  await ann.keyboard.press("Escape");

  await ann.getByRole("button", { name: "Share", exact: true }).click();
  await ann.getByLabel("Guest name").click();
  await ann.keyboard.type("Bob of the harbour");
  await ann.getByLabel("Role for the link").selectOption({ label: "Can run" });
  await ann.getByRole("button", { name: "New link" }).click();
  const link = await ann.locator(".share input[readonly]").last().inputValue();
  await ann.keyboard.press("Escape");
  const bob = await (await fresh(browser)).newPage();
  await bob.setViewportSize({ width: 1024, height: 768 });
  await bob.goto(link);
  await saved(bob);
  const tag = bob.getByRole("button", { name: "Guest “Bob of the harbour”: Can run" });
  await expect(tag).toBeInViewport();
  expect(await tag.evaluate((element) => element.scrollWidth <= element.clientWidth)).toBe(true);

  await ann.locator(".cell .source").nth(1).click();
  await ann.keyboard.press("Control+Enter");
  await expect(bob.locator(".notices")).toContainText("The kernel crashed (exit code 3)", { timeout: 90_000 });
  expect(await overflow(bob)).toBe(0);
  await expect(bob.getByRole("button", { name: "All commands" })).toBeInViewport({ ratio: 1 });
  await bob.context().setOffline(true);
  await expect(bob.locator(".connection")).toContainText("retrying in", { timeout: 30_000 });
  // In one look: the seconds until the next attempt change the widths.
  const [title, role, state] = await bob.evaluate(() => {
    const boxes = [".title input", ".title > .tag", ".connection"].map((selector) =>
      document.querySelector(selector)?.getBoundingClientRect().toJSON(),
    );
    return boxes as [DOMRect, DOMRect, DOMRect];
  });
  expect(title.right).toBeLessThanOrEqual(role.x);
  expect(role.right).toBeLessThanOrEqual(state.x);
  expect(title.width).toBeGreaterThanOrEqual(100);
  expect(await overflow(bob)).toBe(0);
  await bob.setViewportSize({ width: 390, height: 844 });
  expect(await overflow(bob)).toBe(0);
  await expect(bob.locator(".connection .more")).toBeHidden();
});

const failure = (evalue: string) => ({ output_type: "error", ename: "ValueError", evalue, traceback: [] });

test("an output's tools cover no word of an error; on a phone they move nothing and cover no output", async ({
  browser,
  server,
}) => {
  const page = await person(browser, server);
  const said = { output_type: "stream", name: "stdout", text: "said\n" };
  const long = "the value of this column is not a number that anybody here could use for the mean ".repeat(3);
  const cells = ["one", "two", "three"].map((id) => ({ ...python(id, `print("${id}")\nprint(2)`), outputs: [said] }));
  await bringIn(page, notebook({ ...python("bad", "mean()"), outputs: [failure(long)] }, ...cells), "tools.ipynb");
  await saved(page);
  await page.locator("#cell-bad .failure").hover();
  const tools = await boxOf(page, "#cell-bad .output > .tools");
  const words = await linesOf(page, "#cell-bad .failure .message");
  expect(words.length).toBeGreaterThan(1);
  for (const line of words) expect(meet(line, tools)).toBe(false);
  // The error of an earlier text is dimmed.
  const colour = () => page.locator("#cell-bad .failure .message").evaluate((element) => getComputedStyle(element).color);
  const before = await colour();
  await page.locator("#cell-bad .source").click();
  await page.locator(".editing .cm-focused").waitFor();
  await page.keyboard.type("x");
  await expect(page.locator("#cell-bad .outputs.old")).toBeInViewport();
  expect(await colour()).not.toBe(before);
  await page.keyboard.press("Escape");

  await page.setViewportSize({ width: 390, height: 844 });
  const places = () => page.locator(".cell .output").evaluateAll((all) => all.map((each) => each.getBoundingClientRect().toJSON()));
  await page.locator("#cell-one").focus();
  await page.evaluate(() => scrollTo(0, 0));
  const still = await places();
  for (const id of ["one", "two", "three"]) {
    await page.locator(`#cell-${id} .output pre`).click();
    const copy = page.locator(`#cell-${id}`).getByRole("button", { name: "Copy output" });
    await expect(copy).toBeInViewport({ ratio: 1 });
    await expect(copy.locator("..")).toHaveCSS("opacity", "1");
    const box = await boxOf(page, `#cell-${id} .output > .tools .button`);
    expect(Math.min(box.width, box.height)).toBeGreaterThanOrEqual(44);
    expect(box.bottom).toBeLessThanOrEqual((await boxOf(page, `#cell-${id} .output pre`)).y);
    expect(await places()).toEqual(still);
  }
  await expect(page.locator("#cell-one .output > .tools")).toHaveCSS("opacity", "0");
  await page.context().close();
});

test("while a run asks for input, its state covers no field, and a guest's bar on a phone has two lines", async ({
  browser,
  server,
}) => {
  const ann = await person(browser, server);
  const cells = [python("asks", "print(input('name? '))"), ...["b", "c", "d"].map((id) => python(id, "1"))];
  await bringIn(ann, notebook(...cells), "asks.ipynb");
  await saved(ann);
  const notebookId = /n\/([^/?]+)/.exec(ann.url())?.[1] ?? "";
  const guests = [];
  for (const role of ["viewer", "editor"]) {
    const made = await server.send("POST", `/api/notebooks/${notebookId}/share-links`, { role, label: `Guest of the ${role}s` });
    const { token } = (await made.json()) as { token: string };
    const guest = await (await fresh(browser)).newPage();
    await guest.setViewportSize({ width: 390, height: 844 });
    await guest.goto(`${server.url}/#token=${token}&notebook=${notebookId}`);
    await guest.locator(".cell").first().waitFor();
    guests.push(guest);
  }
  await ann.getByRole("button", { name: "Run all" }).click();
  await expect(ann.locator("#cell-asks .input input")).toBeInViewport({ timeout: 90_000 });
  const chip = await boxOf(ann, "#cell-asks .state.chip > *");
  await expect(ann.locator("#cell-asks .state.chip")).toHaveText("Waiting for input");
  expect(meet(chip, await boxOf(ann, "#cell-asks .input input"))).toBe(false);
  expect(meet(chip, await boxOf(ann, "#cell-asks .input .button"))).toBe(false);
  for (const guest of guests) {
    await expect(guest.locator(".progress")).toBeInViewport({ ratio: 1 });
    await expect(guest.getByRole("button", { name: "All commands" })).toBeInViewport({ ratio: 1 });
    expect((await boxOf(guest, ".bar")).height, "two lines of 44 px").toBeLessThan(130);
    expect(await overflow(guest)).toBe(0);
  }
  await Promise.all([ann, ...guests].map((page) => page.context().close()));
});
