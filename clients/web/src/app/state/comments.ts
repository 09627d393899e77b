// Comments: threads per cell, drafts, and comments being sent. Does not use the DOM.
import type { Actor, Comment, CommentTarget, EventMessage, Thread } from "../../protocol/messages.ts";
import { newId } from "../../transport/ids.ts";
import { Rejected } from "../../transport/outbox.ts";
import { serverNow } from "../session/clock.ts";
import { see, seenAt } from "../session/seen.ts";
import type { MarkedRange, OpenNotebook, Panels, Rights, Toasts, Typing } from "./notebook.ts";
import { kindOf } from "../words/words.ts";

/** A thread being started. */
export interface Draft {
  cell: string;
  marked: (MarkedRange & { quote: string; base: number | undefined }) | undefined;
}

/** A comment that the server has not confirmed. */
export interface PendingComment {
  id: string;
  target: { thread: string } | Draft;
  text: string;
  mentions: string[];
  /** The server's reason for the refusal. */
  error?: string;
}

export type ThreadFilter = "open" | "resolved";

export class Comments {
  /** The thread being started. */
  draft: Draft | undefined;
  /** The thread that the person selected. */
  thread: string | undefined;
  /** The thread whose field takes the focus once. */
  #focus: string | undefined;
  shown: ThreadFilter = "open";
  unsent: readonly PendingComment[] = [];
  /** The latest comments of others, for screen readers. */
  news = "";
  /** Time of the newest comment that the panel has shown. */
  #seen: number;
  readonly #notebook: OpenNotebook & Panels & Rights & Toasts & Typing;
  #byCell: ReadonlyMap<string, [string, Thread][]> = new Map();

  constructor(notebook: OpenNotebook & Panels & Rights & Toasts & Typing) {
    this.#notebook = notebook;
    // Comments from before the first visit are not news.
    this.#seen = seenAt(notebook.session.userId, notebook.id) ?? serverNow();
    notebook.replica.changed.add(({ parts }) => parts.has("comments") && this.#sort());
    notebook.replica.folded.add((event) => {
      if (event.type === "CommentPosted") void this.#hear(event);
    });
  }

  /** Threads of a cell: those on the whole cell, then those on ranges in the order of the text. */
  of(cell: string): [string, Thread][] {
    return this.#byCell.get(cell) ?? [];
  }

  /** Rebuilds the threads per cell and re-renders cells whose threads changed. */
  #sort(): void {
    const before = this.#byCell;
    this.#byCell = byCell(this.#notebook.replica.document.threads);
    for (const cell of new Set([...before.keys(), ...this.#byCell.keys()]))
      if (!isSame(before.get(cell), this.#byCell.get(cell))) this.#notebook.touch(`cell:${cell}`);
  }

  /** Threads with the chosen state (open or resolved), in the order of the notebook. */
  get all(): [string, Thread][] {
    const isShown = ([, { resolved }]: [string, Thread]) => (resolved ? "resolved" : "open") === this.shown;
    return this.#notebook.replica.document.order.flatMap((cell) => this.of(cell).filter(isShown));
  }

  open(cell: string): number {
    return this.of(cell).filter(([, { resolved }]) => !resolved).length;
  }

  /** Ranges of open threads in the cell's displayed text. */
  marked(cell: string): { from: number; to: number }[] {
    const open = this.of(cell).flatMap(([, { range, resolved }]) => (range && !resolved ? [range] : []));
    return open.map((range) => this.#notebook.texts.placed(cell, range)).filter(({ from, to }) => from < to);
  }

  /** Starts a thread on the marked range, or on the whole cell. */
  begin(cell: string, marked: MarkedRange | undefined): void {
    const notebook = this.#notebook;
    const source = notebook.texts.shown(cell) ?? notebook.replica.document.cells.get(cell)?.source ?? "";
    const isUnsent = notebook.texts.shown(cell) !== undefined;
    const base = isUnsent ? undefined : notebook.replica.document.version;
    this.draft = {
      cell,
      marked: marked && marked.from < marked.to ? { ...marked, base, quote: source.slice(marked.from, marked.to) } : undefined,
    };
    this.#show();
  }

  /** Opens the panel at the cell's first open thread, else its first; starts a thread if there is none. */
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

  /** Returns true once per visit if the thread's field should take the focus. */
  takeFocus(id: string): boolean {
    if (this.#focus !== id) return false;
    this.#focus = undefined;
    return true;
  }

  #show(): void {
    const notebook = this.#notebook;
    if (notebook.panel === "comments") notebook.touch("comments");
    else notebook.show("comments");
  }

  end(): void {
    this.draft = undefined;
    this.#notebook.touch("comments");
  }

  // Sending

  /** Displays the comment as unsent until the server has stored it. A refused comment stays with its reason. */
  async post(target: PendingComment["target"], text: string, mentions: string[]): Promise<void> {
    const unsent: PendingComment = { id: newId(), target, text, mentions };
    this.unsent = [...this.unsent, unsent];
    if (this.draft === target) this.draft = undefined;
    this.#notebook.touch("comments");
    try {
      const { outcome } = await this.#notebook.replica.command({
        AddComment: { target: await this.#place(target), text, mentions },
      });
      if ("cell" in target) this.thread = outcome.thread ?? undefined;
      this.drop(unsent);
    } catch (error) {
      const why = error instanceof Rejected ? error.message : String(error);
      this.unsent = this.unsent.map((each) => (each === unsent ? { ...unsent, error: why } : each));
      this.#notebook.touch("comments");
    }
  }

  /** Discards an unsent comment. */
  drop({ id }: PendingComment): void {
    this.unsent = this.unsent.filter((each) => each.id !== id);
    this.#notebook.touch("comments");
  }

  /** Maps the marked range to the current text, after waiting for unsent edits. */
  async #place(target: PendingComment["target"]): Promise<CommentTarget> {
    if ("thread" in target) return { thread: { thread_id: target.thread } };
    const { cell: cell_id, marked } = target;
    if (!marked) return { cell: { cell_id } };
    const { texts, replica } = this.#notebook;
    await texts.settled([cell_id]);
    const at = nearest(replica.document.cells.get(cell_id)?.source ?? "", marked.quote, marked.from);
    if (at !== undefined) return { cell: { cell_id, range: [at, at + marked.quote.length], base: replica.document.version } };
    return { cell: { cell_id, ...(marked.base !== undefined && { range: [marked.from, marked.to], base: marked.base }) } };
  }

  isMine({ author }: Comment): boolean {
    const { actor } = this.#notebook.session.me;
    return author.kind === actor.kind && "id" in author && "id" in actor && author.id === actor.id;
  }

  /** People may delete their own comments, owners all. */
  mayDelete(comment: Comment): boolean {
    return this.#notebook.mayConverse && (this.isMine(comment) || this.#notebook.replica.role === "owner");
  }

  // Comments of others

  /** Number of comments by others that are not yet seen here. */
  get unseen(): number {
    const all = [...this.#notebook.replica.document.threads.values()].flatMap(({ comments }) => comments);
    return all.filter((comment) => comment.posted_at > this.#seen && !this.isMine(comment)).length;
  }

  /** Marks all comments as seen, when the panel is shown. */
  see(): void {
    if (this.unseen === 0) return;
    const times = [...this.#notebook.replica.document.threads.values()].flatMap(({ comments }) =>
      comments.map(({ posted_at }) => posted_at),
    );
    this.#seen = Math.max(...times);
    see(this.#notebook.session.userId, this.#notebook.id, this.#seen);
    this.#notebook.touch("comments");
  }

  async #hear(event: EventMessage): Promise<void> {
    const notebook = this.#notebook;
    const { thread_id, text, mentions } = event.payload as { thread_id: string; text: string; mentions?: string[] };
    if (this.#isMe(event.actor)) return;
    const thread = notebook.replica.document.threads.get(thread_id);
    if (!thread) return;
    const name = (await notebook.session.nameOfActor(event.actor)) ?? kindOf(event.actor);
    const where = `cell ${notebook.replica.document.order.indexOf(thread.cell_id) + 1}`;
    this.news = `${name} commented on ${where}: ${text.slice(0, 200)}`;
    notebook.touch("comments");
    if (!mentions?.includes(notebook.session.userId ?? "")) return;
    const action = { label: "Show", run: () => this.goTo(thread_id, notebook.replica.document.threads.get(thread_id) ?? thread) };
    notebook.toast({ text: `${name} mentioned you on ${where}`, action });
  }

  #isMe(actor: Actor): boolean {
    return actor.kind === "user" && actor.id === this.#notebook.session.userId;
  }
}

/** Threads are immutable: a changed thread is another object. */
function isSame(before: [string, Thread][] = [], after: [string, Thread][] = []): boolean {
  return before.length === after.length && before.every(([, thread], at) => thread === after[at]?.[1]);
}

function byCell(threads: ReadonlyMap<string, Thread>): Map<string, [string, Thread][]> {
  const all = new Map<string, [string, Thread][]>();
  for (const each of threads) all.set(each[1].cell_id, [...(all.get(each[1].cell_id) ?? []), each]);
  for (const list of all.values()) list.sort(([, a], [, b]) => (a.range?.[0] ?? -1) - (b.range?.[0] ?? -1));
  return all;
}

/** Occurrence of a text that is nearest to a position. */
export function nearest(text: string, wanted: string, at: number): number | undefined {
  const [before, after] = [text.lastIndexOf(wanted, at), text.indexOf(wanted, at)];
  const found = [before, after].filter((place) => place >= 0).sort((a, b) => Math.abs(a - at) - Math.abs(b - at));
  return found[0];
}

/** The partial name after an @ that ends at the caret. */
export function mentionAt(text: string, caret: number): { from: number; name: string } | undefined {
  const found = /(?:^|[\s(])@([^\s@]{0,40})$/u.exec(text.slice(0, caret));
  return found ? { from: caret - (found[1] ?? "").length, name: found[1] ?? "" } : undefined;
}

/** Ids of the chosen people whose names are still in the text. */
export function mentionsIn(text: string, chosen: ReadonlyMap<string, string>): string[] {
  return [...chosen].filter(([, name]) => text.includes(`@${name}`)).map(([id]) => id);
}

/** Markdown with the mentioned names in bold. */
export function emphasised(text: string, names: readonly string[]): string {
  // Longest names first, so that “@Ann Lee” is not matched as “@Ann”.
  const sorted = [...names].sort((a, b) => b.length - a.length).map((name) => name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  if (sorted.length === 0) return text;
  return text.replace(new RegExp(`@(?:${sorted.join("|")})(?![\\p{L}\\p{N}])`, "gu"), (found) => `**${found}**`);
}
