// Events of conversations, turns, and replies of prompt cells.
import type { CellReply, MessagePosted, Turn, TurnStarted } from "../messages.ts";
import type { Folding, Handlers } from "../apply.ts";
import { messageFlags, present, without } from "../values.ts";

export const conversationEvents: Handlers = {
  ConversationStarted({ conversation_id, title }, { document, event, touched }) {
    const outside = event.actor.kind === "assistant" ? { is_outside: true } : {};
    const begun = { title, started_by: event.actor, started_at: event.recorded_at, ...outside };
    document.conversations.set(conversation_id, begun);
    touched.part("assistants");
  },
  ConversationClosed({ conversation_id }, { document, touched }) {
    document.conversations.delete(conversation_id);
    touched.part("assistants");
  },
  MessageFlagged({ conversation_id, message_id, flags }, { document, touched }) {
    const conversation = document.conversations.get(conversation_id);
    if (!conversation) return;
    const flagged = Object.fromEntries(Object.entries(conversation.flagged ?? {}).filter(([id]) => id !== message_id));
    const kept = messageFlags(flags);
    if (Object.keys(kept).length > 0) flagged[message_id] = kept;
    document.conversations.set(conversation_id, without({ ...conversation, flagged }, "flagged"));
    touched.part("assistants");
  },
  MessagePosted(payload, folding) {
    if (payload.turn_id && payload.role === "assistant") advanceReply(folding, payload.turn_id, (reply) => add(reply, payload));
    folding.touched.part("assistants");
  },
  TurnStarted: (payload, folding) => beginTurn(payload, folding),
  TurnModelCallStarted({ turn_id, claimant, number, attempt }, folding) {
    const fields = { model_calls: number, attempts: attempt, model_call_claimant: claimant, is_model_call_failed: false };
    changeTurn(folding, turn_id, fields);
  },
  TurnModelCallFinished({ turn_id, failure }, folding) {
    const is_model_call_failed = failure !== undefined && failure !== null;
    changeTurn(folding, turn_id, { model_call_claimant: null, is_model_call_failed });
  },
  TurnFinished: ({ turn_id, stop_reason }, folding) => endTurn(folding, turn_id, { status: "finished", stop_reason }),
  TurnCancelled: ({ turn_id }, folding) => endTurn(folding, turn_id, { status: "stopped" }),
  TurnFailed: ({ turn_id, cause, detail }, folding) =>
    endTurn(folding, turn_id, { status: "failed", cause, ...(detail && { detail }) }),
};

function beginTurn(payload: TurnStarted, { document, event, touched }: Folding): void {
  const { turn_id, conversation_id, message_id, cell_id, model, scopes, is_bound } = payload;
  const conversation = document.conversations.get(conversation_id);
  if (conversation) {
    const { is_outside: _, ...rest } = conversation;
    document.conversations.set(conversation_id, { ...rest, turn: turn_id });
  }
  const turn: Turn = {
    ...{ conversation_id, message_id, cell_id, model, scopes, is_bound, model_calls: 0, attempts: 0 },
    requested_by: event.actor,
    started_version: event.version,
    started_at: event.recorded_at,
  };
  document.turns.set(turn_id, present(turn));
  touched.part("assistants");
  const cell = cell_id ? document.cells.get(cell_id) : undefined;
  if (!cell || !cell_id) return;
  document.cells.set(cell_id, { ...cell, reply: { turn_id, status: "running", prompt: cell.source, text: "" } });
  touched.cell(cell_id);
}

function changeTurn({ document, touched }: Folding, id: string, fields: Partial<Turn>): void {
  const turn = document.turns.get(id);
  if (!turn) return;
  document.turns.set(id, present(without({ ...turn, ...fields }, "is_model_call_failed")));
  touched.part("assistants");
}

function endTurn(folding: Folding, id: string, fields: Partial<CellReply>): void {
  const { document, touched } = folding;
  advanceReply(folding, id, (reply) => ({ ...reply, ...fields }));
  const turn = document.turns.get(id);
  if (!turn) return;
  document.turns.delete(id);
  const conversation = document.conversations.get(turn.conversation_id);
  if (conversation) {
    const { turn: _, ...rest } = conversation;
    document.conversations.set(turn.conversation_id, rest);
  }
  touched.part("assistants");
}

/** Updates a turn's reply, unless the cell already shows another turn's reply. */
function advanceReply({ document, touched }: Folding, turnId: string, next: (reply: CellReply) => CellReply): void {
  const cellId = document.turns.get(turnId)?.cell_id;
  const cell = cellId ? document.cells.get(cellId) : undefined;
  if (!cell || !cellId || cell.reply?.turn_id !== turnId) return;
  document.cells.set(cellId, { ...cell, reply: present(next(cell.reply)) });
  touched.cell(cellId);
}

/** Text of a text block; empty for other blocks, including unknown ones. */
function textOf(block: MessagePosted["blocks"][number]): string {
  return typeof block === "object" && "text" in block ? (block as { text: { text: string } }).text.text : "";
}

function add(reply: CellReply, { blocks, reply_units }: MessagePosted): CellReply {
  const whole = blocks.map((block) => textOf(block)).join("");
  const shown = typeof reply_units === "number" ? firstUnits(whole, reply_units) : whole;
  const gap = reply.text !== "" && shown !== "" ? "\n\n" : "";
  const cut = shown.length < whole.length ? { is_cut: true } : {};
  return { ...reply, text: reply.text + gap + shown, ...cut };
}

/** Start of a text, at most `units` long, without splitting a surrogate pair. */
function firstUnits(text: string, units: number): string {
  const first = text.slice(0, units);
  return first.isWellFormed() ? first : first.slice(0, -1);
}
