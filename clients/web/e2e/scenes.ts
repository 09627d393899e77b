// Every screen of the page, opened as a person would. Used by the tests with axe and with screenshots.
import type { Browser, Page } from "@playwright/test";
import { bringIn, picture } from "./demo.ts";
import { type TestServer, expect, fresh, person, saved, write } from "./server.ts";

export interface Scene {
  name: string;
  open: (browser: Browser, server: TestServer) => Promise<Page>;
  /** Scrolls the scene's subject into view after a resize. */
  show?: (page: Page) => Promise<void>;
}

/** Waits for late content, so that screenshots are stable. */
async function settled(page: Page): Promise<void> {
  await page.evaluate(() => document.fonts.ready);
  await expect(page.locator("[aria-busy=true]")).toHaveCount(0);
}

const PROVIDER = { name: "Example University" };

/** Fakes an OpenID Connect provider for the page. `oidc.spec.ts` uses a real one. */
async function withProvider(page: Page, server: TestServer): Promise<void> {
  const answer = (body: object) => ({ contentType: "application/json", body: JSON.stringify(body) });
  await page.route("**/api/session/options", (route) =>
    route.fulfill(answer({ oidc: { ...PROVIDER, origin: new URL(server.url).origin } })),
  );
  const identity = { id: "i1", issuer: "https://login.example.org/realms/staff", subject: "ann", email: "ann@example.org" };
  await page.route("**/api/me/identities", (route) => route.fulfill(answer([{ ...identity, created_at: 1_780_000_000_000 }])));
}

/** Fakes a folder listing of the agent. `beside.spec.ts` uses real folders. */
async function withFiles(page: Page): Promise<void> {
  const entry = (name: string, kind: string, size_bytes?: number) => ({
    ...{ name, kind, modified_at: 1_780_000_000_000, ...(size_bytes !== undefined && { size_bytes }) },
  });
  const files = [
    entry("data", "folder"),
    entry("stations.csv", "file", 18_204),
    entry("a long name that somebody gave to the readings of all four stations.parquet", "file", 48_112_004),
    entry("models", "other"),
  ];
  const body = JSON.stringify({ agent: "a1", agent_name: "harbour-01", files, is_cut: false, max_file_bytes: 1 << 30 });
  await page.route("**/files?*", (route) => route.fulfill({ contentType: "application/json", body }));
}

async function demoNotebook(browser: Browser, server: TestServer): Promise<Page> {
  const page = await person(browser, server);
  await bringIn(page);
  await expect(page.locator(".sheet")).toBeVisible();
  await expect(page.locator(".katex").first()).toBeVisible();
  await saved(page);
  return page;
}

async function palette(page: Page, words: string): Promise<void> {
  await page.keyboard.press("Control+Shift+P");
  await page.getByRole("combobox", { name: "Search commands" }).fill(words);
  await page.keyboard.press("Enter");
}

/** Scripts the model: it reads, answers, changes a cell, and requests to delete another, which waits for confirmation. */
export function asksBeforeDeleting(server: TestServer): void {
  server.model.script = ({ results }) => {
    if (results.length === 0)
      return { text: "I look at the notebook first.", calls: [{ name: "get_notebook_state", arguments: {} }] };
    if (results.length > 1) return { text: "Done: the broken cell is gone and the means are **sorted**." };
    const { cells } = JSON.parse(results[0] ?? "{}") as { cells: { cell_id: string; version: number }[] };
    const [means, broken] = [cells.at(-2), cells.at(-1)];
    const source = 'means = readings.groupby("station").celsius.mean()\nprint(means.sort_values(ascending=False).round(1))';
    return {
      text: "Two things stand out:\n\n1. the means are printed in the order of the file,\n2. the last cell asks for a column that is not there.\n\n```python\nmeans.sort_values(ascending=False)\n```",
      calls: [
        { name: "modify_cell", arguments: { cell_id: means?.cell_id, cell_version: means?.version, source } },
        { name: "delete_cell", arguments: { cell_id: broken?.cell_id, cell_version: broken?.version } },
      ],
    };
  };
}

export async function ask(page: Page, words: string): Promise<void> {
  await page.getByRole("button", { name: "Assistant", exact: true }).click();
  await page.getByLabel("Message to the assistant").fill(words);
  await page.keyboard.press("Enter");
}

/** Scrolls to the error below the chart, once the chart has its height. */
async function showFailure(page: Page): Promise<void> {
  const failure = page.locator(".failure");
  const height = () =>
    page
      .locator("iframe")
      .first()
      .evaluate(({ clientHeight }) => clientHeight);
  await expect.poll(height).toBeGreaterThan(150);
  await expect(async () => {
    const before = await height();
    await failure.evaluate((element) => element.scrollIntoView({ block: "end", behavior: "instant" }));
    await expect(failure).toBeInViewport({ ratio: 0.9, timeout: 500 });
    expect(await height()).toBe(before);
  }).toPass({ timeout: 20_000 });
}

export const scenes: Scene[] = [
  {
    name: "sign-in",
    open: async (browser, server) => {
      const page = await (await fresh(browser)).newPage();
      await page.goto(server.url);
      await page.getByRole("button", { name: "Sign in" }).waitFor();
      return page;
    },
  },
  {
    name: "sign-in-provider",
    open: async (browser, server) => {
      const page = await (await fresh(browser)).newPage();
      await withProvider(page, server);
      await page.goto(server.url);
      await page.getByRole("button", { name: "Sign in with Example University" }).waitFor();
      return page;
    },
  },
  {
    name: "account",
    open: async (browser, server) => {
      const page = await person(browser, server);
      await withProvider(page, server);
      await page.getByRole("button", { name: "Owner", exact: true }).click();
      await page.getByText("ann@example.org").waitFor();
      await page.getByRole("button", { name: "Link Example University" }).waitFor();
      return page;
    },
  },
  {
    name: "home-empty",
    open: person,
  },
  {
    name: "templates",
    open: async (browser, server) => {
      const page = await person(browser, server);
      await page.getByRole("button", { name: "New from template" }).click();
      await page.getByRole("menuitem", { name: /Look into a table/ }).waitFor();
      return page;
    },
  },
  {
    name: "empty",
    open: async (browser, server) => {
      const page = await person(browser, server);
      await page.getByRole("button", { name: "New notebook" }).click();
      await write(page, "");
      await page.keyboard.press("Escape");
      await page.keyboard.press("d");
      await page.keyboard.press("d");
      await page.locator(".first").waitFor();
      return page;
    },
  },
  { name: "notebook", open: demoNotebook },
  {
    name: "editing",
    open: async (browser, server) => {
      const page = await demoNotebook(browser, server);
      await page.locator(".cell.code .source").first().click();
      await page.locator(".editing .cm-focused").waitFor();
      return page;
    },
  },
  {
    name: "bottom",
    open: async (browser, server) => {
      const page = await demoNotebook(browser, server);
      await page.locator(".failure").scrollIntoViewIfNeeded();
      await page.locator(".cell").last().click();
      return page;
    },
    show: showFailure,
  },
  {
    name: "confirmation",
    open: async (browser, server) => {
      asksBeforeDeleting(server);
      const page = await demoNotebook(browser, server);
      await ask(page, "tidy this up, please");
      await page.locator(".confirmation").waitFor();
      await expect(page.locator(".cell-review")).toBeVisible();
      return page;
    },
  },
  {
    name: "assistant-empty",
    open: async (browser, server) => {
      const page = await demoNotebook(browser, server);
      await page.getByRole("button", { name: "Assistant", exact: true }).click();
      await page.getByRole("button", { name: "Model and permissions" }).click();
      return page;
    },
  },
  {
    name: "attachments",
    open: async (browser, server) => {
      server.model.script = () => ({ text: "The lighthouse is the **mildest** of them." });
      const page = await demoNotebook(browser, server);
      await page.getByRole("button", { name: "Assistant", exact: true }).click();
      const attach = () =>
        page.getByLabel("Files to attach").setInputFiles([
          { name: "the curve of last year.png", mimeType: "image/png", buffer: picture() },
          { name: "losses.csv", mimeType: "text/csv", buffer: Buffer.from("epoch,loss\n1,0.5\n") },
        ]);
      const going = page.getByRole("group", { name: "Attachments" });
      await attach();
      await going.getByText("losses.csv").waitFor();
      await expect(going.getByRole("img")).toBeVisible();
      await page.getByLabel("Message to the assistant").fill("Which of them is the mildest?");
      await page.keyboard.press("Enter");
      await expect(page.locator(".transcript")).toContainText("mildest of them");
      await attach();
      await going.getByText("losses.csv").waitFor();
      await expect(going.getByRole("img")).toBeVisible();
      return page;
    },
  },
  {
    name: "files",
    open: async (browser, server) => {
      const page = await demoNotebook(browser, server);
      await withFiles(page);
      await palette(page, "files");
      await page.getByRole("tree", { name: "Files", exact: true }).waitFor();
      return page;
    },
  },
  {
    name: "history",
    open: async (browser, server) => {
      const page = await demoNotebook(browser, server);
      await page.getByRole("button", { name: "History", exact: true }).click();
      await page.locator(".steps .step").first().waitFor();
      return page;
    },
  },
  {
    name: "past",
    open: async (browser, server) => {
      const page = await demoNotebook(browser, server);
      await page.getByRole("button", { name: "History", exact: true }).click();
      await page.getByRole("slider", { name: "Version" }).focus();
      for (let back = 0; back < 4; back++) await page.keyboard.press("ArrowLeft");
      await page.locator(".past").waitFor();
      return page;
    },
  },
  {
    name: "found-in-past",
    open: async (browser, server) => {
      const page = await demoNotebook(browser, server);
      await page.getByRole("button", { name: "History", exact: true }).click();
      await page.getByRole("searchbox", { name: "Find in all versions" }).fill("readings");
      await page.locator(".found-places li").first().waitFor();
      return page;
    },
  },
  {
    name: "record-files",
    open: async (browser, server) => {
      const page = await demoNotebook(browser, server);
      await page.getByRole("button", { name: "History", exact: true }).click();
      await page.getByRole("button", { name: "Report and record…" }).click();
      await page.getByRole("dialog", { name: "Report and record" }).waitFor();
      return page;
    },
  },
  {
    name: "comments",
    open: async (browser, server) => {
      const page = await demoNotebook(browser, server);
      await page.locator(".cell.code .source").first().click();
      await page.locator(".editing .cm-focused").waitFor();
      await page.keyboard.press("Control+Home");
      await page.keyboard.press("Shift+End");
      await page.keyboard.press("Control+Alt+m");
      await page.getByRole("textbox", { name: "Comment", exact: true }).fill("Is this the **cleaned** file?");
      await page.keyboard.press("Control+Enter");
      await page.locator(".comment strong").first().waitFor();
      return page;
    },
  },
  {
    name: "sharing",
    open: async (browser, server) => {
      const page = await demoNotebook(browser, server);
      await page.getByRole("button", { name: "Share", exact: true }).click();
      await page.getByLabel("Guest name").fill("Bo");
      await page.getByRole("button", { name: "New link" }).click();
      await page.getByLabel("Link to copy").waitFor();
      return page;
    },
  },
  {
    name: "settings",
    open: async (browser, server) => {
      const page = await demoNotebook(browser, server);
      await page.keyboard.press("Control+,");
      await page.getByRole("dialog", { name: "Settings" }).waitFor();
      return page;
    },
  },
  {
    name: "palette",
    open: async (browser, server) => {
      const page = await demoNotebook(browser, server);
      await page.keyboard.press("Control+Shift+P");
      await page.getByRole("combobox", { name: "Search commands" }).waitFor();
      return page;
    },
  },
  {
    name: "own-keys",
    open: async (browser, server) => {
      const page = await demoNotebook(browser, server);
      await palette(page, "customize keyboard");
      await page.getByRole("dialog").waitFor();
      return page;
    },
  },
  {
    name: "find-outline",
    open: async (browser, server) => {
      const page = await demoNotebook(browser, server);
      await page.keyboard.press("Control+Shift+o");
      await page.keyboard.press("Control+f");
      await page.getByLabel("Find", { exact: true }).fill("station");
      return page;
    },
  },
  {
    name: "kernel",
    open: async (browser, server) => {
      const page = await demoNotebook(browser, server);
      await page.locator(".kernel").click();
      await page.locator(".kernel-panel").waitFor();
      return page;
    },
  },
  {
    name: "home",
    open: async (browser, server) => {
      const page = await demoNotebook(browser, server);
      await page.getByRole("link", { name: "All notebooks" }).click();
      await page.locator(".notebook-row").first().waitFor();
      return page;
    },
  },
  {
    // Another person is in a notebook, and a cell runs.
    name: "home-busy",
    open: async (browser, server) => {
      const there = await demoNotebook(browser, server);
      const { id, token } = await server.account("Bo Berg");
      const notebook = /n\/([^/?]+)/.exec(there.url())?.[1] ?? "";
      await server.send("PUT", `/api/notebooks/${notebook}/access`, { subject: { kind: "user", id }, role: "viewer" });
      const bo = await (await fresh(browser)).newPage();
      await bo.goto(`${server.url}/#token=${token}&notebook=${notebook}`);
      await bo.locator(".sheet").waitFor();
      await there.locator(".cell.code .source").first().click();
      await there.locator(".editing .cm-focused").waitFor();
      await there.keyboard.press("Control+a");
      await there.keyboard.insertText("import time; time.sleep(600)");
      await there.keyboard.press("Control+Enter");
      await expect(there.locator(".cell.is-running")).toHaveCount(1, { timeout: 60_000 });
      await there.getByRole("link", { name: "All notebooks" }).click();
      await there.locator(".notebook-row .now .avatar").waitFor();
      return there;
    },
  },
  {
    name: "guest",
    open: async (browser, server) => {
      const ann = await demoNotebook(browser, server);
      const notebook = /n\/([^/?]+)/.exec(ann.url())?.[1] ?? "";
      const answer = await server.send("POST", `/api/notebooks/${notebook}/share-links`, { role: "viewer", label: "Class of 26" });
      const { token } = (await answer.json()) as { token: string };
      const page = await (await fresh(browser)).newPage();
      await page.goto(`${server.url}/#token=${token}&notebook=${notebook}`);
      await page.locator(".sheet").waitFor();
      await expect(page.locator(".katex").first()).toBeVisible();
      return page;
    },
  },
];

/** Scene that needs a separate server, because it changes the server's options. */
export const passwordScene: Scene = {
  name: "password",
  open: async (browser, server) => {
    await server.askForPassword("a horse in the harbour");
    asksBeforeDeleting(server);
    const page = await demoNotebook(browser, server);
    await ask(page, "tidy this up, please");
    await page.locator(".confirmation .effect").waitFor();
    await page.locator(".confirmation").getByRole("button", { name: "Delete cell", exact: true }).click();
    await page.getByLabel(/^Password for/).waitFor();
    return page;
  },
};

export { settled };
