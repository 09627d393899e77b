//! Decides a command: authorises it, names the history that it needs, returns its events.

pub mod call_commands;
pub mod causation;
pub mod dispatch;
pub mod tool_calls;

use crate::access::authorise_command;
use crate::command::Command;
use crate::context::Context;
use crate::decide::causation::led_to;
use crate::decide::dispatch::decide_all;
use crate::notebook::Notebook;
use crate::reactive::planned;
use crate::values::decision::Decision;
use crate::values::rejection::{Rejection, RejectionCode, Result};
use notarium_record::HistoryQuery;

/// Queries on the past that [`decide`] needs for this command. The answers go into `context.history`.
pub fn required_history(notebook: &Notebook, context: &Context, command: &Command) -> Vec<HistoryQuery> {
    match command {
        _ if !notebook.exists() => Vec::new(),
        Command::Batch { commands } => {
            commands.iter().flat_map(|command| dispatch::required_history(notebook, context, command)).collect()
        }
        Command::RequestToolCall(command) => tool_calls::required_for_request(notebook, context, command),
        Command::StartToolCall { call_id } => tool_calls::required_for_start(notebook, context, call_id),
        command => dispatch::required_history(notebook, context, command),
    }
}

/// Authorises and checks a command, and returns its events. Pure: the same input gives the same answer, and the
/// notebook stays unchanged.
pub fn decide(notebook: &Notebook, context: &mut Context, command: Command) -> Result<Decision> {
    authorise_command(notebook, context, &command)?;
    tool_calls::check_way_in(context, &command)?;
    check_expected_version(notebook, context)?;
    context.causation_id = led_to(&notebook.ledger, &command);
    match command {
        Command::Batch { commands } => decide_batch(notebook, context, commands),
        Command::RequestToolCall(command) => tool_calls::decide_request(notebook, context, command),
        Command::StartToolCall { call_id } => tool_calls::decide_start(notebook, context, call_id),
        command => dispatch::decide_one(notebook, context, command),
    }
}

fn check_expected_version(notebook: &Notebook, context: &Context) -> Result<()> {
    match context.expected_version {
        Some(expected) if expected != notebook.version => {
            Err(Rejection::conflict("the notebook", expected, notebook.version))
        }
        _ => Ok(()),
    }
}

/// Decides each part on the state that the parts before it leave. The first refusal refuses all.
fn decide_batch(notebook: &Notebook, context: &mut Context, commands: Vec<Command>) -> Result<Decision> {
    let limit = context.limits.max_batch_commands;
    if commands.len() > limit {
        return Err(RejectionCode::LimitExceeded.because(format!("a batch holds at most {limit} commands: split it")));
    }
    match planned::of_batch(notebook, context, &commands) {
        Some(commands) => planned::decide(notebook, context, commands),
        None => decide_all(notebook, context, commands),
    }
}
