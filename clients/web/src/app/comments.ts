// Comments: which cell has which threads, what is being written, and what is on its way. Knows no DOM.
import type { Actor, Comment, CommentTarget, EventMessage, Thread } from "../protocol/messages.ts";
import { newId } from "../transport/ids.ts";
import { Rejected } from "../transport/outbox.ts";
import { serverNow } from "./clock.ts";
import { see, seenAt } from "./seen.ts";
import type { NotebookStore } from "./store.ts";
import { kindOf } from "./words.ts";

/** A stretch of a cell's text, as it is shown. */
export interface Marked {
  cell: string;
  from: number;
  to: number;
}

/** A thread that is about to begin. */
export interface Draft {
  cell: string;
  marked: (Marked & { quote: string; base: number | undefined }) | undefined;
}

/** What the server has not confirmed. */
export interface Unsent {
  id: string;
  target: { thread: string } | Draft;
  text: string;
  mentions: string[];
  /** Why the server did not take it. */
  error?: string;
}

export type Shown = "open" | "resolved";

export class Comments {
  /** What is being begun. */
  draft: Draft | undefined;
  /** The thread that somebody went to. */
  thread: string | undefined;
  /** Its field takes the focus once. */
  #focus: string | undefined;
  shown: Shown = "open";
  unsent: readonly Unsent[] = [];
  /** What others said last, for who hears the page. */
  news = "";
  /** Who looks at the panel has seen what was said up to then. */
  #seen: number;
  readonly #store: NotebookStore;
  #byCell: ReadonlyMap<string, [string, Thread][]> = new Map();

  constructor(store: NotebookStore) {
    this.#store = store;
    // What was said before somebody's first visit is no news.
    this.#seen = seenAt(store.session.userId, store.id) ?? serverNow();
    store.replica.changed.add(({ parts }) => parts.has("comments") && this.#sort());
    store.replica.folded.add((event) => {
      if (event.type === "CommentPosted") void this.#hear(event);
    });
  }

  /** The threads of a cell: those on its text in the order of the text, after those on the whole cell. */
  of(cell: string): [string, Thread][] {
    return this.#byCell.get(cell) ?? [];
  }

  /** The cells whose threads are others now are shown anew. */
  #sort(): void {
    const before = this.#byCell;
    this.#byCell = byCell(this.#store.document.threads);
    for (const cell of new Set([...before.keys(), ...this.#byCell.keys()]))
      if (!isSame(before.get(cell), this.#byCell.get(cell))) this.#store.tell(`cell:${cell}`);
  }

  /** All that are shown, in the order of the notebook. */
  get all(): [string, Thread][] {
    const isShown = ([, { resolved }]: [string, Thread]) => (resolved ? "resolved" : "open") === this.shown;
    return this.#store.document.order.flatMap((cell) => this.of(cell).filter(isShown));
  }

  open(cell: string): number {
    return this.of(cell).filter(([, { resolved }]) => !resolved).length;
  }

  /** What of a cell's text has open threads, as it is shown. */
  marked(cell: string): { from: number; to: number }[] {
    const open = this.of(cell).flatMap(([, { range, resolved }]) => (range && !resolved ? [range] : []));
    return open.map((range) => this.#store.texts.placed(cell, range)).filter(({ from, to }) => from < to);
  }

  /** Begins a thread on what is marked in a cell, else on the whole. */
  begin(cell: string, marked: Marked | undefined): void {
    const store = this.#store;
    const source = store.texts.shown(cell) ?? store.document.cells.get(cell)?.source ?? "";
    const isUnsent = store.texts.shown(cell) !== undefined;
    const base = isUnsent ? undefined : store.document.version;
    this.draft = {
      cell,
      marked: marked && marked.from < marked.to ? { ...marked, base, quote: source.slice(marked.from, marked.to) } : undefined,
    };
    this.#show();
  }

  /** Opens the panel at the first thread of a cell; where it has none, to write one. */
  show(cell: string): void {
    const threads = this.of(cell);
    const first = threads.find(([, { resolved }]) => !resolved) ?? threads[0];
    if (!first) return this.begin(cell, undefined);
    this.goTo(...first);
  }

  goTo(id: string, { resolved }: Thread): void {
    this.shown = resolved ? "resolved" : "open";
    this.thread = this.#focus = id;
    this.#show();
  }

  /** Whether the field of a thread is to have the focus: true once for each visit. */
  takeFocus(id: string): boolean {
    if (this.#focus !== id) return false;
    this.#focus = undefined;
    return true;
  }

  #show(): void {
    const store = this.#store;
    if (store.panel === "comments") store.tell("comments");
    else store.show("comments");
  }

  end(): void {
    this.draft = undefined;
    this.#store.tell("comments");
  }

  // What is written

  /** Shown at once; it stays as unsent until it is on the server's disk. What the server refuses stays with its reason. */
  async post(target: Unsent["target"], text: string, mentions: string[]): Promise<void> {
    const unsent: Unsent = { id: newId(), target, text, mentions };
    this.unsent = [...this.unsent, unsent];
    if (this.draft === target) this.draft = undefined;
    this.#store.tell("comments");
    try {
      const { outcome } = await this.#store.replica.command({ AddComment: { target: await this.#place(target), text, mentions } });
      if ("cell" in target) this.thread = outcome.thread ?? undefined;
      this.drop(unsent);
    } catch (error) {
      const why = error instanceof Rejected ? error.message : String(error);
      this.unsent = this.unsent.map((each) => (each === unsent ? { ...unsent, error: why } : each));
      this.#store.tell("comments");
    }
  }

  /** Forgets what is not sent. */
  drop({ id }: Unsent): void {
    this.unsent = this.unsent.filter((each) => each.id !== id);
    this.#store.tell("comments");
  }

  /** Where the marked text is by now. What the server has not yet is waited for. */
  async #place(target: Unsent["target"]): Promise<CommentTarget> {
    if ("thread" in target) return { thread: { thread_id: target.thread } };
    const { cell: cell_id, marked } = target;
    if (!marked) return { cell: { cell_id } };
    const { texts, replica } = this.#store;
    await texts.settled([cell_id]);
    const at = nearest(replica.document.cells.get(cell_id)?.source ?? "", marked.quote, marked.from);
    if (at !== undefined) return { cell: { cell_id, range: [at, at + marked.quote.length], base: replica.document.version } };
    return { cell: { cell_id, ...(marked.base !== undefined && { range: [marked.from, marked.to], base: marked.base }) } };
  }

  isMine({ author }: Comment): boolean {
    const { actor } = this.#store.session.me;
    return author.kind === actor.kind && "id" in author && "id" in actor && author.id === actor.id;
  }

  /** One's own, and an owner's everybody's. */
  mayDelete(comment: Comment): boolean {
    return this.#store.mayConverse && (this.isMine(comment) || this.#store.replica.role === "owner");
  }

  // What others say

  /** Comments of others that nobody has looked at here. */
  get unseen(): number {
    const all = [...this.#store.document.threads.values()].flatMap(({ comments }) => comments);
    return all.filter((comment) => comment.posted_at > this.#seen && !this.isMine(comment)).length;
  }

  /** The panel has been shown. */
  see(): void {
    if (this.unseen === 0) return;
    const times = [...this.#store.document.threads.values()].flatMap(({ comments }) => comments.map(({ posted_at }) => posted_at));
    this.#seen = Math.max(...times);
    see(this.#store.session.userId, this.#store.id, this.#seen);
    this.#store.tell("comments");
  }

  async #hear(event: EventMessage): Promise<void> {
    const store = this.#store;
    const { thread_id, text, mentions } = event.payload as { thread_id: string; text: string; mentions?: string[] };
    if (this.#isMe(event.actor)) return;
    const thread = store.document.threads.get(thread_id);
    if (!thread) return;
    const name = (await store.session.nameOfActor(event.actor)) ?? kindOf(event.actor);
    const where = `cell ${store.document.order.indexOf(thread.cell_id) + 1}`;
    this.news = `${name} commented on ${where}: ${text.slice(0, 200)}`;
    store.tell("comments");
    if (!mentions?.includes(store.session.userId ?? "")) return;
    const action = { label: "Show", run: () => this.goTo(thread_id, store.document.threads.get(thread_id) ?? thread) };
    store.toast({ text: `${name} mentioned you on ${where}`, action });
  }

  #isMe(actor: Actor): boolean {
    return actor.kind === "user" && actor.id === this.#store.session.userId;
  }
}

/** A thread that has changed is another object. */
function isSame(before: [string, Thread][] = [], after: [string, Thread][] = []): boolean {
  return before.length === after.length && before.every(([, thread], at) => thread === after[at]?.[1]);
}

function byCell(threads: ReadonlyMap<string, Thread>): Map<string, [string, Thread][]> {
  const all = new Map<string, [string, Thread][]>();
  for (const each of threads) all.set(each[1].cell_id, [...(all.get(each[1].cell_id) ?? []), each]);
  for (const list of all.values()) list.sort(([, a], [, b]) => (a.range?.[0] ?? -1) - (b.range?.[0] ?? -1));
  return all;
}

/** Where a text stands in another, as near to a place as it does. */
export function nearest(text: string, wanted: string, at: number): number | undefined {
  const [before, after] = [text.lastIndexOf(wanted, at), text.indexOf(wanted, at)];
  const found = [before, after].filter((place) => place >= 0).sort((a, b) => Math.abs(a - at) - Math.abs(b - at));
  return found[0];
}

/** The end of a text, where a name is being written after an @. */
export function mentionAt(text: string, caret: number): { from: number; name: string } | undefined {
  const found = /(?:^|[\s(])@([^\s@]{0,40})$/u.exec(text.slice(0, caret));
  return found ? { from: caret - (found[1] ?? "").length, name: found[1] ?? "" } : undefined;
}

/** Those of the people who were chosen that the text still names. */
export function mentionsIn(text: string, chosen: ReadonlyMap<string, string>): string[] {
  return [...chosen].filter(([, name]) => text.includes(`@${name}`)).map(([id]) => id);
}

/** Markdown in which the names of who is meant stand out. */
export function emphasised(text: string, names: readonly string[]): string {
  // The longest first: “@Ann Lee” is not “@Ann” and more.
  const sorted = [...names].sort((a, b) => b.length - a.length).map((name) => name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  if (sorted.length === 0) return text;
  return text.replace(new RegExp(`@(?:${sorted.join("|")})(?![\\p{L}\\p{N}])`, "gu"), (found) => `**${found}**`);
}
