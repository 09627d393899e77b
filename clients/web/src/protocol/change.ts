// Text changes as they cross the wire: CodeMirror's ChangeSet JSON, in UTF-16 units.
import type { ChangeSet } from "./messages.ts";

/** The text after a change; undefined where the change does not fit the text. */
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
