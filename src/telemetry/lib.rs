//! Purpose: what every part needs so that an operator sees what the program does: histograms that count by atomics, and trace contexts
//! in the headers of requests. The feature `otlp` sends traces to a collector.
//!
//! Invariants: counting takes no lock and does not wait. A build without `otlp` has the same functions; they pass nothing on, and a
//! `traceparent` that is forwarded stays as it came.
//!
//! This part must never know a notebook, a person or a token, and must never hold up a request because a collector is slow or away.

mod histogram;
#[cfg(feature = "otlp")]
pub mod otlp;
mod trace_context;

pub use histogram::{BYTES, COUNTS, Histogram, LONG_TIMES, SHORT_TIMES, Scale};
pub use trace_context::{TRACEPARENT, TraceParent, pass_on, set_parent, trace_headers, trace_id};
