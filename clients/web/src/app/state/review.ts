// Review of an assistant's latest turn, cell by cell: visit, keep or undo changes.
import type { EventType } from "../../protocol/schemas.ts";
import { wordOf } from "../words/words.ts";
import type { Actor, Cell, EventMessage } from "../../protocol/messages.ts";

export type ChangeKind = "created" | "changed" | "moved" | "deleted";

export interface ReviewedCell {
  kind: ChangeKind;
  /** The source before the turn. */
  before: string;
  /** Ids of the calls that touched the cell; undone one by one. */
  calls: Set<string>;
}

const KINDS: { [type in EventType]?: ChangeKind } = {
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
  /** The page selects the cells that the assistant changes. */
  isFollowing = false;
  /** Changed cells by id, in order of their first change. */
  readonly cells = new Map<string, ReviewedCell>();
  /** Turn by call, because a call's events name only the call. */
  readonly #turns = new Map<string, string>();

  /** Applies an event; returns the cells whose marks changed. */
  hear(event: EventMessage, before: Cell | undefined): string[] {
    const payload = event.payload as { cell_id?: string; call_id?: string; turn_id?: string | null; conversation_id?: string };
    if (event.type === "TurnStarted" && payload.turn_id) return this.#begin(payload.turn_id, payload.conversation_id);
    if (event.type === "ToolCallRequested" && payload.call_id && payload.turn_id) this.#turns.set(payload.call_id, payload.turn_id);
    const { cell_id } = payload;
    if (cell_id === undefined) return [];
    if (event.undoes !== undefined && event.undoes !== null) return this.#undone(cell_id, event.undoes);
    const kind = wordOf(KINDS, event.type);
    if (!kind || !this.#isOfTurn(event)) return [];
    this.#touch(cell_id, kind, event.correlation_id, before?.source ?? "");
    return [cell_id];
  }

  /** Accepts the changes of one cell, or of all; returns the cells. */
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
    // Created, then deleted: nothing to review. Created, then changed: still created.
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
