//! Reactive notebooks: dependencies between cells, stale cells, and the runs that bring them up to date.
//!
//! Purpose: [`Graph`] is a pure function of a notebook's cells and their names. Staleness is a function of the graph
//! and the latest runs; a plan is a function of both. The core cannot read names from code: [`KnownNames`] is filled
//! from outside, as judgements are.
//!
//! The rules, compared with those of marimo and Livebook: `protocol/reactivity.md`.

pub(crate) mod graph;
pub(crate) mod history;
mod needs;
mod report;
pub(crate) mod staleness;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::access::{authorise, authorise_command};
use crate::authority::Operation;
use crate::checks::check_not_archived;
use crate::command::Command;
use crate::context::Context;
use crate::ledger::bound_names::is_variable;
use crate::notebook::Notebook;
use crate::reactive::graph::Cells;
use crate::reactive::history::KernelHistory;
use crate::reactive::needs::Needs;
use crate::reactive::report::{circle, circle_in_words};
use crate::reactive::staleness::{Stale, staleness};
use crate::runs::expected_effects::{self, EffectsRequest};
use crate::runs::{assigned_at_once, cell_subject, check_asked, check_queue, kernels, new_id, session_for};
use crate::values::decision::{Decided, Decision, Outcome, Rejection, RejectionCode, Result};
use crate::values::details::RejectionDetails;
use crate::values::order::distinct;
use crate::values::{ExecutionTarget, RequestExecution};
use notarium_record::{
    Actor, CellId, Document, ExecutionCause, ExecutionId, ExecutionRequested, ExecutionSubject, KernelSessionId,
    Millis, Reactivity, Version,
};

pub use crate::values::code_names::{CodeNames, CodeText, KnownNames};
pub use crate::values::edges::Edge;
pub use graph::Graph;
pub use report::{
    CellReport, CircleStep, ClashReport, LinkReport, NotebookGraph, StaleReason, Standing, notebook_graph,
};

/// Checks that the decision needs the names of the notebook's cells in their present texts.
pub fn needs_names(notebook: &Document, command: &Command) -> bool {
    if notebook.reactivity == Reactivity::Off {
        return false;
    }
    let runs = |command: &Command| {
        let cell = |target: &ExecutionTarget| matches!(target, ExecutionTarget::Cell { .. });
        matches!(command, Command::RequestExecution(RequestExecution { target, .. }) if cell(target))
    };
    match command {
        Command::Batch { commands } => commands.iter().any(runs),
        command => runs(command),
    }
}

// --- requested runs ---

/// Checks that the run belongs into a plan. An assistant's run does not: it was judged as the code of one cell. Cells
/// that read from it become stale, and the assistant is informed.
pub(crate) fn is_planned(notebook: &Notebook, context: &Context, command: &RequestExecution) -> bool {
    let is_default = |id: &KernelSessionId| kernels::default_session(notebook) == Some(id);
    notebook.reactivity != Reactivity::Off
        && context.history.names.is_some()
        && matches!(command.target, ExecutionTarget::Cell { .. })
        && command.kernel_session.as_ref().is_none_or(is_default)
        && !matches!(context.actor, Actor::Assistant { .. })
        && kernels::is_python(notebook)
}

/// Requests of a batch as one plan, if the batch has only requests, each of another cell.
pub(crate) fn requests_of_batch(
    notebook: &Notebook,
    context: &Context,
    commands: &[Command],
) -> Option<Vec<RequestExecution>> {
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
pub(crate) fn decide_plan(
    notebook: &Notebook,
    context: &mut Context,
    requests: Vec<RequestExecution>,
) -> Result<Decision> {
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
    let kernel_session = is_bound.then(|| session.clone());
    let runs = RequestedRuns { requests, cells, session: session.clone(), kernel_session };
    let (executions, requested) = runs.requested(notebook, context, plan)?;
    let first = requested.first().map(|request| request.execution_id.clone());
    events.extend(requested.into_iter().map(Decided::from));
    // An idle kernel gets the first of these runs, or an earlier one from its queue.
    events.extend(first.and_then(|first| assigned_at_once(notebook, context, &session, &first)));
    let outcome = Outcome { executions, kernel_session: Some(session), ..Outcome::default() };
    Ok(Decision::with(events, outcome))
}

fn check(notebook: &Notebook, context: &Context, request: &RequestExecution) -> Result<()> {
    authorise_command(notebook, context, &Command::RequestExecution(request.clone()))?;
    check_asked(context, request)?;
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
struct RequestedRuns {
    requests: Vec<RequestExecution>,
    /// Parallel to `requests`.
    cells: Vec<CellId>,
    session: KernelSessionId,
    /// The session, if the runs are bound to it.
    kernel_session: Option<KernelSessionId>,
}

impl RequestedRuns {
    /// Returns the ids of the requested runs in the order of the requests, and all runs of the plan in their order.
    fn requested(
        self,
        notebook: &Notebook,
        context: &mut Context,
        plan: RunPlan,
    ) -> Result<(Vec<ExecutionId>, Vec<ExecutionRequested>)> {
        let mut asked = Vec::new();
        for request in &self.requests {
            asked.push(new_id(notebook, context, request.execution_id.clone())?);
        }
        let places: BTreeMap<&CellId, usize> =
            self.cells.iter().enumerate().map(|(place, cell)| (cell, place)).collect();
        let of = asked.first().cloned();
        let mut requested: Vec<ExecutionRequested> =
            removal(notebook, context, plan.abandoned, of.clone()).into_iter().collect();
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
        planned: PlannedRun,
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
        let subject = cell_subject(notebook, context, planned.cell_id, None)?;
        let effects_request = request.map(|request| EffectsRequest::of(notebook, request)).unwrap_or_default();
        let effects = expected_effects::of_run(notebook, context, &self.session, &subject, &effects_request);
        let longest = || self.requests.iter().map(|request| request.timeout_ms).max_by_key(no_end_is_longest).flatten();
        Ok(ExecutionRequested {
            execution_id: id.clone(),
            subject,
            cause: cause.into(),
            effects: effects.into(),
            kernel_session: self.kernel_session.clone(),
            timeout_ms: request.map_or_else(longest, |request| request.timeout_ms),
            // A failure blocks the cells that read from it, and no others.
            stop_on_error: false,
            waits_for: waits_for.chain(planned.waits_for_others).collect(),
            leaves: planned.leaves,
        })
    }
}

fn no_end_is_longest(timeout_ms: &Option<Millis>) -> (bool, Millis) {
    (timeout_ms.is_none(), timeout_ms.unwrap_or_default())
}

// --- plan ---

/// One run of a plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PlannedRun {
    pub(crate) cell_id: CellId,
    /// Indexes of earlier runs of the plan on which this one depends.
    pub(crate) waits_for: Vec<usize>,
    /// Unfinished runs outside the plan on which this one depends.
    pub(crate) waits_for_others: Vec<ExecutionId>,
    /// Names that the cell's text binds; `None` if the text does not parse.
    pub(crate) leaves: Option<Vec<String>>,
}

/// Runs in the order in which they are requested.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct RunPlan {
    pub(crate) runs: Vec<PlannedRun>,
    /// Variables that only earlier texts of these cells have bound.
    pub(crate) abandoned: BTreeSet<String>,
}

/// Plans the cells and their stale inputs. Eager notebooks add all cells that read from any of these, with their stale
/// inputs.
fn plan(notebook: &Notebook, graph: &Graph, roots: &[CellId], session: Option<&KernelSessionId>) -> Result<RunPlan> {
    let mut wanted: Cells = vec![false; graph.len()];
    graph.places(roots).into_iter().for_each(|place| wanted[place] = true);
    check_no_cycle(graph, &wanted)?;
    let doomed = graph.doomed();
    let runs = |cell: usize| !doomed[cell] && is_runnable(notebook, graph.id(cell));
    let history = KernelHistory::of(notebook, &notebook.ledger.kernel_variables(), graph, session);
    let mut needs = Needs::new(graph, &history);
    let cells = loop {
        let before = wanted.clone();
        if notebook.reactivity == Reactivity::Eager {
            wanted = graph.with_descendants(&wanted, runs);
        }
        let near = graph.with_ancestors(&wanted);
        let stale = staleness(graph, &history, &near);
        let is_stale = |cell: usize| stale[cell].as_ref().is_some_and(|stale| is_mended_by_running(graph, stale));
        let stale = (0..graph.len()).filter(|cell| near[*cell] && runs(*cell) && is_stale(*cell));
        stale.for_each(|cell| wanted[cell] = true);
        needs.add_to(&mut wanted, runs);
        if wanted == before {
            break wanted;
        }
    };
    let mut plan = of_cells(notebook, graph, &cells);
    plan.abandoned.extend(needs.removed.iter().map(|symbol| graph.name_of(*symbol).to_owned()));
    Ok(plan)
}

/// A cell that read a changed table is not repeated unasked: it may change the table itself.
fn is_mended_by_running(graph: &Graph, stale: &Stale) -> bool {
    !matches!(stale, Stale::Other(other) if !is_variable(graph.name_of(other.symbol)))
}

fn of_cells(notebook: &Notebook, graph: &Graph, cells: &Cells) -> RunPlan {
    let order = graph.in_order(cells);
    let mut index = vec![usize::MAX; graph.len()];
    order.iter().enumerate().for_each(|(at, cell)| index[*cell] = at);
    let mut plan = RunPlan::default();
    for cell in order {
        let (cell_id, known) = (graph.id(cell).clone(), graph.known(cell));
        let (inside, outside): (Vec<usize>, Vec<usize>) =
            distinct(graph.parents(cell)).partition(|parent| cells[*parent]);
        let under_way = |parent: usize| {
            let (id, run) = notebook.latest_execution(graph.id(parent))?;
            (!run.status.is_finished()).then(|| id.clone())
        };
        let is_known = !known.is_outdated() && !known.names.has_star;
        let leaves = is_known.then(|| graph.names_of(&known.names.touched().collect::<Vec<_>>()));
        let abandoned = leaves.iter().flat_map(|leaves| notebook.ledger.reactive.abandoned(&cell_id, leaves));
        plan.abandoned.extend(abandoned);
        plan.runs.push(PlannedRun {
            cell_id,
            waits_for: inside.into_iter().map(|parent| index[parent]).collect(),
            waits_for_others: outside.into_iter().filter_map(under_way).collect(),
            leaves,
        });
    }
    // Names that another run of the plan binds stay.
    let bound: BTreeSet<&String> = plan.runs.iter().flat_map(|run| run.leaves.iter().flatten()).collect();
    plan.abandoned.retain(|name| !bound.contains(name));
    plan
}

fn is_runnable(notebook: &Notebook, cell_id: &CellId) -> bool {
    notebook.cells.get(cell_id).is_some_and(|cell| cell.content.cell_type.runs())
}

/// Refuses cells that are in a cycle or read from one: they cannot be brought up to date.
fn check_no_cycle(graph: &Graph, wanted: &Cells) -> Result<()> {
    let near = graph.with_ancestors(wanted);
    let circles = |cells: &Cells| (0..graph.len()).find(|cell| cells[*cell] && graph.is_cyclic(*cell));
    let Some(cyclic) = circles(wanted).or_else(|| circles(&near)) else { return Ok(()) };
    let (cells, more) = circle(graph, cyclic);
    let way = circle_in_words(&cells, more);
    let message = format!(
        "nothing was run: cells read from each other in a circle, {way}; change a name in one of them, or turn \
         reactivity off"
    );
    let cells = cells.into_iter().map(|step| step.cell_id).collect();
    Err(RejectionCode::DependencyCycle.because(message).with(RejectionDetails::Cells { cells }))
}

// --- removed variables ---

/// Purpose of a removing run, as people read it.
const REMOVAL: &str = "remove variables that no cell defines any more";

/// Requests a run that removes these variables and those of deleted cells from the kernel. `None`: no kernel can have
/// them. The run is queued after all earlier ones.
fn removal(
    notebook: &Notebook,
    context: &mut Context,
    names: impl IntoIterator<Item = String>,
    of: Option<ExecutionId>,
) -> Option<ExecutionRequested> {
    let reactive = &notebook.ledger.reactive;
    let session = reactive.kernel_session.as_ref()?;
    kernels::usable(notebook, session).ok()?;
    let names: BTreeSet<String> = reactive.orphans.iter().cloned().chain(names).collect();
    if names.is_empty() {
        return None;
    }
    let source = code_that_removes(&names).into();
    let subject = ExecutionSubject::Scratch { source, purpose: REMOVAL.to_owned() };
    let effects = expected_effects::of_sender(notebook, context, session);
    let (id, cause) = (context.ids.ulid().into(), ExecutionCause::Dependency { of });
    let requested = ExecutionRequested::new(id, subject, cause, effects);
    let leaves = Some(names.into_iter().collect());
    Some(ExecutionRequested { kernel_session: Some(session.clone()), leaves, ..requested })
}

/// Removes the variables that only the deleted cell had bound, in a reactive notebook. If the sender may not run code,
/// the next requested run removes them.
pub(crate) fn removal_after(notebook: &Notebook, context: &mut Context, cell_id: &CellId) -> Vec<Decided> {
    if notebook.reactivity == Reactivity::Off || authorise(notebook, context, Operation::Run).is_err() {
        return Vec::new();
    }
    let alone = notebook.ledger.reactive.abandoned(cell_id, &[]);
    let Some(request) = removal(notebook, context, alone, None) else { return Vec::new() };
    let (id, session) = (request.execution_id.clone(), request.kernel_session.clone());
    let assigned = session.and_then(|session| assigned_at_once(notebook, context, &session, &id));
    [Decided::from(request)].into_iter().chain(assigned).collect()
}

/// Code that shows nothing, binds nothing, and ignores missing names. (Names are identifiers: they need no escapes.)
fn code_that_removes(names: &BTreeSet<String>) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("\"{name}\"")).collect();
    format!("(lambda names: [globals().pop(name, None) for name in names] and None)([{}])", quoted.join(", "))
}
