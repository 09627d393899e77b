//! Cells: make, read, edit, move, delete, restore.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::response::Response;
use notarium_core::text::ChangeSet;
use notarium_core::{
    Cell, CellFlagChanges, CellId, CellType, Command, Execution, ExecutionId, NotebookId, Operation, Place, RawObject,
    Rejection, RejectionCode, Version,
};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::routes;

use super::answers::{Answer, created, execute};
use crate::app::App;
use crate::auth::Authenticated;
use crate::extract::{Conditions, JsonBody, Params, QueryOf};
use crate::guard::{Guard, GuardedRouter};
use crate::problem::Problem;

pub fn routes(router: GuardedRouter<App>) -> GuardedRouter<App> {
    router
        .routes(Guard::Notebook(Operation::Edit), routes!(create_cell))
        .routes(Guard::Notebook(Operation::Read), routes!(read_cell))
        .routes(Guard::Notebook(Operation::Edit), routes!(change_cell))
        .routes(Guard::Notebook(Operation::Edit), routes!(move_cell))
        .routes(Guard::Notebook(Operation::Edit), routes!(delete_cell))
        .routes(Guard::Notebook(Operation::Edit), routes!(restore_cell))
        .routes(Guard::Notebook(Operation::Edit), routes!(clear_outputs))
}

type OfCell = Params<(NotebookId, CellId)>;

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct NewCell {
    /// Chosen by you, or by the server.
    #[schema(value_type = Option<String>)]
    cell_id: Option<CellId>,
    /// `code`, `markdown`, `raw`, `sql` or `prompt`.
    #[schema(value_type = String)]
    cell_type: CellType,
    #[serde(default)]
    source: String,
    /// `"start"`, `"end"`, `{"before": "CELL"}` or `{"after": "CELL"}`; absent: at the end.
    #[schema(value_type = Object)]
    place: Option<Place>,
    #[serde(default)]
    #[schema(value_type = Object)]
    metadata: RawObject,
    #[schema(value_type = Option<Object>)]
    attachments: Option<RawObject>,
    #[serde(default)]
    #[schema(value_type = Object)]
    flags: CellFlagChanges,
}

/// Inserts a cell.
#[utoipa::path(post, path = "/api/notebooks/{notebook}/cells", tag = "cells", request_body = NewCell,
    params(("notebook" = String, Path)),
    responses((status = 201, body = Answer), (status = "default", body = Problem)))]
async fn create_cell(
    State(app): State<App>,
    authenticated: Authenticated,
    Params(notebook): Params<NotebookId>,
    conditions: Conditions,
    JsonBody(new): JsonBody<NewCell>,
) -> Result<Response, Problem> {
    let command = Command::InsertCell {
        cell_id: new.cell_id,
        cell_type: new.cell_type,
        source: new.source,
        place: new.place.unwrap_or(Place::End),
        metadata: new.metadata,
        attachments: new.attachments,
        flags: new.flags,
        reply: None,
    };
    execute(&app, &authenticated, &notebook, conditions, &command).await.map(created)
}

#[derive(Debug, Serialize, ToSchema)]
struct CellAnswer {
    #[schema(value_type = String)]
    cell_id: CellId,
    /// Of the notebook.
    version: Version,
    /// The source changed since it was executed.
    stale: bool,
    #[schema(value_type = Object)]
    cell: Arc<Cell>,
    #[schema(value_type = Option<String>)]
    #[serde(skip_serializing_if = "Option::is_none")]
    run: Option<ExecutionId>,
    /// The run whose outputs it shows.
    #[schema(value_type = Option<Object>)]
    #[serde(skip_serializing_if = "Option::is_none")]
    execution: Option<Arc<Execution>>,
}

/// A cell, and the run whose outputs it shows.
#[utoipa::path(get, path = "/api/notebooks/{notebook}/cells/{cell}", tag = "cells",
    params(("notebook" = String, Path), ("cell" = String, Path)),
    responses((status = 200, body = CellAnswer), (status = "default", body = Problem)))]
async fn read_cell(
    State(app): State<App>,
    authenticated: Authenticated,
    Params((notebook, cell_id)): OfCell,
) -> Result<Json<CellAnswer>, Problem> {
    let state = app.read(&authenticated, &notebook).await?.notebook;
    let unknown = || Rejection::new(RejectionCode::UnknownCell, format!("no cell {cell_id} here: check the id"));
    let cell = state.cells.get(&cell_id).cloned().ok_or_else(unknown)?;
    let latest = state.latest_execution(&cell_id).map(|(id, execution)| (id.clone(), execution.clone()));
    let (run, execution) = latest.unzip();
    Ok(Json(CellAnswer { version: state.version, stale: state.is_stale(&cell_id), cell_id, cell, run, execution }))
}

/// Either `source` with `cell_version`, or `change` with `base`; and what else is to change.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct CellChange {
    /// A whole new source.
    source: Option<String>,
    /// The `cell_version` that you read; refused when the cell has moved on.
    cell_version: Option<Version>,
    /// A CodeMirror ChangeSet: see `protocol/README.md`, Text.
    #[schema(value_type = Option<Object>)]
    change: Option<ChangeSet>,
    /// The notebook's version that `change` applies to.
    base: Option<Version>,
    #[schema(value_type = Option<String>)]
    cell_type: Option<CellType>,
    #[schema(value_type = Option<Object>)]
    metadata: Option<RawObject>,
    #[schema(value_type = Option<Object>)]
    attachments: Option<RawObject>,
    #[schema(value_type = Option<Object>)]
    flags: Option<CellFlagChanges>,
}

impl CellChange {
    fn commands(self, cell_id: &CellId) -> Result<Vec<Command>, Problem> {
        let id = || cell_id.clone();
        let cell_version = self.cell_version;
        let text = match (self.source, self.change, self.base) {
            (Some(source), None, None) => Some(Command::ReplaceSource {
                cell_id: id(),
                source,
                cell_version: cell_version
                    .ok_or_else(|| Problem::invalid("source needs cell_version: the one of the cell that you read"))?,
            }),
            (None, Some(change), Some(base)) => Some(Command::EditSource { cell_id: id(), base, change }),
            (None, None, None) => None,
            _ => return Err(Problem::invalid("send source with cell_version, or change with base, not both")),
        };
        // The text comes first: it is what `cell_version` is checked for.
        let cell_type =
            self.cell_type.map(|cell_type| Command::ChangeCellType { cell_id: id(), cell_type, cell_version: None });
        let metadata = self.metadata.map(|metadata| Command::SetCellMetadata { cell_id: id(), metadata });
        let attachments =
            self.attachments.map(|files| Command::SetCellAttachments { cell_id: id(), attachments: Some(files) });
        let flags = self.flags.map(|flags| Command::SetCellFlags { cell_id: id(), flags });
        Ok(text.into_iter().chain(cell_type).chain(metadata).chain(attachments).chain(flags).collect())
    }
}

/// Edits a cell: text, type, metadata, flags; all or nothing.
#[utoipa::path(patch, path = "/api/notebooks/{notebook}/cells/{cell}", tag = "cells", request_body = CellChange,
    params(("notebook" = String, Path), ("cell" = String, Path)),
    responses((status = 200, body = Answer), (status = "default", body = Problem)))]
async fn change_cell(
    State(app): State<App>,
    authenticated: Authenticated,
    Params((notebook, cell_id)): OfCell,
    conditions: Conditions,
    JsonBody(change): JsonBody<CellChange>,
) -> Result<Answer, Problem> {
    let mut commands = change.commands(&cell_id)?;
    let command = match commands.len() {
        0 => return Err(Problem::invalid("nothing is to change: send source, change, cell_type, metadata or flags")),
        1 => commands.remove(0),
        _ => Command::Batch { commands },
    };
    execute(&app, &authenticated, &notebook, conditions, &command).await
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct CellMove {
    /// `"start"`, `"end"`, `{"before": "CELL"}` or `{"after": "CELL"}`.
    #[schema(value_type = Object)]
    place: Place,
    cell_version: Option<Version>,
}

/// Moves a cell.
#[utoipa::path(post, path = "/api/notebooks/{notebook}/cells/{cell}/move", tag = "cells", request_body = CellMove,
    params(("notebook" = String, Path), ("cell" = String, Path)),
    responses((status = 200, body = Answer), (status = "default", body = Problem)))]
async fn move_cell(
    State(app): State<App>,
    authenticated: Authenticated,
    Params((notebook, cell_id)): OfCell,
    conditions: Conditions,
    JsonBody(to): JsonBody<CellMove>,
) -> Result<Answer, Problem> {
    let command = Command::MoveCell { cell_id, place: to.place, cell_version: to.cell_version };
    execute(&app, &authenticated, &notebook, conditions, &command).await
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct DeleteQuery {
    /// Refuse when the cell has moved on.
    cell_version: Option<Version>,
}

/// Moves a cell to the trash.
#[utoipa::path(delete, path = "/api/notebooks/{notebook}/cells/{cell}", tag = "cells",
    params(("notebook" = String, Path), ("cell" = String, Path), DeleteQuery),
    responses((status = 200, body = Answer), (status = "default", body = Problem)))]
async fn delete_cell(
    State(app): State<App>,
    authenticated: Authenticated,
    Params((notebook, cell_id)): OfCell,
    QueryOf(query): QueryOf<DeleteQuery>,
    conditions: Conditions,
) -> Result<Answer, Problem> {
    let command = Command::DeleteCell { cell_id, cell_version: query.cell_version };
    execute(&app, &authenticated, &notebook, conditions, &command).await
}

/// Brings a deleted cell back where it was.
#[utoipa::path(post, path = "/api/notebooks/{notebook}/cells/{cell}/restore", tag = "cells",
    params(("notebook" = String, Path), ("cell" = String, Path)),
    responses((status = 200, body = Answer), (status = "default", body = Problem)))]
async fn restore_cell(
    State(app): State<App>,
    authenticated: Authenticated,
    Params((notebook, cell_id)): OfCell,
    conditions: Conditions,
) -> Result<Answer, Problem> {
    execute(&app, &authenticated, &notebook, conditions, &Command::RestoreCell { cell_id }).await
}

/// Clears the outputs that a cell shows; its runs stay in the record.
#[utoipa::path(delete, path = "/api/notebooks/{notebook}/cells/{cell}/outputs", tag = "cells",
    params(("notebook" = String, Path), ("cell" = String, Path)),
    responses((status = 200, body = Answer), (status = "default", body = Problem)))]
async fn clear_outputs(
    State(app): State<App>,
    authenticated: Authenticated,
    Params((notebook, cell_id)): OfCell,
    conditions: Conditions,
) -> Result<Answer, Problem> {
    execute(&app, &authenticated, &notebook, conditions, &Command::ClearOutputs { cell_id }).await
}
