// Cache of connections' tables: refreshed when they may have changed, not for every key.
import { expect, test, vi } from "vitest";
import { Schemas, found, shortName } from "../../src/app/state/schemas.ts";
import type { KernelAnswer } from "../../src/protocol/messages.ts";

const described: KernelAnswer = { described: { kind: "duckdb", tables: [] } };
const refused: KernelAnswer = { refused: { code: "no_kernel", message: "no kernel runs: run a cell" } };

function setup({ mayRun = true, features = ["connection_schemas"] } = {}) {
  const listeners = new Set<(event: { type: string }) => void>();
  const ask = vi.fn<() => Promise<KernelAnswer | undefined>>(() => Promise.resolve(described));
  const notebook = {
    mayRun,
    questions: { ask },
    session: { connection: { welcome: { features } } },
    replica: { folded: listeners },
  };
  const schemas = new Schemas(notebook as unknown as ConstructorParameters<typeof Schemas>[0]);
  const happened = (type: string) => listeners.forEach((hear) => hear({ type }));
  return { schemas, ask, happened };
}

test("tables are asked for once, and again when a run has ended", async () => {
  const { schemas, ask, happened } = setup();
  expect(await schemas.tables("shop")).toEqual({ kind: "duckdb", tables: [] });
  await schemas.tables("shop");
  happened("CellSourceEdited");
  await schemas.tables("shop");
  expect(ask).toHaveBeenCalledTimes(1);
  expect(ask).toHaveBeenCalledWith({ code: "", cursor: 0, kind: { describe: { connection: "shop", matching: "" } } });
  happened("ExecutionCompleted");
  await schemas.tables("shop");
  await schemas.tables("duckdb");
  expect(ask).toHaveBeenCalledTimes(3);
});

test("a refusal is said where somebody asked, and while one types it is not asked for again at each letter", async () => {
  vi.useFakeTimers();
  const { schemas, ask } = setup();
  ask.mockResolvedValue(refused);
  expect(await schemas.ask("shop")).toEqual({ problem: "No kernel is running. Run a cell first." });
  expect(await schemas.tables("shop")).toBeUndefined();
  expect(ask).toHaveBeenCalledTimes(1);
  vi.advanceTimersByTime(6_000);
  await schemas.tables("shop");
  expect(ask).toHaveBeenCalledTimes(2);
  ask.mockResolvedValue(undefined);
  expect(await schemas.ask("shop")).toEqual({ problem: expect.stringContaining("server can’t be reached") as string });
  vi.useRealTimers();
});

test("who may not run, and whose server is older, asks nothing", async () => {
  for (const { schemas, ask } of [setup({ mayRun: false }), setup({ features: [] })]) {
    expect([schemas.isOpen, await schemas.tables("shop"), ask.mock.calls.length]).toEqual([false, undefined, 0]);
  }
});

test("tables are found by their names, then by their columns", () => {
  const table = (name: string, column: string, more = {}) => ({
    ...{ schema: "main", name, kind: "table", is_visible: true, columns: [{ name: column, type: "INT", nullable: true }] },
    ...more,
  });
  const tables = [table("orders", "id"), table("cities", "order_id"), table("days", "day", { catalog: "lake", is_visible: false })];
  expect(found(tables, " ORDER").map(shortName)).toEqual(["orders", "cities"]);
  expect(found(tables, "main.d").map(shortName)).toEqual(["lake.main.days"]);
  expect(found(tables, "").length).toBe(3);
});
