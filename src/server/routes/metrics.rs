//! The route for Prometheus. It reads what is so now, and sends all metrics of the server: nothing about a notebook or a person.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::{HeaderMap, header};
use notarium_core::wire_word;
use rustix::process::{Resource, getrlimit};

use super::health;
use crate::agents::MachineLoads;
use crate::app::App;
use crate::metrics::{Readings, older_format, set, whole};
use crate::rooms::snapshot;

const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";
const OLDER: &str = "text/plain; version=0.0.4";
/// Time that the database has to tell its size.
const SIZE_WITHIN: Duration = Duration::from_secs(2);

pub(super) async fn metrics(State(app): State<App>, headers: HeaderMap) -> Response {
    let metrics = &app.rooms.metrics;
    read_rooms(&app, &metrics.now);
    read_agents(&app.agents.loads(), &metrics.now);
    read_cluster(&app, &metrics.now);
    read_sizes(&app, &metrics.now).await;
    read_process(&metrics.now);
    for (certificate, until) in app.certificates.ends() {
        let ends = metrics.now.certificate_ends.get_or_create_owned(&[("certificate", certificate.into())]);
        ends.set(until.timestamp());
    }
    for check in health::checks(&app).await {
        let problems = metrics.now.problems.get_or_create_owned(&[("part", wire_word(&check.part).into())]);
        problems.set(whole(check.problems.len() as u64));
    }
    let accepts = |kind: &str| {
        let accepted = headers.get_all(header::ACCEPT).iter().filter_map(|value| value.to_str().ok());
        accepted.flat_map(|list| list.split(',')).any(|entry| entry.trim_start().starts_with(kind))
    };
    let text = metrics.open_metrics();
    match accepts("application/openmetrics-text") {
        true => ([(header::CONTENT_TYPE, OPEN_METRICS)], text).into_response(),
        false => ([(header::CONTENT_TYPE, OLDER)], older_format(&text)).into_response(),
    }
}

fn read_rooms(app: &App, now: &Readings) {
    let copy = |from: &AtomicU64| from.load(Ordering::Relaxed);
    now.checks.inner().store(copy(&app.checks.answered), Ordering::Relaxed);
    now.check_differences.inner().store(copy(&app.checks.differed), Ordering::Relaxed);
    now.damaged_snapshots.inner().store(snapshot::damaged(), Ordering::Relaxed);
    now.open_notebooks.set(whole(app.rooms.open_count() as u64));
    let (work, leases) = app.rooms.metrics.rooms.open.sum();
    now.leases.set(whole(leases as u64));
    set(&now.runs, "state", "queued", work.queued_runs);
    set(&now.runs, "state", "running", work.running_runs);
    set(&now.kernels, "state", "starting", work.starting_kernels);
    set(&now.kernels, "state", "running", work.running_kernels);
    now.turns.set(whole(work.turns as u64));
    now.waiting_calls.set(whole(work.waiting_calls as u64));
    now.waiting_launches.set(whole(app.agents.waiting_launches() as u64));
}

fn read_agents(loads: &MachineLoads, now: &Readings) {
    now.agents.set(whole(loads.agents as u64));
    now.agent_cores.set(whole(loads.cores));
    now.agent_busy_cores.set(loads.busy_cores);
    now.agent_memory.set(whole(loads.memory_bytes));
    now.agent_used_memory.set(whole(loads.used_memory_bytes));
    now.agent_gpus.set(whole(loads.gpus));
    now.agent_busy_gpus.set(loads.busy_gpus);
}

fn read_cluster(app: &App, now: &Readings) {
    let others = app.cluster.others();
    let own = usize::from(app.cluster.is_draining());
    let draining = others.iter().filter(|node| node.is_draining).count() + own;
    set(&now.nodes, "state", "living", others.len() + 1 - draining);
    set(&now.nodes, "state", "draining", draining);
    now.cut_off.set(i64::from(app.cluster.is_cut_off()));
    now.clock_difference.set(health::clock_difference(app) as f64 / 1e3);
}

async fn read_sizes(app: &App, now: &Readings) {
    let used = app.usage.total();
    now.log_bytes.set(whole(used.log_bytes));
    now.blob_bytes.set(whole(used.blob_bytes));
    if let Ok(Ok(Some(bytes))) = tokio::time::timeout(SIZE_WITHIN, app.store.size_bytes()).await {
        now.store_bytes.set(whole(bytes));
    }
    if let Some(disk) = app.disks.first()
        && let Some(space) = disk.space().await
    {
        now.disk_bytes.set(whole(space.bytes));
        now.free_disk_bytes.set(whole(space.free_bytes));
    }
}

/// Reads Linux' numbers of this process. Elsewhere they stay 0.
fn read_process(now: &Readings) {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let resident =
        status.lines().find_map(|line| line.strip_prefix("VmRSS:")?.trim().strip_suffix(" kB")?.parse().ok());
    now.memory.set(whole(resident.unwrap_or(0_u64) << 10));
    let open = std::fs::read_dir("/proc/self/fd").map_or(0, |files| files.count());
    now.open_files.set(whole(open as u64));
    now.max_files.set(whole(getrlimit(Resource::Nofile).current.unwrap_or_default()));
}
