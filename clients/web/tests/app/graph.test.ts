// Dependency graph of a notebook: its drawing and numbers, without a page.
import { describe, expect, test, vi } from "vitest";
import { type CellReport, Graph } from "../../src/app/state/graph.ts";
import { labelOf, linkMap } from "../../src/app/cells/links.ts";
import type { OpenNotebook } from "../../src/app/state/notebook.ts";
import type { StaleReason } from "../../src/protocol/rest.ts";
import { changeWords, numbered, staleParts } from "../../src/app/words/sentences.ts";

/** Reports of cells by id, with their dependents. */
function reports(children: Record<string, string[]>): CellReport[] {
  const link = (cell_id: string) => ({ cell_id, names: ["x"] });
  return Object.entries(children).map(([cell_id, to]) => ({
    ...{ cell_id, reads: [], writes: [], standing: "fresh" as const },
    children: to.map(link),
    parents: Object.entries(children).flatMap(([from, all]) => (all.includes(cell_id) ? [link(from)] : [])),
  }));
}

const drawn = (children: Record<string, string[]>, current?: string, most?: number) => {
  const map = linkMap(reports(children), current, most);
  return { ...map, rows: map.rows.map(({ cell_id }) => cell_id) };
};

describe("the map of dependencies", () => {
  test("has a row for each cell that reads or is read, and counts the others", () => {
    const { rows, links, alone } = drawn({ a: ["c"], b: [], c: [] });
    expect([rows, alone]).toEqual([["a", "c"], 1]);
    expect(links).toEqual([{ from: 0, to: 1, lane: 0 }]);
  });

  test("lines that meet in a row, or pass each other, have lanes of their own; others share one", () => {
    const lanes = (children: Record<string, string[]>) => drawn(children).links.map(({ from, to, lane }) => `${from}${to}:${lane}`);
    // In a chain a → b → c, b needs another lane than a: a shared line would mean a → c.
    expect(lanes({ a: ["b"], b: ["c"], c: [] })).toEqual(["01:0", "12:1"]);
    expect(lanes({ a: ["b"], b: [], c: ["d"], d: [] })).toEqual(["01:0", "23:0"]);
    // Dependents of one cell share a line; longer lines are further out.
    expect(lanes({ a: ["b", "d"], b: ["c"], c: [], d: [] })).toEqual(["01:1", "03:1", "12:0"]);
  });

  test("a circle goes up again, and a cell is not drawn to itself twice", () => {
    expect(drawn({ a: ["b"], b: ["a"] }).links).toEqual([
      { from: 0, to: 1, lane: 0 },
      { from: 1, to: 0, lane: 1 },
    ]);
  });

  test("of too many cells those beside the one that somebody is in are shown", () => {
    const children = { a: ["b"], b: ["c"], c: ["d"], d: [] };
    expect(drawn(children, "c", 3)).toMatchObject({ rows: ["b", "c", "d"], isPart: true });
    expect(drawn(children, undefined, 3)).toMatchObject({ rows: [], isPart: true });
    expect(drawn(children, "c", 4)).toMatchObject({ rows: ["a", "b", "c", "d"], isPart: false });
  });

  test("a row says what the cell leaves, else its first line of code", () => {
    const [report] = reports({ a: [] });
    if (!report) throw new Error("no report");
    expect(labelOf({ ...report, writes: ["x", "y"] }, "x = y = 1")).toBe("x, y");
    expect(labelOf(report, "\n# a comment\n  print(x)\n")).toBe("print(x)");
    expect(labelOf(report, "-- @warehouse\nSELECT 1")).toBe("SELECT 1");
    expect(labelOf(report, "# alone")).toBe("# alone");
  });
});

describe("reasons of a stale cell", () => {
  const words = (reason: StaleReason) =>
    staleParts(reason)
      .map((part) => ("cell" in part ? `[${part.cell}]` : "code" in part ? `<${part.code}>` : part.text))
      .join("");
  test("have the cells as parts of their own", () => {
    expect(words({ kind: "edited" })).toBe("edited since last run");
    expect(words({ kind: "cell_stale", cell_id: "a" })).toBe("depends on [a]");
    expect(words({ kind: "ran_since", cell_id: "a" })).toBe("[a] has run since");
    expect(words({ kind: "cell_failed", cell_id: "a" })).toBe("[a] failed");
    expect(words({ kind: "cell_failed" })).toBe("a cell it depends on failed");
    expect(words({ kind: "skipped", cell_id: "a" })).toBe("skipped: [a] failed");
    expect(words({ kind: "overwritten", name: "x", cell_id: "a" })).toBe("[a] has overwritten <x>");
    expect(words({ kind: "overwritten", name: "x" })).toBe("<x> was removed from the kernel");
    expect(words({ kind: "other_value", name: "x", cell_id: "a" })).toBe("read <x> from [a]");
    expect(words({ kind: "may_be_stale", name: "x", cell_id: "a" })).toBe("possibly: [a] may have changed <x>");
    expect(words({ kind: "may_be_stale", name: "x" })).toBe("possibly: another cell overwrites <x>");
  });
  test("name a circle up to its beginning, and count what is left out", () => {
    const cells = [
      { cell_id: "a", name: "x" },
      { cell_id: "b", name: "y" },
    ];
    expect(words({ kind: "circle", cells })).toBe("circular dependency: [a] (<x>) → [b] (<y>) → [a]");
    expect(words({ kind: "circle", cells, more: 7 })).toBe("circular dependency: [a] (<x>) → [b] (<y>) → 7 more → [a]");
  });
});

describe("the change that makes a call impossible", () => {
  test("is said with the cell's number", () => {
    const change = { kind: "cell_changed", cell_id: "b", cell_version: 5, requested_version: 2 } as const;
    expect(changeWords(change, ["a", "b"])).toBe("cell 2 has changed since");
    expect(changeWords({ kind: "cell_deleted", cell_id: "gone" }, ["a", "b"])).toBe("the cell was deleted");
  });
});

describe("sentences of the server", () => {
  const order = ["cell-a", "setup", "cell-c"];
  test("name cells by their numbers, and names as code", () => {
    expect(numbered("cell-a leaves `setup` to cell-c", order)).toBe("cell 1 leaves setup to cell 3");
    expect(numbered("cell cell-c, from which it reads, has run since", order)).toBe("cell 3, from which it reads, has run since");
  });
  test("leave alone what is no cell of the notebook", () => {
    expect(numbered("cell gone-1 did; cell-ab too", order)).toBe("cell gone-1 did; cell-ab too");
  });
});

describe("the graph of an open notebook", () => {
  function opened(reactivity: string) {
    const folded = new Set<(event: { type: string }) => void>();
    const answers: ((graph: object) => void)[] = [];
    const told: string[] = [];
    const get = vi.fn(() => new Promise((resolve) => answers.push(resolve)));
    const store = {
      id: "nb",
      replica: { document: { reactivity }, folded, replaced: new Set(), stateChanged: new Set() },
      session: { rest: { get } },
      touch: (topic: string) => told.push(topic),
    };
    const graph = new Graph(store as unknown as OpenNotebook);
    const change = (type = "CellSourceEdited") => folded.forEach((listener) => listener({ type }));
    const answer = async (version: number, cells: CellReport[]) => {
      answers.shift()?.({ version, reactivity, cells });
      await Promise.resolve();
      await Promise.resolve();
    };
    return { graph, store, get, told, change, answer };
  }
  const stale = (reason: StaleReason): CellReport[] =>
    reports({ a: [] }).map((report) => ({ ...report, standing: "stale", reason }));

  test("is asked for once for several changes, and tells the cells whose marks are others", async () => {
    vi.useFakeTimers();
    const { graph, get, told, change, answer } = opened("lazy");
    change();
    change();
    await vi.advanceTimersByTimeAsync(1_000);
    expect(get).toHaveBeenCalledTimes(1);
    await answer(5, stale({ kind: "edited" }));
    expect([graph.of("a")?.standing, told]).toEqual(["stale", ["cell:a", "graph"]]);
    vi.useRealTimers();
  });

  test("is asked for after events of cells and plans, not after outputs and words of the assistant", async () => {
    vi.useFakeTimers();
    const { get, change } = opened("lazy");
    for (const type of [
      "ExecutionOutputAppended",
      "ExecutionOutputUpdated",
      "ExecutionInputAnswered",
      "MessagePosted",
      "ThreadStarted",
    ])
      change(type);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(get).not.toHaveBeenCalled();
    for (const type of ["CellDeleted", "ExecutionRequested", "ExecutionCompleted", "KernelSessionEnded", "NotebookReactivitySet"]) {
      change(type);
      await vi.advanceTimersByTimeAsync(1_000);
    }
    expect(get).toHaveBeenCalledTimes(5);
    vi.useRealTimers();
  });

  test("is not that of an earlier version, when answers overtake each other", async () => {
    const { graph, answer } = opened("lazy");
    graph.watch();
    graph.watch();
    await answer(7, stale({ kind: "edited" }));
    await answer(6, stale({ kind: "not_run" }));
    expect(graph.of("a")?.reason).toEqual({ kind: "edited" });
  });

  test("is asked for only while somebody looks where the notebook is not reactive, and marks nothing there", async () => {
    vi.useFakeTimers();
    const { graph, get, change, answer } = opened("off");
    change();
    await vi.advanceTimersByTimeAsync(1_000);
    expect(get).not.toHaveBeenCalled();
    const end = graph.watch();
    await answer(1, stale({ kind: "not_run" }));
    expect([graph.reports.length, graph.of("a")]).toEqual([1, undefined]);
    end();
    change();
    await vi.advanceTimersByTimeAsync(1_000);
    expect(get).toHaveBeenCalledTimes(1);
    vi.useRealTimers();
  });
});
