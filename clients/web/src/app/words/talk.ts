// A conversation for the assistant's panel: its messages and the end of each tool call.
import type { EventMessage, MessageBlock, MessagePosted, ToolCallEnd } from "../../protocol/messages.ts";
import type { EventType } from "../../protocol/schemas.ts";
import { duration, plain, wordOf } from "./words.ts";

export interface Said {
  id: string;
  role: string;
  blocks: MessageBlock[];
  turn: string | undefined;
  /** The turn ended while this answer was being written. */
  isPartial: boolean;
}

export interface CallEnd {
  state: string;
  words: string;
  isBad: boolean;
  /** The result as the model reads it, for messages that only refer to it. */
  result?: string;
}

const ENDS: { [type in EventType]?: [state: string, isBad: boolean] } = {
  ToolCallDenied: ["Denied", true],
  ToolCallWithdrawn: ["Withdrawn", false],
  ToolCallVoided: ["Outdated", true],
  ToolCallExpired: ["Expired", true],
};

const EXECUTED = { ok: "", error: "Failed", outcome_unknown: "Outcome unknown" } satisfies Record<ToolCallEnd, string>;

/** The end of a call, if the event is one. */
export function endOf(event: Pick<EventMessage, "type" | "payload">): [call: string, CallEnd] | undefined {
  const payload = event.payload as {
    call_id?: string;
    detail?: string | null;
    cause?: unknown;
    end?: unknown;
    duration_ms?: number;
    result?: string;
  };
  if (payload.call_id === undefined) return undefined;
  const known = wordOf(ENDS, event.type);
  if (known)
    return [
      payload.call_id,
      { state: known[0], words: payload.detail ?? (payload.cause ? plain(payload.cause) : ""), isBad: known[1] },
    ];
  if (event.type !== "ToolCallExecuted") return undefined;
  const took = (payload.duration_ms ?? 0) >= 100 ? duration(payload.duration_ms ?? 0) : "";
  return [
    payload.call_id,
    {
      ...{ state: wordOf(EXECUTED, payload.end) ?? plain(payload.end), words: took, isBad: payload.end !== "ok" },
      ...(payload.result !== undefined && { result: payload.result }),
    },
  ];
}

/** Results by call. A message without its text takes the result of the call's end. */
export function resultsOf(
  messages: readonly Said[],
  ends: ReadonlyMap<string, CallEnd> = new Map(),
): Map<string, { text: string; isError: boolean }> {
  const results = new Map<string, { text: string; isError: boolean }>();
  for (const { blocks } of messages)
    for (const block of blocks)
      if (isObject(block) && "tool_result" in block) {
        const { call_id, text, is_error } = block.tool_result;
        results.set(call_id, { text: text ?? ends.get(call_id)?.result ?? "", isError: is_error ?? false });
      }
  return results;
}

/** End of an earlier call, of which the page has only the result. */
export function stateOf({ text, isError }: { text: string; isError: boolean }): string {
  if (!isError) return "";
  const known = { "A person said no": "Denied", "Taken back": "Withdrawn", "Nobody answered in time": "Expired" };
  return Object.entries(known).find(([words]) => text.startsWith(words))?.[1] ?? "Failed";
}

/** Blocks of later protocol versions may be plain strings. */
export function isObject(block: MessageBlock): boolean {
  return typeof block === "object";
}

/** Appends messages; a message with a known id replaces the earlier one. */
export function joined(before: readonly Said[], more: readonly Said[]): Said[] {
  return [...before.filter((old) => !more.some(({ id }) => id === old.id)), ...more];
}

export function saidOf(posted: MessagePosted): Said {
  return {
    id: posted.message_id,
    role: plain(posted.role),
    blocks: posted.blocks as MessageBlock[],
    turn: posted.turn_id ?? undefined,
    isPartial: posted.is_partial ?? false,
  };
}

/** A question as people read it: the id of a cell, which only the model needs, is left out. */
export const withoutIds = (text: string): string => text.replace(/\b([Cc]ell \d+) \([0-9A-Z]{26}\)/g, "$1");

/**
 * Questions that ask again what a failed or stopped turn was asked: by the question shown for them, the ids of the repeats.
 * `hasFailed` says it of a turn.
 */
export function repeatsOf(messages: readonly Said[], hasFailed: (turn: string) => boolean): Map<string, string[]> {
  const repeats = new Map<string, string[]>();
  let shown: Said | undefined;
  let previous: Said | undefined;
  for (const message of messages) {
    if (message.role !== "user") continue;
    const isAgain =
      previous?.turn !== undefined &&
      hasFailed(previous.turn) &&
      JSON.stringify(previous.blocks) === JSON.stringify(message.blocks);
    if (isAgain && shown) repeats.set(shown.id, [...(repeats.get(shown.id) ?? []), message.id]);
    else shown = message;
    previous = message;
  }
  return repeats;
}
