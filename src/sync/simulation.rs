//! Many clients, an agent, a bad network, a disk that loses what was not synced, restarts: one seed, one story.
//!
//! `NOTARIUM_SEEDS` says how many seeds run, `NOTARIUM_SEED` replays one.

mod agent;
mod chance;
mod check;
mod disk;
mod editor;
mod fault;
mod replica;
mod world;

pub(crate) use disk::{Disk, context_notebook, harmless, rendered};
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
    let mut totals = world::Totals::default();
    for seed in seeds(1_000) {
        match World::new(seed, None).run() {
            Ok(story) => totals.add(&story),
            Err(violation) => panic!("{violation}\nreplay it with NOTARIUM_SEED={seed}"),
        }
    }
    println!("{totals:?}");
    // A story in which nothing happens proves nothing.
    if totals.stories > 100 {
        assert!(totals.is_eventful(), "{totals:?}");
    }
}

/// Whether a seed says in these words that it has seen the planted bug.
fn is_caught(fault: Fault, words: &[&str]) -> bool {
    let violations = (0..200).filter_map(|seed| World::new(seed, Some(fault)).run().err());
    violations.into_iter().any(|violation| words.iter().any(|word| violation.contains(word)))
}

#[test]
fn an_event_that_is_not_shown_is_caught() {
    assert!(is_caught(Fault::DropEvent, &["a gap", "the log at"]));
}

#[test]
fn a_command_that_is_applied_twice_is_caught() {
    assert!(is_caught(Fault::ApplyTwice, &["was applied at"]));
}

#[test]
fn a_stale_fence_that_is_accepted_is_caught() {
    assert!(is_caught(Fault::AcceptStaleFence, &["stale fence"]));
}
