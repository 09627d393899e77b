// Undo in the editor of one cell: it undoes only the person's own last edits.
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Letters } from "../support/letters.ts";
import { Person } from "../support/person.ts";
import { ReferenceServer } from "../support/server.ts";

const HISTORIES = Number(process.env.NOTARIUM_HISTORIES ?? 60);
const STEPS = 60;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

async function settle(...people: Person[]): Promise<void> {
  for (let round = 0; round < 8; round++) {
    for (const person of people) {
      person.connection.retryNow();
      person.net.deliverAll();
    }
    await vi.advanceTimersByTimeAsync(0);
  }
}

async function setup(...names: string[]) {
  const server = new ReferenceServer({ a: "" });
  const letters = new Letters();
  server.undoing = letters;
  const people = names.map((name) => new Person(server, name));
  await settle(...people);
  return { server, letters, people };
}

const press = (person: Person, kind: "undo" | "redo") => {
  person.editor("a");
  person.texts.step("a", kind);
};
const pause = () => vi.advanceTimersByTimeAsync(2_000);

test("each press takes back one step, unsent, sent or older than the page; then it stops", async () => {
  const {
    server,
    people: [old],
  } = await setup("ann");
  old!.type("a", "a");
  await pause();
  old!.type("a", "b");
  await settle(old!);
  // The page is reloaded.
  const ann = new Person(server, "ann");
  await settle(ann);
  ann.type("a", "c");
  await settle(ann);
  await pause();
  ann.type("a", "d");
  const seen: string[] = [];
  for (let count = 0; count < 6; count++) {
    press(ann, "undo");
    await settle(ann);
    seen.push(server.source("a"));
  }
  expect(seen).toEqual(["abc", "ab", "a", "", "", ""]);
  for (const expected of ["a", "ab", "abc"]) {
    press(ann, "redo");
    await settle(ann);
    expect([server.source("a"), ann.shown("a")]).toEqual([expected, expected]);
  }
});

test("without a connection what this page knows is taken back, and the rest waits for the person", async () => {
  const {
    server,
    people: [ann],
  } = await setup("ann");
  const stuck = vi.fn();
  ann!.texts.stuck.add(stuck);
  ann!.type("a", "a");
  await settle(ann!);
  ann!.net.cut();
  await pause();
  ann!.type("a", "b");
  await pause();
  ann!.type("a", "c");
  press(ann!, "undo");
  expect([ann!.shown("a"), stuck.mock.calls.length]).toEqual(["ab", 0]);
  press(ann!, "undo");
  press(ann!, "undo");
  press(ann!, "undo");
  expect([ann!.shown("a"), stuck.mock.calls.length]).toEqual(["", 1]);
  press(ann!, "redo");
  press(ann!, "redo");
  expect(ann!.shown("a")).toBe("ab");
  await settle(ann!);
  expect(server.source("a")).toBe("ab");
});

test("another tab's text of mine is mine to undo, in the order in which it was written", async () => {
  const {
    server,
    people: [one, two],
  } = await setup("ann", "ann");
  one!.type("a", "a");
  await settle(one!, two!);
  two!.type("a", "b");
  await settle(one!, two!);
  press(one!, "undo");
  await settle(one!, two!);
  expect(server.source("a")).toBe("a");
  press(one!, "undo");
  await settle(one!, two!);
  expect([server.source("a"), two!.shown("a")]).toEqual(["", ""]);
  press(two!, "redo");
  await settle(one!, two!);
  expect(server.source("a")).toBe("a");
});

test("text typed before the answer to a redo is taken back before that redo", async () => {
  const {
    server,
    people: [ann],
  } = await setup("ann");
  ann!.type("a", "a");
  await settle(ann!);
  press(ann!, "undo");
  await settle(ann!);
  // The page is reloaded, so it asks the server.
  const again = new Person(server, "ann");
  await settle(again);
  press(again, "redo");
  await vi.advanceTimersByTimeAsync(0);
  again.type("a", "b");
  await settle(again);
  const seen: string[] = [];
  for (let count = 0; count < 2; count++) {
    press(again, "undo");
    await settle(again);
    seen.push(server.source("a"));
  }
  expect(seen).toEqual(["a", ""]);
});

test("a composed word is one step, what is pasted is one of its own", async () => {
  const {
    server,
    people: [ann],
  } = await setup("ann");
  for (const [text, userEvent] of [
    ["に", "input.type.compose.start"],
    ["ほん", "input.type.compose"],
    ["P", "input.paste"],
  ] as const) {
    ann!.type("a", text, userEvent);
    await settle(ann!);
  }
  const seen: string[] = [];
  for (let count = 0; count < 2; count++) {
    press(ann!, "undo");
    await settle(ann!);
    seen.push(server.source("a"));
  }
  expect(seen).toEqual(["にほん", ""]);
});

test("what is typed after the caret moved is a step of its own, also at the same place", async () => {
  const {
    server,
    people: [ann],
  } = await setup("ann");
  ann!.type("a", "one");
  ann!.type("a", " more");
  ann!.texts.pause();
  ann!.type("a", " two");
  await settle(ann!);
  const seen: string[] = [];
  for (let count = 0; count < 2; count++) {
    press(ann!, "undo");
    await settle(ann!);
    seen.push(server.source("a"));
  }
  expect(seen).toEqual(["one more", ""]);
});

/** Seeded random generator (mulberry32). */
function generator(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

async function play(seed: number): Promise<void> {
  const random = generator(seed);
  const { server, letters, people } = await setup("ann", "bo", "it");
  let next = 0x4e00;
  /** People who have undone unsent edits, which the server does not know. */
  const took = new Set<Person>();
  const type = (person: Person) => {
    took.delete(person);
    const at = random(person.shown("a").length + 1);
    const text = Array.from({ length: 1 + random(2) }, () => String.fromCharCode(next++)).join("");
    person.replaceText("a", at, at, text);
  };
  // Settle first: text that two people delete concurrently returns when one of them undoes it.
  const remove = async (person: Person) => {
    await settle(...people);
    if (person.shown("a") === "") return;
    const at = random(person.shown("a").length);
    person.replaceText("a", at, Math.min(person.shown("a").length, at + 2), "");
    await settle(...people);
  };
  for (let count = 0; count < STEPS && !letters.hasStrayed; count++) {
    const person = people[random(3)] as Person;
    const what = random(100);
    if (what < 30) type(person);
    else if (what < 40) await remove(person);
    else if (what < 60) {
      if (person.texts.cells().length > 0) took.add(person);
      press(person, random(3) > 0 ? "undo" : "redo");
    } else if (what < 75) person.net.deliver((["both", "up", "down"] as const)[random(3)]);
    else if (what < 77) person.net.cut();
    else if (what < 85) await pause();
    else {
      await settle(...people);
      const kind = random(3) > 0 || took.has(person) ? "undo" : "redo";
      const expected = letters.after(person.name, kind)?.shown ?? server.source("a");
      press(person, kind);
      await settle(...people);
      if (letters.hasStrayed) break;
      const got = [...server.source("a")].sort().join("");
      expect(got, `seed ${seed}, step ${count}: ${kind} of ${person.name}`).toBe([...expected].sort().join(""));
    }
    await vi.advanceTimersByTimeAsync(0);
  }
  await settle(...people);
  for (const person of people) expect(person.shown("a"), `seed ${seed}`).toBe(server.source("a"));
  expect(people.flatMap(({ copies }) => copies)).toEqual([]);
}

test(`${HISTORIES} histories of two people and an assistant in one cell`, { timeout: 120_000 }, async () => {
  const first = Number(process.env.NOTARIUM_SEED ?? 1);
  for (let seed = first; seed < first + HISTORIES; seed++) await play(seed);
});
