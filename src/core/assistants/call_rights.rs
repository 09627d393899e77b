//! Rights and token scopes that a tool call needs.

use crate::authority::Operation;
use crate::functions::offered::operation_of;
use crate::functions::tools::{Arguments, Tool};
use crate::values::rejection::{RejectionCode, Result};
use crate::values::words::word;
use notarium_record::{Document, ToolCall, TurnId};

/// Operations that the call needs: the tool's own, and `Run` if the call goes on to run code.
pub(crate) fn operations(own: Operation, arguments: &Arguments) -> Vec<Operation> {
    let runs = match arguments {
        Arguments::CreateCells(call) => call.run,
        Arguments::CreateNotebook(call) => call.run,
        _ => false,
    };
    [own].into_iter().chain(runs.then_some(Operation::Run)).collect()
}

pub(crate) fn operations_of(call: &ToolCall) -> Vec<Operation> {
    let own = operation_of(&call.function);
    let typed = Tool::find(&call.function).and_then(|tool| tool.arguments(&call.arguments).ok());
    typed.map_or_else(|| vec![own], |typed| operations(own, &typed))
}

/// Limits a turn to the scopes and notebooks of the token or session with which it was begun.
pub(crate) fn check_token(
    notebook: &Document,
    turn_id: Option<&TurnId>,
    arguments: &Arguments,
    operations: &[Operation],
) -> Result<()> {
    let Some(turn) = turn_id.and_then(|turn_id| notebook.turns.get(turn_id)) else { return Ok(()) };
    if turn.is_bound && matches!(arguments, Arguments::CreateNotebook(_) | Arguments::ListNotebooks(_)) {
        let message = "the token with which this turn was begun is bound to some notebooks: stay in this one";
        return Err(RejectionCode::Forbidden.because(message));
    }
    let mut scopes = operations.iter().map(|operation| operation.scope());
    scopes.find(|scope| !turn.scopes.contains(scope)).map_or(Ok(()), |scope| {
        let message = format!("the token with which this turn was begun lacks the scope {}: do without", word(&scope));
        Err(RejectionCode::Forbidden.because(message))
    })
}
