// Benchmark of the page, JupyterLab and marimo in the same run: `make bench-web`, on an idle machine.
// Prints the table of BENCHMARKS.md. It is not a test.
import { readFileSync } from "node:fs";
import { cpus, loadavg } from "node:os";
import { gzipSync } from "node:zlib";
import type { Browser, Page } from "@playwright/test";
import { expect, test } from "../server.ts";
import { STREAM_SECONDS } from "./notebooks.ts";
import { type Product, jupyterLab, marimoEditor, ours, watch } from "./products.ts";
import { longestFrame } from "./watch.ts";

const RUNS = Number(process.env.NOTARIUM_BENCH_RUNS ?? 5);
/** Measures only Notarium, for comparing two versions of a change. */
const OURS_ALONE = process.env.NOTARIUM_BENCH_ALONE !== undefined;
/** Count of runs of slow measurements. */
const STREAMS = Math.min(RUNS, 3);
const KEYS = Number(process.env.NOTARIUM_BENCH_KEYS ?? 100);
/** Deadline of each wait. */
const PATIENCE_MS = 60_000;

test.skip(!process.env.NOTARIUM_BENCH, "make bench-web");
test.use({ trace: "off" });
test.setTimeout(1_800_000);

const ROWS = {
  initial: ["initial JavaScript and CSS, compressed", "250 KB"],
  paint100: ["100 cells, warm server: first paint", "300 ms"],
  ready100: ["100 cells, warm server: ready to type", "500 ms"],
  ready10000: ["10,000 cells: ready to type", "1 s"],
  frame10000: ["10,000 cells: longest frame while scrolling through", "50 ms"],
  key: ["key to paint while another cell streams 10,000 lines/s (here ten others type too), median / p99", "16 / 50 ms"],
  edit: ["edit of one person → painted at another, median / p99", "30 / 80 ms"],
} as const;
type Row = keyof typeof ROWS;

const measured = new Map<string, Partial<Record<Row, string>>>();
let products: Product[] = [];

function note(product: Product, row: Row, value: string): void {
  measured.set(product.name, { ...measured.get(product.name), [row]: value });
  console.log(`${product.name}: ${ROWS[row][0]}: ${value}`);
}

const sort = (values: number[]) => [...values].sort((a, b) => a - b);
const at = (sorted: number[], share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? NaN;
const median = (values: number[]) => at(sort(values), 0.5);
const ms = (value: number) =>
  Number.isNaN(value) ? "–" : value >= 10_000 ? `${(value / 1_000).toFixed(1)} s` : `${value.toFixed(0)} ms`;
/** Median, minimum and maximum of the runs, as text. */
const ofRuns = (runs: number[]) => {
  const sorted = sort(runs);
  const range = runs.length > 1 ? ` (${sorted[0]?.toFixed(0)}–${sorted.at(-1)?.toFixed(0)})` : "";
  return `${ms(median(runs))}${range}`;
};
const both = (runs: number[][]) =>
  `${ofRuns(runs.map(median))} / ${ofRuns(runs.map((values) => at(sort(values), 0.99)))}, ${runs.flat().length} keys`;

test.beforeAll(async () => {
  const all = [await ours(), ...(OURS_ALONE ? [] : [await jupyterLab(), await marimoEditor()])];
  products = all.filter((each) => each !== undefined);
});

test.afterAll(async () => {
  for (const product of products) await product.end();
  if (measured.size === 0) return;
  const names = products.map(({ name }) => name);
  const load = loadavg()[0]?.toFixed(1) ?? "?";
  console.log(`\nMachine: ${cpus().length} × ${cpus()[0]?.model ?? "?"}, load ${load} at the end, ${RUNS} runs each, medians.\n`);
  console.log(`| what | at most | ${names.join(" | ")} |\n| --- | --- |${names.map(() => " --- |").join("")}`);
  for (const [row, [what, most]] of Object.entries(ROWS))
    console.log(`| ${what} | ${most} | ${names.map((name) => measured.get(name)?.[row as Row] ?? "–").join(" | ")} |`);
});

/** Measures each product. A failure is printed and does not affect the other products. */
async function ofEach(browser: Browser, measure: (product: Product) => Promise<void>): Promise<void> {
  for (const product of products) {
    await measure(product).catch((error: unknown) => console.log(`${product.name}: not measured: ${String(error).slice(0, 500)}`));
    await Promise.all(browser.contexts().map((context) => context.close()));
  }
}

/** Opens a notebook like a reload: signed in, with a warm browser cache. */
async function reload(page: Page, address: string): Promise<{ paint: number; ready: number }> {
  await page.goto(address, { timeout: PATIENCE_MS });
  await page.reload({ timeout: PATIENCE_MS });
  const isReady = page.waitForFunction(() => window.marks.ready, undefined, { timeout: PATIENCE_MS });
  await isReady.catch(() => undefined);
  return page.evaluate(() => ({
    paint: performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? Number.NaN,
    ready: window.marks.ready ?? Number.NaN,
  }));
}

async function visit(product: Product, browser: Browser): Promise<Page> {
  const page = await product.visitor(browser);
  await page.addInitScript(watch, product.watched);
  return page;
}

test("what is loaded at once", async ({ browser }) => {
  await ofEach(browser, async (product) => {
    if (product.name === "Notarium") return note(product, "initial", `${(ownBytes() / 1_024).toFixed(0)} KB`);
    const page = await visit(product, browser);
    await page.goto(await product.place(browser, 100));
    await page.waitForFunction(() => window.marks.ready, undefined, { timeout: PATIENCE_MS });
    // Compresses the same way for all products, whatever their servers send.
    const files = await page.evaluate(async () => {
      const all = performance.getEntriesByType("resource").map(({ name }) => name);
      const wanted = all.filter((name) => /\.(m?js|css)(\?|$)/.test(name));
      return Promise.all(wanted.map((name) => fetch(name).then((answer) => answer.text())));
    });
    const bytes = files.reduce((sum, text) => sum + gzipSync(text, { level: 9 }).length, 0);
    note(product, "initial", `${(bytes / 1_024).toFixed(0)} KB`);
  });
});

function ownBytes(): number {
  const page = new URL("../../dist/page/", import.meta.url).pathname;
  const html = readFileSync(`${page}index.html`, "utf8");
  const files = [...new Set([...html.matchAll(/(?:src|href)="\/(assets\/[^"]+\.(?:js|css))"/g)].map(([, file]) => file ?? ""))];
  return files.reduce((sum, file) => sum + gzipSync(readFileSync(page + file), { level: 9 }).length, 0);
}

test("opening 100 cells", async ({ browser }) => {
  await ofEach(browser, async (product) => {
    const address = await product.place(browser, 100);
    const page = await visit(product, browser);
    const runs = [];
    for (let run = 0; run < RUNS; run++) runs.push(await reload(page, address));
    note(product, "paint100", ofRuns(runs.map(({ paint }) => paint)));
    note(product, "ready100", ofRuns(runs.map(({ ready }) => ready)));
  });
});

test("opening 10,000 cells, and scrolling", async ({ browser }) => {
  await ofEach(browser, async (product) => {
    const address = await product.place(browser, 10_000);
    const page = await visit(product, browser);
    const runs = [];
    for (let run = 0; run < RUNS; run++) {
      runs.push((await reload(page, address)).ready);
      // After one timeout the other runs would time out too.
      if (Number.isNaN(runs.at(-1))) break;
    }
    const isReady = runs.every((each) => !Number.isNaN(each));
    note(product, "ready10000", isReady ? ofRuns(runs) : `not in ${PATIENCE_MS / 1_000} s`);
    if (isReady) {
      // Wait until all groups of cells exist before scrolling.
      if (product.name === "Notarium") await expect(page.locator(".cell")).toHaveCount(10_000, { timeout: PATIENCE_MS });
      const frames = [];
      for (let run = 0; run < RUNS; run++) frames.push(await page.evaluate(longestFrame, product.watched.source));
      note(product, "frame10000", ofRuns(frames));
    }
  });
});

test("a key to the screen while another cell streams", async ({ browser }) => {
  await ofEach(browser, async (product) => {
    const runs: number[][] = [];
    for (let run = 0; run < STREAMS; run++) {
      const { page, shown } = await product.streaming(browser);
      const isOver = new Promise((resolve) => setTimeout(resolve, STREAM_SECONDS * 1_000));
      await page.evaluate(watch, product.watched);
      const [before, began] = [await shown(), Date.now()];
      await page.keyboard.type("x".repeat(KEYS), { delay: 60 });
      runs.push(await page.evaluate(() => window.marks.keys));
      const lines = ((await shown()) - before) / ((Date.now() - began) / 1_000);
      console.log(`${product.name}: ${lines.toFixed(0)} lines/s came to the screen while the keys were typed`);
      // Wait for the end of this stream, so that the next one runs alone.
      await isOver;
      await page.context().close();
    }
    note(product, "key", both(runs));
  });
});

// JupyterLab needs an extension for collaboration, marimo an option. Neither is enabled by default.
test("an edit at another's screen", async ({ browser }) => {
  await ofEach(browser, async (product) => {
    if (!product.pair) return;
    const runs: number[][] = [];
    for (let run = 0; run < STREAMS; run++) {
      const [ann, bo] = await product.pair(browser);
      await bo.evaluate(watch, { source: product.watched.source, editor: ".none" });
      await ann.evaluate(() => {
        const noted = (event: KeyboardEvent) => (window.pressed = performance.timeOrigin + event.timeStamp);
        addEventListener("keydown", noted, true);
      });
      const times: number[] = [];
      for (let key = 0; key < KEYS; key++) {
        await bo.evaluate(() => void (window.painted = new Promise((painted) => (window.marks.told = painted))));
        await ann.keyboard.press("x");
        const painted = await bo.evaluate(() => window.painted);
        times.push((painted ?? Number.NaN) - ((await ann.evaluate(() => window.pressed)) ?? Number.NaN));
      }
      runs.push(times);
      await Promise.all([ann, bo].map((page) => page.context().close()));
    }
    note(product, "edit", both(runs));
  });
});
