// State of the page's one inline question. `inline.ts` asks and answers it, and is loaded when the field is first opened. A question
// that was sent is stored for this tab, so that a reload loses no proposal.
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
  /** Redaction epoch of the notebook; absent: 0. */
  epoch?: number;
}

type TabStorage = Pick<Storage, "getItem" | "setItem" | "removeItem">;

const key = (place: string) => `notarium.inline.${place}`;

/** Stores a question that was sent; forgets one that was closed or is not sent yet. */
export function keepInline(place: string, asked: Inline | undefined, storage: TabStorage = sessionStorage): void {
  const isSent = asked && (asked.isSent === true || asked.proposal !== undefined || asked.answer !== undefined);
  try {
    if (isSent) storage.setItem(key(place), JSON.stringify(asked));
    else storage.removeItem(key(place));
  } catch {
    // Above the browser's storage quota: an earlier question must not stand for this one.
    storage.removeItem(key(place));
  }
}

export function keptInline(place: string, storage: TabStorage = sessionStorage): Inline | undefined {
  try {
    const value: unknown = JSON.parse(storage.getItem(key(place)) ?? "null");
    return isInline(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Removes questions from before a redaction, of all persons of this tab. */
export function forgetInlines(notebook: string, epoch: number, storage: Storage = sessionStorage): void {
  for (const name of Object.keys(storage)) {
    if (!name.startsWith(key(`${notebook}.`))) continue;
    const kept = keptInline(name.slice(key("").length), storage);
    if ((kept?.epoch ?? 0) < epoch) storage.removeItem(name);
  }
}

function isInline(value: unknown): value is Inline {
  const { cell, marked, conversation, question } = (value ?? {}) as Partial<Inline>;
  return [cell, marked, conversation, question].every((each) => typeof each === "string");
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

  /** Another person who signs in in this tab does not get the question. */
  get #place(): string {
    return `${this.#notebook.id}.${this.#notebook.session.userId ?? ""}`;
  }

  /** Shows the question of before a reload, if its cell is still there. */
  restore(): void {
    const kept = keptInline(this.#place);
    if (this.asked || !kept || !this.#notebook.replica.document.cells.has(kept.cell)) return;
    this.#conversations.set(kept.cell, kept.conversation);
    this.set(kept);
  }

  set(asked: Inline | undefined): void {
    const before = this.asked?.cell;
    this.asked = asked;
    keepInline(this.#place, asked && { ...asked, epoch: this.#notebook.replica.redactionEpoch });
    for (const cell of new Set([before, asked?.cell])) if (cell !== undefined) this.#notebook.touch(`cell:${cell}`);
  }
}

/** All lines that a selection touches; empty without a selection. */
function linesOf(source: string, { from, to }: { from: number; to: number }): string {
  if (from === to) return "";
  const end = source.indexOf("\n", to);
  return source.slice(source.lastIndexOf("\n", from - 1) + 1, end < 0 ? source.length : end);
}
