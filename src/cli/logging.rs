//! The program's log on standard error, and its traces, which go to a collector.

use std::panic::PanicHookInfo;

use clap::ValueEnum;
#[cfg(feature = "otlp")]
use notarium_telemetry::otlp::TraceSender;
use tokio::runtime::Handle;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{EnvFilter, Layer, Registry, fmt};

use crate::cli::{Arguments, Failure};

/// Variables of OpenTelemetry that name a collector.
const ENDPOINT_VARIABLES: [&str; 2] = ["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT"];
const DISABLED_VARIABLE: &str = "OTEL_SDK_DISABLED";

/// Form of log lines.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum LogFormat {
    /// For people.
    #[default]
    Text,
    /// One JSON object a line, for programs.
    Json,
}

/// Sender of traces, until the program ends.
#[derive(Default)]
pub struct Telemetry {
    #[cfg(feature = "otlp")]
    traces: Option<TraceSender>,
}

impl Telemetry {
    /// Sends the last traces.
    pub fn finish(self) {
        #[cfg(feature = "otlp")]
        if let Some(traces) = self.traces {
            traces.shut_down();
        }
    }
}

/// Starts logging, and sending traces if a collector is named. An invalid filter is reported, and the default used.
pub fn install(arguments: &Arguments, runtime: &Handle) -> Result<Telemetry, Failure> {
    let default = arguments.command.default_log();
    let wanted = arguments.context.log.as_deref().unwrap_or(default);
    let filter = EnvFilter::try_new(wanted).unwrap_or_else(|error| {
        eprintln!("notarium: --log '{wanted}' is no filter ({error}); logging '{default}'");
        EnvFilter::new(default)
    });
    let lines: Box<dyn Layer<Registry> + Send + Sync> = match arguments.context.log_format {
        LogFormat::Text => fmt::layer().with_writer(std::io::stderr).boxed(),
        LogFormat::Json => fmt::layer().json().flatten_event(true).with_writer(std::io::stderr).boxed(),
    };
    let lines = lines.with_filter(filter);
    let endpoint = arguments.context.otlp_endpoint.as_deref();
    let telemetry = if arguments.command.serves() && (endpoint.is_some() || has_collector()) {
        with_traces(lines, endpoint, runtime)?
    } else {
        tracing_subscriber::registry().with(lines).init();
        Telemetry::default()
    };
    std::panic::set_hook(Box::new(log_fault));
    Ok(telemetry)
}

/// True if the environment names a collector.
fn has_collector() -> bool {
    let is_set = |name: &str| std::env::var(name).is_ok_and(|value| !value.is_empty());
    let is_disabled = std::env::var(DISABLED_VARIABLE).is_ok_and(|value| value.eq_ignore_ascii_case("true"));
    !is_disabled && ENDPOINT_VARIABLES.into_iter().any(is_set)
}

#[cfg(feature = "otlp")]
fn with_traces(
    lines: impl Layer<Registry> + Send + Sync,
    endpoint: Option<&str>,
    runtime: &Handle,
) -> Result<Telemetry, Failure> {
    let traces = TraceSender::start(endpoint, runtime.clone(), env!("CARGO_PKG_VERSION"));
    let traces = traces.map_err(|error| Failure::usage(format!("--otlp-endpoint: {error}")))?;
    tracing_subscriber::registry().with(lines).with(traces.layer()).init();
    Ok(Telemetry { traces: Some(traces) })
}

#[cfg(not(feature = "otlp"))]
fn with_traces(
    lines: impl Layer<Registry> + Send + Sync,
    endpoint: Option<&str>,
    _: &Handle,
) -> Result<Telemetry, Failure> {
    if endpoint.is_some() {
        return Err(Failure::usage("this build sends no traces: build with the default features"));
    }
    tracing_subscriber::registry().with(lines).init();
    tracing::warn!("this build sends no traces, though the environment names a collector");
    Ok(Telemetry::default())
}

/// Logs a panic. It ends its task; the task's owner reports the consequences.
fn log_fault(fault: &PanicHookInfo) {
    let place = fault.location().map(ToString::to_string).unwrap_or_default();
    let message = fault.payload_as_str().unwrap_or("no message");
    let error_id = notarium_server::http::observe::request_id();
    tracing::error!(place, message, error_id, "a fault in the program: please report it");
}
