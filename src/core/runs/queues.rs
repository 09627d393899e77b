//! Queues of kernels: unfinished runs, and the assignment of the next one.

use std::sync::Arc;

use crate::context::Context;
use crate::notebook::Notebook;
use crate::runs::kernel_sessions;
use crate::values::decision::Decided;
use notarium_record::{
    AgentId, Because, Document, EndCause, Execution, ExecutionAssigned, ExecutionCancelled, ExecutionId,
    ExecutionStatus, KernelPhase, KernelSession, KernelSessionId, Version,
};

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

/// Executions of a session that have not ended. Unbound ones wait for the default kernel.
pub(crate) fn unfinished_on<'a>(
    notebook: &'a Document,
    session: &'a KernelSessionId,
) -> impl Iterator<Item = (&'a ExecutionId, &'a Arc<Execution>)> {
    let is_default = kernel_sessions::default_session(notebook) == Some(session);
    let is_its = move |execution: &Execution| match &execution.kernel_session {
        Some(id) => id == session,
        None => is_default,
    };
    notebook.executions.iter().filter(move |(_, execution)| !execution.status.is_finished() && is_its(execution))
}

/// Assigns the next queued run in the order of requests, but for those in `except`.
pub(crate) fn assign_next(
    notebook: &Document,
    session_id: &KernelSessionId,
    agent: &AgentId,
    fence: Version,
    except: &[&ExecutionId],
) -> Option<Decided> {
    let queued = unfinished_on(notebook, session_id)
        .filter(|(id, execution)| execution.status == ExecutionStatus::Queued && !except.contains(id));
    let (execution_id, _) = queued.min_by_key(|(_, execution)| execution.requested_version)?;
    Some(assignment(execution_id, session_id, agent, fence))
}

/// Assigns the next run when `ended` leaves its kernel session free.
pub(crate) fn successor(notebook: &Document, ended: &Execution, except: &[&ExecutionId]) -> Option<Decided> {
    let session_id = ended.kernel_session.as_ref()?;
    let session = started(notebook, session_id)?;
    assign_next(notebook, session_id, session.agent.as_ref()?, session.fence?, except)
}

pub(crate) fn cancelled(id: &ExecutionId, why: Because<EndCause>) -> Decided {
    ExecutionCancelled { execution_id: id.clone(), cause: why.cause.into(), detail: why.detail }.into()
}
