// Tests of notices while something is wrong: no connection, failed runs elsewhere, a failed part of the page.
import type { Page } from "@playwright/test";
import { notebook, python } from "./cells.ts";
import { bringIn } from "./demo.ts";
import { notebookOf, recorded } from "./record.ts";
import { expect, person, saved, test } from "./server.ts";

async function begun(page: Page): Promise<void> {
  await page.getByRole("button", { name: "New notebook" }).click();
  await expect(page.locator(".editing .cm-content")).toBeFocused();
}

/** Texts that a screen reader announces during an action, one for each change of a live region. */
async function saidDuring(page: Page, act: () => Promise<void>): Promise<string[]> {
  await page.evaluate(() => {
    const said: string[] = [];
    const live = "[role=status], [role=alert], [role=log], [aria-live=polite], [aria-live=assertive]";
    const look = new MutationObserver((changes) => {
      for (const { target } of changes) {
        const region = (target instanceof Element ? target : target.parentElement)?.closest(
          `${live}, [aria-live=off], [aria-hidden]`,
        );
        if (region?.matches(live) && !region.matches("[aria-live=off], [aria-hidden]")) said.push(region.textContent ?? "");
      }
    });
    look.observe(document.body, { subtree: true, childList: true, characterData: true });
    Object.assign(window, { said });
  });
  await act();
  return page.evaluate(() => (window as unknown as { said: string[] }).said);
}

test("@smoke offline is said within two seconds, with one countdown; no key is read aloud", async ({ browser, server }) => {
  const page = await person(browser, server);
  await begun(page);
  const connection = page.locator(".connection");
  const typing = await saidDuring(page, async () => {
    await page.keyboard.type("value = 1  # some more words", { delay: 20 });
    await saved(page);
  });
  expect(typing).toEqual([]);
  await page.context().setOffline(true);
  await expect(connection).toContainText("Offline", { timeout: 2_000 });
  await expect(connection).toBeInViewport();
  const words = await saidDuring(page, async () => {
    await page.keyboard.type(" while away", { delay: 20 });
    await expect(page.locator(".strip.warn")).toContainText("You can keep writing. 1 unsaved change");
  });
  expect(words.filter((each) => /\d/.test(each))).toEqual([]);
  expect((await page.locator(".top").innerText()).match(/retrying in \d+ s/gi)).toHaveLength(1);
  await page.context().setOffline(false);
  await saved(page);
  await recorded(server, page, "value = 1  # some more words while away");
});

test("a server that is there and does not answer is said to be silent", async ({ browser, server }) => {
  const page = await person(browser, server);
  let isHeld = false;
  const held: (() => void)[] = [];
  await page.routeWebSocket(/\/api\//, (socket) => {
    const far = socket.connectToServer();
    socket.onMessage((message) => far.send(message));
    far.onMessage((message) => (isHeld ? held.push(() => socket.send(message)) : socket.send(message)));
  });
  await page.reload();
  await begun(page);
  await page.keyboard.type("a = 1");
  await saved(page);
  isHeld = true;
  await page.keyboard.type("2");
  await expect(page.locator(".connection")).toContainText("No answer from the server · 1 unsaved change", { timeout: 2_500 });
  isHeld = false;
  for (const send of held) send();
  await saved(page);
  await recorded(server, page, "a = 12");
});

test("@smoke a run of all that fails elsewhere ends in a sign that leads there", async ({ browser, server }) => {
  const page = await person(browser, server);
  const long = Array.from({ length: 30 }, (_, line) => `line_${line} = ${line}`).join("\n");
  const sources = ["a = 1", "1 / 0", ...Array.from({ length: 5 }, (_, at) => `${long}\nb_${at} = ${at}`)];
  await bringIn(page, notebook(...sources.map((source, at) => python(`c${at}`, source))), "Fails.ipynb");
  await expect(page.locator(".cell")).toHaveCount(7);
  await page.locator(".cell").last().scrollIntoViewIfNeeded();
  await page.getByRole("button", { name: "Run all" }).click();
  const sign = page.getByRole("button", { name: "1 failed · 5 skipped" });
  await expect(sign).toBeInViewport({ timeout: 60_000 });
  await expect(page.locator("#cell-c1")).not.toBeInViewport();
  await sign.click();
  await expect(page.locator("#cell-c1")).toBeInViewport();
  await expect(page.locator("#cell-c1")).toHaveClass(/current/);
  // The notice disappears with the next run.
  await page.keyboard.press("ArrowUp");
  await page.keyboard.press("Control+Enter");
  await expect(sign).toHaveCount(0);
});

test("a part that fails says so alone, with details to copy, and is loaded again", async ({ browser, server }) => {
  const page = await person(browser, server);
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  await begun(page);
  await page.evaluate(() => {
    const own = Element.prototype.scrollTo;
    Element.prototype.scrollTo = () => {
      throw new Error("no scrolling today");
    };
    Object.assign(window, { mend: () => (Element.prototype.scrollTo = own) });
  });
  await page.keyboard.press("Control+Shift+A");
  const broken = page.locator(".broken");
  await expect(broken).toContainText("The assistant stopped working");
  await expect(broken).toBeInViewport();
  await broken.getByRole("button", { name: "Copy details" }).click();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toContain("no scrolling today");
  await page.locator(".cell .source").click();
  await page.keyboard.type("still = 1");
  await recorded(server, page, "still = 1");
  await page.evaluate(() => (window as unknown as { mend: () => void }).mend());
  await broken.getByRole("button", { name: "Reload this part" }).click();
  await expect(page.getByLabel("Message to the assistant")).toBeInViewport();
  await expect(broken).toHaveCount(0);
});

test("@smoke a run requested offline says that it waits, can be taken back, and runs once", async ({ browser, server }) => {
  const page = await person(browser, server);
  await bringIn(page, notebook(python("kept", "print('kept ran')"), python("back", "print('back ran')")), "Offline.ipynb");
  await saved(page);
  await page.context().setOffline(true);
  await expect(page.locator(".connection")).toContainText("Offline");
  const [kept, back] = [page.locator("#cell-kept"), page.locator("#cell-back")];
  await kept.locator(".source").click();
  await page.keyboard.press("Control+Enter");
  await page.keyboard.press("Control+Enter");
  await expect(kept.getByText("Waiting for the connection…")).toBeInViewport();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Control+Enter");
  await expect(back.getByText("Waiting for the connection…")).toBeInViewport();
  await page.keyboard.press("Escape");
  await expect(back.getByText("Waiting for the connection…")).toHaveCount(0);
  await page.keyboard.press("Control+Enter");
  await back.getByRole("button", { name: "Cancel" }).click();
  await expect(back.getByText("Waiting for the connection…")).toHaveCount(0);
  await expect(kept.getByText("Waiting for the connection…")).toBeInViewport();
  await page.context().setOffline(false);
  await expect(kept.locator(".outputs")).toContainText("kept ran", { timeout: 90_000 });
  await expect(page.getByText("Waiting for the connection…")).toHaveCount(0);
  const answer = await server.send("GET", `/api/notebooks/${notebookOf(page)}`);
  const { notebook: state } = (await answer.json()) as { notebook: { executions: Record<string, { subject: object }> } };
  expect(Object.values(state.executions).map(({ subject }) => subject)).toEqual([expect.objectContaining({ cell_id: "kept" })]);
});

test("the sign of failed runs counts every red cell, and leads to that of the last run first", async ({ browser, server }) => {
  const page = await person(browser, server);
  await bringIn(page, notebook(python("one", "1 / 0"), python("two", "2 / 0")), "Red.ipynb");
  for (const [cell, words] of [
    ["one", "1 failed"],
    ["two", "2 failed"],
  ] as const) {
    await page.locator(`#cell-${cell} .source`).click();
    await page.keyboard.press("Control+Enter");
    await expect(page.locator(`#cell-${cell} .failure`)).toBeInViewport({ timeout: 90_000 });
    await expect(page.getByRole("button", { name: words, exact: true })).toBeInViewport();
  }
  await page.locator("#cell-one").focus();
  await page.getByRole("button", { name: "2 failed" }).click();
  await expect(page.locator("#cell-two")).toHaveClass(/current/);
  await page.getByRole("button", { name: "2 failed" }).click();
  await expect(page.locator("#cell-one")).toHaveClass(/current/);
});
