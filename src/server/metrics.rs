//! Metrics for Prometheus: typed families in [`Metrics`], one for each server. There is no recorder for the whole process.
//!
//! **Invariants.** A label is a word of a list that the program knows: never a notebook, a person, a token, or a text that comes from
//! outside. Counting adds to atomics, and what is read anew at each scrape is set by `routes/metrics.rs`.

mod forwards;
mod http;
mod models;
mod now;
mod open_rooms;
mod rooms;
mod work;

use std::borrow::Cow;

use notarium_store::CommitMetrics;
use prometheus_client::encoding::text;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::{Family, MetricConstructor};
use prometheus_client::metrics::{MetricType, TypedMetric};
use prometheus_client::registry::{Metric, Registry};

use notarium_telemetry::Histogram;

pub use forwards::{ForwardMetrics, ForwardOutcome, ForwardedThing};
pub use http::HttpMetrics;
pub use models::ModelMetrics;
pub use now::Readings;
pub(crate) use now::{set, whole};
pub use open_rooms::{OpenRooms, RoomWork};
pub use rooms::RoomMetrics;
pub use work::{CommittedWork, WorkMetrics};

/// Names and values of labels.
pub(crate) type MetricLabels<const N: usize> = [(&'static str, Cow<'static, str>); N];
pub(crate) type Counters<const N: usize> = Family<MetricLabels<N>, Counter>;
pub(crate) type Histograms<const N: usize> = Family<MetricLabels<N>, Histogram, fn() -> Histogram>;

/// Value of a label that is none of the known words.
pub(crate) const OTHER: &str = "other";

/// Name, type and meaning of a metric, for the page of the operators and for tests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MetricDescription {
    /// Name in queries: counters with `_total`.
    pub name: &'static str,
    pub kind: &'static str,
    pub labels: &'static [&'static str],
    pub help: &'static str,
}

/// Metrics of a server.
#[derive(Debug)]
pub struct Metrics {
    pub http: HttpMetrics,
    pub rooms: RoomMetrics,
    pub work: WorkMetrics,
    pub forwards: ForwardMetrics,
    /// Values that are read at each scrape.
    pub now: Readings,
    registry: Registry,
    descriptions: Vec<MetricDescription>,
}

impl Default for Metrics {
    fn default() -> Self {
        Self::new(CommitMetrics::default())
    }
}

impl Metrics {
    /// `commits`: the measurements of the store's writer.
    pub fn new(commits: CommitMetrics) -> Self {
        let mut list = MetricList::default();
        let http = HttpMetrics::new(&mut list);
        let rooms = RoomMetrics::new(&mut list);
        commit_metrics(&mut list, commits);
        let work = WorkMetrics::new(&mut list);
        let forwards = ForwardMetrics::new(&mut list);
        let now = Readings::new(&mut list);
        let MetricList { registry, descriptions } = list;
        Self { http, rooms, work, forwards, now, registry, descriptions }
    }

    /// The text of a scrape, in the format OpenMetrics.
    pub fn open_metrics(&self) -> String {
        let mut metrics = String::new();
        // Writing to a text does not fail.
        let _ = text::encode(&mut metrics, &self.registry);
        metrics
    }

    /// Every metric, in the order of a scrape. One without a value yet is not in a scrape.
    pub fn descriptions(&self) -> &[MetricDescription] {
        &self.descriptions
    }
}

fn commit_metrics(list: &mut MetricList, commits: CommitMetrics) {
    let CommitMetrics { queue_waits, batch_times, failed_batch_times, batch_appends, batch_events, batch_bytes } =
        commits;
    list.add("notarium_commit_queue_wait_seconds", "Time that an append waits for its batch", queue_waits);
    list.add("notarium_commit_batch_seconds", "Time of a batch of appends until it is on disk", batch_times);
    list.add("notarium_commit_failed_batch_seconds", "Time of a batch that was not written", failed_batch_times);
    list.add("notarium_commit_batch_appends", "Appends of a batch", batch_appends);
    list.add("notarium_commit_batch_events", "Events of a batch", batch_events);
    list.add("notarium_commit_batch_bytes", "Bytes of the payloads of a batch", batch_bytes);
}

/// Metrics that are being listed.
#[derive(Debug, Default)]
pub(crate) struct MetricList {
    registry: Registry,
    descriptions: Vec<MetricDescription>,
}

impl MetricList {
    /// Adds a metric without labels, by its name in queries.
    fn add<M: Metric + TypedMetric + Clone>(&mut self, name: &'static str, help: &'static str, metric: M) -> M {
        self.add_family(name, help, &[], metric)
    }

    /// Adds a metric with labels, by its name in queries.
    fn add_family<M: Metric + TypedMetric + Clone>(
        &mut self,
        name: &'static str,
        help: &'static str,
        labels: &'static [&'static str],
        metric: M,
    ) -> M {
        let kind = match M::TYPE {
            MetricType::Counter => "counter",
            MetricType::Histogram => "histogram",
            _ => "gauge",
        };
        self.descriptions.push(MetricDescription { name, kind, labels, help });
        // The encoder adds it again.
        self.registry.register(name.strip_suffix("_total").unwrap_or(name), help, metric.clone());
        metric
    }

    fn histogram(&mut self, name: &'static str, help: &'static str, scale: notarium_telemetry::Scale) -> Histogram {
        self.add(name, help, Histogram::new(scale))
    }
}

/// Makes the series of these values, so that they are 0 before their first event.
pub(crate) fn begin_at_zero<M, C: MetricConstructor<M>>(
    family: &Family<MetricLabels<1>, M, C>,
    label: &'static str,
    values: impl IntoIterator<Item = impl Into<Cow<'static, str>>>,
) {
    for value in values {
        drop(family.get_or_create(&[(label, value.into())]));
    }
}

/// Turns OpenMetrics into Prometheus' older text format, for readers that accept that alone.
pub fn older_format(open_metrics: &str) -> String {
    let mut older = String::with_capacity(open_metrics.len());
    let mut help = "";
    for line in open_metrics.lines() {
        if line.starts_with("# HELP ") {
            help = line;
            continue;
        }
        if let Some(described) = line.strip_prefix("# TYPE ") {
            let (name, kind) = described.split_once(' ').unwrap_or((described, ""));
            let suffix = if kind == "counter" { "_total" } else { "" };
            let said = help.strip_prefix("# HELP ").and_then(|help| help.split_once(' ')).map_or("", |(_, said)| said);
            older.push_str(&format!("# HELP {name}{suffix} {said}\n# TYPE {name}{suffix} {kind}\n"));
        } else if !line.starts_with('#') {
            older.push_str(line);
            older.push('\n');
        }
    }
    older
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_formats_name_the_same_series() {
        let metrics = Metrics::default();
        metrics.rooms.acked.inc();
        let new = metrics.open_metrics();
        assert!(new.contains("# TYPE notarium_commands counter\n"), "{new}");
        assert!(new.contains("notarium_commands_total{outcome=\"ack\"} 1\n") && new.ends_with("# EOF\n"), "{new}");
        let older = older_format(&new);
        assert!(older.contains("# TYPE notarium_commands_total counter\n") && !older.contains("EOF"), "{older}");
        let series = |text: &str| text.lines().filter(|line| !line.starts_with('#')).count();
        assert_eq!(series(&new), series(&older));
    }

    #[test]
    fn each_metric_is_named_once_and_by_the_rules() {
        let metrics = Metrics::default();
        let mut names: Vec<&str> = metrics.descriptions().iter().map(|described| described.name).collect();
        for MetricDescription { name, kind, help, .. } in metrics.descriptions() {
            assert_eq!(*kind == "counter", name.ends_with("_total"), "{name}");
            assert!(name.starts_with("notarium_") || name.starts_with("process_"), "{name}");
            assert!(!help.ends_with('.') && !help.is_empty(), "{name}: the encoder adds the full stop");
        }
        names.sort_unstable();
        let count = names.len();
        names.dedup();
        assert_eq!(names.len(), count);
    }
}
