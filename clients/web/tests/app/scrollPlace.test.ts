import { expect, test } from "vitest";
import { keepPlace, takePlace } from "../../src/app/session/scrollPlace.ts";

function storage() {
  const kept = new Map<string, string>();
  return {
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, value: string) => void kept.set(key, value),
    removeItem: (key: string) => void kept.delete(key),
  };
}

test("a place is taken once, by its own notebook; a spoilt or full storage does no harm", () => {
  const tab = storage();
  const place = { notebook: "one", cell: "c", top: 70.5, current: "d" };
  keepPlace(place, tab);
  expect(takePlace("one", tab)).toEqual(place);
  expect(takePlace("one", tab)).toBeUndefined();
  keepPlace(place, tab);
  expect(takePlace("two", tab)).toBeUndefined();
  expect(takePlace("one", tab)).toBeUndefined();
  for (const text of ["{", "null", "[]", '{"notebook":"one","cell":"c"}', '{"notebook":"one","cell":1,"top":2}']) {
    tab.setItem("notarium.place", text);
    expect(takePlace("one", tab)).toBeUndefined();
  }
  const full = () => {
    throw new Error("full");
  };
  expect(() => keepPlace(place, { ...tab, setItem: full })).not.toThrow();
});
