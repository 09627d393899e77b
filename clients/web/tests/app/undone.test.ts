// Undo button of a turn: hidden after an undo, back after a redo.
import { expect, test } from "vitest";
import { changing, UndoneCalls } from "../../src/app/state/assistants.ts";

test("a call is undone by an event that says so, and no longer by the redo of that", () => {
  const undone = new UndoneCalls();
  expect(undone.hear({ correlation_id: "u1", undoes: "call1" })).toBe(true);
  expect(undone.hear({ correlation_id: "u1", undoes: "call2" })).toBe(true);
  expect(undone.hear({ correlation_id: "u1", undoes: "call2" })).toBe(false);
  expect(undone.hear({ correlation_id: "edit" })).toBe(false);
  expect(["call1", "call2", "edit"].map((call) => undone.has(call))).toEqual([true, true, false]);
  expect(undone.hear({ correlation_id: "r1", undoes: "u1" })).toBe(true);
  expect(["call1", "call2"].map((call) => undone.has(call))).toEqual([false, false]);
});

test("only calls that change cells can be undone", () => {
  const calls = ["get_notebook_state", "modify_cell", "execute_cell"].map((name) => ({ call_id: name, function: name }));
  expect(changing(calls)).toEqual(["modify_cell"]);
});
