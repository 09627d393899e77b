// The text of a cell of letters of which there is no second, by what each group did: a letter is there as long as the group stands
// that wrote it, and none that stands has deleted it. It is the server's undo in tests, and what the page's is held against.
import { ChangeSet } from "@codemirror/state";
import type { ChangeSet as Wire, EventMessage } from "../../src/protocol/messages.ts";
import { toText } from "../../src/collab/text.ts";
import type { Undoing } from "./server.ts";

interface Letter {
  by: string;
  deletedBy: Set<string>;
}

/** A step of somebody: under which id it is undone, and which group it made stand or fall. */
interface Step {
  id: string;
  group: string;
}

export class Letters implements Undoing {
  readonly letters = new Map<string, Letter>();
  /** A writing was undone that others had deleted, and the deletion was undone then. */
  hasStrayed = false;
  /** All letters, those that are not shown among them. */
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

  /** What is shown when the last of these groups that still has an effect is taken back or done again. */
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

  /** Letter by letter, so that what stands stays. */
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

  /** It has no effect any more: it is undone all the same. */
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

  /** Brings the letters to what the text is after an event. */
  #follow(text: string, id: string, isStep: boolean): void {
    const is = new Set(text);
    for (const letter of this.#order) {
      if (is.has(letter) === this.#isShown(letter)) continue;
      // What others took back meanwhile comes back by the hand of who undid last, and is theirs.
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
