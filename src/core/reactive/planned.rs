//! Runs in a reactive notebook: the requested cells and those that must run with them, planned at one version.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::access::authorise_command;
use crate::checks::check_not_archived;
use crate::command::Command;
use crate::context::Context;
use crate::notebook::Notebook;
use crate::reactive::{Graph, KnownNames, Plan, Planned, plan, removal};
use crate::runs::kernel_sessions;
use crate::runs::queues::assigned_at_once;
use crate::runs::{cell_subject, check_queue, check_timeout, new_id, session_for};
use crate::values::decision::{Decided, Decision, Outcome};
use crate::values::rejection::{Rejection, Result};
use crate::values::{ExecutionTarget, RequestExecution};
use notarium_record::{
    Actor, CellId, ExecutionCause, ExecutionId, ExecutionRequested, KernelSessionId, Millis, Reactivity, Version,
};

/// Checks that the run belongs into a plan. An assistant's run does not: it was judged as the code of one cell. Cells
/// that read from it become stale, and the assistant is informed.
pub(crate) fn is_planned(notebook: &Notebook, context: &Context, command: &RequestExecution) -> bool {
    let is_default = |id: &KernelSessionId| kernel_sessions::default_session(notebook) == Some(id);
    notebook.reactivity != Reactivity::Off
        && context.history.names.is_some()
        && matches!(command.target, ExecutionTarget::Cell { .. })
        && command.kernel_session.as_ref().is_none_or(is_default)
        && !matches!(context.actor, Actor::Assistant { .. })
        && kernel_sessions::is_python(notebook)
}

/// Requests of a batch as one plan, if the batch has only requests, each of another cell.
pub(crate) fn of_batch(notebook: &Notebook, context: &Context, commands: &[Command]) -> Option<Vec<RequestExecution>> {
    let planned = commands.iter().map(|command| match command {
        Command::RequestExecution(request) if is_planned(notebook, context, request) => Some(request.clone()),
        _ => None,
    });
    let planned: Vec<RequestExecution> = planned.collect::<Option<_>>()?;
    let cells: BTreeSet<&CellId> = planned.iter().filter_map(cell_of).map(|(cell_id, _)| cell_id).collect();
    (!planned.is_empty() && cells.len() == planned.len()).then_some(planned)
}

fn cell_of(request: &RequestExecution) -> Option<(&CellId, Option<Version>)> {
    match &request.target {
        ExecutionTarget::Cell { cell_id, cell_version } => Some((cell_id, *cell_version)),
        ExecutionTarget::Scratch { .. } | ExecutionTarget::Function { .. } => None,
    }
}

/// Plans one or more requested cells, each once.
pub(crate) fn decide(notebook: &Notebook, context: &mut Context, requests: Vec<RequestExecution>) -> Result<Decision> {
    check_not_archived(notebook)?;
    for (index, request) in requests.iter().enumerate() {
        check(notebook, context, request).map_err(|rejection| match requests.len() {
            1 => rejection,
            _ => Rejection { part: Some(index + 1), ..rejection },
        })?;
    }
    let cells: Vec<CellId> = requests.iter().filter_map(cell_of).map(|(cell_id, _)| cell_id.clone()).collect();
    let named = requests.first().and_then(|request| request.kernel_session.clone());
    let (session, mut events) = session_for(notebook, context, named.clone())?;
    let graph = Graph::of(names(notebook, context));
    let plan = plan(notebook, &graph, &cells, Some(&session))?;
    check_queue(notebook, context, plan.runs.len())?;
    let is_bound = named.is_some() || !context.away.contains(&session);
    let runs = Runs { requests, cells, kernel_session: is_bound.then(|| session.clone()) };
    let (executions, requested) = runs.requested(notebook, context, plan)?;
    let first = requested.first().map(|request| request.execution_id.clone());
    events.extend(requested.into_iter().map(Decided::from));
    // An idle kernel gets the first of these runs, or an earlier one from its queue.
    events.extend(first.and_then(|first| assigned_at_once(notebook, context, &session, &first)));
    let outcome = Outcome { executions, kernel_session: Some(session), ..Outcome::default() };
    Ok(Decision { events, outcome })
}

fn check(notebook: &Notebook, context: &Context, request: &RequestExecution) -> Result<()> {
    authorise_command(notebook, context, &Command::RequestExecution(request.clone()))?;
    check_timeout(request.timeout_ms)?;
    match cell_of(request) {
        Some((cell_id, cell_version)) => cell_subject(notebook, context, cell_id.clone(), cell_version).map(|_| ()),
        None => Ok(()),
    }
}

/// Names of the notebook's cells. If an earlier part of the batch changed a cell, its names are those of the earlier
/// text.
fn names(notebook: &Notebook, context: &Context) -> Arc<KnownNames> {
    let names = context.history.names.clone().unwrap_or_default();
    if names.is_complete(notebook) {
        return names;
    }
    let mut names = KnownNames::clone(&names);
    names.refresh(notebook);
    Arc::new(names)
}

/// Requested runs, and their kernel.
struct Runs {
    requests: Vec<RequestExecution>,
    /// Parallel to `requests`.
    cells: Vec<CellId>,
    kernel_session: Option<KernelSessionId>,
}

impl Runs {
    /// Returns the ids of the requested runs in the order of the requests, and all runs of the plan in their order.
    fn requested(
        self,
        notebook: &Notebook,
        context: &mut Context,
        plan: Plan,
    ) -> Result<(Vec<ExecutionId>, Vec<ExecutionRequested>)> {
        let mut asked = Vec::new();
        for request in &self.requests {
            asked.push(new_id(notebook, context, request.execution_id.clone())?);
        }
        let places: BTreeMap<&CellId, usize> =
            self.cells.iter().enumerate().map(|(place, cell)| (cell, place)).collect();
        let of = asked.first().cloned();
        let mut requested: Vec<ExecutionRequested> =
            removal(notebook, || context.ids.ulid().into(), plan.abandoned, of.clone()).into_iter().collect();
        let mut ids: Vec<ExecutionId> = Vec::new();
        for planned in plan.runs {
            let place = places.get(&planned.cell_id).copied();
            let id = place.map_or_else(|| context.ids.ulid().into(), |place| asked[place].clone());
            let request = place.map(|place| &self.requests[place]);
            requested.push(self.one(notebook, context, planned, &id, request, &ids, of.as_ref())?);
            ids.push(id);
        }
        Ok((asked, requested))
    }

    #[expect(clippy::too_many_arguments, reason = "each is another thing that makes a run what it is")]
    fn one(
        &self,
        notebook: &Notebook,
        context: &Context,
        planned: Planned,
        id: &ExecutionId,
        request: Option<&RequestExecution>,
        ids: &[ExecutionId],
        of: Option<&ExecutionId>,
    ) -> Result<ExecutionRequested> {
        let waits_for = planned.waits_for.iter().map(|index| ids[*index].clone());
        let cause = match request {
            Some(_) => ExecutionCause::Requested,
            None => ExecutionCause::Dependency { of: of.cloned() },
        };
        let longest = || self.requests.iter().map(|request| request.timeout_ms).max_by_key(no_end_is_longest).flatten();
        Ok(ExecutionRequested {
            execution_id: id.clone(),
            subject: cell_subject(notebook, context, planned.cell_id, None)?,
            cause: cause.into(),
            kernel_session: self.kernel_session.clone(),
            timeout_ms: request.map_or_else(longest, |request| request.timeout_ms),
            stop_on_error: request.is_some_and(|request| request.stop_on_error),
            waits_for: waits_for.chain(planned.waits_for_others).collect(),
            leaves: planned.leaves,
        })
    }
}

fn no_end_is_longest(timeout_ms: &Option<Millis>) -> (bool, Millis) {
    (timeout_ms.is_none(), timeout_ms.unwrap_or_default())
}
