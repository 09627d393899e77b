//! Metrics of requests and sockets.

use std::borrow::Cow;
use std::time::Instant;

use http::{Method, StatusCode};
use notarium_telemetry::{Histogram, SHORT_TIMES};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::gauge::Gauge;

use super::{Counters, Histograms, MetricList, OTHER};

/// Metrics of requests and sockets.
#[derive(Debug)]
pub struct HttpMetrics {
    requests: Counters<3>,
    times: Histograms<2>,
    sockets: Gauge,
    opened_sockets: Counter,
    faults: Counter,
}

/// A request that is counted at its end, also if its client leaves or its handler breaks.
pub struct RunningRequest<'a> {
    metrics: &'a HttpMetrics,
    method: &'static str,
    route: Cow<'static, str>,
    began: Instant,
    status: Option<StatusCode>,
}

impl HttpMetrics {
    pub(super) fn new(list: &mut MetricList) -> Self {
        let times = Histograms::new_with_constructor((|| Histogram::new(SHORT_TIMES)) as fn() -> Histogram);
        Self {
            requests: list.add_family(
                "notarium_http_requests_total",
                "Requests by method, pattern of the path and class of the status; none: the client left first",
                &["method", "route", "status"],
                Counters::default(),
            ),
            times: list.add_family(
                "notarium_http_request_seconds",
                "Time of a request until its answer begins, by method and pattern of the path",
                &["method", "route"],
                times,
            ),
            sockets: list.add("notarium_sockets", "Sockets that are open", Gauge::default()),
            opened_sockets: list.add("notarium_sockets_opened_total", "Sockets that were opened", Counter::default()),
            faults: list.add(
                "notarium_faults_total",
                "Answers with an error id: faults of the server and of its store",
                Counter::default(),
            ),
        }
    }

    /// Begins a request. `route`: the pattern of its path, absent if no route has it.
    pub fn begin(&self, method: &Method, route: Option<&str>) -> RunningRequest<'_> {
        let route = route.map_or(Cow::Borrowed(OTHER), |route| Cow::Owned(route.to_owned()));
        RunningRequest { metrics: self, method: word(method), route, began: Instant::now(), status: None }
    }

    pub fn fault(&self) {
        self.faults.inc();
    }

    /// Counts a socket, until the value is dropped.
    pub fn socket(&self) -> OpenSocket {
        self.opened_sockets.inc();
        self.sockets.inc();
        OpenSocket(self.sockets.clone())
    }
}

/// A socket that is counted as open.
pub struct OpenSocket(Gauge);

impl Drop for OpenSocket {
    fn drop(&mut self) {
        self.0.dec();
    }
}

impl RunningRequest<'_> {
    /// Notes the status of the answer.
    pub fn answered(&mut self, status: StatusCode) {
        self.status = Some(status);
    }
}

impl Drop for RunningRequest<'_> {
    fn drop(&mut self) {
        let method = ("method", Cow::Borrowed(self.method));
        let route = ("route", std::mem::take(&mut self.route));
        self.metrics.times.get_or_create(&[method.clone(), route.clone()]).observe_time(self.began.elapsed());
        self.metrics.requests.get_or_create(&[method, route, ("status", Cow::Borrowed(class(self.status)))]).inc();
    }
}

fn class(status: Option<StatusCode>) -> &'static str {
    match status.map(|status| status.as_u16() / 100) {
        Some(1) => "1xx",
        Some(2) => "2xx",
        Some(3) => "3xx",
        Some(4) => "4xx",
        Some(5) => "5xx",
        _ => "none",
    }
}

/// Method as a label: clients may send any word.
fn word(method: &Method) -> &'static str {
    match *method {
        Method::GET => "GET",
        Method::HEAD => "HEAD",
        Method::POST => "POST",
        Method::PUT => "PUT",
        Method::PATCH => "PATCH",
        Method::DELETE => "DELETE",
        Method::OPTIONS => "OPTIONS",
        _ => OTHER,
    }
}
