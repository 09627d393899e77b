import { type TestServer, expect, fresh, person, saved, test, write } from "./server.ts";

/** Creates another token of the same person, which can be revoked separately. */
async function token(server: TestServer): Promise<{ token: string; id: string }> {
  const answer = await fetch(`${server.url}/api/tokens`, {
    method: "POST",
    headers: { authorization: `Bearer ${server.token}`, "content-type": "application/json" },
    body: JSON.stringify({ label: "browser", scopes: ["read", "edit", "run"] }),
  });
  return (await answer.json()) as { token: string; id: string };
}

test("a session that ends while typing: the text is kept, and goes on after signing in", async ({ browser, server }) => {
  const first = await token(server);
  const page = await (await fresh(browser)).newPage();
  await page.goto(`${server.url}/#token=${first.token}`);
  await page.getByRole("button", { name: "New notebook" }).click();
  await write(page, "a = 1");
  await saved(page);
  await fetch(`${server.url}/api/tokens/${first.id}`, { method: "DELETE", headers: { authorization: `Bearer ${server.token}` } });
  const strip = page.locator(".strip.bad");
  await expect(strip).toContainText("You’re signed out");
  await page.locator(".editing .cm-content").click();
  await page.keyboard.press("Control+End");
  await page.keyboard.insertText("\nb = 2");
  await expect(strip).toContainText("1 unsaved change");
  await strip.getByRole("button", { name: "Sign in" }).click();
  await page
    .getByRole("dialog")
    .getByLabel("Token")
    .fill((await token(server)).token);
  await page.getByRole("dialog").getByRole("button", { name: "Sign in", exact: true }).click();
  await saved(page);
  await expect(strip).toHaveCount(0);
  const other = await person(browser, server);
  await other.goto(page.url());
  await expect(other.locator(".cell .source").first()).toHaveText(/a = 1\s*b = 2/);
});

test("text that had no way out is offered when the notebook opens again", async ({ browser, server }) => {
  const page = await person(browser, server);
  page.on("dialog", (dialog) => void dialog.accept());
  await page.getByRole("button", { name: "New notebook" }).click();
  await write(page, "a = 1");
  await saved(page);
  await server.kill();
  await expect(page.locator(".connection")).toContainText("retrying in");
  await page.keyboard.insertText("\nlost = False");
  await expect(page.locator(".strip.warn")).toContainText("You can keep writing. 1 unsaved change", { timeout: 15_000 });
  const place = page.url();
  await page.evaluate(() => dispatchEvent(new Event("pagehide")));
  const again = await page.context().newPage();
  await page.close();
  await server.start();
  await again.goto(`${server.url}/#token=${server.token}`);
  await expect(again.getByRole("button", { name: "New notebook" })).toBeVisible();
  await again.goto(place);
  const toast = again.locator(".toast");
  await expect(toast).toContainText("lost = False");
  await toast.getByRole("button", { name: "Insert into cell" }).click();
  await expect(again.locator(".cell .source").first()).toHaveText(/a = 1\s*lost = False/);
});

test("keys can be changed; what two actions have is named", async ({ browser, server }) => {
  const page = await person(browser, server);
  await page.getByRole("button", { name: "New notebook" }).click();
  await write(page, "x");
  await page.keyboard.press("Escape");
  await page.keyboard.press("Control+Shift+P");
  await expect(page.getByLabel("Search commands")).toBeFocused();
  await page.keyboard.type("change the keys");
  await page.keyboard.press("Enter");
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("button", { name: /^Keys for “Insert cell below”/ }).click();
  await page.keyboard.press("n");
  await expect(dialog.getByRole("button", { name: "Keys for “Insert cell below”: N" })).toBeVisible();
  await dialog.getByRole("button", { name: /^Keys for “Merge cells”/ }).click();
  await page.keyboard.press("n");
  const merge = dialog.locator("li").filter({ has: page.getByRole("button", { name: /^Keys for “Merge cells”/ }) });
  await expect(merge).toContainText("Same keys as “Insert cell below”");
  await dialog.getByRole("button", { name: "Reset keys for “Merge cells”" }).click();
  await dialog.getByRole("button", { name: "Close", exact: true }).click();
  await page.locator(".cell").first().focus();
  await page.keyboard.press("n");
  await expect(page.locator(".cell")).toHaveCount(2);
});

test("a proxy that lets no WebSocket through is named, and it goes on when it does", async ({ browser, server }) => {
  const page = await person(browser, server);
  await page.getByRole("button", { name: "New notebook" }).click();
  await write(page, "a = 1");
  await saved(page);
  const place = page.url();
  let isBlocked = true;
  await page.context().routeWebSocket(/\/api\/socket/, (socket) => {
    if (isBlocked) void socket.close();
    else socket.connectToServer();
  });
  const again = await page.context().newPage();
  await again.goto(`${server.url}/#token=${server.token}`);
  await again.goto(place);
  const strip = again.locator(".strip.bad");
  await expect(strip).toContainText("Live connections (WebSockets) to the server are blocked");
  isBlocked = false;
  await strip.getByRole("button", { name: "Try now" }).click();
  await expect(again.locator(".cell")).toContainText("a = 1");
  await expect(strip).toHaveCount(0);
  await page.context().close();
});

test("a page that is older than the server says so, keeps what was typed, and goes on after the reload", async ({
  browser,
  server,
}) => {
  const page = await person(browser, server);
  page.on("dialog", (dialog) => void dialog.accept());
  await page.getByRole("button", { name: "New notebook" }).click();
  await write(page, "a = 1");
  await saved(page);
  // The new server has another protocol version. Until it starts the route must refuse connections, or it would answer itself.
  let there: "nobody" | "new" | "as before" = "nobody";
  await page.context().routeWebSocket(/\/api\/socket/, (socket) => {
    if (there === "nobody") return void socket.close();
    if (there === "as before") return void socket.connectToServer();
    socket.onMessage(() =>
      socket.send(JSON.stringify({ error: { code: "unsupported_protocol", message: "speak 2 to 3", fatal: true } })),
    );
  });
  await server.kill();
  await expect(page.locator(".connection")).toContainText("retrying in");
  await page.keyboard.insertText("\nb = 2");
  await server.start();
  there = "new";
  await expect(page.locator(".strip.bad")).toContainText("This page is out of date. Reload to continue. 1 unsaved change");
  await expect(page.locator(".connection")).toHaveText("Reload needed · 1 unsaved change");
  there = "as before";
  await page.locator(".strip.bad").getByRole("button", { name: "Reload" }).click();
  const toast = page.locator(".toast");
  await expect(toast).toContainText("b = 2");
  await toast.getByRole("button", { name: "Insert into cell" }).click();
  await expect(page.locator(".cell .source").first()).toHaveText(/a = 1\s*b = 2/);
  await page.context().close();
});

test("without the server the palette, the keys and the settings open all the same", async ({ browser, server }) => {
  const page = await person(browser, server);
  await page.getByRole("button", { name: "New notebook" }).click();
  await write(page, "a = 1");
  await saved(page);
  // Lazy parts load while the page is idle.
  const loaded = () => page.evaluate(() => performance.getEntriesByType("resource").map(({ name }) => name));
  for (const part of ["Palette", "Settings", "Find"])
    await expect.poll(loaded).toContainEqual(expect.stringContaining(`/assets/${part}-`));
  await server.kill();
  await expect(page.locator(".connection")).toContainText("retrying in");
  await page.keyboard.press("Control+Shift+P");
  await expect(page.getByRole("combobox", { name: "Search commands" })).toBeInViewport();
  await page.keyboard.press("Escape");
  await page.keyboard.press("Control+,");
  await expect(page.getByRole("dialog", { name: "Settings" })).toBeInViewport();
  await page.keyboard.press("Escape");
  await page.keyboard.press("Control+f");
  await expect(page.getByLabel("Find", { exact: true })).toBeInViewport();
  await expect(page.locator(".broken")).toHaveCount(0);
  await server.start();
  await page.context().close();
});

test("a clock that is wrong by a day does not show in times", async ({ browser, server }) => {
  const page = await (await fresh(browser)).newPage();
  await page.clock.install({ time: Date.now() - 86_400_000 });
  await page.goto(`${server.url}/#token=${server.token}`);
  await page.getByRole("button", { name: "New notebook" }).click();
  await write(page, "import time; time.sleep(30)");
  await page.keyboard.press("Control+Enter");
  await expect(page.locator(".took")).toBeVisible({ timeout: 60_000 });
  expect(await page.locator(".took").textContent()).toMatch(/^\d+(\.\d)? m?s$/);
  await page.getByRole("button", { name: "Stop all" }).click();
  await page.getByRole("link", { name: "All notebooks" }).click();
  await expect(page.locator(".notebook-row time").first()).toHaveText(/now|second|minute/);
  await page.context().close();
});

test("two tabs of one person: what is written in one is in the other, and undo is shared", async ({ browser, server }) => {
  const one = await person(browser, server);
  await one.getByRole("button", { name: "New notebook" }).click();
  await write(one, "a = 1");
  await saved(one);
  const two = await one.context().newPage();
  await two.goto(`${server.url}/#token=${server.token}`);
  await expect(two.getByRole("button", { name: "New notebook" })).toBeVisible();
  await two.goto(one.url());
  await two.locator(".cell .source").first().click();
  await two.locator(".editing .cm-focused").waitFor();
  await two.keyboard.press("Control+End");
  await two.keyboard.insertText("\nb = 2");
  await expect(one.locator(".cell .source").first()).toHaveText(/a = 1\s*b = 2/);
  await one.keyboard.press("Escape");
  await one.keyboard.press("z");
  await expect(two.locator(".cell .source").first()).not.toContainText("b = 2");
  await one.context().close();
});

test("a kernel that does not answer an interrupt is named, and restarted by a click", async ({ browser, server }) => {
  const page = await person(browser, server);
  await page.getByRole("button", { name: "New notebook" }).click();
  await write(page, "import signal, time\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\nprint('deaf')\ntime.sleep(600)");
  await page.keyboard.press("Control+Enter");
  await expect(page.locator(".outputs")).toContainText("deaf", { timeout: 60_000 });
  await page.getByRole("button", { name: "Stop", exact: true }).click();
  const state = page.locator(".cell .state");
  await expect(state).toContainText("The kernel doesn’t respond. Wait, or");
  await state.getByRole("button", { name: "restart it" }).click();
  await expect(state).toContainText("Cancelled: you restarted the kernel");
  await expect(page.locator(".kernel")).toHaveAttribute("title", /Idle/);
});
