//! Simulation: many clients, an agent, a bad network, a disk that loses unsynced writes, restarts. One seed gives one story.
//!
//! `NOTARIUM_SEEDS` is the number of seeds to run; `NOTARIUM_SEED` replays one.

mod agent;
mod assistant;
mod audit;
mod chance;
mod check;
mod disk;
mod editor;
mod fault;
mod happenings;
mod plans;
mod replica;
mod totals;
mod wishes;
mod world;

pub(crate) use disk::{Disk, context_notebook, harmless, named, rendered};
pub(crate) use fault::Fault;

use world::World;

#[expect(clippy::disallowed_methods, reason = "which seeds run is the one thing that comes from outside")]
fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

fn seeds(usual: u64) -> Vec<u64> {
    match number("NOTARIUM_SEED") {
        Some(seed) => vec![seed],
        None => (0..number("NOTARIUM_SEEDS").unwrap_or(usual)).collect(),
    }
}

#[test]
fn no_seed_breaks_a_promise() {
    let mut totals = totals::Totals::default();
    for seed in seeds(300) {
        match World::new(seed, None).run() {
            Ok(story) => totals.add(story),
            Err(violation) => panic!("{violation}\nreplay it with NOTARIUM_SEED={seed}"),
        }
    }
    println!("{totals:?}");
    // Stories without events would prove nothing.
    if totals.stories > 100 {
        totals.check_is_eventful();
    }
}

/// Returns true if the story of this seed reports the planted bug in one of these words.
fn is_caught(fault: Fault, seed: u64, words: &[&str]) -> bool {
    let violation = World::new(seed, Some(fault)).run().err();
    violation.is_some_and(|violation| words.iter().any(|word| violation.contains(word)))
}

/// Checks that this seed catches the planted bug. If the stories have changed, the failure names a seed that does.
fn assert_caught(fault: Fault, seed: u64, words: &[&str]) {
    let next = || (0..2_000).find(|seed| is_caught(fault, *seed, words));
    assert!(is_caught(fault, seed, words), "{fault:?}: not by seed {seed}, but by {:?}", next());
}

#[test]
fn an_event_that_is_not_shown_is_caught() {
    assert_caught(Fault::DropEvent, 0, &["a gap", "the log at"]);
}

#[test]
fn a_command_that_is_applied_twice_is_caught() {
    assert_caught(Fault::ApplyTwice, 4, &["was applied at"]);
}

#[test]
fn a_stale_fence_that_is_accepted_is_caught() {
    assert_caught(Fault::AcceptStaleFence, 1, &["stale fence", "ghost"]);
}

#[test]
fn a_report_that_is_taken_before_the_one_that_is_missing_is_caught() {
    assert_caught(Fault::AcceptGap, 129, &["line", "was printed"]);
}

#[test]
fn a_gated_call_that_starts_unconfirmed_is_caught() {
    assert_caught(Fault::OpenGate, 2, &["without a confirmation"]);
}

#[test]
fn a_call_that_is_started_twice_is_caught() {
    assert_caught(Fault::StartAgain, 0, &["becomes Started and is Started"]);
}

#[test]
fn a_confirmation_of_other_arguments_is_caught() {
    assert_caught(Fault::ConfirmAnything, 17, &["other arguments were confirmed"]);
}

#[test]
fn a_command_beyond_the_senders_role_is_caught() {
    assert_caught(Fault::IgnoreRoles, 0, &["is beyond the role"]);
}

#[test]
fn what_is_shown_to_those_without_a_role_is_caught() {
    assert_caught(Fault::ShowToAll, 2, &["who may not see it"]);
}

#[test]
fn an_event_that_is_shown_otherwise_is_caught() {
    assert_caught(Fault::GarbleEvent, 2, &["another than the log's"]);
}

#[test]
fn what_is_acked_and_not_written_is_caught() {
    assert_caught(Fault::LoseAppend, 0, &["is nowhere", "another branch", "a gap"]);
}
