//! Executions: requested, assigned to one kernel session, reported by its agent, ended exactly once.

pub mod function_restores;
pub mod kernel_ends;
pub mod kernel_sessions;
pub mod kernels;
pub mod queues;
pub mod reports;
pub mod spilled_outputs;
pub mod widgets;

use crate::cells;
use crate::checks::{check_not_archived, check_source, checked_title};
use crate::command::Command;
use crate::context::Context;
use crate::functions::function_calls::FunctionCall;
use crate::notebook::Notebook;
use crate::reactive::blocked_after;
use crate::runs::queues::{assigned_at_once, cancelled, successor};
use crate::values::decision::{Decided, Decision, Outcome};
use crate::values::rejection::{Rejection, RejectionCode, Result};
use crate::values::words::word;
use crate::values::{ExecutionTarget, RequestExecution};
use notarium_record::{
    CellId, CellType, Document, EndCause, Event, Execution, ExecutionBlocked, ExecutionCancelRequested, ExecutionCause,
    ExecutionCompleted, ExecutionId, ExecutionInputAnswered, ExecutionLost, ExecutionOutcome, ExecutionOutputAppended,
    ExecutionRequested, ExecutionStatus, ExecutionSubject, HistoryQuery, KernelSessionId, Millis, Output, Version,
};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Queries an execution that has left the state: its record decides on reports.
pub(crate) fn required_history(notebook: &Document, execution_id: &ExecutionId) -> Option<HistoryQuery> {
    (!notebook.executions.contains_key(execution_id))
        .then(|| HistoryQuery::Execution { execution_id: execution_id.clone() })
}

/// The execution that a command reports on or begins; it may have left the state.
pub(crate) fn named(command: &Command) -> Option<&ExecutionId> {
    match command {
        Command::ReportExecution { execution_id, .. }
        | Command::RequestExecution(RequestExecution { execution_id: Some(execution_id), .. }) => Some(execution_id),
        _ => None,
    }
}

// --- request ---

pub(crate) fn decide_request(
    notebook: &Notebook,
    context: &mut Context,
    command: RequestExecution,
) -> Result<Decision> {
    let RequestExecution { execution_id, target, kernel_session, timeout_ms, stop_on_error } = command;
    check_not_archived(notebook)?;
    check_timeout(timeout_ms)?;
    check_queue(notebook, context, 1)?;
    let execution_id = new_id(notebook, context, execution_id)?;
    let (subject, kernel_session) = subject_of(notebook, context, target, kernel_session)?;
    request(notebook, context, execution_id, subject, kernel_session, timeout_ms, stop_on_error)
}

/// Returns the id that the sender has chosen, or a new one. Refuses an id that is in use.
pub(crate) fn new_id(notebook: &Document, context: &mut Context, chosen: Option<ExecutionId>) -> Result<ExecutionId> {
    let id = chosen.unwrap_or_else(|| context.ids.ulid().into());
    if notebook.executions.contains_key(&id) || context.history.executions.contains_key(&id) {
        return Err(RejectionCode::InvalidValue.because(format!("execution {id} exists: choose another id")));
    }
    Ok(id)
}

/// Requests the run of a tool. Its failure stops no other run, and no failed run stops it.
pub(crate) fn request_tool(
    notebook: &Notebook,
    context: &mut Context,
    subject: ExecutionSubject,
    kernel_session: Option<KernelSessionId>,
    timeout_ms: Option<Millis>,
) -> Result<Decision> {
    check_not_archived(notebook)?;
    check_queue(notebook, context, 1)?;
    let execution_id = context.ids.ulid().into();
    request(notebook, context, execution_id, subject, kernel_session, timeout_ms, false)
}

fn request(
    notebook: &Notebook,
    context: &mut Context,
    execution_id: ExecutionId,
    subject: ExecutionSubject,
    kernel_session: Option<KernelSessionId>,
    timeout_ms: Option<Millis>,
    stop_on_error: bool,
) -> Result<Decision> {
    let is_named = kernel_session.is_some();
    let (session_id, mut events) = session_for(notebook, context, kernel_session)?;
    // While the kernel's agent is away, the run is bound to no kernel: only the agent knows if it lives.
    let is_bound = is_named || !context.away.contains(&session_id);
    events.push(
        ExecutionRequested {
            kernel_session: is_bound.then(|| session_id.clone()),
            timeout_ms,
            stop_on_error,
            ..ExecutionRequested::new(execution_id.clone(), subject, ExecutionCause::Requested)
        }
        .into(),
    );
    events.extend(assigned_at_once(notebook, context, &session_id, &execution_id));
    let outcome = Outcome { executions: vec![execution_id], kernel_session: Some(session_id), ..Outcome::default() };
    Ok(Decision { events, outcome })
}

pub(crate) fn check_timeout(timeout_ms: Option<Millis>) -> Result<()> {
    RejectionCode::InvalidValue.when(
        timeout_ms == Some(0),
        || "timeout_ms is 0, which no run keeps: name the milliseconds that it may take, or leave it out",
    )
}

/// Checks that so many more runs may wait.
pub(crate) fn check_queue(notebook: &Document, context: &Context, more: usize) -> Result<()> {
    let limit = context.limits.max_queued_executions;
    // Finished runs count too here: a cheap bound that avoids the walk in all but huge notebooks.
    if notebook.executions.len() + more <= limit {
        return Ok(());
    }
    let waiting = notebook.executions.values().filter(|execution| !execution.status.is_finished()).count();
    RejectionCode::LimitExceeded.when(waiting + more > limit, || match more {
        1 => format!("{waiting} executions wait already: let some end, or stop them"),
        more => format!("{waiting} executions wait already, and this asks for {more}: at most {limit} may wait"),
    })
}

/// Subject of the run, and its kernel if one is fixed: a function runs on the kernel that has it.
fn subject_of(
    notebook: &Document,
    context: &Context,
    target: ExecutionTarget,
    kernel_session: Option<KernelSessionId>,
) -> Result<(ExecutionSubject, Option<KernelSessionId>)> {
    match target {
        ExecutionTarget::Cell { cell_id, cell_version } => {
            Ok((cell_subject(notebook, context, cell_id, cell_version)?, kernel_session))
        }
        ExecutionTarget::Scratch { source, purpose } => {
            check_source(&context.limits, &source)?;
            let purpose = checked_title(&context.limits, &purpose)?;
            Ok((ExecutionSubject::Scratch { source: source.into(), purpose }, kernel_session))
        }
        ExecutionTarget::Function { name, arguments, confirmed } => {
            let call = FunctionCall { name, arguments, is_confirmed: confirmed };
            let (source, session) = call.code(notebook, kernel_session.as_ref())?;
            check_source(&context.limits, &source)?;
            let purpose = checked_title(&context.limits, &format!("call of {}", call.name))?;
            Ok((ExecutionSubject::Scratch { source: source.into(), purpose }, Some(session)))
        }
    }
}

pub(crate) fn cell_subject(
    notebook: &Document,
    context: &Context,
    cell_id: CellId,
    expected: Option<Version>,
) -> Result<ExecutionSubject> {
    let cell = cells::live_cell(notebook, context, &cell_id)?;
    check_runnable(notebook, &cell_id, cell.content.cell_type)?;
    let cell_version = cell.cell_version;
    match expected {
        Some(expected) if expected != cell_version => {
            Err(Rejection::conflict(&format!("cell {cell_id}"), expected, cell_version))
        }
        _ => Ok(ExecutionSubject::Cell { cell_id, cell_version, source: cell.content.text_to_run().into() }),
    }
}

fn check_runnable(notebook: &Document, cell_id: &CellId, cell_type: CellType) -> Result<()> {
    let message = if !cell_type.runs() {
        format!("cell {cell_id} is a {} cell: only code cells and SQL cells run", word(&cell_type))
    } else if cell_type == CellType::Sql && !kernel_sessions::is_python(notebook) {
        format!(
            "cell {cell_id} is SQL, which runs in a Python kernel, and this notebook's kernel is another: start a Python kernel"
        )
    } else {
        return Ok(());
    };
    Err(RejectionCode::NotRunnable.because(message))
}

/// Session for a run: the named one, else the oldest usable one, else a new one that an agent may claim.
pub(crate) fn session_for(
    notebook: &Notebook,
    context: &mut Context,
    named: Option<KernelSessionId>,
) -> Result<(KernelSessionId, Vec<Decided>)> {
    if let Some(id) = named {
        kernel_sessions::usable(notebook, &id)?;
        return Ok((id, Vec::new()));
    }
    match kernel_sessions::default_session(notebook).and_then(|id| Some((id, notebook.kernels.get(id)?))) {
        Some((id, session)) if is_worth_nothing(notebook, context, id) => {
            let launch = kernel_sessions::requested(notebook, context, session.kernelspec.clone());
            let mut events = kernel_ends::replaced(notebook, context, id, session);
            let next = launch.kernel_session.clone();
            events.push(launch.into());
            Ok((next, events))
        }
        Some((id, _)) => Ok((id.clone(), Vec::new())),
        None => {
            let (id, launch) = kernel_sessions::launch(notebook, context, None)?;
            Ok((id, vec![launch.into()]))
        }
    }
}

/// Checks that a kernel is unreachable and has run nothing: to replace it loses nothing.
fn is_worth_nothing(notebook: &Notebook, context: &Context, id: &KernelSessionId) -> bool {
    context.unreachable.contains(id) && !notebook.ledger.kernels.of(id).is_some_and(|kernel| kernel.has_run)
}

/// Ends a run. After a failure, runs that depend on it or were to stop with it are blocked. The next run of the queue
/// is assigned.
pub(crate) fn ended(notebook: &Notebook, id: &ExecutionId, execution: &Execution, end: Decided) -> Decision {
    over(notebook, id, execution, end, |except| successor(notebook, execution, except))
}

fn over(
    notebook: &Notebook,
    id: &ExecutionId,
    execution: &Execution,
    end: Decided,
    next: impl FnOnce(&[&ExecutionId]) -> Option<Decided>,
) -> Decision {
    let is_ok = matches!(&end.event, Event::ExecutionCompleted(event) if event.outcome == ExecutionOutcome::Ok);
    let stopped = if is_ok { Vec::new() } else { stopped_by(notebook, id, execution) };
    let except: Vec<&ExecutionId> = stopped.iter().map(|event| &event.execution_id).chain([id]).collect();
    let next = next(&except);
    Decision::of([end].into_iter().chain(stopped.into_iter().map(Decided::from)).chain(next)).led_by_first()
}

/// Queued runs that read from the failed run, or were requested with it to stop on an error.
fn stopped_by(notebook: &Notebook, id: &ExecutionId, failed: &Execution) -> Vec<ExecutionBlocked> {
    let waits = |execution: &Execution| {
        execution.status == ExecutionStatus::Queued
            && execution.stop_on_error
            && execution.correlation_id == failed.correlation_id
    };
    let alike = notebook.executions.iter().filter(|(_, execution)| waits(execution)).map(|(id, _)| id);
    let alike: BTreeSet<&ExecutionId> = alike.collect();
    let failed: Vec<&ExecutionId> = [id].into_iter().chain(alike.iter().copied()).collect();
    let reading = blocked_after(notebook, &failed).into_iter().filter(|event| !alike.contains(&event.execution_id));
    let reading = reading.map(|event| ExecutionBlocked { blocked_by: id.clone(), ..event });
    let blocked =
        |stopped: &&ExecutionId| ExecutionBlocked { execution_id: (*stopped).clone(), blocked_by: id.clone() };
    alike.iter().map(blocked).chain(reading).collect()
}

// --- cancel, give up, answer ---

pub(crate) fn known<'a>(notebook: &'a Document, id: &ExecutionId) -> Result<&'a Arc<Execution>> {
    let unknown = || format!("no execution {id} is under way or shown: read it from the record");
    notebook.executions.get(id).ok_or_else(|| RejectionCode::UnknownExecution.because(unknown()))
}

fn is_over(id: &ExecutionId) -> Rejection {
    RejectionCode::ExecutionState.because(format!("execution {id} is over: nothing to do"))
}

pub(crate) fn decide_cancel(notebook: &Notebook, id: &ExecutionId) -> Result<Decision> {
    let execution = known(notebook, id)?;
    let blocked = match execution.status {
        status if status.is_finished() => return Err(is_over(id)),
        ExecutionStatus::Queued => blocked_after(notebook, &[id]),
        // The agent reports the end of the run.
        _ => Vec::new(),
    };
    let events = [cancellation(id, execution.status)].into_iter().chain(blocked.into_iter().map(Decided::from));
    Ok(Decision::of(events).led_by_first())
}

/// Cancels a queued run; requests an interrupt of a run that the kernel has.
pub(crate) fn cancellation(id: &ExecutionId, status: ExecutionStatus) -> Decided {
    match status {
        ExecutionStatus::Queued => cancelled(id, EndCause::Requested.into()),
        _ => ExecutionCancelRequested { execution_id: id.clone() }.into(),
    }
}

pub(crate) fn decide_give_up(notebook: &Notebook, context: &mut Context, id: &ExecutionId) -> Result<Decision> {
    let execution = known(notebook, id)?;
    if !matches!(execution.status, ExecutionStatus::Assigned | ExecutionStatus::Running) {
        return Err(is_over(id));
    }
    if let Some(events) = with_its_kernel(notebook, context, execution) {
        return Ok(Decision::of(events));
    }
    let lost = ExecutionLost { execution_id: id.clone(), cause: EndCause::GivenUp.into(), detail: None };
    if execution.kernel_session.as_ref().is_some_and(|id| context.away.contains(id)) {
        return Ok(over(notebook, id, execution, lost.into(), |_| None));
    }
    Ok(ended(notebook, id, execution, lost.into()))
}

/// Gives up a run together with its unreachable kernel, so that queued runs do not wait for it. `None`: the kernel is
/// reachable.
fn with_its_kernel(notebook: &Notebook, context: &mut Context, execution: &Execution) -> Option<Vec<Decided>> {
    let id = execution.kernel_session.as_ref().filter(|id| context.unreachable.contains(*id))?;
    notebook.kernels.contains_key(id).then(|| kernel_ends::given_up(notebook, context, id))
}

pub(crate) fn decide_answer(
    notebook: &Document,
    context: &Context,
    execution_id: ExecutionId,
    value: String,
) -> Result<Decision> {
    RejectionCode::LimitExceeded.when(value.len() > context.limits.max_input_bytes, || {
        format!("an answer has at most {} bytes: shorten it", context.limits.max_input_bytes)
    })?;
    let pending = known(notebook, &execution_id)?.pending_input.as_ref().ok_or_else(|| {
        RejectionCode::NoInputRequested.because("this execution asks nothing, or somebody has answered")
    })?;
    // A password goes to the kernel beside the log and never enters it.
    let value = (!pending.password).then_some(value);
    Ok(Decision::one(ExecutionInputAnswered { execution_id, value }))
}

// --- import ---

pub(crate) fn decide_record(
    notebook: &Document,
    context: &mut Context,
    cell_id: &CellId,
    outputs: Vec<Output>,
    execution_count: Option<u64>,
) -> Result<Decision> {
    check_recorded_size(context, &outputs)?;
    let cell = cells::live_cell(notebook, context, cell_id)?;
    let execution_id: ExecutionId = context.ids.ulid().into();
    let subject = ExecutionSubject::Cell {
        cell_id: cell_id.clone(),
        cell_version: cell.cell_version,
        source: cell.content.text_to_run().into(),
    };
    let requested = ExecutionRequested::new(execution_id.clone(), subject, ExecutionCause::Imported);
    let is_error = outputs.iter().any(Output::is_error);
    let outcome = if is_error { ExecutionOutcome::Error } else { ExecutionOutcome::Ok };
    let appended =
        ExecutionOutputAppended { execution_id: execution_id.clone(), output_seq: 1, outputs, is_limit_notice: false };
    let completed = ExecutionCompleted {
        execution_id: execution_id.clone(),
        output_seq: 2,
        outcome: outcome.into(),
        execution_count,
        notice: None,
    };
    let outcome = Outcome { executions: vec![execution_id], ..Outcome::default() };
    Ok(Decision { events: vec![requested.into(), appended.into(), completed.into()], outcome })
}

fn check_recorded_size(context: &Context, outputs: &[Output]) -> Result<()> {
    let limit = context.limits.max_recorded_output_bytes;
    RejectionCode::LimitExceeded.when(outputs.iter().map(Output::size_bytes).sum::<usize>() > limit, || {
        format!("the outputs of a recorded run have at most {limit} bytes: put large parts in blobs")
    })
}
