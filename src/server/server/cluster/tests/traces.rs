//! A trace across nodes, as a collector gets it.

use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::routing::post;
use notarium_telemetry::TRACEPARENT;
use notarium_telemetry::otlp::TraceSender;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::trace::v1::Span;
use prost::Message;
use serde_json::json;
use tokio::net::TcpListener;
use tokio::runtime::Handle;
use tokio::sync::mpsc;
use tracing_subscriber::layer::SubscriberExt;

use super::scene::Scene;
use super::support::PATIENCE;
use crate::cluster::Cluster;

const GIVEN: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

/// Starts a collector on a free port: its address, and the spans that it gets.
async fn collector() -> (String, mpsc::UnboundedReceiver<Span>) {
    let (spans, received) = mpsc::unbounded_channel();
    let take = async |State(spans): State<mpsc::UnboundedSender<Span>>, body: Bytes| {
        let request = ExportTraceServiceRequest::decode(body).unwrap();
        let scopes = request.resource_spans.into_iter().flat_map(|resource| resource.scope_spans);
        scopes.flat_map(|scope| scope.spans).for_each(|span| spans.send(span).unwrap());
        Bytes::new()
    };
    let routes = Router::new().route("/v1/traces", post(take)).with_state(spans);
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, routes).await });
    (address, received)
}

/// Waits for the span of the trace with this name and parent.
async fn child(spans: &mut Vec<Span>, more: &mut mpsc::UnboundedReceiver<Span>, parent: &[u8], name: &str) -> Span {
    let (trace, _) = GIVEN[3..].split_once('-').unwrap();
    let is_it = |span: &Span| {
        span.trace_id == hex::decode(trace).unwrap() && span.parent_span_id == parent && span.name == name
    };
    loop {
        if let Some(found) = spans.iter().find(|span| is_it(span)) {
            return found.clone();
        }
        let next = tokio::time::timeout(PATIENCE, more.recv()).await;
        spans.push(next.unwrap_or_else(|_| panic!("no span {name}: {spans:#?}")).unwrap());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_forwarded_request_is_one_trace_over_both_nodes() {
    let (address, mut more) = collector().await;
    let _ = rustls::crypto::ring::default_provider().install_default();
    let traces = TraceSender::start(Some(&address), Handle::current(), "test").unwrap();
    // Global, because each node has threads of its own.
    let subscriber = tracing_subscriber::registry().with(traces.layer());
    tracing::subscriber::set_global_default(subscriber).expect("no other test of this process sets one");
    let (scene, nodes) = Scene::of(2).await;
    let (http, notebook) = (scene.http(&nodes[0]), scene.notebook_of(&nodes[1]).await);
    http.post("/api/notebooks", json!({"id": notebook, "title": "Notes"})).await.ok();
    let path = format!("/api/notebooks/{notebook}");
    let request = http.request(http::Method::PATCH, &path).header(TRACEPARENT, GIVEN).json(&json!({"title": "Traced"}));
    http.send(request).await.ok();
    // Its thread waits for tasks of this runtime.
    tokio::task::spawn_blocking(move || traces.flush()).await.unwrap();
    let (mut spans, caller) = (Vec::new(), hex::decode("00f067aa0ba902b7").unwrap());
    let route = "PATCH /api/notebooks/{notebook}";
    let here = child(&mut spans, &mut more, &caller, route).await;
    let forward = child(&mut spans, &mut more, &here.span_id, "forward").await;
    let there = child(&mut spans, &mut more, &forward.span_id, route).await;
    assert_eq!([here.kind, forward.kind, there.kind], [2, 3, 2], "server, client, server");
    let instance = nodes[1].cluster.instance().to_string();
    let names_the_node = |span: &Span| format!("{:?}", span.attributes).contains(&instance);
    assert!(names_the_node(&forward), "{forward:#?}");
    assert!(Duration::from_nanos(there.end_time_unix_nano - there.start_time_unix_nano) < PATIENCE);
    let forwards = nodes[0].running().app().rooms.metrics.open_metrics();
    assert!(forwards.contains("notarium_forwards_total{what=\"request\",outcome=\"answered\"} "), "{forwards}");
    assert!(!forwards.contains("notarium_forwards_total{what=\"request\",outcome=\"answered\"} 0\n"), "{forwards}");
}
