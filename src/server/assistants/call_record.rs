//! A tool call, rebuilt from the record: requested, decided, started, ended.

use notarium_core::{Actor, Event, Millis, Recorded, ToolCall, ToolCallEnd, ToolCallId, ToolCallRequested, Version};
use notarium_wire::rest::{Call, CallState};

/// A waiting call, from the notebook's state.
pub fn waiting(id: &ToolCallId, call: &ToolCall) -> Call {
    let event = ToolCallRequested {
        call_id: id.clone(),
        turn_id: call.turn_id.clone(),
        function: call.function.clone(),
        arguments: call.arguments.clone(),
        arguments_hash: call.arguments_hash,
        risk: call.risk.clone(),
        reasons: call.reasons.clone(),
        targets: call.targets.clone(),
        gate: call.gate.clone(),
        after: call.after.clone(),
        token: None,
    };
    requested(event, call.requested_by.clone(), call.requested_at, call.requested_version)
}

/// A call from all its events, in order; `None` without its request.
pub fn replay(events: &[Recorded]) -> Option<Call> {
    let (first, rest) = events.split_first()?;
    let Event::ToolCallRequested(event) = &first.event else { return None };
    let envelope = &first.envelope;
    let mut call = requested(event.clone(), envelope.actor.clone(), envelope.recorded_at, envelope.version);
    rest.iter().for_each(|recorded| follow(&mut call, recorded));
    Some(call)
}

fn requested(event: ToolCallRequested, by: Actor, at: Millis, version: Version) -> Call {
    Call {
        state: if event.gate.waits() { CallState::Waiting } else { CallState::Passed },
        id: event.call_id,
        function: event.function,
        arguments: event.arguments,
        arguments_hash: event.arguments_hash,
        risk: event.risk,
        reasons: event.reasons,
        targets: event.targets,
        requested_by: by,
        requested_at: at,
        requested_version: version,
        turn_id: event.turn_id,
        model_usage: None,
        expires_at: event.gate.until(),
        after: event.after,
        decided_by: None,
        by_means: None,
        decided_at: None,
        reason: None,
        passed_by: None,
        started_at: None,
        ended_at: None,
        duration_ms: None,
        result: None,
    }
}

fn follow(call: &mut Call, recorded: &Recorded) {
    let at = recorded.envelope.recorded_at;
    match &recorded.event {
        Event::ToolCallConfirmed(event) => {
            decide(call, recorded, CallState::Confirmed, None);
            call.by_means.clone_from(&event.by_means);
        }
        Event::ToolCallDenied(event) => {
            decide(call, recorded, CallState::Denied, event.detail.clone());
            call.by_means.clone_from(&event.by_means);
        }
        Event::ToolCallWithdrawn(event) => decide(call, recorded, CallState::Withdrawn, Some(event.sentence())),
        Event::ToolCallVoided(event) => {
            (call.state, call.ended_at) = (CallState::Voided, Some(at));
            call.reason = Some(event.sentence());
        }
        Event::ToolCallExpired(_) => (call.state, call.ended_at) = (CallState::Expired, Some(at)),
        Event::ToolCallStarted(event) => {
            (call.state, call.started_at) = (CallState::Running, Some(at));
            call.passed_by = Some(event.passed_by.clone());
        }
        Event::ToolCallExecuted(event) => {
            call.state = match event.end.known() {
                Some(ToolCallEnd::Ok) => CallState::Succeeded,
                Some(ToolCallEnd::Error) => CallState::Failed,
                Some(ToolCallEnd::OutcomeUnknown) | None => CallState::OutcomeUnknown,
            };
            (call.ended_at, call.duration_ms) = (Some(at), Some(event.duration_ms));
            call.result = Some(event.result.clone());
        }
        _ => {}
    }
}

fn decide(call: &mut Call, recorded: &Recorded, state: CallState, reason: Option<String>) {
    let at = recorded.envelope.recorded_at;
    call.state = state;
    call.decided_by = Some(recorded.envelope.actor.clone());
    call.decided_at = Some(at);
    call.reason = reason;
    if state != CallState::Confirmed {
        call.ended_at = Some(at);
    }
}
