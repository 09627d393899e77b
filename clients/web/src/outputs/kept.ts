// Which outputs stand below a cell while it runs again: the old ones, greyed, until the first new one is there.
import type { Output } from "../protocol/messages.ts";

export interface Shown {
  /** Whose outputs they are. */
  execution: string;
  outputs: Output[];
  isOld: boolean;
  /** They were cleared: they go when nothing new comes at once, so that an animation does not flicker. */
  isGoing: boolean;
}

export interface Now {
  execution: string;
  outputs: Output[];
  isFinished: boolean;
  /** `clear_output(wait=True)`. */
  waits: boolean;
}

export const CLEARING_MS = 200;

export function nextShown(before: Shown | undefined, now: Now | undefined): Shown | undefined {
  if (!now) return undefined;
  const { execution, outputs, isFinished, waits } = now;
  if (outputs.length > 0) return { execution, outputs, isOld: waits && !isFinished, isGoing: false };
  if (!before || isFinished) return undefined;
  const isSameRun = before.execution === execution;
  return { ...before, isOld: !isSameRun, isGoing: isSameRun };
}
