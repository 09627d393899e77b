// Keys that are pressed before the place that they are meant for is there: a cell that the server still inserts, an editor that is
// still loaded. They wait, and are played in their order when it is.

import { ChangeSet } from "@codemirror/state";
import type { Texts } from "../collab/texts.ts";

export type Press = Pick<KeyboardEvent, "key" | "code" | "ctrlKey" | "metaKey" | "altKey" | "shiftKey" | "repeat">;

/** Without a connection the place may not come for long: what was pressed for it is forgotten. A busy server gets this long. */
const LIMIT_MS = 10_000;

export class Ahead {
  /** Does what a key does; the page sets it. */
  play: (press: Press) => void = () => undefined;
  /** The place is there: where the focus goes now was meant. */
  act: () => void = () => undefined;
  #works = new Set<object>();
  #held: Press[] = [];
  #caret = { cell: "", at: 0 };

  get isWaiting(): boolean {
    return this.#works.size > 0;
  }

  /**
   * From now on keys wait for this; when it comes to nothing, they are forgotten. `arrive` goes to the place, and the keys follow
   * before the page renders: an editor that is mounted by then would not hear of them.
   */
  until<T>(work: Promise<T>, arrive: (done: T) => void = () => undefined): void {
    const mark = {};
    this.#works.add(mark);
    const end = (isDone: boolean) => {
      clearTimeout(timer);
      if (!this.#works.delete(mark)) return;
      if (!isDone) this.#held = [];
      this.#playAll();
    };
    const timer = setTimeout(() => end(false), LIMIT_MS);
    work.then(
      (done) => {
        this.act();
        arrive(done);
        end(Boolean(done));
      },
      () => end(false),
    );
  }

  hold(press: Press): void {
    this.#held.push(press);
  }

  /** Writes what a key writes into a cell whose editor is not there yet: the editor finds it there, and the caret behind it. */
  write(texts: Texts, cell: string, { key, ctrlKey, metaKey, altKey }: Press): void {
    const insert = key === "Enter" ? "\n" : key;
    if ([...insert].length !== 1 || ctrlKey || metaKey || altKey) return;
    const open = texts.open(cell, () => undefined);
    const from = Math.min(this.caret(cell) ?? 0, open.text.length);
    open.edit(ChangeSet.of({ from, insert }, open.text.length));
    open.close();
    this.#caret = { cell, at: from + insert.length };
  }

  /** Behind what was written ahead into a cell. */
  caret(cell: string): number | undefined {
    return this.#caret.cell === cell ? this.#caret.at : undefined;
  }

  /** The cell's editor is there: it has the caret now. */
  arrive(cell: string): number | undefined {
    const at = this.caret(cell);
    this.#caret = { cell: "", at: 0 };
    return at;
  }

  /** A key may begin the next work, for which those behind it wait. */
  #playAll(): void {
    while (!this.isWaiting) {
      const next = this.#held.shift();
      if (!next) return;
      this.play(next);
    }
  }
}
