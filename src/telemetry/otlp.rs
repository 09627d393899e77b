//! Traces to a collector by OTLP, as protobuf over HTTP.
//!
//! Spans are sent in batches by a thread of the SDK. Its requests are made by the program's own runtime, so that there is one HTTP client.
//! If the collector is slow or away, spans are dropped, and requests of clients do not wait.

use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use http::{Request, Response};
use opentelemetry::trace::{SpanContext, SpanId, TraceContextExt, TraceFlags, TraceId, TraceState, TracerProvider};
use opentelemetry::{Context, KeyValue};
use opentelemetry_http::{HttpClient, HttpError};
use opentelemetry_otlp::{SpanExporter, WithExportConfig, WithHttpConfig};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::{SdkTracerProvider, Tracer};
use tokio::runtime::Handle;
use tracing::{Level, Span, Subscriber};
use tracing_opentelemetry::{OpenTelemetryLayer, OpenTelemetrySpanExt};
use tracing_subscriber::Layer;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::registry::LookupSpan;

use crate::TraceParent;

/// Name of the service, unless `OTEL_SERVICE_NAME` says another one.
const SERVICE: &str = "notarium";
const PATH: &str = "/v1/traces";
/// Time for a batch of spans: after it the batch is dropped, and the next is sent.
const SEND_WITHIN: Duration = Duration::from_secs(10);

/// Reason why no traces are sent.
#[derive(Debug, thiserror::Error)]
#[error("the address of the collector cannot be used: {0}; write it as in http://127.0.0.1:4318")]
pub struct OtlpError(String);

/// Sender of traces.
pub struct TraceSender {
    provider: SdkTracerProvider,
}

impl TraceSender {
    /// Starts to send traces to the collector at `endpoint`, as in `http://127.0.0.1:4318`; absent: to that of the `OTEL_…` variables.
    pub fn start(endpoint: Option<&str>, runtime: Handle, release: &'static str) -> Result<Self, OtlpError> {
        let http = reqwest::Client::builder().timeout(SEND_WITHIN).build();
        let client = RuntimeClient { http: http.map_err(|error| OtlpError(error.to_string()))?, runtime };
        let builder = SpanExporter::builder().with_http().with_http_client(client);
        let builder = match endpoint {
            Some(endpoint) => builder.with_endpoint(traces_of(endpoint)),
            None => builder,
        };
        let exporter = builder.build().map_err(|error| OtlpError(error.to_string()))?;
        let name = std::env::var("OTEL_SERVICE_NAME").ok().filter(|name| !name.is_empty());
        let resource = Resource::builder()
            .with_service_name(name.unwrap_or_else(|| SERVICE.to_owned()))
            .with_attribute(KeyValue::new("service.version", release));
        let provider =
            SdkTracerProvider::builder().with_batch_exporter(exporter).with_resource(resource.build()).build();
        Ok(Self { provider })
    }

    /// Layer that takes this program's spans, and the events in them.
    pub fn layer<S>(&self) -> impl Layer<S> + use<S>
    where
        S: Subscriber + for<'span> LookupSpan<'span> + Send + Sync,
    {
        let layer: OpenTelemetryLayer<S, Tracer> =
            tracing_opentelemetry::layer().with_tracer(self.provider.tracer(SERVICE));
        layer.with_filter(Targets::new().with_target(SERVICE, Level::INFO))
    }

    /// Sends the spans that have ended. Blocks: do not call it in a task.
    pub fn flush(&self) {
        if let Err(error) = self.provider.force_flush() {
            tracing::warn!(%error, "traces were not sent");
        }
    }

    /// Sends the rest. Blocks: do not call it in a task.
    pub fn shut_down(self) {
        if let Err(error) = self.provider.shutdown() {
            tracing::warn!(%error, "the last traces were not sent");
        }
    }
}

fn traces_of(endpoint: &str) -> String {
    let base = endpoint.trim_end_matches('/');
    if base.ends_with(PATH) { base.to_owned() } else { format!("{base}{PATH}") }
}

/// The program's HTTP client, for a thread outside of its runtime.
#[derive(Debug)]
struct RuntimeClient {
    http: reqwest::Client,
    runtime: Handle,
}

#[async_trait]
impl HttpClient for RuntimeClient {
    async fn send_bytes(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let http = self.http.clone();
        let request = reqwest::Request::try_from(request)?;
        let sending = async move {
            let response = http.execute(request).await?;
            let answer = Response::builder().status(response.status());
            let headers = response.headers().clone();
            let mut answer = answer.body(response.bytes().await?)?;
            *answer.headers_mut() = headers;
            Ok::<_, HttpError>(answer)
        };
        self.runtime.spawn(sending).await?
    }
}

/// Continues a trace in this span.
pub(crate) fn set_parent(span: &Span, parent: &TraceParent) {
    let TraceParent { trace_id, span_id, flags } = *parent;
    let (trace, from) = (TraceId::from_bytes(trace_id), SpanId::from_bytes(span_id));
    let context = SpanContext::new(trace, from, TraceFlags::new(flags), true, TraceState::NONE);
    // Fails if no collector is set: the span is not sent then.
    let _ = span.set_parent(Context::new().with_remote_span_context(context));
}

/// The span, as the header names it; `None`: it is not sent.
pub(crate) fn here(span: &Span) -> Option<TraceParent> {
    let context = span.context();
    let context = context.span().span_context().clone();
    context.is_valid().then(|| TraceParent {
        trace_id: context.trace_id().to_bytes(),
        span_id: context.span_id().to_bytes(),
        flags: context.trace_flags().to_u8(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_gets_the_path_of_traces_once() {
        for endpoint in ["http://c:4318", "http://c:4318/", "http://c:4318/v1/traces"] {
            assert_eq!(traces_of(endpoint), "http://c:4318/v1/traces");
        }
    }
}
