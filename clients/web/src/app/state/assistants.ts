// Assistants in a notebook: their unfinished work, the calls that wait for a person, and the calls that were undone.
import type { Document } from "../../protocol/document.ts";
import type { EventMessage, ToolCall } from "../../protocol/messages.ts";

export interface AssistantAtWork {
  conversation: string;
  /** Cells touched by its started calls, else by its waiting calls, else the prompt cell that it answers. */
  cells: string[];
  /** A call waits for a person and no call has started. */
  waits: boolean;
}

export function assistantsAtWork({ turns, tool_calls }: Document): AssistantAtWork[] {
  const calls = [...tool_calls.values()];
  const prompts = new Map([...turns.values()].map(({ conversation_id, cell_id }) => [conversation_id, cell_id ?? undefined]));
  const conversations = [...new Set([...prompts.keys(), ...calls.map(conversationOf)])];
  return conversations.map((conversation) => {
    const own = calls.filter((call) => conversationOf(call) === conversation);
    return atWork(conversation, own, prompts.get(conversation));
  });
}

/** Calls are always requested by assistants. */
function conversationOf({ requested_by }: ToolCall): string {
  return requested_by.kind === "assistant" ? requested_by.conversation : "";
}

function atWork(conversation: string, calls: ToolCall[], prompt: string | undefined): AssistantAtWork {
  const started = calls.filter(({ phase }) => phase.phase === "started");
  const touched = (started.length > 0 ? started : calls).flatMap(cellsOf);
  const cells = touched.length > 0 ? [...new Set(touched)] : prompt === undefined ? [] : [prompt];
  return { conversation, cells, waits: started.length === 0 && calls.some(({ phase }) => phase.phase === "waiting") };
}

function cellsOf({ targets }: ToolCall): string[] {
  return (targets ?? []).flatMap((target) => {
    return typeof target === "object" && "kind" in target && target.kind === "cell" ? [target.cell_id] : [];
  });
}

/** Calls that wait for a person, by the existing cell that they would change. */
export type Proposals = ReadonlyMap<string, [string, ToolCall][]>;

export function proposalsIn(waiting: readonly [string, ToolCall][], isThere: (cell: string) => boolean): Proposals {
  const found = new Map<string, [string, ToolCall][]>();
  for (const [id, call] of waiting) {
    const { cell_id } = call.arguments as { cell_id?: unknown };
    if (typeof cell_id !== "string" || !isThere(cell_id)) continue;
    found.set(cell_id, [...(found.get(cell_id) ?? []), [id, call]]);
  }
  return found;
}

/** Calls that may be confirmed together, because their risk is `edit` or `read`. */
export function confirmedTogether(proposals: Proposals): [string, ToolCall][] {
  return [...proposals.values()].flat().filter(([, { risk }]) => risk === "edit" || risk === "read");
}

const CHANGING = new Set(["create_cell", "create_cells", "modify_cell", "move_cell", "delete_cell", "restore_cell", "undo"]);

/** Effects of calls on the notebook, known since the page opened. Only a turn with an effect that was not undone offers undo. */
export class CallEffects {
  readonly #undone = new Set<string>();
  /** Calls undone by each undo, by its correlation id, to which a redo refers. */
  readonly #taken = new Map<string, Set<string>>();
  /** Calls that ended, and calls that changed cells. */
  readonly #ended = new Set<string>();
  readonly #changed = new Set<string>();

  /** Applies an event; returns true if the set of undone calls changed. */
  hear(event: Pick<EventMessage, "undoes" | "correlation_id" | "type" | "actor" | "payload">): boolean {
    const { undoes, correlation_id } = event;
    if (event.type === "ToolCallExecuted") this.#ended.add((event.payload as { call_id: string }).call_id);
    else if (event.actor.kind === "assistant" && /^(Cell|Notebook)/.test(event.type)) this.#changed.add(correlation_id);
    if (undoes === undefined || undoes === null) return false;
    const redone = this.#taken.get(undoes);
    if (redone) {
      for (const call of redone) this.#undone.delete(call);
      this.#taken.delete(undoes);
      return true;
    }
    const taken = this.#taken.get(correlation_id) ?? new Set();
    this.#taken.set(correlation_id, taken.add(undoes));
    if (this.#undone.has(undoes)) return false;
    this.#undone.add(undoes);
    return true;
  }

  /** Marks calls as undone, when the server has nothing left to undo. */
  add(calls: readonly string[]): void {
    for (const call of calls) this.#undone.add(call);
  }

  isUndone(call: string): boolean {
    return this.#undone.has(call);
  }

  /**
   * Calls that changed cells; only these can be undone. Of a call that ended before the page opened only the result is known: it
   * changed something unless it failed or never ran.
   */
  changing(calls: readonly { call_id: string; function: string }[], results: ReadonlyMap<string, { isError: boolean }>): string[] {
    const changed = calls.filter(({ call_id, function: name }) => {
      if (!CHANGING.has(name)) return false;
      if (this.#ended.has(call_id) || this.#changed.has(call_id)) return this.#changed.has(call_id);
      const result = results.get(call_id);
      // A failed call may have added some of its cells.
      return result !== undefined && (!result.isError || name === "create_cells");
    });
    return changed.map(({ call_id }) => call_id);
  }
}
