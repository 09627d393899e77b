// Assistants' code that the system holds: the refusal at its cell, in the record, and the run in the person's own name.
import { notebookOf } from "./record.ts";
import { type TestServer, expect, person, test, write } from "./server.ts";

interface Recorded {
  type: string;
  payload: { kind?: string; target?: string; effects?: unknown };
}

/** Events of the type in the record of the page's notebook. */
async function recorded(server: TestServer, notebook: string, type: string): Promise<Recorded["payload"][]> {
  const answer = await server.send("GET", `/api/notebooks/${notebook}/events?limit=1000`);
  const { events } = (await answer.json()) as { events: Recorded[] };
  return events.filter((event) => event.type === type).map(({ payload }) => payload);
}

// Kernels of all tests work in one folder.
const NAME = `refused-${crypto.randomUUID()}.txt`;
const CODE = `import os
try:
    open("${NAME}", "w").close()
except OSError:
    print("refused")
made = os.path.exists("${NAME}")
if made:
    os.remove("${NAME}")
made`;

test("a refused effect is told at its cell, and the person's own run has it", async ({ browser, server }) => {
  server.model.script = ({ results }) => {
    if (results.length === 0) return { calls: [{ name: "get_notebook_state", arguments: {} }] };
    if (results.length > 1) return { text: "It was refused." };
    const [cell] = (JSON.parse(results[0] ?? "{}") as { cells: { cell_id: string }[] }).cells;
    return { calls: [{ name: "execute_cell", arguments: { cell_id: cell?.cell_id } }] };
  };
  const page = await person(browser, server);
  await page.getByRole("button", { name: "New notebook" }).click();
  await write(page, CODE);
  await page.keyboard.press("Escape");
  await expect(page.locator(".connection")).toHaveText("Saved");
  await page.getByRole("button", { name: "Assistant", exact: true }).click();
  await expect(page.getByRole("textbox", { name: "Message to the assistant" })).toBeFocused();
  await page.keyboard.type("run it");
  await page.keyboard.press("Enter");
  await expect(page.locator(".transcript")).toContainText("It was refused.", { timeout: 120_000 });

  const cell = page.locator(".cell").first();
  const line = cell.locator(".refused");
  await expect(line).toContainText("not allowed in this run");
  await expect(line.locator("code").first()).toContainText(NAME);
  await expect(cell.locator(".outputs")).toContainText("refused");
  await expect(cell.locator(".outputs")).toContainText("False");
  await expect(page.locator(".call").nth(1)).toContainText("Partly not allowed");
  const refusals = await recorded(server, notebookOf(page), "ExecutionEffectRefused");
  expect(refusals.map(({ target }) => target?.split("/").at(-1))).toEqual([NAME]);
  const [run] = await recorded(server, notebookOf(page), "ExecutionRequested");
  expect(run?.effects).toEqual({ held: { allowed: [] } });

  await line.getByRole("button", { name: "Run again with this allowed" }).click();
  const dialog = page.getByRole("dialog", { name: "Run cell 1 in your name?" });
  await expect(dialog).toContainText("files");
  await dialog.getByRole("button", { name: "Run in your name" }).click();
  await expect(dialog).toHaveCount(0);
  await expect(cell.locator(".outputs")).toHaveText(/^\s*True\s*$/, { timeout: 60_000 });
  await expect(line).toHaveCount(0);
  const runs = await recorded(server, notebookOf(page), "ExecutionRequested");
  expect(runs.at(-1)?.effects).toBe("free");
});
