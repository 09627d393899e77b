//! Names the person who decided on a call first: the core knows only the id of that person.

use notarium_core::{Actor, Command, NotebookId, Rejection, RejectionCode, ToolCallId};
use notarium_wire::rest::{Call, CallState};

use super::recorded;
use crate::app::App;

/// Adds the name of the earlier decider to the refusal of a decision.
pub async fn named(
    app: &App,
    actor: &Actor,
    notebook: &NotebookId,
    command: &Command,
    refused: Rejection,
) -> Rejection {
    let (Command::ConfirmToolCall { call_id, .. }
    | Command::DenyToolCall { call_id, .. }
    | Command::WithdrawToolCall { call_id, .. }) = command
    else {
        return refused;
    };
    if refused.code != RejectionCode::ToolCallState {
        return refused;
    }
    let Ok(Some(call)) = recorded(app, notebook, call_id).await else { return refused };
    let message = told(app, actor, call_id, &call).await.unwrap_or(refused.message);
    Rejection { message, ..refused }
}

async fn told(app: &App, actor: &Actor, id: &ToolCallId, call: &Call) -> Option<String> {
    // For the caller's own decision the core's text says "you".
    let Actor::User { id: decider } = call.decided_by.as_ref().filter(|by| *by != actor)? else { return None };
    let name = app.accounts.store().user(decider).await.ok()??.name;
    match call.state {
        CallState::Denied => Some(format!("call {id} is over: {name} denied it")),
        CallState::Withdrawn => Some(format!("call {id} is over: {name} took it back")),
        CallState::Confirmed => Some(format!("{name} has confirmed call {id} already")),
        CallState::Running => Some(format!("{name} has confirmed call {id}, and it has started")),
        CallState::Succeeded | CallState::Failed | CallState::OutcomeUnknown => {
            Some(format!("call {id} is over: {name} confirmed it, and it was done"))
        }
        _ => None,
    }
}
