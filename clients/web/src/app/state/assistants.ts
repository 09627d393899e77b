// Assistants at work according to the document: one per conversation with an unfinished turn or call.
import type { Document } from "../../protocol/document.ts";
import type { ToolCall } from "../../protocol/messages.ts";

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
