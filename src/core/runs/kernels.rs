//! Kernel sessions: requested, claimed by one agent, started, ended. The version of the start is the fence.

use crate::checks::{check_metadata, check_not_archived};
use crate::context::Context;
use crate::notebook::Notebook;
use crate::runs;
use crate::runs::function_restores;
use crate::runs::kernel_ends;
use crate::runs::kernel_sessions::{check_owner, launch, owned, requested, sender, session, wrong_phase};
use crate::runs::queues::{self, cancelled, unfinished_on};
use crate::values::decision::{Decided, Decision, Outcome};
use crate::values::rejection::{RejectionCode, Result};
use notarium_record::{
    Because, Document, EndCause, Event, ExecutionStatus, KernelCause, KernelInterruptRequested, KernelLaunchClaimed,
    KernelLaunchFailed, KernelPhase, KernelRestartRequested, KernelSession, KernelSessionEnded, KernelSessionId,
    KernelSessionStarted, KernelShutdownRequested, RawObject,
};

// --- people ---

pub(crate) fn decide_launch(
    notebook: &Notebook,
    context: &mut Context,
    kernelspec: Option<String>,
) -> Result<Decision> {
    check_not_archived(notebook)?;
    let (id, event) = launch(notebook, context, kernelspec)?;
    let outcome = Outcome { kernel_session: Some(id), ..Outcome::default() };
    Ok(Decision { events: vec![event.into()], outcome })
}

pub(crate) fn decide_interrupt(notebook: &Document, id: KernelSessionId) -> Result<Decision> {
    let session = session(notebook, &id)?;
    if session.phase != KernelPhase::Started {
        return Err(wrong_phase(&id, session));
    }
    Ok(Decision::one(KernelInterruptRequested { kernel_session: id }))
}

pub(crate) fn decide_restart(notebook: &Notebook, context: &mut Context, id: KernelSessionId) -> Result<Decision> {
    let session = session(notebook, &id)?;
    if context.unreachable.contains(&id) {
        return Ok(restart_elsewhere(notebook, context, &id, session));
    }
    if session.phase != KernelPhase::Started {
        return Err(wrong_phase(&id, session));
    }
    let next: KernelSessionId = context.ids.ulid().into();
    let mut events = cancel_queued(notebook, &id, &EndCause::KernelRestarted.into());
    events.push(KernelRestartRequested { kernel_session: id, next: next.clone() }.into());
    Ok(Decision { events, outcome: Outcome { kernel_session: Some(next), ..Outcome::default() } })
}

/// Restarts a kernel whose agent is unreachable: any agent that offers the kernelspec starts the new one.
fn restart_elsewhere(
    notebook: &Notebook,
    context: &mut Context,
    id: &KernelSessionId,
    session: &KernelSession,
) -> Decision {
    let launch = requested(notebook, context, session.kernelspec.clone());
    let outcome = Outcome { kernel_session: Some(launch.kernel_session.clone()), ..Outcome::default() };
    let ended = kernel_ends::replaced(notebook, context, id, session);
    let mut events = shut_down_unreachable(id, session, ended);
    events.push(launch.into());
    Decision { events, outcome }
}

fn shut_down_unreachable(id: &KernelSessionId, session: &KernelSession, ended: Vec<Decided>) -> Vec<Decided> {
    let asked: Option<Decided> =
        (session.phase != KernelPhase::Ending).then(|| KernelShutdownRequested { kernel_session: id.clone() }.into());
    asked.into_iter().chain(ended).collect()
}

pub(crate) fn decide_shut_down(notebook: &Document, context: &Context, id: KernelSessionId) -> Result<Decision> {
    let session = session(notebook, &id)?;
    if context.unreachable.contains(&id) {
        let events = shut_down_unreachable(&id, session, kernel_ends::given_up_for_good(notebook, &id, session));
        return Ok(Decision::of(events));
    }
    let mut events = cancel_queued(notebook, &id, &EndCause::KernelShutDown.into());
    match session.phase {
        KernelPhase::Ending => return Ok(Decision::nothing()),
        KernelPhase::Requested => {
            let (cause, detail) =
                (KernelCause::ShutDown.into(), Some("shut down before an agent started it".to_owned()));
            events.push(KernelShutdownRequested { kernel_session: id.clone() }.into());
            events.push(KernelSessionEnded { kernel_session: id, cause, detail }.into());
        }
        KernelPhase::Claimed | KernelPhase::Started => {
            events.push(KernelShutdownRequested { kernel_session: id }.into())
        }
    }
    Ok(Decision::of(events))
}

pub(crate) fn decide_stop_all(notebook: &Document) -> Decision {
    let unfinished = notebook.executions.iter().filter(|(_, execution)| !execution.status.is_finished());
    Decision::of(unfinished.map(|(id, execution)| runs::cancellation(id, execution.status)))
}

fn cancel_queued(notebook: &Document, id: &KernelSessionId, why: &Because<EndCause>) -> Vec<Decided> {
    let queued = unfinished_on(notebook, id).filter(|(_, execution)| execution.status == ExecutionStatus::Queued);
    queued.map(|(id, _)| cancelled(id, why.clone())).collect()
}

// --- agents ---

pub(crate) fn decide_claim(notebook: &Document, context: &Context, id: KernelSessionId) -> Result<Decision> {
    let session = session(notebook, &id)?;
    let Some(agent) = sender(context)? else {
        return Err(RejectionCode::Forbidden.because("only runtime agents claim kernels"));
    };
    match (session.phase, &session.agent) {
        (KernelPhase::Requested, _) => {
            Ok(Decision::one(KernelLaunchClaimed { kernel_session: id, agent: agent.clone() }))
        }
        (_, Some(owner)) if owner == agent => Ok(Decision::nothing()),
        _ => Err(RejectionCode::AlreadyClaimed.because("another agent starts this kernel: leave it")),
    }
}

pub(crate) fn decide_started(
    notebook: &Notebook,
    context: &mut Context,
    id: KernelSessionId,
    language_info: RawObject,
    sandbox: RawObject,
) -> Result<Decision> {
    let session = owned(notebook, context, &id)?;
    check_metadata(&context.limits, &language_info)?;
    check_metadata(&context.limits, &sandbox)?;
    let agent = match (session.phase, &session.agent) {
        (KernelPhase::Claimed, Some(agent)) => agent.clone(),
        (KernelPhase::Started, _) => return Ok(Decision::nothing()),
        _ => return Err(wrong_phase(&id, session)),
    };
    // The start is the first event of this decision, so its version is the fence.
    let fence = notebook.version + 1;
    let (runs, missing_functions) = function_restores::lacking(notebook, &id).runs(notebook, context, &id);
    let first = || runs.first().map(|(run, _)| queues::assignment(run, &id, &agent, fence));
    let next = queues::assign_next(notebook, &id, &agent, fence, &[]).or_else(first);
    let (kernel_session, agent, kernelspec) = (id.clone(), agent.clone(), session.kernelspec.clone());
    let started = KernelSessionStarted { kernel_session, agent, kernelspec, language_info, sandbox, missing_functions };
    let runs = runs.into_iter().map(|(_, requested)| requested);
    Ok(Decision::of([started.into()].into_iter().chain(runs).chain(next)))
}

pub(crate) fn decide_failed(
    notebook: &Document,
    context: &Context,
    id: KernelSessionId,
    why: Because<KernelCause>,
) -> Result<Decision> {
    let session = owned(notebook, context, &id)?;
    if session.fence.is_some() {
        return Err(wrong_phase(&id, session));
    }
    let (cause, detail) = (why.cause.into(), context.limits.detail(why.detail));
    let failed = KernelLaunchFailed { kernel_session: id.clone(), cause, detail };
    let not_run = Because::new(EndCause::KernelNotStarted, format!("the kernel did not start: {}", failed.sentence()));
    let mut events = cancel_queued(notebook, &id, &not_run);
    events.push(failed.into());
    Ok(Decision::of(events))
}

pub(crate) fn decide_ended(
    notebook: &Notebook,
    context: &mut Context,
    id: KernelSessionId,
    why: Because<KernelCause>,
) -> Result<Decision> {
    let Some(session) = notebook.kernels.get(&id) else { return Ok(Decision::nothing()) };
    check_owner(context, session)?;
    // The agent reports the end that it was asked for; the ledger knows of the restart.
    let is_restarted = notebook.ledger.kernels.of(&id).is_some_and(|kernel| kernel.is_restarted);
    let cause = match why.cause {
        KernelCause::ShutDown if is_restarted => KernelCause::Restarted,
        cause => cause,
    };
    let why = Because { cause, detail: context.limits.detail(why.detail) };
    let dead = match why.cause {
        KernelCause::AgentLost => kernel_ends::with_successor(notebook, &id, session),
        _ => vec![&id],
    };
    Ok(Decision::of(kernel_ends::lost(notebook, context, &dead, &why)))
}

/// Reconciles an agent's kernels: living ones get their next runs, missing ones have ended.
pub(crate) fn decide_reconcile(
    notebook: &Notebook,
    context: &mut Context,
    alive: &[KernelSessionId],
) -> Result<Decision> {
    let Some(agent) = sender(context)?.cloned() else { return Ok(Decision::nothing()) };
    let mine = notebook.kernels.iter().filter(|(_, session)| session.agent.as_ref() == Some(&agent));
    let (living, dead): (Vec<_>, Vec<_>) = mine.map(|(id, _)| id).partition(|id| lives(notebook, alive, id));
    context.away.retain(|id| !living.contains(&id));
    let why = Because::new(KernelCause::AgentLost, "its runtime agent came back without this kernel");
    let mut events = kernel_ends::lost(notebook, context, &dead, &why);
    let idle: Vec<_> = living.into_iter().filter(|id| !is_given_work(&events, id)).collect();
    events.extend(idle.into_iter().filter_map(|id| queues::next_of(notebook, id)));
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
