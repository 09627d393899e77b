// Golden text cases: CodeMirror and our own `apply` must agree with them.
import { ChangeSet, Text } from "@codemirror/state";
import { expect, test } from "vitest";
import { applyChange, mapRange } from "../../src/protocol/change.ts";
import type { ChangeSet as Wire } from "../../src/protocol/messages.ts";
import { names, readText } from "../golden.ts";

interface Case {
  doc: string;
  exact: boolean;
  a: Wire;
  b: Wire;
  c: Wire;
  [name: string]: unknown;
}

const cases = names("text").flatMap((file) =>
  readText(`text/${file}`)
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Case),
);

const text = (source: string) => Text.of(source.split("\n"));

test.each(cases)("$doc", (given) => {
  const [a, b, c] = [given.a, given.b, given.c].map((change) => ChangeSet.fromJSON(change)) as [ChangeSet, ChangeSet, ChangeSet];
  const doc = text(given.doc);
  const results = {
    compose: a.compose(c),
    a_over_b: a.map(b, false),
    a_over_b_before: a.map(b, true),
    b_over_a: b.map(a, false),
    b_over_a_before: b.map(a, true),
  };
  if (given.exact) {
    for (const [name, result] of Object.entries(results)) expect([name, result.toJSON()]).toEqual([name, given[name]]);
    expect(a.invert(doc).toJSON()).toEqual(given.invert_a);
  }
  expect(applyChange(given.doc, given.a)).toBe(given.after_a);
  expect(applyChange(given.doc, given.b)).toBe(given.after_b);
  expect(applyChange(given.after_a as string, results.b_over_a.toJSON() as Wire)).toBe(given.after_a_then_b);
  expect(applyChange(given.after_b as string, results.a_over_b.toJSON() as Wire)).toBe(given.after_b_then_a);
  expect(applyChange(given.doc, results.compose.toJSON() as Wire)).toBe(given.after_compose);
});

test.each(cases)("ranges of $doc move as CodeMirror moves them", ({ doc, a }) => {
  const change = ChangeSet.fromJSON(a);
  const [first, end] = [change.mapPos(0, 1), doc.length];
  const places = Array.from({ length: end + 1 }, (_, at) => at);
  expect(places.map((at) => mapRange([at, end], a)[0])).toEqual(places.map((at) => change.mapPos(at, 1)));
  expect(places.map((at) => mapRange([0, at], a)[1])).toEqual(places.map((at) => Math.max(first, change.mapPos(at, -1))));
});

test("a change that does not fit the text leaves it to the caller", () => {
  expect(applyChange("abc", [2])).toBeUndefined();
  expect(applyChange("abc", [4])).toBeUndefined();
});
