// Products of the benchmark: this page, and JupyterLab and marimo from PyPI (`make bench-web` installs them).
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdtempSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser, Page } from "@playwright/test";
import { bringIn } from "../demo.ts";
import { TestServer, expect, person, saved, write } from "../server.ts";
import { STREAM, marimo, nbformat, sources } from "./notebooks.ts";
import { serving } from "./serving.ts";
import { OURS, type Watched, watch } from "./watch.ts";

const BIN = new URL("../../../../target/bench-venv/bin", import.meta.url).pathname;

export interface Product {
  name: string;
  watched: Watched;
  /** Creates a notebook with this many cells and returns its address. */
  place: (browser: Browser, count: number) => Promise<string>;
  /** Returns a page in a browser that may open the notebook. */
  visitor: (browser: Browser) => Promise<Page>;
  /** Returns a page whose first cell streams, with the caret in the second, and a function that counts the lines so far. */
  streaming: (browser: Browser) => Promise<{ page: Page; shown: () => Promise<number> }>;
  /** Returns pages of two people in one notebook, the first with the caret in its only cell. Absent without default support. */
  pair?: (browser: Browser) => Promise<[Page, Page]>;
  end: () => Promise<void>;
}

export async function ours(): Promise<Product> {
  const server = new TestServer();
  await server.start();
  const { NOTARIUM_PAGE: folder } = process.env;
  if (folder) server.url = await serving(folder, server.url);
  return {
    name: "Notarium",
    watched: OURS,
    place: async (browser, count) => {
      const page = await person(browser, server);
      await bringIn(page, nbformat(sources(count)), `${count}.ipynb`);
      const address = page.url();
      await page.context().close();
      return address;
    },
    visitor: (browser) => person(browser, server),
    streaming: async (browser) => {
      const page = await person(browser, server);
      await bringIn(page, nbformat([STREAM, ""]), `stream${++streams}.ipynb`);
      await typists(page, server, 10);
      await page.locator(".cell").first().focus();
      await page.keyboard.press("Shift+Enter");
      await expect(page.locator(".outputs")).toContainText("99", { timeout: 90_000 });
      await page.keyboard.press("Enter");
      await page.locator(".cell").nth(1).locator(".cm-content").waitFor();
      return { page, shown: lastLine(page, ".outputs") };
    },
    pair: async (browser) => {
      const ann = await person(browser, server);
      await ann.getByRole("button", { name: "New notebook" }).click();
      await write(ann, "a");
      await saved(ann);
      const bo = await person(browser, server);
      await bo.goto(ann.url());
      await expect(bo.locator(".cell .source").first()).toContainText("a");
      return [ann, bo];
    },
    end: () => server.end(),
  };
}

const KEYS_A_SECOND = 5;

/** Simulates people who type by the protocol, each in a new cell. Runs in a tab of this server: its policy allows a socket. */
async function typists(page: Page, server: TestServer, count: number): Promise<void> {
  const notebook = /n\/([^/?]+)/.exec(page.url())?.[1] ?? "";
  const others = await page.context().newPage();
  await others.goto(server.url);
  await others.evaluate(
    async ({ notebook, token, count, pauseMs }) => {
      const type = (number: number) =>
        new Promise<void>((begun, failed) => {
          const socket = new WebSocket(`ws://${location.host}/api/socket`);
          const cell = `typist${number}`;
          let [version, length, commands] = [0, 0, 0];
          const send = (message: object) => socket.send(JSON.stringify(message));
          const command = (body: object) => send({ command: { id: `${cell}-${commands++}-${Date.now()}`, notebook, body } });
          const press = () => {
            const change = length === 0 ? [[0, "x"]] : [length, [0, "x"]];
            length++;
            command({ EditSource: { cell_id: cell, base: version, change } });
          };
          socket.onopen = () => send({ hello: { protocols: { min: 1, max: 1 }, token, client: "bench" } });
          socket.onmessage = ({ data }) => {
            const message = JSON.parse(String(data)) as Record<string, { version?: number; events?: { version: number }[] }>;
            if (message.error || message.reject) failed(new Error(String(data)));
            if (message.welcome) send({ subscribe: { notebook } });
            if (message.subscribed)
              command({ InsertCell: { cell_id: cell, cell_type: "raw", source: "", place: "end", metadata: {}, flags: {} } });
            version = Math.max(version, message.ack?.version ?? 0, message.events?.events?.at(-1)?.version ?? 0);
            if (!message.ack) return;
            begun();
            setTimeout(press, pauseMs);
          };
          socket.onerror = () => failed(new Error("no socket"));
        });
      await Promise.all(Array.from({ length: count }, (_, number) => type(number)));
    },
    { notebook, token: server.token, count, pauseMs: 1_000 / KEYS_A_SECOND },
  );
  await page.bringToFront();
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** Starts a program of the environment in a separate folder and home, and waits until it answers. */
async function started(program: string, folder: string, args: string[], url: string): Promise<ChildProcess> {
  const home = join(folder, "home");
  mkdirSync(home, { recursive: true });
  const env = { ...process.env, HOME: home, XDG_CONFIG_HOME: home, PATH: `${BIN}:${process.env.PATH ?? ""}` };
  const process_ = spawn(join(BIN, program), args, { cwd: folder, env, stdio: "ignore" });
  await expect
    .poll(
      () =>
        fetch(url).then(
          ({ ok }) => ok,
          () => false,
        ),
      { timeout: 120_000 },
    )
    .toBe(true);
  return process_;
}

async function ended(process_: ChildProcess, folder: string): Promise<void> {
  const gone = new Promise((resolve) => process_.once("exit", resolve));
  process_.kill("SIGTERM");
  await gone;
  rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
}

const MARIMO_OUTPUT = ".console-output-area, [data-testid=console-output-area]";

/** Reads the last number of the stream, which is the count of lines. */
const lastLine = (page: Page, output: string) => () =>
  page
    .locator(output)
    .first()
    .evaluate((node) => Number((node as HTMLElement).innerText.slice(-400).match(/\d+/g)?.at(-1) ?? Number.NaN));

/** Count of streams: each uses a new notebook, because a used one has a kernel and outputs. */
let streams = 0;

const plainPage = async (browser: Browser) => (await browser.newContext()).newPage();

export async function jupyterLab(): Promise<Product | undefined> {
  if (!existsSync(join(BIN, "jupyter-lab"))) return undefined;
  const folder = mkdtempSync(join(tmpdir(), "bench-jupyterlab-"));
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const options = ["--no-browser", `--port=${port}`, "--IdentityProvider.token=", "--allow-root", "--ServerApp.port_retries=0"];
  const server = await started("jupyter-lab", folder, options, `${url}/api`);
  const watched = { source: ".jp-CodeCell .cm-content", editor: ".jp-CodeCell .cm-content" };
  const file = (name: string, cells: string[]) => {
    writeFileSync(join(folder, name), JSON.stringify(nbformat(cells)));
    return `${url}/lab/tree/${name}?reset`;
  };
  return {
    name: "JupyterLab",
    watched,
    place: (_, count) => Promise.resolve(file(`${count}.ipynb`, sources(count))),
    visitor: plainPage,
    streaming: async (browser) => {
      const page = await plainPage(browser);
      await page.goto(file(`stream${++streams}.ipynb`, [STREAM, ""]));
      await page.locator(watched.editor).first().click();
      await page.getByText("Python 3 (ipykernel) | Idle").first().waitFor({ timeout: 90_000 });
      await page.keyboard.press("Shift+Enter");
      await expect(page.locator(".jp-OutputArea-output").first()).toContainText("99", { timeout: 90_000 });
      await page.locator(watched.editor).nth(1).click();
      return { page, shown: lastLine(page, ".jp-OutputArea-output") };
    },
    end: () => ended(server, folder),
  };
}

export async function marimoEditor(): Promise<Product | undefined> {
  if (!existsSync(join(BIN, "marimo"))) return undefined;
  const folder = mkdtempSync(join(tmpdir(), "bench-marimo-"));
  mkdirSync(join(folder, "home", "marimo"), { recursive: true });
  // Opening runs no cells, as in the other products.
  writeFileSync(join(folder, "home", "marimo", "marimo.toml"), "[runtime]\nauto_instantiate = false\n");
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const options = ["edit", folder, "--headless", "--port", String(port), "--no-token", "--skip-update-check"];
  const server = await started("marimo", folder, options, url);
  const watched = { source: ".marimo-cell .cm-content", editor: ".marimo-cell .cm-content" };
  const file = (name: string, cells: string[]) => {
    writeFileSync(join(folder, name), marimo(cells));
    return `${url}/?file=${name}`;
  };
  return {
    name: "marimo",
    watched,
    place: (_, count) => Promise.resolve(file(`n${count}.py`, sources(count))),
    visitor: plainPage,
    streaming: async (browser) => {
      const page = await plainPage(browser);
      await page.goto(file(`stream${++streams}.py`, [STREAM, ""]));
      await page.locator(watched.editor).first().click();
      await page.keyboard.press("Control+Enter");
      await expect(page.locator(MARIMO_OUTPUT).first()).toContainText("99", { timeout: 90_000 });
      await page.locator(watched.editor).nth(1).click();
      return { page, shown: lastLine(page, MARIMO_OUTPUT) };
    },
    end: () => ended(server, folder),
  };
}

export { watch };
