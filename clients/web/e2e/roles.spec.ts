// Roles with fewer rights: keys that would edit change nothing and say why.
import type { Browser, Page } from "@playwright/test";
import { notebook, python } from "./cells.ts";
import { bringIn } from "./demo.ts";
import { notebookOf, recorded } from "./record.ts";
import { type TestServer, expect, fresh, person, test } from "./server.ts";

async function joinedAs(browser: Browser, server: TestServer, ann: Page, role: string): Promise<Page> {
  const { id, token } = await server.account("Bo");
  await server.send("PUT", `/api/notebooks/${notebookOf(ann)}/access`, { subject: { kind: "user", id }, role });
  const bo = await (await fresh(browser)).newPage();
  await bo.goto(`${server.url}/#token=${token}&notebook=${notebookOf(ann)}`);
  await bo.locator(".cell").first().waitFor();
  return bo;
}

test("keys that would edit say once that the notebook is run only, and what may run runs", async ({ browser, server }) => {
  const ann = await person(browser, server);
  await bringIn(ann, notebook(python("one", "print('first')"), python("two", "second = 2")), "Roles.ipynb");
  const bo = await joinedAs(browser, server, ann, "runner");
  const notice = bo.locator(".toast").filter({ hasText: "Run only: you can’t edit this notebook." });
  for (const keys of [["b"], ["d", "d"], ["m"], ["Enter"]]) {
    await bo.reload();
    await bo.locator(".cell").first().waitFor();
    await bo.locator(".cell").first().focus();
    for (const key of keys) await bo.keyboard.press(key);
    await expect(notice, keys.join(" ")).toBeInViewport();
  }
  // In the open cell: letters, Enter, Backspace and undo are one notice.
  await expect(bo.locator(".editing .cm-content")).toBeFocused();
  await bo.keyboard.type("lost");
  await bo.keyboard.press("Enter");
  await bo.keyboard.press("Backspace");
  await bo.keyboard.press("Control+z");
  await expect(bo.locator(".toast")).toHaveCount(1);
  await bo.reload();
  await bo.locator(".cell .source").first().click();
  await expect(bo.locator(".editing .cm-content")).toBeFocused();
  await expect(bo.locator(".toast")).toHaveCount(0);
  await bo.keyboard.type("x");
  await expect(notice).toBeInViewport();
  await expect(bo.locator(".editing .cm-content")).toHaveText("print('first')");
  await bo.keyboard.press("Control+Enter");
  await expect(bo.locator(".cell").first().locator(".outputs")).toContainText("first", { timeout: 60_000 });
  await expect(bo.locator(".toast")).toHaveCount(1);
  await recorded(server, ann, "print('first')", "second = 2");
});

test("who may only view is told so by the keys that run and edit", async ({ browser, server }) => {
  const ann = await person(browser, server);
  await bringIn(ann, notebook(python("one", "first = 1")), "Viewed.ipynb");
  const bo = await joinedAs(browser, server, ann, "viewer");
  await bo.locator(".cell").first().focus();
  await bo.keyboard.press("Shift+Enter");
  await expect(bo.locator(".toast")).toHaveText(/View only: you can’t run this notebook\./);
  await bo.keyboard.press("a");
  await expect(bo.locator(".toast").last()).toHaveText(/View only: you can’t edit this notebook\./);
  await recorded(server, ann, "first = 1");
});
