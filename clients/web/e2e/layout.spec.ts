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
  await bob.setViewportSize({ width: 390, height: 844 });
  expect(await overflow(bob)).toBe(0);
  await bob.context().setOffline(true);
  await expect(bob.locator(".connection")).toContainText("retrying in", { timeout: 30_000 });
  await expect(bob.locator(".connection .more")).toBeHidden();
});
