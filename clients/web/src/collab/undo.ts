// A person's own steps in the text of one cell, as far as this page has seen them: each is an undo group of the server's, with the
// change that takes it back. What stands below them is the server's to undo (`Undo` with `cell_id`); see
// protocol/decisions/0020-one-undo-stack-per-cell.md.
import type { ChangeSet, Text } from "@codemirror/state";
import { newId } from "../transport/ids.ts";

/** With which command a change goes: its group, and what it takes back. */
export interface How {
  group: string;
  undoes?: string;
  redoes?: string;
}

export interface Step {
  id: string;
  /** Of the text as it is when the steps above are taken back. Absent: only the server can take it back. */
  inverse: ChangeSet | undefined;
  /** Others have deleted some of what it wrote, and may bring it back: the server knows whose it is. */
  isTouched?: boolean;
}

/** What a press comes to: a change of the text, or a question to the server; of one step, or of what it knows. */
export type Taken = { change: ChangeSet; how: How } | { ask: string | undefined };

/** One step holds what was typed with pauses shorter than this, … */
const PAUSE_MS = 1_500;
/** … and at most so long. */
const BURST_MS = 20_000;
const MOST_STEPS = 100;

/** What goes on with the step before: letters and deletions. What is pasted, completed or moved is a step of its own. */
const JOINS = /^(input\.type|delete)(\.|$)/;

export class OwnSteps {
  undo: Step[] = [];
  redo: Step[] = [];
  #burst: { id: string; begun: number; last: number } | undefined;

  /** Own text: the group that it goes with. `before` is the text that it changes. */
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

  /** What was typed until now is a step of its own. */
  pause(): void {
    this.#burst = undefined;
  }

  /** Takes the last step back, or the last undo. `shown` is the text as it is. `mayAsk`: the server can be asked. */
  take(kind: "undo" | "redo", shown: Text, mayAsk = true): Taken {
    this.#burst = undefined;
    const [from, to] = kind === "undo" ? [this.undo, this.redo] : [this.redo, this.undo];
    for (let step = from.pop(); step; step = from.pop()) {
      if (!step.inverse || (step.isTouched && mayAsk)) {
        from.push(step);
        return { ask: step.id };
      }
      // What others have overwritten has nothing to take back.
      if (step.inverse.empty) continue;
      const group = newId();
      to.push({ id: group, inverse: step.inverse.invert(shown) });
      return { change: step.inverse, how: kind === "undo" ? { group, undoes: step.id } : { group, redoes: step.id } };
    }
    return { ask: undefined };
  }

  /** Another's change of what is shown, or one of mine by other means. `undoes`: the group that it takes back. */
  map(change: ChangeSet, undoes?: string | null): void {
    this.undo = mapped(this.undo, change, undoes);
    this.redo = mapped(this.redo, change, undoes);
  }

  /**
   * A step of mine that came by other means: another tab, a command. Called before `map`. `kind`: what it is, where that is known.
   * `unrecorded`: the steps that the server records after this one. This one goes below them.
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

  /** The server has no such step any more. */
  forget(id: string): void {
    this.undo = without(this.undo, id);
    this.redo = without(this.redo, id);
  }

  #push(step: Step, unrecorded: readonly string[] = []): void {
    insertBelow(this.undo, step, unrecorded);
    if (this.undo.length > MOST_STEPS) this.undo.shift();
  }
}

/** Puts a step on top, or below those with these ids. */
function insertBelow(steps: Step[], step: Step, ids: readonly string[]): void {
  const index = steps.findIndex(({ id }) => ids.includes(id));
  steps.splice(index < 0 ? steps.length : index, 0, step);
}

function goesOn({ begun, last }: { begun: number; last: number }, userEvent: string, now: number): boolean {
  if (userEvent === "input.type.compose") return true;
  return JOINS.test(userEvent) && now - last < PAUSE_MS && now - begun < BURST_MS;
}

/** Whether a change touches the text that the step before it has made. */
function isAdjacent(inverse: ChangeSet, change: ChangeSet): boolean {
  const ranges: number[][] = [];
  inverse.iterChangedRanges((from, to) => ranges.push([from, to]));
  let isTouching = false;
  change.iterChangedRanges((from, to) => {
    isTouching ||= ranges.some(([start = 0, end = 0]) => from <= end && to >= start);
  });
  return isTouching;
}

/** Without a step; without those below it too, where they stand on what it would have changed. */
function without(steps: Step[], id: string): Step[] {
  const index = steps.findIndex((step) => step.id === id);
  if (index < 0) return steps;
  const inverse = steps[index]?.inverse;
  return [...(inverse && !inverse.empty ? [] : steps.slice(0, index)), ...steps.slice(index + 1)];
}

/** How many units a change takes out. */
function removed(change: ChangeSet): number {
  let units = 0;
  change.iterChanges((from, to) => (units += to - from));
  return units;
}

/**
 * The steps after a change of the text: each is carried over what the change is to the text below those above it. Where the change
 * is one of them taken back, those below stand as they are.
 */
function mapped(steps: readonly Step[], change: ChangeSet, undoes: string | null | undefined): Step[] {
  const above: Step[] = [];
  let over = change;
  for (let index = steps.length - 1; index >= 0; index -= 1) {
    const { id, inverse, isTouched } = steps[index] as Step;
    if (id === undoes) {
      if (!inverse) continue;
      // Where the server took back something else than this page would have, what is below is the server's.
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
