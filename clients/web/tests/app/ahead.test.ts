import { beforeEach, expect, test, vi } from "vitest";
import { Ahead, type Press } from "../../src/app/state/ahead.ts";
import { Person } from "../support/person.ts";
import { ReferenceServer } from "../support/server.ts";

const press = (key: string): Press => ({
  ...{ key, code: "", ctrlKey: false, metaKey: false, altKey: false, shiftKey: false, repeat: false },
});

let ahead: Ahead;
let played: string[];
beforeEach(() => {
  ahead = new Ahead();
  played = [];
  ahead.play = ({ key }) => void played.push(key);
});

function work() {
  let end: (done: unknown) => void = () => undefined;
  const promise = new Promise((resolve) => (end = resolve));
  ahead.until(promise);
  return async (done: unknown) => {
    end(done);
    await promise;
    await Promise.resolve();
  };
}

test("keys wait for the cell that they are meant for, in their order", async () => {
  const end = work();
  expect(ahead.isWaiting).toBe(true);
  for (const key of ["Enter", "x"]) ahead.hold(press(key));
  expect(played).toEqual([]);
  await end(true);
  expect(ahead.isWaiting).toBe(false);
  expect(played).toEqual(["Enter", "x"]);
});

test("a key that begins the next work holds those behind it", async () => {
  let second: (done: unknown) => Promise<void> = async () => undefined;
  ahead.play = ({ key }) => {
    played.push(key);
    if (key === "b") second = work();
  };
  const first = work();
  for (const key of ["b", "Enter"]) ahead.hold(press(key));
  await first(true);
  expect(played).toEqual(["b"]);
  await second(true);
  expect(played).toEqual(["b", "Enter"]);
});

test("keys for what the server refused, or what does not come, are forgotten", async () => {
  vi.useFakeTimers();
  const end = work();
  ahead.hold(press("d"));
  await end(undefined);
  work();
  ahead.hold(press("d"));
  vi.advanceTimersByTime(10_000);
  vi.useRealTimers();
  expect([ahead.isWaiting, played]).toEqual([false, []]);
});

test("what is typed before the editor is there stands in the cell, and the caret behind it", () => {
  const server = new ReferenceServer({ a: "tail" });
  const ann = new Person(server, "ann");
  ann.net.deliverAll();
  for (const key of ["x", "Shift", "Enter", "é"]) ahead.write(ann.texts, "a", press(key));
  expect(ann.texts.shown("a")).toBe("x\nétail");
  expect(ahead.arrive("a")).toBe(3);
  expect(ahead.caret("a")).toBeUndefined();
});
