// What an assistant changed in its latest turn, cell by cell: to walk through, to keep, to take back.
import type { Actor, Cell, EventMessage } from "../protocol/messages.ts";

export type ChangeKind = "created" | "changed" | "moved" | "deleted";

export interface ReviewedCell {
  kind: ChangeKind;
  /** The source before the turn. */
  before: string;
  /** The calls that touched it: taken back one by one. */
  calls: Set<string>;
}

const KINDS: Record<string, ChangeKind> = {
  CellInserted: "created",
  CellRestored: "created",
  CellSourceEdited: "changed",
  CellTypeChanged: "changed",
  CellMoved: "moved",
  CellDeleted: "deleted",
};

export class Review {
  turn: string | undefined;
  conversation: string | undefined;
  /** The page goes where the assistant works. */
  isFollowing = false;
  /** In the order in which it came to them. */
  readonly cells = new Map<string, ReviewedCell>();
  /** Turns by call: an event of a call names the call alone. */
  readonly #turns = new Map<string, string>();

  /** The cells whose marks are others now. */
  hear(event: EventMessage, before: Cell | undefined): string[] {
    const payload = event.payload as { cell_id?: string; call_id?: string; turn_id?: string | null; conversation_id?: string };
    if (event.type === "TurnStarted" && payload.turn_id) return this.#begin(payload.turn_id, payload.conversation_id);
    if (event.type === "ToolCallRequested" && payload.call_id && payload.turn_id) this.#turns.set(payload.call_id, payload.turn_id);
    const { cell_id } = payload;
    if (cell_id === undefined) return [];
    if (event.undoes !== undefined && event.undoes !== null) return this.#undone(cell_id, event.undoes);
    const kind = KINDS[event.type];
    if (!kind || !this.#isOfTurn(event)) return [];
    this.#touch(cell_id, kind, event.correlation_id, before?.source ?? "");
    return [cell_id];
  }

  /** Nothing is left to look at, or one cell less. */
  keep(cell?: string): string[] {
    const kept = cell === undefined ? [...this.cells.keys()] : [cell];
    for (const each of kept) this.cells.delete(each);
    return kept;
  }

  #begin(turn: string, conversation: string | undefined): string[] {
    const left = this.keep();
    this.turn = turn;
    this.conversation = conversation;
    return left;
  }

  #isOfTurn({ actor, correlation_id }: { actor: Actor; correlation_id: string }): boolean {
    if (actor.kind !== "assistant") return false;
    const turn = this.#turns.get(correlation_id);
    return turn === undefined ? actor.conversation === this.conversation : turn === this.turn;
  }

  #touch(cell: string, kind: ChangeKind, call: string, before: string): void {
    const known = this.cells.get(cell);
    if (!known) return void this.cells.set(cell, { kind, before, calls: new Set([call]) });
    known.calls.add(call);
    // Made and deleted again: nothing to look at. Made and changed: made.
    if (kind === "deleted" && known.kind === "created") this.cells.delete(cell);
    else if (known.kind !== "created" && kind !== "moved") known.kind = kind;
  }

  #undone(cell: string, call: string): string[] {
    const known = this.cells.get(cell);
    if (!known?.calls.delete(call)) return [];
    if (known.calls.size === 0) this.cells.delete(cell);
    return [cell];
  }
}
