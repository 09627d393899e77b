//! Kernel sessions: requested, claimed by one agent, started, ended. The version of the start is the fence.

use crate::command::Command;
use crate::context::Context;
use crate::decision::{Decided, Decision, Outcome};
use crate::executions::{self, unfinished_on};
use crate::functions;
use crate::lifecycle::{check_metadata, check_not_archived};
use crate::rejection::{Rejection, RejectionCode};
use notarium_record::{
    Actor, AgentId, Document, Execution, ExecutionCancelled, ExecutionId, ExecutionLost, ExecutionStatus,
    KernelInterruptRequested, KernelLaunchClaimed, KernelLaunchFailed, KernelLaunchRequested, KernelPhase,
    KernelRestartRequested, KernelSession, KernelSessionEnded, KernelSessionId, KernelSessionStarted,
    KernelShutdownRequested, RawObject,
};

pub(crate) fn decide(notebook: &Document, context: &mut Context, command: Command) -> Result<Decision, Rejection> {
    match command {
        Command::LaunchKernel { kernelspec } => decide_launch(notebook, context, kernelspec),
        Command::InterruptKernel { kernel_session } => decide_interrupt(notebook, kernel_session),
        Command::RestartKernel { kernel_session } => decide_restart(notebook, context, kernel_session),
        Command::ShutDownKernel { kernel_session } => decide_shut_down(notebook, kernel_session),
        Command::StopAll {} => Ok(decide_stop_all(notebook)),
        Command::ClaimKernelLaunch { kernel_session } => decide_claim(notebook, context, kernel_session),
        Command::ReportKernelStarted { kernel_session, language_info } => {
            decide_started(notebook, context, kernel_session, language_info)
        }
        Command::ReportKernelLaunchFailed { kernel_session, cause } => {
            decide_failed(notebook, context, kernel_session, &cause)
        }
        Command::ReportKernelEnded { kernel_session, cause } => decide_ended(notebook, context, kernel_session, &cause),
        Command::RegisterFunctions { kernel_session, fence, functions } => {
            functions::decide_register(notebook, context, kernel_session, fence, functions)
        }
        Command::ReconcileKernels { alive } => decide_reconcile(notebook, context, &alive),
        _ => unreachable!("the dispatcher sends kernel commands only"),
    }
}

// --- people ---

fn decide_launch(
    notebook: &Document,
    context: &mut Context,
    kernelspec: Option<String>,
) -> Result<Decision, Rejection> {
    check_not_archived(notebook)?;
    let (id, event) = launch(notebook, context, kernelspec)?;
    let outcome = Outcome { kernel_session: Some(id), ..Outcome::default() };
    Ok(Decision { events: vec![event.into()], outcome })
}

/// The event that asks for a kernel: of the named kernelspec, else the notebook's own, else `python3`.
pub(crate) fn launch(
    notebook: &Document,
    context: &mut Context,
    kernelspec: Option<String>,
) -> Result<(KernelSessionId, KernelLaunchRequested), Rejection> {
    let limit = context.limits.max_kernels;
    if notebook.kernels.len() >= limit {
        let message = format!("a notebook has at most {limit} kernels: shut one down first");
        return Err(Rejection::new(RejectionCode::LimitExceeded, message));
    }
    let kernelspec = match kernelspec {
        Some(name) => crate::lifecycle::checked_title(&context.limits, &name)?,
        None => own_kernelspec(&notebook.metadata),
    };
    let id: KernelSessionId = context.ids.ulid().into();
    Ok((id.clone(), KernelLaunchRequested { kernel_session: id, kernelspec }))
}

/// Of the kernel that code would run on now: of the one that is there, else of the one that would be launched.
pub(crate) fn coming_kernelspec(notebook: &Document) -> String {
    let kernel = default_session(notebook).and_then(|id| notebook.kernels.get(id));
    kernel.map_or_else(|| own_kernelspec(&notebook.metadata), |kernel| kernel.kernelspec.clone())
}

/// The notebook's own kernelspec, else `python3`.
fn own_kernelspec(metadata: &RawObject) -> String {
    written_kernelspec(metadata).unwrap_or_else(|| "python3".to_owned())
}

/// nbformat's `metadata.kernelspec.name`.
fn written_kernelspec(metadata: &RawObject) -> Option<String> {
    #[derive(serde::Deserialize)]
    struct Kernelspec {
        name: String,
    }
    #[derive(serde::Deserialize)]
    struct Metadata {
        kernelspec: Kernelspec,
    }
    let metadata: Metadata = serde_json::from_str(metadata.get()).ok()?;
    let name = metadata.kernelspec.name;
    (!name.is_empty() && name.len() <= 255).then_some(name)
}

fn session<'a>(notebook: &'a Document, id: &KernelSessionId) -> Result<&'a KernelSession, Rejection> {
    let unknown = || format!("no kernel session {id} in this notebook: it has ended, or never was");
    notebook.kernels.get(id).ok_or_else(|| Rejection::new(RejectionCode::UnknownKernelSession, unknown()))
}

/// A session that executions may be meant for.
pub(crate) fn usable<'a>(notebook: &'a Document, id: &KernelSessionId) -> Result<&'a KernelSession, Rejection> {
    let session = session(notebook, id)?;
    if session.is_usable() { Ok(session) } else { Err(wrong_phase(id, session)) }
}

/// The oldest session that takes executions.
pub fn default_session(notebook: &Document) -> Option<&KernelSessionId> {
    let usable = notebook.kernels.iter().filter(|(_, session)| session.is_usable());
    usable.min_by_key(|(_, session)| session.requested_version).map(|(id, _)| id)
}

/// The language of the notebook's kernel, as the kernel told it.
pub(crate) fn language(notebook: &Document) -> Option<String> {
    let kernel = default_session(notebook).and_then(|id| notebook.kernels.get(id))?;
    let told: serde_json::Value = serde_json::from_str(kernel.language_info.get()).ok()?;
    told["name"].as_str().filter(|name| !name.is_empty()).map(str::to_owned)
}

/// Whether a kernel that calls its language so runs Python.
pub(crate) fn is_python_name(language: &str) -> bool {
    matches!(language.to_ascii_lowercase().as_str(), "python" | "ipython" | "python3")
}

/// Whether the notebook's default kernel runs Python; true where none has started.
pub fn is_python(notebook: &Document) -> bool {
    language(notebook).is_none_or(|language| is_python_name(&language))
}

fn wrong_phase(id: &KernelSessionId, session: &KernelSession) -> Rejection {
    let message = format!("kernel session {id} is {:?}: wait until it has started, or launch another", session.phase);
    Rejection::new(RejectionCode::KernelState, message)
}

fn decide_interrupt(notebook: &Document, id: KernelSessionId) -> Result<Decision, Rejection> {
    let session = session(notebook, &id)?;
    if session.phase != KernelPhase::Started {
        return Err(wrong_phase(&id, session));
    }
    Ok(Decision::one(KernelInterruptRequested { kernel_session: id, execution_id: None }))
}

fn decide_restart(notebook: &Document, context: &mut Context, id: KernelSessionId) -> Result<Decision, Rejection> {
    let session = session(notebook, &id)?;
    if session.phase != KernelPhase::Started {
        return Err(wrong_phase(&id, session));
    }
    let next: KernelSessionId = context.ids.ulid().into();
    let mut events = cancel_queued(notebook, &id, "the kernel was restarted");
    events.push(KernelRestartRequested { kernel_session: id, next: next.clone() }.into());
    Ok(Decision { events, outcome: Outcome { kernel_session: Some(next), ..Outcome::default() } })
}

fn decide_shut_down(notebook: &Document, id: KernelSessionId) -> Result<Decision, Rejection> {
    let mut events = cancel_queued(notebook, &id, "the kernel was shut down");
    match session(notebook, &id)?.phase {
        KernelPhase::Ending => return Ok(Decision::nothing()),
        KernelPhase::Requested => {
            let cause = "shut down before an agent started it".to_owned();
            events.push(KernelShutdownRequested { kernel_session: id.clone() }.into());
            events.push(KernelSessionEnded { kernel_session: id, cause }.into());
        }
        KernelPhase::Claimed | KernelPhase::Started => {
            events.push(KernelShutdownRequested { kernel_session: id }.into())
        }
    }
    Ok(Decision { events, outcome: Outcome::default() })
}

fn decide_stop_all(notebook: &Document) -> Decision {
    let mut events = Vec::new();
    for (execution_id, execution) in &notebook.executions {
        match (execution.status, &execution.kernel_session) {
            (ExecutionStatus::Queued, _) => events.push(cancelled(execution_id, "stopped")),
            (ExecutionStatus::Assigned | ExecutionStatus::Running, Some(id)) => {
                let execution_id = Some(execution_id.clone());
                events.push(KernelInterruptRequested { kernel_session: id.clone(), execution_id }.into());
            }
            _ => {}
        }
    }
    Decision { events, outcome: Outcome::default() }
}

fn cancelled(id: &ExecutionId, cause: &str) -> Decided {
    ExecutionCancelled { execution_id: id.clone(), cause: cause.to_owned() }.into()
}

fn cancel_queued(notebook: &Document, id: &KernelSessionId, cause: &str) -> Vec<Decided> {
    let queued = unfinished_on(notebook, id).filter(|(_, execution)| execution.status == ExecutionStatus::Queued);
    queued.map(|(id, _)| cancelled(id, cause)).collect()
}

// --- agents ---

fn sender(context: &Context) -> Result<Option<&AgentId>, Rejection> {
    match &context.actor {
        Actor::Agent { id } => Ok(Some(id)),
        Actor::System => Ok(None),
        _ => Err(Rejection::new(RejectionCode::Forbidden, "only runtime agents report on kernels")),
    }
}

/// Refuses an agent that is not the session's; the server itself may speak for any.
fn check_owner(context: &Context, session: &KernelSession) -> Result<(), Rejection> {
    match sender(context)? {
        Some(agent) if session.agent.as_ref() != Some(agent) => {
            Err(Rejection::new(RejectionCode::StaleFence, "this kernel session belongs to another agent: leave it"))
        }
        _ => Ok(()),
    }
}

/// The sender's own session.
pub(crate) fn owned<'a>(
    notebook: &'a Document,
    context: &Context,
    id: &KernelSessionId,
) -> Result<&'a KernelSession, Rejection> {
    let session = session(notebook, id)?;
    check_owner(context, session)?;
    Ok(session)
}

fn decide_claim(notebook: &Document, context: &Context, id: KernelSessionId) -> Result<Decision, Rejection> {
    let session = session(notebook, &id)?;
    let Some(agent) = sender(context)? else {
        return Err(Rejection::new(RejectionCode::Forbidden, "only runtime agents claim kernels"));
    };
    match (session.phase, &session.agent) {
        (KernelPhase::Requested, _) => {
            Ok(Decision::one(KernelLaunchClaimed { kernel_session: id, agent: agent.clone() }))
        }
        (_, Some(owner)) if owner == agent => Ok(Decision::nothing()),
        _ => Err(Rejection::new(RejectionCode::AlreadyClaimed, "another agent starts this kernel: leave it")),
    }
}

fn decide_started(
    notebook: &Document,
    context: &Context,
    id: KernelSessionId,
    language_info: RawObject,
) -> Result<Decision, Rejection> {
    let session = session(notebook, &id)?;
    check_owner(context, session)?;
    check_metadata(&context.limits, &language_info)?;
    let agent = match (session.phase, &session.agent) {
        (KernelPhase::Claimed, Some(agent)) => agent.clone(),
        (KernelPhase::Started, _) => return Ok(Decision::nothing()),
        _ => return Err(wrong_phase(&id, session)),
    };
    // The start is the first event of this decision: its version is the fence.
    let next = executions::assign_next(notebook, &id, &agent, notebook.version + 1, &[]);
    let started =
        KernelSessionStarted { kernel_session: id, agent, kernelspec: session.kernelspec.clone(), language_info };
    Ok(Decision { events: [started.into()].into_iter().chain(next).collect(), outcome: Outcome::default() })
}

fn decide_failed(
    notebook: &Document,
    context: &Context,
    id: KernelSessionId,
    cause: &str,
) -> Result<Decision, Rejection> {
    let session = session(notebook, &id)?;
    check_owner(context, session)?;
    if session.fence.is_some() {
        return Err(wrong_phase(&id, session));
    }
    let cause = context.limits.cause(cause);
    let mut events = cancel_queued(notebook, &id, &format!("the kernel did not start: {cause}"));
    events.push(KernelLaunchFailed { kernel_session: id, cause }.into());
    Ok(Decision { events, outcome: Outcome::default() })
}

fn decide_ended(
    notebook: &Document,
    context: &Context,
    id: KernelSessionId,
    cause: &str,
) -> Result<Decision, Rejection> {
    let Some(session) = notebook.kernels.get(&id) else { return Ok(Decision::nothing()) };
    check_owner(context, session)?;
    let events = ending(notebook, &id, session, &context.limits.cause(cause));
    Ok(Decision { events, outcome: Outcome::default() })
}

fn decide_reconcile(notebook: &Document, context: &Context, alive: &[KernelSessionId]) -> Result<Decision, Rejection> {
    let Some(agent) = sender(context)? else { return Ok(Decision::nothing()) };
    let mine = notebook.kernels.iter().filter(|(_, session)| session.agent.as_ref() == Some(agent));
    let dead = mine.filter(|(id, _)| !alive.contains(id));
    let cause = "its runtime agent came back without this kernel";
    let events = dead.flat_map(|(id, session)| ending(notebook, id, session, cause)).collect();
    Ok(Decision { events, outcome: Outcome::default() })
}

/// The end of a session: what waited is cancelled, what ran is lost, or cancelled where people wanted the end.
fn ending(notebook: &Document, id: &KernelSessionId, session: &KernelSession, cause: &str) -> Vec<Decided> {
    let wanted = session.phase == KernelPhase::Ending;
    let end = |(execution_id, execution): (&ExecutionId, &std::sync::Arc<Execution>)| -> Decided {
        match execution.status {
            ExecutionStatus::Queued => cancelled(execution_id, &format!("the kernel ended: {cause}")),
            _ if wanted => cancelled(execution_id, cause),
            _ => ExecutionLost { execution_id: execution_id.clone(), cause: cause.to_owned() }.into(),
        }
    };
    let mut events: Vec<Decided> = unfinished_on(notebook, id).map(end).collect();
    events.push(KernelSessionEnded { kernel_session: id.clone(), cause: cause.to_owned() }.into());
    events
}

// --- apply ---
