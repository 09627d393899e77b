//! What led to a command that nobody typed: it is recorded with the events that come of it.

use crate::command::Command;
use crate::command_values::ExecutionReport;
use crate::ledger::Ledger;
use notarium_record::{EventId, ExecutionOutcome, KernelCause};

/// The event that led to a command of the server's reactors: what it goes on from, of its turn or call. Of an end that an agent
/// reports: what people had asked of its kernel.
pub(crate) fn led_to(ledger: &Ledger, command: &Command) -> Option<EventId> {
    match command {
        Command::StartModelCall { turn_id, .. }
        | Command::ReportModelCall { turn_id, .. }
        | Command::PostReply { turn_id, .. }
        | Command::EndTurn { turn_id, .. } => ledger.latest_of_turn(turn_id),
        Command::RequestToolCall(command) => ledger.latest_of_turn(command.turn_id.as_ref()?),
        Command::StartToolCall { call_id } | Command::ReportToolCall { call_id, .. } => ledger.latest_of_call(call_id),
        Command::ReportKernelEnded {
            kernel_session, cause: KernelCause::ShutDown | KernelCause::Restarted, ..
        } => ledger.kernels.end_asked_by(kernel_session).cloned(),
        Command::ReportExecution { execution_id, report: ExecutionReport::Completed { outcome, .. }, .. } => {
            let is_interrupted = *outcome != ExecutionOutcome::Ok;
            is_interrupted.then(|| ledger.kernels.interrupt_asked_by(execution_id).cloned()).flatten()
        }
        _ => None,
    }
}
