import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Ahead } from "../../src/app/state/ahead.ts";
import { Focus } from "../../src/app/state/focus.ts";
import type { Toast } from "../../src/app/state/notebook.ts";
import { Together } from "../../src/app/state/together.ts";
import type { Command } from "../../src/protocol/messages.ts";
import { Person } from "../support/person.ts";
import { ReferenceServer } from "../support/server.ts";

beforeEach(() => {
  vi.useFakeTimers();
  vi.stubGlobal("localStorage", { getItem: () => null, setItem: () => undefined, removeItem: () => undefined });
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

/** A person who edits cell “a”, at a page that shows toasts. */
function setup(isMe: boolean) {
  const server = new ReferenceServer();
  const person = new Person(server, "ann");
  const toasts: Toast[] = [];
  let shown = 0;
  const notebook = {
    ...{ id: "nb", replica: person.replica, texts: person.texts, focus: new Focus(), ahead: new Ahead(), toasts },
    ...{ isEditing: true, current: "a", mayEdit: true, marked: { cell: "a", from: 0, to: 0 } },
    session: { isMe: ({ id }: { id: string }) => isMe && id === "ann", nameOfActor: async ({ id }: { id: string }) => id },
    toast: (toast: Omit<Toast, "id">) => (toasts.push({ ...toast, id: String(++shown) }), String(shown)),
    dismiss: (id: string) => void toasts.splice(0, toasts.length, ...toasts.filter((toast) => toast.id !== id)),
    retoast: (id: string, more: Partial<Toast>) => void Object.assign(toasts.find((toast) => toast.id === id) ?? {}, more),
  };
  new Together(notebook as never);
  person.net.deliverAll();
  return { server, person, notebook, toasts };
}

test("keys after a deletion continue the text at the caret, also if its last letters had not reached the server", async () => {
  const { server, person, notebook, toasts } = setup(true);
  // As an editor does: its caret moves when text before it is dropped.
  person.texts.open("a", (change) => (notebook.marked.to = change.mapPos(notebook.marked.to)));
  person.type("a", " mine");
  notebook.marked.to = "one\ntwo mine".length;
  server.publish("bo", "CellDeleted", { cell_id: "a", cell: {} });
  person.net.deliver("down");
  await vi.advanceTimersByTimeAsync(0);
  notebook.focus.strayed.tell(" and more");
  expect(toasts).toMatchObject([{ text: "bo deleted the cell you were editing", copy: "one\ntwo mine and more" }]);
});

test("a restored cell is edited at the caret, behind the keys that were held back", async () => {
  const { server, person, notebook, toasts } = setup(true);
  notebook.marked.to = notebook.marked.from = 3;
  server.publish("bo", "CellDeleted", { cell_id: "a", cell: {} });
  person.net.deliver("down");
  await vi.advanceTimersByTimeAsync(0);
  notebook.focus.strayed.tell(" more");
  const sent: Command[] = [];
  const chosen: unknown[] = [];
  const send = async (body: Command) => {
    sent.push(body);
    return { version: person.replica.document.version + ("RestoreCell" in body ? 1 : 0), outcome: {} };
  };
  const select = (cell: string, how: object) => chosen.push(cell, how, notebook.ahead.caret(cell));
  Object.assign(notebook, { send, select, isLive: true });
  vi.spyOn(notebook.focus, "act").mockReturnValue();
  toasts[0]?.action?.run();
  expect(notebook.ahead.isWaiting).toBe(true);
  await vi.advanceTimersByTimeAsync(0);
  // The answer may come before the document has the cell.
  expect(sent).toEqual([{ RestoreCell: { cell_id: "a" } }]);
  server.publish("ann", "CellRestored", { cell_id: "a", cell: { cell_type: "code", source: "one\ntwo", order_key: "a0" } });
  person.net.deliver("down");
  await vi.advanceTimersByTimeAsync(0);
  const { cell_version } = person.replica.document.cells.get("a") ?? {};
  expect(sent[1]).toEqual({ ReplaceSource: { cell_id: "a", cell_version, source: "one more\ntwo" } });
  expect(chosen).toEqual(["a", { edit: true }, "one more".length]);
});

test("a quote that the editor had closed is typed over in the kept text, as in the editor", async () => {
  const { server, person, notebook, toasts } = setup(true);
  person.replaceText("a", 0, 7, 'x = "abc"');
  person.net.deliverAll();
  notebook.marked.to = 'x = "abc'.length;
  server.publish("bo", "CellDeleted", { cell_id: "a", cell: {} });
  person.net.deliver("down");
  await vi.advanceTimersByTimeAsync(0);
  notebook.focus.strayed.tell('def"');
  expect(toasts).toMatchObject([{ copy: 'x = "abcdef"' }]);
});

test.each(["the role", "the refusal"])("letters typed after a lowered role are kept, if %s is told first", async (first) => {
  const { server, person, notebook, toasts } = setup(true);
  const send = vi.fn();
  const { focus } = notebook;
  Object.assign(notebook, { send });
  // The focus is in the editor, as `leave` finds it in a browser.
  vi.spyOn(focus, "leave").mockImplementation(() => ((focus.isAstray = true), void (focus.losses += 1)));
  person.texts.open("a", (change) => (notebook.marked.to = change.mapPos(notebook.marked.to)));
  person.type("a", " mine");
  notebook.marked.to = "one\ntwo mine".length;
  const lower = () => ((notebook.mayEdit = false), person.replica.changed.tell({ parts: new Set(), cells: new Set() } as never));
  const refuse = () => person.texts.giveUp("a", "You may not edit.", true);
  for (const step of first === "the role" ? [lower, refuse] : [refuse, lower]) step();
  focus.strayed.tell(" and");
  focus.strayed.tell(" and more");
  expect(toasts).toMatchObject([
    { text: "You can no longer edit this notebook. Your unsaved text:", copy: "one\ntwo mine and more", isError: true },
  ]);
  expect(toasts[0]).not.toHaveProperty("action");
  notebook.mayEdit = true;
  person.replica.changed.tell({ parts: new Set(), cells: new Set() } as never);
  expect(toasts).toMatchObject([
    { text: "You can edit this notebook again. Your unsaved text:", copy: "one\ntwo mine and more", isError: false },
  ]);
  expect(toasts[0]?.action?.label).toBe("Insert into cell");
  toasts[0]?.action?.run();
  expect(send).toHaveBeenCalledWith({ ReplaceSource: expect.objectContaining({ source: "one\ntwo mine and more" }) });
  expect(server.source("a")).toBe("one\ntwo");
});

test("kept text goes into its cell beside what others wrote meanwhile", async () => {
  const { server, person, notebook, toasts } = setup(true);
  const send = vi.fn();
  Object.assign(notebook, { send, isEditing: false });
  person.type("a", " mine");
  person.texts.giveUp("a", "You may not edit.", true);
  notebook.mayEdit = false;
  person.replica.changed.tell({ parts: new Set(), cells: new Set() } as never);
  const bo = new Person(server, "bo");
  bo.net.deliverAll();
  bo.replaceText("a", 0, 3, "ONE");
  bo.net.deliverAll();
  person.net.deliver("down");
  notebook.mayEdit = true;
  person.replica.changed.tell({ parts: new Set(), cells: new Set() } as never);
  toasts[0]?.action?.run();
  await vi.waitFor(() => expect(send).toHaveBeenCalled());
  expect(send).toHaveBeenCalledWith({ ReplaceSource: expect.objectContaining({ source: "ONE\ntwo mine" }) });
});

test("text of the last visit goes into its cell beside what others wrote since", async () => {
  const draft = { cell: "a", text: "one\ntwo mine", base: "one\ntwo" };
  vi.stubGlobal("localStorage", { getItem: () => JSON.stringify([draft]), setItem: () => undefined, removeItem: () => undefined });
  const { server, person, notebook, toasts } = setup(true);
  const send = vi.fn();
  Object.assign(notebook, { send, isEditing: false });
  const bo = new Person(server, "bo");
  bo.net.deliverAll();
  bo.replaceText("a", 0, 3, "ONE");
  bo.net.deliverAll();
  person.net.deliver("down");
  person.replica.stateChanged.tell({ name: "live" } as never);
  toasts[0]?.action?.run();
  await vi.waitFor(() => expect(send).toHaveBeenCalled());
  expect(send).toHaveBeenCalledWith({ ReplaceSource: expect.objectContaining({ source: "ONE\ntwo mine" }) });
});

test("a lowered role without typed letters shows no text", () => {
  const { person, notebook, toasts } = setup(true);
  const { focus } = notebook;
  vi.spyOn(focus, "leave").mockImplementation(() => ((focus.isAstray = true), void (focus.losses += 1)));
  notebook.mayEdit = false;
  person.replica.changed.tell({ parts: new Set(), cells: new Set() } as never);
  expect([focus.isAstray, toasts]).toEqual([true, []]);
});

test.each([
  ["of a guest, whose actor is that of the whole link,", false],
  ["of a user", true],
])("own events %s merge with nobody’s text after a reconnect", async (_who, isMe) => {
  const { person, toasts, server } = setup(isMe);
  person.net.cut();
  person.type("a", " one");
  await vi.advanceTimersByTimeAsync(500);
  person.net.deliverAll();
  person.type("a", " two");
  person.type("a", " three");
  person.net.deliverAll();
  await vi.advanceTimersByTimeAsync(0);
  expect(server.source("a")).toBe("one\ntwo one two three");
  expect(toasts).toEqual([]);
});

test("text merged in several cells is told in one notice that names them", async () => {
  const { server, person, notebook, toasts } = setup(true);
  const send = vi.fn();
  Object.assign(notebook, { send });
  const theirs = { kind: "assistant", for_user: "bo", conversation: "c" };
  for (const cell_id of ["b", "a"]) {
    person.type(cell_id, " mine");
    const event = server.append("bo", `edit ${cell_id}`, "CellSourceEdited", {
      cell_id,
      change: [server.source(cell_id).length || 0, [0, "x"]].filter((part) => part !== 0),
    });
    Object.assign(event, { actor: theirs });
    server.broadcast([event]);
    person.net.deliver("down");
    await vi.advanceTimersByTimeAsync(0);
  }
  expect(toasts.map(({ text }) => text)).toEqual(["Your text in cells 1 and 2 was merged with the assistant’s"]);
  toasts[0]?.second?.run();
  expect(send.mock.calls).toEqual([[{ Undo: { correlation_id: "edit b" } }], [{ Undo: { correlation_id: "edit a" } }]]);
});
