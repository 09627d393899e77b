//! Routes that import and export notebooks as files.

use axum::Json;
use axum::extract::{DefaultBodyLimit, State};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use http::{HeaderValue, Method, StatusCode, header};
use notarium_core::{CommandId, Document, NotebookId, Operation, RawObject, Rejection, RejectionCode, Scope};
use notarium_wire::ipynb::{self, IpynbError, Limits, Notice};
use notarium_wire::rest::{ExportFormat, ExportQuery, ImportAnswer, ImportQuery};
use sha2::{Digest, Sha256};

use super::answers::{etag, execute};
use super::notebooks::{new_notebook_id, read_at};
use crate::app::App;
use crate::auth::Authenticated;
use crate::blobs::check::parse_hash;
use crate::http::extract::{BytesBody, Conditions, Created, Params, QueryOf, too_large};
use crate::http::guard::{Guard, GuardedRouter};
use crate::http::guarded_stream;
use crate::http::problem::Problem;
use crate::limits::usage::Account;
use crate::notebooks::files::{export, import, pieces, readable};

/// Title of an imported notebook without a usable name.
const UNTITLED: &str = "Untitled";
const MAX_TITLE_CHARACTERS: usize = 255;
const IPYNB: &str = "application/x-ipynb+json";
/// Policy that keeps a file from acting as a page of this server, even if its address is opened.
const FILE_POLICY: &str = "sandbox; default-src 'none'; img-src data:; style-src 'unsafe-inline'";
/// Header with the hashes of blobs that an export lacks.
const MISSING_BLOBS: &str = "notarium-missing-blobs";
/// Header with the number of comment threads that an export leaves out.
const LEFT_OUT_THREADS: &str = "notarium-left-out-threads";
/// Limit of hashes in the header, because headers are bounded.
const MAX_NAMED_BLOBS: usize = 50;

pub fn routes(router: GuardedRouter<App>, max_import_bytes: usize) -> GuardedRouter<App> {
    router
        .group("files", "/api")
        .says(
            "Makes a notebook of an `.ipynb` file (nbformat 1 to 4); the body is the file. Nothing is lost; repairs are named.",
        )
        .body_limit(DefaultBodyLimit::max(max_import_bytes))
        .on(Guard::User(Scope::Edit), Method::POST, "/import", import_notebook)
        .says(
            "The notebook as a file, now or as it was: `ipynb` (nbformat 4.5, the whole notebook), or to read: `html` (one page that runs \
             nothing), `md` (Markdown), `py` (Python in the percent format, without outputs).\n\nLarge outputs whose bytes are missing or damaged \
             are named in words where they belong, and their SHA-256 in the header `notarium-missing-blobs`, comma-separated. \
             Comments are not in the file: the header `notarium-left-out-threads` counts their threads.",
        )
        .on(Guard::Notebook(Operation::Read), Method::GET, "/notebooks/{notebook}/export", export_notebook)
        .answers::<RawObject>("200", IPYNB)
}

// --- in ---

async fn import_notebook(
    State(app): State<App>,
    authenticated: Authenticated,
    QueryOf(query): QueryOf<ImportQuery>,
    conditions: Conditions,
    BytesBody(file): BytesBody,
) -> Result<Created<Json<ImportAnswer>>, Problem> {
    let command_id = conditions.command_id.clone().unwrap_or_else(|| ulid::Ulid::generate().into());
    let conditions = Conditions { command_id: Some(command_id.clone()), ..conditions };
    let notebook = query.id.clone().unwrap_or_else(|| new_notebook_id(&authenticated, &conditions));
    let _permit = app.imports.try_acquire().map_err(|_| too_many_imports(&app))?;
    let account = authenticated.user_id().cloned().map(Account::Person);
    account.iter().try_for_each(|account| app.usage.check_new(account))?;
    let (imported, notices) = read_file(file, app.limits.max_import_bytes, command_id).await?;
    let title = title_of(&query, imported.title.as_deref());
    let plan = import::plan(imported, title.clone());
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
async fn read_file(
    file: Bytes,
    max_bytes: usize,
    command_id: CommandId,
) -> Result<(ipynb::Imported, Vec<Notice>), Problem> {
    let reading = tokio::task::spawn_blocking(move || {
        let mut count = 0_u64;
        // Ids are made from the command's id, so that a repeat is the same command.
        let mut new_id = move || {
            count += 1;
            let digest = Sha256::new().chain_update(command_id.as_str()).chain_update(count.to_be_bytes());
            hex::encode(&digest.finalize()[..8])
        };
        ipynb::read(&file, &Limits { max_bytes, ..Limits::default() }, &mut new_id)
    });
    match reading.await {
        Ok(Ok(imported)) => {
            let notices = imported.notices.clone();
            Ok((imported, notices))
        }
        Ok(Err(error)) => Err(file_problem(&error)),
        Err(error) => {
            tracing::error!(%error, "reading a file failed");
            Err(Problem::internal("the file could not be read: report it"))
        }
    }
}

fn file_problem(error: &IpynbError) -> Problem {
    match error {
        IpynbError::TooLarge { .. } | IpynbError::TooManyCells { .. } => too_large(error.to_string()),
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
    State(app): State<App>,
    authenticated: Authenticated,
    Params(notebook): Params<NotebookId>,
    QueryOf(query): QueryOf<ExportQuery>,
) -> Result<Response, Problem> {
    let format = query.format.unwrap_or_default();
    let state = read_at(&app, &authenticated, &notebook, query.at).await?.notebook;
    let missing = missing_blobs(&app, &state).await?;
    let (version, title) = (state.version, state.title.clone());
    let threads = state.threads.values().filter(|thread| state.cells.contains_key(&thread.cell_id)).count();
    let file = match format {
        ExportFormat::Ipynb => {
            guarded_stream::body(app.readers(), &authenticated, &notebook, pieces::of(app.notebooks.clone(), state))
                .await?
        }
        other => readable::write(&app, state, other).await?.into(),
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
    let named = export::named_blobs(state, &state.order);
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
