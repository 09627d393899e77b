//! Routes for cells: insert, read, edit, move, delete, restore; their comment threads; their dependency graph.

use axum::Json;
use notarium_assistant::preview::with_joined_streams;
use notarium_core::reactive::NotebookGraph;
use notarium_core::{
    AddComment, CellId, Command, CommentId, CommentPlace, CommentTarget, EditComment, EditSource, HistoryQuery,
    InsertCell, NotebookId, Operation, Place, Rejection, RejectionCode, ThreadId,
};
use notarium_wire::rest::{
    CellAnswer, CellChange, CellMove, CommentText, DeleteQuery, NewCell, NewThread, ReactivityOf, ThreadMove, Threads,
};

use super::answers::{Accepted, NotebookReader, Submit, command, creating};
use crate::app::App;
use crate::http::extract::{JsonBody, NoBody, Params, QueryOf};
use crate::http::guard::{Guard, GuardedRouter, route_table};
use crate::http::problem::Problem;
use crate::notebooks::graph::graph_of;

type CellPath = (NotebookId, CellId);
type ThreadPath = (NotebookId, ThreadId);
type CommentPath = (NotebookId, ThreadId, CommentId);

pub fn routes(router: GuardedRouter<App>) -> GuardedRouter<App> {
    let (read, edit) = (Guard::Notebook(Operation::Read), Guard::Notebook(Operation::Edit));
    let comment = Guard::Notebook(Operation::Comment);
    route_table!(router; "cells" "/api/notebooks/{notebook}/cells" {
        /// Inserts a cell.
        POST "", edit => creating(|_: NotebookId, JsonBody(new)| insert(new));
        /// A cell, and the run whose outputs it shows. What it wrote to one stream without another output between is one output.
        GET "/{cell}", read => read_cell;
        /// Edits a cell: text, type, metadata, flags; all or nothing.
        PATCH "/{cell}", edit => edit_cell;
        /// Moves a cell.
        POST "/{cell}/move", edit =>
            command(|(_, cell_id): CellPath, JsonBody(CellMove { place, cell_version })|
                Command::MoveCell { cell_id, place, cell_version });
        /// Moves a cell to the trash.
        DELETE "/{cell}", edit => delete_cell;
        /// Brings a cell in the trash back where it was.
        POST "/{cell}/restore", edit =>
            command(|(_, cell_id): CellPath, _: NoBody| Command::RestoreCell { cell_id });
        /// Clears the outputs that a cell shows; its runs stay in the record.
        DELETE "/{cell}/outputs", edit =>
            command(|(_, cell_id): CellPath, _: NoBody| Command::ClearOutputs { cell_id });
    } "comments" "/api/notebooks/{notebook}" {
        /// The comments of a notebook: its threads, resolved ones too.
        GET "/threads", read => list;
        /// Begins a thread of comments on a cell, or on a range of its text.
        POST "/cells/{cell}/threads", comment =>
            creating(|(_, cell): CellPath, JsonBody(new)| start(cell, new));
        /// Replies in a thread.
        POST "/threads/{thread}/comments", comment =>
            creating(|(_, thread): ThreadPath, JsonBody(new)| reply(thread, new));
        /// Changes a comment of yours.
        PATCH "/threads/{thread}/comments/{comment}", comment =>
            command(|path: CommentPath, JsonBody(to)| change_comment(path, to));
        /// Takes a comment of yours away; an owner, anybody's. With its last comment the thread goes.
        DELETE "/threads/{thread}/comments/{comment}", comment =>
            command(|(_, thread_id, comment_id): CommentPath, _: NoBody|
                Command::DeleteComment { thread_id, comment_id });
        /// Says that what a thread was about is settled.
        POST "/threads/{thread}/resolve", comment =>
            command(|(_, thread_id): ThreadPath, _: NoBody| Command::ResolveThread { thread_id });
        /// Opens a resolved thread again.
        POST "/threads/{thread}/reopen", comment =>
            command(|(_, thread_id): ThreadPath, _: NoBody| Command::ReopenThread { thread_id });
        /// Takes a thread to where its text is now, when cells were split or merged.
        POST "/threads/{thread}/move", edit =>
            command(|(_, thread_id): ThreadPath, JsonBody(ThreadMove { place })|
                Command::MoveThread { thread_id, place });
    } "reactivity" "/api/notebooks/{notebook}" {
        /// The notebook's reactive execution: whether a run of a cell brings dependent cells up to date.
        GET "/reactivity", read => read_reactivity;
        /// Sets it. For editors and owners.
        PUT "/reactivity", Guard::Notebook(Operation::Organise) =>
            command(|_: NotebookId, JsonBody(ReactivityOf { reactivity })| Command::SetReactivity { reactivity });
        /// The graph of cells: which cell reads names that another defines, and which are stale; also if the notebook
        /// is not reactive.
        GET "/graph", read => read_graph;
    })
}

fn insert(new: NewCell) -> Command {
    Command::InsertCell(InsertCell {
        cell_id: new.cell_id,
        cell_type: new.cell_type,
        source: new.source,
        place: new.place.unwrap_or(Place::End),
        metadata: new.metadata,
        attachments: new.attachments,
        flags: new.flags,
        reply: None,
    })
}

async fn read_cell(
    NotebookReader { app, notebook, now, .. }: NotebookReader,
    Params((_, cell_id)): Params<CellPath>,
) -> Result<Json<CellAnswer>, Problem> {
    let state = now.notebook;
    let Some(cell) = state.cells.get(&cell_id).cloned() else {
        return Err(not_there(&app, &notebook, cell_id).await);
    };
    let latest =
        state.latest_execution(&cell_id).map(|(id, execution)| (id.clone(), with_joined_streams(execution.clone())));
    let (run, execution) = latest.unzip();
    Ok(Json(CellAnswer { version: state.version, stale: state.is_stale(&cell_id), cell_id, cell, run, execution }))
}

/// Problem of a missing cell: in the trash, or unknown.
async fn not_there(app: &App, notebook: &NotebookId, cell_id: CellId) -> Problem {
    let deleted = HistoryQuery::DeletedCell { cell_id: cell_id.clone() };
    match app.store.history(notebook, &deleted).await {
        Ok(past) if past.events.is_empty() => {
            Rejection::new(RejectionCode::UnknownCell, format!("no cell {cell_id} here: check the id")).into()
        }
        Ok(_) => {
            Rejection::new(RejectionCode::CellDeleted, format!("cell {cell_id} is in the trash: restore it first"))
                .into()
        }
        Err(error) => error.into(),
    }
}

async fn edit_cell(
    submit: Submit,
    Params((_, cell_id)): Params<CellPath>,
    JsonBody(to): JsonBody<CellChange>,
) -> Result<Accepted, Problem> {
    submit.command(&change(to, &cell_id)?).await
}

fn change(to: CellChange, cell_id: &CellId) -> Result<Command, Problem> {
    let id = || cell_id.clone();
    let text = match (to.source, to.change, to.base) {
        (Some(source), None, None) => {
            let unread = || Problem::invalid("source needs cell_version: the one of the cell that you read");
            Some(Command::ReplaceSource { cell_id: id(), source, cell_version: to.cell_version.ok_or_else(unread)? })
        }
        (None, Some(change), Some(base)) => {
            Some(Command::EditSource(EditSource { cell_id: id(), base, change, undoes: None, redoes: None }))
        }
        (None, None, None) => None,
        _ => return Err(Problem::invalid("send source with cell_version, or change with base, not both")),
    };
    // The text comes first, because `cell_version` is checked for it.
    let cell_type =
        to.cell_type.map(|cell_type| Command::ChangeCellType { cell_id: id(), cell_type, cell_version: None });
    let metadata = to.metadata.map(|metadata| Command::SetCellMetadata { cell_id: id(), metadata });
    let attachments =
        to.attachments.map(|files| Command::SetCellAttachments { cell_id: id(), attachments: Some(files) });
    let flags = to.flags.map(|flags| Command::SetCellFlags { cell_id: id(), flags });
    let commands = text.into_iter().chain(cell_type).chain(metadata).chain(attachments).chain(flags);
    let mut commands: Vec<Command> = commands.collect();
    match commands.len() {
        0 => Err(Problem::invalid("nothing is to change: send source, change, cell_type, metadata or flags")),
        1 => Ok(commands.remove(0)),
        _ => Ok(Command::Batch { commands }),
    }
}

async fn delete_cell(
    submit: Submit,
    Params((_, cell_id)): Params<CellPath>,
    QueryOf(query): QueryOf<DeleteQuery>,
) -> Result<Accepted, Problem> {
    submit.command(&Command::DeleteCell { cell_id, cell_version: query.cell_version }).await
}

// --- comments ---

async fn list(NotebookReader { now, .. }: NotebookReader) -> Json<Threads> {
    Json(Threads { version: now.notebook.version, threads: now.notebook.threads.clone() })
}

fn start(cell_id: CellId, NewThread { text, range, base, mentions }: NewThread) -> Command {
    let target = CommentTarget::Cell(CommentPlace { cell_id, range, base });
    Command::AddComment(AddComment { target, text, mentions })
}

fn reply(thread_id: ThreadId, CommentText { text, mentions }: CommentText) -> Command {
    Command::AddComment(AddComment { target: CommentTarget::Thread { thread_id }, text, mentions })
}

fn change_comment((_, thread_id, comment_id): CommentPath, CommentText { text, mentions }: CommentText) -> Command {
    Command::EditComment(EditComment { thread_id, comment_id, text, mentions })
}

// --- reactivity ---

async fn read_reactivity(NotebookReader { now, .. }: NotebookReader) -> Json<ReactivityOf> {
    Json(ReactivityOf { reactivity: now.notebook.reactivity })
}

async fn read_graph(NotebookReader { app, now, .. }: NotebookReader) -> Result<Json<NotebookGraph>, Problem> {
    graph_of(&app.rooms, now).await.map(Json).map_err(|error| {
        tracing::error!(%error, "the graph of a notebook could not be made");
        Problem::internal("the graph could not be made: report it")
    })
}
