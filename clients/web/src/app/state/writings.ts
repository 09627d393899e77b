// Answers that assistants are writing. They are not on record before their end: a server that dies loses the text so far, and asks
// the model again when it returns. What this page received of it is kept in sight.
import type { ActivityKind, EventMessage, MessagePosted, TurnActivity } from "../../protocol/messages.ts";
import type { EventType } from "../../protocol/schemas.ts";
import type { Connection } from "../../transport/connection.ts";
import { Listeners } from "../../transport/listeners.ts";
import type { Replica } from "../../transport/replica.ts";

/** Text of an answer that was interrupted and is not on record. */
export interface Interrupted {
  turn: string;
  text: string;
  /** The answer of the next attempt, once it is on record. */
  before: string | undefined;
}

interface Writing {
  call: number;
  attempt: number;
  text: string;
  /** The connection was lost since: text is missing before the next piece. */
  hasGap: boolean;
}

const ENDS: readonly EventType[] = ["TurnFinished", "TurnFailed", "TurnCancelled"];
/** Stands for text that was written while the page was offline. */
const GAP = "\n\n[…]\n\n";

export class Writings {
  readonly changed = new Listeners<[]>();
  readonly #writings = new Map<string, Writing>();
  #interrupted: readonly Interrupted[] = [];

  /** The text of a turn's answer so far. */
  text(turn: string | undefined): string {
    return this.#writings.get(turn ?? "")?.text ?? "";
  }

  /** Answers that were interrupted since the page opened, oldest first. The list is another one after each change. */
  get interrupted(): readonly Interrupted[] {
    return this.#interrupted;
  }

  listen(replica: Replica, connection: Connection): void {
    replica.folded.add((event) => this.hear(event));
    replica.replaced.add(() => this.keep((turn) => replica.document.turns.has(turn)));
    replica.message.add((message) => "activity" in message && this.receive(message.activity.activity));
    connection.changed.add(({ name }) => name !== "live" && this.miss());
  }

  receive(activity: readonly TurnActivity[]): void {
    for (const { turn_id, model_call, attempt, what } of activity) {
      const known = this.#writings.get(turn_id);
      const isSame = known?.call === model_call && known.attempt === attempt;
      // A higher attempt of the same call discards its text; only a failure that was announced is meant to.
      if (known?.call === model_call && !isSame) this.#interrupt(turn_id);
      const writing = isSame ? known : { call: model_call, attempt, text: "", hasGap: false };
      this.#writings.set(turn_id, { ...writing, ...written(writing, what) });
    }
    this.changed.tell();
  }

  /** The connection was lost: pieces of open answers may be missed. */
  miss(): void {
    for (const writing of this.#writings.values()) writing.hasGap = writing.text !== "";
  }

  hear(event: Pick<EventMessage, "type" | "payload">): void {
    const { turn_id: turn, failure, role, message_id } = event.payload as Partial<MessagePosted> & { failure?: unknown };
    if (turn === undefined || turn === null) return;
    if (event.type === "MessagePosted" && role === "assistant") this.#record(turn, message_id);
    else if (event.type === "TurnModelCallFinished" && failure) this.#interrupt(turn);
    else if ((ENDS as readonly string[]).includes(event.type)) this.#interrupt(turn);
    else return;
    this.changed.tell();
  }

  /** A snapshot replaced the document: answers of turns that are over are on record, and were not heard. */
  keep(isOpen: (turn: string) => boolean): void {
    for (const turn of [...this.#writings.keys()]) if (!isOpen(turn)) this.#writings.delete(turn);
    this.changed.tell();
  }

  #record(turn: string, message: string | undefined): void {
    this.#writings.delete(turn);
    this.#interrupted = this.#interrupted.map((each) =>
      each.turn === turn && each.before === undefined ? { ...each, before: message } : each,
    );
  }

  #interrupt(turn: string): void {
    const text = this.text(turn);
    this.#writings.delete(turn);
    if (text.trim() !== "") this.#interrupted = [...this.#interrupted, { turn, text, before: undefined }];
  }
}

function written({ text, hasGap }: Writing, what: ActivityKind): Pick<Writing, "text" | "hasGap"> {
  // The model call is tried again at once; its next answer replaces this one.
  if (what.type === "attempt_failed") return { text: "", hasGap: false };
  if (what.type === "text_start" && text !== "" && !hasGap) return { text: `${text}\n\n`, hasGap };
  if (what.type === "text_delta") return { text: text + (hasGap ? GAP : "") + what.text, hasGap: false };
  return { text, hasGap };
}
