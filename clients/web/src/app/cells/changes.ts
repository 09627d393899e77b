// Minimal change from one text to another, so that concurrent edits elsewhere in the text survive.
import { diff } from "@codemirror/merge";
import { ChangeSet } from "@codemirror/state";

const LIMITS = { scanLimit: 500, timeout: 100 };

export function changesBetween(before: string, after: string): ChangeSet {
  const parts = diff(before, after, LIMITS).map(({ fromA, toA, fromB, toB }) => ({
    ...{ from: fromA, to: toA, insert: after.slice(fromB, toB) },
  }));
  return ChangeSet.of(parts, before.length);
}
