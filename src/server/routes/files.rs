//! Routes that import and export notebooks as files, and for blobs: large parts of outputs, uploaded by agents, people and
//! imports, downloaded by readers of the notebook.

use std::time::Duration;

use axum::Json;
use axum::extract::{DefaultBodyLimit, FromRequest, Request, State};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use http::{HeaderMap, HeaderValue, StatusCode, header};
use notarium_core::{
    BlobPart, CommandId, Document, Hash, LimitName, NotebookId, Operation, RawObject, Rejection, RejectionCode, Scope,
    day,
};
use notarium_store::BlobError;
use notarium_store::blobs::{BlobContent, BlobEntry};
use notarium_wire::ipynb::{self, FileLimits, IpynbError};
use notarium_wire::rest::{ExportFormat, ExportQuery, ImportAnswer, ImportQuery, NotebookAnswer, Uploaded};
use sha2::{Digest, Sha256};

use super::answers::{NotebookCaller, etag, execute};
use super::notebooks::{new_notebook_id, read_at};
use crate::app::App;
use crate::auth::Authenticated;
use crate::blobs::parts::OutputBlob;
use crate::blobs::{StoredBlob, parse_hash};
use crate::http::extract::{BytesBody, Conditions, Created, Params, QueryOf, too_large};
use crate::http::guard::{Guard, GuardedRouter, route_table};
use crate::http::guarded_stream;
use crate::http::problem::Problem;
use crate::limits::usage::Account;
use crate::notebooks::files::{self, pictures, pieces, sizes};

/// Title of an imported notebook without a usable name.
const UNTITLED: &str = "Untitled";
const MAX_TITLE_CHARACTERS: usize = 255;
const BYTES: &str = "application/octet-stream";
const IPYNB: &str = "application/x-ipynb+json";
/// Policy that keeps a file from acting as a page of this server, even if its address is opened.
pub(super) const FILE_POLICY: &str = "sandbox; default-src 'none'; img-src data:; style-src 'unsafe-inline'";
/// Header with the hashes of blobs that an export lacks.
const MISSING_BLOBS: &str = "notarium-missing-blobs";
/// Header with the number of comment threads that an export leaves out.
const LEFT_OUT_THREADS: &str = "notarium-left-out-threads";
/// Header with the last version of the record, if the file shows an earlier one because the rest cannot be read.
const RECORD_END: &str = "notarium-record-end";
/// Limit of hashes in the header, because headers are bounded.
const MAX_NAMED_BLOBS: usize = 50;

pub fn routes(router: GuardedRouter<App>) -> GuardedRouter<App> {
    let read = Guard::Notebook(Operation::Read);
    route_table!(router; "files" "/api" {
        /// Makes a notebook of an `.ipynb` file (nbformat 1 to 4); the body is the file. Nothing is lost; repairs are
        /// named.
        POST "/import", Guard::User(Scope::Edit) => import_notebook, takes_bytes(BYTES);
        /// The notebook as a file, now or as it was: `ipynb` (nbformat 4.5, the whole notebook), or to read: `html`
        /// (one page that runs nothing), `md` (Markdown), `py` (Python in the percent format, without outputs).
        ///
        /// Large outputs whose bytes are missing or damaged are named in words where they belong, and their SHA-256 in
        /// the header `notarium-missing-blobs`, comma-separated. Comments are not in the file: the header
        /// `notarium-left-out-threads` counts their threads. If the end of the record is damaged, or was written by a newer server, the
        /// file shows the version before that (`etag`), and the header `notarium-record-end` is the record's last version.
        GET "/notebooks/{notebook}/export", read => export_notebook, answers::<RawObject>("200", IPYNB);
    } "blobs" "/api/notebooks/{notebook}/blobs" {
        /// Uploads a blob under its SHA-256 in lower-case hex; the body is the bytes. Outputs of this notebook may name
        /// it from now on.
        PUT "/{sha256}", read =>
            upload_blob, takes_bytes(BYTES), answers::<Uploaded>("200", "application/json"),
            answers::<Uploaded>("201", "application/json");
        /// Downloads a blob, as bytes and never as a page: always the whole of it, compared with its hash before the
        /// first byte is sent. One whose bytes have changed on the disk is refused (`damaged`).
        ///
        /// A server whose blobs are in a bucket may redirect downloads of large ones there (307), to an address that is valid for five
        /// minutes. The client checks the hash then. Scripts of a page are not redirected.
        GET "/{sha256}", read => download_blob, answers_plain("200", BYTES), answers_empty("307");
    })
}

// --- in ---

async fn import_notebook(
    State(app): State<App>,
    authenticated: Authenticated,
    QueryOf(query): QueryOf<ImportQuery>,
    conditions: Conditions,
    mut request: Request,
) -> Result<Created<Json<ImportAnswer>>, Problem> {
    DefaultBodyLimit::max(app.limits.max_import_bytes).apply(&mut request);
    let BytesBody(file) = BytesBody::from_request(request, &app).await?;
    let command_id = conditions.command_id.clone().unwrap_or_else(|| ulid::Ulid::generate().into());
    let conditions = Conditions { command_id: Some(command_id.clone()), ..conditions };
    let notebook = query.id.clone().unwrap_or_else(|| new_notebook_id(&authenticated, &conditions));
    let _permit = app.imports.try_acquire().map_err(|_| too_many_imports(&app))?;
    let account = authenticated.user_id().cloned().map(Account::Person);
    account.iter().try_for_each(|account| app.usage.check_new(account))?;
    let mut imported = read_file(file, app.limits.max_import_bytes, command_id).await?;
    let mut notices = std::mem::take(&mut imported.notices);
    let title = title_of(&query, imported.title.as_deref());
    files::kernel_metadata::mark_absence(&mut imported.document.metadata);
    notices.extend(pictures::take_out(&mut imported.document, app.limits.max_inline_picture_bytes));
    sizes::check(&imported.document, app.notebooks.rooms.limits())?;
    let plan = files::plan_import(imported, title.clone());
    let large: u64 = plan.parts.iter().map(|part| part.bytes.len() as u64).sum();
    account.iter().try_for_each(|account| app.usage.check_blobs_of(account, large))?;
    // A notebook that exists has its blobs, or the command is refused.
    let parts = if app.store.head(&notebook).await?.is_none() { plan.parts } else { Vec::new() };
    let kept = app.blobs.put_all(&notebook, parts).await?;
    let answer = execute(&app, &authenticated, &notebook, conditions, &plan.command).await?;
    app.blobs.record(&authenticated.actor, &notebook, kept).await?;
    let (version, outcome) = (answer.0.version, answer.0.outcome);
    Ok(Created(Json(ImportAnswer { notebook, title, version, outcome, notices })))
}

fn too_many_imports(app: &App) -> Problem {
    let detail = format!("{} files are being imported already: try again in a moment", app.limits.max_imports);
    Rejection::new(RejectionCode::RateLimited, detail).into()
}

/// Parses on a blocking thread: a large file takes a while.
async fn read_file(file: Bytes, max_bytes: usize, command_id: CommandId) -> Result<ipynb::Imported, Problem> {
    let reading = tokio::task::spawn_blocking(move || {
        let mut count = 0_u64;
        // Ids are made from the command's id, so that a repeat is the same command.
        let mut new_id = move || {
            count += 1;
            let digest = Sha256::new().chain_update(command_id.as_str()).chain_update(count.to_be_bytes());
            hex::encode(&digest.finalize()[..8])
        };
        ipynb::read(&file, &FileLimits { max_bytes, ..FileLimits::default() }, &mut new_id)
    });
    let read = reading.await.map_err(|error| {
        tracing::error!(%error, "reading a file failed");
        Problem::internal("the file could not be read: report it")
    })?;
    read.map_err(|error| file_problem(&error))
}

fn file_problem(error: &IpynbError) -> Problem {
    match error {
        IpynbError::TooLarge { max_bytes, .. } => {
            LimitName::Import.refusal(*max_bytes as u64, error.to_string()).into()
        }
        IpynbError::TooManyCells { max_cells, .. } => {
            LimitName::Cells.refusal(*max_cells as u64, error.to_string()).into()
        }
        _ => Problem::new(StatusCode::BAD_REQUEST, "not_a_notebook", error.to_string()),
    }
}

/// Title of an import. A requested title is checked by the core; a suggested one has to be displayable.
fn title_of(query: &ImportQuery, suggested: Option<&str>) -> String {
    if let Some(title) = &query.title {
        return title.clone();
    }
    let stem = query.filename.as_deref().map(|name| name.strip_suffix(".ipynb").unwrap_or(name));
    let fits = |title: &&str| {
        !title.trim().is_empty()
            && title.chars().count() <= MAX_TITLE_CHARACTERS
            && !title.chars().any(char::is_control)
    };
    suggested.into_iter().chain(stem).find(fits).unwrap_or(UNTITLED).trim().to_owned()
}

// --- out ---

async fn export_notebook(
    NotebookCaller { app, who, notebook }: NotebookCaller,
    QueryOf(query): QueryOf<ExportQuery>,
) -> Result<Response, Problem> {
    let format = query.format.unwrap_or_default();
    let NotebookAnswer { notebook: state, head, read_only, .. } = read_at(&app, &who, &notebook, query.at).await?;
    let missing = missing_blobs(&app, &state).await?;
    let (version, title) = (state.version, state.title.clone());
    let threads = state.threads.values().filter(|thread| state.cells.contains_key(&thread.cell_id)).count();
    let file = match format {
        ExportFormat::Ipynb => {
            guarded_stream::body(app.readers(), &who, &notebook, pieces::of(app.notebooks.clone(), state)).await?
        }
        other => files::write_readable(&app, state, other).await?.into(),
    };
    let (content_type, ending) = form_of(format);
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static(content_type)),
        (header::CONTENT_DISPOSITION, attachment(&format!("{title}.{ending}"))),
        (header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(FILE_POLICY)),
        (header::ETAG, etag(version)),
    ];
    let mut response = (headers, file).into_response();
    if !missing.is_empty() {
        let named = missing[..missing.len().min(MAX_NAMED_BLOBS)].join(",");
        let unwritable = || Problem::internal("the file could not be written: report it");
        response.headers_mut().insert(MISSING_BLOBS, HeaderValue::from_str(&named).map_err(|_| unwritable())?);
    }
    if threads > 0 {
        response.headers_mut().insert(LEFT_OUT_THREADS, HeaderValue::from(threads));
    }
    if let Some(head) = head.filter(|head| read_only && head.version > version) {
        response.headers_mut().insert(RECORD_END, HeaderValue::from(head.version));
    }
    Ok(response)
}

/// Media type and file extension.
fn form_of(format: ExportFormat) -> (&'static str, &'static str) {
    match format {
        ExportFormat::Ipynb => (IPYNB, "ipynb"),
        ExportFormat::Html => ("text/html; charset=utf-8", "html"),
        ExportFormat::Md => ("text/markdown; charset=utf-8", "md"),
        ExportFormat::Py => ("text/x-python; charset=utf-8", "py"),
    }
}

/// Hashes of blobs that the file needs and that are missing or damaged.
async fn missing_blobs(app: &App, state: &Document) -> Result<Vec<String>, Problem> {
    let named = files::named_blobs(state, &state.order);
    let total: u64 = named.iter().map(|part| part.size_bytes).sum();
    if total > app.limits.max_export_blob_bytes {
        let limit = app.limits.max_export_blob_bytes;
        return Err(too_large(format!("the outputs have {total} bytes, more than {limit}: clear large ones")));
    }
    let mut missing = Vec::new();
    for part in named {
        let is_whole = match parse_hash(&part.sha256) {
            Ok(hash) => app.blobs.is_whole(&state.notebook_id, &hash).await?,
            Err(_) => false,
        };
        if !is_whole {
            missing.push(part.sha256.clone());
        }
    }
    Ok(missing)
}

/// `Content-Disposition` of an attachment with this name (RFC 6266), whatever characters it has.
pub fn attachment(name: &str) -> HeaderValue {
    let plain: String =
        name.chars().map(|c| if c.is_ascii_alphanumeric() || "-_. ".contains(c) { c } else { '_' }).collect();
    let encoded: String = name.bytes().map(percent).collect();
    let text = format!("attachment; filename=\"{plain}\"; filename*=UTF-8''{encoded}");
    HeaderValue::from_str(&text).unwrap_or_else(|_| HeaderValue::from_static("attachment"))
}

fn percent(byte: u8) -> String {
    if byte.is_ascii_alphanumeric() || b"-_.".contains(&byte) {
        char::from(byte).to_string()
    } else {
        format!("%{byte:02X}")
    }
}

/// Validity of an address to which a download is redirected.
const LINK_LIFETIME: Duration = Duration::from_secs(5 * 60);
/// Policy under which a browser runs nothing in this server's origin.
const SANDBOX: &str = "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'none'";

// --- blobs ---

async fn upload_blob(
    NotebookCaller { app, who, notebook }: NotebookCaller,
    Params((_, sha256)): Params<(NotebookId, String)>,
    request: Request,
) -> Result<Response, Problem> {
    require_uploader(&app, &who, &notebook).await?;
    let sha256 = parse_hash(&sha256)?;
    if let Some(BlobEntry { size_bytes, .. }) =
        app.blobs.claims.claim(&app.blobs, &notebook, &sha256, app.clock.now()).await?
        // A damaged blob is replaced by the upload.
        && app.blobs.is_whole(&notebook, &sha256).await?
    {
        return Ok(axum::Json(Uploaded { sha256, size_bytes }).into_response());
    }
    let declared = declared_bytes(request.headers());
    app.usage.check_blob(&notebook, declared)?;
    app.agent_outputs.check_upload(&who.actor, declared, app.clock.now())?;
    let media_type = media_type(request.headers());
    let size_bytes = app.blobs.put(&notebook, &sha256, request.into_body().into_data_stream()).await?;
    app.agent_outputs.note(&who.actor, size_bytes.saturating_sub(declared), app.clock.now());
    app.blobs.record(&who.actor, &notebook, vec![StoredBlob { sha256, size_bytes, media_type }]).await?;
    Ok((StatusCode::CREATED, axum::Json(Uploaded { sha256, size_bytes })).into_response())
}

/// Requires a runtime agent, or a person who may edit or ask an assistant.
async fn require_uploader(app: &App, authenticated: &Authenticated, notebook: &NotebookId) -> Result<(), Problem> {
    if authenticated.is_agent() && authenticated.has(Scope::Agent) {
        return Ok(());
    }
    let role = app.read(authenticated, notebook).await?.role;
    // Attachments of a question are blobs too.
    if Operation::Converse.is_open_to(role) && authenticated.has(Scope::Edit) {
        return Ok(());
    }
    Err(Problem::forbidden(
        "blobs are uploaded by runtime agents and by those who may edit or ask an assistant: ask an owner",
    ))
}

/// Declared length of the body. Without one (0) the bytes are counted after the upload.
fn declared_bytes(headers: &HeaderMap) -> u64 {
    let length = headers.get(header::CONTENT_LENGTH).and_then(|value| value.to_str().ok());
    length.and_then(|text| text.parse().ok()).unwrap_or(0)
}

fn media_type(headers: &HeaderMap) -> Option<String> {
    let value = headers.get(header::CONTENT_TYPE)?.to_str().ok()?;
    (value.len() <= 200).then(|| value.to_owned())
}

async fn download_blob(
    NotebookCaller { app, who, notebook }: NotebookCaller,
    Params((_, sha256)): Params<(NotebookId, String)>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let hash = parse_hash(&sha256)?;
    if let Some(redirect) = redirect(&app, &headers, &notebook, &hash).await? {
        return Ok(redirect);
    }
    let BlobContent { size_bytes, bytes } = match app.blobs.get(&notebook, &hash).await {
        Err(BlobError::NotFound) => return Err(absent(&app, &notebook, &hash).await?),
        found => found?,
    };
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static(BYTES)),
        (header::CONTENT_LENGTH, HeaderValue::from(size_bytes)),
        (header::CONTENT_DISPOSITION, HeaderValue::from_static("attachment")),
        (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
        (header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(SANDBOX)),
        // A browser must not keep what may be redacted, or what its reader may no longer read.
        (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
    ];
    Ok((headers, guarded_stream::body(app.readers(), &who, &notebook, bytes).await?).into_response())
}

/// Redirects the download of a large blob to the bucket, if the operator allows it.
async fn redirect(
    app: &App,
    headers: &HeaderMap,
    notebook: &NotebookId,
    hash: &Hash,
) -> Result<Option<Response>, Problem> {
    let Some(from_bytes) = app.limits.redirect_blobs_from else { return Ok(None) };
    // The page's policy lets its scripts fetch from this server only. Opening the address in a browser is no script.
    let mode = headers.get("sec-fetch-mode").map(HeaderValue::as_bytes);
    if mode.is_some_and(|mode| mode != b"navigate") {
        return Ok(None);
    }
    let Some(blob) = app.blobs.find(notebook, hash).await? else { return Ok(None) };
    if blob.size_bytes < from_bytes {
        return Ok(None);
    }
    let link = app.blobs.link(notebook, hash, LINK_LIFETIME).await?;
    let Some(address) = link.and_then(|link| HeaderValue::from_str(&link).ok()) else { return Ok(None) };
    let headers = [(header::LOCATION, address), (header::CACHE_CONTROL, HeaderValue::from_static("no-store"))];
    Ok(Some((StatusCode::TEMPORARY_REDIRECT, headers).into_response()))
}

/// Problem of a blob that is not there: it was removed because of its age, or never was there.
async fn absent(app: &App, notebook: &NotebookId, hash: &Hash) -> Result<Problem, Problem> {
    Ok(match app.store.retired_blob(notebook, hash).await? {
        Some(at) => {
            let detail = format!(
                "this output was removed by retention on {}: the server keeps large outputs for a time",
                day(at)
            );
            Problem::new(StatusCode::GONE, "blob_retired", detail)
        }
        None => BlobError::NotFound.into(),
    })
}

/// Copies blobs of one notebook to another that does not exist yet.
pub async fn copy(
    app: &App,
    from: &NotebookId,
    to: &NotebookId,
    named: &[BlobPart],
) -> Result<Vec<StoredBlob>, Problem> {
    let mut kept = Vec::new();
    if app.store.head(to).await?.is_some() {
        return Ok(kept);
    }
    for part in named {
        let bytes = app.blobs.load(from, &part.sha256).await?.ok_or_else(|| lacking(from, &part.sha256))?;
        let part = OutputBlob { sha256: parse_hash(&part.sha256)?, bytes };
        kept.extend(app.blobs.put_all(to, vec![part]).await?);
    }
    Ok(kept)
}

fn lacking(notebook: &NotebookId, sha256: &str) -> Problem {
    let detail = format!(
        "an output names the blob {sha256}, whose bytes are missing or damaged on the server's disk: run its cell again, or upload the \
         same bytes again (`notarium verify {notebook} --blobs` names every such blob); or fork without the outputs"
    );
    Problem::new(StatusCode::CONFLICT, "damaged", detail)
}
