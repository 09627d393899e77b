//! Supervisor of one kernel: holds the effects of its runs.
//!
//! The launcher of a kernel installs a filter (`notarium-seccomp`) and hands its listener over. A thread here answers each told
//! call immediately: no call ever waits for a person. It decides by the call's kind and the thread that makes it
//! ([`attribution`]). It reads no memory of the kernel to decide. Paths are read to say what was tried, and to do it here,
//! beneath descriptors that were taken at the start ([`folders`]).
//!
//! **Invariants.** Until the first held run every call passes. The mode of a run is set before its request is sent, and ends when the
//! kernel says that the run is over. If the thread ends, the kernel ends; until it has, told calls fail with ENOSYS.

mod answers;
mod arguments;
mod attribution;
mod folders;
mod held;
mod kinds;
pub(crate) mod launcher;
mod open_things;
mod processes;
mod refusals;
mod signals;
mod sockets;
mod supervised_kernel;

use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use notarium_core::{Effect, Effects};
use parking_lot::Mutex;

use answers::{Answers, AnswersEnd};
use attribution::{Attribution, ThreadId};
use kinds::Kinds;
pub use launcher::Holding;
use open_things::{ConnectedSockets, OwnThings};
use processes::ProcessTree;
pub use refusals::EffectRefusal;
use refusals::Refusals;
pub(crate) use supervised_kernel::SupervisedKernel;

/// State that the supervisor's thread and the kernel's driver share.
#[derive(Debug, Default)]
struct SupervisedState {
    attribution: Attribution,
    refusals: Refusals,
    connections: ConnectedSockets,
    /// The kernel's process, once it has greeted.
    root: Option<u32>,
    /// Processes that told births or programs, by number.
    seen: BTreeSet<u32>,
}

/// Handle to the supervisor of one kernel. Dropping it ends the kernel.
#[derive(Debug)]
pub(crate) struct Supervisor {
    kernel: SupervisedKernel,
    shared: Arc<Mutex<SupervisedState>>,
    /// Ends the processes of the last held run.
    killing: Mutex<Option<JoinHandle<()>>>,
    /// Closed when dropped, which ends the thread.
    stop: UnixStream,
}

impl Supervisor {
    /// Starts the thread, which waits for the listener on `socket`. `end` kills the kernel: it is called when the thread ends
    /// before the kernel.
    pub fn start(
        kernel: SupervisedKernel,
        socket: OwnedFd,
        end: impl FnOnce() + Send + 'static,
    ) -> std::io::Result<Self> {
        let (stop, stopped) = UnixStream::pair()?;
        let shared = Arc::new(Mutex::new(SupervisedState::default()));
        let answers = Answers { kernel: kernel.clone(), shared: shared.clone(), stopped, main: OnceCell::new() };
        let mut end = EndOfKernel(Some(end));
        std::thread::Builder::new().name("supervisor".to_owned()).spawn(move || {
            match answers.run(socket) {
                // Its own process tells the cause.
                Ok(AnswersEnd::KernelEnded) => end.0 = None,
                Ok(AnswersEnd::Stopped) => {}
                Err(error) => tracing::warn!(%error, "a kernel's supervisor ended"),
            }
            // Last, also when the thread panics: the listener is closed by then.
            drop(end);
        })?;
        Ok(Self { kernel, shared, killing: Mutex::default(), stop })
    }

    /// Ends the thread, and so the kernel.
    pub fn stop(&self) {
        // An error means that it has ended.
        let _ = self.stop.shutdown(std::net::Shutdown::Both);
    }

    /// The kernel has started and has run nothing: the threads that it has are its own.
    pub fn kernel_is_ready(&self) {
        let Some(root) = self.shared.lock().root else { return };
        let mut own: Vec<u32> = processes::threads(root);
        let leaders = self.tree(root).leaders(&BTreeSet::new());
        let mut shared = self.shared.lock();
        for leader in leaders.into_iter().filter(|leader| leader.number != root) {
            if self.kernel.runs_in_child {
                shared.attribution.add_main(leader);
            }
            own.push(leader.number);
        }
        shared.attribution.set_own(own);
    }

    /// True if effects of a person's run are refused that its text does not lead to.
    pub fn refuses_surprises(&self) -> bool {
        self.kernel.refuses_surprises
    }

    /// True once a held run has begun. Until then every run is free.
    pub fn is_mixed(&self) -> bool {
        self.shared.lock().attribution.is_mixed()
    }

    /// Begins a run. `Err` names what the kernel holds open, and the run must not begin. Call it when no run, question
    /// or message is with the kernel, except for a free run in a clean kernel, where it waits for nothing. Else it may wait
    /// for some milliseconds, until the processes of the last held run have ended.
    pub fn begin(&self, effects: &Effects) -> Result<(), Vec<String>> {
        // A panic has ended some of them; the others are held.
        let _ = self.killing.lock().take().map(JoinHandle::join);
        let allowed = match effects {
            Effects::Held { allowed } => allowed,
            Effects::Expected { kinds } => {
                let mut shared = self.shared.lock();
                shared.refusals.take();
                shared.attribution.begin_expected(Kinds::of(kinds.iter().copied()));
                return Ok(());
            }
            Effects::Free => {
                self.shared.lock().attribution.begin_free();
                return Ok(());
            }
        };
        let allowed = Kinds::of(allowed.iter().copied());
        if !allowed.has(Effect::Open) {
            let open = self.lastingly_open_things();
            if !open.is_empty() {
                return Err(open);
            }
        }
        self.become_mixed();
        let mut shared = self.shared.lock();
        shared.refusals.take();
        shared.attribution.begin_held(allowed);
        Ok(())
    }

    /// The run in work is over. Returns its refused effects. Processes of a held run end soon after this returns, except Python's
    /// trackers of shared memory.
    pub fn end(&self) -> Vec<EffectRefusal> {
        let mut shared = self.shared.lock();
        let was_held = shared.attribution.end();
        let refused = shared.refusals.take();
        drop(shared);
        if was_held {
            let (shared, kernel) = (self.shared.clone(), self.kernel.clone());
            let killed = std::thread::Builder::new().name("held processes".to_owned());
            match killed.spawn(move || kill_held(&shared, &kernel)) {
                Ok(killing) => *self.killing.lock() = Some(killing),
                Err(error) => tracing::error!(%error, "the processes of a held run stay"),
            }
        }
        refused
    }

    /// Names of what the kernel holds open at each of some looks. A thread in the background may have opened a file for a
    /// moment.
    fn lastingly_open_things(&self) -> Vec<String> {
        let mut open = self.open_things();
        for _ in 1..LOOKS {
            if open.is_empty() || open.len() >= open_things::MAX_LISTED {
                break;
            }
            std::thread::sleep(BETWEEN_LOOKS);
            let now = self.open_things();
            open.retain(|name| now.contains(name));
        }
        open
    }

    /// Names of what the kernel holds open and code can change.
    fn open_things(&self) -> Vec<String> {
        let mut shared = self.shared.lock();
        let Some(root) = shared.root else { return Vec::new() };
        let leaders = self.tree(root).leaders(&shared.seen);
        let living = leaders.into_iter().filter(|leader| processes::is_alive(*leader));
        let processes: Vec<u32> = living.map(|leader| leader.number).collect();
        let mut folders = vec![self.kernel.temporary_folder.clone(), self.kernel.private_folder.clone()];
        if self.kernel.has_namespace {
            folders.push("/dev/shm".into());
        }
        if self.kernel.owns_working_folder {
            folders.push(self.kernel.working_folder.clone());
        }
        let own = OwnThings { folders, ports: self.kernel.ports.clone() };
        open_things::list(&processes, &own, &mut shared.connections)
            .unwrap_or_else(|error| vec![format!("something unknown ({error})")])
    }

    fn become_mixed(&self) {
        let noted = {
            let shared = self.shared.lock();
            if shared.attribution.is_mixed() {
                return;
            }
            shared.attribution.noted()
        };
        let living: Vec<_> = noted.into_iter().filter_map(|number| Some(processes::stat(number)?.thread)).collect();
        let from = processes::next_tick();
        self.shared.lock().attribution.become_mixed(&living, from);
    }

    fn tree(&self, root: u32) -> ProcessTree {
        ProcessTree { root, has_namespace: self.kernel.has_namespace }
    }
}

/// Looks for open things, and the time between two of them.
const LOOKS: usize = 3;
const BETWEEN_LOOKS: Duration = Duration::from_millis(3);

/// Most rounds in which the processes of a held run are killed: they may start others meanwhile.
const MAX_ROUNDS: usize = 20;
const KILL: i32 = 9;

/// Kills the processes of held runs, and waits until the kernel has noticed: a pool whose workers have ended makes new ones
/// only after that.
fn kill_held(shared: &Mutex<SupervisedState>, kernel: &SupervisedKernel) {
    let mut has_killed = false;
    for _ in 0..MAX_ROUNDS {
        let (root, seen) = {
            let shared = shared.lock();
            let Some(root) = shared.root else { return };
            (root, shared.seen.clone())
        };
        let leaders = ProcessTree { root, has_namespace: kernel.has_namespace }.leaders(&seen);
        let mut shared = shared.lock();
        shared.seen = leaders.iter().map(|leader| leader.number).collect();
        let held: Vec<_> = leaders.into_iter().filter(|leader| shared.attribution.is_held_born(*leader)).collect();
        drop(shared);
        // A tracker does nothing but tidy up after the others, and stays held.
        let is_ended =
            |leader: &ThreadId| processes::is_alive(*leader) && !processes::is_resource_tracker(leader.number);
        let held: Vec<_> = held.into_iter().filter(is_ended).collect();
        if held.is_empty() {
            if has_killed {
                processes::wait_for_rest(root);
            }
            return;
        }
        has_killed = true;
        for leader in held {
            processes::signal(leader, KILL);
        }
    }
}

/// Calls its function when dropped.
struct EndOfKernel<End: FnOnce()>(Option<End>);

impl<End: FnOnce()> Drop for EndOfKernel<End> {
    fn drop(&mut self) {
        if let Some(end) = self.0.take() {
            end();
        }
    }
}
