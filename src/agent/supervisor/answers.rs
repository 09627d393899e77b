//! The supervisor's thread: receives told calls one after the other and answers each immediately.

use std::cell::OnceCell;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::sync::Arc;

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use notarium_core::Effect;
use notarium_seccomp::{CallGroup, CallListener, HandedOver, Notification, READY_ERROR, ToldAnswer, ToldCall, receive};
use parking_lot::Mutex;
use rustix::io::Errno;

use super::arguments::{ToldOperation, operation};
use super::attribution::{Birth, InFlight, ThreadId, Verdict};
use super::folders::Folder;
use super::held::{HeldCall, HeldOutcome, Places, address_text, open_folder};
use super::kinds::kind_of;
use super::processes::{self, ProcessTree};
use super::signals::{self, SignalCall};
use super::{SupervisedKernel, SupervisedState, sockets};

/// `CLONE_THREAD`: the new one is a thread of the same process.
const CLONE_THREAD: u64 = 0x1_0000;
/// Number of processes from which on ended ones are forgotten.
const MAX_SEEN: usize = 10_000;
/// `ENOENT`: the caller was killed before its call was received or answered.
const GONE: i32 = 2;

/// Why the thread ended without an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AnswersEnd {
    /// The kernel's last process has ended: nothing uses the filter.
    KernelEnded,
    /// The supervisor was stopped, or the launcher has failed.
    Stopped,
}

/// Result of a wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wait {
    Readable,
    /// The other end is gone.
    Closed,
    Stopped,
}

/// State of the thread.
pub(super) struct Answers {
    pub kernel: SupervisedKernel,
    pub shared: Arc<Mutex<SupervisedState>>,
    /// Closed when the supervisor is to stop.
    pub stopped: UnixStream,
    /// The kernel's main thread, once it has greeted. Its number is no other thread's while the kernel lives.
    pub main: OnceCell<ThreadId>,
}

impl Answers {
    /// Receives the listener and answers until the last process of the kernel has ended, or the supervisor is stopped.
    pub fn run(self, socket: OwnedFd) -> std::io::Result<AnswersEnd> {
        if self.wait_for(&socket)? != Wait::Readable {
            return Ok(AnswersEnd::Stopped);
        }
        let HandedOver { listener, folders } = match receive(socket.as_fd()) {
            // The launcher has failed, and says why.
            Err(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => return Ok(AnswersEnd::Stopped),
            received => received?,
        };
        drop(socket);
        let places = self.places(folders)?;
        self.greet(&listener)?;
        loop {
            match self.wait_for(&listener)? {
                Wait::Readable => {}
                Wait::Closed => return Ok(AnswersEnd::KernelEnded),
                Wait::Stopped => return Ok(AnswersEnd::Stopped),
            }
            match listener.next() {
                Ok(told) => self.answer(&listener, &places, &told)?,
                Err(error) if error.raw_os_error() == Some(GONE) => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Waits for something to read.
    fn wait_for(&self, source: &impl AsFd) -> std::io::Result<Wait> {
        loop {
            let mut waited =
                [PollFd::new(source.as_fd(), PollFlags::POLLIN), PollFd::new(self.stopped.as_fd(), PollFlags::POLLIN)];
            match poll(&mut waited, PollTimeout::NONE) {
                Err(nix::Error::EINTR) => continue,
                polled => polled?,
            };
            if waited[1].any() != Some(false) {
                return Ok(Wait::Stopped);
            }
            let is_readable = waited[0].revents().is_some_and(|events| events.contains(PollFlags::POLLIN));
            return Ok(if is_readable { Wait::Readable } else { Wait::Closed });
        }
    }

    /// The folders come in this order: temporary, working, then of the kernel's own: shared memory, terminals.
    fn places(&self, folders: Vec<OwnedFd>) -> std::io::Result<Places> {
        let mut folders = folders.into_iter();
        let missing = || std::io::Error::other("the launcher sent too few folders");
        let temporary = folders.next().ok_or_else(missing)?;
        let mut temporary = vec![Folder::new(self.kernel.temporary_folder.clone(), temporary, false)];
        let working_folder = folders.next().ok_or_else(missing)?;
        if self.kernel.owns_working_folder {
            temporary.push(Folder::new(self.kernel.working_folder.clone(), working_folder.try_clone()?, false));
        }
        let working = Folder::new(self.kernel.working_folder.clone(), working_folder, false);
        temporary.push(match folders.next() {
            Some(shared) => Folder::new("/dev/shm".into(), shared, true),
            // Shared memory of the machine, which only the names are of: the files lie below the temporary folder.
            None => Folder::with_links("/dev/shm".into(), open_folder(&self.kernel.shared_memory())?),
        });
        let terminals = folders.next().map(|terminals| Folder::new("/dev/pts".into(), terminals, true));
        Ok(Places { temporary, working, terminals, closed: self.kernel.closed.clone() })
    }

    /// Answers the first call, which the launcher makes by the thread that becomes the kernel's main thread.
    fn greet(&self, listener: &CallListener) -> std::io::Result<()> {
        let told = loop {
            if self.wait_for(listener)? != Wait::Readable {
                return Ok(());
            }
            match listener.next() {
                Err(error) if error.raw_os_error() == Some(GONE) => {}
                told => break told?,
            }
        };
        let main = processes::stat(told.thread).ok_or_else(|| std::io::Error::other("the launcher is not visible"))?;
        let mut shared = self.shared.lock();
        shared.attribution.add_main(main.thread);
        // It greets once.
        let _ = self.main.set(main.thread);
        shared.root = Some(told.thread);
        drop(shared);
        send(listener, told.id, ToldAnswer::Fail(READY_ERROR))
    }

    fn answer(&self, listener: &CallListener, places: &Places, told: &Notification) -> std::io::Result<()> {
        let Some(call) = told.call else {
            return send(listener, told.id, ToldAnswer::Fail(Errno::NOSYS.raw_os_error()));
        };
        let Some(kind) = kind_of(call.group()) else { return self.answer_start(listener, call, told) };
        if self.shared.lock().attribution.note(told.thread, kind) {
            return self.let_through(listener, call, told);
        }
        // The caller waits, so its number names it, unless it was killed: then no answer reaches anything.
        let Some(thread) = self.caller(told) else {
            return send(listener, told.id, ToldAnswer::Fail(Errno::ACCESS.raw_os_error()));
        };
        let verdict = self.shared.lock().attribution.verdict(thread);
        if verdict.kinds.has(kind) {
            return self.let_through(listener, call, told);
        }
        if kind == Effect::Signal
            && let Some(answer) = self.signal(told, thread)
        {
            return send(listener, told.id, answer);
        }
        self.answer_held(listener, places, told, kind, verdict)
    }

    fn caller(&self, told: &Notification) -> Option<ThreadId> {
        let main = self.main.get().copied().filter(|main| main.number == told.thread);
        main.or_else(|| Some(processes::stat(told.thread)?.thread))
    }

    fn let_through(&self, listener: &CallListener, call: ToldCall, told: &Notification) -> std::io::Result<()> {
        if call == ToldCall::Connect {
            self.note_connection(told);
        }
        send(listener, told.id, ToldAnswer::Continue)
    }

    fn answer_held(
        &self,
        listener: &CallListener,
        places: &Places,
        told: &Notification,
        kind: Effect,
        verdict: Verdict,
    ) -> std::io::Result<()> {
        if told.call == Some(ToldCall::Connect) && self.connects_to_broker(told) {
            return send(listener, told.id, ToldAnswer::Done(0));
        }
        match (HeldCall { places, told, kind, kinds: verdict.kinds }).outcome() {
            HeldOutcome::Opened { file, closes_on_exec } => {
                match listener.answer_with(told.id, file.as_fd(), closes_on_exec) {
                    // The caller has no place for another descriptor, and gets the error that it would have got.
                    Err(error) if error.raw_os_error() != Some(GONE) => {
                        let error = error.raw_os_error().unwrap_or(Errno::IO.raw_os_error());
                        send(listener, told.id, ToldAnswer::Fail(error))
                    }
                    _ => Ok(()),
                }
            }
            HeldOutcome::Answered(answer) => send(listener, told.id, answer),
            HeldOutcome::Done => send(listener, told.id, ToldAnswer::Done(0)),
            HeldOutcome::Fails(error) => send(listener, told.id, ToldAnswer::Fail(error.raw_os_error())),
            HeldOutcome::Refused { error, kind, target } => {
                if verdict.is_of_run {
                    self.shared.lock().refusals.count(kind, || target);
                }
                send(listener, told.id, ToldAnswer::Fail(error.raw_os_error()))
            }
        }
    }

    /// A birth or another program: always let through.
    fn answer_start(&self, listener: &CallListener, call: ToldCall, told: &Notification) -> std::io::Result<()> {
        let is_mixed = self.shared.lock().attribution.is_mixed();
        if let Some(thread) = is_mixed.then(|| self.caller(told)).flatten()
            && listener.waits(told.id)
        {
            self.note_start(call, told, thread);
        }
        send(listener, told.id, ToldAnswer::Continue)
    }

    fn note_start(&self, call: ToldCall, told: &Notification, thread: ThreadId) {
        let is_thread = call == ToldCall::Clone && told.arguments[0] & CLONE_THREAD != 0;
        let is_exec = call.group() == CallGroup::Exec;
        // Processes of a namespace are found by it.
        let is_wanted = is_exec || (!is_thread && !self.kernel.has_namespace);
        let process = is_wanted.then(|| processes::status(told.thread)).flatten().map(|status| status.process);
        if let Some(process) = process {
            self.see(process);
        }
        if is_exec {
            let leader = process.and_then(processes::stat).map_or(thread, |leader| leader.thread);
            return self.shared.lock().attribution.exec(thread, leader);
        }
        self.birth(InFlight { parent: thread, is_thread });
    }

    fn see(&self, process: u32) {
        let mut shared = self.shared.lock();
        if shared.seen.insert(process) && shared.seen.len() > MAX_SEEN {
            shared.seen.retain(|number| processes::stat(*number).is_some());
        }
    }

    fn birth(&self, birth: InFlight) {
        let InFlight { parent, is_thread } = birth;
        let told = self.shared.lock().attribution.birth(parent, is_thread);
        if let Birth::Separate { from, origin } = told {
            let (tick, is_certain) = processes::separate(&from);
            self.shared.lock().attribution.separated(birth, origin, tick, is_certain);
        }
    }

    /// Decides about a signal. `None`: it goes to a process that the thread may not signal.
    fn signal(&self, told: &Notification, thread: ThreadId) -> Option<ToldAnswer> {
        let (root, seen) = {
            let shared = self.shared.lock();
            (shared.root?, shared.seen.clone())
        };
        let call = SignalCall { tree: ProcessTree { root, has_namespace: self.kernel.has_namespace }, told };
        let is_its = |leader: ThreadId| self.shared.lock().attribution.may_signal(thread, leader);
        signals::answer(&call, &seen, is_its)
    }

    /// Connects a held thread's socket to the broker of a database, which decides by itself what a run may do.
    fn connects_to_broker(&self, told: &Notification) -> bool {
        let Some(call) = told.call else { return false };
        let ToldOperation::Connect { socket, address, length } = operation(call, &told.arguments) else { return false };
        let broker = self.kernel.private_folder.join("sql");
        let named = address_text(told.thread, address, length).map(std::path::PathBuf::from);
        let is_broker = named.is_some_and(|named| {
            let folder = named.parent().map(|folder| match folder.strip_prefix("/proc/self/") {
                // A short name of a long path: an open folder.
                Ok(rest) => std::fs::read_link(format!("/proc/{}/{}", told.thread, rest.display())).unwrap_or_default(),
                Err(_) => folder.to_owned(),
            });
            folder.map(|folder| folder.join(named.file_name().unwrap_or_default())) == Some(broker.clone())
        });
        is_broker && sockets::connect_to(told.thread, socket, &broker).is_ok()
    }

    /// Notes where a Unix socket is being connected to, to name it later: `/proc` does not tell.
    fn note_connection(&self, told: &Notification) {
        let ToldOperation::Connect { socket, address, length } = operation(ToldCall::Connect, &told.arguments) else {
            return;
        };
        let Some(address) = address_text(told.thread, address, length) else { return };
        let is_own = |folder: &std::path::Path| std::path::Path::new(&address).starts_with(folder);
        let is_short_name = address.starts_with("/proc/self/fd/");
        let is_unix = address.starts_with(['/', '@']);
        if !is_unix || is_short_name || is_own(&self.kernel.private_folder) || is_own(&self.kernel.temporary_folder) {
            return;
        }
        if let Some(link) = processes::descriptor(told.thread, socket) {
            self.shared.lock().connections.note(&link, address);
        }
    }
}

fn send(listener: &CallListener, id: u64, answer: ToldAnswer) -> std::io::Result<()> {
    ignore_gone(listener.answer(id, answer))
}

/// A caller that was killed needs no answer.
fn ignore_gone(answered: std::io::Result<()>) -> std::io::Result<()> {
    match answered {
        Err(error) if error.raw_os_error() == Some(GONE) => Ok(()),
        answered => answered,
    }
}
