//! Notebooks: list, make, read, rename, archive, fork, undo, and any command.

use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::{HeaderMap, StatusCode, header};
use notarium_core::{
    Command, CorrelationId, Head, Millis, Notebook, NotebookId, Operation, RawJson, RawObject, Role, Scope, Version,
    WorkspaceId,
};
use notarium_store::{CatalogCursor, CatalogEntry};
use notarium_wire::{CommandMessage, KernelStatus};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::routes;

use super::answers::{Answer, created, etag, execute};
use crate::app::{App, identity};
use crate::auth::Authenticated;
use crate::blob_check;
use crate::blobs;
use crate::extract::{Conditions, JsonBody, OptionalJson, Params, QueryOf};
use crate::fork;
use crate::guard::{Guard, GuardedRouter};
use crate::listing::{self, Wanted};
use crate::problem::Problem;
use crate::replay;

pub fn routes(router: GuardedRouter<App>) -> GuardedRouter<App> {
    router
        .routes(Guard::Authenticated, routes!(list_notebooks))
        .routes(Guard::User(Scope::Edit), routes!(create_notebook))
        .routes(Guard::Notebook(Operation::Read), routes!(read_notebook))
        .routes(Guard::Notebook(Operation::Edit), routes!(change_notebook))
        .routes(Guard::Notebook(Operation::Organise), routes!(archive_notebook))
        .routes(Guard::Notebook(Operation::Organise), routes!(unarchive_notebook))
        .routes(Guard::Notebook(Operation::Organise), routes!(name_version))
        .routes(Guard::Notebook(Operation::Read), routes!(fork_notebook))
        .routes(Guard::Notebook(Operation::Edit), routes!(undo))
        .routes(Guard::Notebook(Operation::Edit), routes!(redo))
        // The room asks for the right that the command needs; `CreateNotebook` needs none in a notebook that is not there.
        .routes(Guard::Authenticated, routes!(send_command))
}

// --- list ---

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct ListQuery {
    /// Words that all stand in title or sources.
    text: Option<String>,
    /// Only archived (true) or only unarchived (false) ones; absent: unarchived.
    archived: Option<bool>,
    /// A workspace's id.
    workspace: Option<String>,
    /// 1 to 200; absent: 50.
    limit: Option<usize>,
    /// `next` of the page before.
    cursor: Option<String>,
}

#[derive(Debug, Serialize, ToSchema)]
struct NotebookPage {
    notebooks: Vec<NotebookLine>,
    /// Ask again with this as `cursor`; absent on the last page.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<String>,
}

#[derive(Debug, Serialize, ToSchema)]
struct NotebookLine {
    #[schema(value_type = String)]
    id: NotebookId,
    title: String,
    version: Version,
    archived: bool,
    /// Milliseconds since 1970.
    created_at: Millis,
    updated_at: Millis,
    #[schema(value_type = Option<String>)]
    #[serde(skip_serializing_if = "Option::is_none")]
    workspace: Option<WorkspaceId>,
    cells: u64,
}

impl NotebookLine {
    fn new(entry: CatalogEntry, workspace: Option<WorkspaceId>) -> Self {
        Self {
            id: entry.notebook_id,
            title: entry.title,
            version: entry.version,
            archived: entry.archived,
            created_at: entry.created_at,
            updated_at: entry.updated_at,
            workspace,
            cells: entry.cells,
        }
    }
}

/// Notebooks that you may see, the last changed first.
#[utoipa::path(get, path = "/api/notebooks", tag = "notebooks", params(ListQuery),
    responses((status = 200, body = NotebookPage), (status = "default", body = Problem)))]
async fn list_notebooks(
    State(app): State<App>,
    authenticated: Authenticated,
    QueryOf(query): QueryOf<ListQuery>,
) -> Result<Json<NotebookPage>, Problem> {
    let workspace = query.workspace.as_ref().map(WorkspaceId::new).transpose();
    let workspace = workspace.map_err(|error| Problem::invalid(error.to_string()))?;
    let wanted = Wanted {
        text: query.text,
        archived: query.archived.unwrap_or(false),
        workspace,
        after: query.cursor.as_deref().map(parse_cursor).transpose()?,
        limit: query.limit.unwrap_or(50).clamp(1, 200),
    };
    let page = listing::visible(&app, &authenticated, wanted).await?;
    let lines = page.entries.into_iter().map(|(entry, workspace)| NotebookLine::new(entry, workspace));
    Ok(Json(NotebookPage { notebooks: lines.collect(), next: page.next.as_ref().map(print_cursor) }))
}

fn print_cursor(cursor: &CatalogCursor) -> String {
    format!("{}-{}", cursor.updated_at, cursor.notebook_id)
}

fn parse_cursor(text: &str) -> Result<CatalogCursor, Problem> {
    let parsed = text.split_once('-').and_then(|(at, id)| {
        Some(CatalogCursor { updated_at: at.parse().ok()?, notebook_id: NotebookId::new(id).ok()? })
    });
    parsed.ok_or_else(|| Problem::invalid("cursor is `next` of the page before: leave it out to begin anew"))
}

// --- make ---

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct NewNotebook {
    /// Chosen by you, so that a repeat is the same creation; absent: from `Idempotency-Key`, else new.
    #[schema(value_type = Option<String>)]
    id: Option<NotebookId>,
    title: String,
    /// As in nbformat, for instance `{"kernelspec": {"name": "python3", "display_name": "Python 3"}}`.
    #[serde(default)]
    #[schema(value_type = Object)]
    metadata: RawObject,
    /// With one empty code cell.
    #[serde(default)]
    with_cell: bool,
}

/// Makes a notebook; you are its owner.
#[utoipa::path(post, path = "/api/notebooks", tag = "notebooks", request_body = NewNotebook,
    responses((status = 201, body = Answer), (status = "default", body = Problem)))]
async fn create_notebook(
    State(app): State<App>,
    authenticated: Authenticated,
    conditions: Conditions,
    JsonBody(new): JsonBody<NewNotebook>,
) -> Result<Response, Problem> {
    let notebook = new.id.unwrap_or_else(|| new_notebook_id(&authenticated, &conditions));
    let create = Command::CreateNotebook { title: new.title, metadata: new.metadata };
    let command = match new.with_cell {
        true => Command::Batch { commands: vec![create, fork::empty_cell()] },
        false => create,
    };
    execute(&app, &authenticated, &notebook, conditions, &command).await.map(created)
}

/// From the actor and the idempotency key, so that a repeat makes no second notebook; else new.
pub fn new_notebook_id(authenticated: &Authenticated, conditions: &Conditions) -> NotebookId {
    let Some(key) = &conditions.command_id else { return ulid::Ulid::generate().into() };
    let digest = Sha256::new().chain_update(authenticated.actor.key()).chain_update([0]).chain_update(key.as_str());
    let text = hex::encode(digest.finalize());
    NotebookId::new(&text[..32]).unwrap_or_else(|_| ulid::Ulid::generate().into())
}

#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
struct Fork {
    /// Of the new notebook.
    #[schema(value_type = Option<String>)]
    id: Option<NotebookId>,
    /// Absent: the title of the old one, and "(fork)".
    title: Option<String>,
    /// Absent: as it is now.
    version: Option<Version>,
    /// Leave the outputs behind.
    without_outputs: bool,
}

/// Makes a new notebook of what this one is or was.
#[utoipa::path(post, path = "/api/notebooks/{notebook}/fork", tag = "notebooks", request_body = Fork,
    params(("notebook" = String, Path)),
    responses((status = 201, body = Answer), (status = "default", body = Problem)))]
async fn fork_notebook(
    State(app): State<App>,
    authenticated: Authenticated,
    Params(from): Params<NotebookId>,
    conditions: Conditions,
    OptionalJson(fork): OptionalJson<Fork>,
) -> Result<Response, Problem> {
    let source = read_at(&app, &authenticated, &from, fork.version).await?.notebook;
    let notebook = fork.id.unwrap_or_else(|| new_notebook_id(&authenticated, &conditions));
    let title = fork.title.unwrap_or_else(|| format!("{} (fork)", source.title));
    let command = fork::command(&source, title, !fork.without_outputs);
    let copied = fork::copied_blobs(&source, !fork.without_outputs);
    let kept = super::blobs::copy(&app, &from, &notebook, &copied).await?;
    let answer = execute(&app, &authenticated, &notebook, conditions, &command).await?;
    blobs::record(&app, &authenticated, &notebook, kept).await?;
    Ok(created(answer))
}

// --- read ---

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct ReadQuery {
    /// A version of the past; absent: now.
    at: Option<Version>,
    /// False: without the outputs.
    outputs: Option<bool>,
}

/// A notebook's state, as `protocol/schema/notebook.json` has it.
#[derive(Debug, Serialize, ToSchema)]
pub struct NotebookAnswer {
    pub version: Version,
    /// Hash of the event at `version`; absent for the past.
    #[schema(value_type = Option<Object>)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub head: Option<Head>,
    /// Yours, now.
    #[schema(value_type = String)]
    pub role: Role,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub read_only: bool,
    #[schema(value_type = Vec<Object>)]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub kernels: Vec<KernelStatus>,
    #[schema(value_type = Object)]
    pub notebook: std::sync::Arc<Notebook>,
}

/// The notebook now, or at a version of the past.
pub async fn read_at(
    app: &App,
    authenticated: &Authenticated,
    notebook: &NotebookId,
    at: Option<Version>,
) -> Result<NotebookAnswer, Problem> {
    let now = app.read(authenticated, notebook).await?;
    let current = now.notebook.version;
    let answer = NotebookAnswer {
        version: current,
        head: Some(now.head),
        role: now.role,
        read_only: now.read_only,
        kernels: now.kernels,
        notebook: now.notebook,
    };
    match at {
        None => Ok(answer),
        Some(at) if at == current => Ok(answer),
        Some(at) if at == 0 || at > current => {
            let detail = format!("the notebook has the versions 1 to {current}: ask for one of them");
            Err(Problem::new(StatusCode::BAD_REQUEST, "version_in_future", detail))
        }
        Some(at) => {
            let past = replay::state_at(app, notebook, at).await?;
            Ok(NotebookAnswer { version: at, head: None, kernels: Vec::new(), notebook: past.into(), ..answer })
        }
    }
}

/// The state, now or at a version of the past.
#[utoipa::path(get, path = "/api/notebooks/{notebook}", tag = "notebooks",
    params(("notebook" = String, Path), ReadQuery),
    responses((status = 200, body = NotebookAnswer), (status = 304), (status = "default", body = Problem)))]
async fn read_notebook(
    State(app): State<App>,
    authenticated: Authenticated,
    Params(notebook): Params<NotebookId>,
    QueryOf(query): QueryOf<ReadQuery>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let mut answer = read_at(&app, &authenticated, &notebook, query.at).await?;
    let etag = etag(answer.version);
    if query.at.is_none() && headers.get(header::IF_NONE_MATCH) == Some(&etag) {
        return Ok((StatusCode::NOT_MODIFIED, [(header::ETAG, etag)]).into_response());
    }
    if query.outputs == Some(false) {
        answer.notebook = fork::without_outputs(&answer.notebook).into();
    }
    Ok(([(header::ETAG, etag)], Json(answer)).into_response())
}

// --- change ---

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct NotebookChange {
    title: Option<String>,
    /// The whole metadata, as in nbformat.
    #[schema(value_type = Option<Object>)]
    metadata: Option<RawObject>,
}

/// Renames a notebook or sets its metadata.
#[utoipa::path(patch, path = "/api/notebooks/{notebook}", tag = "notebooks", request_body = NotebookChange,
    params(("notebook" = String, Path)),
    responses((status = 200, body = Answer), (status = "default", body = Problem)))]
async fn change_notebook(
    State(app): State<App>,
    authenticated: Authenticated,
    Params(notebook): Params<NotebookId>,
    conditions: Conditions,
    JsonBody(change): JsonBody<NotebookChange>,
) -> Result<Answer, Problem> {
    let rename = change.title.map(|title| Command::RenameNotebook { title });
    let metadata = change.metadata.map(|metadata| Command::SetNotebookMetadata { metadata });
    let commands = rename.into_iter().chain(metadata).collect();
    execute(&app, &authenticated, &notebook, conditions, &Command::Batch { commands }).await
}

/// Archives a notebook: it is read, exported and forked, not changed or run.
#[utoipa::path(post, path = "/api/notebooks/{notebook}/archive", tag = "notebooks",
    params(("notebook" = String, Path)),
    responses((status = 200, body = Answer), (status = "default", body = Problem)))]
async fn archive_notebook(
    State(app): State<App>,
    authenticated: Authenticated,
    Params(notebook): Params<NotebookId>,
    conditions: Conditions,
) -> Result<Answer, Problem> {
    execute(&app, &authenticated, &notebook, conditions, &Command::ArchiveNotebook {}).await
}

/// Takes a notebook out of the archive.
#[utoipa::path(post, path = "/api/notebooks/{notebook}/unarchive", tag = "notebooks",
    params(("notebook" = String, Path)),
    responses((status = 200, body = Answer), (status = "default", body = Problem)))]
async fn unarchive_notebook(
    State(app): State<App>,
    authenticated: Authenticated,
    Params(notebook): Params<NotebookId>,
    conditions: Conditions,
) -> Result<Answer, Problem> {
    execute(&app, &authenticated, &notebook, conditions, &Command::UnarchiveNotebook {}).await
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct VersionName {
    version: Version,
    name: String,
}

/// Gives a version a name.
#[utoipa::path(post, path = "/api/notebooks/{notebook}/versions", tag = "notebooks", request_body = VersionName,
    params(("notebook" = String, Path)),
    responses((status = 200, body = Answer), (status = "default", body = Problem)))]
async fn name_version(
    State(app): State<App>,
    authenticated: Authenticated,
    Params(notebook): Params<NotebookId>,
    conditions: Conditions,
    JsonBody(named): JsonBody<VersionName>,
) -> Result<Answer, Problem> {
    let command = Command::NameVersion { version: named.version, name: named.name };
    execute(&app, &authenticated, &notebook, conditions, &command).await
}

#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
struct Steps {
    /// Absent: one.
    steps: Option<u32>,
    /// One group, by its id, instead of your last ones. Undo only.
    #[schema(value_type = Option<String>)]
    correlation_id: Option<CorrelationId>,
}

/// Undoes your last groups, or one group by its id.
#[utoipa::path(post, path = "/api/notebooks/{notebook}/undo", tag = "notebooks", request_body = Steps,
    params(("notebook" = String, Path)),
    responses((status = 200, body = Answer), (status = "default", body = Problem)))]
async fn undo(
    State(app): State<App>,
    authenticated: Authenticated,
    Params(notebook): Params<NotebookId>,
    conditions: Conditions,
    OptionalJson(steps): OptionalJson<Steps>,
) -> Result<Answer, Problem> {
    let command =
        Command::Undo { steps: steps.steps.unwrap_or(1), correlation_id: steps.correlation_id, turn_id: None };
    execute(&app, &authenticated, &notebook, conditions, &command).await
}

/// Undoes your last undos.
#[utoipa::path(post, path = "/api/notebooks/{notebook}/redo", tag = "notebooks", request_body = Steps,
    params(("notebook" = String, Path)),
    responses((status = 200, body = Answer), (status = "default", body = Problem)))]
async fn redo(
    State(app): State<App>,
    authenticated: Authenticated,
    Params(notebook): Params<NotebookId>,
    conditions: Conditions,
    OptionalJson(steps): OptionalJson<Steps>,
) -> Result<Answer, Problem> {
    if steps.correlation_id.is_some() {
        return Err(Problem::invalid("redo takes steps alone: leave correlation_id out"));
    }
    execute(&app, &authenticated, &notebook, conditions, &Command::Redo { steps: steps.steps.unwrap_or(1) }).await
}

// --- any command ---

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct AnyCommand {
    /// Chosen by you, new for every command; a repeat is applied once. Absent: `Idempotency-Key`, else new.
    #[schema(value_type = Option<String>)]
    id: Option<notarium_core::CommandId>,
    /// Refuse unless the notebook is at this version. Also as `If-Match`.
    expected_version: Option<Version>,
    /// The undo group.
    #[schema(value_type = Option<String>)]
    correlation_id: Option<CorrelationId>,
    /// A command of `protocol/schema/command.json`.
    #[schema(value_type = Object)]
    body: RawJson,
}

/// Any command, as over the socket.
#[utoipa::path(post, path = "/api/notebooks/{notebook}/commands", tag = "notebooks", request_body = AnyCommand,
    params(("notebook" = String, Path)),
    responses((status = 200, body = Answer), (status = "default", body = Problem)))]
async fn send_command(
    State(app): State<App>,
    authenticated: Authenticated,
    Params(notebook): Params<NotebookId>,
    conditions: Conditions,
    JsonBody(command): JsonBody<AnyCommand>,
) -> Result<Answer, Problem> {
    let room = app.room(&authenticated, &notebook)?;
    blob_check::check(&app, &notebook, &command.body).await?;
    let message = CommandMessage {
        id: command.id.or(conditions.command_id).unwrap_or_else(|| ulid::Ulid::generate().into()),
        notebook: notebook.clone(),
        expected_version: command.expected_version.or(conditions.expected_version),
        correlation_id: command.correlation_id,
        body: command.body,
    };
    Ok(room.execute(identity(&authenticated, &notebook, ""), message).await?.into())
}
