// Keys that are faster than the server, or than the page.
import type { Page } from "@playwright/test";
import { expect, person, saved, test, write } from "./server.ts";

/** Holds the server's messages until the test releases them. */
async function slowly(page: Page): Promise<{ hold: () => void; release: () => void }> {
  let held: (() => void)[] | undefined;
  await page.routeWebSocket(/\/api\//, (socket) => {
    const server = socket.connectToServer();
    socket.onMessage((message) => server.send(message));
    server.onMessage((message) => (held ? held.push(() => socket.send(message)) : socket.send(message)));
  });
  return {
    hold: () => (held = []),
    release: () => {
      const waiting = held ?? [];
      held = undefined;
      for (const each of waiting) each();
    },
  };
}

test("@smoke keys for a cell that is not there yet go into it, not into the one above", async ({ browser, server }) => {
  const page = await person(browser, server);
  const network = await slowly(page);
  await page.reload();
  await page.getByRole("button", { name: "New notebook" }).click();
  await write(page, "first");
  await page.keyboard.press("Escape");
  await saved(page);
  network.hold();
  await page.keyboard.press("b");
  await page.keyboard.press("Enter");
  await page.keyboard.type("dd = 1");
  await expect(page.locator(".cell")).toHaveCount(1);
  await expect(page.locator(".editing")).toHaveCount(0);
  network.release();
  await expect(page.locator(".cell").nth(1).locator(".cm-content")).toHaveText("dd = 1");
  await expect(page.locator(".editing .cm-content")).toBeFocused();
  await page.keyboard.type(" + 2");
  await page.keyboard.press("Escape");
  await expect(page.locator(".cell .source")).toHaveText([/^first\s*$/, /^dd = 1 \+ 2\s*$/]);
});

test("with Alt Enter in the editor too, and a deletion is over before the next key counts", async ({ browser, server }) => {
  const page = await person(browser, server);
  const network = await slowly(page);
  await page.reload();
  await page.getByRole("button", { name: "New notebook" }).click();
  await write(page, "first");
  await saved(page);
  network.hold();
  await page.keyboard.press("Alt+Enter");
  await page.keyboard.type("second");
  network.release();
  await expect(page.locator(".cell .source")).toHaveText([/^first\s*$/, /^second\s*$/]);
  await page.keyboard.press("Escape");
  await saved(page);
  network.hold();
  for (const key of ["d", "d", "Enter", "x"]) await page.keyboard.press(key);
  network.release();
  await expect(page.locator(".editing .cm-content")).toHaveText("xfirst");
});
