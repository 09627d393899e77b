// Events of unfinished tool calls, and of grants.
import type { ToolCall, ToolCallRequested } from "../messages.ts";
import type { Folding, Handlers } from "../apply.ts";
import { present, target, without } from "../values.ts";

export const toolCallEvents: Handlers = {
  ToolCallRequested: (payload, folding) => begin(payload, folding),
  ToolCallConfirmed({ call_id }, folding) {
    change(folding, call_id, { phase: "confirmed", by: folding.event.actor });
  },
  ToolCallStarted({ call_id, claimant }, folding) {
    change(folding, call_id, { phase: "started", at: folding.event.recorded_at, claimant });
  },
  ToolCallDenied: ({ call_id }, folding) => end(folding, call_id),
  ToolCallWithdrawn: ({ call_id }, folding) => end(folding, call_id),
  ToolCallVoided: ({ call_id }, folding) => end(folding, call_id),
  ToolCallExpired: ({ call_id }, folding) => end(folding, call_id),
  ToolCallExecuted: ({ call_id }, folding) => end(folding, call_id),
  GrantIssued({ grant_id, conversation_id, for_user, functions, kinds, expires_at }, { document, event, touched }) {
    const grant = { conversation_id, for_user, functions, kinds, expires_at, issued_by: event.actor };
    document.grants.set(grant_id, present(without(grant, "functions", "kinds")));
    touched.part("assistants");
  },
  GrantRevoked: ({ grant_id }, folding) => endGrant(folding, grant_id),
  GrantExpired: ({ grant_id }, folding) => endGrant(folding, grant_id),
};

function begin(payload: ToolCallRequested, { document, event, touched }: Folding): void {
  const { call_id, function: name, arguments: args, arguments_hash, risk, reasons, targets, turn_id, gate, after } = payload;
  const passes = typeof gate === "object" && "kind" in gate && gate.kind === "passes";
  const call: ToolCall = {
    ...{ function: name, arguments: args, arguments_hash, risk, reasons, turn_id, gate, after },
    targets: targets?.map((each) => (typeof each === "object" ? target(each as never) : each)),
    requested_by: event.actor,
    requested_at: event.recorded_at,
    requested_version: event.version,
    phase: { phase: passes ? "passed" : "waiting" },
  };
  document.tool_calls.set(call_id, present(without(call, "reasons", "targets")));
  touched.part("assistants");
}

function change({ document, touched }: Folding, id: string, phase: ToolCall["phase"]): void {
  const call = document.tool_calls.get(id);
  if (!call) return;
  document.tool_calls.set(id, { ...call, phase });
  touched.part("assistants");
}

function end({ document, touched }: Folding, id: string): void {
  document.tool_calls.delete(id);
  touched.part("assistants");
}

function endGrant({ document, touched }: Folding, id: string): void {
  document.grants.delete(id);
  touched.part("assistants");
}
