// What assistants propose to do to cells that are there: calls that wait for a person.
import type { ToolCall } from "../protocol/messages.ts";

export type Proposals = ReadonlyMap<string, [string, ToolCall][]>;

export function proposalsIn(waiting: readonly [string, ToolCall][], isThere: (cell: string) => boolean): Proposals {
  const found = new Map<string, [string, ToolCall][]>();
  for (const [id, call] of waiting) {
    const { cell_id } = call.arguments as { cell_id?: unknown };
    if (typeof cell_id !== "string" || !isThere(cell_id)) continue;
    found.set(cell_id, [...(found.get(cell_id) ?? []), [id, call]]);
  }
  return found;
}

/** What one may confirm all at once: that can be undone, and reaches nothing outside. */
export function confirmedTogether(proposals: Proposals): [string, ToolCall][] {
  return [...proposals.values()].flat().filter(([, { risk }]) => risk === "edit" || risk === "read");
}
