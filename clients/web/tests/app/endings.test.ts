// Acts that end runs ask first if other people's runs are among them.
import { expect, test, vi } from "vitest";
import type { Toast } from "../../src/app/state/notebook.ts";
import { Runs } from "../../src/app/state/runs.ts";
import { Listeners } from "../../src/transport/listeners.ts";

const run = (requested_by: object, status: string, requested_version: number, kernel_session?: string) => ({
  ...{ requested_by, status, requested_version, kernel_session, subject: { kind: "cell", cell_id: `c${requested_version}` } },
});
const [me, ann] = [
  { kind: "user", id: "me" },
  { kind: "user", id: "ann" },
];

function setup(...executions: object[]) {
  const toasts: Omit<Toast, "id">[] = [];
  const send = vi.fn(async () => ({}));
  const document = {
    ...{ order: ["c1", "c2", "c3"], kernels: new Map([["k", { phase: "started" }]]), cells: new Map() },
    ...{ executions: new Map(executions.map((each, at) => [String(at), each])), turns: new Map(), tool_calls: new Map() },
  };
  const session = {
    userId: "me",
    isMe: ({ kind, id }: { kind: string; id?: string }) => kind === "user" && id === "me",
    nameOfActor: async ({ id, for_user }: { id?: string; for_user?: string }) => ((id ?? for_user) === "ann" ? "Ann" : "Me"),
  };
  const replica = { document, stateChanged: new Listeners() };
  const notebook = {
    replica,
    isLive: true,
    texts: { settled: async () => undefined },
    session,
    send,
    toast: (toast: Omit<Toast, "id">) => toasts.push(toast),
  };
  return { runs: new Runs(notebook as never), toasts, send, document };
}

test.each([
  ["no run", []],
  ["one's own run", [run(me, "running", 1, "k")]],
  ["a run of one's own assistant", [run({ kind: "assistant", for_user: "me" }, "running", 1, "k")]],
  ["a finished run of another person", [run(ann, "ok", 1, "k")]],
  ["another person's run in another kernel", [run(ann, "running", 1, "other")]],
])("with %s a kernel restarts at once", async (_what, executions) => {
  const { runs, toasts, send } = setup(...executions);
  await runs.restart();
  expect([toasts, send.mock.calls]).toEqual([[], [[{ RestartKernel: { kernel_session: "k" } }]]]);
});

test.each([
  [[run(me, "running", 1, "k"), run(ann, "queued", 2)], "Ann’s cell 2 is queued. Restart anyway?"],
  [[run(ann, "queued", 2), run(ann, "running", 3, "k")], "Ann’s cell 3 is running, with 1 more run of others. Restart anyway?"],
  [[run({ kind: "assistant", for_user: "ann" }, "running", 3, "k")], "Ann’s assistant’s cell 3 is running. Restart anyway?"],
])("runs of others are named before a restart", async (executions, text) => {
  const { runs, toasts, send } = setup(...executions);
  await runs.restart();
  expect(toasts).toMatchObject([{ text, action: { label: "Restart" }, second: { label: "Cancel" } }]);
  toasts[0]?.second?.run();
  expect(send).not.toHaveBeenCalled();
  toasts[0]?.action?.run();
  expect(send).toHaveBeenCalledWith({ RestartKernel: { kernel_session: "k" } });
});

test("shutting down asks by its own name", async () => {
  const { runs, toasts, send } = setup(run(ann, "running", 3, "k"));
  await runs.shutDown("k");
  expect(toasts).toMatchObject([{ text: "Ann’s cell 3 is running. Shut down anyway?", action: { label: "Shut down" } }]);
  toasts[0]?.action?.run();
  expect(send).toHaveBeenCalledWith({ ShutDownKernel: { kernel_session: "k" } });
});

test.each([
  ["waiting", "Not run yet: the assistant waits for your decision."],
  ["started", "Not run yet: the assistant is still working and may change it."],
])("a cell that is run while a call is %s does not run unasked", async (phase, text) => {
  const { runs, toasts, send, document } = setup();
  document.cells.set("c1", { cell_type: "code" });
  document.turns.set("t", { conversation_id: "c" });
  document.tool_calls.set("x", { requested_by: { kind: "assistant", conversation: "c" }, phase: { phase } });
  await runs.start(["c1"]);
  expect(toasts).toMatchObject([{ text, action: { label: "Run now" } }]);
  expect(send).not.toHaveBeenCalled();
});
