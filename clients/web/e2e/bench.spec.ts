// How fast the page is: `make bench-web`, on a machine that does nothing else. It prints medians, and is no test.
import { readFileSync } from "node:fs";
import { cpus, loadavg } from "node:os";
import { gzipSync } from "node:zlib";
import type { Browser, Page } from "@playwright/test";
import { bringIn } from "./demo.ts";
import { type TestServer, expect, person, saved, test, write } from "./server.ts";

const RUNS = Number(process.env.NOTARIUM_BENCH_RUNS ?? 5);
const KEYS = 120;

test.skip(!process.env.NOTARIUM_BENCH, "make bench-web");
test.use({ trace: "off" });
test.setTimeout(900_000);

const lines: [string, string][] = [];
const at = (sorted: number[], share: number) =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
const sort = (values: number[]) => [...values].sort((a, b) => a - b);
const median = (values: number[]) => at(sort(values), 0.5);
const ms = (value: number) => `${value.toFixed(0)} ms`;

test.afterAll(() => {
  if (lines.length === 0) return;
  console.log(`\n${cpus().length} × ${cpus()[0]?.model ?? "?"}, load ${loadavg()[0]?.toFixed(1)}, ${RUNS} runs\n`);
  console.log(["| what | median |", "| --- | --- |", ...lines.map(([what, value]) => `| ${what} | ${value} |`)].join("\n"));
});

interface Marks {
  ready?: number;
  paints: number[];
  keys: number[];
}

declare global {
  interface Window {
    marks: Marks;
  }
}

/** Opens the first cell as soon as it is there, and notes when it can be typed in; notes how long keys and changes take to the screen. */
function watch(): void {
  const marks: Marks = { paints: [], keys: [] };
  window.marks = marks;
  const painted = (note: () => void) =>
    requestAnimationFrame(() => {
      const { port1, port2 } = new MessageChannel();
      port1.onmessage = note;
      port2.postMessage(0);
    });
  let isOpened = false;
  let known = document.querySelector(".cell .source")?.textContent?.length ?? 0;
  new MutationObserver(() => {
    const source = document.querySelector(".cell .source.still");
    if (source && !isOpened && location.hash.includes("/n/")) {
      isOpened = true;
      source.dispatchEvent(new MouseEvent("mouseup", { bubbles: true }));
    }
    if (!marks.ready && document.activeElement?.closest(".cm-content")) painted(() => (marks.ready ??= performance.now()));
    const length = document.querySelector(".cell .source")?.textContent?.length ?? 0;
    // A caret that moves is no edit.
    if (length !== known) painted(() => marks.paints.push(performance.timeOrigin + performance.now()));
    known = length;
  }).observe(document, { childList: true, subtree: true, characterData: true });
  addEventListener("keydown", (event) => painted(() => marks.keys.push(performance.now() - event.timeStamp)), true);
}

function notebook(count: number): object {
  const cell = (index: number) => ({
    ...{ id: `c${index}`, cell_type: "code", metadata: {}, outputs: [], execution_count: null },
    source: Array.from(
      { length: 1 + (index % 12) },
      (_, line) => `value_${index}_${line} = sum(range(${index}))  # line ${line}`,
    ).join("\n"),
  });
  return { nbformat: 4, nbformat_minor: 5, metadata: {}, cells: Array.from({ length: count }, (_, index) => cell(index)) };
}

async function place(browser: Browser, server: TestServer, count: number): Promise<string> {
  const page = await person(browser, server);
  await bringIn(page, notebook(count), `${count}.ipynb`);
  const address = page.url();
  await page.context().close();
  return address;
}

/** A fresh browser that goes to a notebook as a reload does: signed in, nothing in its cache but what the server let it keep. */
async function reload(page: Page, address: string): Promise<{ paint: number; ready: number }> {
  await page.goto(address);
  await page.reload();
  await expect.poll(() => page.evaluate(() => window.marks.ready), { timeout: 60_000 }).toBeTruthy();
  return page.evaluate(() => ({
    paint: performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? Number.NaN,
    ready: window.marks.ready ?? Number.NaN,
  }));
}

test("what is loaded at once", () => {
  const page = new URL("../dist/page/", import.meta.url).pathname;
  const html = readFileSync(`${page}index.html`, "utf8");
  const files = [...new Set([...html.matchAll(/(?:src|href)="\/(assets\/[^"]+\.(?:js|css))"/g)].map(([, file]) => file ?? ""))];
  const bytes = files.map((file) => gzipSync(readFileSync(page + file), { level: 9 }).length);
  lines.push(["initial JavaScript and CSS, gzip", `${(bytes.reduce((sum, each) => sum + each, 0) / 1024).toFixed(0)} KB`]);
});

for (const count of [100, 10_000])
  test(`opening ${count} cells`, async ({ browser, server }) => {
    const address = await place(browser, server, count);
    const page = await person(browser, server);
    await page.addInitScript(watch);
    const runs = [];
    for (let run = 0; run < RUNS; run++) runs.push(await reload(page, address));
    lines.push([`${count} cells: first paint`, ms(median(runs.map(({ paint }) => paint)))]);
    lines.push([`${count} cells: ready to type`, ms(median(runs.map(({ ready }) => ready)))]);
    if (count < 10_000) return page.context().close();
    // All groups are there before they are scrolled through.
    await expect(page.locator(".cell")).toHaveCount(count, { timeout: 120_000 });
    const longest = await page.evaluate(async () => {
      let [last, most] = [0, 0];
      for (let frame = 0; frame < 240; frame++) {
        const now = await new Promise<number>((resolve) => requestAnimationFrame(resolve));
        if (last > 0) most = Math.max(most, now - last);
        last = now;
        scrollBy(0, 2_000);
      }
      return most;
    });
    lines.push([`${count} cells: longest frame while scrolling`, ms(longest)]);
    await page.context().close();
  });

test("a key to the screen while another cell streams", async ({ browser, server }) => {
  const page = await person(browser, server);
  await page.addInitScript(watch);
  await page.getByRole("button", { name: "New notebook" }).click();
  await write(page, "import time\nwhile True:\n    print('\\n'.join(str(n) for n in range(100)))\n    time.sleep(0.01)");
  await page.keyboard.press("Alt+Enter");
  await expect(page.locator(".outputs")).toContainText("99", { timeout: 60_000 });
  await page.evaluate(watch);
  await page.keyboard.type("x".repeat(KEYS), { delay: 60 });
  const keys = sort(await page.evaluate(() => window.marks.keys));
  lines.push(["key to paint while 10,000 lines/s stream", `${ms(median(keys))} (99 of 100: ${ms(at(keys, 0.99))})`]);
  await page.getByRole("button", { name: "Stop all" }).click();
  await page.context().close();
});

test("an edit at another's screen", async ({ browser, server }) => {
  const ann = await person(browser, server);
  await ann.getByRole("button", { name: "New notebook" }).click();
  await write(ann, "a");
  await saved(ann);
  const bo = await person(browser, server);
  await bo.goto(ann.url());
  await expect(bo.locator(".cell .source").first()).toContainText("a");
  await bo.evaluate(watch);
  const times: number[] = [];
  for (let key = 0; key < KEYS; key++) {
    const seen = await bo.evaluate(() => (window.marks.paints = []).length);
    await ann.evaluate(() =>
      addEventListener("keydown", () => (window.name = String(performance.timeOrigin + performance.now())), {
        once: true,
        capture: true,
      }),
    );
    await ann.keyboard.press("x");
    const pressed = Number(await ann.evaluate(() => window.name));
    await expect.poll(() => bo.evaluate(() => window.marks.paints.length), { intervals: [5] }).toBeGreaterThan(seen);
    times.push((await bo.evaluate(() => window.marks.paints[0] ?? Number.NaN)) - pressed);
  }
  const sorted = sort(times.filter((time) => time > 0));
  lines.push(["edit to another's paint", `${ms(median(sorted))} (99 of 100: ${ms(at(sorted, 0.99))})`]);
});
