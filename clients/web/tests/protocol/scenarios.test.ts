import { describe, expect, test } from "vitest";
import { apply, knows } from "../../src/protocol/apply.ts";
import { digest } from "../../src/protocol/canonical.ts";
import { Document } from "../../src/protocol/document.ts";
import type { Document as Snapshot, EventMessage } from "../../src/protocol/messages.ts";
import { names, readJson } from "../golden.ts";

interface Scenario {
  events: (EventMessage & { notebook_id: string })[];
  digests: string[];
  state: Snapshot;
}

const scenarios = names("scenarios");

describe.each(scenarios)("%s", (file) => {
  const { events, digests, state } = readJson<Scenario>(`scenarios/${file}`);

  test("the digest after each event is the server's", () => {
    expect(digests.length).toBe(events.length);
    const document = new Document(events[0]?.notebook_id ?? "");
    for (const [index, event] of events.entries()) {
      apply(document, event);
      expect([event.version, event.type, document.digest()]).toEqual([event.version, event.type, digests[index]]);
    }
    expect(document.toJSON()).toEqual(state);
  });

  test("a snapshot is read and written without loss, and more events fold onto it as onto the replay", () => {
    expect(Document.from(state).toJSON()).toEqual(state);
    const half = Math.floor(events.length / 2);
    const replayed = new Document(events[0]?.notebook_id ?? "");
    for (const event of events.slice(0, half)) apply(replayed, event);
    const resumed = Document.from(JSON.parse(replayed.canonical()) as Snapshot);
    for (const event of events) apply(resumed, event);
    expect(resumed.digest()).toBe(digests.at(-1));
  });

  test("objects that somebody holds are never changed", () => {
    const document = new Document(events[0]?.notebook_id ?? "");
    for (const event of events) {
      const held = [...document.cells.values(), ...document.executions.values(), document.order, document.access];
      const before = JSON.stringify(held);
      apply(document, event);
      expect(JSON.stringify(held)).toBe(before);
    }
  });
});

test("an event that was applied already changes nothing", () => {
  const { events } = readJson<Scenario>("scenarios/life.json");
  const document = new Document("nb");
  for (const event of events) apply(document, event);
  const before = document.digest();
  expect(apply(document, events[3] as EventMessage).cells.size).toBe(0);
  expect(document.digest()).toBe(before);
});

test("events of unknown types and of higher schemas are not folded", () => {
  expect(knows({ type: "CellInserted", schema: 1 })).toBe(true);
  expect(knows({ type: "CellInserted", schema: 99 })).toBe(false);
  expect(knows({ type: "MoonRisen", schema: 1 })).toBe(false);
  const { events } = readJson<Scenario>("scenarios/life.json");
  const event = { ...(events[0] as EventMessage), type: "MoonRisen" };
  const document = new Document("nb");
  expect(() => apply(document, event)).toThrow("MoonRisen");
  expect(document.version).toBe(0);
});

test("the canonical JSON and the digest of the example are those of the protocol", () => {
  const {
    document,
    canonical,
    digest: expected,
  } = readJson<{ document: Snapshot; canonical: string; digest: string }>("digest.json");
  expect(Document.from(document).canonical()).toBe(canonical);
  expect(Document.from(document).digest()).toBe(expected);
});

test("what has no canonical form has no digest", () => {
  const deep = JSON.parse("[".repeat(200) + "]".repeat(200)) as unknown;
  for (const value of ["\ud800", Number.POSITIVE_INFINITY, deep]) expect(() => digest(value)).toThrow();
});

test("a run that asks for input is news of the runs, as its answer is", () => {
  const { events } = readJson<Scenario>("scenarios/life.json");
  const document = new Document(events[0]?.notebook_id ?? "");
  const told = events.flatMap((event) => {
    const touched = apply(document, event);
    return event.type.startsWith("ExecutionInput") ? [[event.type, touched.parts.has("executions")]] : [];
  });
  expect(told).toEqual([
    ["ExecutionInputRequested", true],
    ["ExecutionInputAnswered", true],
  ]);
});
