//! Attribution: whose effect a told call is, and which kinds its thread has. Pure: facts come in.
//!
//! Until a kernel's first held run (a *clean* kernel) everything is free, and the kinds that each thread uses are noted. From then on
//! the kernel is *mixed*. Its main thread has the kinds of the message in work, and none in between. Every other thread has the
//! kinds of its origin, which its start time tells: births are told, and those of different origins never happen within one
//! tick of the clock that start times are measured with. So time is a sequence of [`BirthEpoch`]s, each with one origin.
//!
//! **Invariants.** A thread whose origin is not known has no kinds. A thread of a held run has that run's kinds while the run lasts,
//! and none afterwards. In a person's name only the main thread removes or signals, and, while their run lasts, processes that it
//! has started. A thread is its number and its start time.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use notarium_core::Effect;

use super::kinds::Kinds;

/// Most threads of a clean kernel whose kinds are noted. Further ones keep none.
const MAX_NOTED: usize = 20_000;
/// Most epochs. Threads of older ones have no kinds any more.
const MAX_EPOCHS: usize = 4_096;

/// Clock ticks since the machine's start, as in `/proc/PID/stat`.
pub type Ticks = u64;

/// A thread. Numbers are reused, start times tell the threads apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ThreadId {
    pub number: u32,
    pub started: Ticks,
}

/// Number of a run within its kernel, from 1 on.
pub type RunNumber = u64;
/// Threads from before the first held run are of no numbered run.
const BEFORE_RUNS: RunNumber = 0;

/// Cause of a thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// A person's run, or a thread from before the first held run, with kinds of the background.
    Person(RunNumber, Kinds),
    /// The main thread in a person's run, which started a process. It has all kinds of that run while it lasts, and those
    /// of the background afterwards. Held code cannot reach its memory, as it can that of the kernel's threads.
    PersonProcess(RunNumber, Kinds),
    Held(RunNumber),
    /// Births of two origins could not be told apart, or the main thread between messages.
    Unknown,
}

/// A time in which all births have one origin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct BirthEpoch {
    from: Ticks,
    origin: Origin,
}

/// The message that the kernel works on.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum MessageInWork {
    /// None, or one that is held in everybody's name: a completion, a widget's message.
    #[default]
    Other,
    /// A person's run, with the kinds that its text leads to, or all.
    Person(RunNumber, Kinds),
    /// An assistant's run, with the kinds that a person confirmed.
    Held(RunNumber, Kinds),
}

/// The kinds of a told call's thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Verdict {
    pub kinds: Kinds,
    /// True if a refusal belongs to the run in work.
    pub is_of_run: bool,
}

impl Verdict {
    fn of_run(kinds: Kinds) -> Self {
        Self { kinds, is_of_run: true }
    }

    fn of_others(kinds: Kinds) -> Self {
        Self { kinds, is_of_run: false }
    }
}

/// Answer to a told birth.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Birth {
    /// Let it happen.
    Continue,
    /// First wait until these threads have finished their own births and the clock has ticked, then call [`Attribution::separated`].
    Separate { from: Vec<InFlight>, origin: Origin },
}

/// A thread whose last birth may not have happened yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InFlight {
    pub parent: ThreadId,
    /// True for the birth of a thread, which takes the system no noticeable time.
    pub is_thread: bool,
}

/// Origins of all threads of one kernel.
#[derive(Debug, Default)]
pub struct Attribution {
    /// Threads that have the kinds of the message in work: the kernel's main thread, and an interpreter in a child process.
    main: BTreeSet<ThreadId>,
    message: MessageInWork,
    last_run: RunNumber,
    /// Numbers of the threads with which the kernel began: its own, which keep no kinds.
    own: BTreeSet<u32>,
    /// Kinds used in the clean kernel, by the thread's number: start times are not read then.
    noted: BTreeMap<u32, Kinds>,
    /// `None`: clean.
    mixed: Option<Mixed>,
}

#[derive(Debug, Default)]
struct Mixed {
    /// Threads whose kinds the epochs do not tell: those from before the first held run, and first threads that were replaced.
    known: BTreeMap<ThreadId, Kinds>,
    /// Never empty; sorted.
    epochs: VecDeque<BirthEpoch>,
    /// Parents of births that may not have happened yet, and true if a thread is born.
    in_flight: BTreeMap<ThreadId, bool>,
}

impl Attribution {
    /// Notes the kernel's main thread, or an interpreter that runs the kernel's code in a child process.
    pub fn add_main(&mut self, thread: ThreadId) {
        self.main.insert(thread);
    }

    /// Notes the threads with which the kernel begins, before its first run. What they did so far counts for nothing.
    pub fn set_own(&mut self, numbers: impl IntoIterator<Item = u32>) {
        self.own = numbers.into_iter().collect();
        self.noted.clear();
    }

    pub fn is_mixed(&self) -> bool {
        self.mixed.is_some()
    }

    /// Notes a told effect in a clean kernel. Returns false in a mixed one, where [`verdict`](Self::verdict) decides.
    pub fn note(&mut self, number: u32, kind: Effect) -> bool {
        if self.mixed.is_some() {
            return false;
        }
        let is_full = self.noted.len() >= MAX_NOTED && !self.noted.contains_key(&number);
        if !is_full && !self.own.contains(&number) {
            let noted = self.noted.entry(number).or_default();
            *noted = noted.with(kind);
        }
        true
    }

    /// Numbers of the threads whose start times [`become_mixed`](Self::become_mixed) needs.
    pub fn noted(&self) -> Vec<u32> {
        self.noted.keys().copied().collect()
    }

    /// Ends the clean time. `living` are the noted threads that live. Births from tick `from` on belong to what comes;
    /// the caller has waited for it.
    pub fn become_mixed(&mut self, living: &[ThreadId], from: Ticks) {
        if self.mixed.is_some() {
            return;
        }
        let noted = std::mem::take(&mut self.noted);
        let before = living.iter().filter(|thread| thread.started < from && !self.main.contains(thread));
        let known = before.filter_map(|thread| Some((*thread, noted.get(&thread.number)?.of_background()))).collect();
        let epochs = VecDeque::from([BirthEpoch { from, origin: Origin::Unknown }]);
        self.mixed = Some(Mixed { known, epochs, in_flight: BTreeMap::new() });
    }

    /// A person's run begins, with all kinds.
    pub fn begin_free(&mut self) {
        self.begin_expected(Kinds::ALL);
    }

    /// A person's run begins, with the kinds that its text leads to.
    pub fn begin_expected(&mut self, kinds: Kinds) {
        self.last_run += 1;
        self.message = MessageInWork::Person(self.last_run, kinds);
    }

    /// An assistant's run begins; the kernel is mixed.
    pub fn begin_held(&mut self, allowed: Kinds) -> RunNumber {
        debug_assert!(self.is_mixed(), "a clean kernel holds nothing");
        self.last_run += 1;
        self.message = MessageInWork::Held(self.last_run, allowed);
        self.last_run
    }

    /// Returns true if a thread may signal a process of the kernel, of which `leader` is the first thread: one that a held run
    /// started, or, in a person's run, one of that run. A person's thread signals all of them while a run is in work that may.
    pub fn may_signal(&self, thread: ThreadId, leader: ThreadId) -> bool {
        if self.is_held_born(leader) {
            return true;
        }
        let MessageInWork::Person(run, kinds) = self.message else { return false };
        let run_of = |origin| match origin {
            Origin::Person(run, _) | Origin::PersonProcess(run, _) if run != BEFORE_RUNS => Some(run),
            _ => None,
        };
        let is_its =
            |leader: ThreadId| !self.main.contains(&leader) && run_of(self.origin_of_child(leader, true)) == Some(run);
        match run_of(self.origin_of_child(thread, true)) {
            Some(_) if kinds.has(Effect::Signal) => true,
            of => of == Some(run) && is_its(leader),
        }
    }

    /// The run in work is over. Returns true if it was held.
    pub fn end(&mut self) -> bool {
        matches!(std::mem::take(&mut self.message), MessageInWork::Held(..))
    }

    /// The kinds that a thread has now.
    pub fn verdict(&mut self, thread: ThreadId) -> Verdict {
        let Some(mixed) = &mut self.mixed else { return Verdict::of_run(Kinds::ALL) };
        // Its last birth is over, or it could not make this call.
        mixed.in_flight.remove(&thread);
        if self.main.contains(&thread) {
            return match self.message {
                MessageInWork::Person(_, kinds) | MessageInWork::Held(_, kinds) => Verdict::of_run(kinds),
                MessageInWork::Other => Verdict::of_others(Kinds::NONE),
            };
        }
        if let Some(kinds) = mixed.known.get(&thread) {
            return Verdict::of_others(*kinds);
        }
        match (mixed.origin_at(thread.started), self.message) {
            (Origin::PersonProcess(run, _), MessageInWork::Person(now, kinds)) if run == now => Verdict::of_run(kinds),
            (Origin::Person(run, kinds), MessageInWork::Person(now, _)) if run == now => Verdict::of_run(kinds),
            (Origin::Person(_, kinds) | Origin::PersonProcess(_, kinds), _) => Verdict::of_others(kinds),
            (Origin::Held(run), MessageInWork::Held(now, allowed)) if run == now => Verdict::of_run(allowed),
            _ => Verdict::of_others(Kinds::NONE),
        }
    }

    /// A told birth by `thread`: of another thread (`is_thread`) or of a process.
    pub fn birth(&mut self, thread: ThreadId, is_thread: bool) -> Birth {
        let origin = self.origin_of_child(thread, is_thread);
        let Some(mixed) = &mut self.mixed else { return Birth::Continue };
        mixed.in_flight.remove(&thread);
        if mixed.epoch().origin != origin {
            let from =
                mixed.in_flight.iter().map(|(parent, is_thread)| InFlight { parent: *parent, is_thread: *is_thread });
            return Birth::Separate { from: from.collect(), origin };
        }
        mixed.in_flight.insert(thread, is_thread);
        Birth::Continue
    }

    /// Births of the last origin are over, unless `is_certain` is false. From tick `from` on, births are those of `origin`, the first
    /// of them by `parent`; the caller has waited for that tick.
    pub fn separated(&mut self, parent: InFlight, origin: Origin, from: Ticks, is_certain: bool) {
        let Some(mixed) = &mut self.mixed else { return };
        let origin = if is_certain { origin } else { Origin::Unknown };
        if is_certain {
            mixed.in_flight.clear();
        }
        mixed.in_flight.insert(parent.parent, parent.is_thread);
        if mixed.epoch().origin == origin {
            return;
        }
        // A clock that stands still would make the epoch before it empty, and its births this one's.
        let from = from.max(mixed.epoch().from + 1);
        mixed.epochs.push_back(BirthEpoch { from, origin });
        if mixed.epochs.len() > MAX_EPOCHS {
            mixed.epochs.pop_front();
        }
    }

    /// Another program begins in a process. The calling thread becomes its first thread, with number and start of `leader`, the one
    /// before.
    pub fn exec(&mut self, thread: ThreadId, leader: ThreadId) {
        let kinds = self.verdict(thread).kinds;
        let Some(mixed) = &mut self.mixed else { return };
        if self.main.remove(&leader) {
            // Another program is not the kernel, whoever started it.
            mixed.known.insert(leader, Kinds::NONE);
        } else if thread != leader {
            let before = mixed.kinds_of_background(leader);
            mixed.known.insert(leader, kinds.and(before));
        }
    }

    /// Returns true if a thread was born in a held run. It ends with the run, if it is the first of its process.
    pub fn is_held_born(&self, thread: ThreadId) -> bool {
        let Some(mixed) = &self.mixed else { return false };
        !self.main.contains(&thread) && matches!(mixed.origin_at(thread.started), Origin::Held(_))
    }

    fn origin_of_child(&self, thread: ThreadId, is_thread: bool) -> Origin {
        let Some(mixed) = &self.mixed else { return Origin::Unknown };
        if self.main.contains(&thread) {
            return match self.message {
                MessageInWork::Person(run, kinds) if is_thread => Origin::Person(run, kinds.of_background()),
                MessageInWork::Person(run, kinds) => Origin::PersonProcess(run, kinds.of_background()),
                MessageInWork::Held(run, _) => Origin::Held(run),
                MessageInWork::Other => Origin::Unknown,
            };
        }
        match mixed.known.get(&thread) {
            Some(kinds) if *kinds == Kinds::NONE => Origin::Unknown,
            Some(kinds) => Origin::Person(BEFORE_RUNS, *kinds),
            None => mixed.origin_at(thread.started),
        }
    }
}

impl Mixed {
    fn epoch(&self) -> BirthEpoch {
        self.epochs.back().copied().unwrap_or(BirthEpoch { from: 0, origin: Origin::Unknown })
    }

    fn origin_at(&self, tick: Ticks) -> Origin {
        let after = self.epochs.partition_point(|epoch| epoch.from <= tick);
        after.checked_sub(1).and_then(|at| self.epochs.get(at)).map_or(Origin::Unknown, |epoch| epoch.origin)
    }

    fn kinds_of_background(&self, thread: ThreadId) -> Kinds {
        match (self.known.get(&thread), self.origin_at(thread.started)) {
            (Some(&kinds), _) | (None, Origin::Person(_, kinds) | Origin::PersonProcess(_, kinds)) => kinds,
            _ => Kinds::NONE,
        }
    }
}
