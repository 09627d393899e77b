//! A tool call as the record tells it: asked, decided, started, ended.

use notarium_core::{
    Actor, Event, Hash, Millis, Passed, RawObject, Recorded, Risk, Target, ToolCall, ToolCallEnd, ToolCallId,
    ToolCallRequested, TurnId, Usage, Version,
};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Where a call stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum CallState {
    /// For a person.
    Waiting,
    /// Nobody need be asked; it has not started yet.
    Passed,
    /// A person said yes; it has not started yet.
    Confirmed,
    Running,
    Succeeded,
    Failed,
    /// Whoever executed it died meanwhile. It is not repeated.
    OutcomeUnknown,
    Denied,
    Withdrawn,
    /// What it would have acted on has changed, or somebody lost the right.
    Voided,
    Expired,
}

/// One tool call of an assistant, with everything that is on record of it.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Call {
    #[schema(value_type = String)]
    pub id: ToolCallId,
    pub function: String,
    /// In full.
    #[schema(value_type = Object)]
    pub arguments: RawObject,
    /// What a confirmation names: exactly these arguments of this function.
    #[schema(value_type = String)]
    pub arguments_hash: Hash,
    /// `read`, `edit`, `sensitive` or `destructive`.
    #[schema(value_type = String)]
    pub risk: Risk,
    /// Why the risk is more than the tool's own.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub reasons: Vec<String>,
    /// What it touches, as it was when the call was requested.
    #[schema(value_type = Vec<Object>)]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub targets: Vec<Target>,
    /// The assistant, and the person for whom it acts.
    #[schema(value_type = Object)]
    pub requested_by: Actor,
    /// Milliseconds since 1970, like all times here.
    pub requested_at: Millis,
    pub requested_version: Version,
    #[schema(value_type = Option<String>)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turn_id: Option<TurnId>,
    /// What the model call took that asked for it: `input_tokens`, `output_tokens`; `estimated` when the provider did not say.
    /// Calls that it asked for together show the same. Absent outside of turns.
    #[schema(value_type = Option<Object>)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model_usage: Option<Usage>,
    /// Set when a person is asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Millis>,
    /// The call that must have ended before this one starts.
    #[schema(value_type = Option<String>)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wait_for: Option<ToolCallId>,
    pub state: CallState,
    /// Who confirmed, denied or withdrew it.
    #[schema(value_type = Option<Object>)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decided_by: Option<Actor>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decided_at: Option<Millis>,
    /// Of a denial, withdrawal or voiding.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What let it through: the policy, a grant, or a person's confirmation.
    #[schema(value_type = Option<Object>)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub passed_by: Option<Passed>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub started_at: Option<Millis>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<Millis>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<Millis>,
    /// What the assistant was told.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<String>,
}

impl Call {
    /// One that waits, from the notebook's state.
    pub fn waiting(id: &ToolCallId, call: &ToolCall) -> Self {
        let requested = ToolCallRequested {
            call_id: id.clone(),
            turn_id: call.turn_id.clone(),
            function: call.function.clone(),
            arguments: call.arguments.clone(),
            arguments_hash: call.arguments_hash,
            risk: call.risk,
            reasons: call.reasons.clone(),
            targets: call.targets.clone(),
            expires_at: call.expires_at,
            wait_for: call.wait_for.clone(),
        };
        Self::requested(requested, call.requested_by.clone(), call.requested_at, call.requested_version)
    }

    /// From all events about the call, in order; `None` without its request.
    pub fn replay(events: &[Recorded]) -> Option<Self> {
        let (first, rest) = events.split_first()?;
        let Event::ToolCallRequested(event) = &first.event else { return None };
        let envelope = &first.envelope;
        let mut call = Self::requested(event.clone(), envelope.actor.clone(), envelope.recorded_at, envelope.version);
        rest.iter().for_each(|recorded| call.follow(recorded));
        Some(call)
    }

    fn requested(event: ToolCallRequested, by: Actor, at: Millis, version: Version) -> Self {
        Self {
            state: if event.expires_at.is_some() { CallState::Waiting } else { CallState::Passed },
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
            expires_at: event.expires_at,
            wait_for: event.wait_for,
            decided_by: None,
            decided_at: None,
            reason: None,
            passed_by: None,
            started_at: None,
            ended_at: None,
            duration_ms: None,
            result: None,
        }
    }

    fn follow(&mut self, recorded: &Recorded) {
        let at = recorded.envelope.recorded_at;
        match &recorded.event {
            Event::ToolCallConfirmed(_) => self.decide(recorded, CallState::Confirmed, None),
            Event::ToolCallDenied(event) => self.decide(recorded, CallState::Denied, Some(&event.reason)),
            Event::ToolCallWithdrawn(event) => self.decide(recorded, CallState::Withdrawn, Some(&event.reason)),
            Event::ToolCallVoided(event) => {
                (self.state, self.ended_at) = (CallState::Voided, Some(at));
                self.reason = Some(event.reason.clone());
            }
            Event::ToolCallExpired(_) => (self.state, self.ended_at) = (CallState::Expired, Some(at)),
            Event::ToolCallStarted(event) => {
                (self.state, self.started_at) = (CallState::Running, Some(at));
                self.passed_by = Some(event.passed_by.clone());
            }
            Event::ToolCallExecuted(event) => {
                self.state = match event.end {
                    ToolCallEnd::Ok => CallState::Succeeded,
                    ToolCallEnd::Error => CallState::Failed,
                    ToolCallEnd::OutcomeUnknown => CallState::OutcomeUnknown,
                };
                (self.ended_at, self.duration_ms) = (Some(at), Some(event.duration_ms));
                self.result = Some(event.result.clone());
            }
            _ => {}
        }
    }

    fn decide(&mut self, recorded: &Recorded, state: CallState, reason: Option<&String>) {
        let at = recorded.envelope.recorded_at;
        self.state = state;
        self.decided_by = Some(recorded.envelope.actor.clone());
        self.decided_at = Some(at);
        self.reason = reason.filter(|reason| !reason.is_empty()).cloned();
        if state != CallState::Confirmed {
            self.ended_at = Some(at);
        }
    }
}
