// A redaction: the owner removes a text with a reason, and every page drops what it holds of it.
import type { Browser, Page } from "@playwright/test";
import { type MadeRecord, WORD, makeRecord } from "./past.ts";
import { type TestServer, expect, fresh, test } from "./server.ts";

const REASON = "a key was pasted by mistake";

async function opened(browser: Browser, server: TestServer, { id }: MadeRecord, token: string): Promise<Page> {
  const page = await (await fresh(browser)).newPage();
  await page.goto(`${server.url}/#token=${token}&notebook=${id}`);
  await page.locator(".cell").first().waitFor();
  return page;
}

/** Everything that the page shows, and that its browser stores of the notebook. */
const held = (page: Page) =>
  page.evaluate(() => [document.documentElement.outerHTML, JSON.stringify({ ...localStorage, ...sessionStorage })].join("\n"));

test("an owner redacts a text, and pages that are open or offline drop it", async ({ browser, server }) => {
  const record = await makeRecord(server, "Redacted");
  await server.send("POST", `/api/notebooks/${record.id}/restore`, { version: record.to });
  const ann = await opened(browser, server, record, server.token);
  const bob = await opened(browser, server, record, record.bob);
  await expect(bob.locator(".cell").first()).toContainText(WORD);

  // Bob's browser stores the text: a copied cell, and a draft of what he types while offline.
  await bob.locator(".cell .source").first().click();
  await bob.keyboard.press("Escape");
  await bob.keyboard.press("c");
  await bob.context().setOffline(true);
  await bob.locator(".cell .source").first().click();
  await bob.locator(".editing .cm-content").waitFor();
  await bob.keyboard.press("Control+End");
  await bob.keyboard.type("  # of Bob");
  await bob.evaluate(() => dispatchEvent(new PageTransitionEvent("pagehide")));
  expect(await bob.evaluate(() => Object.keys(localStorage).filter((name) => /drafts|clipboard/.test(name)).length)).toBe(2);
  expect(await held(bob)).toContain(WORD);

  await ann.getByRole("button", { name: "History", exact: true }).click();
  const field = ann.getByRole("searchbox", { name: "Find in all versions" });
  await field.fill(WORD);
  await ann.getByRole("button", { name: "Redact this text…" }).first().click();
  const dialog = ann.getByRole("dialog", { name: "Redact this text" });
  const redact = dialog.getByRole("button", { name: /^Redact/ });
  await expect(dialog.getByRole("status")).toContainText(/\d+ events/);
  await expect(redact).toBeDisabled();
  await dialog.getByLabel(/Reason/).fill(REASON);
  await redact.click();
  await expect(dialog).toBeHidden();
  await expect(ann.locator(".toast")).toContainText("Content of this notebook was redacted");
  await expect(ann.locator(".cell").first()).toContainText("█".repeat(WORD.length));
  await expect(ann.locator(".steps .step").first()).toContainText(`redacted content of`);
  await expect(ann.locator(".steps .step").first()).toContainText(REASON);
  await expect(ann.locator(".redacted-bar").first()).toHaveText(`Redacted by you: ${REASON}`);
  expect(await held(ann)).not.toContain(WORD);
  await ann.getByRole("slider", { name: "Version" }).fill(String(record.to));
  await expect(ann.locator(".past .redacted").first()).toHaveText("█".repeat(WORD.length));
  await field.fill(WORD);
  await expect(ann.getByText("No cell ever held this text.")).toBeVisible();

  // Bob's page learns it when it is back. It offers his own words, and has nothing else of the cell.
  await bob.context().setOffline(false);
  await expect(bob.locator(".toast").filter({ hasText: "redacted while you typed" })).toContainText("# of Bob");
  await expect(bob.locator(".cell").first()).toContainText("█".repeat(WORD.length));
  expect(await held(bob)).not.toContain(WORD);
  expect(await bob.evaluate(() => Object.keys(localStorage).filter((name) => /drafts|clipboard/.test(name)))).toEqual([]);
  // Only owners redact.
  await bob.getByRole("button", { name: "History", exact: true }).click();
  await bob.locator(".steps .step").first().click();
  await expect(bob.getByRole("button", { name: /Redact/ })).toHaveCount(0);
});

test("an owner redacts an event and the past of a cell", async ({ browser, server }) => {
  const record = await makeRecord(server, "Redacted cells");
  const ann = await opened(browser, server, record, server.token);
  await ann.getByRole("button", { name: "History", exact: true }).click();
  const redacted = async (name: string) => {
    const dialog = ann.getByRole("dialog", { name });
    await dialog.getByLabel(/Reason/).fill(REASON);
    await dialog.getByRole("button", { name: /^Redact/ }).click();
    await expect(dialog).toBeHidden();
    await expect(ann.locator(".steps .step").first()).toContainText(REASON);
  };
  await ann.locator(".steps .step", { hasText: "edited cell 1" }).first().click();
  await ann.getByRole("button", { name: "Redact this event…" }).click();
  await redacted("Redact this event");
  await ann.getByRole("button", { name: "Back to current" }).click();

  await ann.locator(".cell .source").nth(2).click();
  await ann.keyboard.press("Escape");
  await ann.getByRole("tab", { name: "Lines" }).click();
  await ann.getByRole("button", { name: "Redact this cell’s past…" }).click();
  await expect(ann.getByRole("dialog")).toContainText("text, runs, outputs and comments");
  await ann.getByRole("dialog").getByRole("button", { name: "Cancel" }).click();
  await ann.getByRole("button", { name: "Redact this cell’s past…" }).click();
  await redacted("Redact this cell’s past");
  await expect(ann.locator(".cell").nth(2)).not.toContainText("print(total)");
});
