// A person's undo steps in the text of one cell, as known to this page. Each step is an undo group of the server, with its
// inverse change. The server undoes older steps (`Undo` with `cell_id`); see
// protocol/decisions/0020-one-undo-stack-per-cell.md.
import type { ChangeSet, Text } from "@codemirror/state";
import { newId } from "../transport/ids.ts";

/** Metadata of a text command: its undo group, and the group that it undoes or redoes. */
export interface How {
  group: string;
  undoes?: string;
  redoes?: string;
}

export interface Step {
  id: string;
  /** Inverse change, relative to the text after later steps are undone. Undefined: only the server can undo the step. */
  inverse: ChangeSet | undefined;
  /** Others deleted part of the step's text and may restore it, so the server must undo the step. */
  isTouched?: boolean;
}

/** Result of an undo: a change of the text, or a question to the server about one step or the latest it knows. */
export type Taken = { change: ChangeSet; how: How } | { ask: string | undefined };

/** Typing with shorter pauses belongs to one step. */
const PAUSE_MS = 1_500;
/** Maximum duration of one step. */
const BURST_MS = 20_000;
const MOST_STEPS = 100;

/** User events that extend the last step: typed letters and deletions. Paste, completion and moves start a new step. */
const JOINS = /^(input\.type|delete)(\.|$)/;

export class OwnSteps {
  undo: Step[] = [];
  redo: Step[] = [];
  #burst: { id: string; begun: number; last: number } | undefined;

  /** Records the person's change of the text `before`; returns its undo group. */
  typed(change: ChangeSet, before: Text, userEvent = "input.type", now = Date.now()): How {
    const inverse = change.invert(before);
    const top = this.undo.at(-1);
    const burst = this.#burst;
    this.redo = [];
    if (top?.inverse && burst && top.id === burst.id && goesOn(burst, userEvent, now) && isAdjacent(top.inverse, change)) {
      top.inverse = inverse.compose(top.inverse);
      burst.last = now;
      return { group: top.id };
    }
    const id = newId();
    this.#burst = JOINS.test(userEvent) ? { id, begun: now, last: now } : undefined;
    this.#push({ id, inverse });
    return { group: id };
  }

  /** Ends the current step. */
  pause(): void {
    this.#burst = undefined;
  }

  /** Takes the last undo or redo step. `shown` is the displayed text; `mayAsk` is true if the server can be asked. */
  take(kind: "undo" | "redo", shown: Text, mayAsk = true): Taken {
    this.#burst = undefined;
    const [from, to] = kind === "undo" ? [this.undo, this.redo] : [this.redo, this.undo];
    for (let step = from.pop(); step; step = from.pop()) {
      if (!step.inverse || (step.isTouched && mayAsk)) {
        from.push(step);
        return { ask: step.id };
      }
      // A step overwritten by others has nothing to undo.
      if (step.inverse.empty) continue;
      const group = newId();
      to.push({ id: group, inverse: step.inverse.invert(shown) });
      return { change: step.inverse, how: kind === "undo" ? { group, undoes: step.id } : { group, redoes: step.id } };
    }
    return { ask: undefined };
  }

  /** Maps the steps over a change made elsewhere. `undoes` is the group that the change undoes. */
  map(change: ChangeSet, undoes?: string | null): void {
    this.undo = mapped(this.undo, change, undoes);
    this.redo = mapped(this.redo, change, undoes);
  }

  /**
   * Records the person's step from another tab or command; call before `map`. `kind` tells undo or redo, if known. `unrecorded`
   * has the steps that the server records later; this step is inserted below them.
   */
  noted(group: string, undoes?: string | null, kind?: "undo" | "redo", unrecorded: readonly string[] = []): void {
    const has = (steps: Step[], id: string | null | undefined) => steps.some((step) => step.id === id);
    if (has(this.undo, group) || has(this.redo, group)) return;
    this.#burst = undefined;
    const step = { id: group, inverse: undefined };
    if (!undoes) {
      this.redo = [];
      this.#push(step, unrecorded);
    } else if (kind === "redo" || (!kind && has(this.redo, undoes))) this.#push(step, unrecorded);
    else insertBelow(this.redo, step, unrecorded);
  }

  /** Removes a step that the server no longer has. */
  forget(id: string): void {
    this.undo = without(this.undo, id);
    this.redo = without(this.redo, id);
  }

  #push(step: Step, unrecorded: readonly string[] = []): void {
    insertBelow(this.undo, step, unrecorded);
    if (this.undo.length > MOST_STEPS) this.undo.shift();
  }
}

/** Inserts a step on top, or below the steps with these ids. */
function insertBelow(steps: Step[], step: Step, ids: readonly string[]): void {
  const index = steps.findIndex(({ id }) => ids.includes(id));
  steps.splice(index < 0 ? steps.length : index, 0, step);
}

function goesOn({ begun, last }: { begun: number; last: number }, userEvent: string, now: number): boolean {
  if (userEvent === "input.type.compose") return true;
  return JOINS.test(userEvent) && now - last < PAUSE_MS && now - begun < BURST_MS;
}

/** True if a change touches the text that the previous step changed. */
function isAdjacent(inverse: ChangeSet, change: ChangeSet): boolean {
  const ranges: number[][] = [];
  inverse.iterChangedRanges((from, to) => ranges.push([from, to]));
  let isTouching = false;
  change.iterChangedRanges((from, to) => {
    isTouching ||= ranges.some(([start = 0, end = 0]) => from <= end && to >= start);
  });
  return isTouching;
}

/** Removes a step. Steps below it that depend on its change are removed too. */
function without(steps: Step[], id: string): Step[] {
  const index = steps.findIndex((step) => step.id === id);
  if (index < 0) return steps;
  const inverse = steps[index]?.inverse;
  return [...(inverse && !inverse.empty ? [] : steps.slice(0, index)), ...steps.slice(index + 1)];
}

/** Number of code units that a change deletes. */
function removed(change: ChangeSet): number {
  let units = 0;
  change.iterChanges((from, to) => (units += to - from));
  return units;
}

/**
 * Maps the steps over a change of the text, each relative to the text below the later steps. If the change undoes one of the
 * steps, the steps below it stay unchanged.
 */
function mapped(steps: readonly Step[], change: ChangeSet, undoes: string | null | undefined): Step[] {
  const above: Step[] = [];
  let over = change;
  for (let index = steps.length - 1; index >= 0; index -= 1) {
    const { id, inverse, isTouched } = steps[index] as Step;
    if (id === undoes) {
      if (!inverse) continue;
      // If the server's undo differs from the local inverse, older steps are left to the server.
      const isSame = JSON.stringify(over) === JSON.stringify(inverse);
      return [...(isSame ? steps.slice(0, index) : []), ...above];
    }
    if (!inverse) {
      above.unshift({ id, inverse });
      continue;
    }
    const carried = inverse.map(over);
    above.unshift({ id, inverse: carried, isTouched: isTouched === true || removed(carried) < removed(inverse) });
    over = over.map(inverse, true);
  }
  return above;
}
