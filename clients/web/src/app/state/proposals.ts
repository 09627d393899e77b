// Proposals: assistants' calls that wait for a person, by the existing cell that they would change.
import type { ToolCall } from "../../protocol/messages.ts";

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

/** Calls that may be confirmed together, because their risk is `edit` or `read`. */
export function confirmedTogether(proposals: Proposals): [string, ToolCall][] {
  return [...proposals.values()].flat().filter(([, { risk }]) => risk === "edit" || risk === "read");
}
