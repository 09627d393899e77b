// Prints the results of @codemirror/state for random changes, one JSON object a line. src/core/text must agree with them.
//
//     node generate.mjs [cases, 100000] [seed, 1] > cases.jsonl
//     NOTARIUM_CODEMIRROR_CASES=cases.jsonl cargo test -p notarium-core codemirror_oracle
//
// A case has changes `a` and `b` of `doc`, and `c` of the text after `a`. `exact`: the inputs are in normal form, so that
// answers must be the same JSON bytes. Otherwise normalised answers are compared.
import { once } from "node:events";
import { ChangeSet, Text } from "@codemirror/state";

const cases = Number(process.argv[2] ?? 100_000);
let state = Number(process.argv[3] ?? 1) >>> 0;

/** Random generator (mulberry32): the same seed gives the same cases on every machine. */
function random() {
  state = (state + 0x6d2b79f5) >>> 0;
  let t = state;
  t = Math.imul(t ^ (t >>> 15), t | 1);
  t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
  return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
}
const below = (limit) => Math.floor(random() * limit);
const chance = (probability) => random() < probability;
const pick = (items) => items[below(items.length)];
const times = (count, make) => Array.from({ length: count }, make);

const PIECES = [
  "a", "b", "ab", " ", "x = 1", "def f():", "\t", "\n", "\n", "\n\n\n", "é", "e\u0301", "a\u0300\u0323", "中文", "😀", "😀😁",
  "👩‍👩‍👧‍👦", "🇩🇪", "𝒳", "\u200d", "\u2028", "\u0000", '"\\', "ﬀ", "العربية",
];
const longLine = () => pick(["long ", "línea ", "🚀 "]).repeat(20 + below(60));
const randomText = (pieces) =>
  times(below(pieces + 1), () => (chance(0.01) ? longLine() : pick(PIECES))).join("");

/** All offsets of `doc` that are not inside a surrogate pair. */
function boundaries(doc) {
  const offsets = [0];
  for (const character of doc) offsets.push(offsets.at(-1) + character.length);
  return offsets;
}

const toText = (doc) => Text.of(doc.split("\n"));
const applyTo = (change, doc) => change.apply(toText(doc)).toString();

function spec(offsets) {
  const from = below(offsets.length);
  const to = chance(0.4) ? from : Math.min(offsets.length - 1, from + below(chance(0.1) ? 40 : 5));
  return { from: offsets[from], to: offsets[to], insert: toText(chance(0.25) ? "" : randomText(2)) };
}

/** Change as an editor makes it: one or several ranges, also overlapping. */
function fromSpecs(doc) {
  const offsets = boundaries(doc);
  return ChangeSet.of(times(below(4), () => spec(offsets)), doc.length);
}

/** Change composed of several edits, like a buffer of unconfirmed ones. */
function composed(doc) {
  let [change, current] = [fromSpecs(doc), doc];
  current = applyTo(change, doc);
  for (let left = below(4); left > 0; left--) {
    const next = fromSpecs(current);
    change = change.compose(next);
    current = applyTo(next, current);
  }
  return change;
}

/** Sections in any order. `loose` adds sections that CodeMirror itself would join or drop, except a kept section of length 0,
 *  on which its own compose throws. */
function sections(doc, loose) {
  const characters = [...doc];
  const take = (count) => characters.splice(0, count).join("").length;
  const parts = [];
  let last = "";
  while (characters.length && parts.length < 30) {
    const kind = pick(["keep", "keep", "delete", "insert", "replace"]);
    if (!loose && kind === last && kind !== "replace") continue;
    last = kind;
    const low = loose ? 0 : 1;
    const lines = loose && chance(0.2) ? [""] : (randomText(2) || "z").split("\n");
    if (kind === "keep") parts.push(take(1 + below(6)));
    else if (kind === "delete") parts.push([take(low + below(3))]);
    else if (kind === "insert") parts.push([0, ...lines]);
    else parts.push([take(1 + below(3)), ...lines]);
  }
  if (characters.length) {
    const rest = take(characters.length);
    if (!loose && last === "keep") parts[parts.length - 1] += rest;
    else parts.push(rest);
  }
  return ChangeSet.fromJSON(parts);
}

const tight = (doc) => pick([fromSpecs, fromSpecs, composed, (text) => sections(text, false)])(doc);

/** Document with two changes of it, made in a random way. */
function start() {
  const doc = randomText(pick([0, 2, 5, 10, 20]));
  const way = below(10);
  if (way === 0) {
    const [first, a, b] = [tight(doc), tight(doc), tight(doc)];
    return { doc: applyTo(first, doc), a: a.map(first, chance(0.5)), b: b.map(first, chance(0.5)), exact: true };
  }
  if (way === 1) {
    const first = tight(doc);
    const after = applyTo(first, doc);
    return { doc: after, a: first.invert(toText(doc)), b: tight(after), exact: true };
  }
  if (way === 2) return { doc, a: sections(doc, true), b: sections(doc, chance(0.5)), exact: false };
  return { doc, a: tight(doc), b: tight(doc), exact: true };
}

function oneCase() {
  const { doc, a, b, exact } = start();
  const afterA = applyTo(a, doc);
  const afterB = applyTo(b, doc);
  const c = tight(afterA);
  const compose = a.compose(c);
  return {
    doc,
    exact,
    a,
    b,
    c,
    after_a: afterA,
    after_b: afterB,
    invert_a: a.invert(toText(doc)),
    compose,
    after_compose: applyTo(compose, doc),
    a_over_b: a.map(b),
    a_over_b_before: a.map(b, true),
    b_over_a: b.map(a),
    b_over_a_before: b.map(a, true),
    after_a_then_b: applyTo(b.map(a), afterA),
    after_b_then_a: applyTo(a.map(b), afterB),
  };
}

for (let left = cases; left > 0; left--) {
  const line = JSON.stringify(oneCase()) + "\n";
  if (!process.stdout.write(line)) await once(process.stdout, "drain");
}
