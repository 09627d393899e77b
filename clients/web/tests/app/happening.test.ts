import { expect, test } from "vitest";
import { type NotebookNow, keptUp, nowWords, withoutMe } from "../../src/app/words/happening.ts";

const person = (id: string, name: string) => ({ actor: { kind: "user" as const, id }, name });
const now = (running: number, queued: number, ...people: NotebookNow["people"]): NotebookNow => ({ running, queued, people });

test("who is where and what runs, in words", () => {
  const [ann, bo, cy] = [person("1", "Ann"), person("2", "Bo"), person("3", "Cy")];
  expect(nowWords(now(0, 0))).toBe("");
  expect(nowWords(now(0, 0, ann))).toBe("Ann is here");
  expect(nowWords(now(1, 0, ann, bo, cy))).toBe("Ann, Bo and Cy are here; 1 running");
  expect(nowWords(now(2, 1))).toBe("2 running, 1 queued");
  expect(nowWords(now(0, 1))).toBe("1 queued");
});

test("that I am there is no news; a guest is nobody else", () => {
  const guest = { actor: { kind: "guest" as const, share_link: "1" }, name: "Zoë" };
  const { people } = withoutMe(now(0, 0, person("1", "Ann"), guest), { kind: "user", id: "1" });
  expect(people).toEqual([guest]);
});

test("lines stay where they are; one that nothing was told of has nothing going on", () => {
  const lines = [
    { id: "a", now: now(1, 0) },
    { id: "b", now: now(1, 0) },
  ];
  expect(
    keptUp(lines, [
      { id: "c", now: now(2, 0) },
      { id: "b", now: now(0, 2) },
    ]),
  ).toEqual([
    { id: "a", now: null },
    { id: "b", now: now(0, 2) },
  ]);
});
