import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Outage } from "../../src/app/state/outage.ts";
import { Person } from "../support/person.ts";
import { NOTEBOOK, ReferenceServer } from "../support/server.ts";

beforeEach(() => void vi.useFakeTimers({ now: 1_000 }));
afterEach(() => void vi.useRealTimers());

test("an outage begins when the connection is lost, and lasts until the notebook's changes come again", async () => {
  const ann = new Person(new ReferenceServer(), "ann");
  const outage = new Outage(ann.connection, ann.replica);
  expect(outage.since).toBe(1_000);
  ann.net.deliverAll();
  expect(outage.since).toBeUndefined();
  vi.setSystemTime(5_000);
  ann.net.cut();
  await vi.advanceTimersByTimeAsync(500);
  ann.net.accept();
  ann.net.deliver("up");
  ann.net.deliver("down");
  const error = { code: "unavailable", message: "the database moves", fatal: false, notebook: NOTEBOOK };
  ann.net.current.onmessage?.({ data: JSON.stringify({ error }) });
  expect([ann.connection.state.name, outage.since]).toEqual(["live", 5_000]);
  ann.net.deliverAll();
  expect(outage.since).toBeUndefined();
});
