//! Routes for notebooks: list, create, read, rename, archive, fork, undo, and any command; and for templates.

use std::convert::Infallible;
use std::time::Duration;

use axum::Json;
use axum::body::Body;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use futures_util::future::join_all;
use futures_util::stream;
use http::{HeaderMap, HeaderValue, StatusCode, header};
use notarium_core::{
    Command, Document, EraseNotebook, ExecutionStatus, NotebookId, Operation, RawObject, RestoreNotebook, Scope,
    Version, WorkspaceId,
};
use notarium_store::{CatalogCursor, CatalogEntry};
use notarium_wire::CommandMessage;
use notarium_wire::rest::{
    AnyCommand, ErasureReason, Fork, FoundText, ListOrder, ListQuery, NewNotebook, NotebookAnswer, NotebookChange,
    NotebookLine, NotebookNow, NotebookPage, PersonHere, ReadQuery, RestoredVersion, Steps, TemplateChoice,
    TemplateLine, TemplateMark, Templates, VersionName,
};
use sha2::{Digest, Sha256};
use tokio::time::timeout;

use super::answers::{Accepted, NotebookCaller, Submit, command, etag, execute};
use crate::app::App;
use crate::auth::Authenticated;
use crate::http::extract::{Conditions, Created, JsonBody, NoBody, OptionalJson, QueryOf};
use crate::http::guard::{Guard, GuardedRouter, route_table};
use crate::http::problem::Problem;
use crate::notebooks::listing::{self, ListingQuery};
use crate::notebooks::templates;
use crate::rooms::metadata::{
    MAX_DESCRIPTION_CHARACTERS, template_description, with_template_mark, without_template_mark,
};
use crate::rooms::{ReadState, owners};

pub fn routes(router: GuardedRouter<App>) -> GuardedRouter<App> {
    let of = Guard::Notebook;
    route_table!(router; "notebooks" "/api/notebooks" {
        /// Notebooks that you may see, the last changed first.
        GET "", Guard::Authenticated => list_notebooks;
        /// Makes a notebook; you are its owner.
        POST "", Guard::User(Scope::Edit) => create_notebook;
    } "notebooks" "/api/notebooks/{notebook}" {
        /// The state, now or at a version of the past.
        GET "", of(Operation::Read) =>
            read_notebook, answers::<NotebookAnswer>("200", "application/json"), answers_empty("304");
        /// Renames a notebook or sets its metadata.
        PATCH "", of(Operation::Edit) => command(|_: NotebookId, JsonBody(to)| change(to));
        /// Erases a notebook: its record, outputs and files are deleted, but for the event that says so. Nothing takes it back.
        ///
        /// From then on every request for it is answered with 410 and `erased`, to people who had access.
        DELETE "", of(Operation::Erase) =>
            command(|_: NotebookId, JsonBody(ErasureReason { reason })| Command::EraseNotebook(EraseNotebook { reason }));
        /// Archives a notebook: it is read, exported and forked, not changed or run.
        POST "/archive", of(Operation::Archive) => command(|_: NotebookId, _: NoBody| Command::ArchiveNotebook {});
        /// Takes a notebook out of the archive.
        POST "/unarchive", of(Operation::Archive) =>
            command(|_: NotebookId, _: NoBody| Command::UnarchiveNotebook {});
        /// Gives a version a name.
        POST "/versions", of(Operation::Organise) =>
            command(|_: NotebookId, JsonBody(VersionName { version, name })| Command::NameVersion { version, name });
        /// Makes the cells, their order and the notebook's metadata as they were at a version. One undo takes it back.
        POST "/restore", of(Operation::Edit) =>
            command(|_: NotebookId, JsonBody(RestoredVersion { version })|
                Command::RestoreNotebook(RestoreNotebook { version }));
        /// Makes a new notebook of what this one is or was.
        POST "/fork", of(Operation::Read) => fork_notebook;
        /// Undoes your last groups, those of one cell, or one group by its id. What the notebook was made with is
        /// undone by its id alone.
        POST "/undo", of(Operation::Edit) =>
            command(|_: NotebookId, OptionalJson(Steps { steps, correlation_id, cell_id })|
                Command::Undo { steps: steps.unwrap_or(1), correlation_id, turn_id: None, cell_id });
        /// Undoes your last undos.
        POST "/redo", of(Operation::Edit) => redo;
        // The room checks the right for the command. `CreateNotebook` needs none in a notebook that does not exist.
        /// Any command, as over the socket.
        POST "/commands", Guard::Authenticated => send_command;
    } "notebooks" "/api" {
        /// Templates for new notebooks: starters of this server, and notebooks that are templates.
        GET "/templates", Guard::Authenticated => list_templates;
    } "notebooks" "/api/notebooks/{notebook}" {
        /// Makes the notebook a template, for all who may read it.
        PUT "/template", of(Operation::Edit) => mark;
        /// The notebook is no template any more.
        DELETE "/template", of(Operation::Edit) => unmark;
    })
}

// --- list ---

/// Time that the list waits for the current state of one notebook.
const MAX_WAIT_FOR_NOW: Duration = Duration::from_millis(500);

/// Current activity in a notebook; `None` if it is closed, or does not answer in time.
async fn now_in(app: &App, authenticated: &Authenticated, notebook: &NotebookId) -> Option<NotebookNow> {
    let reading = app.rooms.read_if_open(authenticated, notebook);
    let ReadState { notebook, here, .. } = timeout(MAX_WAIT_FOR_NOW, reading).await.ok()??.ok()?;
    let count = |wanted: &[ExecutionStatus]| {
        notebook.executions.values().filter(|execution| wanted.contains(&execution.status)).count() as u64
    };
    Some(NotebookNow {
        running: count(&[ExecutionStatus::Running]),
        queued: count(&[ExecutionStatus::Queued, ExecutionStatus::Assigned]),
        people: here.into_iter().map(|(actor, name)| PersonHere { actor, name }).collect(),
    })
}

fn line(
    entry: CatalogEntry,
    workspace: Option<WorkspaceId>,
    now: Option<NotebookNow>,
    found: Option<FoundText>,
) -> NotebookLine {
    NotebookLine {
        owners: owners(&entry),
        found,
        id: entry.notebook_id,
        title: entry.title,
        version: entry.version,
        archived: entry.archived,
        created_at: entry.created_at,
        updated_at: entry.updated_at,
        workspace,
        cells: entry.cells,
        is_template: entry.template.is_some(),
        now,
    }
}

async fn list_notebooks(
    State(app): State<App>,
    authenticated: Authenticated,
    QueryOf(query): QueryOf<ListQuery>,
) -> Result<Json<NotebookPage>, Problem> {
    let wanted = ListingQuery {
        text: query.text,
        archived: query.archived.unwrap_or(false),
        only_templates: false,
        only_scheduled: false,
        workspace: query.workspace,
        after: None,
        limit: query.limit.unwrap_or(50).clamp(1, 200),
    };
    let words = wanted.text.clone().filter(|_| query.snippets == Some(true));
    let (page, next) = match query.sort.unwrap_or(ListOrder::Changed) {
        ListOrder::Changed => {
            let after = query.cursor.as_deref().map(parse_cursor).transpose()?;
            let page = listing::visible(&app, &authenticated, ListingQuery { after, ..wanted }).await?;
            let next = page.next.as_ref().map(print_cursor);
            (page, next)
        }
        order => {
            let from = query.cursor.as_deref().map(parse_place).transpose()?.unwrap_or(0);
            let (page, next) = listing::sorted(&app, &authenticated, wanted, order, from).await?;
            (page, next.map(|place| format!("{PLACE}{place}")))
        }
    };
    let found = listing::snippets(&app, &authenticated, words.as_deref(), &page.entries).await;
    let (app, who, is_live) = (&app, &authenticated, query.live == Some(true));
    let now = page.entries.iter().map(async |(entry, _)| match is_live {
        true => now_in(app, who, &entry.notebook_id).await,
        false => None,
    });
    let happening = join_all(now).await;
    let beside = happening.into_iter().zip(found);
    let lines = page.entries.into_iter().zip(beside);
    let lines = lines.map(|((entry, workspace), (now, found))| line(entry, workspace, now, found));
    Ok(Json(NotebookPage { notebooks: lines.collect(), next }))
}

/// Prefix of cursors that count lines, for orders that changes do not disturb.
const PLACE: &str = "at";

fn parse_place(text: &str) -> Result<usize, Problem> {
    let place = text.strip_prefix(PLACE).and_then(|place| place.parse().ok());
    place.ok_or_else(|| Problem::invalid("cursor is `next` of the page before: leave it out to begin anew"))
}

pub fn print_cursor(cursor: &CatalogCursor) -> String {
    format!("{}-{}", cursor.updated_at, cursor.notebook_id)
}

pub fn parse_cursor(text: &str) -> Result<CatalogCursor, Problem> {
    let parsed = text.split_once('-').and_then(|(at, id)| {
        Some(CatalogCursor { updated_at: at.parse().ok()?, notebook_id: NotebookId::new(id).ok()? })
    });
    parsed.ok_or_else(|| Problem::invalid("cursor is `next` of the page before: leave it out to begin anew"))
}

// --- make ---

async fn create_notebook(
    State(app): State<App>,
    authenticated: Authenticated,
    conditions: Conditions,
    JsonBody(mut new): JsonBody<NewNotebook>,
) -> Result<Created<Accepted>, Problem> {
    let notebook = new.id.take().unwrap_or_else(|| new_notebook_id(&authenticated, &conditions));
    if let Some(template) = new.template.take() {
        let command = of_template(&app, &authenticated, new, template).await?;
        return execute(&app, &authenticated, &notebook, conditions, &command).await.map(Created);
    }
    let create = Command::CreateNotebook { title: new.title, metadata: new.metadata, forked_from: None };
    let command = match new.with_cell {
        true => Command::Batch { commands: vec![create, templates::empty_cell()] },
        false => create,
    };
    execute(&app, &authenticated, &notebook, conditions, &command).await.map(Created)
}

/// Command that creates a notebook from a template.
async fn of_template(
    app: &App,
    authenticated: &Authenticated,
    new: NewNotebook,
    template: TemplateChoice,
) -> Result<Command, Problem> {
    if new.with_cell || !new.metadata.is_empty() {
        return Err(Problem::invalid("a template brings its cells and metadata: leave with_cell and metadata out"));
    }
    match template {
        TemplateChoice::Starter(id) => templates::start(&id, new.title)
            .ok_or_else(|| Problem::invalid("there is no starter of that id: GET /api/templates lists them")),
        TemplateChoice::Notebook(id) => {
            let source = read_at(app, authenticated, &id, None).await?.notebook;
            match template_description(&source.metadata) {
                Some(_) => Ok(templates::fork_command(&source, new.title, false)),
                None => Err(Problem::invalid("that notebook is no template: make it one (PUT …/template), or fork it")),
            }
        }
    }
}

/// Id of a new notebook, made from the actor and the idempotency key, so that a repeat creates no second one; else
/// random.
pub fn new_notebook_id(authenticated: &Authenticated, conditions: &Conditions) -> NotebookId {
    let Some(key) = &conditions.command_id else { return ulid::Ulid::generate().into() };
    let digest = Sha256::new().chain_update(authenticated.actor.key()).chain_update([0]).chain_update(key.as_str());
    let text = hex::encode(digest.finalize());
    NotebookId::new(&text[..32]).unwrap_or_else(|_| ulid::Ulid::generate().into())
}

async fn fork_notebook(
    Submit { app, who, notebook: from, conditions }: Submit,
    OptionalJson(fork): OptionalJson<Fork>,
) -> Result<Created<Accepted>, Problem> {
    let source = read_at(&app, &who, &from, fork.version).await?.notebook;
    let notebook = fork.id.unwrap_or_else(|| new_notebook_id(&who, &conditions));
    let title = fork.title.unwrap_or_else(|| format!("{} (fork)", source.title));
    let command = templates::fork_command(&source, title, !fork.without_outputs);
    let copied = templates::copied_blobs(&source, !fork.without_outputs);
    let kept = super::files::copy(&app, &from, &notebook, &copied).await?;
    let answer = execute(&app, &who, &notebook, conditions, &command).await?;
    app.blobs.record(&who.actor, &notebook, kept).await?;
    Ok(Created(answer))
}

// --- read ---

/// Reads the notebook now, or at an earlier version.
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
        notebook: now.notebook.clone(),
    };
    match at {
        None => Ok(answer),
        Some(at) if at == current => Ok(answer),
        Some(at) if at == 0 || at > current => {
            let detail = format!("the notebook has the versions 1 to {current}: ask for one of them");
            Err(Problem::new(StatusCode::BAD_REQUEST, "version_in_future", detail))
        }
        Some(at) => {
            let past = app.replays.state_at(&*app.store, notebook, at).await?;
            Ok(NotebookAnswer { version: at, head: None, kernels: Vec::new(), notebook: past.into(), ..answer })
        }
    }
}

async fn read_notebook(
    NotebookCaller { app, who, notebook }: NotebookCaller,
    QueryOf(query): QueryOf<ReadQuery>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let mut answer = read_at(&app, &who, &notebook, query.at).await?;
    let etag = etag(answer.version);
    if query.at.is_none() && headers.get(header::IF_NONE_MATCH) == Some(&etag) {
        return Ok((StatusCode::NOT_MODIFIED, [(header::ETAG, etag)]).into_response());
    }
    if query.outputs == Some(false) {
        answer.notebook = templates::without_outputs(&answer.notebook).into();
    }
    let is_now = query.at.is_none() && query.outputs != Some(false);
    let body = if is_now { shared(&app, answer).await? } else { Json(answer).into_response() };
    Ok(([(header::ETAG, etag)], body).into_response())
}

/// Response with the text of the state, which is made once for all concurrent readers.
async fn shared(app: &App, answer: NotebookAnswer) -> Result<Response, Problem> {
    let unwritable = || Problem::internal("the state could not be written: report it");
    let text = app.state_texts.of(answer.notebook.clone()).await.ok_or_else(unwritable)?;
    let empty = Document::new(answer.notebook.notebook_id.clone());
    let rest = serde_json::to_value(NotebookAnswer { notebook: empty.into(), ..answer }).map_err(|_| unwritable())?;
    let mut rest = rest.as_object().cloned().unwrap_or_default();
    rest.remove("notebook");
    let rest = serde_json::Value::Object(rest).to_string();
    let (before, after) = (Bytes::from_static(b"{\"notebook\":"), Bytes::from(format!(",{}", &rest[1..])));
    let bytes = before.len() + text.iter().map(Bytes::len).sum::<usize>() + after.len();
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static("application/json")),
        (header::CONTENT_LENGTH, HeaderValue::from(bytes)),
    ];
    // Holding the text lets other readers share it until the response is sent.
    let text = (0..text.len()).map(move |piece| text[piece].clone());
    let pieces = [before].into_iter().chain(text).chain([after]);
    Ok((headers, Body::from_stream(stream::iter(pieces.map(Ok::<_, Infallible>)))).into_response())
}

// --- change ---

fn change(to: NotebookChange) -> Command {
    let rename = to.title.map(|title| Command::RenameNotebook { title });
    let metadata = to.metadata.map(|metadata| Command::SetNotebookMetadata { metadata });
    Command::Batch { commands: rename.into_iter().chain(metadata).collect() }
}

async fn redo(submit: Submit, OptionalJson(to): OptionalJson<Steps>) -> Result<Accepted, Problem> {
    if to.correlation_id.is_some() {
        return Err(Problem::invalid("redo takes steps and cell_id alone: leave correlation_id out"));
    }
    submit.command(&Command::Redo { steps: to.steps.unwrap_or(1), cell_id: to.cell_id }).await
}

// --- any command ---

async fn send_command(submit: Submit, JsonBody(command): JsonBody<AnyCommand>) -> Result<Accepted, Problem> {
    let Submit { app, who, notebook, conditions } = submit;
    let conditions = Conditions {
        command_id: command.id.or(conditions.command_id),
        expected_version: command.expected_version.or(conditions.expected_version),
    };
    let message = conditions.message(&notebook, command.body);
    Ok(app.execute(&who, CommandMessage { correlation_id: command.correlation_id, ..message }).await?.into())
}

/// Limit of notebooks in the list of templates.
const MAX_LISTED: usize = 200;
/// Tries to set a mark if the notebook changes meanwhile.
const MAX_TRIES: usize = 10;

// --- templates ---

async fn list_templates(State(app): State<App>, authenticated: Authenticated) -> Result<Json<Templates>, Problem> {
    let wanted = ListingQuery { only_templates: true, limit: MAX_LISTED, ..ListingQuery::default() };
    let page = listing::visible(&app, &authenticated, wanted).await?;
    let lines = page.entries.into_iter().map(|(entry, _)| TemplateLine {
        notebook: entry.notebook_id,
        title: entry.title,
        description: entry.template.unwrap_or_default(),
        cells: entry.cells,
        updated_at: entry.updated_at,
    });
    Ok(Json(Templates { starters: templates::starters(), notebooks: lines.collect(), is_cut: page.next.is_some() }))
}

// --- mark ---

async fn mark(submit: Submit, OptionalJson(mark): OptionalJson<TemplateMark>) -> Result<Accepted, Problem> {
    let description = mark.description.trim().to_owned();
    if description.chars().count() > MAX_DESCRIPTION_CHARACTERS || description.chars().any(char::is_control) {
        let detail =
            format!("a description is one line of at most {MAX_DESCRIPTION_CHARACTERS} characters: shorten it");
        return Err(Problem::invalid(detail));
    }
    set(submit, |document| with_template_mark(&document.metadata, description.clone())).await
}

async fn unmark(submit: Submit, _: NoBody) -> Result<Accepted, Problem> {
    set(submit, |document| without_template_mark(&document.metadata)).await
}

/// Metadata is replaced as a whole, so it is set only at the version that was read: no change of another client is
/// lost.
async fn set(submit: Submit, metadata: impl Fn(&Document) -> RawObject) -> Result<Accepted, Problem> {
    let Submit { app, who, notebook, conditions } = submit;
    for _ in 0..MAX_TRIES {
        let read = read_at(&app, &who, &notebook, None).await?;
        let at = Conditions {
            command_id: conditions.command_id.clone(),
            expected_version: conditions.expected_version.or(Some(read.version)),
        };
        let command = Command::SetNotebookMetadata { metadata: metadata(&read.notebook) };
        match execute(&app, &who, &notebook, at, &command).await {
            Err(problem) if problem.code == "conflict" && conditions.expected_version.is_none() => {}
            answer => return answer,
        }
    }
    let detail = "others change this notebook all the time: try again in a moment";
    Err(Problem::new(http::StatusCode::CONFLICT, "conflict", detail))
}
