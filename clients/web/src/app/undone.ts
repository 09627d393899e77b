// Which calls of assistants are undone, as far as this page has seen it: an undone turn offers no undo.
import type { EventMessage } from "../protocol/messages.ts";

export class UndoneCalls {
  readonly #undone = new Set<string>();
  /** What each undo took back, by its correlation: a redo names that. */
  readonly #taken = new Map<string, Set<string>>();

  /** True if another call is undone now, or one is no longer. */
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

  /** The server has nothing left of them to undo. */
  add(calls: readonly string[]): void {
    for (const call of calls) this.#undone.add(call);
  }

  has(call: string): boolean {
    return this.#undone.has(call);
  }
}

const CHANGING = new Set(["create_cell", "create_cells", "modify_cell", "move_cell", "delete_cell", "restore_cell", "undo"]);

/** Of the calls of a turn those that changed cells: only they can be undone. */
export function changing(calls: readonly { call_id: string; function: string }[]): string[] {
  return calls.filter((call) => CHANGING.has(call.function)).map(({ call_id }) => call_id);
}
