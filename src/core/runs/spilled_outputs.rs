//! Replaces large outputs by blob references (server only). Only the server has the bytes, and it guarantees that the
//! replacement shows the same.

use crate::access::check_is_reactor;
use crate::context::Context;
use crate::notebook::Notebook;
use crate::values::MoveOutputs;
use crate::values::decision::Decision;
use crate::values::rejection::{RejectionCode, Result};
use notarium_record::{Execution, ExecutionOutputsMoved, MovedOutputs, Output};

pub(crate) fn decide(
    notebook: &Notebook,
    context: &Context,
    MoveOutputs { execution_id, output_seq, moved }: MoveOutputs,
) -> Result<Decision> {
    check_is_reactor(context)?;
    let execution = notebook.executions.get(&execution_id).ok_or_else(|| {
        RejectionCode::UnknownExecution.because(format!("no cell shows execution {execution_id}: leave it"))
    })?;
    if !execution.status.is_finished() || execution.output_seq != output_seq {
        let message = format!("execution {execution_id} has written since, or still does: read it again");
        return Err(RejectionCode::ExecutionState.because(message));
    }
    if moved.is_empty() {
        return Ok(Decision::nothing());
    }
    check_places(execution, &moved)?;
    Ok(Decision::one(ExecutionOutputsMoved { execution_id, moved }))
}

/// Checks that each replacement follows the one before, replaces outputs of its kind without `display_id`, and is
/// shorter than they are.
fn check_places(execution: &Execution, moved: &[MovedOutputs]) -> Result<()> {
    let mut after = 0;
    for MovedOutputs { first, count, output } in moved {
        let end = first.saturating_add(*count);
        let replaced = execution.outputs.get(*first..end).filter(|replaced| *first >= after && !replaced.is_empty());
        let fits = replaced.is_some_and(|replaced| stands_for(output, replaced));
        if !fits {
            let message = format!("the outputs from {first} to {end} do not become that: read them again");
            return Err(RejectionCode::InvalidValue.because(message));
        }
        after = end;
    }
    Ok(())
}

fn stands_for(output: &Output, replaced: &[Output]) -> bool {
    let kind = output.output_type();
    let is_alike = |one: &Output| one.display_id.is_none() && one.output_type() == kind;
    let is_shorter = output.size_bytes() < replaced.iter().map(Output::size_bytes).sum();
    let may_join = replaced.len() == 1 || kind.as_deref() == Some("stream");
    output.display_id.is_none() && is_shorter && may_join && replaced.iter().all(is_alike)
}
