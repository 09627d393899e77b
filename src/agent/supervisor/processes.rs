//! Facts about threads and processes, from `/proc`.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::Read;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::time::Duration;

use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

use super::attribution::{InFlight, ThreadId, Ticks};

/// Clock ticks a second: the same on every Linux that this program runs on.
const TICK: Duration = Duration::from_millis(10);
/// Most time that a separation of origins waits for births in flight.
const MAX_SEPARATION: Duration = Duration::from_millis(250);
/// Time between two looks at them.
const LOOK: Duration = Duration::from_micros(200);
/// Looks at a process in a row at which it must rest, the time between them, and the time after which it does not matter.
/// Pools of joblib sleep for some tens of milliseconds on the way to a new one.
const LOOKS_AT_REST: usize = 30;
const BETWEEN_LOOKS_AT_REST: Duration = Duration::from_millis(5);
const MAX_UNREST: Duration = Duration::from_secs(1);
/// Time outside the system, by its clock, after which a thread has certainly returned from a birth: more than the clock's error.
const RETURNED: Ticks = 3;
/// Time on a processor in which the birth of a thread is certainly over.
const BIRTH_OF_THREAD: Duration = Duration::from_millis(4);
/// Longest chain of parents: ids can be reused while they are read, which could make a cycle.
const MAX_GENERATIONS: usize = 1_000;
/// Permissions that a process without a mask of its own does not give.
const NO_UMASK: u32 = 0o077;
/// Longest path that the system takes.
const MAX_PATH_BYTES: usize = 4_096;
const PAGE_BYTES: u64 = 4_096;

/// Content of `/proc/N/stat`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ThreadStat {
    pub thread: ThreadId,
    pub state: char,
    pub parent: u32,
    /// Time on a processor outside the system.
    pub own_time: Ticks,
}

/// Reads a thread. `None`: it has ended.
pub fn stat(number: u32) -> Option<ThreadStat> {
    let mut text = [0; 1024];
    let length = File::open(format!("/proc/{number}/stat")).and_then(|mut file| file.read(&mut text)).ok()?;
    parse_stat(number, &String::from_utf8_lossy(&text[..length]))
}

fn parse_stat(number: u32, text: &str) -> Option<ThreadStat> {
    // The name in parentheses may contain anything.
    let fields: Vec<&str> = text.rsplit_once(')')?.1.split_ascii_whitespace().collect();
    let started = fields.get(19)?.parse().ok()?;
    let state = fields.first()?.chars().next()?;
    let (parent, own_time) = (fields.get(1)?.parse().ok()?, fields.get(11)?.parse().ok()?);
    Some(ThreadStat { thread: ThreadId { number, started }, state, parent, own_time })
}

/// Content of `/proc/N/status`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ThreadStatus {
    /// The process, as this program sees it.
    pub process: u32,
    /// The process and the thread, as the thread itself sees them.
    pub own_process: i32,
    pub own_thread: i32,
    pub umask: u32,
}

pub fn status(number: u32) -> Option<ThreadStatus> {
    let text = fs::read_to_string(format!("/proc/{number}/status")).ok()?;
    let field = |name: &str| text.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
    let last = |name| field(name)?.rsplit(char::is_whitespace).next()?.parse().ok();
    Some(ThreadStatus {
        process: field("Tgid:")?.parse().ok()?,
        own_process: last("NStgid:")?,
        own_thread: last("NSpid:")?,
        // A process that has ended has none.
        umask: field("Umask:").and_then(|mask| u32::from_str_radix(mask, 8).ok()).unwrap_or(NO_UMASK),
    })
}

/// Numbers of the threads of a process.
pub fn threads(process: u32) -> Vec<u32> {
    numbers(&format!("/proc/{process}/task"))
}

fn numbers(folder: &str) -> Vec<u32> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}

/// Ticks since the machine's start. `/proc/uptime` has the clock of the start times, rounded down in the same way.
pub fn now() -> Ticks {
    let text = fs::read_to_string("/proc/uptime").unwrap_or_default();
    let digits = text.split_ascii_whitespace().next().unwrap_or_default().replace('.', "");
    digits.parse().unwrap_or_default()
}

/// Waits until the clock has ticked, and returns the new tick.
pub fn next_tick() -> Ticks {
    let (before, mut waited) = (now(), Duration::ZERO);
    loop {
        let now = now();
        if now > before || waited > 10 * TICK {
            return now.max(before + 1);
        }
        std::thread::sleep(LOOK);
        waited += LOOK;
    }
}

/// Waits until all threads of a process rest at each of some looks.
pub fn wait_for_rest(process: u32) {
    let began = std::time::Instant::now();
    let mut looks = 0;
    while looks < LOOKS_AT_REST && began.elapsed() < MAX_UNREST {
        std::thread::sleep(BETWEEN_LOOKS_AT_REST);
        let mut states = threads(process).into_iter().filter_map(|thread| Some(stat(thread)?.state));
        looks = if states.any(|state| matches!(state, 'R' | 'D')) { 0 } else { looks + 1 };
    }
}

/// Waits until the births of these threads are over, and returns the next tick. `false`: one may not be over.
pub fn separate(from: &[InFlight]) -> (Ticks, bool) {
    let began = std::time::Instant::now();
    let times: Vec<FirstLook> = from.iter().map(|it| FirstLook::at(it.parent.number)).collect();
    let mut open: Vec<usize> = (0..from.len()).collect();
    loop {
        open.retain(|&at| !is_over(from[at], times[at]));
        let is_certain = open.is_empty();
        if is_certain || began.elapsed() > MAX_SEPARATION {
            return (next_tick(), is_certain);
        }
        std::thread::sleep(LOOK);
    }
}

/// Times of a thread at the first look at it.
#[derive(Debug, Clone, Copy)]
struct FirstLook {
    processor_time: Duration,
    own_time: Ticks,
}

impl FirstLook {
    fn at(number: u32) -> Self {
        let own_time = stat(number).map_or(Ticks::MAX, |found| found.own_time);
        Self { processor_time: processor_time(number), own_time }
    }
}

/// Returns true if a thread that was let to make another has certainly made it.
fn is_over(birth: InFlight, before: FirstLook) -> bool {
    let Some(found) = stat(birth.parent.number).filter(|found| found.thread == birth.parent) else { return true };
    match found.state {
        // On a processor, or waiting for one. Without an interruption a birth of a thread takes microseconds of it.
        'R' => {
            let has_returned = found.own_time >= before.own_time.saturating_add(RETURNED);
            let has_made_thread = || processor_time(birth.parent.number) > before.processor_time + BIRTH_OF_THREAD;
            has_returned || (birth.is_thread && has_made_thread())
        }
        // In the birth itself (`vfork` waits there for its child), or in another wait of the system.
        'D' => false,
        _ => true,
    }
}

fn processor_time(number: u32) -> Duration {
    let text = fs::read_to_string(format!("/proc/{number}/task/{number}/schedstat"))
        .or_else(|_| fs::read_to_string(format!("/proc/{number}/schedstat")));
    let nanoseconds = text.ok().and_then(|text| text.split_ascii_whitespace().next()?.parse().ok());
    Duration::from_nanos(nanoseconds.unwrap_or_default())
}

/// Reads a text of the caller's memory, for people to read or to do something of one's own: it may change at any time.
pub fn read_text(thread: u32, address: u64) -> Option<Vec<u8>> {
    let memory = File::open(format!("/proc/{thread}/mem")).ok()?;
    let (mut text, mut at) = (Vec::new(), address);
    while text.len() < MAX_PATH_BYTES {
        // To the end of the page: the next one may not be there.
        let mut page = vec![0; usize::try_from(PAGE_BYTES - at % PAGE_BYTES).ok()?];
        let length = memory.read_at(&mut page, at).ok().filter(|length| *length > 0)?;
        match page[..length].iter().position(|byte| *byte == 0) {
            Some(end) => {
                text.extend_from_slice(&page[..end]);
                return Some(text);
            }
            None => text.extend_from_slice(&page[..length]),
        }
        at += length as u64;
    }
    None
}

/// Reads bytes of the caller's memory.
pub fn read_bytes(thread: u32, address: u64, length: usize) -> Option<Vec<u8>> {
    let memory = File::open(format!("/proc/{thread}/mem")).ok()?;
    let mut bytes = vec![0; length];
    memory.read_exact_at(&mut bytes, address).ok()?;
    Some(bytes)
}

/// The current folder of a thread.
pub fn current_folder(thread: u32) -> Option<PathBuf> {
    fs::read_link(format!("/proc/{thread}/cwd")).ok()
}

/// Target of a descriptor of a thread: a path, or a word like `socket:[7]`.
pub fn descriptor(thread: u32, number: i32) -> Option<PathBuf> {
    fs::read_link(format!("/proc/{thread}/fd/{number}")).ok()
}

/// The processes of one kernel.
#[derive(Debug, Clone, Copy)]
pub struct ProcessTree {
    /// The kernel's process.
    pub root: u32,
    /// True if it has its own PID namespace, to which all of its processes belong.
    pub has_namespace: bool,
}

impl ProcessTree {
    /// The first threads of all of its processes, also of those that have ended and whose parents do not know it yet. `seen`: processes that told calls, whose parents may have ended.
    pub fn leaders(self, seen: &BTreeSet<u32>) -> Vec<ThreadId> {
        let stats: BTreeMap<u32, ThreadStat> =
            numbers("/proc").into_iter().filter_map(|number| Some((number, stat(number)?))).collect();
        let own = self.has_namespace.then(|| namespace(self.root)).flatten();
        let belongs = |number: u32| match &own {
            Some(own) => namespace(number).as_ref() == Some(own),
            None => descends(&stats, number, self.root) || seen.contains(&number),
        };
        // The first process of a namespace starts the kernel, and is none of its own.
        let parent = stats.get(&self.root).map(|root| root.parent);
        let found = stats.values().filter(|stat| Some(stat.thread.number) != parent && belongs(stat.thread.number));
        found.map(|stat| stat.thread).collect()
    }
}

fn namespace(process: u32) -> Option<PathBuf> {
    fs::read_link(format!("/proc/{process}/ns/pid")).ok()
}

fn descends(stats: &BTreeMap<u32, ThreadStat>, number: u32, root: u32) -> bool {
    let parent = |number: &u32| stats.get(number).map(|stat| stat.parent);
    std::iter::successors(Some(number), parent).take(MAX_GENERATIONS).any(|ancestor| ancestor == root)
}

/// True if a process has not ended.
pub fn is_alive(leader: ThreadId) -> bool {
    stat(leader.number).is_some_and(|found| found.thread == leader && found.state != 'Z')
}

/// True if a process keeps Python's list of semaphores and shared memory, which it removes when the others have ended.
pub fn is_resource_tracker(process: u32) -> bool {
    let command = fs::read(format!("/proc/{process}/cmdline")).unwrap_or_default();
    String::from_utf8_lossy(&command).contains("resource_tracker")
}

/// Sends a signal to exactly this process. Returns false if there is no such process.
pub fn signal(leader: ThreadId, signal: i32) -> bool {
    let pid = i32::try_from(leader.number).ok().and_then(Pid::from_raw);
    let Some(process) = pid.and_then(|pid| pidfd_open(pid, PidfdFlags::empty()).ok()) else { return false };
    // Checked after it was opened: the number names this process, or has ended with it.
    if stat(leader.number).is_none_or(|found| found.thread != leader) {
        return false;
    }
    Signal::from_named_raw(signal).is_some_and(|signal| pidfd_send_signal(&process, signal).is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_may_have_anything_in_it() {
        let text = "7 (a) R (b) c) S 3 7 7 0 -1 4194304 1 0 0 0 5 6 0 0 20 0 1 0 4711 1000 10";
        let found = parse_stat(7, text).unwrap();
        let thread = ThreadId { number: 7, started: 4711 };
        assert_eq!(found, ThreadStat { thread, state: 'S', parent: 3, own_time: 5 });
        assert_eq!(parse_stat(7, "7 (a"), None);
    }

    #[test]
    fn a_new_thread_starts_at_the_tick_that_the_clock_says() {
        let before = next_tick();
        let number = std::thread::spawn(|| rustix::thread::gettid().as_raw_pid().unsigned_abs());
        let (sender, receiver) = std::sync::mpsc::channel::<()>();
        let (tell, told) = std::sync::mpsc::channel();
        let thread = std::thread::spawn(move || {
            tell.send(rustix::thread::gettid().as_raw_pid().unsigned_abs()).unwrap();
            receiver.recv().unwrap();
        });
        let started = stat(told.recv().unwrap()).unwrap().thread.started;
        let after = now();
        assert!(before <= started && started <= after, "{before} {started} {after}");
        sender.send(()).unwrap();
        thread.join().unwrap();
        assert_eq!(stat(number.join().unwrap()), None);
    }

    #[test]
    fn memory_is_read_up_to_its_zero() {
        let long = format!("{}\0rest", "x".repeat(3000));
        let own = std::process::id();
        assert_eq!(read_text(own, long.as_ptr() as u64).unwrap().len(), 3000);
        assert_eq!(read_text(own, 8), None);
        assert_eq!(read_bytes(own, long.as_ptr() as u64, 2).unwrap(), b"xx");
        let status = status(own).unwrap();
        assert_eq!((status.process, status.own_process), (own, i32::try_from(own).unwrap()));
    }
}
