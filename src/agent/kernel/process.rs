//! The kernel's processes: signals to their group, exit, the end of their output, and their use of memory and processors.

use std::collections::{BTreeMap, VecDeque};
use std::os::fd::OwnedFd;
use std::os::unix::process::ExitStatusExt;
use std::sync::Arc;
use std::time::Duration;

use notarium_wire::KernelUsage;
use parking_lot::Mutex;
use rustix::process::{Pid, Signal, kill_process_group};
use sysinfo::{ProcessRefreshKind, ProcessesToUpdate, System};
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::{Child, Command};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::{Interval, MissedTickBehavior, interval};

/// Bytes of the process's own output that are kept to explain its exit.
const TAIL_BYTES: usize = 16 << 10;
/// Timeout for the last output of an exited process, in case another process holds its pipes open.
const TAIL_TIMEOUT: Duration = Duration::from_millis(200);

/// Exit status of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExitStatus {
    Code(i32),
    /// The number of the signal.
    Signal(i32),
}

impl std::fmt::Display for ExitStatus {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Code(code) => write!(formatter, "exited with code {code}"),
            Self::Signal(9) => {
                formatter.write_str("was killed by signal 9 (SIGKILL), as the system does when memory runs out")
            }
            Self::Signal(6) => formatter.write_str("was ended by signal 6 (SIGABRT)"),
            Self::Signal(11) => formatter.write_str("crashed with signal 11 (SIGSEGV)"),
            Self::Signal(15) => formatter.write_str("was ended by signal 15 (SIGTERM)"),
            Self::Signal(signal) => write!(formatter, "was ended by signal {signal}"),
        }
    }
}

/// The exit of a process, and the end of its standard output and error.
#[derive(Debug, Clone)]
pub(super) struct ProcessExit {
    pub status: ExitStatus,
    pub output_tail: String,
}

/// Receives the exit of a process.
type ExitReceiver = watch::Receiver<Option<ProcessExit>>;

/// Waits for the exit.
pub(super) async fn exited(receiver: &mut ExitReceiver) -> ProcessExit {
    match receiver.wait_for(Option::is_some).await.map(|exit| exit.clone()) {
        Ok(Some(exit)) => exit,
        // The runtime is shutting down: the reaper and the process have ended.
        _ => ProcessExit { status: ExitStatus::Signal(9), output_tail: String::new() },
    }
}

/// A process group that can be signalled until its leader has exited.
#[derive(Debug, Clone)]
pub(super) struct ProcessGroup {
    leader: Pid,
    /// Exit of the leader.
    pub exit: ExitReceiver,
}

impl ProcessGroup {
    /// Interrupts the whole group, as Jupyter does: the leader may be a wrapper, and the code may have started programs.
    pub fn interrupt(&self) -> bool {
        self.signal(Signal::INT)
    }

    /// Kills the whole group.
    pub fn kill(&self) {
        self.signal(Signal::KILL);
    }

    /// Returns true if the signal was sent; false if the process has ended.
    fn signal(&self, signal: Signal) -> bool {
        self.exit.borrow().is_none() && kill_process_group(self.leader, signal).is_ok()
    }

    pub fn id(&self) -> u32 {
        self.leader.as_raw_pid().unsigned_abs()
    }
}

/// A process that leads its own group. Dropping it kills the group.
#[derive(Debug)]
pub(super) struct KernelProcess {
    pub group: ProcessGroup,
}

impl KernelProcess {
    /// Starts `command` as the leader of a new process group and keeps the tail of its output. A launcher that stays beside the kernel
    /// ends when its input is closed, and so with this process.
    pub fn spawn(command: &mut Command, input: ProcessInput) -> std::io::Result<Self> {
        use std::process::Stdio;
        let (input, open_end) = match input {
            ProcessInput::None => (Stdio::null(), None),
            ProcessInput::Open => (Stdio::piped(), None),
            ProcessInput::Socket { theirs, ours } => (theirs.into(), Some(ours)),
        };
        command.process_group(0).kill_on_drop(true).stdin(input).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn()?;
        let id = child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
        let leader = id.ok_or_else(|| std::io::Error::other("the process ended before it had an id"))?;
        let tail = Tail::default();
        let readers = [tail.follow(child.stdout.take()), tail.follow(child.stderr.take())];
        let (sender, exit) = watch::channel(None);
        tokio::spawn(reap(child, open_end, leader, readers, tail, sender));
        Ok(Self { group: ProcessGroup { leader, exit } })
    }

    /// Waits up to `timeout` for the exit, then sends SIGTERM, waits again and sends SIGKILL.
    pub async fn stop(&self, timeout: Duration) {
        let mut exit = self.group.exit.clone();
        for signal in [Signal::TERM, Signal::KILL] {
            if tokio::time::timeout(timeout, exited(&mut exit)).await.is_ok() {
                return;
            }
            self.group.signal(signal);
        }
        exited(&mut exit).await;
    }
}

impl Drop for KernelProcess {
    fn drop(&mut self) {
        self.group.kill();
    }
}

/// Standard input of a process.
#[derive(Debug)]
pub(super) enum ProcessInput {
    None,
    /// Nothing comes, and it is closed when the process has ended.
    Open,
    /// The same with a socket, whose other end the process's supervisor shares.
    Socket {
        theirs: OwnedFd,
        ours: OwnedFd,
    },
}

async fn reap(
    mut child: Child,
    _open_end: Option<OwnedFd>,
    group: Pid,
    readers: [JoinHandle<()>; 2],
    tail: Tail,
    sender: watch::Sender<Option<ProcessExit>>,
) {
    // Kept open, because `wait` would close it.
    let _launchers = child.stdin.take();
    let status = match child.wait().await {
        Ok(status) => status.signal().map_or(ExitStatus::Code(status.code().unwrap_or(-1)), ExitStatus::Signal),
        Err(_) => ExitStatus::Code(-1),
    };
    // Kills the other processes of the kernel's group. An empty group is no error.
    let _ = kill_process_group(group, Signal::KILL);
    let _ = tokio::time::timeout(TAIL_TIMEOUT, futures_util::future::join_all(readers)).await;
    sender.send_replace(Some(ProcessExit { status, output_tail: tail.text() }));
}

#[derive(Debug, Clone, Default)]
struct Tail(Arc<Mutex<VecDeque<u8>>>);

impl Tail {
    fn follow(&self, pipe: Option<impl AsyncRead + Unpin + Send + 'static>) -> JoinHandle<()> {
        let tail = self.clone();
        tokio::spawn(async move {
            let Some(mut pipe) = pipe else { return };
            let mut buffer = vec![0; 4096];
            while let Ok(count @ 1..) = pipe.read(&mut buffer).await {
                tail.push(&buffer[..count]);
            }
        })
    }

    fn push(&self, bytes: &[u8]) {
        let mut kept = self.0.lock();
        kept.extend(bytes);
        let excess = kept.len().saturating_sub(TAIL_BYTES);
        kept.drain(..excess);
    }

    fn text(&self) -> String {
        let mut kept = self.0.lock();
        String::from_utf8_lossy(kept.make_contiguous()).trim().to_owned()
    }
}

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
        system.process(sysinfo::Pid::from_u32(root))?;
        let parents = system.processes().iter().map(|(id, process)| (*id, process.parent())).collect();
        let generation = |id| generation(&parents, id, sysinfo::Pid::from_u32(root));
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
