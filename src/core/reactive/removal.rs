//! Removes variables that no cell defines any more, and blocks runs whose inputs failed.

use std::collections::{BTreeMap, BTreeSet};

use crate::access::authorise;
use crate::authority::Operation;
use crate::context::Context;
use crate::notebook::Notebook;
use crate::runs::kernel_sessions;
use crate::runs::queues::assigned_at_once;
use crate::values::decision::Decided;
use notarium_record::{
    CellId, ExecutionBlocked, ExecutionCause, ExecutionId, ExecutionRequested, ExecutionStatus, ExecutionSubject,
    Reactivity,
};

/// Purpose of a removing run, as people read it.
const REMOVAL: &str = "remove variables that no cell defines any more";

/// Requests a run that removes these variables and those of deleted cells from the kernel. `None`: no kernel can have
/// them. The run is queued after all earlier ones.
pub(crate) fn removal(
    notebook: &Notebook,
    execution_id: impl FnOnce() -> ExecutionId,
    names: impl IntoIterator<Item = String>,
    of: Option<ExecutionId>,
) -> Option<ExecutionRequested> {
    let reactive = &notebook.ledger.reactive;
    let session = reactive.kernel_session.as_ref()?;
    kernel_sessions::usable(notebook, session).ok()?;
    let names: BTreeSet<String> = reactive.orphans.iter().cloned().chain(names).collect();
    if names.is_empty() {
        return None;
    }
    let source = code_that_removes(&names).into();
    let subject = ExecutionSubject::Scratch { source, purpose: REMOVAL.to_owned() };
    let requested = ExecutionRequested::new(execution_id(), subject, ExecutionCause::Dependency { of });
    Some(ExecutionRequested { kernel_session: Some(session.clone()), ..requested })
}

/// Removes the variables that only the deleted cell had bound, in a reactive notebook. If the sender may not run code,
/// the next requested run removes them.
pub(crate) fn removal_after(notebook: &Notebook, context: &mut Context, cell_id: &CellId) -> Vec<Decided> {
    if notebook.reactivity == Reactivity::Off || authorise(notebook, context, Operation::Run).is_err() {
        return Vec::new();
    }
    let alone = notebook.ledger.reactive.abandoned(cell_id, &[]);
    let Some(request) = removal(notebook, || context.ids.ulid().into(), alone, None) else { return Vec::new() };
    let (id, session) = (request.execution_id.clone(), request.kernel_session.clone());
    let assigned = session.and_then(|session| assigned_at_once(notebook, context, &session, &id));
    [Decided::from(request)].into_iter().chain(assigned).collect()
}

/// Code that shows nothing, binds nothing, and ignores missing names. (Names are identifiers: they need no escapes.)
fn code_that_removes(names: &BTreeSet<String>) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("\"{name}\"")).collect();
    format!("(lambda names: [globals().pop(name, None) for name in names] and None)([{}])", quoted.join(", "))
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
