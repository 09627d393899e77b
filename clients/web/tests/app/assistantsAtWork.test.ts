import { expect, test } from "vitest";
import { assistantsAtWork } from "../../src/app/state/assistants.ts";
import { Document } from "../../src/protocol/document.ts";
import type { ToolCall, Turn } from "../../src/protocol/messages.ts";

const turn = (conversation_id: string, cell_id?: string) => ({ conversation_id, ...(cell_id && { cell_id }) }) as Turn;

function call(conversation: string, phase: string, ...cells: string[]): ToolCall {
  const targets = cells.map((cell_id) => ({ kind: "cell", cell_id, cell_version: 1 }));
  const requested_by = { kind: "assistant", for_user: "ann", conversation };
  return { requested_by, phase: { phase }, targets: ["unheard_of", ...targets] } as unknown as ToolCall;
}

test("an assistant with a turn works on its prompt cell, or on what its call touches", () => {
  const document = new Document("nb");
  expect(assistantsAtWork(document)).toEqual([]);
  document.turns.set("t", turn("talk", "prompt"));
  document.turns.set("u", turn("chat"));
  expect(assistantsAtWork(document)).toEqual([
    { conversation: "talk", cells: ["prompt"], waits: false },
    { conversation: "chat", cells: [], waits: false },
  ]);
  document.tool_calls.set("1", call("talk", "waiting", "a"));
  document.tool_calls.set("2", call("talk", "waiting", "a", "b"));
  expect(assistantsAtWork(document)[0]).toEqual({ conversation: "talk", cells: ["a", "b"], waits: true });
  document.tool_calls.set("3", call("talk", "started", "c"));
  expect(assistantsAtWork(document)[0]).toEqual({ conversation: "talk", cells: ["c"], waits: false });
});

test("an assistant outside is at work while it has a call", () => {
  const document = new Document("nb");
  document.tool_calls.set("1", call("outside", "waiting", "a"));
  expect(assistantsAtWork(document)).toEqual([{ conversation: "outside", cells: ["a"], waits: true }]);
});
