// Differences of two texts: a word diff for display, and a minimal change that keeps concurrent edits elsewhere in the text.
import { diff, presentableDiff } from "@codemirror/merge";
import { ChangeSet, Text } from "@codemirror/state";

export interface Segment {
  kind: "same" | "added" | "removed" | "left out";
  text: string;
}

/** Bounds of the diff: without them long texts take seconds. */
const LIMITS = { scanLimit: 500, timeout: 100 };
/** Context lines shown on each side of a change. */
const AROUND = 3;

export function diffOf(before: string, after: string): Segment[] {
  const segments: Segment[] = [];
  let at = 0;
  const add = (kind: Segment["kind"], text: string) => text !== "" && segments.push({ kind, text });
  for (const { fromA, toA, fromB, toB } of presentableDiff(before, after, LIMITS)) {
    add("same", after.slice(at, fromB));
    add("removed", before.slice(fromA, toA));
    add("added", after.slice(fromB, toB));
    at = toB;
  }
  add("same", after.slice(at));
  return segments.flatMap((segment, index) => shorten(segment, index === 0, index === segments.length - 1));
}

/** Shortens unchanged text to the lines next to a change; the first and last segments have one such side. */
function shorten(segment: Segment, isFirst: boolean, isLast: boolean): Segment[] {
  if (segment.kind !== "same") return [segment];
  const lines = segment.text.split("\n");
  const [head, tail] = [isFirst ? 0 : AROUND, isLast ? 0 : AROUND];
  const left = lines.length - head - tail;
  if ((isFirst && isLast) || left < 3) return [segment];
  const parts: Segment[] = [
    { kind: "same", text: lines.slice(0, head).join("\n") + (head > 0 ? "\n" : "") },
    { kind: "left out", text: `${left} lines` },
    { kind: "same", text: tail > 0 ? `\n${lines.slice(-tail).join("\n")}` : "" },
  ];
  return parts.filter(({ text }) => text !== "");
}

const CHANGE_LIMITS = { scanLimit: 500, timeout: 100 };

/** Minimal change from one text to another, so that concurrent edits elsewhere in the text survive. */
export function changesBetween(before: string, after: string): ChangeSet {
  const parts = diff(before, after, CHANGE_LIMITS).map(({ fromA, toA, fromB, toB }) => ({
    ...{ from: fromA, to: toA, insert: after.slice(fromB, toB) },
  }));
  return ChangeSet.of(parts, before.length);
}

/** Puts one person's change of a text into the text as others have changed it meanwhile; both changes survive. */
export function mergedInto(current: string, base: string, mine: string): string {
  const theirs = changesBetween(base, current);
  return changesBetween(base, mine)
    .map(theirs)
    .apply(Text.of(current.split("\n")))
    .toString();
}
