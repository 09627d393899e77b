import { expect, test } from "vitest";
import { hasLogin, keepLogin } from "../../src/app/session/signInWay.ts";

test("the way of the last sign-in is offered first", () => {
  const kept = new Map<string, string>();
  const storage = {
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, value: string) => void kept.set(key, value),
    removeItem: (key: string) => void kept.delete(key),
  };
  expect(hasLogin(storage)).toBe(false);
  keepLogin(true, storage);
  expect(hasLogin(storage)).toBe(true);
  keepLogin(false, storage);
  expect([hasLogin(storage), kept.size]).toEqual([false, 0]);
});
