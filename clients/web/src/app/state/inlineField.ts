// State of the page's one inline question. `inline.ts` asks and answers it, and is loaded when the field is first opened.
import { newId } from "../../transport/ids.ts";
import type { Inline } from "./inline.ts";
import type { NotebookStore } from "./store.ts";

export class InlineField {
  asked: Inline | undefined;
  readonly #store: NotebookStore;
  /** Conversation by cell, so that later questions continue it. */
  readonly #conversations = new Map<string, string>();

  constructor(store: NotebookStore) {
    this.#store = store;
  }

  /** Opens the field for a question about a cell, with the marked lines. */
  open(cell: string): void {
    const { asked } = this;
    const { document: held, focus, marked, texts } = this.#store;
    // An answer that has arrived or is pending gets the focus instead.
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

/** All lines that a selection touches; empty without a selection. */
function linesOf(source: string, { from, to }: { from: number; to: number }): string {
  if (from === to) return "";
  const end = source.indexOf("\n", to);
  return source.slice(source.lastIndexOf("\n", from - 1) + 1, end < 0 ? source.length : end);
}
