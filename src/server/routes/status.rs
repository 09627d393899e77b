//! How the server is, what it can do, and the page that says so to people.

use std::sync::atomic::Ordering;

use axum::Json;
use axum::extract::State;
use axum::response::{Html, IntoResponse, Response};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http::{HeaderValue, Method, StatusCode, header};
use serde::Serialize;
use sha2::{Digest, Sha256};
use utoipa::ToSchema;
use utoipa::openapi::OpenApi;
use utoipa::openapi::security::{Http, HttpAuthScheme, SecurityRequirement, SecurityScheme};
use utoipa_axum::routes;

use crate::app::App;
use crate::guard::{Guard, GuardedRouter};
use crate::problem::Problem;

const STYLE: &str = include_str!("../page/style.css");
const PAGE: &str = include_str!("../page/index.html");

pub fn routes(router: GuardedRouter<App>) -> GuardedRouter<App> {
    router.routes(Guard::Public, routes!(alive)).routes(Guard::Public, routes!(ready)).route(
        Guard::Public,
        Method::GET,
        "/",
        axum::routing::get(page),
    )
}

#[derive(Debug, Serialize, ToSchema)]
struct Alive {
    status: &'static str,
    version: &'static str,
}

/// The process answers.
#[utoipa::path(get, path = "/healthz", tag = "server", responses((status = 200, body = Alive)))]
async fn alive() -> Json<Alive> {
    Json(Alive { status: "ok", version: env!("CARGO_PKG_VERSION") })
}

/// The server takes requests: not while it starts or stops.
#[utoipa::path(get, path = "/readyz", tag = "server",
    responses((status = 200, body = Alive), (status = 503, body = Problem)))]
async fn ready(State(app): State<App>) -> Result<Json<Alive>, Problem> {
    if app.stopping.is_cancelled() || !app.is_ready.load(Ordering::SeqCst) {
        let detail = "the server is starting or stopping: ask again in a moment";
        return Err(Problem::new(StatusCode::SERVICE_UNAVAILABLE, "unavailable", detail));
    }
    app.store.notebooks(None, 1).await?;
    Ok(alive().await)
}

/// The first page: what runs here and how to connect.
async fn page(State(app): State<App>) -> Response {
    let page = PAGE
        .replace("{style}", STYLE)
        .replace("{version}", env!("CARGO_PKG_VERSION"))
        .replace("{agents}", &app.agents.count().to_string())
        .replace("{open}", &app.rooms.open_count().to_string());
    let policy = format!(
        "default-src 'none'; style-src 'sha256-{}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
        STANDARD.encode(Sha256::digest(STYLE))
    );
    let policy = HeaderValue::from_str(&policy).unwrap_or_else(|_| HeaderValue::from_static("default-src 'none'"));
    ([(header::CONTENT_SECURITY_POLICY, policy)], Html(page)).into_response()
}

// --- OpenAPI ---

/// Says what the document is about, and that a bearer token is needed.
pub fn described(mut openapi: OpenApi) -> OpenApi {
    openapi.info.title = "Notarium".to_owned();
    openapi.info.version = env!("CARGO_PKG_VERSION").to_owned();
    openapi.info.description = Some(
        "The REST interface beside the WebSocket (`GET /api/socket`, see protocol/README.md). Objects without a shape here \
         have theirs in protocol/schema/. Every error is application/problem+json; a repeat with the same \
         `Idempotency-Key` (1 to 64 characters of A-Z a-z 0-9 - _) is applied once; `If-Match` is the expected version."
            .to_owned(),
    );
    openapi.info.license = None;
    openapi.info.contact = None;
    let bearer = SecurityScheme::Http(Http::new(HttpAuthScheme::Bearer));
    openapi.components.get_or_insert_default().add_security_scheme("bearer", bearer);
    openapi.security = Some(vec![SecurityRequirement::new::<_, [&str; 0], &str>("bearer", [])]);
    openapi
}

/// The document as it is checked in as `protocol/openapi.json`.
pub fn document(openapi: &OpenApi) -> String {
    let mut text = openapi.to_pretty_json().unwrap_or_default();
    text.push('\n');
    text
}

pub async fn serve_document(text: String) -> Response {
    ([(header::CONTENT_TYPE, "application/json")], text).into_response()
}
