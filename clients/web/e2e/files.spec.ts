// Import and export of notebooks, and cells copied between notebooks.
import { readFileSync } from "node:fs";
import type { Page } from "@playwright/test";
import { bringIn, demo } from "./demo.ts";
import { TestServer, expect, person, saved, test, write } from "./server.ts";

async function command(page: Page, words: string): Promise<void> {
  await page.keyboard.press("Control+Shift+P");
  await page.getByRole("combobox", { name: "Search commands" }).fill(words);
  await page.keyboard.press("Enter");
}

const large = {
  ...{ nbformat: 4, nbformat_minor: 5, metadata: {} },
  cells: [
    {
      ...{ id: "a", cell_type: "code", source: "long()", execution_count: 1, metadata: {} },
      outputs: [{ output_type: "stream", name: "stdout", text: "a long line of text\n".repeat(2_000) }],
    },
  ],
};

test("a download is the notebook; one that lacks an output says so, on the list and in the notebook", async ({ browser }) => {
  const server = new TestServer();
  await server.start();
  const page = await person(browser, server);
  await bringIn(page, large, "Long.ipynb");
  const file = async (start: () => Promise<void>) => {
    const coming = page.waitForEvent("download");
    await start();
    const download = await coming;
    return { name: download.suggestedFilename(), text: readFileSync(await download.path(), "utf8") };
  };
  const whole = await file(() => command(page, "download as"));
  expect(whole.name).toBe("Long.ipynb");
  expect(whole.text).toContain("a long line of text");
  await expect(page.locator(".toast")).toHaveCount(0);

  expect(server.loseBlobs()).toBeGreaterThan(0);
  const lacking = await file(() => command(page, "download as"));
  expect(lacking.text).not.toContain("a long line of text");
  await expect(page.locator(".toast.bad")).toContainText("1 large output is missing in the file");
  await page.reload();
  await expect(page.locator(".outputs .error")).toContainText("Couldn’t load");

  await page.getByRole("link", { name: "All notebooks" }).click();
  await file(async () => {
    await page.getByRole("button", { name: "More about “Long”" }).click();
    await page.getByRole("menuitem", { name: "Download as .ipynb" }).click();
  });
  await expect(page.getByRole("status")).toContainText("1 large output is missing in the file");
  await page.context().close();
  await server.end();
});

test("what an import changed is told in the notebook", async ({ browser, server }) => {
  const page = await person(browser, server);
  await bringIn(
    page,
    { nbformat: 4, nbformat_minor: 5, cells: [{ cell_type: "code", source: 7, metadata: {}, outputs: [] }] },
    "old.ipynb",
  );
  await expect(page.locator(".toast")).toContainText("The import changed");
  await page.context().close();
});

test("cells go to another notebook by copy and paste", async ({ browser, server }) => {
  const page = await person(browser, server);
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  await bringIn(page, demo, "From.ipynb");
  await page.locator(".cell").first().focus();
  await page.keyboard.press("Shift+ArrowDown");
  await page.keyboard.press("Control+c");
  await page.getByRole("link", { name: "All notebooks" }).click();
  await page.getByRole("button", { name: "New notebook" }).click();
  await write(page, "here");
  await page.keyboard.press("Escape");
  await page.keyboard.press("Control+v");
  await expect(page.locator(".cell")).toHaveCount(3);
  await expect(page.locator(".cell").nth(1)).toHaveClass(/markdown/);
  await expect(page.locator(".cell").nth(2)).toContainText("read_csv");
  await saved(page);
  await page.context().close();
});

test("five megabytes in a cell: refused with a word when pasted, and nothing is lost", async ({ browser, server }) => {
  const page = await person(browser, server);
  await page.getByRole("button", { name: "New notebook" }).click();
  await write(page, "kept = 1");
  await saved(page);
  const paste = (target: string, bytes: number, line = "x = 1  # and so on\n") =>
    page.evaluate(
      ([selector, count, text]) => {
        const data = new DataTransfer();
        data.setData("text/plain", text.repeat(Number(count) / text.length));
        const event = new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true });
        document.querySelector(String(selector))?.dispatchEvent(event);
      },
      [target, bytes, line] as const,
    );
  await paste(".editing .cm-content", 5_000_000);
  await expect(page.locator(".toast.bad")).toContainText("Too long to insert (5.0 MB");
  // Fewer characters than a cell holds bytes, and three bytes each.
  await paste(".editing .cm-content", 500_000, "日本語の長い文章\n");
  await expect(page.locator(".toast.bad").last()).toContainText("Too long to insert (1.4 MB");
  await page.keyboard.type("2");
  await saved(page);
  await expect(page.locator(".cell .source").first()).toHaveText(/^kept = 1\D*2|kept = 12/);

  // Pasted as a new cell: the server's refusal names the limit.
  await page.keyboard.press("Escape");
  await paste(".cell", 5_000_000);
  await expect(page.locator(".toast.bad").last()).toContainText(/at most \d+ bytes/);
  // Text beyond the frame limit does not break the connection repeatedly.
  await paste(".cell", 20_000_000);
  await expect(page.locator(".toast.bad").last()).toContainText("Too large");
  await saved(page);
  await expect(page.locator(".cell")).toHaveCount(1);
  await page.context().close();
});

test("a notebook of 20 MB is dropped on the list: it opens, whole, and the page stays quick", async ({ browser, server }) => {
  const page = await person(browser, server);
  const data = await page.evaluateHandle(() => {
    const text = "station,month,celsius,wind,pressure,remark that nobody reads\n".repeat(8_600);
    const cell = (_: unknown, at: number) => ({
      ...{ id: `c${at}`, cell_type: "code", source: `print(read(${at}))`, execution_count: at + 1, metadata: {} },
      outputs: [{ output_type: "stream", name: "stdout", text: `part ${at}\n${text}` }],
    });
    const notebook = { nbformat: 4, nbformat_minor: 5, metadata: {}, cells: Array.from({ length: 40 }, cell) };
    const transfer = new DataTransfer();
    transfer.items.add(new File([JSON.stringify(notebook)], "Large.ipynb"));
    return transfer;
  });
  const size = await data.evaluate((transfer) => transfer.files[0]?.size ?? 0);
  expect(size).toBeGreaterThan(20_000_000);
  const home = page.locator(".home");
  await home.dispatchEvent("dragover", { dataTransfer: data });
  await expect(home).toHaveClass(/over/);
  await home.dispatchEvent("drop", { dataTransfer: data });
  await expect(page.getByRole("status")).toContainText("Importing Large.ipynb");
  await expect(page.locator(".cell")).toHaveCount(40, { timeout: 120_000 });
  await expect(page.locator(".cell").first()).toContainText("part 0");
  await expect(page).toHaveTitle(/Large/);
  await page.locator(".cell .source").first().click();
  await page.locator(".editing .cm-focused").waitFor();
  const started = Date.now();
  await page.keyboard.type("x");
  await expect(page.locator(".editing .cm-content")).toContainText("x");
  expect(Date.now() - started).toBeLessThan(2_000);
  await saved(page);
  const id = /n\/([^/]+)/.exec(page.url())?.[1] ?? "";
  const file = (await (await server.send("GET", `/api/notebooks/${id}/export`)).text()).length;
  expect(file, "nothing of it is lost").toBeGreaterThan(size - 1_000);
});
