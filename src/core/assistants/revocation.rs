//! Withdraws calls and ends turns that were requested with a revoked token or for a closed account.

use crate::access::check_is_reactor;
use crate::assistants::call_decisions::{withdrawal, withdrawals};
use crate::assistants::unposted;
use crate::context::Context;
use crate::notebook::Notebook;
use crate::values::Revoked;
use crate::values::decision::{Decided, Decision};
use crate::values::rejection::Result;
use notarium_record::{
    Actor, ToolCall, ToolCallId, ToolCallPhase, Turn, TurnFailed, TurnFailure, TurnId, WithdrawalCause,
};

/// Withdraws calls that have not started, and ends turns.
pub(crate) fn decide(notebook: &Notebook, context: &mut Context, revoked: &Revoked) -> Result<Decision> {
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
        Revoked::User(user) => matches!(&turn.requested_by, Actor::User { id } if id == user),
    }
}

fn is_call_of(notebook: &Notebook, id: &ToolCallId, call: &ToolCall, revoked: &Revoked) -> bool {
    match revoked {
        Revoked::Token(token) => notebook.ledger.requesters.tokens_of_calls.get(id) == Some(token),
        Revoked::User(user) => matches!(&call.requested_by, Actor::Assistant { for_user, .. } if for_user == user),
    }
}

fn stopped(notebook: &Notebook, context: &mut Context, turn_id: &TurnId) -> Vec<Decided> {
    let mut events = withdrawals(notebook, turn_id, WithdrawalCause::AccessRevoked);
    events.extend(unposted::kept(notebook, context, turn_id));
    let detail = "the session, token or account with which it was begun has ended: ask again".to_owned();
    let failed = TurnFailed { turn_id: turn_id.clone(), cause: TurnFailure::Refused.into(), detail: Some(detail) };
    events.push(failed.into());
    events
}
