// Questions to kernels, such as completion. Ephemeral: not resent after a lost connection.
import type { AskKernelMessage, KernelAnswer, ServerMessage } from "../protocol/messages.ts";
import type { Connection } from "./connection.ts";

export type Question = Omit<AskKernelMessage, "id" | "notebook">;

function featureOf(kind: Question["kind"]): string {
  if ("describe" in kind) return "connection_schemas";
  if ("format" in kind) return "kernel_format";
  return "complete" in kind || "inspect" in kind ? "kernel_questions" : "kernel_tables";
}

export class Questions {
  readonly #connection: Connection;
  readonly #notebook: string;
  readonly #waiting = new Map<number, (answer: KernelAnswer | undefined) => void>();
  readonly #ends: (() => void)[];
  #last = 0;

  constructor(connection: Connection, notebook: string) {
    this.#connection = connection;
    this.#notebook = notebook;
    this.#ends = [
      connection.received.add((message) => this.#hear(message)),
      connection.changed.add(({ name }) => name !== "live" && this.#forget()),
    ];
  }

  /** Asks a kernel; undefined without an answer. The server answers within seconds, even if the kernel is busy. */
  ask(question: Question): Promise<KernelAnswer | undefined> {
    const { welcome } = this.#connection;
    // Older servers would answer with an error.
    const feature = featureOf(question.kind);
    if (!welcome?.features.includes(feature)) return Promise.resolve(undefined);
    const id = (this.#last += 1);
    return new Promise((resolve) => {
      this.#waiting.set(id, resolve);
      if (!this.#connection.send({ ask_kernel: { id, notebook: this.#notebook, ...question } })) this.#settle(id, undefined);
    });
  }

  close(): void {
    for (const end of this.#ends) end();
    this.#forget();
  }

  #hear(message: ServerMessage): void {
    if (!("kernel_answer" in message)) return;
    const { id, notebook, answer } = message.kernel_answer;
    if (notebook === this.#notebook) this.#settle(id, answer);
  }

  #forget(): void {
    for (const id of [...this.#waiting.keys()]) this.#settle(id, undefined);
  }

  #settle(id: number, answer: KernelAnswer | undefined): void {
    const resolve = this.#waiting.get(id);
    this.#waiting.delete(id);
    resolve?.(answer);
  }
}
