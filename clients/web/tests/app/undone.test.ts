// Undo button of a turn: hidden where nothing was changed and after an undo, back after a redo.
import { expect, test } from "vitest";
import { CallEffects } from "../../src/app/state/assistants.ts";
import type { EventMessage } from "../../src/protocol/messages.ts";

const event = (more: object): EventMessage =>
  ({ type: "CellSourceEdited", actor: { kind: "user", id: "ann" }, payload: {}, ...more }) as unknown as EventMessage;

test("a call is undone by an event that says so, and no longer by the redo of that", () => {
  const effects = new CallEffects();
  const hear = (correlation_id: string, undoes?: string) => effects.hear(event({ correlation_id, undoes }));
  expect(hear("u1", "call1")).toBe(true);
  expect(hear("u1", "call2")).toBe(true);
  expect(hear("u1", "call2")).toBe(false);
  expect(hear("edit")).toBe(false);
  expect(["call1", "call2", "edit"].map((call) => effects.isUndone(call))).toEqual([true, true, false]);
  expect(hear("r1", "u1")).toBe(true);
  expect(["call1", "call2"].map((call) => effects.isUndone(call))).toEqual([false, false]);
});

const named = (...names: string[]) => names.map((name) => ({ call_id: name, function: name }));
const results = (...failed: [name: string, isError: boolean][]) => new Map(failed.map(([name, isError]) => [name, { isError }]));

test("of earlier calls those that change cells and did not fail can be undone", () => {
  const effects = new CallEffects();
  const calls = named("get_notebook_state", "modify_cell", "execute_cell", "delete_cell", "create_cells", "move_cell");
  const ends = results(
    ["get_notebook_state", false],
    ["modify_cell", false],
    ["execute_cell", false],
    ["delete_cell", true],
    ["create_cells", true],
  );
  expect(effects.changing(calls, ends)).toEqual(["modify_cell", "create_cells"]);
});

test("of calls that ended in this page only those whose events were heard can be undone", () => {
  const effects = new CallEffects();
  const assistant = { kind: "assistant", for_user: "ann", conversation: "c" };
  effects.hear(event({ actor: assistant, correlation_id: "modify_cell" }));
  for (const call_id of ["modify_cell", "move_cell", "create_cells"])
    effects.hear(event({ type: "ToolCallExecuted", actor: assistant, correlation_id: call_id, payload: { call_id } }));
  const ends = results(["modify_cell", false], ["move_cell", false], ["create_cells", true]);
  expect(effects.changing(named("modify_cell", "move_cell", "create_cells"), ends)).toEqual(["modify_cell"]);
});
