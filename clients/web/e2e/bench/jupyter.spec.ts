// Benchmark of JupyterLab on Notarium beside JupyterLab with jupyter-collaboration, in the same run: `make bench-jupyter`, on an idle
// machine. Prints the table of BENCHMARKS.md. It is not a test.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { cpus, loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser, Page } from "@playwright/test";
import { bringIn } from "../demo.ts";
import { jupyterLab } from "../lab.ts";
import { TestServer, expect, person, test } from "../server.ts";
import { nbformat, sources } from "./notebooks.ts";
import { serving } from "./serving.ts";
import { OURS, watch } from "./watch.ts";

const RUNS = Number(process.env.NOTARIUM_BENCH_RUNS ?? 5);
const KEYS = Number(process.env.NOTARIUM_BENCH_KEYS ?? 100);
const CELLS = 1_000;
const PATIENCE_MS = 120_000;
const LAB = { source: ".jp-CodeCell .cm-content", editor: ".jp-CodeCell .cm-content" };
/** Options by which jupyter-collaboration keeps the documents, as without our extension. */
const COLLABORATION = ["--ServerApp.jpserver_extensions={'notarium_jupyter': False, 'jupyter_server_ydoc': True}"];

test.skip(!process.env.NOTARIUM_BENCH, "make bench-jupyter");
test.use({ trace: "off" });
test.setTimeout(1_800_000);

const at = (values: number[], share: number) => [...values].sort((a, b) => a - b)[Math.floor(values.length * share)] ?? Number.NaN;
const both = (keys: number[]) => `${at(keys, 0.5).toFixed(0)} / ${at(keys, 0.99).toFixed(0)} ms, ${keys.length} keys`;
const ofRuns = (runs: number[]) => `${at(runs, 0.5).toFixed(0)} ms (${at(runs, 0).toFixed(0)}–${Math.max(...runs).toFixed(0)})`;

/** Milliseconds from each key pressed in one page until its letter is painted in the other. */
async function keysFrom(near: Page, far: Page, source: string): Promise<number[]> {
  await far.evaluate(watch, { source, editor: ".none" });
  await near.evaluate(() => {
    const noted = (event: KeyboardEvent) => (window.pressed = performance.timeOrigin + event.timeStamp);
    addEventListener("keydown", noted, true);
  });
  const times: number[] = [];
  for (let key = 0; key < KEYS; key++) {
    await far.evaluate(() => void (window.painted = new Promise((painted) => (window.marks.told = painted))));
    await near.keyboard.press("x");
    const painted = await far.evaluate(() => window.painted);
    times.push((painted ?? Number.NaN) - ((await near.evaluate(() => window.pressed)) ?? Number.NaN));
  }
  return times;
}

async function opened(browser: Browser, url: string): Promise<Page> {
  const page = await (await browser.newContext()).newPage();
  await page.goto(url);
  await page.locator(LAB.editor).first().click({ timeout: PATIENCE_MS });
  return page;
}

/** Milliseconds from a reload until the first cell's editor has the focus and is painted. */
async function openings(browser: Browser, url: string): Promise<number[]> {
  const page = await (await browser.newContext()).newPage();
  await page.addInitScript(watch, LAB);
  await page.goto(url);
  await page.waitForFunction(() => window.marks.ready, undefined, { timeout: PATIENCE_MS });
  const runs: number[] = [];
  for (let run = 0; run < RUNS; run++) {
    await page.reload();
    await page.waitForFunction(() => window.marks.ready, undefined, { timeout: PATIENCE_MS });
    runs.push(await page.evaluate(() => window.marks.ready ?? Number.NaN));
  }
  await page.context().close();
  return runs;
}

test("typing and opening, beside jupyter-collaboration", async ({ browser }) => {
  const folder = mkdtempSync(join(tmpdir(), "bench-jupyter-"));
  const server = new TestServer();
  await server.start();
  const token = server.token;
  const direct = server.url;
  const { NOTARIUM_PAGE: own } = process.env;
  if (own) server.url = await serving(own, server.url);
  const ours = await jupyterLab(join(folder, "ours"), { NOTARIUM_SERVER: direct, NOTARIUM_TOKEN: token });
  const theirs = await jupyterLab(join(folder, "theirs"), {}, COLLABORATION);
  const rows: [string, string, string][] = [];
  try {
    const files: [string, string[]][] = [
      ["one", ["a"]],
      ["many", sources(CELLS)],
    ];
    const pages = new Map<string, Page>();
    mkdirSync(join(folder, "theirs", "lab"), { recursive: true });
    for (const [name, cells] of files) {
      const page = await person(browser, server);
      await bringIn(page, nbformat(cells), `${name}.ipynb`);
      pages.set(name, page);
      writeFileSync(join(folder, "theirs", "lab", `${name}.ipynb`), JSON.stringify(nbformat(cells)));
    }
    await pages.get("many")?.context().close();
    const far = pages.get("one") as Page;
    const near = await opened(browser, `${ours.url}/lab/tree/one.ipynb`);
    await expect(far.locator(".cell .source").first()).toContainText("a");
    rows.push(["key in JupyterLab → painted on the page, median / p99", both(await keysFrom(near, far, OURS.source)), "–"]);
    const other = await opened(browser, `${ours.url}/lab/tree/one.ipynb`);
    await near.bringToFront();
    await near.locator(LAB.editor).first().click();
    const ourKeys = both(await keysFrom(near, other, LAB.source));
    for (const page of [near, other, far]) await page.context().close();
    const [ann, bo] = [
      await opened(browser, `${theirs.url}/lab/tree/one.ipynb`),
      await opened(browser, `${theirs.url}/lab/tree/one.ipynb`),
    ];
    await ann.locator(LAB.editor).first().click();
    rows.push(["key in JupyterLab → painted in another JupyterLab", ourKeys, both(await keysFrom(ann, bo, LAB.source))]);
    for (const page of [ann, bo]) await page.context().close();
    const many = [];
    for (const { url } of [ours, theirs]) many.push(await openings(browser, `${url}/lab/tree/many.ipynb`));
    rows.push([`${CELLS} cells: ready to type`, ofRuns(many[0] ?? []), ofRuns(many[1] ?? [])]);
  } finally {
    const load = loadavg()[0]?.toFixed(1) ?? "?";
    console.log(`\nMachine: ${cpus().length} × ${cpus()[0]?.model ?? "?"}, load ${load} at the end, ${RUNS} openings each.\n`);
    console.log("| what | JupyterLab on Notarium | JupyterLab with jupyter-collaboration |\n| --- | --- | --- |");
    for (const row of rows) console.log(`| ${row.join(" | ")} |`);
    await ours.end();
    await theirs.end();
    await server.end();
    rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
  }
});
