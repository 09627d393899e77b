//! Health of the server by part: store, disk, damage, lease, clock and certificates. Public sentences: the log names paths and reasons.

use std::time::Duration;

use notarium_wire::rest::{HealthCheck, HealthPart};

use crate::app::App;
use crate::disks::DiskSpace;

/// Difference of clocks that is reported.
const MAX_CLOCK_DIFFERENCE: Duration = Duration::from_secs(5);

/// Checks every part. A part without problems is in order.
pub async fn checks(app: &App) -> Vec<HealthCheck> {
    let damage = app.store.damage();
    let troubles = app.store.troubles().into_iter().filter(|trouble| !damage.contains(trouble));
    let damage = damage.iter().map(|&found| found.to_owned()).chain(app.rooms.unreadable.problem());
    let check = |part, problems: Vec<String>| HealthCheck { part, problems };
    vec![
        check(HealthPart::Store, troubles.map(str::to_owned).collect()),
        check(HealthPart::Disk, disk_problems(app).await),
        check(HealthPart::Damage, damage.collect()),
        check(HealthPart::Lease, lease_problem(app.rooms.metrics.rooms.open.without_lease()).into_iter().collect()),
        check(HealthPart::Clock, clock_problem(clock_difference(app)).into_iter().collect()),
        check(HealthPart::Certificates, app.certificates.problems()),
    ]
}

async fn disk_problems(app: &App) -> Vec<String> {
    let mut problems = Vec::new();
    for disk in &app.disks {
        match disk.space().await {
            Some(space) => problems.extend(space_problem(disk.name, space, app.limits.min_free_disk_bytes)),
            None => problems.push(format!("the disk of {} does not answer: is it mounted?", disk.name)),
        }
    }
    problems
}

fn space_problem(name: &str, space: DiskSpace, min_free_bytes: u64) -> Option<String> {
    (space.free_bytes < min_free_bytes).then(|| {
        let (left, wanted) = (space.free_bytes >> 20, min_free_bytes >> 20);
        format!("the disk of {name} has {left} MiB left, less than {wanted} MiB: make room, or writes will be refused")
    })
}

fn lease_problem(count: usize) -> Option<String> {
    let notebooks = if count == 1 { "1 notebook is".to_owned() } else { format!("{count} notebooks are") };
    (count > 0)
        .then(|| format!("{notebooks} read-only here, because the lease could not be taken: the log has the reason"))
}

/// Milliseconds by which this machine's clock is ahead of the database's. Without one: of what the clock showed before it was set back.
pub fn clock_difference(app: &App) -> i64 {
    app.cluster.clock_ahead().unwrap_or_else(|| -app.clock.ahead_of_wall())
}

fn clock_problem(ahead_ms: i64) -> Option<String> {
    let difference = Duration::from_millis(ahead_ms.unsigned_abs());
    let way = if ahead_ms > 0 { "ahead of" } else { "behind" };
    (difference > MAX_CLOCK_DIFFERENCE).then(|| {
        let seconds = difference.as_secs();
        format!("this machine's clock is {seconds} s {way} the record's: set it, for instance with NTP")
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use async_trait::async_trait;
    use notarium_core::{Epoch, InstanceId, NotebookId};
    use notarium_store::StoreError;

    use super::*;
    use crate::cluster::tests::{ours, run};
    use crate::cluster::{ClaimError, Cluster, ClusterNotice, SingleNode};
    use crate::server::{Storage, scratch};
    use crate::{Server, ServerConfig};

    /// A node that gets no lease.
    struct WithoutLeases(Arc<SingleNode>);

    #[async_trait]
    impl Cluster for WithoutLeases {
        fn instance(&self) -> &InstanceId {
            self.0.instance()
        }

        async fn owner(&self, notebook: &NotebookId) -> Result<InstanceId, StoreError> {
            self.0.owner(notebook).await
        }

        async fn claim(&self, _: &NotebookId) -> Result<Epoch, ClaimError> {
            Err(StoreError::Unavailable { reason: "planted".to_owned() }.into())
        }

        fn notify(&self, notice: ClusterNotice) {
            self.0.notify(notice);
        }
    }

    #[tokio::test]
    async fn a_notebook_without_its_lease_and_a_full_disk_are_problems_of_their_parts() {
        let mut config = ServerConfig::in_folder(scratch::folder());
        config.limits.min_free_disk_bytes = 0;
        let before = Server::start(config.clone()).await.unwrap();
        run(&before, &ours(), "1", r#"{"CreateNotebook":{"title":"T","metadata":{}}}"#).await;
        let in_order = checks(before.app()).await;
        assert!(in_order.iter().all(|check| check.problems.is_empty()), "{in_order:?}");
        before.shut_down().await;
        config.limits.min_free_disk_bytes = u64::MAX;
        let storage = Storage::open(&config).await.unwrap();
        let (node, notices) = SingleNode::new(storage.events.clone(), None);
        let server = Server::start_node(&config, storage, Arc::new(WithoutLeases(node)), notices).await.unwrap();
        server.app().read_by_server(&ours()).await.unwrap();
        let found = checks(server.app()).await;
        let named = |part| found.iter().find(|check| check.part == part).unwrap().problems.join(" ");
        assert!(named(HealthPart::Lease).starts_with("1 notebook is read-only here"), "{found:?}");
        assert!(named(HealthPart::Disk).contains("the disk of the data folder has"), "{found:?}");
        server.shut_down().await;
    }

    #[test]
    fn a_full_disk_a_wrong_clock_and_lost_leases_are_named() {
        let space = DiskSpace { bytes: 100 << 30, free_bytes: 10 << 20 };
        let said = space_problem("the data folder", space, 256 << 20).unwrap();
        assert!(said.contains("10 MiB left, less than 256 MiB"), "{said}");
        assert_eq!(space_problem("the data folder", space, 10 << 20), None);
        assert_eq!((clock_problem(5_000), clock_problem(-5_000), lease_problem(0)), (None, None, None));
        assert!(clock_problem(61_000).unwrap().contains("61 s ahead of"));
        assert!(clock_problem(-61_000).unwrap().contains("61 s behind"));
        assert!(lease_problem(1).unwrap().starts_with("1 notebook is read-only"));
        assert!(lease_problem(2).unwrap().starts_with("2 notebooks are read-only"));
    }
}
