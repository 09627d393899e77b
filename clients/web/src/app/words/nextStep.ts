// Words of the next undo or redo step.
import type { Document } from "../../protocol/document.ts";
import type { NextSteps } from "../../protocol/messages.ts";
import type { Groups } from "./steps.ts";

type NextStep = NonNullable<NextSteps["undo"]>;

/** Example: “Undo: deleted 2 cells”. */
export function nextStepWords(command: "undo" | "redo", next: NextStep, groups: Groups, { cells, order }: Document): string {
  const name = command === "undo" ? "Undo" : "Redo";
  const known = groups.words(next.correlation_id)?.replace(/^undid: /, "");
  const there = next.cells?.filter((id) => cells.has(id)) ?? [];
  const [only] = there;
  const cell = only === undefined || there.length > 1 ? undefined : `cell ${order.indexOf(only) + 1}`;
  const words =
    known ?? (there.length > 1 ? `your last change (${there.length} cells)` : `your last change${cell ? ` in ${cell}` : ""}`);
  return `${name}: ${cell ? words.replace(/\ba cell\b/, cell) : words}`;
}
