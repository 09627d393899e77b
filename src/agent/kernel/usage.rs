//! Memory and processor use of a kernel and its child processes, measured while a client follows it.

use std::collections::BTreeMap;
use std::time::Duration;

use notarium_wire::KernelUsage;
use sysinfo::{Pid, ProcessRefreshKind, ProcessesToUpdate, System};
use tokio::sync::watch;
use tokio::time::{Interval, MissedTickBehavior, interval};

/// Time between two measurements.
const PERIOD: Duration = Duration::from_secs(3);
/// Longest chain of parents: ids can be reused while they are read, which could make a cycle.
const MAX_GENERATIONS: usize = 100;

/// Measures one kernel repeatedly while measurements are wanted.
pub(crate) struct Meter {
    wanted: watch::Receiver<bool>,
    timer: Interval,
    /// `None` if the system offers no such data.
    system: Option<System>,
    /// Process of the last measurement: processor use needs two of the same process.
    measured: Option<u32>,
}

impl Meter {
    pub fn new(wanted: watch::Receiver<bool>) -> Self {
        let mut timer = interval(PERIOD);
        timer.set_missed_tick_behavior(MissedTickBehavior::Delay);
        Self { wanted, timer, system: System::new().ok(), measured: None }
    }

    /// Waits until the next measurement is due. Cancel safe.
    pub async fn due(&mut self) {
        loop {
            if *self.wanted.borrow_and_update() {
                tokio::select! {
                    _ = self.timer.tick() => return,
                    _ = self.wanted.changed() => {}
                }
            } else if self.wanted.changed().await.is_ok() {
                self.timer.reset_immediately();
            } else {
                return std::future::pending().await;
            }
        }
    }

    /// Measures a process and its descendants, except the first `without` generations. `None`: the process has ended.
    pub fn measure(&mut self, root: u32, without: usize) -> Option<KernelUsage> {
        let what = ProcessRefreshKind::nothing().with_memory().with_cpu().without_tasks();
        let system = self.system.as_mut()?;
        system.refresh_processes_specifics(ProcessesToUpdate::All, true, what);
        let has_cpu = self.measured.replace(root) == Some(root);
        system.process(Pid::from_u32(root))?;
        let parents = system.processes().iter().map(|(id, process)| (*id, process.parent())).collect();
        let generation = |id| generation(&parents, id, Pid::from_u32(root));
        let tree = system.processes().iter().filter(|(id, _)| generation(**id).is_some_and(|own| own >= without));
        let (memory_bytes, cpu) =
            tree.fold((0, 0.0), |(memory, cpu), (_, process)| (memory + process.memory(), cpu + process.cpu_usage()));
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a few thousand at most")]
        let cpu_percent = has_cpu.then_some(cpu.round() as u32);
        Some(KernelUsage { memory_bytes, cpu_percent })
    }
}

/// Generations between a process and its ancestor `root`.
fn generation<Id: Ord + Copy>(parents: &BTreeMap<Id, Option<Id>>, id: Id, root: Id) -> Option<usize> {
    let parent = |id: &Id| parents.get(id).copied().flatten();
    std::iter::successors(Some(id), parent).take(MAX_GENERATIONS).position(|ancestor| ancestor == root)
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;

    #[test]
    fn a_process_comes_from_its_ancestors() {
        let parents = BTreeMap::from([(1, None), (2, Some(1)), (3, Some(2)), (4, Some(1)), (5, Some(6)), (6, Some(5))]);
        let found =
            |root| parents.keys().filter_map(|id| Some((*id, generation(&parents, *id, root)?))).collect::<Vec<_>>();
        assert_eq!((found(2), found(4)), (vec![(2, 0), (3, 1)], vec![(4, 0)]));
        assert_eq!(found(1), [(1, 0), (2, 1), (3, 2), (4, 1)]);
    }

    #[tokio::test]
    async fn a_process_is_measured_with_its_children_while_it_is_wanted() {
        let (want, wanted) = watch::channel(false);
        let mut meter = Meter::new(wanted);
        assert!(meter.due().now_or_never().is_none(), "nobody wants it");
        want.send(true).unwrap();
        meter.due().await;
        let alone = meter.measure(std::process::id(), 0).unwrap();
        assert!(alone.memory_bytes > 1 << 20 && alone.cpu_percent.is_none(), "{alone:?}");
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let own = meter.measure(child.id(), 0).unwrap();
        assert!(own.memory_bytes > 0 && own.memory_bytes < alone.memory_bytes && own.cpu_percent.is_none(), "{own:?}");
        assert!(meter.measure(child.id(), 0).unwrap().cpu_percent.is_some());
        assert_eq!(meter.measure(child.id(), 1).unwrap().memory_bytes, 0, "it has no children");
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(meter.measure(child.id(), 0), None);
        want.send(false).unwrap();
        assert!(meter.due().now_or_never().is_none(), "nobody wants it any more");
    }
}
