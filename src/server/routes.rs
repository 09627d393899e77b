//! All routes of the server. Each file of `routes/` states its routes with their guards (who may call).

pub mod access;
pub mod accounts;
pub mod answers;
pub mod assistants;
pub mod calls;
pub mod cells;
pub mod chat;
pub mod files;
pub mod history;
pub mod kernels;
pub mod notebooks;
pub mod runs;
pub mod status;
pub mod working_files;

use std::any::Any;
use std::sync::Arc;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use http::{HeaderName, HeaderValue, Method, header};
use serde_json::Value;
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::compression::CompressionLayer;
use tower_http::compression::predicate::{DefaultPredicate, NotForContentType, Predicate};
use tower_http::set_header::SetResponseHeaderLayer;
use tower_http::trace::TraceLayer;

use crate::app::App;
use crate::http::body_timeout::finish_body;
use crate::http::body_timeout::{BodyTimeout, keep_pace};
use crate::http::extract::{method_not_allowed, not_found};
use crate::http::guard::{Guard, GuardServices, GuardedRouter, RouteGuard};
use crate::http::origin::{AllowedOrigins, check_origin};
use crate::http::problem::Problem;
use crate::socket;
use access::RoomRights;

/// Policy of API responses: a browser that shows one runs nothing.
const API_POLICY: &str = "default-src 'none'; frame-ancestors 'none'";

/// Router, OpenAPI document and list of guards.
pub struct Routes {
    pub router: Router,
    pub openapi: Value,
    pub guards: Vec<RouteGuard>,
}

/// All routes of a server; `public_url` is the beginning of share links.
pub fn all(app: &App, allowed: AllowedOrigins, public_url: &str) -> Routes {
    let rights = Arc::new(RoomRights(app.clone()));
    let gate = GuardServices { accounts: app.accounts.clone(), rights };
    let routes = GuardedRouter::<App>::new(gate.clone()).merge(accounts::routes(&gate, public_url, app.oidc.clone()));
    let routes = notebooks::routes(routes);
    let routes = notebooks::template_routes(routes);
    let routes = cells::routes(routes);
    let routes = cells::comment_routes(routes);
    let routes = runs::routes(routes);
    let routes = cells::graph_routes(routes);
    let routes = kernels::routes(routes);
    let routes = kernels::function_routes(routes);
    let routes = history::routes(routes);
    let routes = access::routes(routes);
    let routes = files::routes(routes, app.limits.max_import_bytes);
    let routes = files::blob_routes(routes);
    let routes = working_files::routes(routes);
    let routes = assistants::routes(routes);
    let routes = calls::routes(routes);
    let routes = assistants::mcp_routes(routes);
    let routes = chat::routes(routes);
    let routes = chat::turn_routes(routes);
    let routes = status::usage_routes(routes);
    let routes = status::routes(routes);
    let routes = routes.route(Guard::Socket, Method::GET, "/api/socket", get(socket::upgrade));
    let parts = routes.into_parts();
    let openapi = parts.openapi;
    let text = format!("{openapi:#}\n");
    let router = parts.router.route("/api/openapi.json", get(move || status::serve_document(text)));
    let open_document = RouteGuard { method: Method::GET, path: "/api/openapi.json".to_owned(), guard: Guard::Public };
    let guards = parts.guards.into_iter().chain([open_document]).collect();
    let router = layered(router.with_state(app.clone()), app, allowed);
    Routes { router, openapi, guards }
}

fn layered(router: Router, app: &App, allowed: AllowedOrigins) -> Router {
    let header = |name: HeaderName, value: &'static str| {
        SetResponseHeaderLayer::if_not_present(name, HeaderValue::from_static(value))
    };
    // Blobs are hardly compressible; event streams must not be delayed.
    let compressed = DefaultPredicate::new().and(NotForContentType::const_new("application/octet-stream"));
    router
        .fallback(not_found)
        .method_not_allowed_fallback(method_not_allowed)
        .layer(DefaultBodyLimit::max(app.limits.max_request_bytes))
        .layer(axum::middleware::from_fn_with_state(BodyTimeout::of(&app.limits), keep_pace))
        .layer(CatchPanicLayer::custom(broken))
        .layer(CompressionLayer::new().compress_when(compressed))
        .layer(axum::middleware::from_fn_with_state(allowed, check_origin))
        .layer(header(header::X_CONTENT_TYPE_OPTIONS, "nosniff"))
        .layer(header(header::REFERRER_POLICY, "no-referrer"))
        .layer(header(header::CONTENT_SECURITY_POLICY, API_POLICY))
        .layer(header(header::CACHE_CONTROL, "no-store"))
        .layer(axum::middleware::from_fn(finish_body))
        .layer(TraceLayer::new_for_http())
}

/// Response if a handler panicked. The panic is in the log, with its place.
fn broken(_: Box<dyn Any + Send>) -> Response {
    let detail = "the server made a mistake, and goes on: look whether it was done before you try again, and report it";
    Problem::internal(detail).into_response()
}

#[cfg(test)]
mod tests {
    use axum::body::{Body, to_bytes};
    use http::{Request, StatusCode};
    use tower::ServiceExt;

    use super::*;
    use crate::{Server, ServerConfig};

    #[tokio::test]
    async fn a_panic_is_a_problem_and_ends_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let config = ServerConfig { listen: ([127, 0, 0, 1], 0).into(), ..ServerConfig::in_folder(folder.path()) };
        let running = Server::start(config).await.unwrap();
        let routes = Router::new().route("/broken", get(async || -> Response { panic!("planted") }));
        let router =
            layered(routes.route("/well", get(async || "well")), running.app(), AllowedOrigins::loopback(8787));
        let answer = async |path: &str| {
            let request = Request::get(path).header("host", "localhost:8787").body(Body::empty()).unwrap();
            router.clone().oneshot(request).await.unwrap()
        };
        let broken = answer("/broken").await;
        assert_eq!(broken.status(), StatusCode::INTERNAL_SERVER_ERROR);
        assert_eq!(broken.headers()[header::CONTENT_TYPE], "application/problem+json");
        assert_eq!(broken.headers()[header::CACHE_CONTROL], "no-store");
        let body = to_bytes(broken.into_body(), 10_000).await.unwrap();
        let problem: serde_json::Value = serde_json::from_slice(&body).unwrap();
        assert_eq!(problem["code"], "internal");
        assert!(!problem.to_string().contains("planted"), "what broke is for the log");
        assert_eq!(answer("/well").await.status(), StatusCode::OK);
        running.shut_down().await;
    }

    #[tokio::test]
    async fn the_openapi_document_is_the_one_that_is_checked_in() {
        let folder = tempfile::tempdir().unwrap();
        let running = Server::start(ServerConfig::in_folder(folder.path())).await.unwrap();
        let openapi = all(running.app(), AllowedOrigins::loopback(8787), "").openapi;
        running.shut_down().await;
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../protocol/openapi.json");
        let text = format!("{openapi:#}\n");
        if std::env::var_os("UPDATE_PROTOCOL").is_some() {
            std::fs::write(&path, &text).unwrap();
        }
        let checked_in = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(
            text == checked_in,
            "protocol/openapi.json is stale: run `UPDATE_PROTOCOL=1 cargo test -p notarium-server openapi`"
        );
    }
}
