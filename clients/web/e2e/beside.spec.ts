// Files panel of a notebook: list, preview, upload, rename, delete and restore, with a real agent and its folder.
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import AxeBuilder from "@axe-core/playwright";
import type { Locator, Page } from "@playwright/test";
import { bringIn, picture } from "./demo.ts";
import { python, notebook } from "./cells.ts";
import { TestServer, expect, fresh, person, saved, test as base } from "./server.ts";
import { LOOKS } from "./looks.ts";

interface Scene {
  server: TestServer;
  folder: string;
}

const test = base.extend<{ clean: void }, { scene: Scene }>({
  scene: [
    async ({}, use) => {
      const folder = realpathSync(mkdtempSync(join(tmpdir(), "notarium-work-")));
      const server = new TestServer();
      await server.start(["--working-dir", folder]);
      await use({ server, folder });
      await server.end();
    },
    { scope: "worker", timeout: 240_000 },
  ],
  clean: [
    async ({ scene: { folder } }, use) => {
      for (const name of readdirSync(folder)) rmSync(join(folder, name), { recursive: true });
      mkdirSync(join(folder, "data/deep"), { recursive: true });
      writeFileSync(join(folder, "losses.csv"), "epoch,loss\n1,0.5\n2,0.25\n");
      writeFileSync(join(folder, "data/deep/notes.txt"), "Remember the milk.\n");
      writeFileSync(join(folder, ".hidden"), "x");
      symlinkSync("/etc/passwd", join(folder, "passwords"));
      await use();
    },
    { auto: true },
  ],
});

async function command(page: Page, words: string): Promise<void> {
  await page.keyboard.press("Control+Shift+P");
  await expect(page.getByRole("combobox", { name: "Search commands" })).toBeFocused();
  await page.keyboard.type(words);
  await page.keyboard.press("Enter");
}

const idOf = (page: Page) => /n\/([^/]+)/.exec(page.url())?.[1] ?? "";

async function opened(page: Page): Promise<Locator> {
  await bringIn(page, notebook(python("a", "1 + 1")), "Shelf.ipynb");
  await page.locator(".cell .source").first().waitFor();
  await command(page, "files");
  const panel = page.getByRole("complementary", { name: "Files" });
  await expect(panel.getByRole("tree", { name: "Files" })).toBeInViewport();
  return panel;
}

const row = (panel: Locator, name: string) => panel.getByRole("treeitem", { name: new RegExp(`^${name}`) });

async function choose(page: Page, panel: Locator, name: string, item: string): Promise<void> {
  await row(panel, name)
    .getByRole("button", { name: /^More about/ })
    .first()
    .click();
  await page.getByRole("menuitem", { name: item }).click();
}

const looking = (page: Page) => page.locator(".file-row .facts");

test("the tree shows folders, sizes and hidden files; a link that leads out is out of reach @smoke", async ({ browser, scene }) => {
  const page = await person(browser, scene.server);
  const panel = await opened(page);
  await expect(panel.getByRole("treeitem")).toHaveCount(3);
  await expect(row(panel, "losses.csv")).toContainText("24 byte");
  await expect(row(panel, "passwords")).toHaveAttribute("data-kind", "other");
  await row(panel, "data").click();
  await row(panel, "deep").click();
  await expect(row(panel, "notes.txt")).toBeInViewport();
  await expect(row(panel, "notes.txt")).toHaveAttribute("aria-level", "3");
  await panel.getByLabel("Show hidden").check();
  await expect(row(panel, "\\.hidden")).toBeInViewport();
  await expect(looking(page).first()).toBeInViewport();
});

test("files are previewed: a table, text, a picture, and what has none", async ({ browser, scene }) => {
  writeFileSync(join(scene.folder, "plot.png"), picture());
  writeFileSync(join(scene.folder, "model.bin"), Buffer.from([0, 1, 2, 255]));
  writeFileSync(join(scene.folder, "empty.txt"), "");
  writeFileSync(join(scene.folder, "long.csv"), "a,b\n" + "1,2\n".repeat(200_000));
  const page = await person(browser, scene.server);
  const panel = await opened(page);
  const preview = page.getByRole("dialog");
  const show = async (name: string) => {
    await page.keyboard.press("Escape");
    await expect(preview).toHaveCount(0);
    await row(panel, name).click();
    await expect(preview).toBeInViewport();
  };
  await show("losses.csv");
  await expect(preview.getByRole("columnheader")).toHaveText(["epoch", "loss"]);
  await expect(preview.getByRole("row")).toHaveCount(3);
  await expect(preview).toContainText("2 rows.");
  await show("long.csv");
  await expect(preview).toContainText("The first 200 rows.");
  await show("plot.png");
  await expect(preview.getByRole("img", { name: "plot.png" })).toBeInViewport();
  await expect.poll(() => preview.getByRole("img").evaluate((image: HTMLImageElement) => image.naturalWidth)).toBe(96);
  await show("model.bin");
  await expect(preview).toContainText("This file has no preview.");
  await show("empty.txt");
  await expect(preview).toContainText("The file is empty.");
  await page.keyboard.press("Escape");
  await row(panel, "data").click();
  await row(panel, "deep").click();
  await show("notes.txt");
  await expect(preview).toContainText("Remember the milk.");
});

test("files are uploaded, kept beside or replaced by word, and downloaded", async ({ browser, scene }) => {
  const page = await person(browser, scene.server);
  const panel = await opened(page);
  const picker = panel.getByLabel("Files to upload");
  const bytes = Buffer.alloc(3_000_000, 7);
  await picker.setInputFiles([{ name: "été 😀.bin", mimeType: "application/octet-stream", buffer: bytes }]);
  await expect(row(panel, "été 😀.bin")).toContainText("3 MB");
  expect(readFileSync(join(scene.folder, "été 😀.bin")).equals(bytes)).toBe(true);

  const moving = panel.getByRole("list", { name: "Transfers" }).getByRole("listitem");
  const bring = (text: string) => picker.setInputFiles([{ name: "losses.csv", mimeType: "text/csv", buffer: Buffer.from(text) }]);
  await bring("other");
  await expect(moving.filter({ hasText: "losses.csv" })).toContainText("A file with this name exists");
  expect(readFileSync(join(scene.folder, "losses.csv"), "utf8")).toContain("0.5");
  await panel.getByRole("button", { name: "Keep both" }).click();
  await expect(row(panel, "losses \\(2\\).csv")).toBeInViewport();
  expect(readFileSync(join(scene.folder, "losses (2).csv"), "utf8")).toBe("other");
  await bring("new");
  await panel.getByRole("button", { name: "Replace file" }).click();
  await expect.poll(() => readFileSync(join(scene.folder, "losses.csv"), "utf8")).toBe("new");

  const downloading = page.waitForEvent("download");
  await choose(page, panel, "été 😀.bin", "Download");
  const download = await downloading;
  expect(download.suggestedFilename()).toContain("😀.bin");
  expect(readFileSync(await download.path()).equals(bytes)).toBe(true);

  // Files dropped on a folder of the tree go into it.
  const data = await page.evaluateHandle(() => {
    const transfer = new DataTransfer();
    transfer.items.add(new File(["dropped"], "dropped.txt"));
    return transfer;
  });
  const target = row(panel, "data").locator(".file-row").first();
  await target.dispatchEvent("dragover", { dataTransfer: data });
  await expect(target).toHaveClass(/over/);
  await target.dispatchEvent("drop", { dataTransfer: data });
  await expect.poll(() => existsSync(join(scene.folder, "data/dropped.txt"))).toBe(true);
  expect(readFileSync(join(scene.folder, "data/dropped.txt"), "utf8")).toBe("dropped");
});

test("by keys alone: walked, renamed, moved, deleted, undone; nothing is recorded and nothing replaced @smoke", async ({
  browser,
  scene,
}) => {
  const page = await person(browser, scene.server);
  const panel = await opened(page);
  const before = await scene.server.command("log", idOf(page));
  await row(panel, "data").focus();
  await page.keyboard.press("ArrowRight");
  await expect(row(panel, "deep")).toBeInViewport();
  await page.keyboard.press("ArrowRight");
  await expect(row(panel, "deep")).toBeFocused();
  await page.keyboard.press("ArrowLeft");
  await expect(row(panel, "data")).toBeFocused();
  await page.keyboard.press("ArrowLeft");
  await expect(row(panel, "deep")).toHaveCount(0);

  await page.keyboard.press("ArrowDown");
  await expect(row(panel, "losses.csv")).toBeFocused();
  await page.keyboard.press("F2");
  const field = panel.getByRole("textbox", { name: "New name or path" });
  await expect(field).toBeFocused();
  // Only the name is selected, not its suffix.
  await page.keyboard.type("data");
  await page.keyboard.press("End");
  await page.keyboard.press("Control+Shift+ArrowLeft");
  for (let key = 0; key < 8; key++) await page.keyboard.press("Backspace");
  await page.keyboard.press("Control+a");
  await page.keyboard.type("data");
  await page.keyboard.press("Enter");
  await expect(panel.getByRole("alert")).toContainText("exists");
  await page.keyboard.press("Escape");
  await expect(row(panel, "losses.csv")).toBeFocused();

  await page.keyboard.press("F2");
  await expect(field).toBeFocused();
  await page.keyboard.type("losses of 2025");
  await page.keyboard.press("Enter");
  await expect(row(panel, "losses of 2025.csv")).toBeFocused();
  expect(existsSync(join(scene.folder, "losses of 2025.csv"))).toBe(true);
  await page.keyboard.press("F2");
  await expect(field).toBeFocused();
  await page.keyboard.press("Home");
  await page.keyboard.type("new/place/");
  await page.keyboard.press("Enter");
  await expect(row(panel, "new")).toBeInViewport();
  expect(readFileSync(join(scene.folder, "new/place/losses of 2025.csv"), "utf8")).toContain("0.25");

  await row(panel, "data").focus();
  await page.keyboard.press("Delete");
  await expect(row(panel, "data")).toHaveCount(0);
  expect(existsSync(join(scene.folder, "data"))).toBe(false);
  const toast = page.locator(".toast").filter({ hasText: "“data” moved to the trash" });
  await toast.getByRole("button", { name: "Undo" }).focus();
  await page.keyboard.press("Enter");
  await expect(row(panel, "data")).toBeInViewport();
  expect(readFileSync(join(scene.folder, "data/deep/notes.txt"), "utf8")).toBe("Remember the milk.\n");
  // No key reached the cells.
  await expect(page.locator(".cell")).toHaveCount(1);
  expect(await scene.server.command("log", idOf(page))).toBe(before);
});

test("what is in the trash is restored, beside what took its place, or deleted for good after a question", async ({
  browser,
  scene,
}) => {
  const page = await person(browser, scene.server);
  const panel = await opened(page);
  await choose(page, panel, "losses.csv", "Delete file");
  await expect(row(panel, "losses.csv")).toHaveCount(0);
  await choose(page, panel, "data", "Delete folder");
  await expect(row(panel, "data")).toHaveCount(0);
  writeFileSync(join(scene.folder, "losses.csv"), "newer");
  await panel.getByRole("button", { name: "Trash" }).click();
  const trash = panel.getByRole("list", { name: "Files in the trash" }).getByRole("listitem");
  await expect(trash).toHaveCount(2);
  await panel.getByRole("button", { name: "Restore data" }).click();
  await expect(trash).toHaveCount(1);
  expect(existsSync(join(scene.folder, "data/deep/notes.txt"))).toBe(true);
  await panel.getByRole("button", { name: "Restore losses.csv" }).click();
  await expect(panel.getByRole("alert")).toContainText("exists again");
  await panel.getByRole("button", { name: "Restore as “losses (2).csv”" }).click();
  await expect(panel).toContainText("The trash is empty.");
  expect(readFileSync(join(scene.folder, "losses.csv"), "utf8")).toBe("newer");
  expect(readFileSync(join(scene.folder, "losses (2).csv"), "utf8")).toContain("0.5");

  await panel.getByRole("button", { name: "Files", exact: true }).click();
  await choose(page, panel, "losses \\(2\\).csv", "Delete file");
  await panel.getByRole("button", { name: "Trash" }).click();
  await panel.getByRole("button", { name: "Delete losses (2).csv forever" }).click();
  const question = page.getByRole("alertdialog");
  await expect(question).toContainText("This can’t be undone.");
  await question.getByRole("button", { name: "Cancel" }).click();
  await expect(trash).toHaveCount(1);
  await panel.getByRole("button", { name: "Empty trash" }).click();
  await question.getByRole("button", { name: "Empty trash" }).click();
  await expect(panel).toContainText("The trash is empty.");
  expect(readdirSync(join(scene.folder, ".notarium-trash"))).toEqual([".gitignore"]);
});

test("a file is read into a cell below the chosen one, and the code runs @smoke", async ({ browser, scene }) => {
  const page = await person(browser, scene.server);
  const panel = await opened(page);
  writeFileSync(join(scene.folder, "config.json"), '{"rate": 0.125}');
  await panel.getByRole("button", { name: "Refresh" }).click();
  await page.locator(".cell").first().focus();
  await row(panel, "config.json").focus();
  await page.keyboard.press("Shift+F10");
  await page.getByRole("menuitem", { name: "Read into a cell" }).press("Enter");
  await expect(page.locator(".cell")).toHaveCount(2);
  await expect(page.locator(".cell").nth(1)).toBeInViewport();
  await page.locator(".cell").nth(1).focus();
  await page.keyboard.press("Control+Enter");
  await expect(page.locator(".cell").nth(1).locator(".outputs")).toContainText("0.125", { timeout: 60_000 });
  await saved(page);
  const shown = await scene.server.command("show", idOf(page));
  expect(shown).toContain('config = json.loads(Path("config.json").read_text(encoding="utf-8"))');
});

test("who may not run code has no files; a role that is lowered in the middle says so", async ({ browser, scene }) => {
  const page = await person(browser, scene.server);
  await opened(page);
  const id = idOf(page);
  const bob = await scene.server.account("Bob Files");
  const give = (role: string) =>
    scene.server.send("PUT", `/api/notebooks/${id}/access`, { subject: { kind: "user", id: bob.id }, role });
  await give("editor");
  const theirs = await (await fresh(browser)).newPage();
  await theirs.goto(`${scene.server.url}/#token=${bob.token}`);
  await theirs.goto(`${scene.server.url}/#/n/${id}`);
  await theirs.locator(".cell .source").first().waitFor();
  await command(theirs, "files");
  const panel = theirs.getByRole("complementary", { name: "Files" });
  await expect(row(panel, "losses.csv")).toBeInViewport();
  await give("viewer");
  await expect(panel).toContainText("You need the right to run code to use files.");
  await expect(panel.getByRole("tree")).toHaveCount(0);
  expect(existsSync(join(scene.folder, "losses.csv"))).toBe(true);
});

test("names that would break or turn the line are written out, and can be mended", async ({ browser, scene }) => {
  writeFileSync(join(scene.folder, "txt.\u202evsc.exe"), "odd");
  writeFileSync(join(scene.folder, "line\nbreak"), "odd");
  writeFileSync(join(scene.folder, "נתונים.csv"), "a\n1\n");
  const page = await person(browser, scene.server);
  const panel = await opened(page);
  await expect(row(panel, "נתונים.csv")).toBeInViewport();
  await expect(panel.locator(".name").filter({ hasText: "txt.\\u202evsc.exe" })).toBeInViewport();
  await row(panel, "line\\\\x0abreak").focus();
  await page.keyboard.press("F2");
  await page.keyboard.press("Control+a");
  await page.keyboard.type("bad\u202ename");
  await page.keyboard.press("Enter");
  await expect(panel.getByRole("alert")).toContainText("direction of text");
  await page.keyboard.press("Control+a");
  await page.keyboard.type("mended.txt");
  await page.keyboard.press("Enter");
  await expect(row(panel, "mended.txt")).toBeInViewport();
  expect(readFileSync(join(scene.folder, "mended.txt"), "utf8")).toBe("odd");
});

test("errors are told, an old agent offers no changes, and the panel fits every screen", async ({ browser, scene }) => {
  const page = await person(browser, scene.server);
  const panel = await opened(page);
  await row(panel, "data").click();
  for (const { name, colorScheme, width } of LOOKS) {
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize({ width, height: 860 });
    if (process.env.NOTARIUM_SHOTS) await page.screenshot({ path: join(process.env.NOTARIUM_SHOTS, `files-${name}.png`) });
    const box = await panel.boundingBox();
    expect(box?.x).toBeGreaterThanOrEqual(0);
    expect((box?.x ?? 0) + (box?.width ?? 0)).toBeLessThanOrEqual(width);
  }
  // Touch targets on the phone: at least 44 px high.
  for (const target of await panel.locator("button:visible, .file-row:visible").all()) {
    const box = await target.boundingBox();
    expect(box?.height, await target.innerText()).toBeGreaterThanOrEqual(44);
  }
  await page.setViewportSize({ width: 1280, height: 860 });
  expect((await new AxeBuilder({ page }).include(".panel.files").analyze()).violations).toEqual([]);
  await page.route("**/files?*", (route) =>
    route.fulfill({
      status: 503,
      contentType: "application/problem+json",
      body: JSON.stringify({ code: "agent_unreachable", detail: "the runtime agent cannot be reached: wait until it is back" }),
    }),
  );
  await panel.getByRole("button", { name: "Refresh" }).click();
  await expect(panel.getByRole("alert")).toContainText("No runtime agent is connected.");
  await page.unroute("**/files?*");
  await page.route("**/files?*", async (route) => {
    const answer = await route.fetch();
    await route.fulfill({ response: answer, json: { ...((await answer.json()) as object), can_change: false } });
  });
  await panel.getByRole("button", { name: "Try again" }).click();
  await expect(panel).toContainText("too old to rename or delete");
  await row(panel, "losses.csv")
    .getByRole("button", { name: /^More about/ })
    .click();
  await expect(page.getByRole("menuitem")).toHaveText(["Read into a cell", "Preview", "Download", "Copy path"]);
});
