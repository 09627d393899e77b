//! Routes for files beside a notebook: they pass through the runtime agent that has the folder.

use axum::Json;
use axum::extract::{DefaultBodyLimit, Request, State};
use axum::response::{IntoResponse, Response};
use http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use notarium_core::{Actor, KernelSessionId, NotebookId, Operation, Scope};
use notarium_wire::rest::{FileList, FilePlace, FileTarget, FileTrash, ListFiles, MoveFile, RestoreFile, TrashPlace};
use notarium_wire::{FileEntry, MAX_LISTED_FILES, MovedFile, TrashPage, TrashedFile, WrittenFile};
use tokio::sync::oneshot;

use super::files::attachment;
use crate::agents::Reachable;
use crate::agents::working_files::{Download, FileAsker};
use crate::app::App;
use crate::auth::Authenticated;
use crate::http::extract::{JsonBody, NoContent, OptionalJson, Params, QueryOf};
use crate::http::guard::{Guard, GuardedRouter};
use crate::http::problem::Problem;
use futures_util::StreamExt;

const BYTES: &str = "application/octet-stream";
const DEFAULT_LISTED: u32 = 200;

pub fn routes(router: GuardedRouter<App>) -> GuardedRouter<App> {
    let run = Guard::Notebook(Operation::Run);
    let router = router
        .group("working files", "/api/notebooks/{notebook}/files")
        .says(
            "What a folder holds beside the notebook: the folder in which its kernels start, on the machine of their runtime \
             agent.\n\nFiles are what code in the kernel can read and write: who may run code may list, download and upload them. \
             Nothing of it is recorded.",
        )
        .on(run, Method::GET, "", list)
        .says("What is known of one file or folder.")
        .on(run, Method::GET, "/about", look)
        .says(
            "Downloads a file as bytes, never as a page. An answer that ends before `content-length` is no whole file: it was changed \
             while it was read, or its runtime agent left.",
        )
        .on(run, Method::GET, "/content", download)
        .answers_plain("200", BYTES)
        .says(
            "Uploads a file; the body is the bytes. It has its name when all of it is on the disk there; an upload that breaks off \
             leaves nothing. A file that exists is refused (`file_exists`) unless `overwrite` is true.",
        )
        // The runtime agent enforces the limit of files while it writes.
        .body_limit(DefaultBodyLimit::disable())
        .on(run, Method::PUT, "/content", upload)
        .takes_bytes(BYTES)
        .answers::<WrittenFile>("200", "application/json")
        .answers::<WrittenFile>("201", "application/json");
    let router = changes(router, run);
    let agent = Guard::Scope(Scope::Agent);
    router
        .group("working files", "/api/transfers")
        .says(
            "For runtime agents: the bytes of a file that `file_request` asked for. Ends when somebody has read them.",
        )
        .body_limit(DefaultBodyLimit::disable())
        .on(agent, Method::PUT, "/{transfer}", bring)
        .takes_bytes(BYTES)
        .says("For runtime agents: the bytes of a file that `file_request` said would come.")
        .on(agent, Method::GET, "/{transfer}", fetch)
        .answers_plain("200", BYTES)
}

fn changes(router: GuardedRouter<App>, run: Guard) -> GuardedRouter<App> {
    router
        .says(
            "Moves a file or folder to the trash of its runtime agent, where it is kept for 30 days, or as long as the trash has room. \
             A program that has it open goes on writing to it there.",
        )
        .on(run, Method::DELETE, "/content", remove)
        .says(
            "Gives a file, folder or link another name or place. What exists is never replaced (`file_exists`); folders on the way \
             are made.",
        )
        .on(run, Method::POST, "/move", relocate)
        .says("What the trash beside the notebook holds, the last removed first.")
        .on(run, Method::GET, "/trash", trash)
        .says(
            "Brings a file or folder back from the trash, where it was or to another place. What exists is never replaced \
             (`file_exists`).",
        )
        .on(run, Method::POST, "/trash/{entry}/restore", restore)
        .says("Deletes one entry of the trash for good.")
        .on(run, Method::DELETE, "/trash/{entry}", delete)
        .says("Deletes for good all that is in the trash.")
        .on(run, Method::DELETE, "/trash", empty_trash)
}

// --- people ---

async fn list(
    State(app): State<App>,
    who: Authenticated,
    Params(notebook): Params<NotebookId>,
    QueryOf(query): QueryOf<ListFiles>,
) -> Result<Json<FileList>, Problem> {
    let ListFiles { path, after, limit, all, kernel } = query;
    let limit = limit.unwrap_or(DEFAULT_LISTED);
    if !(1..=MAX_LISTED_FILES).contains(&limit) {
        return Err(Problem::invalid(format!("limit is 1 to {MAX_LISTED_FILES}")));
    }
    let asker = FileAsker::new(app.file_service(), &who, &notebook, kernel.as_ref()).await?;
    let page = asker.list(path, after, limit, all).await?;
    let Reachable { id: agent, name: agent_name, knows, .. } = asker.agent.clone();
    let max_file_bytes = app.limits.max_working_file_bytes;
    Ok(Json(FileList { page, agent, agent_name, max_file_bytes, can_change: knows.file_changes }))
}

async fn look(
    State(app): State<App>,
    who: Authenticated,
    Params(notebook): Params<NotebookId>,
    QueryOf(FilePlace { path, kernel }): QueryOf<FilePlace>,
) -> Result<Json<FileEntry>, Problem> {
    FileAsker::new(app.file_service(), &who, &notebook, kernel.as_ref()).await?.look(path).await.map(Json)
}

async fn download(
    State(app): State<App>,
    who: Authenticated,
    Params(notebook): Params<NotebookId>,
    QueryOf(FilePlace { path, kernel }): QueryOf<FilePlace>,
) -> Result<Response, Problem> {
    let asker = FileAsker::new(app.file_service(), &who, &notebook, kernel.as_ref()).await?;
    let Download { entry, size_bytes, body } = asker.download(path.clone()).await?;
    tracing::info!(%notebook, actor = ?who.actor, agent = %asker.agent.id, path, size_bytes, "a file is downloaded");
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static(BYTES)),
        (header::CONTENT_LENGTH, HeaderValue::from(size_bytes)),
        (header::CONTENT_DISPOSITION, attachment(&entry.name)),
        (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
    ];
    Ok((headers, body).into_response())
}

async fn upload(
    State(app): State<App>,
    who: Authenticated,
    Params(notebook): Params<NotebookId>,
    QueryOf(FileTarget { path, overwrite, kernel }): QueryOf<FileTarget>,
    request: Request,
) -> Result<Response, Problem> {
    let asker = FileAsker::new(app.file_service(), &who, &notebook, kernel.as_ref()).await?;
    let declared = declared_bytes(request.headers());
    let written = asker.upload(path, overwrite, declared, request.into_body()).await?;
    let WrittenFile { path, size_bytes, sha256, replaced } = &written;
    tracing::info!(%notebook, actor = ?who.actor, agent = %asker.agent.id, path, size_bytes, sha256, replaced, "a file was uploaded");
    let status = if written.replaced { StatusCode::OK } else { StatusCode::CREATED };
    Ok((status, Json(written)).into_response())
}

async fn relocate(
    State(app): State<App>,
    who: Authenticated,
    Params(notebook): Params<NotebookId>,
    JsonBody(MoveFile { from, to, kernel }): JsonBody<MoveFile>,
) -> Result<Json<MovedFile>, Problem> {
    let asker = FileAsker::new(app.file_service(), &who, &notebook, kernel.as_ref()).await?;
    let moved = asker.relocate(from, to).await?;
    let MovedFile { from, path, .. } = &moved;
    tracing::info!(%notebook, actor = ?who.actor, agent = %asker.agent.id, from, path, "a file was moved");
    Ok(Json(moved))
}

async fn remove(
    State(app): State<App>,
    who: Authenticated,
    Params(notebook): Params<NotebookId>,
    QueryOf(FilePlace { path, kernel }): QueryOf<FilePlace>,
) -> Result<Json<TrashedFile>, Problem> {
    let asker = FileAsker::new(app.file_service(), &who, &notebook, kernel.as_ref()).await?;
    let trashed = asker.remove(path).await?;
    let TrashedFile { id, path, size_bytes, .. } = &trashed;
    tracing::info!(%notebook, actor = ?who.actor, agent = %asker.agent.id, path, id, size_bytes, "a file went to the trash");
    Ok(Json(trashed))
}

async fn restore(
    State(app): State<App>,
    who: Authenticated,
    Params((notebook, entry)): Params<(NotebookId, String)>,
    OptionalJson(RestoreFile { to, kernel }): OptionalJson<RestoreFile>,
) -> Result<Json<MovedFile>, Problem> {
    let asker = FileAsker::new(app.file_service(), &who, &notebook, kernel.as_ref()).await?;
    let moved = asker.restore(entry, to).await?;
    tracing::info!(%notebook, actor = ?who.actor, agent = %asker.agent.id, path = moved.path, "a file was restored");
    Ok(Json(moved))
}

async fn trash(
    State(app): State<App>,
    who: Authenticated,
    Params(notebook): Params<NotebookId>,
    QueryOf(TrashPlace { kernel }): QueryOf<TrashPlace>,
) -> Result<Json<FileTrash>, Problem> {
    let asker = FileAsker::new(app.file_service(), &who, &notebook, kernel.as_ref()).await?;
    Ok(Json(of_agent(&asker, asker.trash().await?)))
}

async fn delete(
    State(app): State<App>,
    who: Authenticated,
    Params((notebook, entry)): Params<(NotebookId, String)>,
    QueryOf(TrashPlace { kernel }): QueryOf<TrashPlace>,
) -> Result<Json<FileTrash>, Problem> {
    emptied(&app, &who, &notebook, kernel.as_ref(), Some(entry)).await
}

async fn empty_trash(
    State(app): State<App>,
    who: Authenticated,
    Params(notebook): Params<NotebookId>,
    QueryOf(TrashPlace { kernel }): QueryOf<TrashPlace>,
) -> Result<Json<FileTrash>, Problem> {
    emptied(&app, &who, &notebook, kernel.as_ref(), None).await
}

async fn emptied(
    app: &App,
    who: &Authenticated,
    notebook: &NotebookId,
    kernel: Option<&KernelSessionId>,
    entry: Option<String>,
) -> Result<Json<FileTrash>, Problem> {
    let asker = FileAsker::new(app.file_service(), who, notebook, kernel).await?;
    let page = asker.empty_trash(entry.clone()).await?;
    tracing::info!(%notebook, actor = ?who.actor, agent = %asker.agent.id, entry, "files in the trash were deleted for good");
    Ok(Json(of_agent(&asker, page)))
}

fn of_agent(asker: &FileAsker<'_>, page: TrashPage) -> FileTrash {
    FileTrash { page, agent: asker.agent.id.clone(), agent_name: asker.agent.name.clone() }
}

fn declared_bytes(headers: &HeaderMap) -> Option<u64> {
    headers.get(header::CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

// --- runtime agents ---

async fn bring(
    State(app): State<App>,
    who: Authenticated,
    Params(transfer): Params<String>,
    request: Request,
) -> Result<NoContent, Problem> {
    let Actor::Agent { id } = &who.actor else { return Err(gone()) };
    let waits = app.transfers.to_person(id, &transfer).ok_or_else(gone)?;
    let (reads, has_ended) = oneshot::channel::<()>();
    // The sender is dropped with the stream, read to its end or not.
    let pieces = request.into_body().into_data_stream().inspect(move |_| _ = &reads);
    waits.send(pieces.boxed()).map_err(|_| gone())?;
    let _ = has_ended.await;
    Ok(NoContent)
}

async fn fetch(
    State(app): State<App>,
    who: Authenticated,
    Params(transfer): Params<String>,
) -> Result<Response, Problem> {
    let Actor::Agent { id } = &who.actor else { return Err(gone()) };
    let pieces = app.transfers.to_agent(id, &transfer).ok_or_else(gone)?;
    let headers = [(header::CONTENT_TYPE, HeaderValue::from_static(BYTES))];
    Ok((headers, axum::body::Body::from_stream(pieces)).into_response())
}

fn gone() -> Problem {
    Problem::new(StatusCode::GONE, "not_found", "nobody waits for this file (any more): there is nothing to do")
}
