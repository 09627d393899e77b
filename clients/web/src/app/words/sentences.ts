// Words for facts about cells, with cell numbers instead of ids.
import type { Rejected } from "../../transport/outbox.ts";
import type { StaleReason, TargetChange } from "../../protocol/rest.ts";

export type SentencePart = { text: string } | { code: string } | { cell: string };

/** Reasons that are about other cells or names. */
const WITH_OTHERS = [
  "circle",
  "ran_since",
  "cell_stale",
  "cell_failed",
  "skipped",
  "overwritten",
  "other_value",
  "may_be_stale",
] as const;

/** Reasons that concern the cell alone. */
const ALONE = {
  not_run: "not run yet",
  kernel_gone: "its kernel has stopped",
  edited: "edited since last run",
  failed: "its last run failed",
  cancelled: "its last run was cancelled",
  lost: "its last run was lost",
  restored: "restored without its variables",
} satisfies Record<Exclude<StaleReason["kind"], (typeof WITH_OTHERS)[number]>, string>;

/** Reason why a cell is stale, in parts, so that cells can be links. */
export function staleParts(reason: StaleReason): SentencePart[] {
  switch (reason.kind) {
    case "circle":
      return circleParts(reason);
    case "ran_since":
      return [{ cell: reason.cell_id }, { text: " has run since" }];
    case "cell_stale":
      return [{ text: "depends on " }, { cell: reason.cell_id }];
    case "cell_failed":
      return [reason.cell_id ? { cell: reason.cell_id } : { text: "a cell it depends on" }, { text: " failed" }];
    case "skipped":
      return [{ text: "skipped: " }, { cell: reason.cell_id }, { text: " failed" }];
    case "overwritten":
      return reason.cell_id
        ? [{ cell: reason.cell_id }, { text: " has overwritten " }, { code: reason.name }]
        : [{ code: reason.name }, { text: " was removed from the kernel" }];
    case "other_value":
      return reason.cell_id
        ? [{ text: "read " }, { code: reason.name }, { text: " from " }, { cell: reason.cell_id }]
        : [{ text: "ran after " }, { code: reason.name }, { text: " was removed" }];
    case "may_be_stale":
      return reason.cell_id
        ? [{ text: "possibly: " }, { cell: reason.cell_id }, { text: " may have changed " }, { code: reason.name }]
        : [{ text: "possibly: another cell overwrites " }, { code: reason.name }];
    default:
      return [{ text: ALONE[reason.kind] }];
  }
}

/** Example: “circular dependency: cell 5 (left) → cell 6 (right) → cell 5”. */
function circleParts({ cells, more = 0 }: Extract<StaleReason, { kind: "circle" }>): SentencePart[] {
  const steps = cells.flatMap(({ cell_id, name }) => [{ cell: cell_id }, { text: " (" }, { code: name }, { text: ") → " }]);
  const start = cells.slice(0, 1).map(({ cell_id }) => ({ cell: cell_id }));
  return [{ text: "circular dependency: " }, ...steps, ...(more > 0 ? [{ text: `${more} more → ` }] : []), ...start];
}

/** Change that makes a tool call impossible; follows “No longer possible: ”. */
export function changeWords(change: TargetChange, order: readonly string[]): string {
  switch (change.kind) {
    case "cell_deleted":
      return "the cell was deleted";
    case "cell_changed":
      return `cell ${order.indexOf(change.cell_id) + 1} has changed since`;
    case "code_changed":
      return "the notebook’s code has changed since";
    case "kernel_gone":
      return "the kernel has stopped";
    case "function_changed":
      return `${change.name} was registered again`;
    case "function_gone":
      return `${change.name} is no longer available`;
    case "unknown_target":
      return "the server can’t check whether its target has changed";
  }
}

/** A sentence from the record or of a notice, with cell numbers instead of ids, and without the backticks of names. */
export function numbered(sentence: string, order: readonly string[]): string {
  return sentence.replace(/`([^`]+)`|(?:\bcell )?(?<![\w-])([\w-]{4,64})/g, (all, code?: string, id?: string) => {
    const number = id === undefined ? 0 : order.indexOf(id) + 1;
    return code ?? (number === 0 ? all : `cell ${number}`);
  });
}

/** Words of a refusal; a circle of dependencies names its cells by their numbers. */
export function rejectionWords({ code, message, rejection: { details } }: Rejected, order: readonly string[]): string {
  if (code !== "dependency_cycle" || details?.kind !== "cells") return message;
  const names = details.cells.map((id) => `cell ${order.indexOf(id) + 1}`);
  return `Nothing ran: circular dependency (${[...names, names[0]].join(" → ")}). Rename a variable, or turn reactive execution off.`;
}
