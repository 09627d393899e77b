// Outputs shown while a cell runs again: the old ones, greyed, until the first new one arrives.
import type { Output } from "../protocol/messages.ts";

export interface ShownOutputs {
  /** The execution that produced the outputs. */
  execution: string;
  outputs: Output[];
  isOld: boolean;
  /** The outputs were cleared. They are removed after a short delay without new ones, so that animations do not flicker. */
  isGoing: boolean;
}

export interface Now {
  execution: string;
  outputs: Output[];
  isFinished: boolean;
  /** True after `clear_output(wait=True)`. */
  waits: boolean;
}

export const CLEARING_MS = 200;

export function nextShown(before: ShownOutputs | undefined, now: Now | undefined): ShownOutputs | undefined {
  if (!now) return undefined;
  const { execution, outputs, isFinished, waits } = now;
  if (outputs.length > 0) return { execution, outputs, isOld: waits && !isFinished, isGoing: false };
  if (!before || isFinished) return undefined;
  const isSameRun = before.execution === execution;
  return { ...before, isOld: !isSameRun, isGoing: isSameRun };
}
