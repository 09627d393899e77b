import { bringIn } from "./demo.ts";
import { notebookOf, recorded } from "./record.ts";
import { expect, person, test, write } from "./server.ts";

interface Seen {
  cell_id: string;
  version: number;
}

interface Recorded {
  order: string[];
  cells: Record<string, { cell_type: string; source: string }>;
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
  await expect(page.getByLabel("Message to the assistant")).toBeFocused();
  await page.keyboard.type("tidy up");
  await page.keyboard.press("Enter");

  const card = page.locator(".confirmation");
  await expect(card.getByRole("heading")).toHaveText("Delete cell 1");
  await expect(card).toContainText("Notarium · requested");
  await expect(card).toContainText("Deletes cell 1. It can be restored from the trash.");
  await expect(card.locator(".effect")).toHaveText("a = 1");
  // No button has the focus, so that Enter confirms nothing by accident.
  await expect(card.getByRole("button", { name: "Delete cell" })).not.toBeFocused();
  await expect(page.locator(".call").first()).toContainText("Read the notebook");
  await expect(page.locator(".call").nth(1)).toContainText("Changed cell 2");
  await expect(page.locator(".cell-review")).toContainText("The assistant changed this cell");
  await page.getByRole("button", { name: "Show changes" }).click();
  await expect(page.locator(".cell-review ins")).toHaveText("3");
  // Running cells that the assistant may still change needs another confirmation.
  await page.getByRole("button", { name: "Run all" }).click();
  await expect(page.locator(".toast")).toContainText("Not run yet: the assistant waits for your decision.");

  await card.getByRole("button", { name: "Delete cell" }).focus();
  await page.keyboard.press("Enter");
  await expect(page.locator(".transcript")).toContainText("Done as you wished.");
  await expect(page.locator(".cell")).toHaveCount(1);
  await expect(page.locator(".turn-end").last()).toContainText("tokens in");
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
  // The text written before the stop remains.
  await expect(page.locator(".reply .rendered")).toContainText("word word");
  await page.reload();
  await expect(page.locator(".reply .rendered")).toContainText("word word");
  await expect(page.locator(".reply .rendered")).toBeInViewport();
});

test("proposals stand in their cells: accepted together, or one by one", async ({ browser, server }) => {
  server.model.script = ({ results }) => {
    if (results.length === 0) return { calls: [{ name: "get_notebook_state", arguments: {} }] };
    if (results.length > 1) return { text: "All is said." };
    const { cells } = JSON.parse(results[0] ?? "{}") as { cells: Seen[] };
    return {
      calls: cells.map(({ cell_id, version }, at) => ({
        name: "modify_cell",
        arguments: { cell_id, cell_version: version, source: `better_${at} = ${at}\nbetter_${at}` },
      })),
    };
  };
  const page = await person(browser, server);
  const cell = (id: string) => ({ id, cell_type: "code", source: `${id} = 0`, metadata: {}, outputs: [], execution_count: null });
  await bringIn(
    page,
    { nbformat: 4, nbformat_minor: 5, metadata: {}, cells: [cell("a"), cell("b"), cell("c")] },
    "proposals.ipynb",
  );
  await page.getByRole("button", { name: "Assistant", exact: true }).click();
  await page.getByRole("button", { name: "Model and permissions" }).click();
  await page.getByRole("radio", { name: /^Ask for every edit/ }).check();
  await page.getByLabel("Message to the assistant").click();
  await page.keyboard.type("better names");
  await page.keyboard.press("Enter");
  const proposals = page.getByRole("group", { name: "Proposed change" });
  await expect(proposals).toHaveCount(3);
  await expect(page.locator(".review-bar")).toContainText("proposes changes to 3 cells");
  await expect(page.locator(".cell").nth(1).locator(".proposal pre")).toContainText("etter_1");
  await page.locator(".cell").nth(1).getByRole("button", { name: "Side by side" }).click();
  await expect(page.locator(".cell").nth(1).getByRole("group", { name: "Before" })).toHaveText("b = 0");
  await expect(page.locator(".cell").nth(1).getByRole("group", { name: "After" })).toHaveText(/better_1 = 1/);
  // Trying the proposal runs it and leaves the cell and its runs unchanged.
  const second = page.locator(".cell").nth(1);
  await second.getByRole("button", { name: "Try" }).click();
  const tried = second.getByRole("group", { name: "Output of the trial" });
  await expect(tried).toContainText("Your cell is unchanged", { timeout: 60_000 });
  await expect(tried.locator(".outputs")).toHaveText(/^\s*1\s*$/, { timeout: 60_000 });
  await expect(second.locator(".source").first()).toHaveText(/b = 0/);
  await expect(second.locator(".gutter .count")).toHaveCount(0);
  await page.locator(".cell").first().getByRole("button", { name: "Deny" }).click();
  await expect(proposals).toHaveCount(2);
  await page.locator(".review-bar").getByRole("button", { name: "Allow 2" }).click();
  await expect(page.locator(".cell .source")).toHaveText([/a = 0/, /better_1 = 1/, /better_2 = 2/]);
  await expect(page.locator(".transcript")).toContainText("All is said.");
  await page.context().close();
});

test("an error is handed to the assistant by a click", async ({ browser, server }) => {
  let told = "";
  server.model.script = ({ text }) => {
    told = text;
    return { text: "The name is not defined." };
  };
  const page = await person(browser, server);
  await page.getByRole("button", { name: "New notebook" }).click();
  await write(page, "import time\nif 'seen' in globals(): time.sleep(60)\nseen = True\nnowhere + 1");
  await page.keyboard.press("Control+Enter");
  const fix = page.getByRole("button", { name: "Ask the assistant to fix it" });
  await fix.click({ timeout: 90_000 });
  await expect(page.locator(".transcript")).toContainText("The name is not defined.");
  expect(told).toMatch(/Cell 1 \([\w-]+\) failed: NameError: name 'nowhere' is not defined/);
  // An error that runs again is not handed over.
  await expect(fix).toBeEnabled();
  await page.locator(".cell .source").click();
  await page.keyboard.press("Control+Enter");
  await expect(fix).toHaveCount(0);
  await expect(page.locator(".failure")).toContainText("NameError");
  await page.context().close();
});

test("code of an answer becomes a cell of its type, below the current one", async ({ browser, server }) => {
  server.model.script = () => ({ text: "Do this:\n\n```python\nx = 41\n```\n\nor\n\n```sql\nselect 42\n```" });
  const page = await person(browser, server);
  await page.getByRole("button", { name: "New notebook" }).click();
  await write(page, "first = 1");
  await page.keyboard.press("Escape");
  await page.keyboard.press("b");
  await expect(page.locator(".cell")).toHaveCount(2);
  await page.keyboard.press("Escape");
  await page.keyboard.press("ArrowUp");
  await page.keyboard.press("Control+Shift+a");
  await page.getByLabel("Message to the assistant").click();
  await page.keyboard.type("how?");
  await page.keyboard.press("Enter");
  const blocks = page.locator(".transcript").getByRole("group", { name: "Code", exact: true });
  await expect(blocks).toHaveCount(2);
  await blocks.nth(1).getByRole("button", { name: "Insert as cell" }).click();
  await expect(page.locator(".cell")).toHaveCount(3);
  await expect(page.locator(".cell").nth(1)).toContainText("select 42");
  await expect(page.locator(".cell").nth(1)).toBeInViewport();
  await expect(page.locator(".connection")).toHaveText("Saved");
  const id = /#\/n\/([\w-]+)/.exec(page.url())?.[1] ?? "";
  const shown = JSON.parse(await server.command("show", id, "--json")) as { notebook: Recorded };
  const cells = shown.notebook.order.map((cell) => shown.notebook.cells[cell]!);
  expect(cells.map(({ cell_type, source }) => [cell_type, source])).toEqual([
    ["code", "first = 1"],
    ["sql", "select 42"],
    ["code", ""],
  ]);
});

test("a stopped turn is tried again with the same question, and an undone turn offers no undo", async ({ browser, server }) => {
  let times = 0;
  server.model.script = ({ results }) => {
    if (results.length > 0) return { text: "Added." };
    times += 1;
    return times === 1
      ? { text: "word ".repeat(200), pieceMs: 150 }
      : { calls: [{ name: "create_cell", arguments: { source: "made = 1" } }] };
  };
  const page = await person(browser, server);
  await page.getByRole("button", { name: "New notebook" }).click();
  await write(page, "first = 1");
  await page.keyboard.press("Escape");
  await page.keyboard.press("Control+Shift+a");
  await page.getByLabel("Message to the assistant").click();
  await page.keyboard.type("add a cell");
  await page.keyboard.press("Enter");
  await expect(page.locator(".transcript")).toContainText("word word");
  await page.locator(".working").getByRole("button", { name: "Stop" }).click();
  const half = page.locator(".transcript .said.assistant");
  await expect(half).toContainText(/word word.*Stopped/s);
  await expect(half).toBeInViewport();
  await expect(page.locator(".turn-end")).not.toContainText("Stopped");
  expect(await server.command("log", notebookOf(page))).toContain("posted a message (assistant, stopped before its end)");
  await page.getByRole("button", { name: "Try again" }).click();
  await expect(page.locator(".transcript")).toContainText("Added.");
  // The question stands once, also after a reload, although each turn has its message on record.
  await expect(page.locator(".transcript .said.user")).toHaveText([/add a cell/]);
  expect((await server.command("log", notebookOf(page))).match(/posted a message \(user\)/g)).toHaveLength(2);
  await page.reload();
  await expect(page.locator(".cell")).toHaveCount(2);
  await page.keyboard.press("Control+Shift+a");
  await expect(page.locator(".transcript .said.user")).toHaveText([/add a cell/]);
  await expect(page.locator(".transcript .said.user")).toBeInViewport();
  await expect(page.getByRole("button", { name: "Try again" })).toHaveCount(0);
  await expect(page.locator(".cell")).toHaveCount(2);
  await page.getByRole("button", { name: "Undo this turn" }).click();
  await expect(page.locator(".cell")).toHaveCount(1);
  await expect(page.getByRole("button", { name: "Undo this turn" })).toHaveCount(0);
  await expect(page.locator(".turn-end").last()).toContainText("Undone");
});

test("a server that is killed while it answers leaves the half in sight; a turn that fails then is tried again", async ({
  browser,
  server,
}) => {
  let times = 0;
  server.model.script = () => {
    times += 1;
    if (times === 1) return { text: "word ".repeat(200), pieceMs: 150 };
    return times === 2 ? { status: 400 } : { text: "The whole answer.", pieceMs: 20 };
  };
  const page = await person(browser, server);
  await page.getByRole("button", { name: "New notebook" }).click();
  await write(page, "first = 1");
  await page.keyboard.press("Escape");
  await page.keyboard.press("Control+Shift+a");
  await page.getByLabel("Message to the assistant").click();
  await page.keyboard.type("tell me");
  await page.keyboard.press("Enter");
  const transcript = page.locator(".transcript");
  await expect(transcript).toContainText("word word");
  await server.kill();
  await expect(page.locator(".connection")).not.toHaveText("Saved");
  await server.start();
  const half = page.getByRole("group", { name: "Interrupted answer" });
  await expect(half).toContainText(/word word.*Interrupted: this part isn’t saved/s, { timeout: 60_000 });
  await expect(half).toBeInViewport();
  await expect(page.locator(".turn-end")).toContainText("Failed");
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "Try again" }).click();
  await expect(transcript).toContainText("The whole answer.");
  await expect(transcript.locator(".said")).toHaveText([/^tell me/, /^word word/, /^The whole answer/]);
  await expect(transcript.getByText("The whole answer.")).toBeInViewport();
  await expect(page.getByRole("button", { name: "Try again" })).toHaveCount(0);
  // The half stays when the panel is closed, and is not on record.
  await page.locator(".assistant-panel").getByRole("button", { name: "Close" }).click();
  await page.getByRole("button", { name: "Assistant", exact: true }).click();
  await expect(half).toContainText("word word");
  const answer = await server.send("GET", `/api/notebooks/${notebookOf(page)}/events?limit=1000`);
  expect(await answer.text()).not.toContain("word word");
});

test("undo is offered under a turn that changed the notebook, and under no other", async ({ browser, server }) => {
  let cell = "";
  server.model.script = ({ text, results }) => {
    if (results.length > 0) return { text: `Done with ${text}.` };
    if (text === "nothing") return { calls: [{ name: "get_notebook_state", arguments: {} }] };
    // The text that is there already, then a cell that does not exist, then a change.
    const source = text === "same" ? "first = 1" : "second = 2";
    const cell_id = text === "failure" ? "01ARZ3NDEKTSV4RRFFQ69G5FAV" : cell;
    return { calls: [{ name: "modify_cell", arguments: { cell_id, cell_version: version, source } }] };
  };
  let version = 0;
  const page = await person(browser, server);
  await page.getByRole("button", { name: "New notebook" }).click();
  await write(page, "first = 1");
  await page.keyboard.press("Escape");
  await recorded(server, page, "first = 1");
  const answer = await server.send("GET", `/api/notebooks/${notebookOf(page)}`);
  const { notebook } = (await answer.json()) as { notebook: { order: string[]; cells: Record<string, { cell_version: number }> } };
  cell = notebook.order[0] ?? "";
  version = notebook.cells[cell]?.cell_version ?? 0;
  await page.keyboard.press("Control+Shift+a");
  const undo = page.locator(".turn-end").getByRole("button", { name: "Undo this turn" });
  for (const words of ["nothing", "same", "failure", "change"]) {
    await page.getByLabel("Message to the assistant").click();
    await page.keyboard.type(words);
    await page.keyboard.press("Enter");
    await expect(page.locator(".transcript")).toContainText(`Done with ${words}.`);
    await expect(page.locator(".working")).toHaveCount(0);
    await expect(undo, words).toHaveCount(words === "change" ? 1 : 0);
  }
  await expect(undo).toBeInViewport();
  await undo.click();
  await recorded(server, page, "first = 1");
  await expect(undo).toHaveCount(0);
});
