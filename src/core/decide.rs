//! From a command to events. This file dispatches; the slices compute.

use crate::access::Operation;
use crate::command::Command;
use crate::context::Context;
use crate::decision::{Decided, Decision};
use crate::history::HistoryQuery;
use crate::notebook::Notebook;
use crate::rejection::{Rejection, RejectionCode};
use crate::reports::Report;
use crate::{access, cells, conversations, executions, grants, kernels, lifecycle, tool_calls, undo};
use notarium_record::{Envelope, Event, Recorded};

/// What [`decide`] will want from the past for this command; the answers go into `context.history`.
pub fn required_history(notebook: &Notebook, context: &Context, command: &Command) -> Vec<HistoryQuery> {
    match command {
        _ if !notebook.exists() => Vec::new(),
        Command::Batch { commands } => {
            commands.iter().flat_map(|command| required_history(notebook, context, command)).collect()
        }
        Command::EditSource { cell_id, base, .. } => {
            cells::required_for_edit(notebook, cell_id, *base).into_iter().collect()
        }
        Command::Undo { .. } | Command::Redo { .. } => {
            undo::required_history(notebook, context, command).into_iter().collect()
        }
        Command::FlagMessage { conversation_id, message_id, .. } => {
            conversations::required_for_message(notebook, conversation_id, message_id).into_iter().collect()
        }
        Command::RequestToolCall { .. }
        | Command::StartToolCall { .. }
        | Command::ConfirmToolCall { .. }
        | Command::DenyToolCall { .. }
        | Command::WithdrawToolCall { .. }
        | Command::ReportToolCall { .. } => tool_calls::required_history(notebook, context, command),
        command => {
            let execution = executions::named(command).and_then(|id| executions::required_history(notebook, id));
            cells::required_for_named(notebook, command).chain(execution).collect()
        }
    }
}

/// Authorises, checks, and says what happens. Pure: the same input gives the same answer, and nothing is changed.
pub fn decide(notebook: &Notebook, context: &mut Context, command: Command) -> Result<Decision, Rejection> {
    authorise(notebook, context, &command)?;
    tool_calls::check_way_in(context, &command)?;
    check_expected_version(notebook, context)?;
    decide_authorised(notebook, context, command)
}

fn authorise(notebook: &Notebook, context: &Context, command: &Command) -> Result<(), Rejection> {
    match command {
        Command::CreateNotebook { .. } => access::authorise_create(context),
        // A batch may begin by creating the notebook: each part is authorised on the state that it meets.
        Command::Batch { commands } if matches!(commands.first(), Some(Command::CreateNotebook { .. })) => {
            access::authorise_create(context)
        }
        Command::Batch { .. } => access::authorise(notebook, context, Operation::Read),
        _ => access::authorise(notebook, context, operation(command)),
    }
}

/// The right that a command needs. Total: a new command does not compile without one.
pub fn operation(command: &Command) -> Operation {
    use Command as C;
    match command {
        C::CreateNotebook { .. } | C::RenameNotebook { .. } | C::SetNotebookMetadata { .. } => Operation::Edit,
        C::InsertCell { .. } | C::EditSource { .. } | C::ReplaceSource { .. } | C::MoveCell { .. } => Operation::Edit,
        C::ChangeCellType { .. } | C::DeleteCell { .. } | C::RestoreCell { .. } | C::SetCellMetadata { .. } => {
            Operation::Edit
        }
        C::SetCellAttachments { .. } | C::SetCellFlags { .. } | C::ClearOutputs { .. } => Operation::Edit,
        C::Undo { .. } | C::Redo { .. } | C::RecordExecution { .. } | C::FlagMessage { .. } => Operation::Edit,
        C::Batch { .. } => Operation::Read,
        C::ArchiveNotebook {} | C::UnarchiveNotebook {} | C::NameVersion { .. } => Operation::Organise,
        C::GrantAccess { .. } | C::RevokeAccess { .. } => Operation::Share,
        C::RequestExecution { .. } | C::CancelExecution { .. } | C::GiveUpExecution { .. } | C::LaunchKernel { .. } => {
            Operation::Run
        }
        C::InterruptKernel { .. } | C::RestartKernel { .. } | C::ShutDownKernel { .. } | C::StopAll {} => {
            Operation::ControlKernel
        }
        C::AnswerInput { .. } => Operation::AnswerInput,
        C::StartTurn { .. } | C::CancelTurn { .. } => Operation::Converse,
        C::SetPolicy { .. } => Operation::SetPolicy,
        // What the call itself needs is asked with the call in hand.
        C::RequestToolCall { .. } | C::StartToolCall { .. } | C::ReportToolCall { .. } | C::WithdrawToolCall { .. } => {
            Operation::Read
        }
        C::StartModelCall { .. } | C::ReportModelCall { .. } | C::PostReply { .. } | C::EndTurn { .. } => {
            Operation::Read
        }
        C::SweepToolCalls {} => Operation::Read,
        C::ConfirmToolCall { .. } | C::DenyToolCall { .. } | C::RevokeGrant { .. } => Operation::ConfirmEdit,
        // It lets through what an author could not confirm call by call.
        C::IssueGrant { .. } => Operation::Confirm,
        C::ClaimKernelLaunch { .. } | C::ReportKernelStarted { .. } | C::ReportKernelLaunchFailed { .. } => {
            Operation::ReportExecution
        }
        C::ReportKernelEnded { .. } | C::ReportExecution { .. } | C::ReconcileKernels { .. } => {
            Operation::ReportExecution
        }
        C::RegisterFunctions { .. } => Operation::ReportExecution,
    }
}

fn check_expected_version(notebook: &Notebook, context: &Context) -> Result<(), Rejection> {
    match context.expected_version {
        Some(expected) if expected != notebook.version => {
            Err(Rejection::conflict("the notebook", expected, notebook.version))
        }
        _ => Ok(()),
    }
}

fn decide_authorised(notebook: &Notebook, context: &mut Context, command: Command) -> Result<Decision, Rejection> {
    use Command as C;
    match command {
        C::CreateNotebook { .. }
        | C::RenameNotebook { .. }
        | C::SetNotebookMetadata { .. }
        | C::ArchiveNotebook {}
        | C::UnarchiveNotebook {}
        | C::NameVersion { .. } => lifecycle::decide(notebook, context, command),
        C::GrantAccess { .. } | C::RevokeAccess { .. } => access::decide(notebook, context, command),
        C::InsertCell { .. }
        | C::EditSource { .. }
        | C::ReplaceSource { .. }
        | C::MoveCell { .. }
        | C::ChangeCellType { .. }
        | C::DeleteCell { .. }
        | C::RestoreCell { .. }
        | C::SetCellMetadata { .. }
        | C::SetCellAttachments { .. }
        | C::SetCellFlags { .. }
        | C::ClearOutputs { .. } => cells::decide(notebook, context, command),
        C::Undo { .. } | C::Redo { .. } => undo::decide(notebook, context, command),
        C::RequestExecution { .. }
        | C::CancelExecution { .. }
        | C::GiveUpExecution { .. }
        | C::AnswerInput { .. }
        | C::RecordExecution { .. } => executions::decide(notebook, context, command),
        C::ReportExecution { execution_id, fence, seq, report } => {
            Report { execution_id, fence, seq }.decide(notebook, context, report)
        }
        C::LaunchKernel { .. }
        | C::InterruptKernel { .. }
        | C::RestartKernel { .. }
        | C::ShutDownKernel { .. }
        | C::StopAll {}
        | C::ClaimKernelLaunch { .. }
        | C::ReportKernelStarted { .. }
        | C::ReportKernelLaunchFailed { .. }
        | C::ReportKernelEnded { .. }
        | C::RegisterFunctions { .. }
        | C::ReconcileKernels { .. } => kernels::decide(notebook, context, command),
        C::StartTurn { .. }
        | C::CancelTurn { .. }
        | C::FlagMessage { .. }
        | C::SetPolicy { .. }
        | C::StartModelCall { .. }
        | C::ReportModelCall { .. }
        | C::PostReply { .. }
        | C::EndTurn { .. } => conversations::decide(notebook, context, command),
        C::ConfirmToolCall { .. }
        | C::DenyToolCall { .. }
        | C::WithdrawToolCall { .. }
        | C::RequestToolCall { .. }
        | C::StartToolCall { .. }
        | C::ReportToolCall { .. }
        | C::SweepToolCalls {} => tool_calls::decide(notebook, context, command),
        C::IssueGrant { .. } | C::RevokeGrant { .. } => grants::decide(notebook, context, command),
        C::Batch { commands } => decide_batch(notebook, context, commands),
    }
}

/// Decides each part on the state that the parts before it leave. The first refusal refuses all.
fn decide_batch(notebook: &Notebook, context: &mut Context, commands: Vec<Command>) -> Result<Decision, Rejection> {
    if commands.len() > context.limits.max_batch_commands {
        let limit = context.limits.max_batch_commands;
        return Err(Rejection::new(
            RejectionCode::LimitExceeded,
            format!("a batch holds at most {limit} commands: split it"),
        ));
    }
    decide_all(notebook, context, commands)
}

/// Commands one after the other, all or nothing.
pub(crate) fn decide_all(
    notebook: &Notebook,
    context: &mut Context,
    commands: Vec<Command>,
) -> Result<Decision, Rejection> {
    let mut scratch = notebook.clone();
    let mut whole = Decision::nothing();
    for (index, command) in commands.into_iter().enumerate() {
        let part = decide_part(&scratch, context, command).map_err(|rejection| in_batch(index, rejection))?;
        for decided in &part.events {
            let recorded = provisional(&scratch, context, decided);
            scratch.apply(&recorded);
            // What this part did is the past of the next one: a change is late after it, a deleted cell is in the trash.
            if matches!(recorded.event, Event::CellSourceEdited(_) | Event::CellDeleted(_)) {
                context.history.events.push(recorded);
            }
        }
        whole.events.extend(part.events);
        whole.outcome.absorb(part.outcome);
    }
    Ok(whole)
}

fn decide_part(notebook: &Notebook, context: &mut Context, command: Command) -> Result<Decision, Rejection> {
    let refused = match command {
        Command::Batch { .. } => Some("a batch holds no batches: put the commands side by side"),
        Command::Undo { .. } | Command::Redo { .. } => Some("undo and redo stand alone: take them out of the batch"),
        Command::RequestToolCall { .. } | Command::StartToolCall { .. } => {
            Some("tool calls stand alone: take them out of the batch")
        }
        _ => None,
    };
    if let Some(message) = refused {
        return Err(Rejection::new(RejectionCode::InvalidValue, message));
    }
    authorise(notebook, context, &command)?;
    decide_authorised(notebook, context, command)
}

fn in_batch(index: usize, rejection: Rejection) -> Rejection {
    Rejection { message: format!("command {} of the batch: {}", index + 1, rejection.message), ..rejection }
}

/// The event as it will be recorded, but for id and hash, which no state depends on.
pub(crate) fn provisional(notebook: &Notebook, context: &Context, decided: &Decided) -> Recorded {
    let envelope = Envelope {
        id: ulid::Ulid::nil().into(),
        notebook_id: notebook.notebook_id.clone(),
        version: notebook.version + 1,
        event_type: decided.event.event_type().to_owned(),
        schema: decided.event.schema(),
        actor: context.actor.clone(),
        command_id: context.command_id.clone(),
        correlation_id: decided.correlation_id.clone().unwrap_or_else(|| context.correlation_id.clone()),
        causation_id: context.causation_id.clone(),
        undoes: decided.undoes.clone(),
        recorded_at: context.now.max(notebook.updated_at),
    };
    Recorded { envelope, event: decided.event.clone() }
}
