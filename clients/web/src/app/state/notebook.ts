// Interfaces of an open notebook for its parts. The store implements all of them; each part names those that it needs.
import type { Texts } from "../../collab/texts.ts";
import type { Command } from "../../protocol/messages.ts";
import type { Done } from "../../transport/outbox.ts";
import type { Questions } from "../../transport/questions.ts";
import type { Replica } from "../../transport/replica.ts";
import type { Session } from "../session/session.ts";
import type { Ahead } from "./ahead.ts";
import type { Focus } from "./focus.ts";
import type { Topic } from "./topics.ts";

/** The notebook itself: its state, its commands, and the notification of components. */
export interface OpenNotebook {
  readonly id: string;
  readonly session: Session;
  readonly replica: Replica;
  /** Sends a command; shows a refusal as a toast. */
  send(body: Command, options?: { correlationId?: string }): Promise<Done | undefined>;
  /** Renders the components that subscribe to a topic. */
  touch(topic: Topic): void;
  /** Renders them at the next frame. */
  touchSoon(topic: Topic): void;
}

/** Rights of the person here, by role, archive and replica. */
export interface Rights {
  readonly mayEdit: boolean;
  readonly mayRun: boolean;
  readonly mayConverse: boolean;
}

/** A message over the page, with its actions. */
export interface Toast {
  id: string;
  text: string;
  action?: { label: string; run: () => void };
  second?: { label: string; run: () => void };
  isError?: boolean;
  copy?: string;
  copyLabel?: string;
}

export interface Toasts {
  readonly toasts: readonly Toast[];
  toast(toast: Omit<Toast, "id">): string;
  /** Changes a toast that is shown. */
  retoast(id: string, more: Partial<Omit<Toast, "id">>): void;
  dismiss(id: string): void;
}

/** A range of a cell's displayed text. */
export interface MarkedRange {
  cell: string;
  from: number;
  to: number;
}

/** An entry of the history, compared with the version before its first event; its cells are marked. */
export interface Entry {
  first: number;
  cells: readonly string[];
  /** A text that was found in this version: it is marked, and nothing is compared. */
  text?: string;
}

export interface Selection {
  /** The focused cell. */
  readonly current: string | undefined;
  /** The ids of the selected cells, from top to bottom. */
  readonly selected: string[];
  readonly isEditing: boolean;
  /** Selection of the editor focused last, or in the text of a cell. */
  readonly marked: MarkedRange | undefined;
  select(cell: string | undefined, how?: { edit?: boolean; extend?: boolean }): void;
  /** Opens a cell's editor at a line, or with a range selected, and scrolls there. */
  goTo(cell: string, place: { line: number } | { from: number; to: number }): void;
  /** The nearest visible cell `step` cells up or down. */
  neighbour(step: number): string | undefined;
}

/** Where typed letters go. */
export interface Typing {
  readonly texts: Texts;
  readonly focus: Focus;
  readonly ahead: Ahead;
  readonly isLive: boolean;
}

export type Panel = "assistant" | "comments" | "files" | "history" | "outline" | "variables" | undefined;

export interface Panels {
  readonly panel: Panel;
  show(panel: Panel): void;
}

/** Questions to the kernel and to the assistant. */
export interface Asking {
  readonly questions: Questions;
  /** The newest conversation that is not an outside assistant's. */
  readonly conversation: string | undefined;
}
