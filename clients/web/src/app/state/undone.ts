// Undone calls of assistants, known since the page opened. An undone turn offers no undo.
import type { EventMessage } from "../../protocol/messages.ts";

export class UndoneCalls {
  readonly #undone = new Set<string>();
  /** Calls undone by each undo, by its correlation id, to which a redo refers. */
  readonly #taken = new Map<string, Set<string>>();

  /** Applies an event; returns true if the set of undone calls changed. */
  hear({ undoes, correlation_id }: Pick<EventMessage, "undoes" | "correlation_id">): boolean {
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

  has(call: string): boolean {
    return this.#undone.has(call);
  }
}

const CHANGING = new Set(["create_cell", "create_cells", "modify_cell", "move_cell", "delete_cell", "restore_cell", "undo"]);

/** Calls of a turn that changed cells; only these can be undone. */
export function changing(calls: readonly { call_id: string; function: string }[]): string[] {
  return calls.filter((call) => CHANGING.has(call.function)).map(({ call_id }) => call_id);
}
