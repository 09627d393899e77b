// Files dropped on a notebook or pasted into it: data becomes a file and a cell that reads it, a picture becomes an attachment.
import { existsSync, mkdtempSync, readFileSync, readdirSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { JSHandle, Page } from "@playwright/test";
import { notebook, python } from "./cells.ts";
import { bringIn, picture } from "./demo.ts";
import { TestServer, expect, fresh, person, saved, test as base } from "./server.ts";

interface Scene {
  server: TestServer;
  folder: string;
}

const test = base.extend<{ clean: void }, { scene: Scene }>({
  scene: [
    async ({}, use) => {
      const folder = realpathSync(mkdtempSync(join(tmpdir(), "notarium-drops-")));
      const server = new TestServer();
      await server.start(["--working-dir", folder, "--max-file-size", "4MiB"]);
      await use({ server, folder });
      await server.end();
    },
    { scope: "worker", timeout: 240_000 },
  ],
  clean: [
    async ({ scene: { folder } }, use) => {
      for (const name of readdirSync(folder)) rmSync(join(folder, name), { recursive: true });
      await use();
    },
    { auto: true },
  ],
});

interface Given {
  name: string;
  type?: string;
  text?: string;
  base64?: string;
}

const PNG: Given = { name: "plot.png", type: "image/png", base64: picture().toString("base64") };
const CSV: Given = { name: "losses.csv", type: "text/csv", text: "epoch,loss\n1,0.5\n2,0.25\n" };

function transferOf(page: Page, files: Given[], text?: string): Promise<JSHandle<DataTransfer>> {
  return page.evaluateHandle(
    ([all, plain]) => {
      const transfer = new DataTransfer();
      for (const { name, type, text: content, base64 } of all) {
        const bytes = base64 === undefined ? (content ?? "") : Uint8Array.from(atob(base64), (sign) => sign.charCodeAt(0));
        transfer.items.add(new File([bytes], name, { type: type ?? "" }));
      }
      if (plain !== undefined) transfer.setData("text/plain", plain);
      return transfer;
    },
    [files, text] as const,
  );
}

/** Drops files at the upper edge of a cell, after dragging over it. */
async function drop(page: Page, files: Given[], cell = 0): Promise<void> {
  const dataTransfer = await transferOf(page, files);
  const target = page.locator(".cell").nth(cell);
  const box = await target.boundingBox();
  const at = { clientX: (box?.x ?? 0) + 60, clientY: (box?.y ?? 0) + 3 };
  await target.dispatchEvent("dragover", { dataTransfer, ...at });
  await expect(page.locator(".drop-line")).toBeInViewport();
  await target.dispatchEvent("drop", { dataTransfer, ...at });
  await expect(page.locator(".drop-line")).toHaveCount(0);
}

async function paste(page: Page, files: Given[], text?: string): Promise<void> {
  const data = await transferOf(page, files, text);
  await page.evaluate((clipboardData) => {
    const event = new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true });
    (document.activeElement ?? document.body).dispatchEvent(event);
  }, data);
}

const idOf = (page: Page) => /n\/([^/]+)/.exec(page.url())?.[1] ?? "";

interface Exported {
  cells: { cell_type: string; source: string[] | string; attachments?: Record<string, Record<string, string>> }[];
}

/** Cells of the exported notebook. */
async function exported(page: Page, server: TestServer): Promise<Exported["cells"]> {
  await saved(page);
  const file = (await (await server.send("GET", `/api/notebooks/${idOf(page)}/export`)).json()) as Exported;
  return file.cells.map((cell) => ({ ...cell, source: [cell.source].flat().join("") }));
}

async function opened(page: Page): Promise<void> {
  await bringIn(page, notebook(python("a", "first = 1"), python("b", "second = 2")), "Drops.ipynb");
  await page.locator(".cell .source").nth(1).waitFor();
  await page.locator(".cell").first().focus();
}

test("data that is dropped between two cells becomes a file and a cell there that reads it @smoke", async ({ browser, scene }) => {
  const page = await person(browser, scene.server);
  await opened(page);
  await drop(page, [CSV], 1);
  await expect(page.locator(".cell")).toHaveCount(3);
  await expect(page.locator(".cell").nth(1)).toContainText('losses = pd.read_csv("losses.csv")');
  await expect(page.locator(".cell").nth(1)).toBeInViewport();
  expect(readFileSync(join(scene.folder, "losses.csv"), "utf8")).toBe(CSV.text);
  // The same name again: both files remain.
  await drop(page, [{ ...CSV, text: "other\n1\n" }], 1);
  await expect(page.locator(".cell")).toHaveCount(4);
  expect(readFileSync(join(scene.folder, "losses.csv"), "utf8")).toBe(CSV.text);
  expect(readFileSync(join(scene.folder, "losses (2).csv"), "utf8")).toBe("other\n1\n");
  const sources = (await exported(page, scene.server)).map(({ source }) => source);
  expect(sources[1]).toContain('losses_2 = pd.read_csv("losses (2).csv")');
  expect(sources[2]).toContain('losses = pd.read_csv("losses.csv")');
  expect([sources[0], sources[3]]).toEqual(["first = 1", "second = 2"]);
});

test("several files go in their order, each as what it is", async ({ browser, scene }) => {
  const page = await person(browser, scene.server);
  await opened(page);
  const others: Given[] = [
    { name: "table.parquet", base64: "UEFSMQ==" },
    PNG,
    { name: "notes.md", text: "# Notes" },
    { name: "more.py", text: "third = 3" },
    { name: "rows.jsonl", text: '{"a": 1}\n' },
    { name: "archive.zip", base64: "UEsDBA==" },
  ];
  await drop(page, others, 1);
  await expect(page.locator(".cell")).toHaveCount(8);
  const cells = await exported(page, scene.server);
  expect(cells.map(({ cell_type }) => cell_type)).toEqual(["code", "code", "markdown", "markdown", "code", "code", "code", "code"]);
  const sources = cells.map(({ source }) => source);
  expect(sources[1]).toContain("read_parquet");
  expect(sources[2]).toBe("![plot](attachment:plot.png)");
  expect(sources[3]).toBe("# Notes");
  expect(sources[4]).toBe("third = 3");
  expect(sources[5]).toContain('pd.read_json("rows.jsonl", lines=True)');
  expect(sources[6]).toContain("archive.zip");
  expect(readdirSync(scene.folder).sort()).toEqual(["archive.zip", "rows.jsonl", "table.parquet"]);
});

test("a pasted picture is an attachment, shown and exported, and needs no agent @smoke", async ({ browser, scene }) => {
  const page = await person(browser, scene.server);
  await opened(page);
  await page.route("**/api/**/files**", (route) => route.abort());
  await paste(page, [{ ...PNG, name: "image.png" }]);
  await expect(page.locator(".cell")).toHaveCount(3);
  const shown = page.locator(".cell").nth(1).getByRole("img", { name: "image" });
  await expect(shown).toBeInViewport();
  await expect.poll(() => shown.evaluate((image: HTMLImageElement) => image.naturalWidth)).toBe(96);
  const [, cell] = await exported(page, scene.server);
  expect(cell?.source).toBe("![image](attachment:image.png)");
  expect(cell?.attachments?.["image.png"]?.["image/png"]).toBe(PNG.base64);
  // A copied cell includes the attachment, and each undo removes one cell.
  await page.keyboard.press("c");
  await page.keyboard.press("v");
  await expect(page.locator(".cell img")).toHaveCount(2);
  await page.keyboard.press("z");
  await page.keyboard.press("z");
  await expect(page.locator(".cell")).toHaveCount(2);
  expect((await exported(page, scene.server)).every(({ attachments }) => attachments === undefined)).toBe(true);
});

test("into an editor: text stays text, a picture goes to the caret of text, or below code", async ({ browser, scene }) => {
  const page = await person(browser, scene.server);
  await opened(page);
  await page.keyboard.press("Enter");
  await expect(page.locator(".editing .cm-content")).toBeFocused();
  await page.keyboard.press("End");
  // Spreadsheets copy a picture of the cells with their text: the text is pasted.
  await paste(page, [PNG], "\nx = 5");
  await expect(page.locator(".editing .cm-content")).toContainText("x = 5");
  await expect(page.locator(".cell")).toHaveCount(2);
  await paste(page, [PNG]);
  await expect(page.locator(".cell")).toHaveCount(3);
  await expect(page.locator(".editing .cm-content")).toBeFocused();
  await page.keyboard.type("0");
  await saved(page);
  let cells = await exported(page, scene.server);
  expect(cells[0]?.source).toBe("first = 1\nx = 50");
  expect(cells[1]?.attachments).toBeDefined();

  await page.locator(".cell.markdown").first().click();
  await page.keyboard.press("Enter");
  await expect(page.locator(".editing.markdown .cm-content")).toBeFocused();
  await page.keyboard.press("Control+Home");
  await page.keyboard.type("Before  after. ");
  for (let key = 0; key < 8; key++) await page.keyboard.press("ArrowLeft");
  await paste(page, [PNG]);
  await expect(page.locator(".editing .cm-content")).toContainText("attachment:plot-2.png");
  await page.keyboard.type("!");
  cells = await exported(page, scene.server);
  expect(cells[1]?.source).toMatch(/^Before !\[plot-2\]\(attachment:plot-2\.png\)! after\. !\[plot\]/);
  expect(Object.keys(cells[1]?.attachments ?? {}).sort()).toEqual(["plot-2.png", "plot.png"]);
});

test("a picture that is too large is refused with what to do, a file that is too large says the limit", async ({
  browser,
  scene,
}) => {
  const page = await person(browser, scene.server);
  await opened(page);
  const large = await page.evaluateHandle(() => {
    const transfer = new DataTransfer();
    transfer.items.add(new File([new Uint8Array(4_500_000)], "photo.png", { type: "image/png" }));
    transfer.items.add(new File([new Uint8Array(4_500_000)], "large.parquet"));
    return transfer;
  });
  await page.locator(".cell").first().dispatchEvent("drop", { dataTransfer: large, clientX: 300, clientY: 300 });
  await expect(page.locator(".toast.bad")).toContainText("larger than 4 MB");
  const uploads = page.getByRole("region", { name: "Uploads" });
  await expect(uploads).toContainText(/at most|lets/);
  await expect(uploads).toBeInViewport();
  await page.getByRole("button", { name: "Dismiss large.parquet" }).click();
  await expect(uploads).toHaveCount(0);
  expect(await exported(page, scene.server)).toHaveLength(2);
  expect(readdirSync(scene.folder)).toEqual([]);
});

test("offline in the middle: nothing is stored by half, one tries again, and the cell comes once", async ({ browser, scene }) => {
  const page = await person(browser, scene.server);
  await opened(page);
  let isCut = true;
  await page.route("**/files/content**", (route) => (isCut ? route.abort("connectionreset") : route.continue()));
  await drop(page, [CSV], 1);
  const uploads = page.getByRole("region", { name: "Uploads" });
  await expect(uploads).toContainText("No connection.");
  await page.context().setOffline(true);
  // The person types on, and the upload does not move the focus.
  await page.locator(".cell .source").first().click();
  await expect(page.locator(".editing .cm-content")).toBeFocused();
  await page.keyboard.press("End");
  await page.keyboard.type("0");
  await page.context().setOffline(false);
  isCut = false;
  await uploads.getByRole("button", { name: "Try again" }).click();
  await expect(page.locator(".cell")).toHaveCount(3);
  await expect(uploads).toContainText("Uploaded");
  await saved(page);
  const sources = (await exported(page, scene.server)).map(({ source }) => source);
  expect(sources[0]).toBe("first = 10");
  expect(sources.filter((source) => String(source).includes("read_csv"))).toHaveLength(1);
  expect(readFileSync(join(scene.folder, "losses.csv"), "utf8")).toBe(CSV.text);
});

test("who may only read adds nothing, and who may edit but not run adds pictures alone", async ({ browser, scene }) => {
  const page = await person(browser, scene.server);
  await opened(page);
  const id = idOf(page);
  const bob = await scene.server.account("Bob Drops");
  const give = (role: string) =>
    scene.server.send("PUT", `/api/notebooks/${id}/access`, { subject: { kind: "user", id: bob.id }, role });
  await give("viewer");
  const theirs = await (await fresh(browser)).newPage();
  await theirs.goto(`${scene.server.url}/#token=${bob.token}`);
  await theirs.goto(`${scene.server.url}/#/n/${id}`);
  await theirs.locator(".cell .source").nth(1).waitFor();
  const given = async (files: Given[]) => {
    const dataTransfer = await transferOf(theirs, files);
    const target = theirs.locator(".cell").first();
    const isStopped = await target.evaluate((cell, transfer) => {
      const event = new DragEvent("drop", { dataTransfer: transfer, bubbles: true, cancelable: true });
      return !cell.dispatchEvent(event);
    }, dataTransfer);
    // Otherwise the browser would leave the page and open the file.
    expect(isStopped).toBe(true);
  };
  await given([CSV]);
  await expect(theirs.locator(".toast.bad").last()).toContainText("You can only read this notebook");
  await give("author");
  await expect(theirs.locator(".bar")).toContainText("Can edit");
  await given([CSV, PNG]);
  await expect(theirs.locator(".toast.bad").last()).toContainText("you need the right to run code");
  await expect(theirs.locator(".cell img")).toHaveCount(1);
  expect(existsSync(join(scene.folder, "losses.csv"))).toBe(false);
  const cells = await exported(page, scene.server);
  expect(cells.map(({ cell_type }) => cell_type).sort()).toEqual(["code", "code", "markdown"]);
});

test("by keys alone: files are chosen and go below the chosen cell", async ({ browser, scene }) => {
  const page = await person(browser, scene.server);
  await opened(page);
  await page.keyboard.press("Control+Shift+P");
  await expect(page.getByRole("combobox", { name: "Search commands" })).toBeFocused();
  await page.keyboard.type("add files");
  const choosing = page.waitForEvent("filechooser");
  await page.keyboard.press("Enter");
  await (await choosing).setFiles([{ name: "losses.csv", mimeType: "text/csv", buffer: Buffer.from(CSV.text ?? "") }]);
  await expect(page.locator(".cell")).toHaveCount(3);
  await expect(page.locator(".cell").nth(1)).toContainText("read_csv");
});

test("cells are still dragged by their grip, and a picture of the page itself is no file", async ({ browser, scene }) => {
  const page = await person(browser, scene.server);
  await opened(page);
  await paste(page, [PNG]);
  await expect(page.locator(".cell img")).toBeInViewport();
  const image = page.locator(".cell img");
  const dataTransfer = await transferOf(page, [PNG]);
  await image.dispatchEvent("dragstart", { dataTransfer });
  await page.locator(".cell").first().dispatchEvent("dragover", { dataTransfer, clientX: 300, clientY: 200 });
  await page.locator(".cell").first().dispatchEvent("drop", { dataTransfer, clientX: 300, clientY: 200 });
  await image.dispatchEvent("dragend", { dataTransfer });

  const first = page.locator(".cell").first();
  await first.hover();
  const grip = first.locator(".grip");
  await grip.hover();
  const [from, to] = [await grip.boundingBox(), await page.locator(".cell").nth(2).boundingBox()];
  await page.mouse.move((from?.x ?? 0) + 5, (from?.y ?? 0) + 5);
  await page.mouse.down();
  await page.mouse.move((to?.x ?? 0) + 40, (to?.y ?? 0) + 4, { steps: 8 });
  await page.mouse.move((to?.x ?? 0) + 40, (to?.y ?? 0) + (to?.height ?? 0) - 3, { steps: 8 });
  await page.mouse.up();
  await expect(page.locator(".cell").last()).toContainText("first = 1");
  await expect(page.locator(".cell")).toHaveCount(3);
  writeFileSync(join(scene.folder, "still-here"), "");
  expect(readdirSync(scene.folder)).toEqual(["still-here"]);
});
