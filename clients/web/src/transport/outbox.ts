// Commands on their way: kept with the bytes that were sent until the server has answered, and sent again after a reconnect.
import type { AckMessage, Command, CommandMessage, Outcome, RejectMessage } from "../protocol/messages.ts";
import { newId } from "./ids.ts";
import { pageWords } from "./refusals.ts";

/** Why the server did not do it, with a stable `code`. `message` is for people on the page, `rejection.message` the server's. */
export class Rejected extends Error {
  readonly code: string;

  constructor(readonly rejection: { code: string; message: string }) {
    super(pageWords(rejection.code, rejection.message));
    this.code = rejection.code;
  }
}

export interface CommandOptions {
  id?: string;
  correlationId?: string;
}

/** What a command came to. */
export interface Done {
  version: number;
  outcome: Outcome;
}

interface Pending {
  id: string;
  text: string;
  /** On this connection: a command is sent once on each. */
  isSent: boolean;
  at: number;
  resolve: (done: Done) => void;
  reject: (why: Error) => void;
}

/** The server is busy with something: nothing was changed, and the same command may be sent again. */
const AGAIN_MS = 1_000;

export class Outbox {
  readonly #pending = new Map<string, Pending>();
  readonly #notebook: string;
  readonly #send: (text: string) => boolean;
  readonly #mostBytes: () => number;

  /** `send` says whether it was sent; what was not goes with `flush`. The server refuses larger frames without naming the command. */
  constructor(notebook: string, send: (text: string) => boolean, mostBytes: () => number = () => Infinity) {
    this.#notebook = notebook;
    this.#send = send;
    this.#mostBytes = mostBytes;
  }

  get size(): number {
    return this.#pending.size;
  }

  /** When the command was given that has waited longest. */
  get since(): number | undefined {
    return this.#pending.values().next().value?.at;
  }

  /** Whether a command of that id waits for its answer. */
  has(id: string): boolean {
    return this.#pending.has(id);
  }

  command(body: Command, { id = newId(), correlationId }: CommandOptions = {}): Promise<Done> {
    const command: CommandMessage = { id, notebook: this.#notebook, body };
    if (correlationId !== undefined) command.correlation_id = correlationId;
    const text = JSON.stringify({ command });
    if (isLarger(text, this.#mostBytes())) return Promise.reject(new Rejected(tooLarge(text, this.#mostBytes())));
    return new Promise((resolve, reject) => {
      this.#pending.set(id, { id, text, at: Date.now(), isSent: this.#send(text), resolve, reject });
    });
  }

  /** The connection is gone: nobody knows which commands arrived. */
  lost(): void {
    for (const pending of this.#pending.values()) pending.isSent = false;
  }

  /** Sends what was not sent on this connection, in the order in which it was given. */
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

/** In UTF-8, which is counted only where it matters. */
function isLarger(text: string, bytes: number): boolean {
  return text.length * 3 > bytes && new TextEncoder().encode(text).length > bytes;
}

function tooLarge(text: string, most: number): { code: string; message: string } {
  const megabytes = (bytes: number) => `${(bytes / 1_000_000).toFixed(1)} MB`;
  const message = `Too large (${megabytes(text.length)}, at most ${megabytes(most)}). Split it, or import a file.`;
  return { code: "frame_too_large", message };
}
