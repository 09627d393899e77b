//! Gauges of what is so now, set before each scrape.

use std::sync::atomic::AtomicU64;
use std::time::{SystemTime, UNIX_EPOCH};

use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;

use super::{MetricLabels, MetricList, begin_at_zero};

type Gauges = Family<MetricLabels<1>, Gauge>;
type Seconds = Gauge<f64, AtomicU64>;

macro_rules! readings {
    ($($field:ident: $kind:ty = $name:literal $(by $label:literal)?, $help:literal;)*) => {
        /// Values that are read at each scrape.
        #[derive(Debug)]
        pub struct Readings { $(#[doc = $help] pub $field: $kind,)* }

        impl Readings {
            fn listed(list: &mut MetricList) -> Self {
                Self { $($field: list.add_family($name, $help, &[$($label)?], <$kind>::default()),)* }
            }
        }
    };
}

readings! {
    open_notebooks: Gauge = "notarium_open_notebooks", "Notebooks that are open at this server";
    checks: Counter = "notarium_checks_total", "Checks of a client's state against the notebook's";
    damaged_snapshots: Counter = "notarium_damaged_snapshots_total", "Snapshots that were damaged and rebuilt";
    check_differences: Counter = "notarium_check_differences_total", "Checks that found a client's state to differ";
    leases: Gauge = "notarium_leases", "Notebooks whose lease this server holds";
    runs: Gauges = "notarium_runs" by "state", "Runs that have not ended, by state: queued or running";
    kernels: Gauges = "notarium_kernels" by "state", "Kernels by state: starting or running";
    turns: Gauge = "notarium_turns", "Turns of assistants that have not ended";
    waiting_calls: Gauge = "notarium_tool_calls_waiting", "Tool calls that wait for a person";
    waiting_launches: Gauge = "notarium_kernel_launches_waiting", "Kernel launches that no runtime agent has claimed";
    agents: Gauge = "notarium_agents", "Runtime agents that are connected";
    agent_cores: Gauge = "notarium_agent_cores", "Processors of the connected agents' machines";
    agent_busy_cores: Seconds = "notarium_agent_busy_cores", "Processors in use on the connected agents' machines";
    agent_memory: Gauge = "notarium_agent_memory_bytes", "Main memory of the connected agents' machines";
    agent_used_memory: Gauge = "notarium_agent_used_memory_bytes", "Main memory in use on the connected agents' machines";
    agent_gpus: Gauge = "notarium_agent_gpus", "Graphics processors of the connected agents' machines";
    agent_busy_gpus: Seconds = "notarium_agent_busy_gpus", "Graphics processors in use on the connected agents' machines";
    store_bytes: Gauge = "notarium_store_bytes", "Bytes of the database on its disk";
    log_bytes: Gauge = "notarium_log_bytes", "Bytes of the records of notebooks, as quotas count them";
    blob_bytes: Gauge = "notarium_blob_bytes", "Bytes of large outputs, as quotas count them";
    disk_bytes: Gauge = "notarium_disk_bytes", "Size of the disk with the data folder";
    free_disk_bytes: Gauge = "notarium_disk_free_bytes", "Bytes of that disk that the server can still use";
    nodes: Gauges = "notarium_nodes" by "state", "Nodes of the cluster that this one sees, by state: living or draining";
    cut_off: Gauge = "notarium_cut_off", "1 if this node cannot reach the store and serves no notebook";
    clock_difference: Seconds = "notarium_clock_difference_seconds", "Seconds by which this machine's clock is ahead of the database's";
    problems: Gauges = "notarium_problems" by "part", "Problems that /readyz lists, by part: store, disk, damage, lease, clock, certificates";
    certificate_ends: Gauges = "notarium_certificate_expires_seconds" by "certificate", "Time at which a certificate expires, in seconds since 1970, by certificate: server or node";
    memory: Gauge = "process_resident_memory_bytes", "Memory of the server's process";
    open_files: Gauge = "process_open_fds", "Open files and connections of the server's process";
    max_files: Gauge = "process_max_fds", "Files and connections that the process may open";
    started: Seconds = "process_start_time_seconds", "Time of the server's start, in seconds since 1970";
    release: Gauges = "notarium_build_info" by "version", "1, with the server's release";
}

impl Readings {
    pub(super) fn new(list: &mut MetricList) -> Self {
        let readings = Self::listed(list);
        begin_at_zero(&readings.runs, "state", ["queued", "running"]);
        begin_at_zero(&readings.kernels, "state", ["starting", "running"]);
        begin_at_zero(&readings.nodes, "state", ["living", "draining"]);
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        readings.started.set(since.as_secs_f64());
        set(&readings.release, "version", env!("CARGO_PKG_VERSION"), 1);
        readings
    }
}

/// Sets a gauge of a family with one label.
pub(crate) fn set(gauges: &Gauges, label: &'static str, value: &'static str, number: usize) {
    gauges.get_or_create(&[(label, value.into())]).set(whole(number as u64));
}

/// A number as gauges have it.
pub(crate) fn whole(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
