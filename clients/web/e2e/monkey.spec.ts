// Two people press random keys concurrently. Text keys change only the edited cell, and in the end both pages, the digest and
// the log agree. `NOTARIUM_MONKEY_SEED=…` repeats a run, `NOTARIUM_MONKEY_KEYS=2000` makes it longer.
import { mkdirSync, writeFileSync } from "node:fs";
import type { Page } from "@playwright/test";
import { apply } from "../src/protocol/apply.ts";
import { Document } from "../src/protocol/document.ts";
import { notebook, python } from "./cells.ts";
import { bringIn } from "./demo.ts";
import { type Act, Monkey, dice } from "./monkey.ts";
import { type Recorded, events, notebookOf, record, replicaOf } from "./record.ts";
import { slowly } from "./weather.ts";
import { expect, fresh, person, test } from "./server.ts";

const KEYS = Number(process.env.NOTARIUM_MONKEY_KEYS ?? 300);
const LATENCY_MS = Number(process.env.NOTARIUM_MONKEY_LATENCY_MS ?? 60);
const SEED = Number(process.env.NOTARIUM_MONKEY_SEED ?? Date.now() % 1_000_000);

/** Waits until all edits are confirmed. */
async function settled(...pages: Page[]): Promise<void> {
  for (const page of pages) await expect(page.locator(".connection")).toHaveText("Saved", { timeout: 30_000 });
}

/** Conditions during the test. */
type Weather = "calm" | "offline" | "a lower role";

const EDITS = new Set(["CellSourceEdited"]);

/** Events of a text act other than edits of the cell in which it was typed. */
function strayed(found: Recorded[], monkey: Monkey, act: Act, cell: string | undefined): Recorded[] {
  if (act.kind !== "text") return [];
  return found.filter(({ actor, type, payload }) => {
    // Ann's token also changes the roles.
    if (!("id" in actor) || actor.id !== monkey.actor || type === "AccessGranted") return false;
    const isOwnText = EDITS.has(type) && (payload as { cell_id?: string }).cell_id === cell;
    return !isOwnText;
  });
}

const editedIn = (page: Page) => page.evaluate(() => document.querySelector<HTMLElement>(".cell.editing")?.dataset.cell);

test("@smoke a monkey with two pairs of hands", async ({ browser, server }) => {
  test.setTimeout(KEYS * 3_000 + 120_000);
  const steps: string[] = [];
  console.log(`monkey: NOTARIUM_MONKEY_SEED=${SEED} NOTARIUM_MONKEY_KEYS=${KEYS}`);
  const ann = await person(browser, server);
  await bringIn(ann, notebook(...["a", "b", "c", "d", "e"].map((id) => python(id, `${id} = 1`))), "Monkey.ipynb");
  const id = notebookOf(ann);
  const bo = await server.account("Bo");
  await server.send("PUT", `/api/notebooks/${id}/access`, { subject: { kind: "user", id: bo.id }, role: "editor" });
  const other = await (await fresh(browser)).newPage();
  await slowly(other, LATENCY_MS);
  await other.goto(`${server.url}/#token=${bo.token}`);
  await other.getByRole("button", { name: "New notebook" }).waitFor();
  await other.goto(ann.url());
  await other.locator(".cell").nth(4).waitFor();
  const me = (await (await server.send("GET", "/api/me")).json()) as { actor: { id: string }; user?: { id: string } };
  const monkeys = [
    new Monkey("Ann", ann, me.user?.id ?? me.actor.id, dice(SEED)),
    new Monkey("Bo", other, bo.id, dice(SEED + 1), "restless"),
  ];
  for (const { page } of monkeys) page.on("pageerror", (error) => steps.push(`  the page failed: ${error.message}`));
  try {
    const sky = dice(SEED + 2);
    const subject = { kind: "user", id: bo.id };
    const become = (role: string) => server.send("PUT", `/api/notebooks/${id}/access`, { subject, role });
    let [keys, version] = [0, (await events(server, id, 0)).length];
    while (keys < KEYS) {
      for (const monkey of monkeys) await monkey.look();
      const acts = monkeys.map((monkey) => monkey.next());
      steps.push(acts.map(({ words }) => words).join(" | "));
      const cells = await Promise.all(monkeys.map(({ page }) => editedIn(page)));
      const weather: Weather = sky.below(10) > 0 ? "calm" : sky.one(["offline", "a lower role"]);
      if (weather !== "calm") steps.push(`  ${weather}`);
      if (weather === "offline") await ann.context().setOffline(true);
      await Promise.all([...acts.map((act) => act.do()), weather === "a lower role" && become("viewer")]);
      if (weather === "offline") await ann.context().setOffline(false);
      if (weather === "a lower role") await become("editor");
      await settled(ann, other);
      const found = await events(server, id, version);
      version += found.length;
      const wrong = monkeys.flatMap((monkey, at) => strayed(found, monkey, acts[at] as Act, cells[at]));
      expect(wrong.map(({ type, payload }) => `${type} ${JSON.stringify(payload)}`)).toEqual([]);
      await expect(ann.locator(".broken")).toHaveCount(0);
      keys += acts.reduce((sum, act) => sum + act.keys, 0);
    }
    // Compare both pages, the digest and the log.
    const log = await events(server, id, 0);
    expect(log.map(({ version: at }) => at)).toEqual(log.map((_, at) => at + 1));
    const folded = new Document(id);
    for (const event of log) apply(folded, event);
    const proven = (await (await server.send("GET", `/api/notebooks/${id}/verify`)).json()) as {
      ok: boolean;
      state_is_replayed: boolean;
    };
    expect(proven).toMatchObject({ ok: true, state_is_replayed: true, version: log.length });
    const sources = (await record(server, ann)).map(({ source }) => source);
    const truth = { version: log.length, digest: folded.digest(), sources };
    for (const { page } of monkeys) await expect.poll(() => replicaOf(page)).toEqual(truth);
    const visible = (page: Page) =>
      page.locator(".cell[data-cell]").evaluateAll((all) => all.map((cell) => (cell as HTMLElement).dataset.cell));
    for (const { page } of monkeys) expect(await visible(page)).toEqual(folded.order);
  } catch (error) {
    mkdirSync("test-results", { recursive: true });
    writeFileSync(`test-results/monkey-${SEED}.txt`, `${steps.join("\n")}\n`);
    throw new Error(
      `NOTARIUM_MONKEY_SEED=${SEED} NOTARIUM_MONKEY_KEYS=${KEYS}: ${(error as Error).message}\n${steps.slice(-6).join("\n")}`,
    );
  }
});
