import { expect, person, test, write } from "./server.ts";

interface Seen {
  cell_id: string;
  version: number;
}

test("an assistant works in the open: cards, a decision with its effect, marks on cells, and its turn undone", async ({
  browser,
  server,
}) => {
  server.model.script = ({ results }) => {
    if (results.length === 0) return { text: "I look first.", calls: [{ name: "get_notebook_state", arguments: {} }] };
    if (results.length > 1) return { text: "Done as you wished." };
    const [first, second] = (JSON.parse(results[0] ?? "{}") as { cells: Seen[] }).cells;
    return {
      calls: [
        { name: "modify_cell", arguments: { cell_id: second?.cell_id, cell_version: second?.version, source: "b = 3" } },
        { name: "delete_cell", arguments: { cell_id: first?.cell_id, cell_version: first?.version } },
      ],
    };
  };
  const page = await person(browser, server);
  await page.getByRole("button", { name: "New notebook" }).click();
  await write(page, "a = 1");
  await page.keyboard.press("Escape");
  await page.keyboard.press("b");
  await expect(page.locator(".cell")).toHaveCount(2);
  await page.keyboard.press("Enter");
  await page.locator(".editing .cm-content").waitFor();
  await page.keyboard.insertText("b = 2");
  await page.keyboard.press("Escape");
  await expect(page.locator(".connection")).toHaveText("Saved");
  await page.getByRole("button", { name: "Assistant", exact: true }).click();
  await page.getByLabel("Message to the assistant").fill("tidy up");
  await page.keyboard.press("Enter");

  const card = page.locator(".confirmation");
  await expect(card).toContainText("goes");
  await expect(card.locator(".effect")).toHaveText("a = 1");
  // Enter by habit decides nothing.
  await expect(card.getByRole("button", { name: "Confirm" })).not.toBeFocused();
  await expect(page.locator(".cell-review")).toContainText("The assistant changed this cell");
  await page.getByRole("button", { name: "Show the change" }).click();
  await expect(page.locator(".cell-review ins")).toHaveText("3");
  // What it may still change is run only when one says so.
  await page.getByRole("button", { name: "Run all" }).click();
  await expect(page.locator(".toast")).toContainText("The assistant is working");

  await card.getByRole("button", { name: "Confirm" }).focus();
  await page.keyboard.press("Enter");
  await expect(page.locator(".transcript")).toContainText("Done as you wished.");
  await expect(page.locator(".cell")).toHaveCount(1);
  await expect(page.locator(".turn-end").last()).toContainText("tokens read");
  await page.getByRole("button", { name: "Undo all" }).click();
  await expect(page.locator(".cell")).toHaveCount(2);
  await expect(page.locator(".cell").nth(1)).toContainText("b = 2");
  await expect(page.locator(".cell-review")).toHaveCount(0);
});

test("a prompt in its place is answered below it; a slow answer can be stopped", async ({ browser, server }) => {
  server.model.script = ({ text }) =>
    text.includes("slow") ? { text: "word ".repeat(200), pieceMs: 150 } : { text: "The answer is **42**." };
  const page = await person(browser, server);
  await page.getByRole("button", { name: "New notebook" }).click();
  await write(page, "x");
  await page.keyboard.press("Escape");
  await page.locator(".add").getByRole("button", { name: "Prompt" }).click();
  await page.locator(".editing .cm-content").waitFor();
  await page.keyboard.insertText("what is it?");
  await page.keyboard.press("Control+Enter");
  await expect(page.locator(".reply strong")).toHaveText("42");
  await page.locator(".cell.prompt .source").click();
  await page.locator(".editing .cm-content").waitFor();
  await page.keyboard.press("Control+End");
  await page.keyboard.insertText(" slow");
  await page.keyboard.press("Control+Enter");
  await expect(page.locator(".reply")).toContainText("word word");
  await page.locator(".reply").getByRole("button", { name: "Stop" }).click();
  await expect(page.locator(".reply")).toContainText("Stopped");
});
