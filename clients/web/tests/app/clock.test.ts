import { afterEach, expect, test, vi } from "vitest";
import { learn, serverNow } from "../../src/app/session/clock.ts";
import { ago } from "../../src/app/words/words.ts";

afterEach(() => {
  vi.useRealTimers();
  learn(new Date().toUTCString(), Date.now(), Date.now());
});

test("a clock that is wrong by an hour shows the server's times all the same", () => {
  vi.useFakeTimers({ now: 3_600_000 });
  learn(new Date(7_200_000).toUTCString(), 3_600_000, 3_600_000);
  expect(serverNow()).toBeCloseTo(7_200_500, -3);
  expect(ago(7_200_000)).toBe(ago(7_200_000, 7_200_000));
});

test("what the seconds of an answer leave open counts as right", () => {
  vi.useFakeTimers({ now: 10_000 });
  learn(new Date(12_000).toUTCString(), 10_000, 10_000);
  expect(serverNow()).toBe(10_000);
  learn("not a date", 10_000, 10_000);
  learn(null, 10_000, 10_000);
  expect(serverNow()).toBe(10_000);
});
