// Texts about runs, drafts and steps, without a page.
import { expect, test } from "vitest";
import { nextMark } from "../../src/app/session/attention.ts";
import { keepDrafts, takeDrafts } from "../../src/app/session/drafts.ts";
import { Progress, failedCells } from "../../src/app/state/progress.ts";
import { Groups, steps } from "../../src/app/words/steps.ts";
import {
  causeWords,
  endSentence,
  endedWords,
  kernelEnd,
  ordinal,
  peerName,
  runSentence,
  shortDuration,
  withoutLog,
} from "../../src/app/words/words.ts";
import type { EventMessage, Execution } from "../../src/protocol/messages.ts";

let version = 0;
const event = (type: string, payload: object = {}, more: Partial<EventMessage> = {}): EventMessage =>
  ({
    ...{ version: ++version, id: `e${version}`, type, schema: 1, actor: { kind: "user", id: "ann" }, recorded_at: version * 1_000 },
    ...{ command_id: "c", correlation_id: "g", payload },
    ...more,
  }) as EventMessage;

test("progress counts the runs since all was quiet, and what failed", () => {
  const progress = new Progress();
  const ask = event("ExecutionRequested");
  progress.hear(ask);
  progress.hear(event("ExecutionRequested"));
  progress.hear(event("ExecutionCompleted", { execution_id: "one", outcome: "error" }));
  expect(progress).toMatchObject({ total: 2, done: 1, failed: 1, since: ask.recorded_at, isOver: false });
  progress.hear(event("ExecutionBlocked"));
  expect(progress).toMatchObject({ done: 2, failed: 1, failures: ["one"], skipped: 1, isOver: true });
  progress.hear(event("ExecutionRequested"));
  expect(progress).toMatchObject({ total: 1, done: 0, failed: 0, isOver: false });
  expect(progress.hear(event("CellMoved"))).toBe(false);
});

test("all red cells count as failed, those of the last runs first", () => {
  const latest = new Map(["a", "b", "c", "d"].map((cell) => [cell, `run ${cell}`]));
  const status = { "run a": "error", "run b": "ok", "run c": "lost", "run d": "cancelled", old: "error" };
  const executions = new Map(Object.entries(status).map(([id, status]) => [id, { status } as Execution]));
  const document = { order: ["a", "b", "c", "d", "never"], latest, executions };
  expect(failedCells(document, ["run c", "old"])).toEqual(["c", "a"]);
  expect(failedCells(document, [])).toEqual(["a", "c"]);
});

test("another page of the same person is theirs, not another person", () => {
  const peer = (id: string, name: string) => ({ name, actor: { kind: "user", id } as const });
  const isMe = (actor: { id?: string }) => actor.id === "ann";
  expect(peerName(peer("ann", "Ann"), isMe as never)).toBe("You, in another tab");
  expect(peerName(peer("bo", "Bo"), isMe as never)).toBe("Bo");
  expect(peerName(peer("bo", ""), isMe as never)).toBe("Someone");
});

test("the tab's icon shows running, then how it ended; a question goes first; nothing out of nothing", () => {
  const idle = { isRunning: false, failed: 0, asks: false };
  expect(nextMark(undefined, idle)).toBeUndefined();
  expect(nextMark(undefined, { ...idle, isRunning: true })).toBe("running");
  expect(nextMark("running", { ...idle, isRunning: true, asks: true })).toBe("asks");
  expect(nextMark("running", idle)).toBe("done");
  expect(nextMark("running", { ...idle, failed: 1 })).toBe("failed");
  expect(nextMark("done", idle)).toBe("done");
});

function storage(broken = false) {
  const kept = new Map<string, string>();
  return {
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, value: string) => {
      if (broken) throw new Error("full");
      kept.set(key, value);
    },
    removeItem: (key: string) => void kept.delete(key),
  };
}

test("drafts are kept by cell and taken once; a full or spoilt storage does no harm", () => {
  const place = storage();
  keepDrafts("nb", [{ cell: "a", text: "one" }], place);
  keepDrafts(
    "nb",
    [
      { cell: "a", text: "two" },
      { cell: "b", text: "b" },
    ],
    place,
  );
  keepDrafts("nb", [], place);
  expect(takeDrafts("nb", place)).toEqual([
    { cell: "a", text: "two" },
    { cell: "b", text: "b" },
  ]);
  expect(takeDrafts("nb", place)).toEqual([]);
  keepDrafts("nb", [{ cell: "a", text: "x" }], storage(true));
  place.setItem("notarium.drafts.nb", '[1, {"cell": 2}, {"cell": "a", "text": "kept"}]');
  expect(takeDrafts("nb", place)).toEqual([{ cell: "a", text: "kept" }]);
  place.setItem("notarium.drafts.nb", "{");
  expect(takeDrafts("nb", place)).toEqual([]);
});

test("events of one correlation are one step, with how many cells it touched; what only machines did is none", () => {
  const all = [
    event("CellInserted", { cell_id: "a" }, { correlation_id: "1" }),
    event("CellSourceEdited", { cell_id: "a" }, { correlation_id: "1" }),
    event("CellDeleted", { cell_id: "b" }, { correlation_id: "2" }),
    event("CellDeleted", { cell_id: "c" }, { correlation_id: "2" }),
    event("ExecutionOutputAppended", {}, { correlation_id: "3" }),
    event("CellRestored", { cell_id: "b" }, { correlation_id: "4", undoes: "2" }),
  ];
  expect(steps(all).map(({ words, cells }) => [words.join(", "), cells])).toEqual([
    ["undid: deleted a cell", ["b"]],
    ["deleted 2 cells", ["b", "c"]],
    ["inserted a cell, edited a cell", ["a"]],
  ]);
});

test("the words of the next undo are those of its group; of a group from before nothing is known", () => {
  const groups = new Groups();
  groups.hear(event("CellDeleted", { cell_id: "a" }, { correlation_id: "x" }));
  groups.hear(event("CellDeleted", { cell_id: "b" }, { correlation_id: "x" }));
  expect(groups.words("x")).toBe("deleted 2 cells");
  expect(groups.words("y")).toBeUndefined();
});

test("history tells a redo as what it did, not as an undo of its undo", () => {
  const all = [
    event("CellInserted", { cell_id: "a" }, { correlation_id: "x" }),
    event("CellDeleted", { cell_id: "a" }, { correlation_id: "undo", undoes: "x" }),
    event("CellRestored", { cell_id: "a" }, { correlation_id: "redo", undoes: "undo" }),
    event("CellDeleted", { cell_id: "a" }, { correlation_id: "again", undoes: "redo" }),
  ];
  const words = ["undid: inserted a cell", "redid: inserted a cell", "undid: inserted a cell", "inserted a cell"];
  expect(steps(all).map((step) => step.words.join(", "))).toEqual(words);
});

test("a restoration that is done again is still called one", () => {
  const all = [
    event("CellRestored", { cell_id: "a" }, { correlation_id: "x" }),
    event("CellDeleted", { cell_id: "a" }, { correlation_id: "undo", undoes: "x" }),
    event("CellRestored", { cell_id: "a" }, { correlation_id: "redo", undoes: "undo" }),
  ];
  expect(steps(all)[0]?.words).toEqual(["redid: restored a cell"]);
});

test("the words of an undo and a redo are those of what they take back and do again", () => {
  const groups = new Groups();
  groups.hear(event("CellInserted", { cell_id: "a" }, { correlation_id: "x", version: 1 }));
  groups.hear(event("CellDeleted", { cell_id: "a" }, { correlation_id: "undo", undoes: "x", version: 2 }));
  groups.hear(event("CellRestored", { cell_id: "a" }, { correlation_id: "redo", undoes: "undo", version: 3 }));
  expect([groups.words("undo"), groups.words("redo")]).toEqual(["inserted a cell", "inserted a cell"]);
  // The undo of a group from before the page opened is all that is known of it.
  groups.hear(event("CellDeleted", { cell_id: "b" }, { correlation_id: "late", undoes: "unknown", version: 4 }));
  expect(groups.words("late")).toBe("undid: inserted a cell");
});

test("a run's sentence says who, when, how long and how it ended", () => {
  const run = {
    ...{ status: "ok", requested_at: 0, requested_by: { kind: "user", id: "ann" }, started_at: 1_000, ended_at: 3_500 },
  } as unknown as Execution;
  expect(runSentence(run, "Ann")).toMatch(/^Started by Ann, .+\. Done after 2\.5 s\.$/);
  const waiting = { ...run, status: "queued", started_at: null, ended_at: null } as Execution;
  expect(runSentence(waiting, "")).toMatch(/^Started by someone, .+\. Queued\.$/);
  expect([420, 2_500, 15_900, 125_000, 7_200_000].map(shortDuration)).toEqual(["420 ms", "2.5 s", "15 s", "2:05", "2 h"]);
  // The server's clock is known to half a second, so durations may be negative.
  expect(shortDuration(-253)).toBe("0 ms");
  expect([1, 2, 3, 11, 22].map(ordinal)).toEqual(["1st", "2nd", "3rd", "11th", "22nd"]);
});

test("outputs of a file that was brought in are nobody's runs", () => {
  const runs = ["x", "y"].flatMap((execution_id) => [
    event("ExecutionRequested", { execution_id, cause: "imported", subject: { cell_id: execution_id } }),
    event("ExecutionCompleted", { execution_id, outcome: "ok" }),
  ]);
  const all = [event("CellInserted", { cell_id: "x" }), event("CellInserted", { cell_id: "y" }), ...runs];
  expect(steps(all)[0]?.words).toEqual(["inserted 2 cells", "imported the outputs of 2 cells"]);
  const run = { cause: "imported", status: "ok", requested_by: { kind: "user", id: "ann" } } as unknown as Execution;
  expect(runSentence(run, "Ann")).toBe("Imported by Ann. Not run here.");
});

test("what ended a run is said with the trash, and with what nobody knows", () => {
  const run = (status: string, end_cause: string) => ({ status, end_cause }) as unknown as Parameters<typeof endSentence>[0];
  expect(endedWords(run("cancelled", "cell_deleted"), "Ann")).toBe("Cancelled: Ann deleted the cell");
  expect(endSentence(run("lost", "agent_lost"))).toBe("runtime agent disconnected; it may have started");
  expect(endSentence({ ...run("lost", "agent_lost"), started_at: 5 })).toBe("runtime agent disconnected");
  expect(endSentence(run("cancelled", "given_up"))).toBe("given up");
});

test("a kernel's end is a sentence, and what its process wrote stands apart", () => {
  const detail = "the kernel process exited with code 7 before it answered; it wrote:\nTraceback\nNo module named x";
  expect(causeWords("died", detail)).toBe("exit code 7 before it answered");
  expect(kernelEnd({ cause: "died", detail })).toBe("The kernel crashed (exit code 7 before it answered)");
  expect(withoutLog(detail).log).toBe("Traceback\nNo module named x");
  const last = withoutLog("the kernel process was killed by SIGKILL; it wrote last:\nbye; it wrote:\nx");
  expect(last).toEqual({ words: "the kernel process was killed by SIGKILL", log: "bye; it wrote:\nx" });
  expect(withoutLog("it had no work")).toEqual({ words: "it had no work" });
  expect(causeWords("idle", "")).toBe("idle for too long");
  expect(kernelEnd({ cause: "idle", detail: null })).toBe("The kernel was stopped because it was idle");
});

test("a cell that is gone is not deleted twice in words", () => {
  const words = (type: string) => steps([event(type, { cell_id: "x" })], () => undefined)[0]?.words;
  expect(["CellInserted", "CellSourceEdited", "CellDeleted"].map(words)).toEqual([
    ["inserted a cell"],
    ["edited a deleted cell"],
    ["deleted a cell"],
  ]);
});
