// Tests of small details of the page.
import { bringIn } from "./demo.ts";
import { expect, person, saved, test, write } from "./server.ts";

test("a file that is dropped between two cells becomes cells there; another is refused with a word", async ({
  browser,
  server,
}) => {
  const page = await person(browser, server);
  await page.getByRole("button", { name: "New notebook" }).click();
  await write(page, "first");
  await page.keyboard.press("Alt+Enter");
  await page.keyboard.type("last");
  await page.keyboard.press("Escape");
  await expect(page.locator(".cell .source")).toHaveText([/first/, /last/]);
  await saved(page);
  const drop = async (name: string, text: string) => {
    const place = await page.locator(".cell").nth(1).boundingBox();
    const files = await page.evaluateHandle(
      ([name, text]) => {
        const data = new DataTransfer();
        data.items.add(new File([text], name));
        return data;
      },
      [name, text] as const,
    );
    const where = { clientX: 400, clientY: (place?.y ?? 0) + 2, dataTransfer: files };
    await page.dispatchEvent("main", "dragover", where);
    await expect(page.locator(".drop-line")).toBeVisible();
    await page.dispatchEvent("main", "drop", where);
    await expect(page.locator(".drop-line")).toHaveCount(0);
  };
  await drop("helper.py", "def f():\r\n    return 1\n");
  await expect(page.locator(".cell .source")).toHaveText([/first/, /def f\(\):\n    return 1/, /last/]);
  await drop("empty.ipynb", "{}");
  await expect(page.locator(".toast.bad")).toContainText("“empty.ipynb” has no cells");
  await expect(page.locator(".cell")).toHaveCount(3);
});

test("keys go to an output when one says so, and Esc brings them back", async ({ browser, server }) => {
  const page = await person(browser, server);
  const html = "<input id=typed><script>typed.focus()</script>";
  const output = { output_type: "display_data", data: { "text/html": html }, metadata: {} };
  const cell = { id: "a", cell_type: "code", source: "show()", execution_count: 1, outputs: [output], metadata: {} };
  await bringIn(page, { nbformat: 4, nbformat_minor: 5, metadata: {}, cells: [cell] }, "frame.ipynb");
  const frame = page.locator("iframe.frame");
  await page.getByRole("button", { name: "Show active content" }).click();
  await expect(page.frameLocator("iframe.frame").locator("#typed")).toBeVisible();
  await page.locator(".cell").focus();
  await expect(page.locator(".frame-hint")).toHaveCount(0);
  await page.keyboard.press("Control+Alt+k");
  await expect(frame).toBeFocused();
  await expect(page.locator(".frame-hint")).toBeVisible();
  await page.keyboard.press("Escape");
  await expect(page.locator(".cell")).toBeFocused();
  await expect(page.locator(".frame-hint")).toHaveCount(0);
});

test("earlier answers come back with ↑; a run has an address", async ({ browser, server }) => {
  const page = await person(browser, server);
  await page.getByRole("button", { name: "New notebook" }).click();
  await write(page, "print('got', input('name? '))");
  await page.keyboard.press("Control+Enter");
  const field = page.getByLabel("name?");
  await field.fill("Ann");
  await field.press("Enter");
  await expect(page.locator(".outputs")).toContainText("got Ann", { timeout: 60_000 });
  await page.locator(".cell").focus();
  await page.keyboard.press("Control+Enter");
  await field.press("ArrowUp");
  await expect(field).toHaveValue("Ann");
  await field.press("ArrowDown");
  await expect(field).toHaveValue("");
  await field.fill("Bo");
  await field.press("Enter");
  await expect(page.locator(".outputs")).toContainText("got Bo");

  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  await page.locator(".cell").focus();
  await page.keyboard.press("Control+Shift+P");
  await page.getByRole("combobox", { name: "Search commands" }).fill("compare runs");
  await page.keyboard.press("Enter");
  const dialog = page.getByRole("dialog", { name: "Runs of this cell" });
  const older = dialog.locator("section").filter({ hasText: "got Ann" });
  await older.getByRole("button", { name: "Copy link" }).click();
  await expect(older.getByRole("button", { name: "Copied" })).toBeVisible();
  const address = await page.evaluate(() => navigator.clipboard.readText());
  expect(address).toMatch(/#\/n\/[\w-]+\/[\w-]+\?run=[\w-]+$/);
  const other = await person(browser, server);
  await other.goto(address);
  await expect(other.getByRole("dialog").locator("section")).toHaveCount(1);
  await expect(other.getByRole("dialog")).toContainText("got Ann");
});

test("deleting says who uses what goes, and leads there", async ({ browser, server }) => {
  const page = await person(browser, server);
  await bringIn(page);
  await page
    .locator(".cell.code")
    .first()
    .click({ position: { x: 8, y: 60 } });
  await page.keyboard.press("d");
  await page.keyboard.press("d");
  await expect(page.locator(".toast")).toContainText("“readings” is used in cells 3, 4, 5");
  await page.locator(".toast").getByRole("button", { name: "Go to cell 3" }).click();
  await expect(page.locator(".cell").nth(2)).toHaveClass(/current/);
});

test("before a kernel is connected the panel says “yet”, and offers it once it is there", async ({ browser, server }) => {
  const page = await person(browser, server);
  let isThere = false;
  await page.route(/\/api\/notebooks\/[^/]+\/kernels$/, async (route) => {
    if (isThere) return route.continue();
    const answer = await route.fetch();
    await route.fulfill({ response: answer, json: { ...((await answer.json()) as object), kernelspecs: [] } });
  });
  await page.getByRole("button", { name: "New notebook" }).click();
  await saved(page);
  await page.locator(".bar .kernel").click();
  const words = page.getByText("No kernel is connected yet.");
  await expect(words).toBeInViewport();
  await expect(page.locator(".kernel-panel")).not.toContainText("Ask your administrator");
  isThere = true;
  await expect(page.getByRole("button", { name: /^Python 3/ }).last()).toBeInViewport();
  await expect(page.getByText("Start a kernel", { exact: true })).toBeInViewport();
  await expect(words).toHaveCount(0);
  await page.context().close();
});
