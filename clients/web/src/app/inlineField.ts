// The one question that is asked in a cell of this page: where its field stands, and what became of it. How it is asked and answered is
// in `inline.ts`, which is loaded when the field is first wanted.
import { newId } from "../transport/ids.ts";
import type { Inline } from "./inline.ts";
import type { NotebookStore } from "./store.ts";

export class InlineField {
  asked: Inline | undefined;
  readonly #store: NotebookStore;
  /** By cell: what is asked later goes on from what was said. */
  readonly #conversations = new Map<string, string>();

  constructor(store: NotebookStore) {
    this.#store = store;
  }

  /** Opens the field for a question about a cell; what is marked there goes along. */
  open(cell: string): void {
    const { asked } = this;
    const { document: held, focus, marked, texts } = this.#store;
    // An answer that is there, or on its way, is gone to.
    if (asked?.cell === cell && (asked.turn !== undefined || asked.proposal !== undefined))
      return focus.take(document.querySelector<HTMLElement>(`#cell-${CSS.escape(cell)} .inline-question button`));
    const source = texts.shown(cell) ?? held.cells.get(cell)?.source ?? "";
    const conversation = this.#conversations.get(cell) ?? newId();
    this.#conversations.set(cell, conversation);
    const lines = marked?.cell === cell ? linesOf(source, marked) : "";
    focus.open();
    this.set({ cell, marked: lines, conversation, question: "" });
  }

  set(asked: Inline | undefined): void {
    const before = this.asked?.cell;
    this.asked = asked;
    for (const cell of new Set([before, asked?.cell])) if (cell !== undefined) this.#store.tell(`cell:${cell}`);
  }
}

/** All lines that a selection touches; nothing where nothing is selected. */
function linesOf(source: string, { from, to }: { from: number; to: number }): string {
  if (from === to) return "";
  const end = source.indexOf("\n", to);
  return source.slice(source.lastIndexOf("\n", from - 1) + 1, end < 0 ? source.length : end);
}
