import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Person } from "../support/person.ts";
import { ReferenceServer } from "../support/server.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const SECRET = "two";

function setup() {
  const server = new ReferenceServer();
  const ann = new Person(server, "ann");
  const epochs: number[] = [];
  ann.replica.redacted.add((epoch) => epochs.push(epoch));
  ann.net.deliverAll();
  return { server, ann, epochs };
}

test("a redaction that arrives while connected is told once, and the state comes anew", () => {
  const { server, ann, epochs } = setup();
  expect([ann.replica.redactionEpoch, epochs]).toEqual([0, []]);
  server.redact("a", SECRET);
  ann.net.deliverAll();
  const { version } = server.document;
  expect([ann.replica.redactionEpoch, epochs]).toEqual([version, [version]]);
  expect(ann.replica.document.cells.get("a")?.source).toBe("one\n███");
  expect(JSON.stringify(ann.replica.document.toJSON())).not.toContain(SECRET);
  expect(ann.replica.document.digest()).toBe(server.document.digest());
  expect(ann.replica.state.name).toBe("live");
});

test("a redaction of while the connection was lost is told by the epoch of the next subscription", async () => {
  const { server, ann, epochs } = setup();
  ann.net.cut();
  server.redact("a", SECRET);
  await vi.advanceTimersByTimeAsync(500);
  ann.net.deliverAll();
  expect(epochs).toEqual([server.document.version]);
  expect(ann.shown("a")).toBe("one\n███");
});

test("a listener that closes the replica ends it before it takes the state", () => {
  const { server, ann } = setup();
  const before = ann.replica.document;
  ann.replica.redacted.add(() => ann.replica.close());
  server.redact("a", SECRET);
  ann.net.deliverAll();
  expect(ann.replica.document).toBe(before);
  expect([...server.clients].every(({ isSubscribed }) => !isSubscribed)).toBe(true);
});

test("text that nobody confirmed has the person's own letters, and none that an undo brings back", async () => {
  const { ann } = setup();
  ann.net.cut();
  ann.type("a", " and more");
  ann.replaceText("a", 0, 3, "", "delete.cut");
  ann.texts.step("a", "undo");
  expect(ann.shown("a")).toBe("one\ntwo and more");
  // A line that is moved is not the person's own either.
  ann.replaceText("a", 0, 4, "", "move.line");
  ann.type("a", "\none\nmine", "move.line");
  expect(ann.texts.typed()).toEqual([{ cellId: "a", text: " and more\nmine" }]);
});
