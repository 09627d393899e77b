// Inline question to the assistant about a cell: asked by keyboard, answered by a proposal, changed only when applied.
import type { Page } from "@playwright/test";
import { notebook, python } from "./cells.ts";
import { bringIn } from "./demo.ts";
import { record, recorded } from "./record.ts";
import { type TestServer, expect, fresh, person, saved, test } from "./server.ts";
import { become } from "./weather.ts";

const SOURCE = "def area(w, h):\n    return w + h\n\narea(2, 3)";
const BETTER = SOURCE.replace("w + h", "w * h");
const proposes = (text: string) => () => ({ text: `Like this:\n\n\`\`\`python\n${text}\n\`\`\`\n` });

async function opened(page: Page): Promise<void> {
  await bringIn(page, notebook(python("a", SOURCE), python("b", "other = 1")), "Inline.ipynb");
  await page.locator(".cell .source").first().click();
  await expect(page.locator(".editing .cm-content")).toBeFocused();
  await page.keyboard.press("Control+End");
}

const question = (page: Page) => page.getByRole("group", { name: "Question about this cell" });
const field = (page: Page) => question(page).getByLabel("Ask about this cell");

async function ask(page: Page, words: string): Promise<void> {
  await page.keyboard.press("Control+k");
  await page.keyboard.type(words);
  await expect(field(page)).toBeInViewport();
  await expect(field(page)).toHaveValue(words);
  await page.keyboard.press("Enter");
}

test("@smoke Ctrl+K asks about the cell; the answer is a proposal, which is applied, taken back, or left", async ({
  browser,
  server,
}) => {
  server.model.script = proposes(BETTER);
  const page = await person(browser, server);
  await opened(page);
  // The two selected lines are sent with the question.
  await page.keyboard.press("Control+Home");
  await page.keyboard.press("Shift+ArrowDown");
  await ask(page, "dd multiply");
  await expect(question(page).getByText("The assistant proposes a change")).toBeInViewport();
  await expect(question(page).locator("ins")).toHaveText(["*"]);
  expect(server.model.heard).toContain("dd multiply");
  expect(server.model.heard).toContain("It is about these lines of it");
  await recorded(server, page, SOURCE, "other = 1");
  // The caret stays in the cell, and the same key focuses the proposal.
  await expect(page.locator(".editing .cm-content")).toBeFocused();
  await page.keyboard.press("Control+k");
  await expect(question(page).getByRole("button", { name: "Apply" })).toBeFocused();
  await page.keyboard.press("Enter");
  await recorded(server, page, BETTER, "other = 1");
  await expect(question(page)).toHaveCount(0);
  await expect(page.locator(".editing .cm-content")).toBeFocused();
  await page.keyboard.press("Control+z");
  await recorded(server, page, SOURCE, "other = 1");

  await ask(page, "again");
  await expect(question(page).getByText("The assistant proposes a change")).toBeInViewport();
  await page.keyboard.press("Control+k");
  await page.keyboard.press("Escape");
  await expect(question(page)).toHaveCount(0);
  await page.keyboard.press("Control+End");
  await page.keyboard.type("!");
  await recorded(server, page, `${SOURCE}!`, "other = 1");
});

test("an answer in words is shown, a failure leaves the question for another try, Escape gives the caret back", async ({
  browser,
  server,
}) => {
  server.model.script = () => ({ text: "It adds two numbers." });
  const page = await person(browser, server);
  await opened(page);
  await ask(page, "what does it do?");
  await expect(question(page)).toContainText("It adds two numbers.");
  await page.keyboard.press("Control+k");
  await expect(field(page)).toBeFocused();
  await page.keyboard.press("Escape");
  await expect(question(page)).toHaveCount(0);
  await page.keyboard.type("1");
  await recorded(server, page, `${SOURCE}1`, "other = 1");

  // Stopping a slow answer keeps the question's text.
  server.model.script = () => ({ text: `\`\`\`\n${"x = 1\n".repeat(200)}\`\`\``, pieceMs: 50 });
  await ask(page, "make it long");
  await question(page).getByRole("button", { name: "Stop" }).click();
  await expect(question(page)).toContainText("Stopped.");
  await expect(field(page)).toHaveValue("make it long");
  server.model.script = proposes("short = 1");
  await question(page).getByRole("button", { name: "Try again" }).click();
  await expect(question(page).getByText("The assistant proposes a change")).toBeInViewport();
  await question(page).getByRole("button", { name: "Discard" }).click();
  await recorded(server, page, `${SOURCE}1`, "other = 1");
});

async function second(browser: Parameters<typeof fresh>[0], server: TestServer, page: Page): Promise<{ bo: Page; id: string }> {
  const { id, token } = await server.account("Bo");
  await become(server, page, id, "editor");
  const bo = await (await fresh(browser)).newPage();
  await bo.goto(`${server.url}/#token=${token}`);
  await expect(bo.getByRole("button", { name: "New notebook" })).toBeVisible();
  await bo.goto(page.url());
  await bo.locator(".cell .source").first().click();
  await expect(bo.locator(".editing .cm-content")).toBeFocused();
  return { bo, id };
}

test("what others write meanwhile stays; a lower role, a deleted cell and no connection lose nothing", async ({
  browser,
  server,
}) => {
  server.model.script = proposes(BETTER);
  const ann = await person(browser, server);
  await opened(ann);
  const { bo, id } = await second(browser, server, ann);
  await ask(bo, "multiply");
  await expect(question(bo).getByText("The assistant proposes a change")).toBeInViewport();
  await ann.keyboard.type("  # ann");
  await saved(ann);
  await become(server, ann, id, "viewer");
  await expect(question(bo).getByRole("button", { name: "Apply" })).toBeDisabled();
  await become(server, ann, id, "editor");
  await question(bo).getByRole("button", { name: "Apply" }).click();
  await recorded(server, ann, `${BETTER}  # ann`, "other = 1");

  // Offline, the question waits for the connection.
  server.model.script = proposes("calm = 1");
  await bo.context().setOffline(true);
  await expect(bo.locator(".connection")).toContainText("Offline");
  await ask(bo, "make it calm");
  await expect(question(bo)).toContainText("writing");
  await bo.context().setOffline(false);
  await expect(question(bo).getByText("The assistant proposes a change")).toBeInViewport();

  await ann.keyboard.press("Escape");
  await ann.keyboard.press("d");
  await ann.keyboard.press("d");
  await expect(bo.locator(".toast", { hasText: "The cell you asked about was deleted" })).toBeInViewport();
  expect((await record(server, ann)).map(({ source }) => source)).toEqual(["other = 1"]);
});

test("the field and the proposal are in sight at every size", async ({ browser, server }) => {
  server.model.script = proposes(BETTER);
  const page = await person(browser, server);
  await opened(page);
  for (const [width, height] of [
    [1440, 900],
    [1024, 768],
    [390, 844],
  ] as const) {
    await page.setViewportSize({ width, height });
    await ask(page, "multiply");
    await expect(question(page).getByRole("button", { name: "Apply" })).toBeInViewport({ ratio: 0.99 });
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      if (process.env.NOTARIUM_SHOTS)
        await page.screenshot({ path: `${process.env.NOTARIUM_SHOTS}/inline-${width}-${colorScheme}.png` });
    }
    await question(page).getByRole("button", { name: "Ask again" }).click();
    await expect(field(page)).toBeFocused();
    if (process.env.NOTARIUM_SHOTS) await page.screenshot({ path: `${process.env.NOTARIUM_SHOTS}/inline-field-${width}.png` });
    await page.keyboard.press("Escape");
    await expect(question(page)).toHaveCount(0);
  }
});

test("a proposal is there again after a reload, and applies; one that was discarded is not", async ({ browser, server }) => {
  server.model.script = proposes("kept = 1");
  const page = await person(browser, server);
  await opened(page);
  await ask(page, "make it short");
  await expect(question(page).getByText("The assistant proposes a change")).toBeInViewport();
  await page.reload();
  await expect(question(page).getByText("The assistant proposes a change")).toBeInViewport();
  await question(page).getByRole("button", { name: "Apply" }).click();
  await recorded(server, page, "kept = 1", "other = 1");
  await page.reload();
  await expect(page.locator(".cell").first()).toContainText("kept = 1");
  await expect(question(page)).toHaveCount(0);
});
