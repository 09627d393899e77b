// Real server with a real agent and kernel in a temporary folder. Tests can kill and restart it.
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { gunzipSync } from "node:zlib";
import { type Browser, type BrowserContext, type Page, test as base, expect } from "@playwright/test";
import { ScriptedModel } from "./model.ts";

export const BINARY = process.env.NOTARIUM_BINARY ?? new URL("../../../target/debug/notarium", import.meta.url).pathname;
/** Python environment with ipykernel. Without it the server creates one. */
export const KERNELS = process.env.NOTARIUM_KERNEL_PATH;

/** Folder of a page to serve like src/server/http/page.rs, instead of the embedded one: needs no Rust build.
 *  Benchmarks use bench/serving.ts for that. */
const PAGE = process.env.NOTARIUM_BENCH ? undefined : process.env.NOTARIUM_PAGE;

export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === "object" && address ? address.port : 0;
}

interface Invited {
  user: { id: string };
  invitation: { token: string };
}

/** Options of a server that asks for the password (protocol/decisions/0013). */
export const ASKING = ["--confirm-with", "password"];

export class TestServer {
  url = "";
  token = "";
  /** Single-use link that `up` prints for a browser. */
  link = "";
  /** Address of the door for dialoghelper. */
  door = "";
  /** Scripted model of this server's assistant. */
  readonly model = new ScriptedModel();
  readonly #folder = mkdtempSync(join(tmpdir(), "notarium-page-"));
  #modelUrl = "";
  #process: ChildProcess | undefined;
  #port = 0;
  #accounts = 0;
  readonly #kernels: string | undefined;

  /** Uses the kernels of this Python environment. */
  constructor(kernels = KERNELS) {
    this.#kernels = kernels;
  }

  /** Data folder. */
  get data(): string {
    return join(this.#folder, "data");
  }

  async start(more: string[] = []): Promise<void> {
    this.#port ||= await freePort();
    this.door = "";
    this.#modelUrl ||= await this.model.start();
    const providers = join(this.#folder, "providers.json");
    writeFileSync(
      providers,
      JSON.stringify([{ family: "compatible", name: "script", base_url: this.#modelUrl, model: "script", images: true }]),
    );
    const kernels = this.#kernels ? ["--kernel-path", this.#kernels] : [];
    const place = ["--data", this.data, "--listen", `127.0.0.1:${this.#port}`];
    const options = ["up", ...place, "--dialoghelper-listen", "127.0.0.1:0", "--providers", providers, ...kernels, ...more];
    const started = spawn(BINARY, options, { env: { ...process.env, HOME: this.#folder }, stdio: ["ignore", "pipe", "inherit"] });
    this.#process = started;
    let text = "";
    for await (const piece of started.stdout ?? []) {
      text += String(piece);
      const token = /Token: (\S+)/.exec(text)?.[1];
      if (token) this.token = token;
      this.link = /In a browser: (\S+)/.exec(text)?.[1] ?? this.link;
      this.door = /dialoghelper: (\S+)/.exec(text)?.[1] ?? this.door;
      if (token && text.includes("Data:") && this.door) break;
    }
    this.url = `http://127.0.0.1:${this.#port}`;
    if (!this.token) throw new Error(`the server did not start: ${text}`);
  }

  /** Runs a command as this server's owner and returns its output. */
  async command(...options: string[]): Promise<string> {
    const { stdout } = await promisify(execFile)(BINARY, options, { env: { ...process.env, HOME: this.#folder } });
    return stdout.trim();
  }

  /** Deletes the blobs, as if the disk had lost the large outputs. Returns their count. */
  loseBlobs(): number {
    const blobs = join(this.data, "blobs");
    const files = readdirSync(blobs, { recursive: true, withFileTypes: true }).filter((each) => each.isFile());
    for (const file of files) rmSync(join(file.parentPath, file.name));
    return files.length;
  }

  /** Sends a request of the signed-in person, which must succeed. */
  async send(method: string, path: string, body?: unknown): Promise<Response> {
    const headers = { authorization: `Bearer ${this.token}`, "content-type": "application/json" };
    const answer = await fetch(this.url + path, { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) });
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
    return answer;
  }

  /** Creates another account and returns its id and a token. */
  async account(name: string): Promise<{ id: string; token: string }> {
    // Several specs of one worker may use the same name.
    const login = `${name.toLowerCase().replaceAll(" ", ".")}.${++this.#accounts}`;
    const made = (await (await this.send("POST", "/api/users", { name, login })).json()) as Invited;
    const proof = { token: made.invitation.token, password: "a horse in the harbour" };
    const { token } = (await (await this.send("POST", "/api/session", proof)).json()) as { token: string };
    return { id: made.user.id, token };
  }

  /** Restarts with the option to ask for this password before confirming, sharing or managing. */
  async askForPassword(password: string): Promise<void> {
    await this.send("PUT", "/api/me", { name: "Ann", login: "ann" });
    await this.send("PUT", "/api/me/password", { password });
    await this.kill();
    await this.start(ASKING);
  }

  /** Kills the server, like a power cut. */
  async kill(): Promise<void> {
    const running = this.#process;
    this.#process = undefined;
    if (!running) return;
    const gone = new Promise((resolve) => running.once("exit", resolve));
    running.kill("SIGKILL");
    await gone;
  }

  async end(): Promise<void> {
    await this.kill();
    this.model.stop();
    // The pip of a first start outlives the server for a moment and writes on.
    for (const end = Date.now() + 60_000; ;)
      try {
        return rmSync(this.#folder, { recursive: true, force: true });
      } catch (error) {
        if (Date.now() > end) throw error;
        await new Promise((resolve) => setTimeout(resolve, 200));
      }
  }
}

/** Creates a browser context. With NOTARIUM_PAGE it serves the page from that folder. */
export async function fresh(browser: Browser): Promise<BrowserContext> {
  const context = await browser.newContext();
  if (!PAGE) return context;
  await context.route(/^http:\/\/127\.0\.0\.1:\d+\/(assets\/.*|frame\.html)?(#.*)?$/, async (route) => {
    const path = new URL(route.request().url()).pathname;
    const file = built(join(PAGE, path === "/" ? "index.html" : path));
    // The server itself answers addresses of a provider's redirect.
    if (!file) return route.continue();
    if (path.startsWith("/assets/")) {
      const contentType = PAGE_TYPES[path.split(".").at(-1) ?? ""] ?? "application/octet-stream";
      return route.fulfill({ body: file, contentType, headers: { "content-security-policy": WORKER_POLICY } });
    }
    const headers = { "content-security-policy": path === "/" ? policy(new URL(route.request().url()).host) : FRAME_POLICY };
    return route.fulfill({ body: file.toString().replaceAll("{nonce}", "once"), contentType: "text/html", headers });
  });
  return context;
}

/** A file of the build, of which compress.ts may have left only the compressed form. */
function built(place: string): Buffer | undefined {
  if (existsSync(place)) return readFileSync(place);
  return existsSync(`${place}.gz`) ? gunzipSync(readFileSync(`${place}.gz`)) : undefined;
}

export const policy = (host: string) =>
  `default-src 'none'; script-src 'self'; style-src 'self' 'nonce-once'; img-src 'self' data: blob:; font-src 'self'; ` +
  `connect-src 'self'; frame-src ${host}/frame.html; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;
const WORKER_POLICY = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; connect-src 'self'";
export const FRAME_POLICY =
  "sandbox allow-scripts; default-src 'none'; script-src 'unsafe-inline' blob:; style-src 'unsafe-inline'; img-src data: blob:; " +
  "media-src data: blob:; font-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'self'";

export const PAGE_TYPES: Record<string, string> = {
  js: "text/javascript",
  css: "text/css",
  svg: "image/svg+xml",
  wasm: "application/wasm",
  woff2: "font/woff2",
};

/** Opens the list of notebooks for a signed-in person in a new browser context. */
export async function person(browser: Browser, server: TestServer): Promise<Page> {
  const page = await (await fresh(browser)).newPage();
  await page.goto(`${server.url}/#token=${server.token}`);
  await expect(page.getByRole("button", { name: "New notebook" })).toBeVisible();
  return page;
}

/** Types into the edited cell, or into the first. */
export async function write(page: Page, text: string): Promise<void> {
  if ((await page.locator(".editing .cm-content").count()) === 0) await page.locator(".cell .source").first().click();
  await page.locator(".editing .cm-content").waitFor();
  await page.keyboard.insertText(text);
}

export async function saved(page: Page): Promise<void> {
  await expect(page.locator(".connection")).toHaveText("Saved");
}

export const test = base.extend<{ leaving: void }, { server: TestServer }>({
  // Closes pages of finished tests: they would follow their notebooks and slow later tests.
  leaving: [
    async ({ browser }, use) => {
      await use();
      await Promise.all(browser.contexts().map((context) => context.close()));
    },
    { auto: true },
  ],
  server: [
    // Playwright reads the required fixtures from this pattern.
    async ({}, use) => {
      const server = new TestServer();
      await server.start();
      await use(server);
      await server.end();
    },
    { scope: "worker", timeout: 240_000 },
  ],
});

export { expect } from "@playwright/test";
