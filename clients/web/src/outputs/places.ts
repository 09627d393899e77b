// Places of a notebook's formulas: what each Markdown cell takes over from those above it.
import { takeFormulas } from "./maths.ts";
import { type FormulaPlace, definitionsIn, numbered } from "./equations.ts";

/** Places that one text adds. */
interface Added {
  definitions: string[];
  equations: number;
  /** Labels with their numbers, for a text whose first equation is 1. */
  labels: ReadonlyMap<string, string>;
  /** Labels whose numbers count. */
  counted: ReadonlySet<string>;
}

const NOTHING: Added = { definitions: [], equations: 0, labels: new Map(), counted: new Set() };
const known = new Map<string, Added>();
const MOST_KNOWN = 20_000;

/** True for a text that may have a formula. */
export const mayHaveFormulas = (text: string) => /\$|\\[([]|\\begin\{|\\(?:eq)?ref\{/.test(text);

function addedBy(text: string): Added {
  if (!/\\(?:begin|label|tag|[a-z]*def|let|[a-z]*newcommand|renewcommand|providecommand|DeclareMath)/.test(text)) return NOTHING;
  const before = known.get(text);
  if (before) return before;
  const added = readText(text);
  if (known.size >= MOST_KNOWN) known.clear();
  known.set(text, added);
  return added;
}

function readText(text: string): Added {
  const { formulas } = takeFormulas(text);
  // Numbered from two beginnings: what differs is a number, not a tag.
  const [first, second] = [1, 2].map((start) => {
    let next = start;
    const labels = new Map<string, string>();
    for (const { tex } of formulas) {
      const done = numbered(tex, next, labels);
      next = done.next;
      for (const [label, shown] of done.labels) labels.set(label, shown);
    }
    return { next, labels };
  });
  const labels = first?.labels ?? new Map<string, string>();
  const counted = new Set([...labels.keys()].filter((label) => second?.labels.get(label) !== labels.get(label)));
  return { definitions: formulas.flatMap(({ tex }) => definitionsIn(tex)), equations: (first?.next ?? 1) - 1, labels, counted };
}

/** The place of each text, by its name. References are those of all texts. */
export function placesOf(texts: Iterable<readonly [name: string, text: string]>): Map<string, FormulaPlace> {
  const references = new Map<string, string>();
  const places = new Map<string, FormulaPlace>();
  let definitions: readonly string[] = [];
  let number = 1;
  for (const [name, text] of texts) {
    places.set(name, { definitions, number, references });
    const added = addedBy(text);
    for (const [label, shown] of added.labels)
      references.set(label, added.counted.has(label) ? String(Number(shown) + number - 1) : shown);
    if (added.definitions.length > 0) definitions = [...definitions, ...added.definitions];
    number += added.equations;
  }
  return places;
}

/** The places, with those of before that are equal, so that cells whose formulas stay are not rendered again. */
export function keptPlaces(before: ReadonlyMap<string, FormulaPlace>, now: Map<string, FormulaPlace>): Map<string, FormulaPlace> {
  const shared = [before, now].map((places) => [...places.values()][0]?.references);
  const references = shared[0] && shared[1] && isSameMap(shared[0], shared[1]) ? shared[0] : shared[1];
  const areSame = remembered(isSameList);
  for (const [name, place] of now) {
    const old = before.get(name);
    const isSame = old?.number === place.number && old.references === references && areSame(old.definitions, place.definitions);
    now.set(name, old && isSame ? old : { ...place, references: references ?? place.references });
  }
  return now;
}

/** The last answer serves again: most cells share the lists of their neighbours. */
function remembered<T>(compare: (one: T, other: T) => boolean): (one: T, other: T) => boolean {
  let last: { one: T; other: T; answer: boolean } | undefined;
  return (one, other) => {
    if (!last || last.one !== one || last.other !== other) last = { one, other, answer: compare(one, other) };
    return last.answer;
  };
}

const isSameList = (one: readonly string[], other: readonly string[]) =>
  one === other || (one.length === other.length && one.every((each, at) => each === other[at]));

const isSameMap = (one: ReadonlyMap<string, string>, other: ReadonlyMap<string, string>) =>
  one.size === other.size && [...one].every(([key, value]) => other.get(key) === value);
