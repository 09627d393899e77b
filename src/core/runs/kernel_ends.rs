//! Ends kernels: running executions are lost, queued ones are cancelled. Runs that were requested while the agent was
//! away get another kernel.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::context::Context;
use crate::notebook::Notebook;
use crate::runs::kernel_sessions;
use crate::runs::queues::{assigned_at_once, cancelled, unfinished_on};
use crate::values::decision::Decided;
use notarium_record::{
    Because, CorrelationId, Document, EndCause, Execution, ExecutionId, ExecutionLost, ExecutionStatus, KernelCause,
    KernelPhase, KernelSession, KernelSessionEnded, KernelSessionId,
};

/// Ends kernels that were lost together. At most one of them is the kernel for which unbound runs wait.
pub(crate) fn lost(
    notebook: &Notebook,
    context: &mut Context,
    dead: &[&KernelSessionId],
    why: &Because<KernelCause>,
) -> Vec<Decided> {
    let (mut events, mut launch) = (Vec::new(), None);
    for (id, session) in dead.iter().filter_map(|id| Some((*id, notebook.kernels.get(*id)?))) {
        let end = End { id, session, why, dead };
        let (ended, is_another_wanted) = end.with_its_runs(notebook, context);
        events.extend(ended);
        if is_another_wanted {
            launch = Some(kernel_sessions::requested_after(notebook, context, id, session, why));
        }
    }
    events.extend(launch.map(Decided::from));
    events
}

/// Ends a kernel whose agent is unreachable, so that no run waits for it. If the agent comes back, it ends its kernel.
pub(crate) fn given_up(notebook: &Notebook, context: &mut Context, id: &KernelSessionId) -> Vec<Decided> {
    lost(notebook, context, &[id], &gave_up())
}

/// Ends an unreachable kernel; the caller launches another in its place.
pub(crate) fn replaced(
    notebook: &Notebook,
    context: &Context,
    id: &KernelSessionId,
    session: &KernelSession,
) -> Vec<Decided> {
    End { id, session, why: &gave_up(), dead: &[id] }.with_its_runs(notebook, context).0
}

/// Ends an unreachable kernel without a replacement.
pub(crate) fn given_up_for_good(notebook: &Document, id: &KernelSessionId, session: &KernelSession) -> Vec<Decided> {
    End { id, session, why: &gave_up(), dead: &[id] }.events(notebook, &BTreeSet::new())
}

fn gave_up() -> Because<KernelCause> {
    Because::new(KernelCause::GivenUp, "it was given up, because its runtime agent could not be reached")
}

/// The kernel, and the one that was to follow it after a restart: an agent that lost the first has not started the
/// second.
pub(crate) fn with_successor<'a>(
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

struct End<'a> {
    id: &'a KernelSessionId,
    session: &'a KernelSession,
    why: &'a Because<KernelCause>,
    /// All kernels that end with this one.
    dead: &'a [&'a KernelSessionId],
}

impl End<'_> {
    /// Returns the events. `true`: some runs are left that only another kernel can run.
    fn with_its_runs(&self, notebook: &Notebook, context: &Context) -> (Vec<Decided>, bool) {
        let next = kernel_sessions::default_but(notebook, self.dead);
        let left = if self.can_move(notebook, next) { left(notebook, self.id) } else { Vec::new() };
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

    fn of_run(&self, id: &ExecutionId, execution: &Execution) -> Decided {
        let is_wanted = self.session.phase == KernelPhase::Ending;
        let (cause, detail) = (EndCause::from(self.why.cause), self.why.detail.clone());
        if is_wanted || execution.status == ExecutionStatus::Queued {
            return cancelled(id, Because { cause, detail });
        }
        ExecutionLost { execution_id: id.clone(), cause: cause.into(), detail }.into()
    }
}

/// Runs that were requested while the kernel's agent was away, oldest first. Runs from before the kernel's last
/// assignment are left out, and runs that fail together with one of the kernel's.
fn left<'a>(notebook: &'a Notebook, id: &'a KernelSessionId) -> Vec<&'a ExecutionId> {
    let last = notebook.ledger.kernels.of(id).map_or(0, |kernel| kernel.assigned_at);
    let (of_kernel, of_none): (Vec<_>, Vec<_>) =
        unfinished_on(notebook, id).partition(|(_, execution)| execution.kernel_session.is_some());
    let ending: BTreeSet<&CorrelationId> = of_kernel.iter().map(|(_, execution)| &execution.correlation_id).collect();
    let is_left = |execution: &Arc<Execution>| {
        execution.requested_version > last && !(execution.stop_on_error && ending.contains(&execution.correlation_id))
    };
    let mut left: Vec<_> = of_none.into_iter().filter(|(_, execution)| is_left(execution)).collect();
    left.sort_by_key(|(_, execution)| execution.requested_version);
    left.into_iter().map(|(id, _)| id).collect()
}
