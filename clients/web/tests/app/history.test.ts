// Authors of lines.
import { ChangeSet, Text } from "@codemirror/state";
import { expect, test } from "vitest";
import { Blame } from "../../src/app/cells/blame.ts";
import type { EventMessage } from "../../src/protocol/messages.ts";

/** Creates events of people who replace parts of a text. */
function events(first: string, ...edits: [who: string, from: number, to: number, insert: string][]): EventMessage[] {
  let text = Text.of(first.split("\n"));
  const event = (version: number, who: string, type: string, payload: object) =>
    ({
      version,
      type,
      payload: { cell_id: "c", ...payload },
      actor: { kind: "user", id: who },
      recorded_at: version,
    }) as EventMessage;
  const all = [event(1, "ann", "CellInserted", { cell: { source: first } })];
  edits.forEach(([who, from, to, insert], index) => {
    const change = ChangeSet.of({ from, to, insert }, text.length);
    text = change.apply(text);
    all.push(event(index + 2, who, "CellSourceEdited", { change: change.toJSON() }));
  });
  return all;
}

/** Blame of the cell `c` from the notebook's events in order. */
function blame(all: EventMessage[]) {
  const blame = new Blame();
  for (const event of all) blame.hear(event);
  return blame.lines("c");
}

const lines = (all: EventMessage[]) => blame(all).map(({ text, actor }) => `${(actor as { id: string }).id}: ${text}`);

test("a line is its last writer's; lines that only move stay whose they were", () => {
  expect(lines(events("a\nb\nc", ["bo", 2, 3, "B"]))).toEqual(["ann: a", "bo: B", "ann: c"]);
  expect(lines(events("a\nb", ["bo", 1, 1, "\nnew"]))).toEqual(["ann: a", "bo: new", "ann: b"]);
  expect(lines(events("a\nb", ["bo", 0, 0, "top\n"]))).toEqual(["bo: top", "ann: a", "ann: b"]);
  expect(lines(events("a\nb\nc", ["bo", 1, 4, ""], ["cy", 2, 2, "?"]))).toEqual(["cy: ac?"]);
  expect(lines(events("x", ["bo", 1, 1, "\ny"], ["cy", 3, 3, "\nz"]))).toEqual(["ann: x", "bo: y", "cy: z"]);
});

test("a deleted cell that comes back keeps its authors; other cells and odd events do no harm", () => {
  const all = events("a\nb", ["bo", 3, 3, "!"]);
  const restored = {
    ...all[0]!,
    version: 9,
    type: "CellRestored",
    payload: { cell_id: "c", cell: { source: "a\nb!" } },
  } as EventMessage;
  const foreign = { ...all[1]!, payload: { cell_id: "other", change: [[0, "x"]] } } as unknown as EventMessage;
  expect(lines([...all, foreign, restored])).toEqual(["ann: a", "bo: b!"]);
  expect(blame([])).toEqual([]);
});

test("the server's answer gives the lines, and events go on from there", () => {
  const event = (id: string) => ({ actor: { kind: "user" as const, id }, recorded_at: 1 });
  const runs = [
    { length: 2, version: 1 },
    { length: 1, version: 4 },
    { length: 3, version: 2 },
    { length: 1, version: 3 },
  ];
  const answer = {
    version: 4,
    cells: [{ cell_id: "c", source: "ab\n\n😀\n", runs }],
    events: { 1: event("ann"), 2: event("bo"), 3: event("cy"), 4: event("dee") },
  };
  const blame = new Blame(answer);
  const told = () => blame.lines("c").map(({ text, version }) => `${version}: ${text}`);
  expect(told()).toEqual(["1: ab", "2: ", "2: 😀", "3: "]);
  blame.hear({
    version: 5,
    type: "CellSourceEdited",
    payload: { cell_id: "c", change: [4, [0, "!"], 3] },
    actor: { kind: "user", id: "ann" },
    recorded_at: 2,
  } as unknown as EventMessage);
  expect(told()).toEqual(["1: ab", "2: ", "5: !😀", "3: "]);
  expect(new Blame({ version: 1, cells: [{ cell_id: "c", source: "", runs: [] }], events: {} }).lines("c")).toHaveLength(1);
});
