//! The kernel's process group: signals, exit, and the end of its output.

use std::collections::VecDeque;
use std::os::unix::process::ExitStatusExt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::{Child, Command};
use tokio::sync::watch;
use tokio::task::JoinHandle;

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
pub(super) type ExitReceiver = watch::Receiver<Option<ProcessExit>>;

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
    /// ends when its input is closed, and so with this process; other programs get no input.
    pub fn spawn(command: &mut Command, launcher_stays: bool) -> std::io::Result<Self> {
        use std::process::Stdio;
        let input = if launcher_stays { Stdio::piped() } else { Stdio::null() };
        command.process_group(0).kill_on_drop(true).stdin(input).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn()?;
        let id = child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
        let leader = id.ok_or_else(|| std::io::Error::other("the process ended before it had an id"))?;
        let tail = Tail::default();
        let readers = [tail.follow(child.stdout.take()), tail.follow(child.stderr.take())];
        let (sender, exit) = watch::channel(None);
        tokio::spawn(reap(child, leader, readers, tail, sender));
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

async fn reap(
    mut child: Child,
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
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.extend(bytes);
        let excess = kept.len().saturating_sub(TAIL_BYTES);
        kept.drain(..excess);
    }

    fn text(&self) -> String {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(kept.make_contiguous()).trim().to_owned()
    }
}
