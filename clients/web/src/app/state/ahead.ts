// Type-ahead buffer: keys pressed before their target exists (a cell being inserted, an editor being loaded). They are replayed
// in order when the target arrives.

import { ChangeSet } from "@codemirror/state";
import type { Texts } from "../../collab/texts.ts";

export type Press = Pick<KeyboardEvent, "key" | "code" | "ctrlKey" | "metaKey" | "altKey" | "shiftKey" | "repeat">;

/**
 * Timeout of the wait, generous for a busy server. Buffered keys are then discarded, for example when the connection is lost.
 */
const LIMIT_MS = 10_000;

export class Ahead {
  /** Handles one key; set by the page. */
  play: (press: Press) => void = () => undefined;
  /** Called when the target arrives, so that the focus change counts as the person's. */
  act: () => void = () => undefined;
  #works = new Set<object>();
  #held: Press[] = [];
  #caret = { cell: "", at: 0 };

  get isWaiting(): boolean {
    return this.#works.size > 0;
  }

  /**
   * Buffers keys until `work` ends; discards them if it fails or times out. `arrive` focuses the target. The keys are replayed
   * before the next render, because an editor mounted by then would miss them.
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

  /** Writes a key's character into a cell whose editor is not mounted yet; the editor then opens with that text and caret. */
  write(texts: Texts, cell: string, { key, ctrlKey, metaKey, altKey }: Press): void {
    const insert = key === "Enter" ? "\n" : key;
    if ([...insert].length !== 1 || ctrlKey || metaKey || altKey) return;
    const open = texts.open(cell, () => undefined);
    const from = Math.min(this.caret(cell) ?? 0, open.text.length);
    open.edit(ChangeSet.of({ from, insert }, open.text.length));
    open.close();
    this.#caret = { cell, at: from + insert.length };
  }

  /** Sets the caret of a cell whose editor is not mounted yet. */
  stand(cell: string, at: number): void {
    this.#caret = { cell, at };
  }

  /** The caret position after the text written ahead into a cell. */
  caret(cell: string): number | undefined {
    return this.#caret.cell === cell ? this.#caret.at : undefined;
  }

  /** Called when the cell's editor is mounted; returns the caret position and forgets it. */
  arrive(cell: string): number | undefined {
    const at = this.caret(cell);
    this.#caret = { cell: "", at: 0 };
    return at;
  }

  /** A replayed key may start new work; the remaining keys then wait for it. */
  #playAll(): void {
    while (!this.isWaiting) {
      const next = this.#held.shift();
      if (!next) return;
      this.play(next);
    }
  }
}
