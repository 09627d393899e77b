//! Kernel sessions of a notebook: the default one, their owners, and launches.

use serde_json::Value;

use crate::checks::checked_title;
use crate::context::Context;
use crate::notebook::Notebook;
use crate::values::rejection::{Rejection, RejectionCode, Result};
use crate::values::words::word;
use notarium_record::{
    Actor, AgentId, Because, Document, Execution, ExecutionStatus, KernelCause, KernelLaunchRequested, KernelSession,
    KernelSessionId, LostKernel, RawObject,
};

/// Requests a kernel of the named kernelspec, else of the notebook's own, else `python3`.
pub(crate) fn launch(
    notebook: &Notebook,
    context: &mut Context,
    kernelspec: Option<String>,
) -> Result<(KernelSessionId, KernelLaunchRequested)> {
    let limit = context.limits.max_kernels;
    RejectionCode::LimitExceeded.when(notebook.kernels.len() >= limit, || {
        format!("a notebook has at most {limit} kernels: shut one down first")
    })?;
    let kernelspec = match kernelspec {
        Some(name) => checked_title(&context.limits, &name)?,
        None => own_kernelspec(&notebook.metadata),
    };
    let event = requested(notebook, context, kernelspec);
    Ok((event.kernel_session.clone(), event))
}

/// Requests a session; the event names a kernel that was lost before it.
pub(crate) fn requested(notebook: &Notebook, context: &mut Context, kernelspec: String) -> KernelLaunchRequested {
    let replaces = notebook.ledger.kernels.lost.clone();
    KernelLaunchRequested { kernel_session: context.ids.ulid().into(), kernelspec, replaces }
}

/// Requests the session that follows a lost one; the event names what is lost.
pub(crate) fn requested_after(
    notebook: &Notebook,
    context: &mut Context,
    id: &KernelSessionId,
    session: &KernelSession,
    why: &Because<KernelCause>,
) -> KernelLaunchRequested {
    let (kernel_session, cause, detail) = (id.clone(), why.cause.into(), why.detail.clone());
    let lost = notebook.ledger.kernels.of(id).filter(|kernel| kernel.loses()).map(|_| LostKernel {
        kernel_session,
        cause,
        detail,
    });
    let launch = requested(notebook, context, session.kernelspec.clone());
    KernelLaunchRequested { replaces: lost.or(launch.replaces), ..launch }
}

/// Kernelspec of the kernel on which code would run now: the default one, else the one that would be launched.
pub(crate) fn coming_kernelspec(notebook: &Document) -> String {
    let kernel = default_session(notebook).and_then(|id| notebook.kernels.get(id));
    kernel.map_or_else(|| own_kernelspec(&notebook.metadata), |kernel| kernel.kernelspec.clone())
}

/// The notebook's own kernelspec, else `python3`.
fn own_kernelspec(metadata: &RawObject) -> String {
    let metadata: Value = serde_json::from_str(metadata.get()).unwrap_or_default();
    let written = metadata["kernelspec"]["name"].as_str().filter(|name| (1..=255).contains(&name.len()));
    written.unwrap_or("python3").to_owned()
}

pub(crate) fn session<'a>(notebook: &'a Document, id: &KernelSessionId) -> Result<&'a KernelSession> {
    let unknown = || format!("no kernel session {id} in this notebook: it has ended, or never was");
    notebook.kernels.get(id).ok_or_else(|| RejectionCode::UnknownKernelSession.because(unknown()))
}

/// Returns a session that accepts executions; refuses others.
pub(crate) fn usable<'a>(notebook: &'a Document, id: &KernelSessionId) -> Result<&'a KernelSession> {
    let session = session(notebook, id)?;
    if session.is_usable() { Ok(session) } else { Err(wrong_phase(id, session)) }
}

/// The oldest session that takes executions.
pub fn default_session(notebook: &Document) -> Option<&KernelSessionId> {
    default_but(notebook, &[])
}

/// The oldest session that takes executions, but for those in `gone`.
pub(crate) fn default_but<'a>(notebook: &'a Document, gone: &[&KernelSessionId]) -> Option<&'a KernelSessionId> {
    let usable = notebook.kernels.iter().filter(|(id, session)| session.is_usable() && !gone.contains(id));
    usable.min_by_key(|(_, session)| session.requested_version).map(|(id, _)| id)
}

/// The session that runs an execution, or for which it waits.
pub fn session_of<'a>(notebook: &'a Document, execution: &'a Execution) -> Option<&'a KernelSessionId> {
    let waits_for = || default_session(notebook).filter(|_| execution.status == ExecutionStatus::Queued);
    execution.kernel_session.as_ref().or_else(waits_for)
}

/// Language of the notebook's kernel, as the kernel reported it.
pub(crate) fn language(notebook: &Document) -> Option<String> {
    let kernel = default_session(notebook).and_then(|id| notebook.kernels.get(id))?;
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

pub(crate) fn wrong_phase(id: &KernelSessionId, session: &KernelSession) -> Rejection {
    let message =
        format!("kernel session {id} is {}: wait until it has started, or launch another", word(&session.phase));
    RejectionCode::KernelState.because(message)
}

pub(crate) fn sender(context: &Context) -> Result<Option<&AgentId>> {
    match &context.actor {
        Actor::Agent { id } => Ok(Some(id)),
        Actor::System => Ok(None),
        _ => Err(RejectionCode::Forbidden.because("only runtime agents report on kernels")),
    }
}

/// Refuses an agent that does not own the session; the server may act for any.
pub(crate) fn check_owner(context: &Context, session: &KernelSession) -> Result<()> {
    match sender(context)? {
        Some(agent) if session.agent.as_ref() != Some(agent) => {
            Err(RejectionCode::StaleFence.because("this kernel session belongs to another agent: leave it"))
        }
        _ => Ok(()),
    }
}

/// Returns a session that the sender owns.
pub(crate) fn owned<'a>(notebook: &'a Document, context: &Context, id: &KernelSessionId) -> Result<&'a KernelSession> {
    let session = session(notebook, id)?;
    check_owner(context, session)?;
    Ok(session)
}
