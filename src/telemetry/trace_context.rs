//! Context of a trace in headers, as W3C's Trace Context has it: `traceparent: 00-TRACE-SPAN-FLAGS`.

use std::fmt;

use http::{HeaderMap, HeaderName, HeaderValue};
use tracing::Span;

/// Header with the trace and the span from which a request comes.
pub const TRACEPARENT: HeaderName = HeaderName::from_static("traceparent");

const VERSION: &str = "00";

/// Trace and span from which a request comes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TraceParent {
    pub trace_id: [u8; 16],
    pub span_id: [u8; 8],
    /// Bit 0: the trace is recorded.
    pub flags: u8,
}

impl TraceParent {
    /// Reads the header of a request; `None`: there is none, or it is malformed.
    pub fn of(headers: &HeaderMap) -> Option<Self> {
        Self::parse(headers.get(TRACEPARENT)?.to_str().ok()?)
    }

    /// Parses a header. Later versions may have more fields.
    pub fn parse(text: &str) -> Option<Self> {
        let mut fields = text.split('-');
        let (version, trace, span, flags) = (fields.next()?, fields.next()?, fields.next()?, fields.next()?);
        let has_more = fields.next().is_some();
        let is_lower = text.bytes().all(|byte| !byte.is_ascii_uppercase());
        if version.len() != 2 || version == "ff" || (version == VERSION && has_more) || !is_lower {
            return None;
        }
        let [_, flags] = [bytes::<1>(version)?, bytes::<1>(flags)?];
        let (trace_id, span_id) = (bytes::<16>(trace)?, bytes::<8>(span)?);
        let is_valid = trace_id != [0; 16] && span_id != [0; 8];
        is_valid.then_some(Self { trace_id, span_id, flags: flags[0] })
    }

    /// The trace's id in hexadecimal.
    pub fn trace(&self) -> String {
        hex::encode(self.trace_id)
    }
}

impl fmt::Display for TraceParent {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (trace, span) = (hex::encode(self.trace_id), hex::encode(self.span_id));
        write!(formatter, "{VERSION}-{trace}-{span}-{:02x}", self.flags)
    }
}

fn bytes<const N: usize>(text: &str) -> Option<[u8; N]> {
    let mut bytes = [0; N];
    hex::decode_to_slice(text, &mut bytes).ok()?;
    Some(bytes)
}

/// Continues the trace of a request in this span.
pub fn set_parent(span: &Span, parent: &TraceParent) {
    #[cfg(feature = "otlp")]
    crate::otlp::set_parent(span, parent);
    #[cfg(not(feature = "otlp"))]
    let _ = (span, parent);
}

/// Trace of a span: that of the collector if spans are sent to one, else that of the request it came with, else a new id.
pub fn trace_id(span: &Span, parent: Option<&TraceParent>) -> String {
    #[cfg(feature = "otlp")]
    if let Some(here) = crate::otlp::here(span) {
        return here.trace();
    }
    #[cfg(not(feature = "otlp"))]
    let _ = span;
    parent.map_or_else(new_trace_id, TraceParent::trace)
}

fn new_trace_id() -> String {
    let mut id = [0; 16];
    // An id of zeros only fails to find its line in the log.
    let _ = getrandom::fill(&mut id);
    hex::encode(id)
}

/// Names the span that is entered in the headers of a request, so that its receiver continues the trace. Without a collector the headers
/// stay as they are.
pub fn pass_on(headers: &mut HeaderMap) {
    #[cfg(feature = "otlp")]
    if let Some(here) = crate::otlp::here(&Span::current())
        && let Ok(value) = HeaderValue::try_from(here.to_string())
    {
        headers.insert(TRACEPARENT, value);
    }
    #[cfg(not(feature = "otlp"))]
    let _: (&mut HeaderMap, Option<HeaderValue>) = (headers, None);
}

/// Headers of a request that continues the trace of the span that is entered: one, or none.
pub fn trace_headers() -> HeaderMap {
    let mut headers = HeaderMap::new();
    pass_on(&mut headers);
    headers
}

#[cfg(test)]
mod tests {
    use super::*;

    const GIVEN: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

    #[test]
    fn a_header_is_read_and_written() {
        let parent = TraceParent::parse(GIVEN).unwrap();
        assert_eq!((parent.trace().as_str(), parent.flags), ("4bf92f3577b34da6a3ce929d0e0e4736", 1));
        assert_eq!(parent.to_string(), GIVEN);
        let later = GIVEN.replacen("00", "01", 1) + "-more";
        assert_eq!(TraceParent::parse(&later), Some(parent));
    }

    #[test]
    fn malformed_headers_count_as_absent() {
        let zero_trace = GIVEN.replace("4bf92f3577b34da6a3ce929d0e0e4736", &"0".repeat(32));
        let (long, upper) = (format!("{GIVEN}-more"), GIVEN.to_uppercase());
        for text in
            ["", "00", "00-1-2-3", zero_trace.as_str(), long.as_str(), upper.as_str(), &GIVEN.replacen("00", "ff", 1)]
        {
            assert_eq!(TraceParent::parse(text), None, "{text}");
        }
    }

    #[test]
    fn a_request_without_a_trace_gets_an_id_of_its_own() {
        let span = Span::none();
        let (one, other) = (trace_id(&span, None), trace_id(&span, None));
        assert!(one != other && one.len() == 32, "{one} {other}");
        let parent = TraceParent::parse(GIVEN).unwrap();
        assert_eq!(trace_id(&span, Some(&parent)), parent.trace());
    }
}
