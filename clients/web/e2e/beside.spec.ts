// Files beside a notebook: looked through, uploaded, downloaded, with a real agent and its folder.
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "@playwright/test";
import { TestServer, expect, person, test as base } from "./server.ts";
import { LOOKS } from "./looks.ts";

const test = base.extend<object, { scene: { server: TestServer; folder: string } }>({
  scene: [
    async ({}, use) => {
      const folder = realpathSync(mkdtempSync(join(tmpdir(), "notarium-work-")));
      mkdirSync(join(folder, "data"));
      writeFileSync(join(folder, "losses.csv"), "epoch,loss\n1,0.5\n");
      writeFileSync(join(folder, ".hidden"), "x");
      symlinkSync("/etc/passwd", join(folder, "passwords"));
      const server = new TestServer();
      await server.start(["--working-dir", folder]);
      await use({ server, folder });
      await server.end();
    },
    { scope: "worker", timeout: 240_000 },
  ],
});

async function opened(page: Page) {
  await page.getByRole("button", { name: "New notebook" }).click();
  await page.locator(".cell .source").first().waitFor();
  await page.keyboard.press("Escape");
  await page.keyboard.press("Control+k");
  await page.getByRole("combobox", { name: "Search commands" }).fill("files");
  await page.keyboard.press("Enter");
  const dialog = page.getByRole("dialog", { name: "Files" });
  await expect(dialog.getByRole("list", { name: "Files", exact: true })).toBeVisible();
  return dialog;
}

test("files are looked through, brought, replaced by word, and fetched", async ({ browser, scene }) => {
  const page = await person(browser, scene.server);
  const dialog = await opened(page);
  const files = dialog.getByRole("list", { name: "Files", exact: true }).getByRole("listitem");
  await expect(files).toHaveCount(3);
  await expect(files.filter({ hasText: "losses.csv" })).toContainText("17 byte");
  await expect(files.filter({ hasText: "passwords" }).getByRole("button")).toHaveCount(0);

  const picker = dialog.getByLabel("Files to upload");
  const bytes = Buffer.alloc(3_000_000, 7);
  await picker.setInputFiles([{ name: "été 😀.bin", mimeType: "application/octet-stream", buffer: bytes }]);
  await expect(dialog.getByRole("status")).toContainText("Uploaded");
  await expect(files.filter({ hasText: "été 😀.bin" })).toContainText("3 MB");
  expect(readFileSync(join(scene.folder, "été 😀.bin")).equals(bytes)).toBe(true);

  const newer = { name: "losses.csv", mimeType: "text/csv", buffer: Buffer.from("new") };
  await picker.setInputFiles([newer]);
  const moving = dialog.getByRole("list", { name: "Transfers" }).getByRole("listitem");
  await expect(moving.filter({ hasText: "losses.csv" })).toContainText("A file with this name exists");
  expect(readFileSync(join(scene.folder, "losses.csv"), "utf8")).toContain("0.5");
  await dialog.getByRole("button", { name: "Replace" }).click();
  await expect(moving.filter({ hasText: "losses.csv" })).toContainText("Uploaded");
  expect(readFileSync(join(scene.folder, "losses.csv"), "utf8")).toBe("new");

  const downloading = page.waitForEvent("download");
  await dialog.getByRole("button", { name: "Download été 😀.bin" }).click();
  const download = await downloading;
  expect(download.suggestedFilename()).toContain("😀.bin");
  expect(readFileSync(await download.path()).equals(bytes)).toBe(true);

  await dialog.getByRole("button", { name: "data" }).click();
  await expect(dialog.getByText("No files yet.")).toBeVisible();
  const data = await page.evaluateHandle(() => {
    const transfer = new DataTransfer();
    transfer.items.add(new File(["dropped"], "dropped.txt"));
    return transfer;
  });
  await dialog.dispatchEvent("dragover", { dataTransfer: data });
  await expect(dialog).toHaveClass(/over/);
  await dialog.dispatchEvent("drop", { dataTransfer: data });
  await expect(files.filter({ hasText: "dropped.txt" })).toBeVisible();
  expect(readFileSync(join(scene.folder, "data", "dropped.txt"), "utf8")).toBe("dropped");

  await dialog.getByRole("button", { name: "Folder" }).click();
  await dialog.getByLabel("Show hidden").check();
  await expect(files.filter({ hasText: ".hidden" })).toBeVisible();
});

test("errors are told, and the dialog fits every screen", async ({ browser, scene }) => {
  const page = await person(browser, scene.server);
  const dialog = await opened(page);
  for (const { name, colorScheme, width } of LOOKS) {
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize({ width, height: 860 });
    if (process.env.NOTARIUM_SHOTS) await page.screenshot({ path: join(process.env.NOTARIUM_SHOTS, `files-${name}.png`) });
    const box = await dialog.boundingBox();
    expect(box?.x).toBeGreaterThanOrEqual(0);
    expect((box?.x ?? 0) + (box?.width ?? 0)).toBeLessThanOrEqual(width);
  }
  await page.route("**/files?*", (route) =>
    route.fulfill({
      status: 503,
      contentType: "application/problem+json",
      body: JSON.stringify({ code: "agent_unreachable", detail: "the runtime agent cannot be reached: wait until it is back" }),
    }),
  );
  await dialog.getByRole("button", { name: "Refresh" }).click();
  await expect(dialog.getByRole("alert")).toContainText("cannot be reached");
  if (process.env.NOTARIUM_SHOTS) await page.screenshot({ path: join(process.env.NOTARIUM_SHOTS, "files-error.png") });
  await page.unroute("**/files?*");
  await dialog.getByRole("button", { name: "Try again" }).click();
  await expect(dialog.getByRole("list", { name: "Files", exact: true })).toBeVisible();
});
