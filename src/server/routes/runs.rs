//! Routes for runs: request, list, read, compare, cancel, answer. The record tells who cancelled a run, and its questions
//! on stdin.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::Json;
use bytes::Bytes;
use notarium_assistant::preview::{joined_streams, with_joined_streams};
use notarium_core::{
    Actor, CellId, Command, Document, Event, Execution, ExecutionId, ExecutionStatus, ExecutionTarget, NotebookId,
    Operation, Recorded, Rejection, RejectionCode, RequestExecution, session_of,
};
use notarium_store::{EventStore, MAX_READ_EVENTS};
use notarium_wire::KernelStatus;
use notarium_wire::rest::{Comparison, InputValue, Run, RunInput, RunInputs, RunPage, RunRequest, RunsQuery, Scratch};

use super::answers::{Accepted, NotebookReader, Submit, WantedPage, command, latest};
use crate::app::App;
use crate::blobs::parts;
use crate::http::extract::{Created, JsonBody, NoBody, Params, QueryOf};
use crate::http::guard::{Guard, GuardedRouter, route_table};
use crate::http::problem::Problem;
use crate::notebooks::history;

type RunPath = (NotebookId, ExecutionId);

pub fn routes(router: GuardedRouter<App>) -> GuardedRouter<App> {
    let (read, run) = (Guard::Notebook(Operation::Read), Guard::Notebook(Operation::Run));
    route_table!(router; "runs" "/api/notebooks/{notebook}/runs" {
        /// Requests runs; they queue in this order. `outcome.executions` are their ids.
        POST "", run => request_runs;
        /// Runs of all times, the last requested first; without their outputs.
        GET "", read => list_runs;
        /// A run of any time, with its outputs. What it wrote to one stream without another output between is one output.
        GET "/{run}", read => read_run;
        /// Questions that a run asked on stdin, with their answers, in order. Answers to passwords are not in the
        /// record.
        GET "/{run}/inputs", read => list;
        /// Compares two runs.
        GET "/{run}/compare/{other}", read => compare_runs;
        /// Cancels a run that waits, or interrupts one that runs.
        POST "/{run}/cancel", run =>
            command(|(_, execution_id): RunPath, _: NoBody| Command::CancelExecution { execution_id });
        /// Gives up a run whose runtime agent cannot be reached: it is lost with its kernel, and the next run launches
        /// another.
        POST "/{run}/give-up", run =>
            command(|(_, execution_id): RunPath, _: NoBody| Command::GiveUpExecution { execution_id });
        /// Answers what a run asks on stdin.
        POST "/{run}/input", Guard::Notebook(Operation::AnswerInput) =>
            command(|(_, execution_id): RunPath, JsonBody(InputValue { value })|
                Command::AnswerInput { execution_id, value });
    })
}

// --- request ---

async fn request_runs(submit: Submit, JsonBody(request): JsonBody<RunRequest>) -> Result<Created<Accepted>, Problem> {
    let state = submit.app.read(&submit.who, &submit.notebook).await?.notebook;
    let targets = targets(&state, &request)?;
    let stop_on_error = request.stop_on_error.unwrap_or(targets.len() > 1);
    let run = |target| {
        Command::RequestExecution(RequestExecution {
            execution_id: None,
            target,
            kernel_session: request.kernel_session.clone(),
            timeout_ms: request.timeout_ms,
            stop_on_error,
            effects: request.effects,
        })
    };
    submit.command(&Command::Batch { commands: targets.into_iter().map(run).collect() }).await.map(Created)
}

fn targets(state: &Document, request: &RunRequest) -> Result<Vec<ExecutionTarget>, Problem> {
    let cell = |cell_id: &CellId| ExecutionTarget::Cell { cell_id: cell_id.clone(), cell_version: None };
    match (&request.cells, request.all, &request.scratch) {
        (Some(cells), false, None) if !cells.is_empty() => Ok(cells.iter().map(cell).collect()),
        (None, true, None) => {
            let runs =
                |content: &notarium_core::CellContent| content.cell_type.runs() && !content.source.trim().is_empty();
            let cells = state.ordered_cells().filter(|(_, cell)| runs(&cell.content));
            Ok(cells.map(|(cell_id, _)| cell(cell_id)).collect())
        }
        (None, false, Some(scratch)) => {
            let Scratch { source, purpose } = scratch;
            Ok(vec![ExecutionTarget::Scratch { source: source.clone(), purpose: purpose.clone() }])
        }
        _ => Err(Problem::invalid("send one of cells (not empty), all: true, and scratch")),
    }
}

// --- list ---

async fn list_runs(
    NotebookReader { app, notebook, now, .. }: NotebookReader,
    QueryOf(query): QueryOf<RunsQuery>,
) -> Result<Json<RunPage>, Problem> {
    let state = &now.notebook;
    let wanted = WantedPage::page(query.before, query.limit);
    let (ids, next) = latest(&*app.store, &notebook, "ExecutionRequested", wanted, |recorded| match recorded.event {
        Event::ExecutionRequested(event) => {
            let is_wanted = query.cell.is_none() || query.cell.as_ref() == event.subject.cell_id();
            is_wanted.then_some(event.execution_id)
        }
        _ => None,
    })
    .await?;
    let mut runs = Vec::with_capacity(ids.len());
    for id in ids {
        let execution = execution_of(&app, state, &id).await?;
        runs.push(run(id, without_outputs(execution), state, &now.kernels));
    }
    for run in runs.iter_mut().filter(|run| run.execution.output_seq <= MAX_LISTED_WRITES) {
        name_end(&app, &notebook, run).await;
    }
    Ok(Json(RunPage { runs, next }))
}

async fn name_end(app: &App, notebook: &NotebookId, run: &mut Run) {
    run.ended_by = ended_by(&*app.store, notebook, &run.id, &run.execution).await;
}

fn run(id: ExecutionId, execution: Arc<Execution>, state: &Document, kernels: &[KernelStatus]) -> Run {
    let is_its = |status: &&KernelStatus| session_of(state, &execution) == Some(&status.kernel_session);
    let status = kernels.iter().find(is_its).filter(|_| !execution.status.is_finished());
    let unreachable_since = status.and_then(|status| status.unreachable_since);
    Run { id, execution, unreachable_since, ended_by: None }
}

fn without_outputs(mut execution: Arc<Execution>) -> Arc<Execution> {
    if !execution.outputs.is_empty() {
        Arc::make_mut(&mut execution).outputs.clear();
    }
    execution
}

// --- read ---

/// A run from the state, or rebuilt from the record.
async fn execution_of(app: &App, state: &Document, id: &ExecutionId) -> Result<Arc<Execution>, Problem> {
    if let Some(execution) = state.executions.get(id) {
        return Ok(execution.clone());
    }
    let unknown = || Rejection::new(RejectionCode::UnknownExecution, format!("no run {id} here: check the id"));
    let replayed = app.store.execution(&state.notebook_id, id).await?.ok_or_else(unknown)?;
    Ok(Arc::new(replayed.execution))
}

async fn read_run(
    NotebookReader { app, notebook, now, .. }: NotebookReader,
    Params((_, id)): Params<RunPath>,
) -> Result<Json<Run>, Problem> {
    let execution = execution_of(&app, &now.notebook, &id).await?;
    let mut run = run(id, with_joined_streams(execution), &now.notebook, &now.kernels);
    name_end(&app, &notebook, &mut run).await;
    Ok(Json(run))
}

async fn compare_runs(
    NotebookReader { app, now, .. }: NotebookReader,
    Params((_, left, right)): Params<(NotebookId, ExecutionId, ExecutionId)>,
) -> Result<Json<Comparison>, Problem> {
    let one = execution_of(&app, &now.notebook, &left).await?;
    let other = execution_of(&app, &now.notebook, &right).await?;
    let (one_text, other_text) = (output_text(&one), output_text(&other));
    Ok(Json(Comparison {
        same_source: one.subject.source() == other.subject.source(),
        same_status: one.status == other.status,
        same_outputs: one_text == other_text,
        source_diff: history::unified(one.subject.source(), other.subject.source()),
        output_diff: history::unified(&one_text, &other_text),
        left: run(left, without_outputs(one), &now.notebook, &now.kernels),
        right: run(right, without_outputs(other), &now.notebook, &now.kernels),
    }))
}

/// Outputs as text for comparison; blobs by their hashes. The kernel's execution counter is left out.
fn output_text(execution: &Execution) -> String {
    let line = |output: &std::borrow::Cow<'_, notarium_core::Output>| {
        let whole = parts::join(output, &BTreeMap::<String, Bytes>::new());
        let mut fields: serde_json::Map<String, serde_json::Value> =
            serde_json::from_str(whole.get()).unwrap_or_default();
        fields.remove("execution_count");
        serde_json::to_string_pretty(&fields).unwrap_or_default()
    };
    joined_streams(&execution.outputs).iter().map(line).collect::<Vec<_>>().join("\n")
}

/// Limit of writes above which a list does not look for the actor: the run's outputs would be read too.
pub const MAX_LISTED_WRITES: u64 = 200;

/// Actor who cancelled the run. `None`: it was not cancelled, or not by an actor that the record names.
pub async fn ended_by(
    store: &dyn EventStore,
    notebook: &NotebookId,
    id: &ExecutionId,
    run: &Execution,
) -> Option<Actor> {
    if run.status != ExecutionStatus::Cancelled {
        return None;
    }
    let own = events(store, notebook, id.to_string()).await;
    let end = own.iter().rfind(|recorded| matches!(recorded.event, Event::ExecutionCancelled(_)))?;
    let is_person =
        |actor: &&Actor| matches!(actor, Actor::User { .. } | Actor::Guest { .. } | Actor::Assistant { .. });
    let author = Some(&end.envelope.actor).filter(is_person).cloned();
    let Some(leading) = &end.envelope.causation_id else { return author };
    let is_leading = |recorded: &&Recorded| recorded.envelope.id == *leading;
    if let Some(asked) = own.iter().find(is_leading) {
        return Some(asked.envelope.actor.clone());
    }
    let Some(kernel) = &run.kernel_session else { return author };
    let of_kernel = events(store, notebook, kernel.to_string()).await;
    of_kernel.iter().find(is_leading).map(|asked| asked.envelope.actor.clone()).or(author)
}

/// Events of a subject that this build can read, without outputs, of which there may be millions.
pub async fn events(store: &dyn EventStore, notebook: &NotebookId, subject: String) -> Vec<Recorded> {
    let (mut found, mut after) = (Vec::new(), 0);
    loop {
        let page = match store.read_subject(notebook, &subject, after, MAX_READ_EVENTS).await {
            Ok(page) => page,
            Err(error) => {
                tracing::warn!(%error, %notebook, "who ended a run is not told");
                return Vec::new();
            }
        };
        let others = page.iter().filter(|stored| stored.envelope.event_type != "ExecutionOutputAppended");
        found.extend(others.filter_map(|stored| stored.typed().ok()));
        match page.last() {
            Some(last) if page.len() == MAX_READ_EVENTS => after = last.envelope.version,
            _ => return found,
        }
    }
}

pub async fn list(
    NotebookReader { app, notebook, .. }: NotebookReader,
    Params((_, id)): Params<RunPath>,
) -> Json<RunInputs> {
    let events = events(&*app.store, &notebook, id.to_string()).await;
    Json(RunInputs { inputs: events.into_iter().fold(Vec::new(), with) })
}

/// Adds one event; an answer belongs to the last question before it.
fn with(mut inputs: Vec<RunInput>, Recorded { envelope, event }: Recorded) -> Vec<RunInput> {
    match event {
        Event::ExecutionInputRequested(event) => inputs.push(RunInput {
            version: envelope.version,
            prompt: event.prompt,
            password: event.password,
            answered_by: None,
            value: None,
        }),
        Event::ExecutionInputAnswered(event) => {
            if let Some(last) = inputs.last_mut() {
                (last.answered_by, last.value) = (Some(envelope.actor), event.value);
            }
        }
        _ => {}
    }
    inputs
}
