//! Finds `causation_id` for commands that agents or the server submit.

use crate::command::Command;
use crate::ledger::Ledger;
use crate::values::ExecutionReport;
use notarium_record::{EventId, ExecutionOutcome, KernelCause};

/// Returns the event that led to a command. For commands of the server's reactors: the latest event of the turn or
/// call. For an end that an agent reports: the event by which people requested it.
pub(crate) fn led_to(ledger: &Ledger, command: &Command) -> Option<EventId> {
    match command {
        Command::StartModelCall { turn_id, .. }
        | Command::ReportModelCall { turn_id, .. }
        | Command::PostReply { turn_id, .. }
        | Command::EndTurn { turn_id, .. } => ledger.latest_of_turns.get(turn_id).cloned(),
        Command::RequestToolCall(command) => ledger.latest_of_turns.get(command.turn_id.as_ref()?).cloned(),
        Command::StartToolCall { call_id } | Command::ReportToolCall { call_id, .. } => {
            ledger.latest_of_calls.get(call_id).cloned()
        }
        Command::ReportKernelEnded {
            kernel_session, cause: KernelCause::ShutDown | KernelCause::Restarted, ..
        } => ledger.kernels.of(kernel_session)?.end_asked_by.clone(),
        Command::ReportExecution { execution_id, report: ExecutionReport::Completed { outcome, .. }, .. } => {
            let is_interrupted = *outcome != ExecutionOutcome::Ok;
            is_interrupted.then(|| ledger.kernels.interrupt_asked_by(execution_id).cloned()).flatten()
        }
        _ => None,
    }
}
