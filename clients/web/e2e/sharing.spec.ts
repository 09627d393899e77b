import { expect, fresh, person, test, write } from "./server.ts";

test("a link leads a guest to the notebook, with their name and role, and out when it is revoked", async ({ browser, server }) => {
  const ann = await person(browser, server);
  await ann.getByRole("button", { name: "New notebook" }).click();
  await write(ann, "shared = True");
  await ann.keyboard.press("Escape");
  await ann.getByRole("button", { name: "Share", exact: true }).click();
  const dialog = ann.getByRole("dialog");
  await expect(dialog.getByText("No links yet.")).toBeInViewport();
  await dialog.getByLabel("Guest name").fill("Bo");
  // While the list of links loads, the new link does not stand beside the words that there is none.
  let list = () => {};
  await ann.route(/\/share-links$/, async (route) => {
    if (route.request().method() === "GET") await new Promise<void>((resolve) => (list = resolve));
    await route.continue();
  });
  await dialog.getByRole("button", { name: "New link" }).click();
  await expect(dialog.getByText("Copy it now.")).toBeInViewport();
  await expect(dialog.getByText("No links yet.")).toHaveCount(0);
  list();
  await expect(dialog.getByRole("button", { name: "Revoke the link for Bo" })).toBeInViewport();
  await ann.unroute(/\/share-links$/);
  const link = await dialog.getByLabel("Link to copy").inputValue();
  expect(new URL(link).hash).toContain("token=");

  const guest = await (await fresh(browser)).newPage();
  await guest.goto(link);
  await expect(guest.locator(".cell").first()).toContainText("shared = True");
  expect(guest.url()).not.toContain("token");
  await expect(guest.locator(".tag.plain")).toHaveText("Guest “Bo”: Can view");
  await expect(guest.getByRole("button", { name: "Run all" })).toBeDisabled();
  await expect(ann.locator(".people .avatar")).toHaveAttribute("aria-label", /Bo is here/);

  // Guests can set their own name beside the link's; it is stored.
  await guest.locator(".tag.plain").click();
  await guest.getByLabel("Your name").fill("Zoë");
  await guest.keyboard.press("Enter");
  await expect(guest.locator(".tag.plain")).toHaveText("Guest “Zoë”: Can view");
  await expect(ann.locator(".people .avatar")).toHaveAttribute("aria-label", /Zoë \(Bo\) is here/);
  await guest.reload();
  await expect(guest.locator(".tag.plain")).toHaveText("Guest “Zoë”: Can view");
  await expect(ann.locator(".people .avatar")).toHaveAttribute("aria-label", /Zoë \(Bo\) is here/);

  // Revoking has no undo, so it asks.
  const question = ann.getByRole("alertdialog", { name: "Revoke the link for Bo?" });
  await dialog.getByRole("button", { name: "Revoke the link for Bo" }).click();
  await expect(question).toBeInViewport();
  await ann.keyboard.press("Escape");
  await expect(question).toHaveCount(0);
  await expect(guest.locator(".tag.plain")).toHaveText("Guest “Zoë”: Can view");
  await dialog.getByRole("button", { name: "Revoke the link for Bo" }).click();
  await question.getByRole("button", { name: "Revoke link" }).click();
  await expect(question).toHaveCount(0);
  await expect(dialog.getByText("Copy it now.")).toHaveCount(0);
  await expect(dialog.getByText("No links yet.")).toBeInViewport();
  const ended = guest.getByText("This link no longer works");
  await expect(ended).toBeInViewport();
  await expect(guest.getByText(/It was revoked or has expired\. Ask Owner for a new one\./)).toBeInViewport();
  await expect(guest.getByRole("button", { name: "Sign in" })).toHaveCount(0);
  // The page that is opened again with the link says the same.
  await guest.reload();
  await expect(ended).toBeInViewport();
  await guest.goto("about:blank");
  await guest.goto(link);
  await expect(ended).toBeInViewport();
  await expect(guest.getByText("Ask whoever sent it to you for a new one.")).toBeInViewport();
  await expect(guest).toHaveURL(/^[^#]*(#\/.*)?$/);
});

test("home: a workspace, a copy, the archive, and what waits for me", async ({ browser, server }) => {
  server.model.script = ({ results }) => {
    if (results.length > 0) return { text: "Asked." };
    return { calls: [{ name: "run_all", arguments: { effects: ["remove"] } }] };
  };
  const page = await person(browser, server);
  await page.getByRole("button", { name: "New notebook" }).click();
  await write(page, "import os; os.remove('no such file')");
  await page.keyboard.press("Escape");
  await page.getByRole("textbox", { name: "Title" }).fill("Quarter");
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: "Assistant", exact: true }).click();
  await page.getByLabel("Message to the assistant").fill("run it");
  await page.keyboard.press("Enter");
  await expect(page.locator(".confirmation")).toBeVisible();
  await page.getByRole("link", { name: "All notebooks" }).click();
  await expect(page.getByRole("region", { name: "Waiting for your approval" })).toContainText("Quarter");

  await page.getByRole("button", { name: "+ Workspace" }).click();
  await page.getByLabel("Workspace name").fill("Team");
  await page.keyboard.press("Enter");
  await expect(page.getByRole("button", { name: "Team" })).toBeVisible();
  await page.getByRole("button", { name: "More about “Quarter”" }).click();
  await page.getByRole("menuitem", { name: "Make a copy" }).click();
  await expect(page.getByRole("link", { name: /Quarter \(copy\)/ })).toBeVisible();
  await page.getByRole("button", { name: "More about “Quarter (copy)”" }).click();
  await page.getByRole("menuitem", { name: "Team" }).click();
  await page.getByRole("button", { name: "Team", exact: true }).click();
  await expect(page.locator(".notebook-row")).toHaveCount(1);
  await page.getByRole("button", { name: "More about “Quarter (copy)”" }).click();
  await page.getByRole("menuitem", { name: "Delete notebook" }).click();
  await expect(page.locator(".notebook-row")).toHaveCount(0);
  await page.getByRole("button", { name: "Archive", exact: true }).click();
  await expect(page.locator(".notebook-row")).toHaveCount(1);

  await page.getByRole("link", { name: "Quarter", exact: true }).click();
  await expect(page.locator(".confirmation")).toBeVisible();
  await page.getByLabel("Reason for denying").fill("not now");
  await page.locator(".confirmation").getByRole("button", { name: "Deny" }).click();
  await expect(page.locator(".call").first()).toContainText("Denied · not now");
});

test("home: who is where, and what runs now", async ({ browser, server }) => {
  const ann = await person(browser, server);
  await ann.getByRole("button", { name: "New notebook" }).click();
  await write(ann, "import time; time.sleep(600)");
  await ann.keyboard.press("Control+Enter");
  await expect(ann.getByRole("group", { name: /Code cell 1: Running/ })).toBeVisible({ timeout: 60_000 });
  const id = /n\/([^/]+)/.exec(ann.url())?.[1] ?? "";
  const { id: user, token } = await server.account("Bo Berg");
  await server.send("PUT", `/api/notebooks/${id}/access`, { subject: { kind: "user", id: user }, role: "editor" });
  const bo = await (await fresh(browser)).newPage();
  await bo.goto(`${server.url}/#token=${token}`);
  const row = bo.locator(".notebook-row").filter({ hasText: "Untitled" }).first();
  await expect(row.locator(".now")).toHaveAttribute("title", "Owner is here; 1 running");
  await expect(row.getByText("Running", { exact: true })).toBeVisible();

  // The list updates while it is open.
  await ann.keyboard.press("Escape");
  await ann.getByRole("link", { name: "All notebooks" }).click();
  await expect(row.locator(".now")).toHaveAttribute("title", "1 running", { timeout: 30_000 });
});
