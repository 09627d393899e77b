//! Executions: requested, queued, assigned to one kernel session, reported by its agent, ended exactly once.

pub(crate) mod expected_effects;
pub(crate) mod function_restores;
pub(crate) mod kernels;
pub(crate) mod launches;
pub(crate) mod refusals;
pub(crate) mod reports;
pub(crate) mod widgets;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::checks::{check_not_archived, check_source, checked_title, live_cell};
use crate::command::Command;
use crate::context::Context;
use crate::functions::FunctionCall;
use crate::notebook::Notebook;
use crate::runs::expected_effects::EffectsRequest;
use crate::values::decision::{Decided, Decision, Outcome, Rejection, RejectionCode, Result, word};
use crate::values::details::LimitName;
use crate::values::kernel_commands::LaunchKernel;
use crate::values::{ExecutionTarget, NextInput, RefusalReport, RequestExecution};
use notarium_record::{
    Actor, AgentId, CellId, CellType, Document, Effects, EndCause, Event, Execution, ExecutionAssigned,
    ExecutionBlocked, ExecutionCancelRequested, ExecutionCancelled, ExecutionCause, ExecutionCompleted, ExecutionId,
    ExecutionInputAnswered, ExecutionLost, ExecutionOutcome, ExecutionOutputAppended, ExecutionRequested,
    ExecutionStatus, ExecutionSubject, ExplainedCause, HistoryQuery, KernelPhase, KernelSession, KernelSessionId,
    Millis, Output, Version,
};

/// Queries an execution that has left the state: its record decides on reports.
pub(crate) fn required_history(notebook: &Document, execution_id: &ExecutionId) -> Option<HistoryQuery> {
    (!notebook.executions.contains_key(execution_id))
        .then(|| HistoryQuery::Execution { execution_id: execution_id.clone() })
}

/// The execution that a command reports on or begins; it may have left the state.
pub(crate) fn named(command: &Command) -> Option<&ExecutionId> {
    match command {
        Command::ReportExecution { execution_id, .. }
        | Command::ReportEffectRefused(RefusalReport { execution_id, .. })
        | Command::ReportNextInput(NextInput { execution_id, .. })
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
    check_not_archived(notebook)?;
    check_asked(context, &command)?;
    let effects_request = EffectsRequest::of(notebook, &command);
    let RequestExecution { execution_id, target, kernel_session, timeout_ms, stop_on_error, effects: _ } = command;
    check_queue(notebook, context, 1)?;
    let execution_id = new_id(notebook, context, execution_id)?;
    let (subject, kernel_session) = subject_of(notebook, context, target, kernel_session)?;
    let run = NewRun { execution_id, subject, kernel_session, timeout_ms, stop_on_error, effects_request };
    request(notebook, context, run)
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
    let (execution_id, effects_request) = (context.ids.ulid().into(), EffectsRequest::default());
    let run = NewRun { execution_id, subject, kernel_session, timeout_ms, stop_on_error: false, effects_request };
    request(notebook, context, run)
}

struct NewRun {
    execution_id: ExecutionId,
    subject: ExecutionSubject,
    kernel_session: Option<KernelSessionId>,
    timeout_ms: Option<Millis>,
    stop_on_error: bool,
    effects_request: EffectsRequest,
}

fn request(notebook: &Notebook, context: &mut Context, run: NewRun) -> Result<Decision> {
    let NewRun { execution_id, subject, kernel_session, timeout_ms, stop_on_error, effects_request } = run;
    let is_named = kernel_session.is_some();
    let (session_id, mut events) = session_for(notebook, context, kernel_session)?;
    let effects = expected_effects::of_run(notebook, context, &session_id, &subject, &effects_request);
    // While the kernel's agent is away, the run is bound to no kernel: only the agent knows if it lives.
    let is_bound = is_named || !context.away.contains(&session_id);
    events.push(
        ExecutionRequested {
            kernel_session: is_bound.then(|| session_id.clone()),
            timeout_ms,
            stop_on_error,
            ..ExecutionRequested::new(execution_id.clone(), subject, ExecutionCause::Requested, effects)
        }
        .into(),
    );
    events.extend(assigned_at_once(notebook, context, &session_id, &execution_id));
    let outcome = Outcome { executions: vec![execution_id], kernel_session: Some(session_id), ..Outcome::default() };
    Ok(Decision::with(events, outcome))
}

/// Checks what a request says about its run. Only a person allows effects.
pub(crate) fn check_asked(context: &Context, request: &RequestExecution) -> Result<()> {
    check_timeout(request.timeout_ms)?;
    let is_person = matches!(context.actor, Actor::User { .. } | Actor::Guest { .. });
    RejectionCode::Forbidden
        .when(request.effects.is_some() && !is_person, || "only a person may allow effects to a run")
}

fn check_timeout(timeout_ms: Option<Millis>) -> Result<()> {
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
    LimitName::QueuedExecutions.when(waiting + more > limit, limit, || match more {
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
    let cell = live_cell(notebook, context, &cell_id)?;
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
    } else if cell_type == CellType::Sql && !kernels::is_python(notebook) {
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
        kernels::usable(notebook, &id)?;
        return Ok((id, Vec::new()));
    }
    match kernels::default_session(notebook).and_then(|id| Some((id, notebook.kernels.get(id)?))) {
        Some((id, session)) if launches::is_replaced(notebook, context, id) => {
            Ok(kernels::replace(notebook, context, id, session))
        }
        Some((id, _)) => Ok((id.clone(), Vec::new())),
        None => {
            let (id, launch) = launches::launch(notebook, context, LaunchKernel::default())?;
            Ok((id, vec![launch.into()]))
        }
    }
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
    notebook.kernels.contains_key(id).then(|| kernels::given_up(notebook, context, id))
}

pub(crate) fn decide_answer(
    notebook: &Document,
    context: &Context,
    execution_id: ExecutionId,
    value: String,
) -> Result<Decision> {
    LimitName::Input.when(value.len() > context.limits.max_input_bytes, context.limits.max_input_bytes, || {
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
    let cell = live_cell(notebook, context, cell_id)?;
    let execution_id: ExecutionId = context.ids.ulid().into();
    let subject = ExecutionSubject::Cell {
        cell_id: cell_id.clone(),
        cell_version: cell.cell_version,
        source: cell.content.text_to_run().into(),
    };
    let requested = ExecutionRequested::new(execution_id.clone(), subject, ExecutionCause::Imported, Effects::Free);
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
    Ok(Decision::with(vec![requested.into(), appended.into(), completed.into()], outcome))
}

fn check_recorded_size(context: &Context, outputs: &[Output]) -> Result<()> {
    let limit = context.limits.max_recorded_output_bytes;
    LimitName::RecordedOutputs.when(outputs.iter().map(Output::size_bytes).sum::<usize>() > limit, limit, || {
        format!("the outputs of a recorded run have at most {limit} bytes: put large parts in blobs")
    })
}

// --- queues of kernels ---

/// Assigns a run in the same commit as its request, if the kernel is idle and its agent is connected.
pub(crate) fn assigned_at_once(
    notebook: &Notebook,
    context: &Context,
    id: &KernelSessionId,
    execution_id: &ExecutionId,
) -> Option<Decided> {
    let session = started(notebook, id).filter(|_| !context.away.contains(id))?;
    let (agent, fence) = (session.agent.as_ref()?, session.fence?);
    if is_busy(notebook, id) {
        return None;
    }
    assign_next(notebook, id, agent, fence, &[]).or_else(|| Some(assignment(execution_id, id, agent, fence)))
}

/// Assigns the next run in the queue of a started kernel, if it is idle.
pub(crate) fn next_of(notebook: &Notebook, id: &KernelSessionId) -> Option<Decided> {
    let session = started(notebook, id).filter(|_| !is_busy(notebook, id))?;
    assign_next(notebook, id, session.agent.as_ref()?, session.fence?, &[])
}

fn is_busy(notebook: &Notebook, id: &KernelSessionId) -> bool {
    match notebook.ledger.kernels.of(id).and_then(|kernel| kernel.assigned.as_ref()) {
        Some(run) => notebook.executions.get(run).is_some_and(|run| !run.status.is_finished()),
        None => unfinished_on(notebook, id).any(|(_, execution)| execution.status != ExecutionStatus::Queued),
    }
}

fn started<'a>(notebook: &'a Document, id: &KernelSessionId) -> Option<&'a KernelSession> {
    notebook.kernels.get(id).filter(|session| session.phase == KernelPhase::Started)
}

pub(crate) fn assignment(
    id: &ExecutionId,
    kernel_session: &KernelSessionId,
    agent: &AgentId,
    fence: Version,
) -> Decided {
    let (execution_id, kernel_session, agent) = (id.clone(), kernel_session.clone(), agent.clone());
    ExecutionAssigned { execution_id, kernel_session, agent, fence }.into()
}

/// Executions of a session that have not ended. Unbound ones wait for the default kernel, and so do queued ones whose kernel
/// has ended.
pub(crate) fn unfinished_on<'a>(
    notebook: &'a Document,
    session: &'a KernelSessionId,
) -> impl Iterator<Item = (&'a ExecutionId, &'a Arc<Execution>)> {
    let is_default = kernels::default_session(notebook) == Some(session);
    let is_its = move |execution: &Execution| match &execution.kernel_session {
        Some(id) if id == session => true,
        Some(id) => is_default && execution.status == ExecutionStatus::Queued && !notebook.kernels.contains_key(id),
        None => is_default,
    };
    notebook.executions.iter().filter(move |(_, execution)| !execution.status.is_finished() && is_its(execution))
}

/// Assigns the next queued run in the order of requests, but for those in `except`. A held run is never assigned to a
/// kernel that is known to hold no effects.
pub(crate) fn assign_next(
    notebook: &Document,
    session_id: &KernelSessionId,
    agent: &AgentId,
    fence: Version,
    except: &[&ExecutionId],
) -> Option<Decided> {
    let is_unheld = notebook.kernels.get(session_id).is_some_and(|it| it.fence.is_some() && !it.holds_effects());
    let queued = unfinished_on(notebook, session_id).filter(|(id, execution)| {
        execution.status == ExecutionStatus::Queued
            && !except.contains(id)
            && !(is_unheld && execution.effects.judged().are_held())
    });
    let (execution_id, _) = queued.min_by_key(|(_, execution)| execution.requested_version)?;
    Some(assignment(execution_id, session_id, agent, fence))
}

/// Assigns the next run when `ended` leaves its kernel session free.
fn successor(notebook: &Document, ended: &Execution, except: &[&ExecutionId]) -> Option<Decided> {
    let session_id = ended.kernel_session.as_ref()?;
    let session = started(notebook, session_id)?;
    assign_next(notebook, session_id, session.agent.as_ref()?, session.fence?, except)
}

pub(crate) fn cancelled(id: &ExecutionId, why: ExplainedCause<EndCause>) -> Decided {
    ExecutionCancelled { execution_id: id.clone(), cause: why.cause.into(), detail: why.detail }.into()
}

/// Blocks the queued runs that depend on one of the failed runs, also through others.
pub(crate) fn blocked_after(notebook: &Notebook, failed: &[&ExecutionId]) -> Vec<ExecutionBlocked> {
    let waits = &notebook.ledger.reactive.waits;
    if waits.is_empty() || failed.is_empty() {
        return Vec::new();
    }
    let mut why: BTreeMap<&ExecutionId, &ExecutionId> = failed.iter().map(|id| (*id, *id)).collect();
    let mut events = Vec::new();
    // A run has its place in the queue after those for which it waits.
    let version = |id: &ExecutionId| notebook.executions.get(id).map(|run| (run.requested_version, run.status));
    let mut queue: Vec<_> = waits.iter().filter_map(|(id, waits)| Some((version(id)?, id, waits))).collect();
    queue.sort_by_key(|((requested, _), ..)| *requested);
    for ((_, status), id, waits) in queue {
        let Some(by) = waits.iter().find_map(|one| why.get(one).copied()) else { continue };
        if status == ExecutionStatus::Queued && !why.contains_key(id) {
            why.insert(id, by);
            events.push(ExecutionBlocked { execution_id: id.clone(), blocked_by: by.clone() });
        }
    }
    events
}
