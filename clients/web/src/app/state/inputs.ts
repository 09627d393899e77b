// Input requests of runs with their answers: from live events, and from the server for earlier ones.
import type { Actor } from "../../protocol/messages.ts";
import type { OpenNotebook } from "./notebook.ts";

/** An input request, with its answer if there is one. */
export interface RunInput {
  execution_id: string;
  version: number;
  prompt: string;
  password: boolean;
  answered_by?: Actor | null;
  value?: string | null;
}

interface InputEvent {
  type: string;
  version: number;
  actor: Actor;
  payload: unknown;
}

interface Payload {
  execution_id: string;
  prompt?: string;
  password?: boolean;
  value?: string;
}

const MAY_ASK = /\b(input|getpass|readline|breakpoint|set_trace|pdb|debug)\b/;

export class Inputs {
  readonly #known = new Map<string, Map<number, RunInput>>();
  readonly #read = new Set<string>();

  constructor(private readonly notebook: OpenNotebook) {}

  /** Requests of a run, oldest first. Earlier ones are loaded if its code may have asked for input. */
  of(run: string, source = ""): RunInput[] {
    if (MAY_ASK.test(source) && !this.#read.has(run)) void this.#ask(run);
    return [...(this.#known.get(run)?.values() ?? [])].sort((a, b) => a.version - b.version);
  }

  hear({ type, version, actor, payload }: InputEvent): void {
    const { execution_id, prompt = "", password = false, value } = (payload ?? {}) as Payload;
    if (type === "ExecutionInputRequested") this.#put({ execution_id, version, prompt, password });
    if (type !== "ExecutionInputAnswered") return;
    const asked = this.of(execution_id).findLast((each) => each.version < version);
    if (asked) this.#put({ ...asked, answered_by: actor, ...(value !== undefined && { value }) });
  }

  #put(asked: RunInput): void {
    const run = this.#known.get(asked.execution_id) ?? new Map<number, RunInput>();
    const before = run.get(asked.version);
    if (!before?.answered_by) run.set(asked.version, asked);
    this.#known.set(asked.execution_id, run);
    this.notebook.touchSoon("inputs");
  }

  async #ask(run: string): Promise<void> {
    this.#read.add(run);
    const path = `/api/notebooks/${encodeURIComponent(this.notebook.id)}/runs/${encodeURIComponent(run)}/inputs`;
    const answer = await this.notebook.session.rest.get<{ inputs: Omit<RunInput, "execution_id">[] }>(path).catch(() => undefined);
    for (const asked of answer?.inputs ?? []) this.#put({ ...asked, execution_id: run });
  }
}
