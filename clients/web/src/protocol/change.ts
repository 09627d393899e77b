// Text changes in the wire format: CodeMirror's ChangeSet JSON, in UTF-16 units.
import type { ChangeSet } from "./messages.ts";

/** Text after a change; undefined if the change does not fit the text. */
export function applyChange(source: string, change: ChangeSet): string | undefined {
  let at = 0;
  let text = "";
  for (const section of change) {
    const length = typeof section === "number" ? section : section[0];
    if (typeof section === "number") text += source.slice(at, at + length);
    else text += section.slice(1).join("\n");
    at += length;
  }
  return at === source.length ? text : undefined;
}

/** Range `[start, end]` after a change: text inserted at its edges stays outside, and a deleted range becomes empty. */
export function mapRange([start, end]: [number, number], change: ChangeSet): [number, number] {
  const mapped = mapPosition(start, change, true);
  return [mapped, Math.max(mapPosition(end, change, false), mapped)];
}

/** Same as CodeMirror's `mapPos`; a position beyond the end maps to the end of the new text. */
function mapPosition(position: number, change: ChangeSet, after: boolean): number {
  let [old, now] = [0, 0];
  for (const section of change) {
    const isKept = typeof section === "number";
    const length = isKept ? section : section[0];
    const inserted = isKept ? length : section.slice(1).join("\n").length;
    const end = old + length;
    if (isKept && end > position) return now + position - old;
    const isInside = end > position || (end === position && !after && length === 0);
    if (!isKept && isInside) return position === old || !after ? now : now + inserted;
    now += inserted;
    old = end;
  }
  return now;
}
