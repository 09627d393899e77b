// Random histories: several people type into the same cells, connections break, snapshots replace states, cells are
// deleted. In the end all replicas and editors must equal the server's state.
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Person } from "../support/person.ts";
import { ReferenceServer } from "../support/server.ts";

const HISTORIES = Number(process.env.NOTARIUM_HISTORIES ?? 100);
const STEPS = 120;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

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

const WORDS = ["x", "ab", "\n", "😀", "é", "print(1)\n", ""];

function typeSomewhere(person: Person, random: (below: number) => number): void {
  const cell = "ab"[random(2)] ?? "a";
  if (!person.replica.document.cells.has(cell)) return;
  const text = person.shown(cell);
  // Never inside a surrogate pair, as in an editor.
  const places = [...text].reduce<number[]>((all, character) => [...all, (all.at(-1) ?? 0) + character.length], [0]);
  const [one, two] = [places[random(places.length)] ?? 0, places[random(places.length)] ?? 0];
  const to = random(3) === 0 ? Math.max(one, two) : Math.min(one, two);
  person.replaceText(cell, Math.min(one, two), to, WORDS[random(WORDS.length)] ?? "");
}

async function step(server: ReferenceServer, people: Person[], random: (below: number) => number): Promise<void> {
  const person = people[random(people.length)];
  if (!person) return;
  const what = random(100);
  if (what < 35) typeSomewhere(person, random);
  else if (what < 85) deliverSome(person, random);
  else if (what < 88) person.net.cut();
  else if (what < 90) server.alwaysSnapshots = !server.alwaysSnapshots;
  else if (what < 91) server.publish("admin", "NotebookRenamed", { title: String(what), previous: "" });
  else await vi.advanceTimersByTimeAsync(700);
  await vi.advanceTimersByTimeAsync(0);
}

function deliverSome(person: Person, random: (below: number) => number): void {
  person.net.accept();
  const direction = (["both", "up", "down"] as const)[random(3)];
  for (let count = random(4); count >= 0; count--) person.net.deliver(direction);
}

async function settle(people: Person[]): Promise<void> {
  for (let round = 0; round < 30; round++) {
    for (const person of people) {
      person.connection.retryNow();
      person.net.deliverAll();
    }
    await vi.advanceTimersByTimeAsync(0);
  }
}

async function play(seed: number): Promise<void> {
  const random = generator(seed);
  const server = new ReferenceServer({ a: "one 😀\ntwo", b: "" });
  const people = ["ann", "bo", "cy"].map((name) => new Person(server, name));
  await settle(people);
  for (let count = 0; count < STEPS; count++) await step(server, people, random);
  await settle(people);
  for (const { name, replica, copies, texts, ...person } of people.map((each) =>
    Object.assign(each, { a: each.shown("a"), b: each.shown("b") }),
  )) {
    const got = {
      state: replica.state.name,
      a: person.a,
      b: person.b,
      digest: replica.document.digest(),
      copies,
      unconfirmed: texts.cells(),
    };
    const want = {
      state: "live",
      a: server.source("a"),
      b: server.source("b"),
      digest: server.document.digest(),
      copies: [],
      unconfirmed: [],
    };
    expect(got, `seed ${seed}, ${name}`).toEqual(want);
  }
}

test(`${HISTORIES} histories of three people converge, and nobody's text is given up`, { timeout: 120_000 }, async () => {
  const first = Number(process.env.NOTARIUM_SEED ?? 1);
  for (let seed = first; seed < first + HISTORIES; seed++) await play(seed);
});
