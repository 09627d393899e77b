// Jupyter's keys, and what they do here.
import { expect, test } from "vitest";
import { actions } from "../../src/commands/table.ts";

const JUPYTER = {
  Enter: "edit",
  ArrowUp: "up",
  k: "up",
  ArrowDown: "down",
  j: "down",
  "Shift+ArrowUp": "extend-up",
  "Shift+ArrowDown": "extend-down",
  a: "insert-above",
  b: "insert-below",
  x: "cut",
  c: "copy",
  v: "paste",
  "d d": "delete",
  z: "undo",
  "Shift+Z": "redo",
  y: "type-code",
  m: "type-markdown",
  r: "type-raw",
  "1": "heading-1",
  "2": "heading-2",
  "3": "heading-3",
  o: "toggle-outputs",
  "i i": "interrupt",
  "0 0": "restart",
  h: "help",
  "Shift+Enter": "run-next",
  "$mod+Enter": "run",
  "Alt+Enter": "run-insert",
  "$mod+Shift+p": "palette",
};

test("Jupyter's keys do what they do there", () => {
  const bound = new Map(
    actions.flatMap(({ id, keys = [], editKeys = [] }) => [...keys, ...editKeys].map((press) => [press, id] as const)),
  );
  for (const [press, id] of Object.entries(JUPYTER)) expect([press, bound.get(press)]).toEqual([press, id]);
});

test("no key and no id stands twice", () => {
  const presses = actions.flatMap(({ keys = [], editKeys = [] }) => [...keys, ...editKeys]);
  expect(presses.filter((press, index) => presses.indexOf(press) !== index)).toEqual([]);
  expect(new Set(actions.map(({ id }) => id)).size).toBe(actions.length);
});
