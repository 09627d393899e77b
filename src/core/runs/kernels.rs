//! Kernel sessions: requested, claimed by one agent, started, ended. The version of the start is the fence.
//!
//! When a kernel ends, running executions are lost, and queued ones are cancelled. Runs that were requested while the
//! agent was away get another kernel.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::Value;

use crate::access::{check_owner, owned_kernel, reporting_agent};
use crate::checks::{check_metadata, kernel_session};
use crate::context::Context;
use crate::notebook::Notebook;
use crate::runs::launches::{
    check_count, check_placement, checked_labels, coming_kernelspec, is_replaced, requested, requested_after,
};
use crate::runs::{self, assigned_at_once, cancelled, function_restores, unfinished_on};
use crate::values::decision::{Decided, Decision, Outcome, Rejection, RejectionCode, Result, word};
use crate::values::kernel_commands::RestartKernel;
use notarium_record::{
    CorrelationId, Document, Effects, EndCause, Event, Execution, ExecutionId, ExecutionLost, ExecutionStatus,
    ExplainedCause, KernelCause, KernelEffects, KernelEnvironment, KernelInterruptRequested, KernelLaunchClaimed,
    KernelLaunchFailed, KernelPhase, KernelPlacement, KernelRestartRequested, KernelSession, KernelSessionEnded,
    KernelSessionId, KernelSessionStarted, KernelShutdownRequested, RawObject,
};

// --- people ---

pub(crate) fn decide_interrupt(notebook: &Document, id: KernelSessionId) -> Result<Decision> {
    let session = kernel_session(notebook, &id)?;
    if session.phase != KernelPhase::Started {
        return Err(wrong_phase(&id, session));
    }
    Ok(Decision::one(KernelInterruptRequested { kernel_session: id }))
}

pub(crate) fn decide_restart(notebook: &Notebook, context: &mut Context, command: RestartKernel) -> Result<Decision> {
    let RestartKernel { kernel_session: id, agent, labels } = command;
    let session = kernel_session(notebook, &id)?;
    let is_unreachable = context.unreachable.contains(&id);
    if agent.is_some() || labels.is_some() {
        if session.phase == KernelPhase::Ending && !is_unreachable {
            return Err(wrong_phase(&id, session));
        }
        check_count(notebook, context, 1)?;
        let placement = KernelPlacement { agent, labels: checked_labels(labels.unwrap_or_default())? };
        return Ok(restart_elsewhere(notebook, context, &id, session, placement));
    }
    if is_unreachable {
        let placement = KernelPlacement::labelled(session.placement.labels.clone());
        return Ok(restart_elsewhere(notebook, context, &id, session, placement));
    }
    if session.phase != KernelPhase::Started {
        return Err(wrong_phase(&id, session));
    }
    let next: KernelSessionId = context.ids.ulid().into();
    let mut events = cancel_queued(notebook, &id, &EndCause::KernelRestarted.into());
    events.push(KernelRestartRequested { kernel_session: id, next: next.clone() }.into());
    Ok(Decision::with(events, Outcome { kernel_session: Some(next), ..Outcome::default() }))
}

/// Ends a kernel and requests another, which an agent of the placement starts.
fn restart_elsewhere(
    notebook: &Notebook,
    context: &mut Context,
    id: &KernelSessionId,
    session: &KernelSession,
    placement: KernelPlacement,
) -> Decision {
    let launch = requested(notebook, context, session.kernelspec.clone(), placement);
    let outcome = Outcome { kernel_session: Some(launch.kernel_session.clone()), ..Outcome::default() };
    let mut events = match context.unreachable.contains(id) {
        true => shut_down_unreachable(id, session, replaced(notebook, context, id, session)),
        // Runs that waited for a machine wait for the next one.
        false if session.phase == KernelPhase::Requested && default_but(notebook, &[id]).is_none() => end(id, session),
        false => shut_down(notebook, id, session, &EndCause::KernelRestarted.into()),
    };
    events.push(launch.into());
    Decision::with(events, outcome)
}

fn shut_down_unreachable(id: &KernelSessionId, session: &KernelSession, ended: Vec<Decided>) -> Vec<Decided> {
    let asked: Option<Decided> =
        (session.phase != KernelPhase::Ending).then(|| KernelShutdownRequested { kernel_session: id.clone() }.into());
    asked.into_iter().chain(ended).collect()
}

pub(crate) fn decide_shut_down(notebook: &Document, context: &Context, id: KernelSessionId) -> Result<Decision> {
    let session = kernel_session(notebook, &id)?;
    if context.unreachable.contains(&id) {
        let events = shut_down_unreachable(&id, session, given_up_for_good(notebook, &id, session));
        return Ok(Decision::of(events));
    }
    Ok(Decision::of(shut_down(notebook, &id, session, &EndCause::KernelShutDown.into())))
}

/// Ends a kernel whose agent is reachable, and cancels its queued runs.
fn shut_down(
    notebook: &Document,
    id: &KernelSessionId,
    session: &KernelSession,
    why: &ExplainedCause<EndCause>,
) -> Vec<Decided> {
    if session.phase == KernelPhase::Ending {
        return Vec::new();
    }
    let mut events = cancel_queued(notebook, id, why);
    events.extend(end(id, session));
    events
}

/// Requests the end of a kernel. A launch that no agent has claimed ends with the request.
fn end(id: &KernelSessionId, session: &KernelSession) -> Vec<Decided> {
    let mut events: Vec<Decided> = vec![KernelShutdownRequested { kernel_session: id.clone() }.into()];
    if session.phase == KernelPhase::Requested {
        let (cause, detail) = (KernelCause::ShutDown.into(), Some("shut down before an agent started it".to_owned()));
        events.push(KernelSessionEnded { kernel_session: id.clone(), cause, detail }.into());
    }
    events
}

pub(crate) fn decide_stop_all(notebook: &Document) -> Decision {
    let unfinished = notebook.executions.iter().filter(|(_, execution)| !execution.status.is_finished());
    Decision::of(unfinished.map(|(id, execution)| runs::cancellation(id, execution.status)))
}

fn cancel_queued(notebook: &Document, id: &KernelSessionId, why: &ExplainedCause<EndCause>) -> Vec<Decided> {
    let queued = unfinished_on(notebook, id).filter(|(_, execution)| execution.status == ExecutionStatus::Queued);
    queued.map(|(id, _)| cancelled(id, why.clone())).collect()
}

// --- agents ---

pub(crate) fn decide_claim(notebook: &Document, context: &Context, id: KernelSessionId) -> Result<Decision> {
    let session = kernel_session(notebook, &id)?;
    let Some(agent) = reporting_agent(context)? else {
        return Err(RejectionCode::Forbidden.because("only runtime agents claim kernels"));
    };
    match (session.phase, &session.agent) {
        (KernelPhase::Requested, _) => {
            check_placement(context, session, agent)?;
            Ok(Decision::one(KernelLaunchClaimed { kernel_session: id, agent: agent.clone() }))
        }
        (_, Some(owner)) if owner == agent => Ok(Decision::nothing()),
        _ => Err(RejectionCode::AlreadyClaimed.because("another agent starts this kernel: leave it")),
    }
}

/// Facts about a kernel that has started, from its agent.
pub(crate) struct StartReport {
    pub language_info: RawObject,
    pub sandbox: RawObject,
    pub environment: Option<KernelEnvironment>,
}

pub(crate) fn decide_started(
    notebook: &Notebook,
    context: &mut Context,
    id: KernelSessionId,
    report: StartReport,
) -> Result<Decision> {
    let StartReport { language_info, sandbox, environment } = report;
    let session = owned_kernel(notebook, context, &id)?;
    check_metadata(&context.limits, &language_info)?;
    check_metadata(&context.limits, &sandbox)?;
    let agent = match (session.phase, &session.agent) {
        (KernelPhase::Claimed, Some(agent)) => agent.clone(),
        (KernelPhase::Started, _) => return Ok(Decision::nothing()),
        _ => return Err(wrong_phase(&id, session)),
    };
    // The start is the first event of this decision, so its version is the fence.
    let fence = notebook.version + 1;
    let holds = KernelEffects::of_sandbox(&sandbox) == Some(KernelEffects::Held);
    let unheld = if holds { Vec::new() } else { not_held(notebook, &id) };
    let restored = if holds { Effects::held([]) } else { Effects::Free };
    let (runs, missing_functions) = function_restores::lacking(notebook, &id).runs(notebook, context, &id, &restored);
    let except: Vec<&ExecutionId> = unheld.iter().filter_map(|decided| decided.event.execution_id()).collect();
    let first = || runs.first().map(|(run, _)| runs::assignment(run, &id, &agent, fence));
    let next = runs::assign_next(notebook, &id, &agent, fence, &except).or_else(first);
    let (kernel_session, agent, kernelspec) = (id.clone(), agent.clone(), session.kernelspec.clone());
    let started = KernelSessionStarted {
        kernel_session,
        agent,
        kernelspec,
        language_info,
        sandbox,
        missing_functions,
        environment,
    };
    let runs = runs.into_iter().map(|(_, requested)| requested);
    Ok(Decision::of([started.into()].into_iter().chain(unheld).chain(runs).chain(next)))
}

pub(crate) fn decide_failed(
    notebook: &Document,
    context: &Context,
    id: KernelSessionId,
    why: ExplainedCause<KernelCause>,
) -> Result<Decision> {
    let session = owned_kernel(notebook, context, &id)?;
    if session.fence.is_some() {
        return Err(wrong_phase(&id, session));
    }
    let (cause, detail) = (why.cause.into(), context.limits.detail(why.detail));
    let failed = KernelLaunchFailed { kernel_session: id.clone(), cause, detail };
    let not_run =
        ExplainedCause::new(EndCause::KernelNotStarted, format!("the kernel did not start: {}", failed.sentence()));
    let mut events = cancel_queued(notebook, &id, &not_run);
    events.push(failed.into());
    Ok(Decision::of(events))
}

pub(crate) fn decide_ended(
    notebook: &Notebook,
    context: &mut Context,
    id: KernelSessionId,
    why: ExplainedCause<KernelCause>,
) -> Result<Decision> {
    let Some(session) = notebook.kernels.get(&id) else { return Ok(Decision::nothing()) };
    check_owner(context, session)?;
    // The agent reports the end that it was asked for; the ledger knows of the restart.
    let is_restarted = notebook.ledger.kernels.of(&id).is_some_and(|kernel| kernel.is_restarted);
    let cause = match why.cause {
        KernelCause::ShutDown if is_restarted => KernelCause::Restarted,
        cause => cause,
    };
    let why = ExplainedCause { cause, detail: context.limits.detail(why.detail) };
    let dead = match why.cause {
        KernelCause::AgentLost => with_successor(notebook, &id, session),
        _ => vec![&id],
    };
    Ok(Decision::of(lost(notebook, context, &dead, &why)))
}

/// Reconciles an agent's kernels: living ones get their next runs, missing ones have ended.
pub(crate) fn decide_reconcile(
    notebook: &Notebook,
    context: &mut Context,
    alive: &[KernelSessionId],
) -> Result<Decision> {
    let Some(agent) = reporting_agent(context)?.cloned() else { return Ok(Decision::nothing()) };
    let mine = notebook.kernels.iter().filter(|(_, session)| session.agent.as_ref() == Some(&agent));
    let (living, dead): (Vec<_>, Vec<_>) = mine.map(|(id, _)| id).partition(|id| lives(notebook, alive, id));
    context.away.retain(|id| !living.contains(&id));
    let why = ExplainedCause::new(KernelCause::AgentLost, "its runtime agent came back without this kernel");
    let mut events = lost(notebook, context, &dead, &why);
    let holds =
        |id: &KernelSessionId| notebook.kernels.get(id).is_none_or(|it| it.fence.is_none() || it.holds_effects());
    events.extend(living.iter().filter(|id| !holds(id)).flat_map(|id| not_held(notebook, id)));
    let idle: Vec<_> = living.into_iter().filter(|id| !is_given_work(&events, id)).collect();
    events.extend(idle.into_iter().filter_map(|id| runs::next_of(notebook, id)));
    Ok(Decision::of(events))
}

fn is_given_work(events: &[Decided], id: &KernelSessionId) -> bool {
    let is_its = |event: &Event| matches!(event, Event::ExecutionAssigned(event) if event.kernel_session == *id);
    events.iter().any(|decided| is_its(&decided.event))
}

/// Checks that the session is named or follows a named one: the agent may not know of its successor yet.
fn lives(notebook: &Document, alive: &[KernelSessionId], id: &KernelSessionId) -> bool {
    let place = |id| notebook.kernels.get(id).map(|session| session.requested_version);
    alive.contains(id) || alive.iter().any(|old| place(old).is_some() && place(old) == place(id))
}

// --- ends of kernels ---

/// Ends kernels that were lost together. At most one of them is the kernel for which unbound runs wait.
pub(crate) fn lost(
    notebook: &Notebook,
    context: &mut Context,
    dead: &[&KernelSessionId],
    why: &ExplainedCause<KernelCause>,
) -> Vec<Decided> {
    let (mut events, mut launch) = (Vec::new(), None);
    for (id, session) in dead.iter().filter_map(|id| Some((*id, notebook.kernels.get(*id)?))) {
        let end = KernelEnd { id, session, why, dead };
        let (ended, is_another_wanted) = end.with_its_runs(notebook, context);
        events.extend(ended);
        if is_another_wanted {
            launch = Some(requested_after(notebook, context, id, session, why));
        }
    }
    events.extend(launch.map(Decided::from));
    events
}

/// Ends a kernel whose agent is unreachable, so that no run waits for it. If the agent comes back, it ends its kernel.
pub(crate) fn given_up(notebook: &Notebook, context: &mut Context, id: &KernelSessionId) -> Vec<Decided> {
    lost(notebook, context, &[id], &gave_up())
}

/// Ends an unreachable kernel and requests another in its place, for the next run.
pub(crate) fn replace(
    notebook: &Notebook,
    context: &mut Context,
    id: &KernelSessionId,
    session: &KernelSession,
) -> (KernelSessionId, Vec<Decided>) {
    let launch = requested_after(notebook, context, id, session, &gave_up());
    let next = launch.kernel_session.clone();
    let mut events = replaced(notebook, context, id, session);
    events.push(launch.into());
    (next, events)
}

/// Ends an unreachable kernel; the caller launches another in its place.
fn replaced(notebook: &Notebook, context: &Context, id: &KernelSessionId, session: &KernelSession) -> Vec<Decided> {
    KernelEnd { id, session, why: &gave_up(), dead: &[id] }.with_its_runs(notebook, context).0
}

/// Ends an unreachable kernel without a replacement.
fn given_up_for_good(notebook: &Document, id: &KernelSessionId, session: &KernelSession) -> Vec<Decided> {
    KernelEnd { id, session, why: &gave_up(), dead: &[id] }.events(notebook, &BTreeSet::new())
}

fn gave_up() -> ExplainedCause<KernelCause> {
    ExplainedCause::new(KernelCause::GivenUp, "it was given up, because its runtime agent could not be reached")
}

/// The kernel, and the one that was to follow it after a restart: an agent that lost the first has not started the
/// second.
fn with_successor<'a>(
    notebook: &'a Document,
    id: &'a KernelSessionId,
    session: &KernelSession,
) -> Vec<&'a KernelSessionId> {
    let follows = |other: &KernelSession| {
        other.phase == KernelPhase::Claimed && other.requested_version == session.requested_version
    };
    let next = notebook.kernels.iter().filter(|(other, next)| *other != id && follows(next));
    [id].into_iter().chain(next.map(|(id, _)| id)).collect()
}

struct KernelEnd<'a> {
    id: &'a KernelSessionId,
    session: &'a KernelSession,
    why: &'a ExplainedCause<KernelCause>,
    /// All kernels that end with this one.
    dead: &'a [&'a KernelSessionId],
}

impl KernelEnd<'_> {
    /// Returns the events. `true`: some runs are left that only another kernel can run.
    fn with_its_runs(&self, notebook: &Notebook, context: &Context) -> (Vec<Decided>, bool) {
        let next = default_but(notebook, self.dead);
        let left = if self.can_move(notebook, next) { self.left(notebook, next) } else { Vec::new() };
        let mut events = self.events(notebook, &left.iter().copied().collect());
        if let (Some(next), Some(first)) = (next, left.first()) {
            events.extend(assigned_at_once(notebook, context, next, first));
        }
        (events, next.is_none() && !left.is_empty())
    }

    /// Checks that runs may move: the notebook is not archived, and the next kernel (if any) has the same kernelspec.
    fn can_move(&self, notebook: &Document, next: Option<&KernelSessionId>) -> bool {
        let is_alike = |id| notebook.kernels.get(id).is_some_and(|next| next.kernelspec == self.session.kernelspec);
        !notebook.archived && next.is_none_or(is_alike)
    }

    /// Ends the runs of the kernel, but for those in `left`. Queued ones are cancelled; running ones are lost, or
    /// cancelled if people requested the end.
    fn events(&self, notebook: &Document, left: &BTreeSet<&ExecutionId>) -> Vec<Decided> {
        let ending = unfinished_on(notebook, self.id).filter(|(id, _)| !left.contains(id));
        let mut events: Vec<Decided> = ending.map(|(id, execution)| self.of_run(id, execution)).collect();
        let (cause, detail) = (self.why.cause.into(), self.why.detail.clone());
        events.push(KernelSessionEnded { kernel_session: self.id.clone(), cause, detail }.into());
        events
    }

    /// Runs that another kernel may run, oldest first: those that were requested while the kernel's agent was away, and
    /// all that waited for a kernel which its agent lost before it ran anything, if there is no other. Runs from before the
    /// kernel's last assignment are left out, and runs that fail together with one of the kernel's. A run moves once.
    fn left<'b>(&'b self, notebook: &'b Notebook, next: Option<&KernelSessionId>) -> Vec<&'b ExecutionId> {
        let kernel = notebook.ledger.kernels.of(self.id);
        let last = kernel.map_or(0, |kernel| kernel.assigned_at);
        let is_agent_lost = matches!(self.why.cause, KernelCause::AgentLost | KernelCause::GivenUp);
        let is_unused = is_agent_lost && next.is_none() && !kernel.is_some_and(|kernel| kernel.has_run);
        let moves = |run: &Execution| match &run.kernel_session {
            Some(bound) => is_unused && bound == self.id && run.status == ExecutionStatus::Queued,
            None => true,
        };
        let (moving, ending): (Vec<_>, Vec<_>) =
            unfinished_on(notebook, self.id).partition(|(_, execution)| moves(execution));
        let ending: BTreeSet<&CorrelationId> = ending.iter().map(|(_, execution)| &execution.correlation_id).collect();
        let is_left = |execution: &Arc<Execution>| {
            execution.requested_version > last
                && !(execution.stop_on_error && ending.contains(&execution.correlation_id))
        };
        let mut left: Vec<_> = moving.into_iter().filter(|(_, execution)| is_left(execution)).collect();
        left.sort_by_key(|(_, execution)| execution.requested_version);
        left.into_iter().map(|(id, _)| id).collect()
    }

    fn of_run(&self, id: &ExecutionId, execution: &Execution) -> Decided {
        let is_wanted = self.session.phase == KernelPhase::Ending;
        let (cause, detail) = (EndCause::from(self.why.cause), self.why.detail.clone());
        if is_wanted || execution.status == ExecutionStatus::Queued {
            return cancelled(id, ExplainedCause { cause, detail });
        }
        ExecutionLost { execution_id: id.clone(), cause: cause.into(), detail }.into()
    }
}

// --- sessions ---

/// Returns a session that accepts executions; refuses others.
pub(crate) fn usable<'a>(notebook: &'a Document, id: &KernelSessionId) -> Result<&'a KernelSession> {
    let session = kernel_session(notebook, id)?;
    if session.is_usable() { Ok(session) } else { Err(wrong_phase(id, session)) }
}

/// Checks that the kernel on which code would run now holds effects: the named one, else the one that
/// [`runs::session_for`] chooses. A kernel that has started has said so itself.
pub(crate) fn hold_effects(notebook: &Notebook, context: &Context, named: Option<&KernelSessionId>) -> bool {
    let chosen = || default_session(notebook).filter(|id| !is_replaced(notebook, context, id));
    match named.or_else(chosen).and_then(|id| notebook.kernels.get(id)) {
        Some(session) if session.fence.is_some() => session.holds_effects(),
        Some(session) => context.holding_kernelspecs.contains(&session.kernelspec),
        None => context.holding_kernelspecs.contains(&coming_kernelspec(notebook)),
    }
}

/// Cancels held runs that wait for a kernel which holds no effects: it never gets them. Runs that depend on them are
/// blocked.
fn not_held(notebook: &Notebook, id: &KernelSessionId) -> Vec<Decided> {
    let held = unfinished_on(notebook, id)
        .filter(|(_, execution)| execution.status == ExecutionStatus::Queued && execution.effects.judged().are_held());
    let held: Vec<&ExecutionId> = held.map(|(run, _)| run).collect();
    let blocked = runs::blocked_after(notebook, &held).into_iter().map(Decided::from);
    held.iter().map(|run| cancelled(run, EndCause::EffectsNotHeld.into())).chain(blocked).collect()
}

/// The oldest session that takes executions.
pub fn default_session(notebook: &Document) -> Option<&KernelSessionId> {
    default_but(notebook, &[])
}

/// The oldest session that takes executions, but for those in `gone`.
fn default_but<'a>(notebook: &'a Document, gone: &[&KernelSessionId]) -> Option<&'a KernelSessionId> {
    let usable = notebook.kernels.iter().filter(|(id, session)| session.is_usable() && !gone.contains(id));
    usable.min_by_key(|(_, session)| session.requested_version).map(|(id, _)| id)
}

/// The session that runs an execution, or for which it waits.
pub fn session_of<'a>(notebook: &'a Document, execution: &'a Execution) -> Option<&'a KernelSessionId> {
    let is_queued = execution.status == ExecutionStatus::Queued;
    let bound = execution.kernel_session.as_ref().filter(|id| !is_queued || notebook.kernels.contains_key(*id));
    bound.or_else(|| default_session(notebook).filter(|_| is_queued))
}

/// Language of the notebook's kernel, as the kernel reported it.
pub(crate) fn language(notebook: &Document) -> Option<String> {
    language_of(default_session(notebook).and_then(|id| notebook.kernels.get(id))?)
}

/// Language of a kernel, as it reported it.
pub(crate) fn language_of(kernel: &KernelSession) -> Option<String> {
    let told: Value = serde_json::from_str(kernel.language_info.get()).ok()?;
    told["name"].as_str().filter(|name| !name.is_empty()).map(str::to_owned)
}

/// Checks that a kernel's name of its language means Python.
pub(crate) fn is_python_name(language: &str) -> bool {
    matches!(language.to_ascii_lowercase().as_str(), "python" | "ipython" | "python3")
}

/// Checks that the notebook's default kernel runs Python; true while no kernel has started.
pub fn is_python(notebook: &Document) -> bool {
    language(notebook).is_none_or(|language| is_python_name(&language))
}

fn wrong_phase(id: &KernelSessionId, session: &KernelSession) -> Rejection {
    let message =
        format!("kernel session {id} is {}: wait until it has started, or launch another", word(&session.phase));
    RejectionCode::KernelState.because(message)
}
