import { expect, test } from "vitest";
import { lossOf, lossWords, namesOf } from "../../src/app/cells/depends.ts";
import type { Document } from "../../src/protocol/document.ts";
import type { Cell, Execution } from "../../src/protocol/messages.ts";

const sorted = (source: string) => {
  const { defined, used } = namesOf(source);
  return [[...defined].sort().join(" "), [...used].sort().join(" ")];
};

test.each([
  ["df = load(path)", "df", "load path"],
  ["df = df.dropna()", "df", "df"],
  ["a, (b, c) = pair\nx: int = 1", "a b c x", "int pair"],
  ["total += price", "", "price total"],
  ["import numpy as np, os.path\nfrom x import y as z, w", "np os w z", ""],
  ["def mean(values, n=count):\n    total = sum(values)\n    return total / n + shift", "mean", "count shift sum"],
  ["class Shape(Base):\n    pass", "Shape", "Base"],
  ["for row in rows:\n    print(row)", "row", "print rows"],
  ["[x * y for x in xs if x]", "", "xs y"],
  ["with open(f) as g:\n    g.read()", "g", "f open"],
  ["df['a'] = df.b.c", "", "df"],
  ["f = lambda v: v + w", "f", "w"],
  ["def (", "", ""],
])("names of %j", (source, defined, used) => {
  expect(sorted(source)).toEqual([defined, used]);
});

test("deleting says how long the run took, and who uses what goes", () => {
  const code = (source: string) => ({ cell_type: "code", source }) as Cell;
  const cells = new Map([
    ["a", code("df = load()")],
    ["b", code("df.head()")],
    ["c", { cell_type: "markdown", source: "df" } as Cell],
    ["d", code("df = 1\ndf")],
    ["e", code("len(df)")],
  ]);
  const runs: Record<string, Partial<Execution>> = { a: { started_at: 1_000, ended_at: 241_000 } };
  const document = { order: [...cells.keys()], cells, latestExecution: (id: string) => runs[id] as Execution } as Document;
  expect(lossWords(lossOf(document, ["a"]), ["b", "c", "d", "e"])).toEqual([
    "its run took 4 min 0 s",
    "“df” is used in cells 1 and 4",
  ]);
  expect(lossWords(lossOf(document, ["b"]), ["a", "c", "d", "e"])).toEqual([]);
});
