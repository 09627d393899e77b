// Functions that a new kernel lacks: from the event of its start, and in words.
import type { EventMessage } from "../../protocol/messages.ts";
import { sentenceOf } from "../../transport/refusals.ts";

export interface Missing {
  names: string[];
  cell_id?: string | null;
  reason: string;
}

/** Functions missing in a new kernel, which a person may register again. */
export function missingIn({ type, payload }: Pick<EventMessage, "type" | "payload">): Missing[] {
  if (type !== "KernelSessionStarted") return [];
  return (payload as { missing_functions?: Missing[] }).missing_functions ?? [];
}

export function missingWords({ names, reason }: Missing, cell: number): string {
  const which = names.length === 1 ? `the function ${names[0]}` : `the functions ${names.join(", ")}`;
  const then = cell > 0 ? `Run cell ${cell} again: ${reason}` : sentenceOf(reason).replace(/\.$/, "");
  return `The new kernel is missing ${which}. ${then}.`;
}
