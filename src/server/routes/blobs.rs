//! Large parts of outputs: uploaded by agents, people and imports, downloaded by readers of the notebook.

use axum::extract::{DefaultBodyLimit, Request, State};
use axum::response::{IntoResponse, Response};
use http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use notarium_core::{BlobPart, NotebookId, Operation, Scope};
use notarium_store::blobs::{BlobContent, BlobEntry};
use notarium_wire::rest::Uploaded;

use crate::app::App;
use crate::auth::Authenticated;
use crate::blobs::check::parse_hash;
use crate::blobs::parts::Part;
use crate::blobs::{self, Kept};
use crate::http::extract::Params;
use crate::http::guard::{Guard, GuardedRouter};
use crate::http::guarded_stream;
use crate::http::problem::Problem;

const BYTES: &str = "application/octet-stream";
/// Policy under which a browser runs nothing in this server's origin.
const SANDBOX: &str = "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'none'";

pub fn routes(router: GuardedRouter<App>) -> GuardedRouter<App> {
    let read = Guard::Notebook(Operation::Read);
    router
        .group("blobs", "/api/notebooks/{notebook}/blobs")
        .says("Uploads a blob under its SHA-256 in lower-case hex; the body is the bytes. Outputs of this notebook may name it from now on.")
        // The blob store enforces the limit while it streams.
        .body_limit(DefaultBodyLimit::disable())
        .on(read, Method::PUT, "/{sha256}", upload_blob)
        .takes_bytes(BYTES)
        .answers::<Uploaded>("200", "application/json")
        .answers::<Uploaded>("201", "application/json")
        .says(
            "Downloads a blob, as bytes and never as a page: always the whole of it, compared with its hash before the first \
             byte is sent. One whose bytes have changed on the disk is refused (`damaged`).",
        )
        .on(read, Method::GET, "/{sha256}", download_blob)
        .answers_plain("200", BYTES)
}

async fn upload_blob(
    State(app): State<App>,
    authenticated: Authenticated,
    Params((notebook, sha256)): Params<(NotebookId, String)>,
    request: Request,
) -> Result<Response, Problem> {
    require_uploader(&app, &authenticated, &notebook).await?;
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
    app.agent_outputs.check_upload(&authenticated.actor, declared, app.clock.now())?;
    let media_type = media_type(request.headers());
    let size_bytes = app.blobs.put(&notebook, &sha256, request.into_body().into_data_stream()).await?;
    app.agent_outputs.note(&authenticated.actor, size_bytes.saturating_sub(declared), app.clock.now());
    app.blobs.record(&authenticated.actor, &notebook, vec![Kept { sha256, size_bytes, media_type }]).await?;
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
    State(app): State<App>,
    authenticated: Authenticated,
    Params((notebook, sha256)): Params<(NotebookId, String)>,
) -> Result<Response, Problem> {
    let hash = parse_hash(&sha256)?;
    let BlobContent { size_bytes, bytes } = app.blobs.get(&notebook, &hash).await?;
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static(BYTES)),
        (header::CONTENT_LENGTH, HeaderValue::from(size_bytes)),
        (header::CONTENT_DISPOSITION, HeaderValue::from_static("attachment")),
        (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
        (header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(SANDBOX)),
        // The bytes of a hash never change, but the rights of the reader may.
        (header::CACHE_CONTROL, HeaderValue::from_static("private, no-cache")),
    ];
    Ok((headers, guarded_stream::body(app.readers(), &authenticated, &notebook, bytes).await?).into_response())
}

/// Copies blobs of one notebook to another that does not exist yet.
pub async fn copy(
    app: &App,
    from: &NotebookId,
    to: &NotebookId,
    named: &[BlobPart],
) -> Result<Vec<blobs::Kept>, Problem> {
    let mut kept = Vec::new();
    if app.store.head(to).await?.is_some() {
        return Ok(kept);
    }
    for part in named {
        let bytes = app.blobs.load(from, &part.sha256).await?.ok_or_else(|| lacking(from, &part.sha256))?;
        let part = Part { sha256: parse_hash(&part.sha256)?, bytes };
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
