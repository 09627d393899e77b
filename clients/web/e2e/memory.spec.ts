// Memory of a page that shows a stream for minutes: it must not grow. `make soak` runs this with five minutes.
import type { CDPSession, Page } from "@playwright/test";
import { expect, person, test, write } from "./server.ts";

const MINUTES = Number(process.env.NOTARIUM_STREAM_MINUTES ?? 5);
const MOST_GROWTH = 1.2;
/** Tolerance for nodes that are not collected yet. A leak of one node for each update would be thousands. */
const MORE_NODES = 1_000;

test.skip(!process.env.NOTARIUM_STREAM_MINUTES, "make soak");
test.use({ trace: "off" });
test.setTimeout((MINUTES + 5) * 60_000);

/** Training loop: constant lines of progress, cleared outputs, and some pictures. A run has 100,000 lines. */
const STREAM = `import base64, time
from IPython.display import clear_output, display
began = time.time()
step = 0
while True:
    minute = int((time.time() - began) // 60)
    print(f"minute {minute} step {step:07d} " + "." * 50)
    step += 1
    if step % 400 == 0:
        clear_output(wait=True)
        display({"image/svg+xml": f"<svg xmlns='http://www.w3.org/2000/svg' width='90' height='20'><text y='15'>{step}</text></svg>"}, raw=True)
    time.sleep(0.005)`;

interface Kept {
  heap: number;
  nodes: number;
  listeners: number;
}

async function kept(session: CDPSession): Promise<Kept> {
  // Objects freed by one collection may release others.
  for (let round = 0; round < 3; round++) await session.send("HeapProfiler.collectGarbage");
  const { metrics } = await session.send("Performance.getMetrics");
  const of = (name: string) => metrics.find((each) => each.name === name)?.value ?? Number.NaN;
  return { heap: of("JSHeapUsedSize"), nodes: of("Nodes"), listeners: of("JSEventListeners") };
}

/** Minimum of several samples: the output is filled and cleared all the time, and its lines are nodes. */
async function least(session: CDPSession): Promise<Kept> {
  const looks: Kept[] = [];
  while (looks.length < 12) looks.push(await kept(session));
  const of = (name: keyof Kept) => Math.min(...looks.map((each) => each[name]));
  return { heap: of("heap"), nodes: of("nodes"), listeners: of("listeners") };
}

async function stream(page: Page): Promise<void> {
  await page.getByRole("button", { name: "New notebook" }).click();
  await write(page, STREAM);
  await page.keyboard.press("Control+Enter");
}

test(`${MINUTES} minutes of streaming leave the memory as it was`, async ({ browser, server }) => {
  const page = await person(browser, server);
  await stream(page);
  const outputs = page.locator(".outputs");
  const session = await page.context().newCDPSession(page);
  await session.send("Performance.enable");
  // The first minute loads lazy parts and is excluded from the comparison.
  await expect(outputs).toContainText("minute 1 ", { timeout: 150_000 });
  const before = await least(session);
  await expect(outputs).toContainText(`minute ${MINUTES} `, { timeout: (MINUTES + 2) * 60_000 });
  const after = await least(session);
  const growth = (name: keyof Kept) => after[name] / before[name];
  console.log(
    `heap ${(before.heap / 1e6).toFixed(1)} → ${(after.heap / 1e6).toFixed(1)} MB, nodes ${before.nodes} → ${after.nodes}, ` +
      `listeners ${before.listeners} → ${after.listeners}`,
  );
  expect(growth("heap"), "JavaScript's heap").toBeLessThanOrEqual(MOST_GROWTH);
  expect(after.nodes - before.nodes, "nodes").toBeLessThanOrEqual(MORE_NODES);
  expect(growth("listeners"), "listeners").toBeLessThanOrEqual(MOST_GROWTH);
  await page.getByRole("button", { name: "Stop all" }).click();
  await page.context().close();
});
