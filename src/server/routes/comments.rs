//! Comments: threads on cells and on ranges of their text.

use axum::Json;
use http::Method;
use notarium_core::{
    AddComment, CellId, Command, CommentId, CommentPlace, CommentTarget, EditComment, NotebookId, Operation, ThreadId,
};
use notarium_wire::rest::{CommentText, NewThread, ThreadMove, Threads};

use super::answers::Reading;
use crate::app::App;
use crate::http::extract::{JsonBody, NoBody};
use crate::http::guard::{Guard, GuardedRouter};

type ThreadPath = (NotebookId, ThreadId);
type CommentPath = (NotebookId, ThreadId, CommentId);

pub fn routes(router: GuardedRouter<App>) -> GuardedRouter<App> {
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
            Ok(change(path, to))
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

async fn list(Reading { now, .. }: Reading) -> Json<Threads> {
    Json(Threads { version: now.notebook.version, threads: now.notebook.threads.clone() })
}

fn start(cell_id: CellId, NewThread { text, range, base, mentions }: NewThread) -> Command {
    let target = CommentTarget::Cell(CommentPlace { cell_id, range, base });
    Command::AddComment(AddComment { target, text, mentions })
}

fn reply(thread_id: ThreadId, CommentText { text, mentions }: CommentText) -> Command {
    Command::AddComment(AddComment { target: CommentTarget::Thread { thread_id }, text, mentions })
}

fn change((_, thread_id, comment_id): CommentPath, CommentText { text, mentions }: CommentText) -> Command {
    Command::EditComment(EditComment { thread_id, comment_id, text, mentions })
}
