// Completion, signatures and descriptions from a real kernel.
import { expect, person, test, write } from "./server.ts";

test("the kernel completes names, shows signatures and descriptions, and stays out of text", async ({ browser, server }) => {
  const page = await person(browser, server);
  await page.getByRole("button", { name: "New notebook" }).click();
  await write(
    page,
    "class Ship:\n    harbour = 'Kiel'\n\ndef area(width, height=2):\n    'The area of a sail.'\n    return width * height\n\nship = Ship()",
  );
  await page.keyboard.press("Alt+Enter");
  await expect(page.locator(".cell .count").first()).toHaveText("1", { timeout: 60_000 });
  await expect(page.locator(".cell").nth(1)).toHaveClass(/current/);
  await page.locator(".cell").nth(1).locator(".editing .cm-focused, .cm-focused").waitFor();
  const [list, note] = [page.locator(".cm-tooltip-autocomplete"), page.locator(".cm-kernel-note")];

  await page.keyboard.type("ship.");
  await expect(list.getByRole("option", { name: /^harbour/ })).toBeVisible();
  // Escape closes the list, and leaves the cell open.
  await page.keyboard.press("Escape");
  await expect(list).toHaveCount(0);
  await expect(page.locator(".editing")).toHaveCount(1);
  await page.keyboard.type("harb");
  await expect(list.getByRole("option", { name: /^harbour/ })).toBeVisible();
  // A key that comes in the moment in which the list opens was not meant for it.
  await expect(async () => {
    await page.keyboard.press("Tab");
    await expect(page.locator(".editing .cm-content")).toHaveText("ship.harbour", { timeout: 200 });
  }).toPass();

  // The pointer rests on a name; it leaves, and what was told goes.
  await page.locator(".editing .cm-line").hover({ position: { x: 24, y: 10 } });
  await expect(note).toContainText("Ship object");
  await page.mouse.move(2, 2);
  await expect(note).toHaveCount(0);

  await page.keyboard.press("Enter");
  await page.keyboard.type("area(");
  await expect(note).toContainText("area(width, height=2)");
  await expect(note).toContainText("The area of a sail.");
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

  // At the beginning of a line Tab indents, and text has no kernel.
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
  await page.keyboard.press("Control+k");
  await page.getByRole("combobox", { name: "Search commands" }).fill("change to sql");
  await page.keyboard.press("Enter");
  // The editor is another, and has the caret again.
  await page.locator(".cell.sql .cm-focused").waitFor();
  await page.keyboard.type("sel");
  const list = page.locator(".cm-tooltip-autocomplete");
  await expect(list.getByRole("option", { name: /^select/i }).first()).toBeVisible();
});
