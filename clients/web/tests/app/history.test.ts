// Restoring a version, and authors of lines.
import { ChangeSet, Text } from "@codemirror/state";
import { expect, test } from "vitest";
import { blame } from "../../src/app/cells/blame.ts";
import { type Content, restoreCommands } from "../../src/app/cells/restore.ts";
import type { Cell, Command, EventMessage } from "../../src/protocol/messages.ts";

const content = (cells: Record<string, string>, title = "T"): Content => ({
  title,
  order: Object.keys(cells),
  cells: new Map(
    Object.entries(cells).map(([id, source]) => [id, { cell_type: "code", source, cell_version: 7 } as unknown as Cell]),
  ),
});

/** Notebook after the commands, by the rules of the protocol. */
function after(now: Content, commands: Command[], trash = new Map<string, string>()): { title: string; cells: [string, string][] } {
  let { title } = now;
  const order = [...now.order];
  const sources = new Map([...now.cells].map(([id, { source }]) => [id, source]));
  const place = (id: string, at: unknown) => {
    if (order.includes(id)) order.splice(order.indexOf(id), 1);
    order.splice(at === "start" ? 0 : order.indexOf((at as { after: string }).after) + 1, 0, id);
  };
  for (const command of commands) {
    if ("RenameNotebook" in command) title = command.RenameNotebook.title;
    else if ("DeleteCell" in command) order.splice(order.indexOf(command.DeleteCell.cell_id), 1);
    else if ("ReplaceSource" in command) sources.set(command.ReplaceSource.cell_id, command.ReplaceSource.source);
    else if ("RestoreCell" in command) {
      sources.set(command.RestoreCell.cell_id, trash.get(command.RestoreCell.cell_id) ?? "");
      order.push(command.RestoreCell.cell_id);
    } else if ("InsertCell" in command) {
      sources.set(command.InsertCell.cell_id ?? "", command.InsertCell.source ?? "");
      place(command.InsertCell.cell_id ?? "", command.InsertCell.place);
    } else if ("MoveCell" in command) place(command.MoveCell.cell_id, command.MoveCell.place);
    else throw new Error(JSON.stringify(command));
  }
  return { title, cells: order.map((id) => [id, sources.get(id) ?? ""]) };
}

test("the same needs no command", () => {
  expect(restoreCommands(content({ a: "1", b: "2" }), content({ a: "1", b: "2" }), new Map())).toEqual([]);
});

test("texts, order, title, new and deleted cells become what they were; a cell of the trash comes back itself", () => {
  const past = content({ a: "1", gone: "g", c: "3", lost: "l", b: "2" }, "Old");
  const now = content({ new: "n", b: "2x", a: "1", c: "3" }, "New");
  const trash = new Map([
    ["gone", "g"],
    ["lost", "edited before it was deleted"],
  ]);
  const commands = restoreCommands(past, now, trash, () => "made");
  const { title, cells } = after(now, commands, trash);
  expect(title).toBe("Old");
  expect(cells).toEqual([
    ["a", "1"],
    ["gone", "g"],
    ["c", "3"],
    ["made", "l"],
    ["b", "2"],
  ]);
});

test("any order of any cells", () => {
  let seed = 5;
  const random = (below: number) => (seed = (seed * 48_271) % 2_147_483_647) % below;
  const shuffled = () => {
    const ids = [..."abcdefgh"].filter(() => random(4) > 0);
    for (let index = ids.length - 1; index > 0; index -= 1) {
      const other = random(index + 1);
      [ids[index], ids[other]] = [ids[other]!, ids[index]!];
    }
    return content(Object.fromEntries(ids.map((id) => [id, id + random(2)])));
  };
  for (let round = 0; round < 300; round += 1) {
    const [past, now] = [shuffled(), shuffled()];
    const trash = new Map([...past.cells].filter(([id]) => !now.cells.has(id)).map(([id, { source }]) => [id, source]));
    const { cells } = after(now, restoreCommands(past, now, trash), trash);
    expect(cells).toEqual(past.order.map((id) => [id, past.cells.get(id)?.source]));
  }
});

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

const lines = (all: EventMessage[]) => blame(all, "c").map(({ text, actor }) => `${(actor as { id: string }).id}: ${text}`);

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
  expect(blame([], "c")).toEqual([]);
});
