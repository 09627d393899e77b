//! Decides a command: authorises it, names the history that it needs, dispatches it to its slice, returns its events.
//!
//! `tool_calls` is a child: a tool call consists of commands, which are decided here.

mod call_commands;
pub(crate) mod tool_calls;

use std::sync::Arc;

use crate::access::{self, authorise_command};
use crate::assistants::{self, calls, gate};
use crate::cells::{self, comments, next_input, redact_content, restore_notebook, undo};
use crate::command::Command;
use crate::context::Context;
use crate::ledger::Ledger;
use crate::notebook::{self, Notebook, provisional};
use crate::runs::kernels::StartReport;
use crate::runs::reports::{self, RunReport};
use crate::runs::{self, kernels, launches, refusals, widgets};
use crate::values::decision::{Decision, Rejection, RejectionCode, Result};
use crate::values::details::LimitName;
use crate::values::{AddComment, CommentTarget, EditSource, ExecutionReport, FlagMessage, RefusalReport};
use crate::{functions, reactive, schedules};
use notarium_record::{
    Event, EventId, ExecutionOutcome, ExplainedCause, Grant, HistoryQuery, KernelCause, RefusedEffect,
};

/// Queries on the past that [`decide`] needs for this command. The answers go into `context.history`.
pub fn required_history(notebook: &Notebook, context: &Context, command: &Command) -> Vec<HistoryQuery> {
    match command {
        _ if !notebook.exists() => Vec::new(),
        Command::Batch { commands } => {
            commands.iter().flat_map(|command| required_of_one(notebook, context, command)).collect()
        }
        Command::RequestToolCall(command) => tool_calls::required_for_request(notebook, context, command),
        Command::StartToolCall { call_id } => tool_calls::required_for_start(notebook, context, call_id),
        command => required_of_one(notebook, context, command),
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
        command => decide_one(notebook, context, command),
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
        let message = format!("a batch holds at most {limit} commands: split it");
        return Err(LimitName::BatchCommands.refusal(limit as u64, message));
    }
    match reactive::requests_of_batch(notebook, context, &commands) {
        Some(commands) => reactive::decide_plan(notebook, context, commands),
        None => decide_all(notebook, context, commands),
    }
}

// --- dispatch to slices ---

/// Queries on the past that [`decide_one`] needs.
pub(crate) fn required_of_one(notebook: &Notebook, context: &Context, command: &Command) -> Vec<HistoryQuery> {
    let query = match command {
        Command::EditSource(EditSource { cell_id, base, .. }) => cells::required_for_edit(notebook, cell_id, *base),
        Command::Undo { .. } | Command::Redo { .. } => undo::required_history(notebook, context, command),
        Command::RedactContent(_) => redact_content::required_history(notebook, context),
        Command::RestoreNotebook(_) => return restore_notebook::required_history(notebook, context),
        Command::FlagMessage(FlagMessage { conversation_id, message_id, .. }) => {
            assistants::required_for_message(notebook, conversation_id, message_id)
        }
        Command::ConfirmToolCall { call_id, .. }
        | Command::DenyToolCall { call_id, .. }
        | Command::WithdrawToolCall { call_id, .. }
        | Command::ReportToolCall { call_id, .. } => calls::required_history(notebook, call_id),
        Command::AddComment(AddComment { target: CommentTarget::Cell(place), .. })
        | Command::MoveThread { place, .. } => comments::required_for_place(notebook, place),
        command => {
            let execution = runs::named(command).and_then(|id| runs::required_history(notebook, id));
            return cells::required_for_named(notebook, command).chain(execution).collect();
        }
    };
    query.into_iter().collect()
}

/// Decides one authorised command that is no batch and begins no others.
#[expect(clippy::too_many_lines, reason = "one line for each command")]
fn decide_one(notebook: &Notebook, context: &mut Context, command: Command) -> Result<Decision> {
    use Command as C;
    match command {
        C::CreateNotebook { title, metadata, forked_from } => {
            notebook::decide_create(notebook, context, title, metadata, forked_from)
        }
        C::RenameNotebook { title } => notebook::decide_rename(notebook, context, &title),
        C::SetNotebookMetadata { metadata } => notebook::decide_metadata(notebook, context, metadata),
        C::ArchiveNotebook {} => Ok(notebook::decide_archive(notebook)),
        C::UnarchiveNotebook {} => Ok(notebook::decide_unarchive(notebook)),
        C::NameVersion { version, name } => notebook::decide_name(notebook, context, version, &name),
        C::RestoreNotebook(command) => restore_notebook::decide(notebook, context, command.version),
        C::RedactContent(command) => redact_content::decide(notebook, context, &command),
        C::EraseNotebook(command) => notebook::decide_erase(notebook, context, &command.reason),
        C::SetReactivity { reactivity } => notebook::decide_reactivity(notebook, reactivity),
        C::SetKernelSettings(command) => launches::decide_settings(notebook, command),
        C::SetPolicy { policy } => Ok(notebook::decide_policy(notebook, policy)),
        C::GrantAccess { subject, role, expires_at } => {
            access::decide_grant(notebook, context, subject, Grant { role, expires_at })
        }
        C::RevokeAccess { subject } => access::decide_revoke(notebook, subject),
        C::TakeOverNotebook { from, to } => access::decide_take_over(notebook, context, from, to),

        C::InsertCell(command) => cells::decide_insert(notebook, context, command),
        C::EditSource(edit) => undo::decide_edit(notebook, context, edit),
        C::ReplaceSource { cell_id, cell_version, source } => {
            cells::decide_replace(notebook, context, cell_id, cell_version, &source)
        }
        C::MoveCell { cell_id, place, cell_version } => {
            cells::decide_move(notebook, context, cell_id, &place, cell_version)
        }
        C::ChangeCellType { cell_id, cell_type, cell_version } => {
            cells::decide_type(notebook, context, cell_id, cell_type, cell_version)
        }
        C::DeleteCell { cell_id, cell_version } => cells::decide_delete(notebook, context, cell_id, cell_version),
        C::RestoreCell { cell_id } => cells::decide_restore(notebook, context, cell_id),
        C::SetCellMetadata { cell_id, metadata } => cells::decide_metadata(notebook, context, cell_id, metadata),
        C::SetCellAttachments { cell_id, attachments } => {
            cells::decide_attachments(notebook, context, cell_id, attachments)
        }
        C::SetCellFlags { cell_id, flags } => cells::decide_flags(notebook, context, cell_id, &flags),
        C::ClearOutputs { cell_id } => cells::decide_clear(notebook, context, cell_id),
        C::Undo { .. } | C::Redo { .. } => undo::decide(notebook, context, command),

        C::AddComment(command) => comments::decide_add(notebook, context, command),
        C::EditComment(command) => comments::decide_edit(notebook, context, command),
        C::DeleteComment { thread_id, comment_id } => comments::decide_delete(notebook, context, thread_id, comment_id),
        C::ResolveThread { thread_id } => comments::decide_resolve(notebook, thread_id),
        C::ReopenThread { thread_id } => comments::decide_reopen(notebook, thread_id),
        C::MoveThread { thread_id, place } => comments::decide_move(notebook, context, thread_id, &place),

        C::RequestExecution(command) => match reactive::is_planned(notebook, context, &command) {
            true => reactive::decide_plan(notebook, context, vec![command]),
            false => runs::decide_request(notebook, context, command),
        },
        C::CancelExecution { execution_id } => runs::decide_cancel(notebook, &execution_id),
        C::GiveUpExecution { execution_id } => runs::decide_give_up(notebook, context, &execution_id),
        C::AnswerInput { execution_id, value } => runs::decide_answer(notebook, context, execution_id, value),
        C::RecordExecution { cell_id, outputs, execution_count } => {
            runs::decide_record(notebook, context, &cell_id, outputs, execution_count)
        }
        C::ReportExecution { execution_id, fence, seq, report } => {
            RunReport { execution_id, fence, seq }.decide(notebook, context, report)
        }
        C::ReportEffectRefused(RefusalReport { execution_id, fence, kind, target, count }) => {
            refusals::decide(notebook, context, execution_id, fence, RefusedEffect { kind: kind.into(), target, count })
        }
        C::ReportNextInput(offered) => next_input::decide(notebook, context, &offered),

        C::LaunchKernel(command) => launches::decide_launch(notebook, context, command),
        C::InterruptKernel { kernel_session } => kernels::decide_interrupt(notebook, kernel_session),
        C::RestartKernel(command) => kernels::decide_restart(notebook, context, command),
        C::ShutDownKernel { kernel_session } => kernels::decide_shut_down(notebook, context, kernel_session),
        C::StopAll {} => Ok(kernels::decide_stop_all(notebook)),
        C::ClaimKernelLaunch { kernel_session } => kernels::decide_claim(notebook, context, kernel_session),
        C::ReportKernelStarted { kernel_session, language_info, sandbox, environment } => {
            let report = StartReport { language_info, sandbox, environment };
            kernels::decide_started(notebook, context, kernel_session, report)
        }
        C::ReportKernelLaunchFailed { kernel_session, cause, detail } => {
            kernels::decide_failed(notebook, context, kernel_session, ExplainedCause { cause, detail })
        }
        C::ReportKernelEnded { kernel_session, cause, detail } => {
            kernels::decide_ended(notebook, context, kernel_session, ExplainedCause { cause, detail })
        }
        C::ReconcileKernels { alive } => kernels::decide_reconcile(notebook, context, &alive),
        C::SaveWidgets { kernel_session, state } => widgets::decide_save(notebook, context, &kernel_session, &state),
        C::RegisterFunctions { kernel_session, fence, functions, places } => {
            functions::decide_register(notebook, context, kernel_session, fence, functions, places)
        }

        C::SetSchedule(command) => schedules::decide_set(notebook, context, *command),
        C::RemoveSchedule(command) => Ok(schedules::decide_remove(notebook, command.schedule_id)),
        C::RunSchedule(command) => schedules::decide_run(notebook, context, command),
        C::StartScheduledRun(command) => schedules::decide_start(notebook, context, command),
        C::EndScheduledRun(command) => schedules::decide_end(notebook, context, command),

        C::StartTurn(command) => assistants::decide_start(notebook, context, command),
        C::CancelTurn { turn_id } => assistants::decide_cancel(notebook, context, &turn_id),
        C::FlagMessage(command) => assistants::decide_flags(notebook, context, command),
        C::StartModelCall { turn_id, provider, model } => {
            assistants::decide_model_call(notebook, context, turn_id, provider, model)
        }
        C::ReportModelCall { turn_id, failure, detail, usage } => {
            assistants::decide_model_report(notebook, context, turn_id, failure, detail, usage)
        }
        C::PostReply { turn_id, role, blocks } => assistants::decide_reply(notebook, context, turn_id, role, blocks),
        C::EndTurn { turn_id, end } => assistants::decide_end(notebook, context, turn_id, end),

        C::ConfirmToolCall { call_id, arguments_hash } => {
            calls::decide_confirm(notebook, context, call_id, arguments_hash)
        }
        C::DenyToolCall { call_id, detail } => calls::decide_deny(notebook, context, call_id, detail),
        C::WithdrawToolCall { call_id, detail } => calls::decide_withdraw(notebook, context, call_id, detail),
        C::ReportToolCall { call_id, end, result } => calls::decide_report(notebook, context, call_id, end, result),
        C::SweepToolCalls {} => calls::decide_sweep(notebook, context),
        C::MoveOutputs(moves) => reports::decide_spill(notebook, context, moves),
        C::WithdrawRevoked { revoked } => calls::decide_revocation(notebook, context, &revoked),
        C::IssueGrant { grant_id, conversation_id, functions, kinds, expires_at } => {
            gate::decide_issue_grant(notebook, context, grant_id, conversation_id, functions, kinds, expires_at)
        }
        C::RevokeGrant { grant_id } => Ok(gate::decide_revoke_grant(notebook, grant_id)),

        C::Batch { .. } => Err(stands_alone("a batch holds no batches: put the commands side by side")),
        C::RequestToolCall(_) | C::StartToolCall { .. } => {
            Err(stands_alone("tool calls stand alone: take them out of the batch"))
        }
    }
}

fn stands_alone(message: &str) -> Rejection {
    RejectionCode::InvalidValue.because(message)
}

/// Decides commands in sequence, all or nothing.
pub(crate) fn decide_all(notebook: &Notebook, context: &mut Context, commands: Vec<Command>) -> Result<Decision> {
    let mut scratch = notebook.clone();
    let mut whole = Decision::nothing();
    for (index, command) in commands.into_iter().enumerate() {
        // The message does not mention the part: most senders sent no batch, but something that became one.
        // Events of earlier parts have no ids yet, so the cause is a recorded event.
        let caused_by = led_to(&notebook.ledger, &command);
        let mut part = decide_part(&scratch, context, command)
            .map_err(|rejection| Rejection { part: Some(index + 1), ..rejection })?;
        for decided in &mut part.events {
            decided.caused_by.clone_from(&caused_by);
            let recorded = provisional(&scratch, context, decided);
            scratch.apply(&recorded);
            // Events of this part are history for the next one, which may have a late change or name a deleted cell.
            if matches!(recorded.event, Event::CellSourceEdited(_) | Event::CellDeleted(_)) {
                context.history.events.push(Arc::new(recorded));
            }
        }
        whole.events.extend(part.events);
        whole.outcome.absorb(part.outcome);
    }
    Ok(whole)
}

fn decide_part(notebook: &Notebook, context: &mut Context, command: Command) -> Result<Decision> {
    if matches!(command, Command::Undo { .. } | Command::Redo { .. }) {
        return Err(stands_alone("undo and redo stand alone: take them out of the batch"));
    }
    if matches!(command, Command::EraseNotebook(_)) {
        return Err(stands_alone("an erasure stands alone: take it out of the batch"));
    }
    authorise_command(notebook, context, &command)?;
    decide_one(notebook, context, command)
}

// --- causes ---

/// Returns the event that led to a command. For commands of the server's reactors: the latest event of the turn or
/// call. For an end that an agent reports: the event by which people requested it.
fn led_to(ledger: &Ledger, command: &Command) -> Option<EventId> {
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
