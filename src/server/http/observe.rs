//! Observes requests: counts them, opens their span, continues the trace of their `traceparent`, and gives each an id, which faults carry
//! into the answer, the log and the trace.

use std::sync::Arc;

use axum::extract::{MatchedPath, Request, State};
use axum::middleware::Next;
use axum::response::Response;
use http::{Method, StatusCode};
use notarium_telemetry::{TraceParent, set_parent, trace_id};
use tracing::field::Empty;
use tracing::{Instrument, Span};

use crate::metrics::Metrics;

/// Routes without a span: they are asked each few seconds.
const UNTRACED: [&str; 4] = ["/healthz", "/readyz", "/metrics", "/assets/{file}"];

tokio::task_local! {
    static REQUEST: Arc<str>;
}

/// Id of the request that this task answers: that of its trace, 32 hexadecimal digits. `None`: the task answers none.
pub fn request_id() -> Option<String> {
    REQUEST.try_with(|id| id.to_string()).ok()
}

/// Id of a fault, on the answer that has it.
#[derive(Debug, Clone)]
pub struct ErrorId(pub String);

/// Answers a request, observed.
pub async fn observe(State(metrics): State<Arc<Metrics>>, request: Request, next: Next) -> Response {
    let route = request.extensions().get::<MatchedPath>().cloned();
    let route = route.as_ref().map(MatchedPath::as_str);
    let method = request.method().clone();
    let parent = TraceParent::of(request.headers());
    let span = span(&method, route, request.uri().path());
    if let Some(parent) = &parent {
        set_parent(&span, parent);
    }
    let id: Arc<str> = trace_id(&span, parent.as_ref()).into();
    let mut running = metrics.http.begin(&method, route);
    let response = REQUEST.scope(id, next.run(request)).instrument(span.clone()).await;
    let status = response.status();
    running.answered(status);
    span.record("http.response.status_code", status.as_u16());
    tracing::debug!(%method, route, status = status.as_u16(), "a request was answered");
    if status.is_server_error() {
        span.record("otel.status_code", "ERROR");
        span.in_scope(|| failed(&metrics, &method, route, &response));
    }
    response
}

fn span(method: &Method, route: Option<&str>, path: &str) -> Span {
    let Some(route) = route.filter(|route| !UNTRACED.contains(route)) else { return Span::none() };
    tracing::info_span!(
        "request",
        otel.name = %format_args!("{method} {route}"),
        otel.kind = "server",
        otel.status_code = Empty,
        http.request.method = %method,
        http.route = route,
        url.path = path,
        http.response.status_code = Empty,
    )
}

/// Logs an answer that says that the server failed.
fn failed(metrics: &Metrics, method: &Method, route: Option<&str>, response: &Response) {
    let (status, route) = (response.status().as_u16(), route.unwrap_or_default());
    match response.extensions().get::<ErrorId>() {
        // Whoever asks this gets the same answer each second, with its reason.
        _ if route == "/readyz" => {}
        Some(ErrorId(error_id)) => {
            metrics.http.fault();
            tracing::error!(error_id, %method, route, status, "a request failed");
        }
        None if response.status() == StatusCode::SERVICE_UNAVAILABLE => {
            tracing::warn!(%method, route, status, "a request was refused for now");
        }
        None => tracing::info!(%method, route, status, "a request failed beyond this server"),
    }
}
