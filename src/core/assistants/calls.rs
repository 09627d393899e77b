//! Existing tool calls: people confirm or deny them, the server withdraws, sweeps and reports them. A finished call is
//! rendered for the model and for people. Revoking a token or closing an account withdraws its calls and ends its turns.

use std::collections::BTreeMap;

use crate::access::{self, check_is_reactor};
use crate::assistants;
use crate::assistants::gate::{TargetChanges, deciding, operations_of};
use crate::authority::{Authority, Operation};
use crate::checks::check_not_archived;
use crate::context::{Context, History};
use crate::notebook::Notebook;
use crate::values::decision::{Decided, Decision, Outcome, RejectionCode, Result, word};
use crate::values::details::LimitName;
use crate::values::mask::mask_keys;
use crate::values::{Revoked, TargetChange};
use notarium_record::{
    Actor, Document, Event, ExplainedCause, Hash, HistoryQuery, MessageBlock, Millis, Open, Recorded, Scope, Stored,
    ToolCall, ToolCallConfirmed, ToolCallDenied, ToolCallEnd, ToolCallExecuted, ToolCallExpired, ToolCallId,
    ToolCallPhase, ToolCallVoided, ToolCallWithdrawn, Turn, TurnFailed, TurnFailure, TurnId, VoidCause,
    WithdrawalCause,
};

/// Queries the events of a call that is no longer open.
pub(crate) fn required_history(notebook: &Document, call_id: &ToolCallId) -> Option<HistoryQuery> {
    (!notebook.tool_calls.contains_key(call_id)).then(|| HistoryQuery::ToolCall { call_id: call_id.clone() })
}

/// The last event of a call in the history.
pub(crate) fn happened<'a>(history: &'a History, call_id: &ToolCallId) -> Option<&'a Recorded> {
    history
        .events
        .iter()
        .rev()
        .map(|recorded| &**recorded)
        .find(|recorded| recorded.event.tool_call_id() == Some(call_id))
}

/// Returns an open call. If the call is over, the refusal says how it ended.
pub(crate) fn known<'a>(notebook: &'a Document, history: &History, call_id: &ToolCallId) -> Result<&'a ToolCall> {
    if let Some(call) = notebook.tool_calls.get(call_id) {
        return Ok(call);
    }
    Err(match happened(history, call_id) {
        Some(recorded) => RejectionCode::ToolCallState.because(format!("call {call_id} is over: {}", end_of(recorded))),
        None => RejectionCode::UnknownToolCall.because(format!("no tool call {call_id}: list what waits")),
    })
}

/// Describes the end of a call without names; `GET …/calls/{call}` has the name of the actor.
fn end_of(recorded: &Recorded) -> String {
    let by = somebody(&recorded.envelope.actor);
    match &recorded.event {
        Event::ToolCallDenied(_) => format!("{by} denied it"),
        Event::ToolCallWithdrawn(_) => format!("{by} took it back"),
        Event::ToolCallVoided(event) => event.sentence(),
        Event::ToolCallExpired(_) => "it waited too long and has expired".to_owned(),
        _ => "it was done".to_owned(),
    }
}

fn somebody(actor: &Actor) -> &'static str {
    match actor {
        Actor::User { .. } => "a person",
        Actor::Guest { .. } => "a guest",
        Actor::Assistant { .. } => "an assistant",
        Actor::Agent { .. } => "a runtime agent",
        Actor::System => "the server",
    }
}

pub(crate) fn changed(change: TargetChange) -> ExplainedCause<VoidCause> {
    ExplainedCause::new(VoidCause::TargetChanged, change.to_string())
}

fn void(call_id: ToolCallId, why: ExplainedCause<VoidCause>) -> ToolCallVoided {
    ToolCallVoided { call_id, cause: why.cause.into(), detail: why.detail }
}

pub(crate) fn voided(call_id: ToolCallId, why: ExplainedCause<VoidCause>) -> Decision {
    let event = void(call_id.clone(), why);
    let notices = vec![format!("call {call_id} is void: {}", event.sentence())];
    let outcome = Outcome { tool_call: Some(call_id), notices, ..Outcome::default() };
    Decision::with(vec![event.into()], outcome)
}

pub(crate) fn decide_confirm(
    notebook: &Document,
    context: &Context,
    call_id: ToolCallId,
    arguments_hash: Hash,
) -> Result<Decision> {
    check_not_archived(notebook)?;
    let call = waiting(notebook, context, &call_id)?;
    check_decider(notebook, context, call)?;
    if arguments_hash != call.arguments_hash {
        let message = "these are not the arguments that wait: look at the call again, and confirm what it says";
        return Err(RejectionCode::Conflict.because(message));
    }
    if let Some(change) = TargetChanges::since(notebook).of_call(call) {
        return Ok(voided(call_id, changed(change)));
    }
    let outcome = Outcome { tool_call: Some(call_id.clone()), ..Outcome::default() };
    let by_means = context.authority.means.clone();
    Ok(Decision::with(vec![ToolCallConfirmed { call_id, arguments_hash, by_means }.into()], outcome))
}

pub(crate) fn decide_deny(
    notebook: &Document,
    context: &Context,
    call_id: ToolCallId,
    detail: Option<String>,
) -> Result<Decision> {
    let call = waiting(notebook, context, &call_id)?;
    check_decider(notebook, context, call)?;
    let (by_means, detail) = (context.authority.means.clone(), context.limits.detail(detail));
    Ok(Decision::one(ToolCallDenied { call_id, by_means, detail }))
}

fn waiting<'a>(notebook: &'a Document, context: &Context, call_id: &ToolCallId) -> Result<&'a ToolCall> {
    let call = known(notebook, &context.history, call_id)?;
    let refused = |message: String| Err(RejectionCode::ToolCallState.because(message));
    match &call.phase {
        ToolCallPhase::Waiting if call.gate.until().is_some_and(|at| at <= context.now) => {
            refused(format!("call {call_id} waited too long and has expired: the assistant must ask again"))
        }
        ToolCallPhase::Waiting => Ok(call),
        ToolCallPhase::Confirmed { by } if *by == context.actor => {
            refused(format!("you have confirmed call {call_id} already"))
        }
        ToolCallPhase::Confirmed { by } => {
            refused(format!("{} has confirmed call {call_id} already: the call's record says who", somebody(by)))
        }
        ToolCallPhase::Passed => refused(format!("call {call_id} needs no confirmation")),
        ToolCallPhase::Started { .. } => refused(format!("call {call_id} has started")),
    }
}

/// Checks that the actor may decide on calls of this risk, and may do itself what the call does.
fn check_decider(notebook: &Document, context: &Context, call: &ToolCall) -> Result<()> {
    access::authorise(notebook, context, deciding(call.risk.judged()))?;
    let may = |operation| access::may(notebook, &context.actor, &context.authority, context.now, operation);
    let Some(operation) = operations_of(call).into_iter().find(|operation| !may(*operation)) else { return Ok(()) };
    let message =
        format!("you may not {} here yourself, so you cannot confirm it: ask somebody who may", word(&operation));
    Err(RejectionCode::Forbidden.because(message))
}

/// Checks that the actor could decide on this call now, for lists of waiting calls. The command checks the scopes.
pub fn may_decide(notebook: &Document, actor: &Actor, authority: &Authority, now: Millis, call: &ToolCall) -> bool {
    let may = |operation| access::may(notebook, actor, authority, now, operation);
    may(deciding(call.risk.judged())) && operations_of(call).into_iter().all(may)
}

/// Returns the next time at which `SweepToolCalls` has an effect, in ms since 1970. 0: the target of a waiting call has
/// changed. Otherwise it is the first expiry. `None`: no call waits.
pub fn sweep_due(notebook: &Document) -> Option<Millis> {
    let waiting = notebook.tool_calls.values().filter(|call| matches!(call.phase, ToolCallPhase::Waiting));
    let changes = TargetChanges::since(notebook);
    let due = waiting.filter_map(|call| {
        let is_void = changes.of_call(call).is_some();
        if is_void { Some(0) } else { call.gate.until() }
    });
    due.min()
}

pub(crate) fn decide_withdraw(
    notebook: &Document,
    context: &Context,
    call_id: ToolCallId,
    detail: Option<String>,
) -> Result<Decision> {
    let call = known(notebook, &context.history, &call_id)?;
    RejectionCode::ToolCallState.when(matches!(call.phase, ToolCallPhase::Started { .. }), || {
        format!("call {call_id} has started: cancel its run instead")
    })?;
    let is_own = call.requested_by == context.actor
        || matches!((&call.requested_by, &context.actor), (Actor::Assistant { for_user, .. }, Actor::User { id }) if for_user == id);
    match is_own {
        true => access::require_scope(context, Scope::Edit)?,
        false => access::authorise(notebook, context, Operation::Edit)?,
    }
    let (cause, detail) = (WithdrawalCause::Requested.into(), context.limits.detail(detail));
    Ok(Decision::one(ToolCallWithdrawn { call_id, cause, detail }))
}

/// Withdraws all calls of a turn that have not started.
pub(crate) fn withdrawals(notebook: &Document, turn_id: &TurnId, cause: WithdrawalCause) -> Vec<Decided> {
    let open = notebook.tool_calls.iter().filter(|(_, call)| call.turn_id.as_ref() == Some(turn_id));
    let open = open.filter(|(_, call)| !matches!(call.phase, ToolCallPhase::Started { .. }));
    open.map(|(id, _)| withdrawal(id, cause)).collect()
}

fn withdrawal(call_id: &ToolCallId, cause: WithdrawalCause) -> Decided {
    ToolCallWithdrawn { call_id: call_id.clone(), cause: cause.into(), detail: None }.into()
}

pub(crate) fn decide_sweep(notebook: &Document, context: &Context) -> Result<Decision> {
    check_is_reactor(context)?;
    let waiting = notebook.tool_calls.iter().filter(|(_, call)| matches!(call.phase, ToolCallPhase::Waiting));
    let changes = TargetChanges::since(notebook);
    let events = waiting.filter_map(|(id, call)| {
        if call.gate.until().is_some_and(|at| at <= context.now) {
            return Some(Decided::from(ToolCallExpired { call_id: id.clone() }));
        }
        Some(void(id.clone(), changed(changes.of_call(call)?)).into())
    });
    Ok(Decision::of(events))
}

pub(crate) fn decide_report(
    notebook: &Document,
    context: &Context,
    call_id: ToolCallId,
    end: ToolCallEnd,
    result: String,
) -> Result<Decision> {
    check_is_reactor(context)?;
    let call = known(notebook, &context.history, &call_id)?;
    let ToolCallPhase::Started { at, .. } = call.phase else {
        return Err(RejectionCode::ToolCallState.because(format!("call {call_id} has not started")));
    };
    let limit = context.limits.max_tool_result_bytes;
    LimitName::ToolResult.when(result.len() > limit, limit, || {
        format!("a tool's result has at most {limit} bytes: shorten it, and put the rest in a blob")
    })?;
    let duration_ms = context.now.saturating_sub(at);
    let result = mask_keys(&result).into_owned();
    Ok(Decision::one(ToolCallExecuted { call_id, end: end.into(), result, duration_ms }))
}

// --- answers ---

/// Result of a tool call, for the model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallAnswer {
    /// The tool's answer, or the reason why there is none.
    pub text: String,
    /// True unless the call succeeded: it failed, was refused, or its outcome is unknown.
    pub is_error: bool,
}

impl CallAnswer {
    /// Makes an error answer, also for a call without an event of its end.
    pub fn error(text: impl Into<String>) -> Self {
        Self { text: text.into(), is_error: true }
    }

    /// Renders the event that ended a call for the model. `None`: the event does not end a call.
    pub fn of(event: &Event) -> Option<CallAnswer> {
        Some(match event {
            Event::ToolCallExecuted(event) => match event.end.known() {
                Some(ToolCallEnd::Ok) => CallAnswer { text: event.result.clone(), is_error: false },
                Some(ToolCallEnd::Error) => CallAnswer::error(event.result.clone()),
                Some(ToolCallEnd::OutcomeUnknown) | None => CallAnswer::error(format!(
                    "Nobody knows how this ended: it may have done all of its work, some of it or nothing. Look at what is \
                     there before you do it again. {}",
                    event.result
                )),
            },
            Event::ToolCallDenied(event) => refused("A person said no", event.detail.as_deref()),
            Event::ToolCallWithdrawn(event) => refused("Taken back", Some(&event.sentence())),
            Event::ToolCallVoided(event) => {
                let reason = event.sentence();
                CallAnswer::error(format!("Not done, because {reason}. Read it again before you ask again."))
            }
            Event::ToolCallExpired(_) => CallAnswer::error("Nobody answered in time. Ask again if it is still wanted."),
            _ => return None,
        })
    }
}

/// Ids of calls whose results the blocks name without their text. They are subjects of events to look up.
pub fn missing_results(blocks: &[Open<MessageBlock>]) -> impl Iterator<Item = String> {
    blocks.iter().filter_map(|block| match block.known()? {
        MessageBlock::ToolResult { call_id, text: None, .. } => Some(call_id.to_string()),
        _ => None,
    })
}

/// Results of calls by id, verbatim from the events that ended the calls.
pub struct CallResults(BTreeMap<ToolCallId, String>);

impl CallResults {
    /// Collects the results from events of calls.
    pub fn of(events: &[Stored]) -> Self {
        let ends = events.iter().filter(|stored| stored.envelope.event_type == "ToolCallExecuted");
        let results = ends.filter_map(|stored| match stored.typed().ok()?.event {
            Event::ToolCallExecuted(event) => Some((event.call_id, event.result)),
            _ => None,
        });
        Self(results.collect())
    }

    /// Inserts the results where a message refers to them.
    pub fn fill(&self, blocks: &mut [Open<MessageBlock>]) {
        for block in blocks {
            if let Open::Known(MessageBlock::ToolResult { call_id, text, .. }) = block
                && text.is_none()
            {
                *text = self.0.get(call_id).cloned();
            }
        }
    }
}

fn refused(what: &str, reason: Option<&str>) -> CallAnswer {
    CallAnswer::error(reason.map_or_else(|| format!("{what}."), |reason| format!("{what}: {reason}")))
}

// --- revocation ---

/// Withdraws calls that have not started, and ends turns.
pub(crate) fn decide_revocation(notebook: &Notebook, context: &mut Context, revoked: &Revoked) -> Result<Decision> {
    check_is_reactor(context)?;
    let turns = notebook.turns.iter().filter(|(id, turn)| is_turn_of(notebook, id, turn, revoked));
    let mut events: Vec<Decided> = turns.flat_map(|(id, _)| stopped(notebook, context, id)).collect();
    let of_no_turn = |call: &ToolCall| call.turn_id.as_ref().is_none_or(|id| !notebook.turns.contains_key(id));
    let calls = notebook.tool_calls.iter().filter(|(id, call)| {
        of_no_turn(call)
            && !matches!(call.phase, ToolCallPhase::Started { .. })
            && is_call_of(notebook, id, call, revoked)
    });
    events.extend(calls.map(|(id, _)| withdrawal(id, WithdrawalCause::AccessRevoked)));
    Ok(Decision::of(events))
}

fn is_turn_of(notebook: &Notebook, id: &TurnId, turn: &Turn, revoked: &Revoked) -> bool {
    match revoked {
        Revoked::Token(token) => notebook.ledger.requesters.tokens_of_turns.get(id) == Some(token),
        Revoked::User(user) => turn.requested_by.account() == Some(user),
    }
}

fn is_call_of(notebook: &Notebook, id: &ToolCallId, call: &ToolCall, revoked: &Revoked) -> bool {
    match revoked {
        Revoked::Token(token) => notebook.ledger.requesters.tokens_of_calls.get(id) == Some(token),
        Revoked::User(user) => call.requested_by.account() == Some(user),
    }
}

fn stopped(notebook: &Notebook, context: &mut Context, turn_id: &TurnId) -> Vec<Decided> {
    let mut events = withdrawals(notebook, turn_id, WithdrawalCause::AccessRevoked);
    events.extend(assistants::partial_answer(notebook, context, turn_id));
    let detail = "the session, token or account with which it was begun has ended: ask again".to_owned();
    let failed = TurnFailed { turn_id: turn_id.clone(), cause: TurnFailure::Refused.into(), detail: Some(detail) };
    events.push(failed.into());
    events
}
