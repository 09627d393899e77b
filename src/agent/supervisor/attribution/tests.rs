use notarium_core::Effect;
use proptest::prelude::*;

use super::*;

const MAIN: ThreadId = ThreadId { number: 10, started: 1 };

fn thread(number: u32, started: Ticks) -> ThreadId {
    ThreadId { number, started }
}

/// A kernel with its main thread.
fn kernel() -> Attribution {
    let mut kernel = Attribution::default();
    kernel.add_main(MAIN);
    kernel
}

/// A mixed kernel from tick 100 on.
fn mixed() -> Attribution {
    let mut kernel = kernel();
    kernel.become_mixed(&[], 100);
    kernel
}

fn kinds(kernel: &mut Attribution, thread: ThreadId) -> Kinds {
    kernel.verdict(thread).kinds
}

/// A told birth of a thread whose separation, if any, is certain, from this tick on.
fn born(kernel: &mut Attribution, parent: ThreadId, tick: Ticks) {
    born_as(kernel, InFlight { parent, is_thread: true }, tick);
}

/// The same, of a process.
fn forked(kernel: &mut Attribution, parent: ThreadId, tick: Ticks) {
    born_as(kernel, InFlight { parent, is_thread: false }, tick);
}

fn born_as(kernel: &mut Attribution, birth: InFlight, tick: Ticks) {
    if let Birth::Separate { origin, .. } = kernel.birth(birth.parent, birth.is_thread) {
        kernel.separated(birth, origin, tick, true);
    }
}

#[test]
fn everything_is_free_until_the_first_held_run() {
    let mut kernel = kernel();
    kernel.begin_free();
    assert!(kernel.note(99, Effect::Remove) && !kernel.is_mixed());
    assert_eq!(kinds(&mut kernel, thread(99, 50)), Kinds::ALL);
    assert_eq!(kernel.birth(thread(99, 50), true), Birth::Continue);
    assert!(!kernel.is_held_born(thread(99, 50)));
}

#[test]
fn a_person_s_run_has_the_kinds_that_its_text_leads_to() {
    let mut kernel = mixed();
    let expected = Kinds::of([Effect::Write, Effect::Remove]);
    kernel.begin_expected(expected);
    assert_eq!(kernel.verdict(MAIN), Verdict { kinds: expected, is_of_run: true });
    born(&mut kernel, MAIN, 110);
    let of_thread = Verdict { kinds: Kinds::of([Effect::Write]), is_of_run: true };
    assert_eq!(kernel.verdict(thread(20, 110)), of_thread, "a thread never removes");
    assert!(!kernel.end());
    assert_eq!(kinds(&mut kernel, MAIN), Kinds::NONE);
    assert_eq!(kinds(&mut kernel, thread(20, 110)), Kinds::of([Effect::Write]));
}

#[test]
fn processes_of_a_person_s_run_have_its_kinds_while_it_lasts() {
    let mut kernel = mixed();
    let expected = Kinds::of([Effect::Write, Effect::Remove]);
    kernel.begin_expected(expected);
    forked(&mut kernel, MAIN, 110);
    let process = thread(20, 110);
    assert_eq!(kernel.verdict(process), Verdict { kinds: expected, is_of_run: true });
    kernel.exec(process, process);
    forked(&mut kernel, process, 112);
    born(&mut kernel, process, 113);
    assert_eq!(kinds(&mut kernel, thread(21, 113)), expected, "its own processes and threads as well");
    // A thread of the kernel may have been handed the work by held code.
    born(&mut kernel, MAIN, 120);
    forked(&mut kernel, thread(22, 120), 121);
    assert_eq!(kinds(&mut kernel, thread(23, 121)), Kinds::of([Effect::Write]));
    kernel.end();
    let in_background = Verdict { kinds: Kinds::of([Effect::Write]), is_of_run: false };
    assert_eq!(kernel.verdict(process), in_background);
    kernel.begin_free();
    assert_eq!(kernel.verdict(process), in_background, "another run's kinds are not its own");
}

#[test]
fn a_person_s_run_signals_its_own_processes_alone_unless_it_may_signal() {
    let mut kernel = mixed();
    kernel.begin_expected(Kinds::NONE);
    forked(&mut kernel, MAIN, 110);
    let (process, held) = (thread(20, 110), thread(30, 130));
    assert!(kernel.may_signal(MAIN, process) && !kernel.may_signal(MAIN, MAIN));
    kernel.end();
    assert!(!kernel.may_signal(MAIN, process), "between messages");
    kernel.begin_held(Kinds::NONE);
    born(&mut kernel, MAIN, 130);
    assert!(kernel.may_signal(MAIN, held) && !kernel.may_signal(MAIN, process));
    kernel.end();
    kernel.begin_expected(Kinds::NONE);
    assert!(!kernel.may_signal(MAIN, process), "of another run");
    kernel.end();
    kernel.begin_free();
    assert!(kernel.may_signal(MAIN, process) && !kernel.may_signal(held, process));
}

#[test]
fn the_main_thread_has_the_kinds_of_the_message_in_work() {
    let mut kernel = mixed();
    assert_eq!(kinds(&mut kernel, MAIN), Kinds::NONE, "between messages");
    kernel.begin_free();
    assert_eq!(kinds(&mut kernel, MAIN), Kinds::ALL);
    assert!(!kernel.end());
    let allowed = Kinds::of([Effect::Write]);
    kernel.begin_held(allowed);
    assert_eq!(kernel.verdict(MAIN), Verdict { kinds: allowed, is_of_run: true });
    assert!(kernel.end());
    assert_eq!(kernel.verdict(MAIN), Verdict { kinds: Kinds::NONE, is_of_run: false });
}

#[test]
fn threads_of_before_keep_what_they_used_but_never_remove() {
    let mut kernel = kernel();
    kernel.note(7, Effect::Network);
    kernel.set_own([7, 8]);
    for (number, kind) in [(7, Effect::Write), (20, Effect::Write), (20, Effect::Remove), (21, Effect::Signal)] {
        assert!(kernel.note(number, kind));
    }
    kernel.become_mixed(&[thread(7, 2), thread(20, 40), thread(21, 40)], 100);
    assert_eq!(kinds(&mut kernel, thread(20, 40)), Kinds::of([Effect::Write]));
    assert_eq!(kinds(&mut kernel, thread(20, 41)), Kinds::NONE, "another thread of that number");
    assert_eq!(kinds(&mut kernel, thread(21, 40)), Kinds::NONE);
    assert_eq!(kinds(&mut kernel, thread(7, 2)), Kinds::NONE, "the kernel's own");
    assert_eq!(kinds(&mut kernel, thread(22, 40)), Kinds::NONE, "it used nothing");
    // A thread that it starts has its kinds.
    born(&mut kernel, thread(20, 40), 120);
    assert_eq!(kinds(&mut kernel, thread(30, 121)), Kinds::of([Effect::Write]));
}

#[test]
fn what_is_born_in_a_held_run_is_held_for_life() {
    let mut kernel = mixed();
    kernel.begin_held(Kinds::of([Effect::Network]));
    born(&mut kernel, MAIN, 110);
    assert_eq!(kinds(&mut kernel, thread(30, 110)), Kinds::of([Effect::Network]), "while the run lasts");
    kernel.end();
    assert!(kernel.is_held_born(thread(30, 110)));
    kernel.begin_free();
    assert_eq!(kinds(&mut kernel, thread(30, 110)), Kinds::NONE);
    born(&mut kernel, MAIN, 120);
    assert_eq!(kinds(&mut kernel, thread(31, 120)), Kinds::ALL.of_background());
    kernel.end();
    kernel.begin_held(Kinds::ALL);
    assert_eq!(kinds(&mut kernel, thread(30, 110)), Kinds::NONE, "another run's kinds are not its own");
    assert_eq!(kinds(&mut kernel, thread(31, 120)), Kinds::ALL.of_background(), "a person's thread goes on");
    // A thread that a held one starts in a person's run is held.
    kernel.end();
    kernel.begin_free();
    born(&mut kernel, thread(30, 110), 130);
    assert_eq!(kinds(&mut kernel, thread(32, 130)), Kinds::NONE);
    assert!(kernel.is_held_born(thread(32, 130)));
}

#[test]
fn births_that_cannot_be_told_apart_are_held() {
    let mut kernel = mixed();
    kernel.begin_held(Kinds::NONE);
    born(&mut kernel, MAIN, 110);
    kernel.end();
    kernel.begin_free();
    let held = thread(30, 110);
    assert_eq!(kernel.birth(held, false), Birth::Continue);
    let Birth::Separate { from, origin } = kernel.birth(MAIN, true) else { panic!("two origins") };
    assert_eq!(from, [InFlight { parent: held, is_thread: false }]);
    kernel.separated(InFlight { parent: MAIN, is_thread: true }, origin, 120, false);
    assert_eq!(kinds(&mut kernel, thread(40, 120)), Kinds::NONE);
    // Its next call shows that its birth is over.
    kernel.verdict(held);
    let Birth::Separate { from, origin } = kernel.birth(MAIN, true) else { panic!("still another origin") };
    assert!(!from.contains(&InFlight { parent: held, is_thread: false }), "{from:?}");
    kernel.separated(InFlight { parent: MAIN, is_thread: true }, origin, 130, true);
    assert_eq!(kinds(&mut kernel, thread(41, 130)), Kinds::ALL.of_background());
}

#[test]
fn another_program_is_not_the_kernel() {
    let mut kernel = mixed();
    kernel.begin_free();
    born(&mut kernel, MAIN, 110);
    let (child, its_thread) = (thread(50, 110), thread(51, 111));
    kernel.exec(child, child);
    assert_eq!(kinds(&mut kernel, child), Kinds::ALL.of_background(), "a person's program goes on");
    kernel.end();
    kernel.begin_held(Kinds::NONE);
    born(&mut kernel, MAIN, 120);
    // A held thread takes the place of the first one.
    kernel.exec(thread(60, 120), child);
    assert_eq!(kinds(&mut kernel, child), Kinds::NONE);
    kernel.exec(its_thread, MAIN);
    kernel.end();
    kernel.begin_free();
    assert_eq!(kinds(&mut kernel, MAIN), Kinds::NONE, "whatever runs there now");
    assert!(!kernel.is_held_born(MAIN));
}

#[test]
fn programs_of_a_shell_have_the_kinds_of_a_persons_run_while_it_lasts() {
    let mut kernel = kernel();
    let shell = thread(20, 5);
    kernel.add_main(shell);
    kernel.become_mixed(&[], 100);
    kernel.begin_free();
    forked(&mut kernel, shell, 110);
    let program = thread(30, 110);
    assert_eq!(kinds(&mut kernel, program), Kinds::ALL);
    kernel.end();
    assert_eq!(kinds(&mut kernel, program), Kinds::ALL.of_background());
    kernel.begin_held(Kinds::NONE);
    assert_eq!(kinds(&mut kernel, shell), Kinds::NONE);
    forked(&mut kernel, shell, 120);
    assert_eq!(kinds(&mut kernel, thread(31, 120)), Kinds::NONE);
}

#[test]
fn memory_is_bounded() {
    let mut kernel = kernel();
    for number in 0..3 * u32::try_from(MAX_NOTED).unwrap() {
        kernel.note(number, Effect::Write);
    }
    assert_eq!(kernel.noted().len(), MAX_NOTED);
    kernel.become_mixed(&[], 100);
    kernel.begin_held(Kinds::NONE);
    for round in 0..3 * MAX_EPOCHS as u64 {
        born(&mut kernel, if round % 2 == 0 { MAIN } else { thread(5, 3) }, 200 + round);
    }
    assert!(kernel.mixed.as_ref().unwrap().epochs.len() <= MAX_EPOCHS);
    assert_eq!(kinds(&mut kernel, thread(6, 150)), Kinds::NONE, "its epoch is forgotten");
}

/// A step of a random history. Threads are picked by index among those alive.
#[derive(Debug, Clone)]
enum HistoryStep {
    BeginFree,
    BeginHeld,
    End,
    /// A thread starts another, or a process; `is_late`: the system carries the birth out some steps later.
    Birth {
        parent: usize,
        is_thread: bool,
        is_late: bool,
    },
    Finish,
    Call {
        thread: usize,
    },
}

fn step() -> impl Strategy<Value = HistoryStep> {
    prop_oneof![
        2 => Just(HistoryStep::BeginFree),
        2 => Just(HistoryStep::BeginHeld),
        2 => Just(HistoryStep::End),
        8 => (any::<prop::sample::Index>(), any::<bool>(), any::<bool>()).prop_map(|(parent, is_thread, is_late)| {
            HistoryStep::Birth { parent: parent.index(1 << 20), is_thread, is_late }
        }),
        3 => Just(HistoryStep::Finish),
        4 => any::<prop::sample::Index>().prop_map(|thread| HistoryStep::Call { thread: thread.index(1 << 20) }),
    ]
}

/// True descent of a thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Descent {
    Held,
    Background,
    /// A process that the main thread started in this free run.
    Process(usize),
}

/// The run in work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RunInWork {
    Nothing,
    Held,
    Free(usize),
}

/// A true history beside the machine: who descends from held code.
struct TrueHistory {
    kernel: Attribution,
    tick: Ticks,
    alive: Vec<(ThreadId, Descent)>,
    /// Births that were let through and have not happened: the parent, and the descent of the child.
    late: Vec<(ThreadId, Descent)>,
    now: RunInWork,
    runs: usize,
}

impl TrueHistory {
    fn begin(&mut self, is_held: bool) {
        self.kernel.end();
        self.runs += 1;
        self.now = if is_held { RunInWork::Held } else { RunInWork::Free(self.runs) };
        match is_held {
            true => _ = self.kernel.begin_held(Kinds::NONE),
            false => self.kernel.begin_free(),
        }
    }

    fn birth(&mut self, parent: usize, is_thread: bool, is_late: bool) {
        let (parent, mut descent) = self.alive[parent % self.alive.len()];
        if self.late.iter().any(|(late, _)| *late == parent) {
            return;
        }
        if parent == MAIN {
            descent = match self.now {
                RunInWork::Free(run) if !is_thread => Descent::Process(run),
                RunInWork::Free(_) => Descent::Background,
                // Between messages the main thread is held.
                RunInWork::Held | RunInWork::Nothing => Descent::Held,
            };
        }
        if let Birth::Separate { from, origin } = self.kernel.birth(parent, is_thread) {
            let is_certain = !from.iter().any(|it| self.late.iter().any(|(late, _)| *late == it.parent));
            self.tick += 1;
            self.kernel.separated(InFlight { parent, is_thread }, origin, self.tick, is_certain);
        }
        match is_late {
            true => self.late.push((parent, descent)),
            false => self.start(descent),
        }
    }

    fn start(&mut self, descent: Descent) {
        let number = 1000 + u32::try_from(self.alive.len()).unwrap();
        self.alive.push((thread(number, self.tick), descent));
    }

    fn step(&mut self, step: HistoryStep) {
        match step {
            HistoryStep::BeginFree => self.begin(false),
            HistoryStep::BeginHeld => self.begin(true),
            HistoryStep::End => {
                self.kernel.end();
                self.now = RunInWork::Nothing;
            }
            HistoryStep::Birth { parent, is_thread, is_late } => self.birth(parent, is_thread, is_late),
            HistoryStep::Finish => {
                if let Some((_, descent)) = self.late.pop() {
                    self.start(descent);
                }
            }
            HistoryStep::Call { thread } => self.call(thread),
        }
    }

    fn call(&mut self, thread: usize) {
        let (caller, descent) = self.alive[thread % self.alive.len()];
        if caller == MAIN || self.late.iter().any(|(late, _)| *late == caller) {
            return;
        }
        let found = self.kernel.verdict(caller).kinds;
        let may_remove = matches!((descent, self.now), (Descent::Process(of), RunInWork::Free(now)) if of == now);
        assert!(descent != Descent::Held || found == Kinds::NONE, "{found:?}");
        assert!(may_remove || !found.has(Effect::Remove) && !found.has(Effect::Signal), "{descent:?} {found:?}");
    }
}

proptest! {
    #[test]
    fn no_descendant_of_held_code_ever_has_a_kind(steps in prop::collection::vec(step(), 1..120)) {
        let mut world = TrueHistory {
            kernel: mixed(),
            tick: 100,
            alive: vec![(MAIN, Descent::Background)],
            late: Vec::new(),
            now: RunInWork::Nothing,
            runs: 0,
        };
        for step in steps {
            world.step(step);
            for (caller, _) in world.alive.iter().filter(|(caller, of)| *of == Descent::Held && *caller != MAIN) {
                let origin = world.kernel.origin_of_child(*caller, false);
                prop_assert!(matches!(origin, Origin::Held(_) | Origin::Unknown), "{:?}", origin);
            }
        }
    }
}
