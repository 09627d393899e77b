//! Routes for cells: insert, read, edit, move, delete, restore; their comment threads; their dependency graph.

use std::sync::Arc;

use axum::Json;
use http::Method;
use notarium_core::reactive::{KnownNames, NotebookGraph, notebook_graph};
use notarium_core::{
    AddComment, CellId, Command, CommentId, CommentPlace, CommentTarget, EditComment, EditSource, HistoryQuery,
    InsertCell, NotebookId, Operation, Place, Rejection, RejectionCode, ThreadId, is_python,
};
use notarium_wire::rest::{
    CellAnswer, CellChange, CellMove, CommentText, DeleteQuery, NewCell, NewThread, ReactivityOf, ThreadMove, Threads,
};

use super::answers::{Accepted, NotebookReader, Submit};
use crate::app::App;
use crate::http::extract::{JsonBody, NoBody, Params, QueryOf};
use crate::http::guard::{Guard, GuardedRouter};
use crate::http::problem::Problem;

type CellPath = (NotebookId, CellId);

pub fn routes(router: GuardedRouter<App>) -> GuardedRouter<App> {
    let (read, edit) = (Guard::Notebook(Operation::Read), Guard::Notebook(Operation::Edit));
    router
        .group("cells", "/api/notebooks/{notebook}/cells")
        .says("Inserts a cell.")
        .creating(edit, Method::POST, "", |_: NotebookId, JsonBody(new)| Ok(insert(new)))
        .says("A cell, and the run whose outputs it shows.")
        .on(read, Method::GET, "/{cell}", read_cell)
        .says("Edits a cell: text, type, metadata, flags; all or nothing.")
        .command(edit, Method::PATCH, "/{cell}", |(_, cell_id): CellPath, JsonBody(to)| change(to, &cell_id))
        .says("Moves a cell.")
        .command(edit, Method::POST, "/{cell}/move", |(_, cell_id): CellPath, JsonBody(to): JsonBody<CellMove>| {
            Ok(Command::MoveCell { cell_id, place: to.place, cell_version: to.cell_version })
        })
        .says("Moves a cell to the trash.")
        .on(edit, Method::DELETE, "/{cell}", delete_cell)
        .says("Brings a cell in the trash back where it was.")
        .command(edit, Method::POST, "/{cell}/restore", |(_, cell_id): CellPath, _: NoBody| {
            Ok(Command::RestoreCell { cell_id })
        })
        .says("Clears the outputs that a cell shows; its runs stay in the record.")
        .command(edit, Method::DELETE, "/{cell}/outputs", |(_, cell_id): CellPath, _: NoBody| {
            Ok(Command::ClearOutputs { cell_id })
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
    let latest = state.latest_execution(&cell_id).map(|(id, execution)| (id.clone(), execution.clone()));
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

type ThreadPath = (NotebookId, ThreadId);
type CommentPath = (NotebookId, ThreadId, CommentId);

pub fn comment_routes(router: GuardedRouter<App>) -> GuardedRouter<App> {
    let (read, comment) = (Guard::Notebook(Operation::Read), Guard::Notebook(Operation::Comment));
    router
        .group("comments", "/api/notebooks/{notebook}")
        .says("The comments of a notebook: its threads, resolved ones too.")
        .on(read, Method::GET, "/threads", list)
        .says("Begins a thread of comments on a cell, or on a range of its text.")
        .creating(comment, Method::POST, "/cells/{cell}/threads", |(_, cell): (NotebookId, CellId), JsonBody(new)| {
            Ok(start(cell, new))
        })
        .says("Replies in a thread.")
        .creating(comment, Method::POST, "/threads/{thread}/comments", |(_, thread): ThreadPath, JsonBody(new)| {
            Ok(reply(thread, new))
        })
        .says("Changes a comment of yours.")
        .command(comment, Method::PATCH, "/threads/{thread}/comments/{comment}", |path: CommentPath, JsonBody(to)| {
            Ok(change_comment(path, to))
        })
        .says("Takes a comment of yours away; an owner, anybody's. With its last comment the thread goes.")
        .command(
            comment,
            Method::DELETE,
            "/threads/{thread}/comments/{comment}",
            |(_, thread_id, comment_id): CommentPath, _: NoBody| Ok(Command::DeleteComment { thread_id, comment_id }),
        )
        .says("Says that what a thread was about is settled.")
        .command(comment, Method::POST, "/threads/{thread}/resolve", |(_, thread_id): ThreadPath, _: NoBody| {
            Ok(Command::ResolveThread { thread_id })
        })
        .says("Opens a resolved thread again.")
        .command(comment, Method::POST, "/threads/{thread}/reopen", |(_, thread_id): ThreadPath, _: NoBody| {
            Ok(Command::ReopenThread { thread_id })
        })
        .says("Takes a thread to where its text is now, when cells were split or merged.")
        .command(
            Guard::Notebook(Operation::Edit),
            Method::POST,
            "/threads/{thread}/move",
            |(_, thread_id): ThreadPath, JsonBody(ThreadMove { place })| Ok(Command::MoveThread { thread_id, place }),
        )
}

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

pub fn graph_routes(router: GuardedRouter<App>) -> GuardedRouter<App> {
    let of = Guard::Notebook;
    router
        .group("reactivity", "/api/notebooks/{notebook}")
        .says("Whether running a cell brings the cells that hang together with it up to date.")
        .on(of(Operation::Read), Method::GET, "/reactivity", read_reactivity)
        .says("Sets it. For editors and owners.")
        .command(
            of(Operation::Organise),
            Method::PUT,
            "/reactivity",
            |_: NotebookId, JsonBody(ReactivityOf { reactivity })| Ok(Command::SetReactivity { reactivity }),
        )
        .says("Which cell reads what another leaves, and which are stale; also where the notebook is not reactive.")
        .on(of(Operation::Read), Method::GET, "/graph", read_graph)
}

async fn read_reactivity(NotebookReader { now, .. }: NotebookReader) -> Json<ReactivityOf> {
    Json(ReactivityOf { reactivity: now.notebook.reactivity })
}

async fn read_graph(NotebookReader { app, now, .. }: NotebookReader) -> Result<Json<NotebookGraph>, Problem> {
    let notebook = now.notebook;
    let mut names = KnownNames::default();
    if is_python(&notebook) {
        names = KnownNames::clone(&now.names);
        let texts = names.refresh(&notebook);
        for (text, found) in app.rooms.names().read_all(texts).await {
            names.learn(&text.cell_id, text.source_version, found.as_ref());
        }
    }
    let graph = tokio::task::spawn_blocking(move || notebook_graph(&notebook, Arc::new(names)));
    graph.await.map(Json).map_err(|error| {
        tracing::error!(%error, "the graph of a notebook could not be made");
        Problem::internal("the graph could not be made: report it")
    })
}
