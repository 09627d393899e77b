import { expect, test } from "vitest";
import { opened, recent } from "../../src/app/session/recent.ts";
import { routeOf } from "../../src/app/session/route.ts";
import { parseLink } from "../../src/app/session/session.ts";

test("links with a token lead to the list or to their notebook, and leave no token in the address", () => {
  expect(parseLink("/", "#token=nt_a-1")).toEqual({ token: "nt_a-1", place: "/" });
  expect(parseLink("/", "#token=nt_a&notebook=01X")).toEqual({ token: "nt_a", place: "/#/n/01X" });
  expect(parseLink("/notebooks/01X", "#token=nt_a")).toEqual({ token: "nt_a", place: "/#/n/01X" });
  for (const hash of ["", "#/n/01X", "#token=", "#token=a&notebook=../x", "#token=<b>"])
    expect(parseLink("/", hash)).toBeUndefined();
});

test("places of the page", () => {
  expect(routeOf("#/n/N/C")).toEqual({ name: "notebook", id: "N", cell: "C" });
  expect(routeOf("#/n/N?assistant")).toEqual({ name: "notebook", id: "N", cell: undefined, panel: "assistant" });
  expect(routeOf("#/n/N/C?run=01R")).toEqual({ name: "notebook", id: "N", cell: "C", run: "01R" });
  expect(routeOf("#/n/N/C?run=../x")).toEqual({ name: "notebook", id: "N", cell: "C" });
  expect(routeOf("")).toEqual({ name: "home" });
});

test("what was opened last stands first, once, for each person apart", () => {
  const kept = new Map<string, string>();
  const storage = {
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, value: string) => void kept.set(key, value),
  };
  for (const id of ["a", "b", "a"]) opened("ann", id, `Title ${id}`, storage);
  expect(recent("ann", storage).map(({ id }) => id)).toEqual(["a", "b"]);
  expect(recent("bo", storage)).toEqual([]);
  for (let number = 0; number < 20; number += 1) opened("ann", String(number), "", storage);
  expect(recent("ann", storage)).toHaveLength(6);
  kept.set("notarium.recent.ann", "[null, 3]");
  expect(recent("ann", storage)).toEqual([]);
});
