// Model of undo for a text of unique letters. A letter is shown while its writing group is in effect and no group in effect has
// deleted it. Tests use it as the server's undo and compare the page's with it.
import { ChangeSet } from "@codemirror/state";
import type { ChangeSet as Wire, EventMessage } from "../../src/protocol/messages.ts";
import { toText } from "../../src/collab/text.ts";
import type { Undoing } from "./server.ts";

interface Letter {
  by: string;
  deletedBy: Set<string>;
}

/** Undo or redo step of a person: the id by which it is undone, and the group that it affects. */
interface Step {
  id: string;
  group: string;
}

export class Letters implements Undoing {
  readonly letters = new Map<string, Letter>();
  /** True if an insertion was undone that others had deleted, and then the deletion was undone. The model no longer applies. */
  hasStrayed = false;
  /** All letters in order, including hidden ones. */
  #order: string[] = [];
  readonly #fallen = new Set<string>();
  readonly #stacks = new Map<string, { undo: Step[]; redo: Step[] }>();

  get shown(): string {
    return this.#order.filter((letter) => this.#isShown(letter)).join("");
  }

  #isShown(letter: string): boolean {
    const { by, deletedBy } = this.letters.get(letter) as Letter;
    return !this.#fallen.has(by) && [...deletedBy].every((group) => this.#fallen.has(group));
  }

  #stacksOf(user: string) {
    const known = this.#stacks.get(user) ?? { undo: [], redo: [] };
    this.#stacks.set(user, known);
    return known;
  }

  takenBack(user: string, { undoes, redoes }: { undoes?: string | null; redoes?: string | null }): string | undefined {
    if (undoes) return undoes;
    return this.#stacksOf(user).redo.some(({ id }) => id === redoes) ? (redoes ?? undefined) : undefined;
  }

  /** Text after the undo or redo of the last step that still changes the text. */
  after(user: string, kind: "undo" | "redo"): { shown: string; step: Step } | undefined {
    const steps = this.#stacksOf(user)[kind];
    const now = this.shown;
    for (const step of steps.toReversed()) {
      const shown = this.#with(step.group, kind === "redo", () => this.shown);
      if (shown !== now) return { shown, step };
    }
    return undefined;
  }

  #with<T>(group: string, stands: boolean, look: () => T): T {
    const did = this.#fallen.has(group);
    this.#set(group, stands);
    const result = look();
    this.#set(group, !did);
    return result;
  }

  #set(group: string, stands: boolean): void {
    if (stands) this.#fallen.delete(group);
    else this.#fallen.add(group);
  }

  step(user: string, kind: "undo" | "redo", id?: string): { change: Wire; undoes: string } | undefined {
    const named = id === undefined ? undefined : this.#stacksOf(user).undo.find((step) => step.id === id);
    if (id !== undefined && !named) return undefined;
    if (named && this.#with(named.group, false, () => this.shown) === this.shown) return this.#skip(user, named);
    const shown = named ? this.#with(named.group, false, () => this.shown) : this.after(user, kind)?.shown;
    const step = named ?? this.after(user, kind)?.step;
    if (shown === undefined || !step) return undefined;
    return { change: this.#changeTo(new Set(shown)).toJSON() as Wire, undoes: step.id };
  }

  /** Change to this set of shown letters, letter by letter, so that others are not touched. */
  #changeTo(after: Set<string>): ChangeSet {
    const changes: { from: number; to?: number; insert?: string }[] = [];
    let at = 0;
    for (const letter of this.#order) {
      const isShown = this.#isShown(letter);
      if (isShown && !after.has(letter)) changes.push({ from: at, to: at + 1 });
      if (!isShown && after.has(letter)) changes.push({ from: at, insert: letter });
      if (isShown) at += 1;
    }
    return ChangeSet.of(changes, at);
  }

  /** Marks a step without effect as undone. */
  #skip(user: string, step: Step): undefined {
    const { undo, redo } = this.#stacksOf(user);
    undo.splice(undo.indexOf(step), 1);
    redo.push({ id: `skipped-${step.id}`, group: step.group });
    this.#set(step.group, false);
  }

  note(event: EventMessage): void {
    const { undoes, correlation_id: id } = event;
    const { undo, redo } = this.#stacksOf((event.actor as { id: string }).id);
    const change = ChangeSet.fromJSON((event.payload as { change: Wire }).change);
    const after = change.apply(toText(this.shown)).toString();
    if (!undoes) {
      redo.length = 0;
      if (!undo.some((step) => step.id === id)) undo.push({ id, group: id });
    } else {
      const isRedo = redo.some((step) => step.id === undoes);
      const [from, to] = isRedo ? [redo, undo] : [undo, redo];
      const step = from.find((each) => each.id === undoes) ?? { id: undoes, group: undoes };
      if (from.includes(step)) from.splice(from.indexOf(step), 1);
      to.push({ id, group: step.group });
      this.#set(step.group, isRedo);
    }
    this.#follow(after, id, undoes !== null && undoes !== undefined);
  }

  /** Updates the letters to the text after an event. */
  #follow(text: string, id: string, isStep: boolean): void {
    const is = new Set(text);
    for (const letter of this.#order) {
      if (is.has(letter) === this.#isShown(letter)) continue;
      // A letter that others had undone returns with this event and belongs to its group.
      if (is.has(letter)) {
        this.letters.set(letter, { by: id, deletedBy: new Set() });
        this.hasStrayed = true;
      } else if (!isStep || this.hasStrayed) this.letters.get(letter)?.deletedBy.add(id);
      else throw new Error(`an undo has taken ${letter}, which stands`);
    }
    const hidden = this.#order.filter((letter) => !is.has(letter));
    const places = new Map(hidden.map((letter) => [letter, this.#order[this.#order.indexOf(letter) - 1]]));
    for (const letter of text) if (!this.letters.has(letter)) this.letters.set(letter, { by: id, deletedBy: new Set() });
    this.#order = [...text];
    for (const letter of hidden) {
      const before = places.get(letter);
      this.#order.splice(before === undefined ? 0 : this.#order.indexOf(before) + 1, 0, letter);
    }
  }
}
