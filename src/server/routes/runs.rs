//! Runs: request, list, read, compare, cancel, answer.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::response::Response;
use bytes::Bytes;
use notarium_core::{
    CellId, CellType, Command, Event, Execution, ExecutionId, ExecutionTarget, HistoryQuery, KernelSessionId, Millis,
    Notebook, NotebookId, Operation, Recorded, Rejection, RejectionCode, Stored, Version,
};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::routes;

use super::answers::{Answer, created, execute};
use super::scan::backwards;
use crate::app::App;
use crate::auth::Authenticated;
use crate::diff;
use crate::extract::{Conditions, JsonBody, Params, QueryOf};
use crate::files::parts;
use crate::guard::{Guard, GuardedRouter};
use crate::problem::Problem;

/// Events that one page of runs looks through.
const MAX_SCANNED_EVENTS: usize = 20_000;

pub fn routes(router: GuardedRouter<App>) -> GuardedRouter<App> {
    router
        .routes(Guard::Notebook(Operation::Run), routes!(request_runs))
        .routes(Guard::Notebook(Operation::Read), routes!(list_runs))
        .routes(Guard::Notebook(Operation::Read), routes!(read_run))
        .routes(Guard::Notebook(Operation::Read), routes!(compare_runs))
        .routes(Guard::Notebook(Operation::Run), routes!(cancel_run))
        .routes(Guard::Notebook(Operation::Run), routes!(give_up_run))
        .routes(Guard::Notebook(Operation::AnswerInput), routes!(answer_input))
}

type OfRun = Params<(NotebookId, ExecutionId)>;

// --- request ---

/// One of `cells`, `all` and `scratch`.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct RunRequest {
    /// Cells, in this order.
    #[schema(value_type = Option<Vec<String>>)]
    cells: Option<Vec<CellId>>,
    /// True: every code cell with some source, from top to bottom.
    #[serde(default)]
    all: bool,
    /// Code that belongs to no cell.
    scratch: Option<Scratch>,
    /// Absent: the notebook's first kernel; one is launched when there is none.
    #[schema(value_type = Option<String>)]
    kernel_session: Option<KernelSessionId>,
    /// Interrupt a run after so many milliseconds; absent: never.
    timeout_ms: Option<Millis>,
    /// When one fails the rest is cancelled; absent: true for several.
    stop_on_error: Option<bool>,
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct Scratch {
    source: String,
    /// In a few words, what for.
    purpose: String,
}

/// Requests runs; they queue in this order. `outcome.executions` are their ids.
#[utoipa::path(post, path = "/api/notebooks/{notebook}/runs", tag = "runs", request_body = RunRequest,
    params(("notebook" = String, Path)),
    responses((status = 201, body = Answer), (status = "default", body = Problem)))]
async fn request_runs(
    State(app): State<App>,
    authenticated: Authenticated,
    Params(notebook): Params<NotebookId>,
    conditions: Conditions,
    JsonBody(request): JsonBody<RunRequest>,
) -> Result<Response, Problem> {
    let state = app.read(&authenticated, &notebook).await?.notebook;
    let targets = targets(&state, &request)?;
    let stop_on_error = request.stop_on_error.unwrap_or(targets.len() > 1);
    let run = |target| Command::RequestExecution {
        execution_id: None,
        target,
        kernel_session: request.kernel_session.clone(),
        timeout_ms: request.timeout_ms,
        stop_on_error,
    };
    let command = Command::Batch { commands: targets.into_iter().map(run).collect() };
    execute(&app, &authenticated, &notebook, conditions, &command).await.map(created)
}

fn targets(state: &Notebook, request: &RunRequest) -> Result<Vec<ExecutionTarget>, Problem> {
    let cell = |cell_id: &CellId| ExecutionTarget::Cell { cell_id: cell_id.clone(), cell_version: None };
    match (&request.cells, request.all, &request.scratch) {
        (Some(cells), false, None) if !cells.is_empty() => Ok(cells.iter().map(cell).collect()),
        (None, true, None) => {
            let runs = |content: &notarium_core::CellContent| {
                content.cell_type == CellType::Code && !content.source.trim().is_empty()
            };
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

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct RunsQuery {
    /// Runs requested before this version: `next` of the page before.
    before: Option<Version>,
    /// 1 to 200; absent: 50.
    limit: Option<usize>,
    /// Only of this cell.
    cell: Option<String>,
}

#[derive(Debug, Serialize, ToSchema)]
struct RunPage {
    runs: Vec<Run>,
    /// Ask again with this as `before`; absent when there are no older ones.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<Version>,
}

/// Who ran what, when, and how it ended.
#[derive(Debug, Serialize, ToSchema)]
struct Run {
    #[schema(value_type = String)]
    id: ExecutionId,
    /// Subject (with its source), status, requester, times, outputs: `execution` of `protocol/schema/notebook.json`.
    #[schema(value_type = Object)]
    execution: Arc<Execution>,
}

/// Runs of all times, the last requested first; without their outputs.
#[utoipa::path(get, path = "/api/notebooks/{notebook}/runs", tag = "runs",
    params(("notebook" = String, Path), RunsQuery),
    responses((status = 200, body = RunPage), (status = "default", body = Problem)))]
async fn list_runs(
    State(app): State<App>,
    authenticated: Authenticated,
    Params(notebook): Params<NotebookId>,
    QueryOf(query): QueryOf<RunsQuery>,
) -> Result<Json<RunPage>, Problem> {
    let state = app.read(&authenticated, &notebook).await?.notebook;
    let limit = query.limit.unwrap_or(50).clamp(1, 200);
    let (ids, next) = requested(&app, &notebook, &query, limit).await?;
    let mut runs = Vec::with_capacity(ids.len());
    for id in ids {
        let execution = execution_of(&app, &state, &id).await?;
        runs.push(Run { id, execution: without_outputs(execution) });
    }
    Ok(Json(RunPage { runs, next }))
}

fn without_outputs(mut execution: Arc<Execution>) -> Arc<Execution> {
    if !execution.outputs.is_empty() {
        Arc::make_mut(&mut execution).outputs.clear();
    }
    execution
}

/// The latest requests before a version, and where to go on.
async fn requested(
    app: &App,
    notebook: &NotebookId,
    query: &RunsQuery,
    limit: usize,
) -> Result<(Vec<ExecutionId>, Option<Version>), Problem> {
    let mut ids = Vec::new();
    let next = backwards(&*app.store, notebook, query.before, MAX_SCANNED_EVENTS, |stored| {
        ids.extend(requested_by(stored, query.cell.as_deref()));
        ids.len() == limit
    });
    let next = next.await?;
    Ok((ids, next))
}

/// The run that an event requests; with `cell` only one of that cell.
fn requested_by(stored: &Stored, cell: Option<&str>) -> Option<ExecutionId> {
    if stored.envelope.event_type != "ExecutionRequested" {
        return None;
    }
    let Ok(Recorded { event: Event::ExecutionRequested(event), .. }) = stored.typed() else { return None };
    let of_cell = event.subject.cell_id().map(CellId::as_str);
    (cell.is_none() || cell == of_cell).then_some(event.execution_id)
}

// --- read ---

/// From the state, or folded from the record.
async fn execution_of(app: &App, state: &Notebook, id: &ExecutionId) -> Result<Arc<Execution>, Problem> {
    if let Some(execution) = state.executions.get(id) {
        return Ok(execution.clone());
    }
    let query = HistoryQuery::Execution { execution_id: id.clone() };
    let stored = app.store.history(&state.notebook_id, &query).await?;
    let events: Vec<Recorded> = stored.iter().filter_map(|stored| stored.typed().ok()).collect();
    let unknown = || Rejection::new(RejectionCode::UnknownExecution, format!("no run {id} here: check the id"));
    Execution::replay(&events).map(Arc::new).ok_or_else(|| unknown().into())
}

/// A run of any time, with its outputs.
#[utoipa::path(get, path = "/api/notebooks/{notebook}/runs/{run}", tag = "runs",
    params(("notebook" = String, Path), ("run" = String, Path)),
    responses((status = 200, body = Run), (status = "default", body = Problem)))]
async fn read_run(
    State(app): State<App>,
    authenticated: Authenticated,
    Params((notebook, id)): OfRun,
) -> Result<Json<Run>, Problem> {
    let state = app.read(&authenticated, &notebook).await?.notebook;
    let execution = execution_of(&app, &state, &id).await?;
    Ok(Json(Run { id, execution }))
}

/// What differs between two runs.
#[derive(Debug, Serialize, ToSchema)]
struct Comparison {
    /// The older one as asked for, without outputs.
    left: Run,
    right: Run,
    same_source: bool,
    same_status: bool,
    same_outputs: bool,
    /// From the left source to the right one; empty when they are the same.
    source_diff: String,
    /// From the left outputs' text to the right one's.
    output_diff: String,
}

/// Compares two runs.
#[utoipa::path(get, path = "/api/notebooks/{notebook}/runs/{run}/compare/{other}", tag = "runs",
    params(("notebook" = String, Path), ("run" = String, Path), ("other" = String, Path)),
    responses((status = 200, body = Comparison), (status = "default", body = Problem)))]
async fn compare_runs(
    State(app): State<App>,
    authenticated: Authenticated,
    Params((notebook, left, right)): Params<(NotebookId, ExecutionId, ExecutionId)>,
) -> Result<Json<Comparison>, Problem> {
    let state = app.read(&authenticated, &notebook).await?.notebook;
    let one = execution_of(&app, &state, &left).await?;
    let other = execution_of(&app, &state, &right).await?;
    let (one_text, other_text) = (output_text(&one), output_text(&other));
    Ok(Json(Comparison {
        same_source: one.subject.source() == other.subject.source(),
        same_status: one.status == other.status,
        same_outputs: one_text == other_text,
        source_diff: diff::unified(one.subject.source(), other.subject.source()),
        output_diff: diff::unified(&one_text, &other_text),
        left: Run { id: left, execution: without_outputs(one) },
        right: Run { id: right, execution: without_outputs(other) },
    }))
}

/// The outputs as text to compare, one line each; blobs by their hashes. The kernel's counter is no difference.
fn output_text(execution: &Execution) -> String {
    let line = |output: &notarium_core::Output| {
        let whole = parts::join(output, &BTreeMap::<String, Bytes>::new());
        let mut fields: serde_json::Map<String, serde_json::Value> =
            serde_json::from_str(whole.get()).unwrap_or_default();
        fields.remove("execution_count");
        serde_json::to_string_pretty(&fields).unwrap_or_default()
    };
    execution.outputs.iter().map(line).collect::<Vec<_>>().join("\n")
}

// --- act ---

/// Cancels a run that waits, or interrupts one that runs.
#[utoipa::path(post, path = "/api/notebooks/{notebook}/runs/{run}/cancel", tag = "runs",
    params(("notebook" = String, Path), ("run" = String, Path)),
    responses((status = 200, body = Answer), (status = "default", body = Problem)))]
async fn cancel_run(
    State(app): State<App>,
    authenticated: Authenticated,
    Params((notebook, execution_id)): OfRun,
    conditions: Conditions,
) -> Result<Answer, Problem> {
    execute(&app, &authenticated, &notebook, conditions, &Command::CancelExecution { execution_id }).await
}

/// Gives up a run whose runtime agent cannot be reached: it is lost.
#[utoipa::path(post, path = "/api/notebooks/{notebook}/runs/{run}/give-up", tag = "runs",
    params(("notebook" = String, Path), ("run" = String, Path)),
    responses((status = 200, body = Answer), (status = "default", body = Problem)))]
async fn give_up_run(
    State(app): State<App>,
    authenticated: Authenticated,
    Params((notebook, execution_id)): OfRun,
    conditions: Conditions,
) -> Result<Answer, Problem> {
    execute(&app, &authenticated, &notebook, conditions, &Command::GiveUpExecution { execution_id }).await
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct InputValue {
    value: String,
}

/// Answers what a run asks on stdin.
#[utoipa::path(post, path = "/api/notebooks/{notebook}/runs/{run}/input", tag = "runs", request_body = InputValue,
    params(("notebook" = String, Path), ("run" = String, Path)),
    responses((status = 200, body = Answer), (status = "default", body = Problem)))]
async fn answer_input(
    State(app): State<App>,
    authenticated: Authenticated,
    Params((notebook, execution_id)): OfRun,
    conditions: Conditions,
    JsonBody(input): JsonBody<InputValue>,
) -> Result<Answer, Problem> {
    let command = Command::AnswerInput { execution_id, value: input.value };
    execute(&app, &authenticated, &notebook, conditions, &command).await
}
