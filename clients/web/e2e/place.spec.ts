// Tests of the scroll position: what one works in stays in sight, also after a reload.
import type { Page } from "@playwright/test";
import { notebook, python } from "./cells.ts";
import { bringIn } from "./demo.ts";
import { notebookOf, record, recorded } from "./record.ts";
import { expect, person, saved, test } from "./server.ts";

const topOf = async (page: Page, cell: string) => (await page.locator(`#cell-${cell}`).boundingBox())?.y ?? NaN;

test("@smoke the selected cell stays in sight while an output above it grows, and so does the caret", async ({
  browser,
  server,
}) => {
  const page = await person(browser, server);
  await page.setViewportSize({ width: 1280, height: 480 });
  const grows = "import time\nfor line in range(30):\n    print(line)\n    time.sleep(0.02)";
  const after = Array.from({ length: 6 }, (_, at) => python(`more${at}`, `m_${at} = ${at}\n\n\n\n\n`));
  await bringIn(page, notebook(python("grows", grows), python("here", "value = 1"), ...after), "Grows.ipynb");
  await page.locator("#cell-grows .source").click();
  await page.keyboard.press("Shift+Enter");
  const here = page.locator("#cell-here");
  await expect(here).toHaveClass(/current/);
  await expect(page.locator("#cell-grows .outputs")).toContainText("29", { timeout: 90_000 });
  expect(await page.locator("#cell-grows").evaluate((cell) => cell.clientHeight)).toBeGreaterThan(480);
  await expect(here).toBeInViewport({ ratio: 1 });
  await expect(here).toBeFocused();
  // While one types, the same.
  await page.keyboard.press("Enter");
  await page.locator(".editing .cm-focused").waitFor();
  await page.keyboard.press("Control+End");
  const before = await topOf(page, "here");
  await server.send("POST", `/api/notebooks/${notebookOf(page)}/runs`, { cells: ["grows"] });
  await expect(page.locator("#cell-grows.is-running")).toHaveCount(1);
  await page.keyboard.type(" + 1");
  await expect(page.locator("#cell-grows.is-ok")).toHaveCount(1, { timeout: 60_000 });
  await expect(page.locator("#cell-grows .outputs")).toContainText("29");
  await expect(page.locator("#cell-here .cm-cursor-primary")).toBeInViewport();
  expect(Math.abs((await topOf(page, "here")) - before)).toBeLessThan(480);
  // A person who has scrolled away from it reads on where they are.
  await page.keyboard.press("Escape");
  await page.mouse.move(640, 300);
  await page.mouse.wheel(0, 600);
  await expect(here).not.toBeInViewport();
  const read = await topOf(page, "more4");
  await server.send("POST", `/api/notebooks/${notebookOf(page)}/cells`, {
    cell_type: "raw",
    source: "x\n".repeat(20),
    place: "start",
  });
  await expect(page.locator(".cell.raw")).toHaveCount(1);
  await expect.poll(async () => Math.abs((await topOf(page, "more4")) - read)).toBeLessThanOrEqual(2);
  await saved(page);
  expect((await record(server, page)).find(({ id }) => id === "here")?.source).toBe("value = 1 + 1");
});

test("after a reload the page stands where it was, with its cell; kept text is put into its cell in sight", async ({
  browser,
  server,
}) => {
  const page = await person(browser, server);
  const cells = Array.from({ length: 80 }, (_, at) => python(`c${at}`, `value_${at} = ${at}\nother_${at} = ${at}`));
  await bringIn(page, notebook(...cells), "Long.ipynb");
  await page.locator("#cell-c55").scrollIntoViewIfNeeded();
  await page.locator("#cell-c55 .source").click();
  await page.keyboard.press("Escape");
  await saved(page);
  const before = await topOf(page, "c55");
  await page.reload();
  await expect(page.locator("#cell-c55")).toBeInViewport({ ratio: 1 });
  await expect.poll(async () => Math.abs((await topOf(page, "c55")) - before)).toBeLessThanOrEqual(3);
  await expect(page.locator("#cell-c55")).toBeFocused();
  await page.keyboard.press("ArrowDown");
  await expect(page.locator("#cell-c56")).toBeFocused();
  // A link to a cell leads there, not to the place of the last visit.
  await page.goto(`${server.url}/#/n/${notebookOf(page)}/c5`);
  await page.reload();
  await expect(page.locator("#cell-c5")).toBeInViewport();
  await expect(page.locator("#cell-c5")).toHaveClass(/current/);

  await page.evaluate(
    ([id]) => localStorage.setItem(`notarium.drafts.${id}`, JSON.stringify([{ cell: "c70", text: "kept = 1" }])),
    [notebookOf(page)],
  );
  await page.reload();
  await page.locator(".toast", { hasText: "kept = 1" }).getByRole("button", { name: "Insert into cell" }).click();
  const cell = page.locator("#cell-c70");
  await expect(cell).toBeInViewport({ ratio: 1 });
  await expect(cell.locator(".cm-content")).toBeFocused();
  await page.keyboard.type("2");
  await saved(page);
  await recorded(server, page, ...cells.map((_, at) => (at === 70 ? "kept = 12" : `value_${at} = ${at}\nother_${at} = ${at}`)));
});
