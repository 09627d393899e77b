import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { parseJson } from "../../src/protocol/exactJson.ts";
import type { Command, ServerMessage } from "../../src/protocol/messages.ts";
import { Outbox, Rejected } from "../../src/transport/outbox.ts";
import { Person } from "../support/person.ts";
import { HEARTBEAT_MS, NOTEBOOK, ReferenceServer } from "../support/server.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function setup() {
  const server = new ReferenceServer();
  const ann = new Person(server, "ann");
  ann.net.deliverAll();
  return { server, ann };
}

const reconnect = async (person: Person) => {
  await vi.advanceTimersByTimeAsync(500);
  person.net.deliverAll();
};

const sent = (person: Person) => person.net.current.toServer.map((text) => JSON.parse(text) as Record<string, unknown>);

test("a snapshot, then the events that follow", () => {
  const { server, ann } = setup();
  server.publish("bo", "NotebookRenamed", { title: "New", previous: "T" });
  ann.net.deliverAll();
  expect(ann.replica.document.title).toBe("New");
  expect(ann.replica.document.digest()).toBe(server.document.digest());
});

test("after a cut it resumes from its last event, without a snapshot", async () => {
  const { server, ann } = setup();
  const { version } = server.document;
  ann.net.cut();
  expect(ann.replica.state.name).toBe("behind");
  server.publish("bo", "NotebookRenamed", { title: "New", previous: "T" });
  await vi.advanceTimersByTimeAsync(500);
  ann.net.accept();
  ann.net.deliver("up");
  ann.net.deliver("down");
  expect(sent(ann)).toEqual([{ subscribe: { notebook: NOTEBOOK, since: { version, event_id: `e${version}` } } }]);
  ann.net.deliverAll();
  expect([ann.replica.document.title, ann.replica.state.name]).toEqual(["New", "live"]);
});

test("commands given while there is no connection are sent when it is back, once, in their order", async () => {
  const { server, ann } = setup();
  ann.net.cut();
  const done = [ann.replica.command({ RenameNotebook: { title: "A" } }), ann.replica.command({ RenameNotebook: { title: "B" } })];
  expect(ann.replica.unanswered).toBe(2);
  await reconnect(ann);
  expect((await Promise.all(done)).map(({ version }) => version)).toEqual([4, 5]);
  expect([server.document.title, server.decided, ann.replica.unanswered]).toEqual(["B", 2, 0]);
});

test("a command whose ack was lost is sent again with the same bytes, and counts once", async () => {
  const { server, ann } = setup();
  const done = ann.replica.command({ RenameNotebook: { title: "A" } });
  const first = ann.net.current.toServer[0];
  ann.net.deliver("up");
  ann.net.cut();
  await vi.advanceTimersByTimeAsync(500);
  ann.net.accept();
  for (let step = 0; step < 2; step++) ann.net.deliver();
  expect(ann.net.current.toServer.includes(first ?? "none")).toBe(true);
  ann.net.deliverAll();
  expect((await done).version).toBe(4);
  expect([server.decided, server.events.length]).toEqual([1, 4]);
});

test("a rejection is an error with its code; `unavailable` is tried again", async () => {
  const { ann } = setup();
  const refused = ann.replica.command({ DeleteCell: { cell_id: "none" } });
  const id = (sent(ann)[0]?.command as { id: string }).id;
  const reject = (code: string) => ({ reject: { id, notebook: NOTEBOOK, code, message: "no" } }) as ServerMessage;
  ann.net.current.toServer.length = 0;
  ann.net.current.onmessage?.({ data: JSON.stringify(reject("unavailable")) });
  await vi.advanceTimersByTimeAsync(1_000);
  expect(sent(ann).length).toBe(1);
  ann.net.current.onmessage?.({ data: JSON.stringify(reject("forbidden")) });
  await expect(refused).rejects.toMatchObject({ code: "forbidden", message: "No.", rejection: { message: "no" } });
  await expect(refused).rejects.toBeInstanceOf(Rejected);
});

test("an erased notebook is empty, and says why it is gone", () => {
  const { server, ann } = setup();
  const erased = { reason: "it was a test", version: 3, hash: "0".repeat(64), access: [] };
  server.publish("bo", "NotebookErased", erased);
  ann.net.deliverAll();
  expect([ann.replica.document.title, ann.replica.document.cells.size]).toEqual(["", 0]);
  expect(ann.replica.document.erased).toMatchObject({ reason: "it was a test", version: 3 });
  ann.net.current.onmessage?.({ data: JSON.stringify({ access: { notebook: NOTEBOOK, role: null } }) });
  const { state } = ann.replica;
  expect(state.name === "gone" && state.message).toMatch(/^This notebook was erased on .+\. Reason: It was a test\.$/);
});

test("a gap in the events is closed", () => {
  const { server, ann } = setup();
  server.append("bo", "lost", "NotebookRenamed", { title: "Lost", previous: "T" });
  server.publish("bo", "NotebookArchived", {});
  ann.net.deliverAll();
  expect([ann.replica.document.title, ann.replica.document.archived]).toEqual(["Lost", true]);
});

test("an event that this client does not know: it takes the server's snapshot and folds nothing on top of the old state", () => {
  const { server, ann } = setup();
  const frame = {
    version: 4,
    id: "e4",
    type: "MoonRisen",
    schema: 1,
    actor: { kind: "system" },
    command_id: "m",
    correlation_id: "m",
    recorded_at: 2_000,
    payload: {},
  };
  server.append("bo", "x", "NotebookRenamed", { title: "By the moon", previous: "T" });
  const message = { events: { notebook: NOTEBOOK, from: 4, events: [frame] } };
  ann.net.current.onmessage?.({ data: JSON.stringify(message) });
  expect(ann.replica.state.name).toBe("behind");
  expect(sent(ann)).toEqual([{ subscribe: { notebook: NOTEBOOK } }]);
  ann.net.deliverAll();
  expect([ann.replica.document.title, ann.replica.state.name]).toEqual(["By the moon", "live"]);
});

test("a document of other rules is not folded: snapshots are taken instead", async () => {
  const { server, ann } = setup();
  const snapshot = server.document.toJSON();
  const subscribed = { notebook: NOTEBOOK, version: 3, event_id: "e3", role: "editor", document: 2, snapshot };
  ann.net.current.onmessage?.({ data: JSON.stringify({ subscribed }) });
  server.publish("bo", "NotebookRenamed", { title: "New", previous: "T" });
  ann.net.deliver("down");
  expect(ann.replica.document.title).toBe("T");
  await vi.advanceTimersByTimeAsync(1_000);
  ann.net.deliverAll();
  expect(ann.replica.document.title).toBe("New");
});

test("when all is quiet the digests are compared, and a difference is healed", async () => {
  const { server, ann } = setup();
  ann.replica.document.title = "wrong";
  await vi.advanceTimersByTimeAsync(HEARTBEAT_MS);
  expect(sent(ann)).toEqual([{ check: { notebook: NOTEBOOK, version: 3 } }]);
  ann.net.deliverAll();
  expect([ann.replica.document.title, ann.replica.differences]).toEqual(["T", 1]);
  await vi.advanceTimersByTimeAsync(HEARTBEAT_MS);
  ann.net.deliverAll();
  expect(ann.replica.differences).toBe(1);
  server.answersChecks = false;
  await vi.advanceTimersByTimeAsync(HEARTBEAT_MS);
  ann.net.deliverAll();
  await vi.advanceTimersByTimeAsync(10_000);
  expect(ann.connection.state.name).toBe("waiting");
});

test("a log that was restored from a backup counts, and what cannot be merged is kept as a copy", async () => {
  const { server, ann } = setup();
  server.publish("bo", "NotebookRenamed", { title: "Lost with the disk", previous: "T" });
  ann.net.deliverAll();
  ann.net.cut();
  ann.type("a", "!");
  server.events = server.events.slice(0, 3);
  server.document = new ReferenceServer().document;
  server.append("bo", "x", "NotebookArchived", {});
  await reconnect(ann);
  expect([ann.replica.document.title, ann.replica.document.archived]).toEqual(["T", true]);
  expect(ann.copies).toMatchObject([{ cellId: "a", text: "one\ntwo!" }]);
  expect(ann.shown("a")).toBe("one\ntwo");
});

test("who may see the notebook no more is told", () => {
  const { ann } = setup();
  ann.net.current.onmessage?.({ data: JSON.stringify({ access: { notebook: NOTEBOOK, role: null } }) });
  expect(ann.replica.state).toEqual({ name: "gone", message: "Ask its owner for access." });
});

test("presence: the first at once, then the newest every 50 ms, again after a reconnect and every 20 s, never oneself", async () => {
  const { server, ann } = setup();
  const bo = new Person(server, "bo");
  bo.net.deliverAll();
  for (const anchor of [1, 2, 3]) ann.replica.presence.show({ cell_id: "a", selection: [anchor, anchor] });
  expect(sent(ann).length).toBe(1);
  await vi.advanceTimersByTimeAsync(50);
  expect(sent(ann).length).toBe(2);
  ann.net.deliverAll();
  bo.net.deliverAll();
  expect([...bo.replica.presence.peers.values()].map(({ name, state }) => [name, state?.selection])).toEqual([["ann", [3, 3]]]);
  expect(ann.replica.presence.peers.size).toBe(0);
  await vi.advanceTimersByTimeAsync(200);
  expect(sent(ann).length).toBe(0);
  ann.net.cut();
  await vi.advanceTimersByTimeAsync(500);
  ann.net.accept();
  for (let step = 0; step < 2; step++) ann.net.deliver();
  ann.net.deliver("down");
  expect(sent(ann)).toEqual([{ presence: { notebook: NOTEBOOK, state: { cell_id: "a", selection: [3, 3] } } }]);
  ann.net.deliverAll();
  expect(sent(ann)).toEqual([]);
  await vi.advanceTimersByTimeAsync(20_000);
  expect(sent(ann).filter((each) => "presence" in each).length).toBe(1);
});

test("what is larger than the server takes at once is refused here, and nothing waits for it", async () => {
  const outbox = new Outbox(
    "nb",
    () => true,
    () => 1_000,
  );
  const large = { RenameNotebook: { title: "ü".repeat(600) } };
  await expect(outbox.command(large)).rejects.toMatchObject({ code: "frame_too_large" });
  expect(outbox.size).toBe(0);
  void outbox.command({ RenameNotebook: { title: "u".repeat(600) } });
  expect(outbox.size).toBe(1);
});

test("a subscription that the server cannot answer now is asked for again, and not on another connection", async () => {
  const { server, ann } = setup();
  const { version } = server.document;
  const subscribes = () => sent(ann).filter((message) => "subscribe" in message);
  ann.net.cut();
  server.publish("bo", "NotebookRenamed", { title: "New", previous: "T" });
  await vi.advanceTimersByTimeAsync(500);
  ann.net.accept();
  ann.net.deliver("up");
  ann.net.deliver("down");
  for (let refusal = 1; refusal <= 3; refusal++) {
    expect(subscribes()).toEqual([{ subscribe: { notebook: NOTEBOOK, since: { version, event_id: `e${version}` } } }]);
    ann.net.current.toServer.length = 0;
    const error = { code: "unavailable", message: "the database moves", fatal: false, notebook: NOTEBOOK };
    ann.net.current.onmessage?.({ data: JSON.stringify({ error }) });
    expect([subscribes(), ann.replica.state.name]).toEqual([[], "behind"]);
    await vi.advanceTimersByTimeAsync(750 * 2 ** (refusal - 1));
  }
  ann.net.deliverAll();
  expect([ann.replica.document.title, ann.replica.state.name]).toEqual(["New", "live"]);
});

test("a subscription without an answer is sent again after some heartbeats, and a silent connection is given up", async () => {
  const { ann } = setup();
  ann.net.cut();
  await vi.advanceTimersByTimeAsync(500);
  ann.net.accept();
  ann.net.deliver("up");
  ann.net.deliver("down");
  ann.net.current.toServer.length = 0;
  await vi.advanceTimersByTimeAsync(2 * HEARTBEAT_MS);
  expect(sent(ann)).toEqual([]);
  await vi.advanceTimersByTimeAsync(HEARTBEAT_MS);
  expect(sent(ann).map((message) => Object.keys(message)[0])).toEqual(["subscribe"]);
  await vi.advanceTimersByTimeAsync(10_000);
  expect(ann.connection.state.name).toBe("waiting");
});

test("large integers of a message keep their digits in a command", () => {
  const { ann } = setup();
  const parameters = parseJson('{"id": 9007199254740993, "list": [12345678901234567890]}');
  void ann.replica.command({ SetSchedule: { schedule_id: "s", cron: "0 6 * * *", parameters } } as unknown as Command);
  expect(ann.net.current.toServer.at(-1)).toContain('"parameters":{"id":9007199254740993,"list":[12345678901234567890]}');
});
