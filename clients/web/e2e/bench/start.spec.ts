// Work of opening a notebook, counted: `NOTARIUM_BENCH=1 npx playwright test start.spec.ts`. NOTARIUM_PAGES=FOLDER,FOLDER opens
// pages in turns, so that a busy machine slows down all of them. It is not a test.
import { writeFileSync } from "node:fs";
import type { Browser, Page } from "@playwright/test";
import { bringIn } from "../demo.ts";
import { TestServer, person, test } from "../server.ts";
import { nbformat, sources } from "./notebooks.ts";
import { serving } from "./serving.ts";
import { OURS, watch } from "./watch.ts";

const PAGES = (process.env.NOTARIUM_PAGES ?? process.env.NOTARIUM_PAGE ?? "dist/page").split(",");
const RUNS = Number(process.env.NOTARIUM_BENCH_RUNS ?? 15);
const CELLS = Number(process.env.NOTARIUM_BENCH_CELLS ?? 100);
/** Each page's last trace, for chrome://tracing, begins with this path. */
const TRACE = process.env.NOTARIUM_TRACE;

test.skip(!process.env.NOTARIUM_BENCH, "counts of start-up");
test.use({ trace: "off" });
test.setTimeout(3_600_000);

type Counts = Record<string, number>;

/** Tasks whose number is printed beside their time. */
const COUNTED = new Set(["UpdateLayoutTree", "Layout", "FireAnimationFrame"]);
/** Shorter tasks are not printed. */
const LEAST_MS = 0.5;

interface TraceEvent {
  name: string;
  /** Phase: X is a task with a duration. */
  ph: string;
  pid: number;
  tid: number;
  /** Microseconds: begin, duration, and CPU time of the thread. */
  ts: number;
  dur?: number;
  tdur?: number;
  args?: { name?: string; elementCount?: number; data?: { documentLoaderURL?: string } };
}

async function opened(page: Page): Promise<void> {
  await page.reload();
  await page.waitForFunction(() => window.marks.ready);
}

async function times(page: Page): Promise<Counts> {
  await opened(page);
  return page.evaluate(() => {
    const ready = window.marks.ready ?? Number.NaN;
    const all = performance.getEntriesByType("resource") as PerformanceResourceTiming[];
    const before = all.filter(({ startTime }) => startTime < ready);
    const asked = before.filter(({ name }) => name.includes("/api/"));
    return {
      "first paint, ms": performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? Number.NaN,
      "ready to type, ms": ready,
      "signed in, ms": Math.max(...asked.map(({ responseEnd }) => responseEnd)),
      "files before ready": before.length - asked.length,
      "requests of the API before ready": asked.length,
      "KB of files before ready, unpacked": before.reduce((sum, { decodedBodySize }) => sum + decodedBodySize, 0) / 1_024,
      "elements when ready": document.querySelectorAll("*").length,
    };
  });
}

/** CPU time of the page's main thread from navigation until typing is possible, by kind of task without nested tasks. */
async function work(browser: Browser, page: Page): Promise<Counts> {
  await browser.startTracing(page, { categories: ["devtools.timeline", "v8", "blink.user_timing", "toplevel", "loading"] });
  await opened(page);
  const trace = (await browser.stopTracing()).toString();
  if (TRACE) writeFileSync(`${TRACE}-${new URL(page.url()).port}.json`, trace);
  return sums((JSON.parse(trace) as { traceEvents: TraceEvent[] }).traceEvents);
}

function sums(events: TraceEvent[]): Counts {
  const url = "http://127.0.0.1";
  const start = events.findLast(({ name, args }) => name === "navigationStart" && args?.data?.documentLoaderURL?.startsWith(url));
  const after = (mark: string) => events.find(({ name, ts }) => name === mark && start && ts > start.ts)?.ts;
  const [paint, ready] = [after("firstContentfulPaint"), after("ready")];
  if (!start || paint === undefined || ready === undefined) throw new Error("the trace has no marks");
  const isMain = ({ name, pid, args }: TraceEvent) =>
    name === "thread_name" && pid === start.pid && args?.name === "CrRendererMain";
  const thread = events.find(isMain)?.tid;
  const tasks = events.filter(
    ({ ph, pid, tid, ts }) => ph === "X" && pid === start.pid && tid === thread && ts > start.ts && ts < ready,
  );
  tasks.sort((a, b) => a.ts - b.ts || (b.dur ?? 0) - (a.dur ?? 0));
  const counts: Counts = {};
  const add = (name: string, value: number) => (counts[name] = (counts[name] ?? 0) + value);
  const outer: { task: TraceEvent; nestedMs: number }[] = [];
  const end = () => {
    const { task, nestedMs } = outer.pop() ?? { task: start, nestedMs: 0 };
    const ms = (task.tdur ?? 0) / 1_000;
    const above = outer.at(-1);
    if (above) above.nestedMs += ms;
    else add("CPU ms until ready", ms);
    if (!above && task.ts < paint) add("CPU ms until the first paint", ms);
    add(`CPU ms: ${task.name}`, ms - nestedMs);
  };
  for (const task of tasks) {
    for (let above = outer.at(-1); above && task.ts >= above.task.ts + (above.task.dur ?? 0); above = outer.at(-1)) end();
    outer.push({ task, nestedMs: 0 });
    if (COUNTED.has(task.name)) add(`number of ${task.name}`, 1);
    if (task.name === "UpdateLayoutTree") add("elements styled", task.args?.elementCount ?? 0);
  }
  while (outer.length > 0) end();
  return counts;
}

/** Median with the least and the largest value. */
function spread(values: number[]): string {
  const sorted = [...values].sort((a, b) => a - b);
  const [least, middle, most] = [0, Math.floor(sorted.length / 2), sorted.length - 1].map((at) => sorted[at] ?? Number.NaN);
  return `${middle?.toFixed(1)} (${least?.toFixed(1)}–${most?.toFixed(1)})`;
}

test(`work of opening ${CELLS} cells`, async ({ browser }) => {
  const server = new TestServer();
  await server.start();
  const turns: { page: Page; rows: Map<string, number[]> }[] = [];
  for (const folder of PAGES) {
    const visited = Object.assign(Object.create(server) as TestServer, { url: await serving(folder, server.url) });
    const page = await person(browser, visited);
    await bringIn(page, nbformat(sources(CELLS)), `${CELLS}.ipynb`);
    await page.addInitScript(watch, OURS);
    await opened(page);
    turns.push({ page, rows: new Map() });
  }
  for (let run = 0; run < RUNS; run++)
    for (const { page, rows } of turns)
      for (const [name, value] of Object.entries({ ...(await times(page)), ...(await work(browser, page)) }))
        rows.set(name, [...(rows.get(name) ?? []), value]);
  await server.end();
  console.log(`\n${CELLS} cells, ${RUNS} runs: median (least–most)\n| what | ${PAGES.join(" | ")} |`);
  for (const name of new Set(turns.flatMap(({ rows }) => [...rows.keys()]))) {
    const values = turns.map(({ rows }) => rows.get(name) ?? [0]);
    const isWorth = !name.startsWith("CPU ms: ") || values.some((each) => Math.max(...each) >= LEAST_MS);
    if (isWorth) console.log(`| ${name} | ${values.map(spread).join(" | ")} |`);
  }
});
