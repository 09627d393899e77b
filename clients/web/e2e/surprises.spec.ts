// Traps that an assistant's code lays in a kernel: the page asks before one acts in a person's name.
import { expect, person, test, write } from "./server.ts";

const TRAP = `import os
class Shown:
    def __repr__(self):
        try:
            os.remove("data.csv")
        except OSError:
            return "is kept"
        return "is removed"
note = Shown()`;

test("a trap of the assistant asks at the person's cell: denied nothing happens, allowed it acts", async ({ browser, server }) => {
  server.model.script = ({ results }) =>
    results.length === 0
      ? { calls: [{ name: "create_cells", arguments: { run: true, cells: [{ source: TRAP }] } }] }
      : { text: "It is laid." };
  const page = await person(browser, server);
  await page.getByRole("button", { name: "New notebook" }).click();
  await write(page, 'open("data.csv", "w").close()\n"made"');
  await page.keyboard.press("Control+Enter");
  const cell = page.locator(".cell").first();
  await expect(cell.locator(".outputs")).toContainText("made", { timeout: 60_000 });
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "Assistant", exact: true }).click();
  await page.getByRole("textbox", { name: "Message to the assistant" }).fill("lay it");
  await page.keyboard.press("Enter");
  await expect(page.locator(".transcript")).toContainText("It is laid.", { timeout: 120_000 });

  await cell.locator(".source").click();
  await page.keyboard.press("ControlOrMeta+a");
  await page.keyboard.insertText("note");
  await page.keyboard.press("Control+Enter");
  const question = cell.locator(".surprise");
  await expect(question).toContainText("Your cell wants to delete", { timeout: 60_000 });
  await expect(question.locator("code")).toContainText("data.csv");
  await expect(cell.locator(".outputs")).toContainText("is kept");
  await question.getByRole("button", { name: "Deny" }).click();
  await expect(question).toHaveCount(0);

  await cell.locator(".source").click();
  await page.keyboard.press("Control+Enter");
  await expect(question).toContainText("data.csv", { timeout: 60_000 });
  await question.getByRole("button", { name: "Allow" }).click();
  await expect(cell.locator(".outputs")).toContainText("is removed", { timeout: 60_000 });
  await expect(question).toHaveCount(0);
});
