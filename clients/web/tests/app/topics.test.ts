import { afterEach, expect, test, vi } from "vitest";
import { Topics } from "../../src/app/state/topics.ts";

afterEach(() => {
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

test("what comes between two frames is told once, with the next one", () => {
  const frames: (() => void)[] = [];
  vi.stubGlobal("requestAnimationFrame", (frame: () => void) => frames.push(frame));
  vi.stubGlobal("cancelAnimationFrame", () => undefined);
  const topics = new Topics();
  const told: string[] = [];
  topics.listen("order", () => told.push("order"));
  topics.listen("cell:a", () => told.push("a"));
  for (let times = 0; times < 50; times++) (topics.touchSoon("order"), topics.touchSoon("cell:a"));
  expect([told, frames.length, topics.count("order")]).toEqual([[], 1, 0]);
  frames[0]?.();
  expect([told, topics.count("order")]).toEqual([["order", "a"], 1]);
  topics.touchSoon("order");
  expect(frames.length).toBe(2);
});

test("a page that is out of sight has no frames, and is told all the same, once", () => {
  vi.useFakeTimers();
  const ended: number[] = [];
  vi.stubGlobal("requestAnimationFrame", () => 7);
  vi.stubGlobal("cancelAnimationFrame", (frame: number) => ended.push(frame));
  const topics = new Topics();
  topics.touchSoon("order");
  vi.advanceTimersByTime(1_000);
  expect([topics.count("order"), ended]).toEqual([1, [7]]);
});
