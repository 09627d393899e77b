// Runs requested without a connection.
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Runs } from "../../src/app/state/runs.ts";
import type { Cell, ClientMessage, Command } from "../../src/protocol/messages.ts";
import { Person } from "../support/person.ts";
import { ReferenceServer } from "../support/server.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function setup() {
  const person = new Person(new ReferenceServer(), "ann");
  const touched: string[] = [];
  const told: string[] = [];
  const notebook = {
    toast: ({ text }: { text: string }) => void told.push(text),
    ...{ replica: person.replica, texts: person.texts },
    get isLive() {
      return person.connection.state.name === "live" && person.replica.state.name === "live";
    },
    send: (body: Command) => person.replica.command(body),
    touchSoon: (topic: string) => void touched.push(topic),
  };
  const runs = new Runs(notebook as never);
  person.net.deliverAll();
  return { person, runs, touched, told };
}

/** Commands that left the page on the newest connection. */
async function sent(person: Person): Promise<Command[]> {
  await vi.advanceTimersByTimeAsync(0);
  const messages = person.net.current.toServer.map((text) => JSON.parse(text) as ClientMessage);
  return messages.flatMap((message) => ("command" in message ? [message.command.body as Command] : []));
}

/** Connects again without delivering what the page then sends. */
async function reconnect(person: Person): Promise<void> {
  await vi.advanceTimersByTimeAsync(1_000);
  person.net.accept();
  while (!person.replica.isInStep) person.net.deliver();
}

const run = (cell_id: string) => ({ RequestExecution: { target: { cell: { cell_id } }, stop_on_error: true } });

test("a run with all effects allowed says so", async () => {
  const { person, runs } = setup();
  void runs.start(["a"], { isFree: true });
  const { RequestExecution } = run("a");
  expect(await sent(person)).toEqual([{ RequestExecution: { ...RequestExecution, effects: "free" } }]);
});

test("a run requested offline waits, says so, and is sent once the connection and the text are there", async () => {
  const { person, runs, touched } = setup();
  person.net.cut();
  person.type("a", " mine");
  const done = runs.start(["a"]);
  expect(touched).toContain("cell:a");
  expect([runs.waits("a"), runs.waits("b"), runs.isWaiting]).toEqual(["held", undefined, true]);
  // A second press adds no second run.
  void runs.start(["a"]);
  await reconnect(person);
  expect((await sent(person)).map((body) => Object.keys(body)[0])).toEqual(["EditSource"]);
  person.net.deliverAll();
  expect(await sent(person)).toEqual([run("a")]);
  expect([runs.waits("a"), runs.isWaiting]).toEqual([undefined, false]);
  person.net.deliverAll();
  await done;
});

test("a run that waits is taken back alone or with all, and is not sent", async () => {
  const { person, runs } = setup();
  person.net.cut();
  // Text does not run.
  person.replica.document.cells.set("text", { cell_type: "markdown", source: "" } as Cell);
  void runs.start(["a", "text", "b"]);
  expect(runs.waits("text")).toBeUndefined();
  expect(runs.takeBack(["b"])).toBe(true);
  expect(runs.takeBack(["b"])).toBe(false);
  expect([runs.waits("a"), runs.waits("b")]).toEqual(["held", undefined]);
  void runs.start(["b"]);
  runs.stopAll();
  expect(runs.isWaiting).toBe(false);
  await reconnect(person);
  expect(await sent(person)).toEqual([]);
});

test("Escape right after a run does not take it back while its text is on its way; stopping all does", async () => {
  const { person, runs } = setup();
  person.type("a", " mine");
  void runs.start(["a"]);
  expect(runs.takeBack(["a"])).toBe(false);
  await vi.advanceTimersByTimeAsync(1_000);
  person.net.deliverAll();
  expect(await sent(person)).toEqual([run("a")]);
  person.net.deliverAll();
  person.type("b", " mine");
  void runs.start(["b"]);
  runs.stopAll();
  await vi.advanceTimersByTimeAsync(1_000);
  person.net.deliverAll();
  expect(await sent(person)).toEqual([]);
});

test("a run that may have arrived before the connection was lost is shown, and not taken back", async () => {
  const { person, runs } = setup();
  void runs.start(["a"]);
  expect(await sent(person)).toEqual([run("a")]);
  expect(runs.waits("a")).toBeUndefined();
  person.net.cut();
  expect(runs.waits("a")).toBe("sent");
  expect(runs.takeBack()).toBe(false);
  await reconnect(person);
  expect(await sent(person)).toEqual([run("a")]);
  person.net.deliverAll();
  await vi.advanceTimersByTimeAsync(0);
  person.net.cut();
  expect(runs.waits("a")).toBeUndefined();
});

test("a kernel is not ended, and no run stopped, by what was asked offline", async () => {
  const { person, runs, told } = setup();
  person.replica.document.kernels.set("k", { phase: "started" } as never);
  person.net.cut();
  for (const ask of [
    () => runs.restart(),
    () => runs.shutDown("k"),
    () => runs.restartAndRun(),
    () => runs.interrupt(),
    () => runs.stopAll(),
  ])
    ask();
  expect(told).toEqual([
    ...["Restart the kernel", "Shut down the kernel", "Restart the kernel", "Interrupt the kernel", "Stop the runs"].map(
      (act) => `You’re offline. ${act} when you’re connected again.`,
    ),
  ]);
  await reconnect(person);
  expect(await sent(person)).toEqual([]);
});
