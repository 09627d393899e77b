// Effects that a person's own code does not lead to: the agent refused them, and the person decides.
import type { Execution, RefusedEffect } from "../../protocol/messages.ts";
import { type RefusedPart, isExpected, refusedParts } from "./effectWords.ts";

/** True if the run was a person's and had such an effect. */
export function isSurprised({ effects, refused }: Pick<Execution, "effects" | "refused">): boolean {
  return (refused ?? []).length > 0 && isExpected(effects);
}

/** Example: “Your cell wants to delete `data.csv` and 2 more, though nothing in it says so.” In parts: before, target, after. */
export function surpriseWords(refused: RefusedEffect, isMine: boolean): [string, string, string] {
  const [{ verb, target, more }] = refusedParts([refused]) as [RefusedPart];
  return [`${isMine ? "Your" : "This"} cell wants to ${verb} `, target || "something", `${more}, though nothing in it says so.`];
}
