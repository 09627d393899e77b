//! Applies events of tool calls and grants. The document has those that have not ended.

use std::sync::Arc;

use crate::document::Document;
use crate::envelope::Recorded;
use crate::event::{Event, GrantIssued, ToolCallRequested};
use crate::ids::ToolCallId;
use crate::state::{AssistantGrant, ToolCall, ToolCallPhase};

pub(super) fn apply(document: &mut Document, recorded: &Recorded) {
    match &recorded.event {
        Event::ToolCallRequested(event) => begin(document, recorded, event),
        Event::ToolCallConfirmed(event) => {
            let by = recorded.envelope.actor.clone();
            change(document, &event.call_id, |call| call.phase = ToolCallPhase::Confirmed { by });
        }
        Event::ToolCallStarted(event) => {
            let (at, claimant) = (recorded.envelope.recorded_at, event.claimant.clone());
            change(document, &event.call_id, |call| call.phase = ToolCallPhase::Started { at, claimant });
        }
        Event::GrantIssued(event) => issue(document, recorded, event),
        Event::GrantRevoked(event) => _ = document.grants.remove(&event.grant_id),
        Event::GrantExpired(event) => _ = document.grants.remove(&event.grant_id),
        event => {
            if let Some(call_id) = event.tool_call_id() {
                document.tool_calls.remove(call_id);
            }
        }
    }
}

fn begin(document: &mut Document, recorded: &Recorded, event: &ToolCallRequested) {
    let call = ToolCall {
        function: event.function.clone(),
        arguments: event.arguments.clone(),
        arguments_hash: event.arguments_hash,
        risk: event.risk.clone(),
        reasons: event.reasons.clone(),
        targets: event.targets.clone(),
        requested_by: recorded.envelope.actor.clone(),
        requested_at: recorded.envelope.recorded_at,
        requested_version: recorded.envelope.version,
        turn_id: event.turn_id.clone(),
        gate: event.gate.clone(),
        after: event.after.clone(),
        phase: if event.gate.waits() { ToolCallPhase::Waiting } else { ToolCallPhase::Passed },
    };
    document.tool_calls.insert(event.call_id.clone(), Arc::new(call));
}

fn change(document: &mut Document, call_id: &ToolCallId, with: impl FnOnce(&mut ToolCall)) {
    if let Some(call) = document.tool_calls.get_mut(call_id) {
        with(Arc::make_mut(call));
    }
}

fn issue(document: &mut Document, recorded: &Recorded, event: &GrantIssued) {
    let grant = AssistantGrant {
        conversation_id: event.conversation_id.clone(),
        for_user: event.for_user.clone(),
        functions: event.functions.clone(),
        expires_at: event.expires_at,
        issued_by: recorded.envelope.actor.clone(),
    };
    document.grants.insert(event.grant_id.clone(), grant);
}
