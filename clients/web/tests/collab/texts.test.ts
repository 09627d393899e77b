import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { replacement, toText } from "../../src/collab/text.ts";
import { Person } from "../support/person.ts";
import { ReferenceServer } from "../support/server.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

async function setup() {
  const server = new ReferenceServer();
  const [ann, bo] = [new Person(server, "ann"), new Person(server, "bo")];
  ann.net.deliverAll();
  bo.net.deliverAll();
  return { server, ann, bo };
}

const commands = (person: Person) =>
  person.net.current.toServer.flatMap((text) => {
    const message = JSON.parse(text) as {
      command?: { body: { EditSource: { base: number; change: unknown } }; correlation_id: string };
    };
    return message.command ? [message.command] : [];
  });

test("one change is under way at a time; what is typed meanwhile goes as one change, at the version of the first", async () => {
  const { ann, server } = await setup();
  for (const letter of "abc") ann.type("a", letter);
  expect(commands(ann).map(({ body }) => body.EditSource)).toEqual([{ cell_id: "a", base: 3, change: [7, [0, "a"]] }]);
  ann.net.deliver();
  expect(commands(ann).map(({ body }) => body.EditSource)).toEqual([{ cell_id: "a", base: 4, change: [8, [0, "bc"]] }]);
  ann.net.deliverAll();
  expect([server.source("a"), ann.texts.cells()]).toEqual(["one\ntwoabc", []]);
});

test("what is typed without a connection is kept, shown, and merged when it is back", async () => {
  const { server, ann, bo } = await setup();
  ann.net.cut();
  ann.type("a", " ann");
  expect([ann.texts.cells(), ann.texts.shown("a")]).toEqual([["a"], "one\ntwo ann"]);
  bo.replaceText("a", 0, 3, "ONE");
  bo.net.deliverAll();
  await vi.advanceTimersByTimeAsync(500);
  ann.net.deliverAll();
  bo.net.deliverAll();
  expect([server.source("a"), ann.shown("a"), bo.shown("a")]).toEqual(Array(3).fill("ONE\ntwo ann"));
});

test("text in a cell that another deletes is kept as a copy", async () => {
  const { server, ann } = await setup();
  ann.type("a", " mine");
  server.publish("bo", "CellDeleted", { cell_id: "a", cell: {} });
  ann.net.deliver("down");
  expect(ann.copies).toEqual([{ cellId: "a", text: "one\ntwo mine", reason: "This cell was deleted.", isForbidden: false }]);
  ann.net.deliverAll();
  await vi.advanceTimersByTimeAsync(0);
  expect([ann.copies.length, ann.texts.cells()]).toEqual([1, []]);
});

test("a change that came to nothing is confirmed by its ack", async () => {
  const { server, ann, bo } = await setup();
  ann.replaceText("a", 0, 3, "");
  bo.replaceText("a", 0, 3, "");
  bo.net.deliverAll();
  ann.net.deliverAll();
  await vi.advanceTimersByTimeAsync(0);
  expect([server.events.length, ann.texts.cells(), ann.copies, ann.shown("a")]).toEqual([4, [], [], "\ntwo"]);
});

test("a refused change goes as a copy, and the editor shows the server's text", async () => {
  const { ann } = await setup();
  ann.type("a", "!");
  const id = (JSON.parse(ann.net.current.toServer[0] ?? "{}") as { command: { id: string } }).command.id;
  const reject = { id, notebook: "nb", code: "forbidden", message: "your role does not allow it" };
  ann.net.current.onmessage?.({ data: JSON.stringify({ reject }) });
  await vi.advanceTimersByTimeAsync(0);
  expect([ann.copies, ann.shown("a")]).toEqual([
    [{ cellId: "a", text: "one\ntwo!", reason: "Your role does not allow it.", isForbidden: true }],
    "one\ntwo",
  ]);
});

test("a change whose base the server no longer has is mapped, and sent once more as another command", async () => {
  const { server, ann, bo } = await setup();
  ann.type("a", "!");
  const { id } = (JSON.parse(ann.net.current.toServer[0] ?? "{}") as { command: { id: string } }).command;
  ann.net.current.toServer.length = 0;
  ann.type("a", "?");
  bo.replaceText("a", 0, 3, "ONE");
  bo.net.deliverAll();
  const reject = { id, notebook: "nb", code: "base_too_old", message: "subscribe again" };
  ann.net.current.onmessage?.({ data: JSON.stringify({ reject }) });
  await vi.advanceTimersByTimeAsync(0);
  ann.type("a", "!");
  ann.net.deliverAll();
  bo.net.deliverAll();
  await vi.advanceTimersByTimeAsync(0);
  expect([server.source("a"), ann.shown("a"), bo.shown("a")]).toEqual(Array(3).fill("ONE\ntwo!?!"));
  expect([ann.copies, ann.texts.cells()]).toEqual([[], []]);
});

test("typing without a pause in one cell is one undo step", async () => {
  const { ann } = await setup();
  const groups: string[] = [];
  for (const [cell, pause] of [
    ["a", 0],
    ["a", 1_000],
    ["a", 2_000],
    ["b", 0],
  ] as const) {
    await vi.advanceTimersByTimeAsync(pause);
    ann.type(cell, "x");
    groups.push(commands(ann)[0]?.correlation_id ?? "");
    ann.net.deliverAll();
  }
  expect(new Set(groups).size).toBe(3);
  expect(groups[0]).toBe(groups[1]);
});

test("from one text to another in one small change that splits no character", () => {
  for (const [before, after, expected] of [
    ["abc", "abXc", [2, [0, "X"], 1]],
    ["😀", "😁", [[2, "😁"]]],
    ["a", "a", [1]],
    ["", "x\ny", [[0, "x", "y"]]],
  ] as const) {
    expect(replacement(toText(before), toText(after)).toJSON()).toEqual(expected);
  }
});
