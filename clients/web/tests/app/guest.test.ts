import { expect, test } from "vitest";
import { guestName, keepGuestName } from "../../src/app/session/guest.ts";

function memory() {
  const kept = new Map<string, string>();
  return { getItem: (key: string) => kept.get(key) ?? null, setItem: (key: string, value: string) => void kept.set(key, value) };
}

test("a guest's name is kept on one line, without what is not seen, as long as the server takes it", () => {
  const storage = memory();
  expect(guestName(storage)).toBeUndefined();
  expect(keepGuestName("  Zoë\n\u202eLee ", storage)).toBe("Zoë  Lee");
  expect(guestName(storage)).toBe("Zoë  Lee");
  expect([...(keepGuestName("😀".repeat(50), storage) ?? "")]).toHaveLength(40);
  expect(keepGuestName(" \u200f ", storage)).toBeUndefined();
  expect(guestName(storage)).toBeUndefined();
});

test("where nothing is kept there is no name, and none fails", () => {
  const closed = {
    getItem: () => {
      throw new Error("denied");
    },
    setItem: () => {
      throw new Error("denied");
    },
  };
  expect(guestName(closed)).toBeUndefined();
  expect(keepGuestName("Zoë", closed)).toBe("Zoë");
});
