// The past of a record of some hundred events: slider, comparison, authors, search, restoring and names.
import { readFileSync } from "node:fs";
import type { Browser, Page } from "@playwright/test";
import { type MadeRecord, WORD, makeRecord } from "./past.ts";
import { type TestServer, expect, person, test } from "./server.ts";

async function history(browser: Browser, server: TestServer, { id }: MadeRecord): Promise<Page> {
  const page = await person(browser, server);
  await page.goto(`${server.url}/#/n/${id}`);
  await expect(page.locator(".cell")).toHaveCount(3);
  await page.getByRole("button", { name: "History", exact: true }).click();
  return page;
}

test("the slider, a comparison and the authors of a long record", async ({ browser, server }) => {
  const record = await makeRecord(server, "A long record");
  const page = await history(browser, server, record);
  const past = page.locator(".past");
  const slider = page.getByRole("slider", { name: "Version" });
  await slider.fill(String(record.from));
  await expect(past).toHaveAccessibleName(`Version ${record.from}`);
  await expect(past).toContainText("total = 50");
  await expect(past).toContainText(WORD);
  // The deleted cell is there again.
  await expect(past.locator(".past-cell")).toHaveCount(4);
  await expect(past.locator(".past-cell").last()).toContainText("Deleted since");
  await slider.press("ArrowLeft");
  await expect(past).toHaveAccessibleName(`Version ${record.from - 1}`);
  await expect(past).not.toContainText(WORD);

  await past.getByLabel("Compare with").selectOption("now");
  await expect(past.locator("ins").first()).toBeVisible();
  await expect(past).toContainText("Cell 4 deleted");
  await past.getByRole("button", { name: "Back to current" }).click();

  await page.locator(".cell .gutter").nth(2).click();
  await page.getByRole("tab", { name: "Lines" }).click();
  const lines = page.getByRole("table", { name: "Authors of lines" }).getByRole("row");
  await expect(lines).toHaveCount(2);
  await expect(lines.nth(0)).toContainText("You");
  await expect(lines.nth(1)).toContainText("Bob");
  // An author leads to the version in which the line was written.
  await lines.nth(1).getByRole("button").or(lines.nth(1).getByRole("cell")).first().click();
  await expect(past).toContainText("mean = total / 150");
});

test("a text is found where it stands and where it stood, and opened there", async ({ browser, server }) => {
  const record = await makeRecord(server, "Found again");
  const page = await history(browser, server, record);
  const field = page.getByRole("searchbox", { name: "Find in all versions" });
  const earlier = page.getByRole("region", { name: "In earlier versions" });
  await field.fill(WORD.toUpperCase());
  await expect(earlier.getByRole("listitem")).toHaveCount(1);
  await expect(earlier).toContainText(`Cell 1 · versions ${record.from}–${record.to}`);
  await expect(page.getByRole("region", { name: "In the notebook" })).toBeHidden();
  await earlier.getByRole("button").first().click();
  const past = page.locator(".past");
  await expect(past).toHaveAccessibleName(`Version ${record.to}`);
  await expect(past.locator("mark")).toHaveText(WORD);
  await expect(past.locator("mark")).toBeInViewport();
  await expect(past.getByLabel("Compare with")).toHaveValue("");

  // A text that stands: its cell, selected; and the version since which it stands.
  await field.fill("total = 150");
  const standing = page.getByRole("region", { name: "In the notebook" });
  await expect(standing).toContainText("Cell 1, line 1");
  await standing.getByRole("button", { name: "since version" }).click();
  await expect(past.locator("mark")).toHaveText(["total = ", "150"]);
  await standing.getByRole("button").first().click();
  await expect(past).toBeHidden();
  await expect(page.locator(".cell").first().locator(".cm-content")).toContainText("total = 150");

  await field.fill("thrown away");
  await expect(earlier).toContainText("Deleted cell · versions");
  await field.fill("nowhere at all");
  await expect(page.getByText("No cell ever held this text.")).toBeVisible();
  await field.press("Escape");
  await expect(page.getByRole("tab", { name: "Timeline" })).toBeVisible();
  await page.route("**/find?*", (route) => route.abort());
  await field.fill("total");
  await expect(page.getByRole("alert")).toContainText("can’t be reached");
  await page.unroute("**/find?*");
  await page.getByRole("button", { name: "Try again" }).click();
  await expect(standing.getByRole("listitem").first()).toBeVisible();
});

test("a version is named, restored as one step, and the restoration undone", async ({ browser, server }) => {
  const record = await makeRecord(server, "Named");
  const page = await history(browser, server, record);
  const past = page.locator(".past");
  await page.getByRole("slider", { name: "Version" }).fill(String(record.to));
  await past.getByRole("button", { name: "Name this version" }).click();
  await past.getByLabel(/Name of version/).fill("With the key");
  await page.keyboard.press("Enter");
  const named = page.getByRole("region", { name: "Named versions" });
  await expect(named).toContainText("With the key");
  await past.getByRole("button", { name: "Back to current" }).click();
  await named.getByRole("button", { name: "With the key" }).click();
  await past.getByRole("button", { name: "Restore" }).click();
  await expect(page.locator(".cell")).toHaveCount(4);
  await expect(page.locator(".cell").first()).toContainText(WORD);
  await page.locator(".toast").getByRole("button", { name: "Undo" }).click();
  await expect(page.locator(".cell")).toHaveCount(3);
  await expect(page.locator(".cell").first()).not.toContainText(WORD);
});

test("the report of a stretch of time, the record and its signed head are files", async ({ browser, server }) => {
  const record = await makeRecord(server, "For <auditors>");
  const page = await history(browser, server, record);
  await page.getByRole("button", { name: "Report and record…" }).click();
  const dialog = page.getByRole("dialog", { name: "Report and record" });
  const saved = async (button: string) => {
    const [download] = await Promise.all([page.waitForEvent("download"), dialog.getByRole("button", { name: button }).click()]);
    return { name: download.suggestedFilename(), text: readFileSync(await download.path(), "utf8") };
  };
  const report = await saved("Download report");
  expect(report.name).toBe("Record of For auditors.html");
  expect(report.text).toContain("Every hash of the record was followed");
  expect(report.text).toContain("Record of For &lt;auditors&gt;");
  const events = await saved("Export the record");
  const lines = events.text.trim().split("\n");
  expect(JSON.parse(lines[0] ?? "")).toMatchObject({ version: 1, type: "NotebookCreated" });
  expect(lines.length).toBeGreaterThan(150);
  expect((await saved("Signed head")).text).toContain(`${record.id}`);
  await dialog.getByLabel(/^To/).fill("2001-01-01T00:00");
  await dialog.getByRole("button", { name: "Download report" }).click();
  await expect(dialog.getByRole("alert")).toHaveText("Nothing was recorded between these times.");
});
