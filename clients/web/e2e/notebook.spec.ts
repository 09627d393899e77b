import { AxeBuilder } from "@axe-core/playwright";
import { expect, person, saved, test, write } from "./server.ts";

test("@smoke a newcomer signs in by the link, writes, runs, and a second browser sees it and joins in", async ({
  browser,
  server,
}) => {
  const ann = await person(browser, server);
  expect(ann.url()).not.toContain("token");
  await ann.getByRole("button", { name: "New notebook" }).click();
  await write(ann, "print('sum', 40 + 2)");
  await ann.keyboard.press("Control+Enter");
  await expect(ann.locator(".outputs")).toContainText("sum 42", { timeout: 60_000 });

  const bo = await person(browser, server);
  await bo.goto(ann.url());
  await expect(bo.locator(".outputs")).toContainText("sum 42");
  await bo.locator(".cell .source").first().click();
  await bo.locator(".editing .cm-focused").waitFor();
  await bo.keyboard.press("Control+End");
  await bo.keyboard.insertText("  # by Bo");
  await expect(ann.locator(".cell .source").first()).toContainText("# by Bo");
  await expect(ann.locator(".people li:not(.wide)")).toHaveCount(1);
  await expect(ann.locator(".people").getByRole("button", { name: /^Runtime agent/ })).toBeVisible();
  await expect(ann.locator(".state")).toContainText("Edited since last run");
});

test("what is typed while the server is dead is kept, and is there when it is back", async ({ browser, server }) => {
  const ann = await person(browser, server);
  await ann.getByRole("button", { name: "New notebook" }).click();
  await write(ann, "a = 1");
  await saved(ann);
  await server.kill();
  await expect(ann.locator(".connection")).toContainText("retrying in");
  await ann.keyboard.insertText("\nb = 2");
  await expect(ann.locator(".connection")).toContainText("1 unsaved change");
  await server.start();
  await saved(ann);
  const bo = await person(browser, server);
  await bo.goto(ann.url());
  await expect(bo.locator(".cell .source").first()).toHaveText(/a = 1\s*b = 2/);
});

test("by keys alone: insert, change the type, move, delete, undo", async ({ browser, server }) => {
  const page = await person(browser, server);
  await page.getByRole("button", { name: "New notebook" }).click();
  await write(page, "first");
  await page.keyboard.press("Escape");
  await page.keyboard.press("b");
  await expect(page.locator(".cell")).toHaveCount(2);
  await expect(page.locator(".cell.current")).toHaveAttribute("aria-label", /cell 2/);
  await page.keyboard.press("m");
  await expect(page.locator(".cell.markdown")).toHaveCount(1);
  await page.keyboard.press("Enter");
  await page.locator(".editing .cm-content").waitFor();
  await page.keyboard.insertText("# Title");
  await page.keyboard.press("Control+Enter");
  await expect(page.locator(".rendered h1")).toHaveText("Title");
  await page.keyboard.press("Alt+ArrowUp");
  await expect(page.locator(".cell").first()).toHaveClass(/markdown/);
  // Each cell is named by its present number.
  await expect(page.locator(".cell").nth(0)).toHaveAttribute("aria-label", "Text cell 1");
  await expect(page.locator(".cell").nth(1)).toHaveAttribute("aria-label", "Code cell 2");
  await page.keyboard.press("d");
  await page.keyboard.press("d");
  await expect(page.locator(".cell")).toHaveCount(1);
  await page.keyboard.press("z");
  await expect(page.locator(".rendered h1")).toHaveText("Title");
});

test("@smoke a hostile output reaches nothing", async ({ browser, server }) => {
  const page = await person(browser, server);
  await page.getByRole("button", { name: "New notebook" }).click();
  const script = `
    const tried = {};
    const attempt = (name, action) => { try { const got = action(); tried[name] = got === null ? "nothing" : "REACHED"; } catch (error) { tried[name] = error.name; } };
    attempt("cookie", () => document.cookie);
    attempt("storage", () => localStorage.length);
    attempt("session", () => sessionStorage.length);
    attempt("parent", () => parent.document.title);
    attempt("place", () => parent.location.href);
    attempt("top", () => { top.location = "about:blank"; });
    attempt("popup", () => window.open("about:blank"));
    fetch("/api/me").then(() => (tried.fetch = "REACHED"), (error) => (tried.fetch = error.name)).then(() => {
      document.getElementById("told").textContent = JSON.stringify(tried);
    });`;
  await write(
    page,
    `from IPython.display import HTML\nHTML('''<p id=told></p><script>${script.replaceAll("\n", " ")}</script>''')`,
  );
  await page.keyboard.press("Control+Enter");
  const told = page.frameLocator("iframe.frame").locator("#told");
  await expect(told).toContainText("{", { timeout: 60_000 });
  expect(await told.textContent()).not.toContain("REACHED");
  // The output cannot navigate its frame to leak data in the address.
  const frame = page.frames().find((each) => each.url().endsWith("/frame.html"));
  const asked: string[] = [];
  page.on("request", (request) => asked.push(request.url()));
  await frame?.evaluate(() => void (location.href = "/api/openapi.json?secret"));
  await expect.poll(() => page.frames().at(-1)?.url()).not.toContain("/frame.html");
  expect(asked.filter((url) => url.includes("secret"))).toEqual([]);
  expect(page.url()).toContain("/#/n/");
  await expect(page.locator(".bar")).toBeVisible();
});

for (const scheme of ["light", "dark"] as const) {
  test(`axe finds nothing to complain about (${scheme})`, async ({ browser, server }) => {
    const page = await person(browser, server);
    await page.emulateMedia({ colorScheme: scheme });
    const check = async (screen: string) => {
      const { violations } = await new AxeBuilder({ page }).analyze();
      expect(
        violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 160)).join(" | ")}`),
        screen,
      ).toEqual([]);
    };
    await check("home");
    await page.getByRole("button", { name: "New notebook" }).click();
    await write(page, "1 / 0");
    await page.keyboard.press("Control+Enter");
    await expect(page.locator(".failure")).toBeVisible({ timeout: 60_000 });
    await check("notebook");
    await page.getByRole("button", { name: "History" }).click();
    await expect(page.locator(".steps li").first()).toBeVisible();
    await check("history");
    await page.getByRole("button", { name: "Assistant", exact: true }).click();
    await check("assistant");
    await page.getByRole("button", { name: "All commands" }).click();
    await expect(page.getByRole("dialog")).toBeVisible();
    await check("palette");
  });
}
