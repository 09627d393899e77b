// Pictures of README.md and frames of its recording: `make pictures`. Not tests; skipped by default.
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { type Browser, type Page } from "@playwright/test";
import { bringIn } from "./demo.ts";
import { ask, asksBeforeDeleting, settled } from "./scenes.ts";
import { type TestServer, expect, fresh, person, saved, test, write } from "./server.ts";

const HERE = new URL("../pictures/", import.meta.url).pathname;
const FRAMES = new URL("../test-results/frames/", import.meta.url).pathname;

test.skip(!process.env.NOTARIUM_PICTURES, "make pictures");
test.use({ trace: "off" });
test.setTimeout(240_000);

async function open(browser: Browser, server: TestServer, height = 800): Promise<Page> {
  const page = await person(browser, server);
  await page.setViewportSize({ width: 1280, height });
  await bringIn(page);
  await expect(page.locator(".sheet")).toBeVisible();
  await expect(page.frameLocator("iframe.frame").locator("canvas, svg").first()).toBeVisible({ timeout: 30_000 });
  await saved(page);
  return page;
}

async function shoot(page: Page, name: string): Promise<void> {
  await settled(page);
  await page.mouse.move(640, 2);
  await page.screenshot({ path: `${HERE}${name}.png` });
}

/** Opens the notebook for a guest with a link. */
async function guest(browser: Browser, page: Page, name: string): Promise<Page> {
  await page.getByRole("button", { name: "Share", exact: true }).click();
  await page.getByLabel("Guest name").fill(name);
  await page.getByLabel("Role for the link").selectOption("editor");
  await page.getByRole("button", { name: "New link" }).click();
  const link = await page.getByLabel("Link to copy").inputValue();
  await page.getByRole("button", { name: "Done" }).click();
  const other = await (await fresh(browser)).newPage();
  await other.goto(link);
  await other.locator(".cell").first().waitFor();
  return other;
}

test("a notebook with company", async ({ browser, server }) => {
  const page = await open(browser, server, 960);
  const bo = await guest(browser, page, "Bo");
  await bo.locator(".cell.code .source").nth(1).click();
  await bo.locator(".editing .cm-focused").waitFor();
  await bo.keyboard.press("Control+End");
  await expect(page.locator(".peer-caret")).toBeVisible();
  await page.locator(".cell").first().focus();
  await page.evaluate(() => scrollTo(0, 0));
  await shoot(page, "notebook");
  await bo.context().close();
  await page.context().close();
});

test("the assistant asks before it deletes", async ({ browser, server }) => {
  asksBeforeDeleting(server);
  const page = await open(browser, server);
  await page.emulateMedia({ colorScheme: "dark" });
  await ask(page, "tidy this up, please");
  await page.locator(".confirmation .effect").waitFor();
  await page.getByRole("button", { name: "Show changes" }).click();
  await page.locator(".cell-review ins").first().waitFor();
  await page.locator(".cell-review").scrollIntoViewIfNeeded();
  await shoot(page, "assistant");
  await page.context().close();
});

test("back in time", async ({ browser, server }) => {
  const page = await open(browser, server);
  await page.locator(".cell.code .source").nth(2).click();
  await page.locator(".editing .cm-focused").waitFor();
  await page.keyboard.press("Control+Home");
  await page.keyboard.insertText("# the mean of each station\n");
  await page.keyboard.press("Escape");
  await page.locator(".cell").last().click();
  await page.keyboard.press("Escape");
  await page.keyboard.press("d");
  await page.keyboard.press("d");
  await page.locator(".toast").getByRole("button", { name: "Dismiss" }).click();
  await saved(page);
  await page.getByRole("button", { name: "History", exact: true }).click();
  await page.locator(".steps .step").last().click();
  await page.locator(".past").waitFor();
  await page.getByLabel("Compare with").selectOption("now");
  await page.locator(".past ins, .past del").first().scrollIntoViewIfNeeded();
  await shoot(page, "history");
  await page.context().close();
});

/** Records frames as the browser paints them, with their times. Returns a function that ends the recording. */
async function record(page: Page): Promise<() => Promise<void>> {
  rmSync(FRAMES, { recursive: true, force: true });
  mkdirSync(FRAMES, { recursive: true });
  const session = await page.context().newCDPSession(page);
  const times: number[] = [];
  session.on("Page.screencastFrame", ({ data, metadata, sessionId }) => {
    writeFileSync(`${FRAMES}${String(times.length).padStart(4, "0")}.png`, Buffer.from(data, "base64"));
    times.push(metadata.timestamp ?? Date.now() / 1_000);
    void session.send("Page.screencastFrameAck", { sessionId }).catch(() => undefined);
  });
  await session.send("Page.startScreencast", { format: "png", maxWidth: 960, maxHeight: 600 });
  return async () => {
    await session.send("Page.stopScreencast");
    writeFileSync(`${FRAMES}times.json`, JSON.stringify(times));
  };
}

test("the recording: from an empty notebook to an undone turn", async ({ browser, server }) => {
  server.model.script = ({ results }) => {
    if (results.length === 0) return { text: "I look first.", calls: [{ name: "get_notebook_state", arguments: {} }] };
    if (results.length > 1) return { text: "The first cell is gone." };
    const [cell] = (JSON.parse(results[0] ?? "{}") as { cells: { cell_id: string; version: number }[] }).cells;
    return { calls: [{ name: "delete_cell", arguments: { cell_id: cell?.cell_id, cell_version: cell?.version } }] };
  };
  const page = await person(browser, server);
  await page.setViewportSize({ width: 1120, height: 700 });
  await page.getByRole("button", { name: "New notebook" }).click();
  await write(page, "");
  const stop = await record(page);
  const typed = { delay: 35 };
  await page.keyboard.type("primes = [n for n in range(2, 60) if all(n % d for d in range(2, n))]", typed);
  await page.keyboard.press("Alt+Enter");
  await page.keyboard.type("for p in primes[:8]:\nprint(p, '#' * p)", typed);
  await page.keyboard.press("Control+Enter");
  await expect(page.locator(".outputs")).toContainText("19 ###", { timeout: 60_000 });
  await page.waitForTimeout(1_200);
  await page.getByRole("button", { name: "Assistant", exact: true }).click();
  await page.getByLabel("Message to the assistant").pressSequentially("delete the first cell", typed);
  await page.keyboard.press("Enter");
  await page.locator(".confirmation .effect").waitFor();
  await page.waitForTimeout(1_800);
  await page.locator(".confirmation").getByRole("button", { name: "Delete cell" }).click();
  await expect(page.locator(".cell")).toHaveCount(1);
  await page.waitForTimeout(1_500);
  await page.getByRole("button", { name: "Undo this turn" }).click();
  await expect(page.locator(".cell")).toHaveCount(2);
  await page.waitForTimeout(1_800);
  await stop();
  await page.context().close();
});
