//! All routes of the server. Each file of `routes/` states its routes with their guards (who may call).

pub mod access;
pub mod accounts;
pub mod answers;
pub mod assistants;
pub mod calls;
pub mod cells;
pub mod chat;
pub mod cluster;
pub mod doors;
pub mod files;
pub mod health;
pub mod history;
pub mod kernel_requests;
pub mod kernels;
pub mod metrics;
pub mod nodes;
pub mod notebooks;
pub mod notices;
pub mod records;
pub mod runs;
pub mod schedules;
pub mod spending;
pub mod status;
pub mod tree_log;
pub mod working_files;

use std::any::Any;
use std::sync::Arc;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::response::{IntoResponse, Response};
use http::{HeaderName, HeaderValue, header};
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::compression::CompressionLayer;
use tower_http::compression::predicate::{DefaultPredicate, NotForContentType, Predicate};
use tower_http::set_header::SetResponseHeaderLayer;

use crate::app::App;
use crate::cluster::Cluster;
use crate::http::body_timeout::{BodyTimeout, finish_body, keep_pace};
use crate::http::extract::{method_not_allowed, not_found};
use crate::http::foreign_token::move_token;
use crate::http::guard::{Guard, GuardServices, GuardedRouter, Route, route_table};
use crate::http::observe::observe;
use crate::http::openapi::OpenApiDocument;
use crate::http::origin::{AllowedOrigins, check_origin};
use crate::http::problem::Problem;
use crate::socket;
use access::RoomRights;

/// Policy of API responses: a browser that shows one runs nothing.
const API_POLICY: &str = "default-src 'none'; frame-ancestors 'none'";

/// Router, list of routes, and their document, which is empty outside of tests.
pub struct Routes {
    pub router: Router,
    pub document: OpenApiDocument,
    pub list: Vec<Route>,
}

/// All routes of a server; `public_url` is the beginning of share links.
pub fn all(app: &App, allowed: AllowedOrigins, public_url: &str) -> Routes {
    let rights = Arc::new(RoomRights(app.clone()));
    let metrics = app.rooms.metrics.clone();
    let gate = GuardServices { accounts: app.accounts.clone(), rights, cluster: cluster_of(app), metrics };
    let routes = accounts::routes(gate, public_url, app.oidc.clone());
    let routes = notebooks::routes(routes);
    let routes = cells::routes(routes);
    let routes = runs::routes(routes);
    let routes = kernels::routes(routes);
    let routes = schedules::routes(routes);
    let routes = history::routes(routes);
    let routes = records::routes(routes);
    let routes = access::routes(routes);
    let routes = files::routes(routes);
    let routes = working_files::routes(routes);
    let routes = assistants::routes(routes);
    let routes = calls::routes(routes);
    let routes = chat::routes(routes);
    let routes = doors::routes(routes);
    let routes = kernel_requests::routes(routes);
    let routes = tree_log::routes(routes, app.limits.is_tree_public);
    let routes = spending::routes(routes);
    let routes = notices::routes(routes);
    let routes = cluster::routes(routes);
    let routes = nodes::routes(routes);
    let routes = status::routes(routes);
    let routes = route_table!(routes; "" "/api" {
        /// The socket, whose first frame or subprotocol has the token.
        GET "/socket", Guard::Socket => socket::upgrade;
        /// The OpenAPI document.
        GET "/openapi.json", Guard::Public => status::document;
    });
    let (router, document, list) = routes.into_parts();
    Routes { router: layered(router.with_state(app.clone()), app, allowed), document, list }
}

/// The cluster, if it has other nodes.
fn cluster_of(app: &App) -> Option<Arc<dyn Cluster>> {
    app.cluster.peers().is_some().then(|| app.notebooks.cluster.clone())
}

/// Router of the address that serves metrics alone.
pub fn metrics_alone(app: &App) -> Router {
    let rights = Arc::new(RoomRights(app.clone()));
    let metrics = app.rooms.metrics.clone();
    let gate = GuardServices { accounts: app.accounts.clone(), rights, cluster: None, metrics };
    let routes = route_table!(GuardedRouter::new(gate); "" "" {
        /// Metrics for Prometheus.
        GET "/metrics", Guard::Public => metrics::metrics;
    });
    let observed = axum::middleware::from_fn_with_state(app.rooms.metrics.clone(), observe);
    routes.into_parts().0.fallback(not_found).layer(observed).with_state(app.clone())
}

pub(crate) fn layered(router: Router, app: &App, allowed: AllowedOrigins) -> Router {
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
        .layer(axum::middleware::from_fn_with_state(app.rooms.metrics.clone(), observe))
        .layer(axum::middleware::from_fn(move_token))
}

/// Response if a handler panicked. The panic is in the log, with its place.
fn broken(_: Box<dyn Any + Send>) -> Response {
    let detail = "the server made a mistake, and goes on: look whether it was done before you try again, and report it";
    Problem::internal(detail).into_response()
}

#[cfg(test)]
mod tests {
    use axum::body::{Body, to_bytes};
    use axum::routing::get;
    use http::{Request, StatusCode};
    use notarium_core::Scope;
    use serde_json::Value;
    use tower::ServiceExt;

    use super::*;
    use crate::{Server, ServerConfig};

    const ABOUT: &str = "# Routes and the right that each demands\n\n\
        Printed by the test `the_list_of_routes_in_protocol_is_current` of `src/server` from the table of routes (`NOTARIUM_BLESS=1` rewrites\n\
        it). A right in the form `edit` is an operation in the notebook of the path: [roles.md](roles.md) lists the roles and the scope that it\n\
        needs. *Person* is a user, or a program with a token of that user: no agent and no guest. *Assistant* is a person's token for a\n\
        program with the scopes `read`, `edit` and `run` alone. A *node of the cluster* signs with the secret that all nodes share. The core may\n\
        refuse a command for more reasons than the right of its route.\n";

    #[tokio::test]
    async fn a_panic_is_a_problem_and_ends_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let config = ServerConfig { listen: ([127, 0, 0, 1], 0).into(), ..ServerConfig::in_folder(folder.path()) };
        let running = Server::start(config).await.unwrap();
        let routes = Router::new().route("/broken", get(async || -> Response { panic!("planted") }));
        let router =
            layered(routes.route("/well", get(async || "well")), running.app(), AllowedOrigins::loopback(8787, false));
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
        assert_eq!(problem["error_id"].as_str().unwrap().len(), 32, "{problem}");
        assert!(!problem.to_string().contains("planted"), "what broke is for the log");
        assert_eq!(answer("/well").await.status(), StatusCode::OK);
        running.shut_down().await;
    }

    /// Log lines, as a program reads them.
    #[derive(Clone, Default)]
    struct LogLines(Arc<parking_lot::Mutex<Vec<u8>>>);

    impl std::io::Write for LogLines {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    impl LogLines {
        /// Lines with this error id.
        fn of(&self, id: &str) -> Vec<Value> {
            let text = String::from_utf8(self.0.lock().clone()).unwrap();
            let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
            lines.filter(|line| line["error_id"] == id).collect()
        }
    }

    #[tokio::test]
    async fn a_fault_has_one_id_in_its_answer_its_trace_and_the_log() {
        let lines = LogLines::default();
        let writer = lines.clone();
        let log = tracing_subscriber::fmt().json().flatten_event(true).with_writer(move || writer.clone()).finish();
        let _guard = tracing::subscriber::set_default(log);
        let folder = tempfile::tempdir().unwrap();
        let running = Server::start(ServerConfig::in_folder(folder.path())).await.unwrap();
        let failing = async || -> Result<(), Problem> {
            Err(notarium_store::StoreError::Unavailable { reason: "planted".to_owned() }.into())
        };
        let routes = Router::new().route("/failing/{id}", get(failing));
        let router = layered(routes, running.app(), AllowedOrigins::loopback(8787, false));
        let trace = "4bf92f3577b34da6a3ce929d0e0e4736";
        let request = Request::get("/failing/1").header("host", "localhost:8787");
        let request = request.header("traceparent", format!("00-{trace}-00f067aa0ba902b7-01"));
        let answer = router.oneshot(request.body(Body::empty()).unwrap()).await.unwrap();
        assert_eq!(answer.status(), StatusCode::SERVICE_UNAVAILABLE);
        let body = to_bytes(answer.into_body(), 10_000).await.unwrap();
        let problem: Value = serde_json::from_slice(&body).unwrap();
        assert_eq!(problem["error_id"], trace);
        let found = lines.of(trace);
        let [reason, request] = found.as_slice() else { panic!("{found:#?}") };
        assert!(reason["error"].as_str().unwrap().contains("planted"), "{reason}");
        assert_eq!((&request["route"], &request["status"]), (&"/failing/{id}".into(), &503.into()), "{request}");
        running.shut_down().await;
    }

    async fn of_a_new_server() -> Routes {
        let folder = tempfile::tempdir().unwrap();
        let running = Server::start(ServerConfig::in_folder(folder.path())).await.unwrap();
        let routes = all(running.app(), AllowedOrigins::loopback(8787, false), "");
        running.shut_down().await;
        routes
    }

    fn check_file(name: &str, text: &str) {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../protocol").join(name);
        if std::env::var_os("NOTARIUM_BLESS").is_some() {
            std::fs::write(&path, text).unwrap();
        }
        let checked_in = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(
            text == checked_in,
            "protocol/{name} is stale: run `NOTARIUM_BLESS=1 cargo test -p notarium-server protocol`"
        );
    }

    #[tokio::test]
    async fn the_openapi_document_in_protocol_is_current() {
        check_file("openapi.json", &format!("{:#}\n", of_a_new_server().await.document.finish()));
    }

    fn right(guard: Guard) -> String {
        let word = |value: serde_json::Result<Value>| format!("`{}`", value.unwrap().as_str().unwrap());
        let scope = |scope: Scope| word(serde_json::to_value(scope));
        match guard {
            Guard::Public => "none".to_owned(),
            Guard::Authenticated => "any token".to_owned(),
            Guard::Scope(it) => format!("scope {}", scope(it)),
            Guard::User(it) => format!("person, scope {}", scope(it)),
            Guard::Assistant => "assistant".to_owned(),
            Guard::Admin => format!("administrator, scope {}", scope(Scope::Admin)),
            Guard::Notebook(operation) => word(serde_json::to_value(operation)),
            Guard::Socket => "token in the first frame".to_owned(),
            Guard::Node => "node of the cluster".to_owned(),
        }
    }

    /// `protocol/routes.md` as the table prints it.
    fn page(routes: &[Route]) -> String {
        let mut tags: Vec<&str> = routes.iter().map(|route| route.tag).collect();
        tags.sort_unstable();
        tags.dedup();
        let mut page = ABOUT.to_owned();
        for tag in tags {
            let title = if tag.is_empty() { "outside of `openapi.json`" } else { tag };
            page += &format!("\n## {title}\n\n| route | right | what it does |\n| --- | --- | --- |\n");
            for route in routes.iter().filter(|route| route.tag == tag) {
                let (summary, _) = route.texts();
                page += &format!("| `{} {}` | {} | {summary} |\n", route.method, route.path, right(route.guard));
            }
        }
        page
    }

    #[tokio::test]
    async fn the_list_of_routes_in_protocol_is_current() {
        check_file("routes.md", &page(&of_a_new_server().await.list));
    }
}
