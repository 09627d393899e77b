// State of the page's one inline question. `inline.ts` asks and answers it, and is loaded when the field is first opened.
import { newId } from "../../transport/ids.ts";
import type { OpenNotebook, Selection, Typing } from "./notebook.ts";

export interface Inline {
  cell: string;
  /** The marked lines; empty means the whole cell. */
  marked: string;
  conversation: string;
  question: string;
  /** The answering turn; `isSent` once the server has it. */
  turn?: string;
  isSent?: boolean;
  /** The source that the question is about, with its version. */
  before?: { source: string; version: number };
  /** Reason why there is no answer. */
  problem?: string;
  /** The proposed source of the cell. */
  proposal?: string;
  /** The answer in words, if it has no code. */
  answer?: string;
}

export class InlineField {
  asked: Inline | undefined;
  readonly #notebook: OpenNotebook & Selection & Typing;
  /** Conversation by cell, so that later questions continue it. */
  readonly #conversations = new Map<string, string>();

  constructor(notebook: OpenNotebook & Selection & Typing) {
    this.#notebook = notebook;
  }

  /** Opens the field for a question about a cell, with the marked lines. */
  open(cell: string): void {
    const { asked } = this;
    const { replica, focus, marked, texts } = this.#notebook;
    // An answer that has arrived or is pending gets the focus instead.
    if (asked?.cell === cell && (asked.turn !== undefined || asked.proposal !== undefined))
      return focus.take(document.querySelector<HTMLElement>(`#cell-${CSS.escape(cell)} .inline-question button`));
    const source = texts.shown(cell) ?? replica.document.cells.get(cell)?.source ?? "";
    const conversation = this.#conversations.get(cell) ?? newId();
    this.#conversations.set(cell, conversation);
    const lines = marked?.cell === cell ? linesOf(source, marked) : "";
    focus.open();
    this.set({ cell, marked: lines, conversation, question: "" });
  }

  set(asked: Inline | undefined): void {
    const before = this.asked?.cell;
    this.asked = asked;
    for (const cell of new Set([before, asked?.cell])) if (cell !== undefined) this.#notebook.touch(`cell:${cell}`);
  }
}

/** All lines that a selection touches; empty without a selection. */
function linesOf(source: string, { from, to }: { from: number; to: number }): string {
  if (from === to) return "";
  const end = source.indexOf("\n", to);
  return source.slice(source.lastIndexOf("\n", from - 1) + 1, end < 0 ? source.length : end);
}
