import { expect, fresh, person, saved, test, write } from "./server.ts";

test("runs tell who asked, their place, and what they wait for; a blocked one names the cell that failed", async ({
  browser,
  server,
}) => {
  const page = await person(browser, server);
  await page.getByRole("button", { name: "New notebook" }).click();
  await write(page, "import time; time.sleep(2); 1 / 0");
  await page.keyboard.press("Escape");
  await page.keyboard.press("b");
  await expect(page.locator(".cell")).toHaveCount(2);
  await page.keyboard.press("Enter");
  await page.locator(".editing .cm-content").waitFor();
  await page.keyboard.insertText("print('never')");
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "Run all" }).click();
  await expect(page.locator(".cell").nth(1).locator(".state")).toContainText(/Waiting|Queued|Next/);
  await expect(page.locator(".progress")).toContainText("/ 2", { timeout: 60_000 });
  await expect(page.locator(".cell").nth(1).locator(".state")).toContainText("cell 1 failed", { timeout: 60_000 });
  await page.locator(".cell").nth(1).getByRole("button", { name: "cell 1" }).click();
  await expect(page.locator(".cell").first()).toHaveClass(/current/);
  await expect(page.locator(".cell").first().locator(".count")).toHaveAttribute("title", /Started by you, .*Failed/);
});

test("a run that asks for input is announced, and leads to its field", async ({ browser, server }) => {
  const page = await person(browser, server);
  await page.getByRole("button", { name: "New notebook" }).click();
  await write(page, "print(input('name? ')[::-1])");
  await page.keyboard.press("Control+Enter");
  const strip = page.locator(".strip", { hasText: "name?" });
  await expect(strip).toBeInViewport({ timeout: 60_000 });
  await strip.getByRole("button", { name: "Go to cell" }).click();
  await expect(page.locator(".input input")).toBeFocused();
  await page.keyboard.type("abc");
  await page.keyboard.press("Enter");
  await expect(page.locator(".outputs")).toContainText("cba");
  await expect(strip).toHaveCount(0);
  // Select all in an output selects only that output.
  await page.locator(".outputs pre").first().click();
  await page.keyboard.press("Control+a");
  expect((await page.evaluate(() => getSelection()?.toString() ?? "")).trim()).toMatch(/cba$/);
  expect(await page.evaluate(() => getSelection()?.toString() ?? "")).not.toContain("print");
});

test("a collapsed heading hides its cells for everybody, says how many, and opens where one goes", async ({ browser, server }) => {
  const page = await person(browser, server);
  await page.getByRole("button", { name: "New notebook" }).click();
  await write(page, "x = 1");
  await page.keyboard.press("Escape");
  await page.keyboard.press("a");
  await expect(page.locator(".cell")).toHaveCount(2);
  await page.keyboard.press("1");
  await expect(page.locator(".cell.markdown")).toHaveCount(1);
  await page.keyboard.press("ArrowLeft");
  await expect(page.locator(".cell")).toHaveCount(1);
  await expect(page.getByRole("button", { name: "1 hidden cell" })).toBeInViewport();
  const other = await person(browser, server);
  await other.goto(page.url());
  await expect(other.getByRole("button", { name: "1 hidden cell" })).toBeInViewport();
  await page.keyboard.press("ArrowRight");
  await expect(page.locator(".cell")).toHaveCount(2);
  await expect(other.locator(".cell")).toHaveCount(2);
});

test("what others do to the cell that I edit is told, with the way back; what I type goes nowhere else", async ({
  browser,
  server,
}) => {
  const ann = await person(browser, server);
  await ann.getByRole("button", { name: "New notebook" }).click();
  await write(ann, "kept = 1");
  await ann.keyboard.press("Escape");
  await ann.keyboard.press("b");
  await expect(ann.locator(".cell")).toHaveCount(2);
  await ann.locator(".cell .source").first().click();
  await ann.locator(".editing .cm-content").waitFor();
  await saved(ann);
  const notebook = /n\/([^/]+)/.exec(ann.url())?.[1] ?? "";
  const cell = (await ann.locator(".cell").first().getAttribute("id"))?.replace("cell-", "") ?? "";
  // Another program with the same account.
  const headers = { authorization: `Bearer ${server.token}` };
  const token = await (
    await fetch(`${server.url}/api/notebooks/${notebook}/share-links`, {
      method: "POST",
      headers: { ...headers, "content-type": "application/json" },
      body: JSON.stringify({ role: "editor", label: "Bo" }),
    })
  ).json();
  await fetch(`${server.url}/api/notebooks/${notebook}/cells/${cell}`, {
    method: "DELETE",
    headers: { authorization: `Bearer ${token.token}` },
  });
  await expect(ann.locator(".toast")).toContainText("deleted the cell you were editing");
  await ann.keyboard.type("dd");
  await expect(ann.locator(".cell")).toHaveCount(1);
  await ann.locator(".toast").getByRole("button", { name: "Restore" }).click();
  await expect(ann.locator(".cell")).toHaveCount(2);
  await expect(ann.locator(".cell").first()).toContainText("kept = 1");
});

test("the undo button says what it takes back", async ({ browser, server }) => {
  const page = await person(browser, server);
  await page.getByRole("button", { name: "New notebook" }).click();
  await write(page, "x");
  await page.keyboard.press("Escape");
  await page.keyboard.press("b");
  await expect(page.locator(".cell")).toHaveCount(2);
  await page.getByRole("button", { name: "Undo: inserted cell 2" }).click();
  await expect(page.locator(".cell")).toHaveCount(1);
  await expect(page.getByRole("button", { name: /^Redo: / })).toBeEnabled();
});

test("following a person leads to where they are, until I do something", async ({ browser, server }) => {
  const ann = await person(browser, server);
  await ann.getByRole("button", { name: "New notebook" }).click();
  await write(ann, Array.from({ length: 60 }, (_, line) => `line_${line} = ${line}`).join("\n"));
  await ann.keyboard.press("Escape");
  await ann.keyboard.press("b");
  await expect(ann.locator(".cell")).toHaveCount(2);
  const bo = await person(browser, server);
  await bo.goto(ann.url());
  await bo.locator(".people .avatar").click();
  await bo.locator(".people .avatar").click();
  await expect(bo.locator(".following")).toContainText("Following");
  await ann.keyboard.press("ArrowUp");
  await expect(bo.locator(".cell").first()).toBeInViewport();
  await ann.keyboard.press("ArrowDown");
  await expect(bo.locator(".cell").nth(1)).toBeInViewport();
  await bo.mouse.move(600, 500);
  await bo.mouse.wheel(0, -50);
  await expect(bo.locator(".following")).toHaveCount(0);
});

test("the sixth person stands in a list, from which they are followed with the keyboard", async ({ browser, server }) => {
  const ann = await person(browser, server);
  await ann.getByRole("button", { name: "New notebook" }).click();
  await write(ann, Array.from({ length: 60 }, (_, line) => `line_${line} = ${line}`).join("\n"));
  await ann.keyboard.press("Escape");
  await ann.keyboard.press("b");
  await expect(ann.locator(".cell")).toHaveCount(2);
  const notebook = /n\/([^/?]+)/.exec(ann.url())?.[1] ?? "";
  const others = [];
  for (const name of ["Bo", "Cy", "Di", "Ed", "Fay", "Gil"]) {
    const { id, token } = await server.account(name);
    await server.send("PUT", `/api/notebooks/${notebook}/access`, { subject: { kind: "user", id }, role: "editor" });
    const page = await (await fresh(browser)).newPage();
    await page.goto(`${server.url}/#token=${token}&notebook=${notebook}`);
    await page.locator(".cell").first().waitFor();
    others.push(page);
  }
  const more = ann.getByRole("button", { name: "1 more person" });
  await expect(more).toBeInViewport();
  await more.click();
  const item = ann.getByRole("menuitem", { name: /^Follow/ });
  await expect(item).toBeInViewport();
  const name = ((await item.textContent()) ?? "").replace(/^Follow (\w+).*/, "$1");
  await ann.keyboard.press("ArrowDown");
  await expect(item).toBeFocused();
  await ann.keyboard.press("Enter");
  await expect(ann.locator(".following")).toContainText(`Following ${name}`);
  const followed = others[["Bo", "Cy", "Di", "Ed", "Fay", "Gil"].indexOf(name)];
  await followed?.locator(".cell").nth(1).focus();
  await expect(ann.locator(".cell").nth(1)).toBeInViewport();
  await followed?.locator(".cell").first().focus();
  await expect(ann.locator(".cell").first()).toBeInViewport();
  await expect(ann.locator(".following")).toBeInViewport();
});
