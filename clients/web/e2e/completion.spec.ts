// Completion, signatures and descriptions from a real kernel.
import type { Locator, Page } from "@playwright/test";
import { notebook, python } from "./cells.ts";
import { bringIn } from "./demo.ts";
import { record, recorded } from "./record.ts";
import { expect, person, saved, test, write } from "./server.ts";

/** Waits until the list takes keys. Earlier keys, and keys while a further answer is pending, belong to the editor. */
const marked = (page: Page) =>
  page.locator(".cm-tooltip-autocomplete:not(.is-unchosen, .cm-tooltip-autocomplete-disabled)").waitFor();

test("the kernel completes names, shows signatures and descriptions, and stays out of text", async ({ browser, server }) => {
  const page = await person(browser, server);
  await page.getByRole("button", { name: "New notebook" }).click();
  await write(
    page,
    "class Ship:\n    harbour = 'Kiel'\n\ndef area(width, height=2):\n    'The area of a sail.'\n    return width * height\n\nship = Ship()",
  );
  await page.keyboard.press("Alt+Enter");
  await expect(page.locator(".cell .count").first()).toContainText("[1]", { timeout: 60_000 });
  await expect(page.locator(".cell").nth(1)).toHaveClass(/current/);
  await page.locator(".cell").nth(1).locator(".editing .cm-focused, .cm-focused").waitFor();
  const [list, note] = [page.locator(".cm-tooltip-autocomplete"), page.locator(".cm-kernel-note")];

  await page.keyboard.type("ship.");
  await expect(list.getByRole("option", { name: /^harbour/ })).toBeInViewport();
  // Escape closes the list, and leaves the cell open.
  await page.keyboard.press("Escape");
  await expect(list).toHaveCount(0);
  await expect(page.locator(".editing")).toHaveCount(1);
  await page.keyboard.type("harb");
  await expect(list.getByRole("option", { name: /^harbour/ })).toBeInViewport();
  await marked(page);
  await page.keyboard.press("Tab");
  await expect(page.locator(".editing .cm-content")).toHaveText("ship.harbour");

  // Hovering a name shows its description; leaving it hides the description.
  await page.locator(".editing .cm-line").hover({ position: { x: 24, y: 10 } });
  await expect(note).toContainText("Ship object");
  await expect(note).toBeInViewport({ ratio: 1 });
  await page.mouse.move(2, 2);
  await expect(note).toHaveCount(0);

  await page.keyboard.press("Enter");
  await page.keyboard.type("area(");
  await expect(note).toContainText("area(width, height=2)");
  await expect(note).toContainText("The area of a sail.");
  await expect(note).toBeInViewport({ ratio: 1 });
  await page.keyboard.type("3)");
  await expect(note).toHaveCount(0);
  await page.keyboard.press("Home");
  await page.keyboard.press("Control+ArrowRight");
  await page.keyboard.press("Shift+Tab");
  await expect(note).toContainText("Docstring");
  await expect(note).not.toContainText("return width");
  await page.keyboard.press("Shift+Tab");
  await expect(note).toContainText("return width");
  await page.keyboard.press("Escape");
  await expect(note).toHaveCount(0);
  await expect(page.locator(".editing")).toHaveCount(1);

  // At the start of a line Tab indents, and text cells have no kernel.
  await page.keyboard.press("Home");
  await page.keyboard.press("Tab");
  await expect(page.locator(".editing .cm-line").nth(1)).toHaveText("    area(3)");
  await page.keyboard.press("Escape");
  await page.keyboard.press("b");
  await page.keyboard.press("m");
  await page.keyboard.press("Enter");
  await page.locator(".cell").nth(2).locator(".cm-focused").waitFor();
  await page.keyboard.type("ship.");
  await page.keyboard.press("Shift+Tab");
  await page.keyboard.type("!");
  await expect(page.locator(".editing .cm-content")).toHaveText("ship.!");
  await expect(list).toHaveCount(0);
  await expect(note).toHaveCount(0);
});

test("cells of SQL offer its words", async ({ browser, server }) => {
  const page = await person(browser, server);
  await page.getByRole("button", { name: "New notebook" }).click();
  await write(page, "");
  await page.keyboard.press("Control+Shift+P");
  await page.getByRole("combobox", { name: "Search commands" }).waitFor();
  await page.keyboard.type("change to sql");
  await page.keyboard.press("Enter");
  // The type change creates a new editor, which gets the caret.
  await page.locator(".cell.sql .cm-focused").waitFor();
  await page.keyboard.type("sel");
  const list = page.locator(".cm-tooltip-autocomplete");
  // The words of SQL load with the first such editor: typing may have been faster.
  await expect(async () => {
    if (!(await list.isVisible())) await page.keyboard.press("Control+Space");
    await expect(list.getByRole("option", { name: /^select/i }).first()).toBeInViewport({ timeout: 3_000 });
  }).toPass();
  // No suggestion has this prefix: Enter ends the line.
  await page.keyboard.type("xyz");
  await page.keyboard.press("Enter");
  await page.keyboard.type("sele");
  await expect(list.getByRole("option", { name: /^select/i }).first()).toBeInViewport();
  await marked(page);
  await page.keyboard.press("Enter");
  await expect(page.locator(".editing .cm-content")).toHaveText(/^selxyz\s*select$/i);
});

/** Clicks into the first line. A locator's click would scroll the line of a tall cell under the bar and retry without end. */
async function clickAtTop(page: Page, cell: Locator): Promise<void> {
  const source = cell.locator(".source").first();
  // After a resize the cells above are laid out again and the line moves.
  await expect(async () => {
    await source.evaluate((element) => {
      const { bottom } = document.querySelector(".notebook .top")?.getBoundingClientRect() ?? { bottom: 0 };
      scrollBy({ top: element.getBoundingClientRect().top - bottom - 20, behavior: "instant" });
    });
    const { x, y } = (await source.boundingBox()) ?? { x: 0, y: 0 };
    await page.mouse.click(x + 60, y + 15);
    await cell.locator(".cm-focused").waitFor({ timeout: 2_000 });
  }).toPass();
}

/** Checks that the whole list is visible below the bar. */
async function isInSight(page: Page, what: Locator): Promise<void> {
  await expect(what).toBeInViewport({ ratio: 1 });
  const bar = (await page.locator(".notebook .top").boundingBox()) ?? { y: 0, height: 0 };
  await expect.poll(async () => ((await what.boundingBox())?.y ?? 0) >= bar.y + bar.height - 1).toBe(true);
}

test("@smoke suggestions and signatures are in sight in every cell, at every size", async ({ browser, server }) => {
  const page = await person(browser, server);
  const lines = Array.from({ length: 70 }, (_, line) => `line_${line} = ${line}`).join("\n");
  const cells = [python("first", ""), python("tall", lines), ...[1, 2, 3].map((at) => python(`c${at}`, "")), python("last", "")];
  await bringIn(page, notebook(...cells), "Sizes.ipynb");
  await expect(page.locator(".cell")).toHaveCount(cells.length);
  const list = page.locator(".cm-tooltip-autocomplete");
  // 640 × 400 equals a window of 1280 × 800 at 200 %.
  for (const [width, height] of [
    [1280, 860],
    [1024, 768],
    [390, 844],
    [640, 400],
  ] as const) {
    await page.setViewportSize({ width, height });
    for (const at of [0, 1, cells.length - 1]) {
      const cell = page.locator(".cell").nth(at);
      await clickAtTop(page, cell);
      await page.keyboard.press("Control+End");
      await page.keyboard.press("Enter");
      await page.keyboard.type("enume");
      await expect(list.getByRole("option", { name: /^enumerate/ })).toBeInViewport();
      await isInSight(page, list);
      // Close the list before the next cell.
      await page.keyboard.press("Escape");
      await expect(list).toHaveCount(0);
    }
  }
});

test("@smoke Enter takes a suggestion that was chosen or goes on with what was typed, and no other", async ({
  browser,
  server,
}) => {
  const page = await person(browser, server);
  await page.getByRole("button", { name: "New notebook" }).click();
  await write(page, "");
  const list = page.locator(".cm-tooltip-autocomplete");
  await page.keyboard.type("total = np");
  await expect(list.getByRole("option", { name: "input" })).toBeInViewport();
  // No option looks selected.
  expect(await list.locator("li[aria-selected]").evaluate((row) => getComputedStyle(row).outlineStyle)).toBe("none");
  await page.keyboard.press("Enter");
  await page.keyboard.type("total = np");
  await expect(list.getByRole("option", { name: "input" })).toBeInViewport();
  // Before the list takes keys, an arrow would move the caret and close it.
  await page.locator(".cm-tooltip-autocomplete:not(.is-unseen)").waitFor();
  await page.keyboard.press("ArrowDown");
  const chosen = (await list.locator("li[aria-selected] .cm-completionLabel").textContent()) ?? "";
  await page.keyboard.press("Enter");
  await page.keyboard.press("End");
  await page.keyboard.press("Enter");
  await page.keyboard.type("enumer");
  await expect(list.getByRole("option", { name: /^enumerate/ })).toBeInViewport();
  await marked(page);
  await page.keyboard.press("Enter");
  await expect(page.locator(".editing .cm-line").last()).toHaveText("enumerate");
  // A completely typed word needs no suggestion.
  await page.keyboard.press("Enter");
  await page.keyboard.type("input");
  await expect(list.getByRole("option", { name: "input" })).toBeInViewport();
  await page.keyboard.press("Enter");
  await page.keyboard.type("1");
  await saved(page);
  await recorded(server, page, `total = np\ntotal = ${chosen}\nenumerate\ninput\n1`);
});

test("@smoke Enter right after a word ends the line, whatever opens in that moment", async ({ browser, server }) => {
  const page = await person(browser, server);
  await page.getByRole("button", { name: "New notebook" }).click();
  await write(page, "");
  const words = ["enume", "impor", "rever", "isinst", "glob"];
  await page.locator(".editing .cm-content").evaluate((editor) => {
    // Press Enter when the list is being drawn, before a person could see it.
    const enter = () =>
      editor.dispatchEvent(
        new KeyboardEvent("keydown", { key: "Enter", code: "Enter", keyCode: 13, bubbles: true, cancelable: true }),
      );
    let isShown = false;
    new MutationObserver(() => {
      const wasShown = isShown;
      isShown = document.querySelector(".cm-tooltip-autocomplete") !== null;
      if (isShown && !wasShown) enter();
    }).observe(document.body, { childList: true, subtree: true });
  });
  for (const [at, word] of words.entries()) {
    await page.keyboard.insertText(word);
    await expect(page.locator(".editing .cm-line")).toHaveCount(at + 2);
  }
  await saved(page);
  await recorded(server, page, `${words.join("\n")}\n`);
});

test("while the kernel is busy the notebook's names are offered; its late answer joins the list, and no newer text", async ({
  browser,
  server,
}) => {
  const page = await person(browser, server);
  await bringIn(
    page,
    notebook(
      python("busy", "import threading, time\ntemper_made = 1\nprint('begun')\ntime.sleep(4)"),
      python("names", "temper_atures = [1]"),
      python("here", ""),
    ),
    "Busy.ipynb",
  );
  await page.locator(".cell").first().locator(".source").click();
  await page.keyboard.press("Control+Enter");
  await expect(page.locator(".cell").first().locator(".outputs")).toContainText("begun", { timeout: 60_000 });
  await page.locator(".cell").nth(2).locator(".source").click();
  await page.locator(".cell").nth(2).locator(".cm-focused").waitFor();
  await page.keyboard.type("temper_");
  const list = page.locator(".cm-tooltip-autocomplete");
  // The kernel is busy: the syntax of the cells gives the names.
  await expect(list.getByRole("option", { name: /^temper_atures/ })).toBeInViewport();
  await expect(list.getByRole("option", { name: /^temper_made/ })).toBeInViewport();
  // Then the kernel is idle and answers with their types.
  await expect(list.getByRole("option", { name: /temper_made.*instance/ })).toBeInViewport({ timeout: 30_000 });
  await page.keyboard.type("m");
  await expect(list.getByRole("option", { name: /^temper_made/ })).toBeInViewport();
  await marked(page);
  await page.keyboard.press("Enter");
  await saved(page);
  expect((await record(server, page)).at(-1)?.source).toBe("temper_made");
});
