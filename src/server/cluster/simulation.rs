//! Simulation of a large cluster: the real [`ClusterNodes`] over a store in memory, with connections that follow notebooks, while
//! nodes die, lose the store, drain and join. Time is simulated: the same seed gives the same story.
//!
//! Rooms, edges and clients are models of what `rooms`, `socket/edge` and `client` do, with their pauses.

mod store;
mod world;

use world::{Happening, Scale, World};

/// Numbers that a run prints, for BENCHMARKS.md.
fn report(world: &World) {
    for line in world.lines() {
        println!("{line}");
    }
}

fn scale() -> Scale {
    let number = |name: &str, default| std::env::var(name).map_or(default, |text| text.parse().unwrap());
    Scale {
        nodes: number("NOTARIUM_CLUSTER_NODES", 20),
        notebooks: number("NOTARIUM_CLUSTER_NOTEBOOKS", 5_000),
        connections: number("NOTARIUM_CLUSTER_CONNECTIONS", 500),
    }
}

/// A runtime for timeouts, none of which ends: the store in memory answers at once.
fn timers() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap()
}

#[test]
fn notebooks_are_balanced_and_only_those_of_lost_nodes_reopen() {
    let timers = timers();
    let _entered = timers.enter();
    let scale = scale();
    let mut world = World::start(scale, 28);
    world.run_for(10_000);
    let (most, mean) = world.balance();
    let tolerance = 1.0 + 5.0 / mean.sqrt();
    assert!(most <= mean * tolerance, "a node has {most} notebooks, the mean is {mean}");
    let happenings = [
        ("a node is killed", Happening::Kill(1)),
        ("two nodes are killed together", Happening::Kill(2)),
        ("a node loses the store for 6 s", Happening::CutOff),
        ("a node drains", Happening::Drain),
        ("two nodes join", Happening::Join(2)),
        ("five nodes are killed together", Happening::Kill(5)),
    ];
    for (name, happening) in happenings {
        world.happens(name, &happening);
        world.run_for(20_000);
        world.check();
        let outcome = world.outcome();
        let line = world.lines().pop().unwrap();
        // Two nodes that learn of a death at different times may both open a room.
        assert!(outcome.reopened <= outcome.lost + outcome.lost / 20 + 2, "{name}: {line}");
        assert!(outcome.median_ms <= 5_000 && outcome.p99_ms <= 8_000, "{name}: {line}");
    }
    report(&world);
}

#[test]
fn a_draining_node_gives_up_first_what_others_have_taken() {
    let timers = timers();
    let _entered = timers.enter();
    let mut world = World::start(Scale { nodes: 5, notebooks: 3_000, connections: 300 }, 28);
    world.run_for(10_000);
    world.happens("a node drains", &Happening::Drain);
    // The others know of it, and have opened the notebooks with work; the node still has rooms.
    world.run_for(1_500);
    let before = world.outcome().lost;
    world.check_rooms();
    world.run_for(20_000);
    world.check();
    assert!(world.outcome().lost > before, "the node had given up all its rooms");
}
