// Outbox of commands: keeps the sent bytes until the server answers, and resends them after a reconnect.
import type { AckMessage, Command, CommandMessage, Outcome, RejectionDetails, RejectMessage } from "../protocol/messages.ts";
import { exactJson } from "../protocol/exactJson.ts";
import { newId } from "./ids.ts";
import { pageWords } from "./refusals.ts";

/** The server's refusal, with a stable `code`. `message` has the page's words, `rejection.message` the server's. */
export class Rejected extends Error {
  readonly code: string;

  constructor(readonly rejection: { code: string; message: string; details?: RejectionDetails | null }) {
    super(pageWords(rejection.code, rejection.message, rejection.details));
    this.code = rejection.code;
  }
}

export interface CommandOptions {
  id?: string;
  correlationId?: string;
}

/** Result of a command. */
export interface Done {
  version: number;
  outcome: Outcome;
}

interface Pending {
  id: string;
  text: string;
  /** True if sent on the current connection; each command is sent once per connection. */
  isSent: boolean;
  at: number;
  resolve: (done: Done) => void;
  reject: (why: Error) => void;
}

/** Retry delay after `unavailable`: the server is busy and changed nothing. */
const AGAIN_MS = 1_000;

export class Outbox {
  readonly #pending = new Map<string, Pending>();
  readonly #notebook: string;
  readonly #send: (text: string) => boolean;
  readonly #mostBytes: () => number;

  /**
   * `send` returns false if a command was not sent; `flush` sends it later. The server refuses larger frames without naming the
   * command.
   */
  constructor(notebook: string, send: (text: string) => boolean, mostBytes: () => number = () => Infinity) {
    this.#notebook = notebook;
    this.#send = send;
    this.#mostBytes = mostBytes;
  }

  get size(): number {
    return this.#pending.size;
  }

  /** Time at which the oldest unanswered command was given. */
  get since(): number | undefined {
    return this.#pending.values().next().value?.at;
  }

  /** True if the command with this id is unanswered. */
  has(id: string): boolean {
    return this.#pending.has(id);
  }

  command(body: Command, { id = newId(), correlationId }: CommandOptions = {}): Promise<Done> {
    const command: CommandMessage = { id, notebook: this.#notebook, body };
    if (correlationId !== undefined) command.correlation_id = correlationId;
    const text = exactJson({ command });
    if (isLarger(text, this.#mostBytes())) return Promise.reject(new Rejected(tooLarge(text, this.#mostBytes())));
    return new Promise((resolve, reject) => {
      this.#pending.set(id, { id, text, at: Date.now(), isSent: this.#send(text), resolve, reject });
    });
  }

  /** Call when the connection is lost: it is unknown which commands arrived. */
  lost(): void {
    for (const pending of this.#pending.values()) pending.isSent = false;
  }

  /** Sends the commands not sent on this connection, in their order. */
  flush(): void {
    for (const pending of this.#pending.values()) if (!pending.isSent) pending.isSent = this.#send(pending.text);
  }

  acked({ id, version, outcome }: AckMessage): void {
    this.#take(id)?.resolve({ version, outcome: outcome ?? {} });
  }

  rejected(rejection: RejectMessage): void {
    const pending = this.#pending.get(rejection.id);
    if (!pending) return;
    if (rejection.code === "unavailable") return void setTimeout(() => this.#again(pending), AGAIN_MS);
    this.#take(rejection.id)?.reject(new Rejected(rejection));
  }

  #again(pending: Pending): void {
    if (this.#pending.has(pending.id)) pending.isSent = this.#send(pending.text);
  }

  #take(id: string): Pending | undefined {
    const pending = this.#pending.get(id);
    this.#pending.delete(id);
    return pending;
  }
}

/** Compares the UTF-8 size, which is counted only near the limit. */
function isLarger(text: string, bytes: number): boolean {
  return text.length * 3 > bytes && new TextEncoder().encode(text).length > bytes;
}

function tooLarge(text: string, most: number): { code: string; message: string } {
  const megabytes = (bytes: number) => `${(bytes / 1_000_000).toFixed(1)} MB`;
  const message = `Too large (${megabytes(new TextEncoder().encode(text).length)}, at most ${megabytes(most)}). Split it, or import a file.`;
  return { code: "frame_too_large", message };
}
