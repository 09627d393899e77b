//! Routes for files beside a notebook: they pass through the runtime agent that has the folder.

use axum::Json;
use axum::extract::{Request, State};
use axum::response::{IntoResponse, Response};
use http::{HeaderMap, HeaderValue, StatusCode, header};
use notarium_core::{Actor, KernelSessionId, NotebookId, Operation, Scope};
use notarium_wire::rest::{FileList, FilePlace, FileTarget, FileTrash, ListFiles, MoveFile, RestoreFile, TrashPlace};
use notarium_wire::{FileEntry, MAX_LISTED_FILES, MovedFile, TrashPage, TrashedFile, WrittenFile};
use tokio::sync::oneshot;

use super::answers::NotebookCaller;
use super::files::attachment;
use crate::agents::Reachable;
use crate::agents::working_files::{Download, FileAsker};
use crate::app::App;
use crate::auth::Authenticated;
use crate::http::extract::{JsonBody, NoContent, OptionalJson, Params, QueryOf};
use crate::http::guard::{Guard, GuardedRouter, route_table};
use crate::http::problem::Problem;
use futures_util::StreamExt;

const BYTES: &str = "application/octet-stream";
const DEFAULT_LISTED: u32 = 200;

pub fn routes(router: GuardedRouter<App>) -> GuardedRouter<App> {
    let (run, agent) = (Guard::Notebook(Operation::Run), Guard::Scope(Scope::Agent));
    route_table!(router; "working files" "/api/notebooks/{notebook}/files" {
        /// Files of a folder beside the notebook: the folder in which its kernels start, on the machine of their
        /// runtime agent.
        ///
        /// Files are what code in the kernel can read and write: who may run code may list, download and upload them.
        /// Nothing of it is recorded.
        GET "", run => list;
        /// One file or folder, without its content.
        GET "/about", run => look;
        /// Downloads a file as bytes, never as a page. An answer that ends before `content-length` is no whole file: it
        /// was changed while it was read, or its runtime agent left.
        GET "/content", run => download, answers_plain("200", BYTES);
        // The runtime agent enforces the limit of files while it writes.
        /// Uploads a file; the body is the bytes. It has its name when all of it is on the disk there; an upload that
        /// breaks off leaves nothing. A file that exists is refused (`file_exists`) unless `overwrite` is true.
        PUT "/content", run =>
            upload, takes_bytes(BYTES), answers::<WrittenFile>("200", "application/json"),
            answers::<WrittenFile>("201", "application/json");
        /// Moves a file or folder to the trash of its runtime agent, where it is kept for 30 days, or as long as the
        /// trash has room. A program that has it open goes on writing to it there.
        DELETE "/content", run => remove;
        /// Gives a file, folder or link another name or place. What exists is never replaced (`file_exists`); folders
        /// on the way are made.
        POST "/move", run => relocate;
        /// The trash beside the notebook, the last removed first.
        GET "/trash", run => trash;
        /// Brings a file or folder back from the trash, where it was or to another place. What exists is never replaced
        /// (`file_exists`).
        POST "/trash/{entry}/restore", run => restore;
        /// Deletes one entry of the trash for good.
        DELETE "/trash/{entry}", run => delete;
        /// Deletes for good all that is in the trash.
        DELETE "/trash", run => empty_trash;
    } "working files" "/api/transfers" {
        /// For runtime agents: the bytes of a file that `file_request` asked for. Ends when somebody has read them.
        PUT "/{transfer}", agent => bring, takes_bytes(BYTES);
        /// For runtime agents: the bytes of a file that `file_request` said would come.
        GET "/{transfer}", agent => fetch, answers_plain("200", BYTES);
    })
}

// --- people ---

impl NotebookCaller {
    async fn file_asker(&self, kernel: Option<KernelSessionId>) -> Result<FileAsker<'_>, Problem> {
        FileAsker::new(self.app.file_service(), &self.who, &self.notebook, kernel.as_ref()).await
    }
}

async fn list(caller: NotebookCaller, QueryOf(query): QueryOf<ListFiles>) -> Result<Json<FileList>, Problem> {
    let ListFiles { path, after, limit, all, kernel } = query;
    let limit = limit.unwrap_or(DEFAULT_LISTED);
    if !(1..=MAX_LISTED_FILES).contains(&limit) {
        return Err(Problem::invalid(format!("limit is 1 to {MAX_LISTED_FILES}")));
    }
    let asker = caller.file_asker(kernel).await?;
    let page = asker.list(path, after, limit, all).await?;
    let Reachable { id: agent, name: agent_name, knows, .. } = asker.agent.clone();
    let max_file_bytes = caller.app.limits.max_working_file_bytes;
    Ok(Json(FileList { page, agent, agent_name, max_file_bytes, can_change: knows.file_changes }))
}

async fn look(caller: NotebookCaller, QueryOf(at): QueryOf<FilePlace>) -> Result<Json<FileEntry>, Problem> {
    caller.file_asker(at.kernel).await?.look(at.path).await.map(Json)
}

async fn download(caller: NotebookCaller, QueryOf(at): QueryOf<FilePlace>) -> Result<Response, Problem> {
    let FilePlace { path, kernel } = at;
    let asker = caller.file_asker(kernel).await?;
    let Download { entry, size_bytes, body } = asker.download(path.clone()).await?;
    let NotebookCaller { who, notebook, .. } = &caller;
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
    caller: NotebookCaller,
    QueryOf(FileTarget { path, overwrite, kernel }): QueryOf<FileTarget>,
    request: Request,
) -> Result<Response, Problem> {
    let asker = caller.file_asker(kernel).await?;
    let declared = declared_bytes(request.headers());
    let written = asker.upload(path, overwrite, declared, request.into_body()).await?;
    let WrittenFile { path, size_bytes, sha256, replaced } = &written;
    let NotebookCaller { who, notebook, .. } = &caller;
    tracing::info!(%notebook, actor = ?who.actor, agent = %asker.agent.id, path, size_bytes, sha256, replaced, "a file was uploaded");
    let status = if written.replaced { StatusCode::OK } else { StatusCode::CREATED };
    Ok((status, Json(written)).into_response())
}

async fn relocate(caller: NotebookCaller, JsonBody(to): JsonBody<MoveFile>) -> Result<Json<MovedFile>, Problem> {
    let asker = caller.file_asker(to.kernel).await?;
    let moved = asker.relocate(to.from, to.to).await?;
    let MovedFile { from, path, .. } = &moved;
    let NotebookCaller { who, notebook, .. } = &caller;
    tracing::info!(%notebook, actor = ?who.actor, agent = %asker.agent.id, from, path, "a file was moved");
    Ok(Json(moved))
}

async fn remove(caller: NotebookCaller, QueryOf(at): QueryOf<FilePlace>) -> Result<Json<TrashedFile>, Problem> {
    let asker = caller.file_asker(at.kernel).await?;
    let trashed = asker.remove(at.path).await?;
    let TrashedFile { id, path, size_bytes, .. } = &trashed;
    let NotebookCaller { who, notebook, .. } = &caller;
    tracing::info!(%notebook, actor = ?who.actor, agent = %asker.agent.id, path, id, size_bytes, "a file went to the trash");
    Ok(Json(trashed))
}

async fn restore(
    caller: NotebookCaller,
    Params((_, entry)): Params<(NotebookId, String)>,
    OptionalJson(RestoreFile { to, kernel }): OptionalJson<RestoreFile>,
) -> Result<Json<MovedFile>, Problem> {
    let asker = caller.file_asker(kernel).await?;
    let moved = asker.restore(entry, to).await?;
    let NotebookCaller { who, notebook, .. } = &caller;
    tracing::info!(%notebook, actor = ?who.actor, agent = %asker.agent.id, path = moved.path, "a file was restored");
    Ok(Json(moved))
}

async fn trash(caller: NotebookCaller, QueryOf(at): QueryOf<TrashPlace>) -> Result<Json<FileTrash>, Problem> {
    let asker = caller.file_asker(at.kernel).await?;
    Ok(Json(of_agent(&asker, asker.trash().await?)))
}

async fn delete(
    caller: NotebookCaller,
    Params((_, entry)): Params<(NotebookId, String)>,
    QueryOf(at): QueryOf<TrashPlace>,
) -> Result<Json<FileTrash>, Problem> {
    emptied(&caller, at, Some(entry)).await
}

async fn empty_trash(caller: NotebookCaller, QueryOf(at): QueryOf<TrashPlace>) -> Result<Json<FileTrash>, Problem> {
    emptied(&caller, at, None).await
}

async fn emptied(caller: &NotebookCaller, at: TrashPlace, entry: Option<String>) -> Result<Json<FileTrash>, Problem> {
    let asker = caller.file_asker(at.kernel).await?;
    let page = asker.empty_trash(entry.clone()).await?;
    let NotebookCaller { who, notebook, .. } = caller;
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
