// Attachments of a question: the model receives a picture and a file, and both remain with the message.
import { join } from "node:path";
import { LOOKS } from "./looks.ts";
import { expect, person, test } from "./server.ts";

const PNG = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAIAAAD91JpzAAAAFUlEQVR4nGP8z8DAwMDAxMDAwMDAAAANHQEDasKb6QAAAABJRU5ErkJggg==",
  "base64",
);

test("pictures and files are attached, shown, sent to the model and kept with the message", async ({ browser, server }) => {
  server.model.script = () => ({ text: "I see a picture and a table." });
  const page = await person(browser, server);
  await page.getByRole("button", { name: "New notebook" }).click();
  await page.locator(".cell .source").first().waitFor();
  await page.getByRole("button", { name: "Assistant", exact: true }).click();
  const message = page.getByLabel("Message to the assistant");
  const going = page.getByRole("group", { name: "Attachments" });
  await page.getByLabel("Files to attach").setInputFiles([
    { name: "plot.png", mimeType: "image/png", buffer: PNG },
    { name: "losses.csv", mimeType: "text/csv", buffer: Buffer.from("epoch,loss\n1,0.5\n") },
  ]);
  await expect(going.getByRole("img", { name: "plot.png" })).toBeVisible();
  await expect(going).toContainText("losses.csv");
  // A dropped binary file is refused with a reason.
  const data = await page.evaluateHandle(() => {
    const transfer = new DataTransfer();
    transfer.items.add(new File([new Uint8Array([0, 1, 2, 255])], "model.bin"));
    return transfer;
  });
  await page.locator(".composer").dispatchEvent("drop", { dataTransfer: data });
  await expect(page.getByRole("alert")).toContainText("neither an image nor text");
  // A pasted file is attached and can be removed.
  const pasted = await page.evaluateHandle(() => {
    const transfer = new DataTransfer();
    transfer.items.add(new File(["# Notes"], "notes.md"));
    return transfer;
  });
  await message.evaluate((field, clipboardData) => {
    field.dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true }));
  }, pasted);
  await expect(going).toContainText("notes.md");
  await page.getByRole("button", { name: "Remove notes.md" }).click();
  await expect(going).not.toContainText("notes.md");
  if (process.env.NOTARIUM_SHOTS)
    for (const { name, colorScheme, width } of LOOKS) {
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize({ width, height: 860 });
      await page.screenshot({ path: join(process.env.NOTARIUM_SHOTS, `attach-${name}.png`) });
    }
  await message.fill("Why does it rise?");
  await message.press("Enter");
  await expect(page.locator(".transcript")).toContainText("I see a picture and a table.");
  await expect(going).toHaveCount(0);
  expect(server.model.heard).toContain(PNG.toString("base64"));
  expect(server.model.heard).toContain("epoch,loss");
  await page.reload();
  await page.getByRole("button", { name: "Assistant", exact: true }).click();
  await expect(page.locator(".transcript .said.user").getByRole("img", { name: "plot.png" })).toBeVisible();
  await expect(page.locator(".transcript .said.user")).toContainText("losses.csv");
});
