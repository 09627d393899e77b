//! Properties of plans for all cells: each cell runs once, after its inputs, and nothing near it stays stale.

use std::collections::BTreeSet;
use std::sync::Arc;

use proptest::prelude::*;

use crate::support::*;
use notarium_core::reactive::{Graph, KnownNames, StaleReason, Standing, notebook_graph};
use notarium_core::{Event, ExecutionStatus};
use serde_json::Value;

const NAMES: [&str; 5] = ["p", "q", "r", "s", "t"];

fn source() -> impl Strategy<Value = String> {
    let names = || prop::collection::vec(prop::sample::select(&NAMES[..]), 0..3);
    (names(), names(), 0..20).prop_map(|(left, right, odd)| match odd {
        0 => "*".to_owned(),
        1 => "(".to_owned(),
        _ => format!("{} = {}", left.join(" "), right.join(" ")),
    })
}

#[derive(Debug, Clone)]
enum Step {
    Run(usize),
    Edit(usize, String),
    Delete(usize),
    Move(usize, usize),
    /// The kernel ends a run, as a success or a failure.
    Work(bool),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        3 => (0..8_usize).prop_map(Step::Run),
        3 => (0..8_usize, source()).prop_map(|(cell, source)| Step::Edit(cell, source)),
        1 => (0..8_usize).prop_map(Step::Delete),
        1 => (0..8_usize, 0..8_usize).prop_map(|(cell, after)| Step::Move(cell, after)),
        6 => prop::bool::weighted(0.85).prop_map(Step::Work),
    ]
}

fn name(cell: usize) -> String {
    format!("cell{cell}")
}

fn world(mode: &str, sources: &[String]) -> World {
    let mut world = started();
    for (cell, source) in sources.iter().enumerate() {
        world.step(&user("ann"), insert(&name(cell), "code", source));
    }
    world.with(&user("ann"), json!({"SetReactivity": {"reactivity": mode}}))
}

fn command(world: &World, step: &Step) -> Option<Value> {
    Some(match step {
        Step::Run(cell) => json!({"RequestExecution": {"target": {"cell": {"cell_id": name(*cell)}}}}),
        Step::Edit(cell, source) => {
            let version = world.notebook.cells.get(&cell_id(&name(*cell)))?.cell_version;
            json!({"ReplaceSource": {"cell_id": name(*cell), "cell_version": version, "source": source}})
        }
        Step::Delete(cell) => json!({"DeleteCell": {"cell_id": name(*cell)}}),
        Step::Move(cell, after) => json!({"MoveCell": {"cell_id": name(*cell), "place": {"after": name(*after)}}}),
        Step::Work(_) => return None,
    })
}

/// Ends the next run of the kernel.
fn work(world: &mut World, ok: bool) -> bool {
    let under_way = world.notebook.executions.iter().find(|(_, run)| run.status == ExecutionStatus::Assigned);
    let Some(id) = under_way.map(|(id, _)| id.to_string()) else { return false };
    world.step(&agent("gpu"), report(&id, 1, json!({"started": {}})));
    world.step(&agent("gpu"), report(&id, 2, completed(ok)));
    true
}

/// Checks that each run comes once, after those for which it waits, with the source of this version. Its inputs run
/// before it or are fresh.
fn check_plan(world: &World, before: &World, events: &[Event]) {
    let graph = Graph::of(names_of_all(&before.notebook));
    let place = |cell: &notarium_core::CellId| graph.ids().position(|id| id == cell);
    let mut ran = BTreeSet::new();
    let mut cells = BTreeSet::new();
    for event in events {
        let Event::ExecutionRequested(event) = event else { continue };
        assert!(event.waits_for.iter().all(|id| ran.contains(id) || before.execution(id.as_str()).is_some()));
        ran.insert(event.execution_id.clone());
        let Some(cell) = event.subject.cell_id() else { continue };
        assert!(cells.insert(cell.clone()), "{cell} runs twice");
        assert_eq!(event.subject.source(), world.source(cell.as_str()));
    }
    for (at, event) in events.iter().enumerate() {
        let Event::ExecutionRequested(event) = event else { continue };
        let Some(cell) = event.subject.cell_id().and_then(place) else { continue };
        for parent in graph.parents(cell).iter().map(|edge| graph.id(edge.cell)) {
            let is_its = |other: &Event| matches!(other, Event::ExecutionRequested(other) if other.subject.cell_id() == Some(parent));
            assert!(!events[at..].iter().any(is_its), "{parent} runs behind {}, which reads from it", graph.id(cell));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, ..ProptestConfig::default() })]

    #[test]
    fn plans_are_whole_and_in_order(
        is_eager in any::<bool>(),
        sources in prop::collection::vec(source(), 4..8),
        steps in prop::collection::vec(step(), 1..40),
    ) {
        let mut world = world(if is_eager { "eager" } else { "lazy" }, &sources);
        for step in steps {
            if let Step::Work(ok) = step {
                work(&mut world, ok);
                continue;
            }
            let Some(command) = command(&world, &step) else { continue };
            let before = world.clone();
            if let Ok((events, _)) = world.try_do(&user("ann"), &command) {
                check_plan(&world, &before, &events);
            }
        }
        prop_assert_eq!(&replay(&world.log), &world.notebook);
        // If all runs succeed, an eager run leaves no stale cell among its inputs and dependents.
        while work(&mut world, true) {}
        let Some(root) = world.notebook.order.iter().find(|id| id.as_str().starts_with("cell")).cloned() else { return Ok(()) };
        let run = json!({"RequestExecution": {"target": {"cell": {"cell_id": root.as_str()}}}});
        if world.try_do(&user("ann"), &run).is_err() {
            return Ok(());
        }
        while work(&mut world, true) {}
        let graph = notebook_graph(&world.notebook, &world.notebook.ledger.kernel_variables(), names_of_all(&world.notebook));
        let one = graph.cells.iter().find(|cell| cell.cell_id == root).expect("it is there");
        // With a cell that may leave any name there may be no order in which none overwrites what another reads.
        // A cell that reads its own earlier value (`p = p`) has none in a new kernel.
        let is_unknown = graph.cells.iter().any(|cell| match cell.reason {
            Some(StaleReason::MayBeStale { .. }) => true,
            Some(StaleReason::OtherValue { .. }) => !cell.missing.is_empty(),
            _ => false,
        });
        prop_assert!(one.standing == Standing::Fresh || is_unknown, "{:?}", one);
        for child in one.children.iter().filter(|_| is_eager) {
            let child = graph.cells.iter().find(|cell| cell.cell_id == child.cell_id).expect("it is there");
            let is_doomed = matches!(child.reason, Some(StaleReason::Circle { .. } | StaleReason::CellStale { .. }));
            prop_assert!(child.standing == Standing::Fresh || is_doomed || is_unknown, "{:?}", child);
        }
    }

    /// Cached names equal freshly read ones, except for texts that do not parse.
    #[test]
    fn names_that_are_kept_are_those_of_the_cells(sources in prop::collection::vec(source(), 4..8), steps in prop::collection::vec(step(), 1..30)) {
        let mut world = world("lazy", &sources);
        let mut kept = KnownNames::default();
        for step in steps {
            let Some(command) = command(&world, &step) else { continue };
            _ = world.try_do(&user("ann"), &command);
            learn(&mut kept, &world.notebook);
            prop_assert!(kept.is_complete(&world.notebook));
            let (kept, anew) = (notebook_graph(&world.notebook, &world.notebook.ledger.kernel_variables(), Arc::new(kept.clone())), notebook_graph(&world.notebook, &world.notebook.ledger.kernel_variables(), names_of_all(&world.notebook)));
            for (kept, anew) in kept.cells.iter().zip(&anew.cells).filter(|(_, anew)| !anew.outdated) {
                prop_assert_eq!((&kept.cell_id, &kept.reads, &kept.writes), (&anew.cell_id, &anew.reads, &anew.writes));
            }
        }
    }
}
