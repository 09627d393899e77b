//! Reactive notebooks: the runs that follow a requested one, and their ends.

use crate::support::*;
use notarium_core::reactive::{CellReport, CircleStep, NotebookGraph, StaleReason, Standing, notebook_graph};
use notarium_core::{Event, ExecutionStatus, RejectionCode as Code, RejectionDetails};
use serde_json::Value;

/// A notebook of this mode with these sources and an idle kernel.
fn reactive(mode: &str, cells: &[(&str, &str)]) -> World {
    let mut world = started();
    for id in ["a", "c"] {
        world.step(&user("ann"), json!({"DeleteCell": {"cell_id": id}}));
    }
    for (id, source) in cells {
        world.step(&user("ann"), insert(id, "code", source));
    }
    world.with(&user("editor"), json!({"SetReactivity": {"reactivity": mode}}))
}

const CHAIN: &[(&str, &str)] = &[("one", "x = 1"), ("two", "y = x"), ("three", "z = y"), ("other", "w = 1")];

/// Lines "cell waits_for cell, cell" for each requested run, "removes …" for a removal.
fn plan(world: &World, events: &[Event]) -> Vec<String> {
    let cell = |id: &notarium_core::ExecutionId| {
        let run = world.recorded.iter().find_map(|recorded| match &recorded.event {
            Event::ExecutionRequested(event) if event.execution_id == *id => event.subject.cell_id().cloned(),
            _ => None,
        });
        run.map_or_else(|| id.to_string(), |id| id.to_string())
    };
    let requested = events.iter().filter_map(|event| match event {
        Event::ExecutionRequested(event) => Some(event),
        _ => None,
    });
    let told = requested.map(|event| match event.subject.cell_id() {
        Some(id) if event.waits_for.is_empty() => id.to_string(),
        Some(id) => format!("{id} after {}", event.waits_for.iter().map(cell).collect::<Vec<_>>().join(" ")),
        None => format!("removes {}", event.subject.source().rsplit("and None)").next().unwrap()),
    });
    told.collect()
}

fn run(world: &mut World, cell: &str) -> Vec<String> {
    let (events, _) = world.try_do(&user("ann"), &run_of(cell)).unwrap();
    plan(world, &events)
}

fn run_of(cell: &str) -> Value {
    json!({"RequestExecution": {"target": {"cell": {"cell_id": cell}}}})
}

fn edit_to(world: &mut World, cell: &str, source: &str) {
    let version = world.cell(cell).cell_version;
    world.step(&user("editor"), json!({"ReplaceSource": {"cell_id": cell, "cell_version": version, "source": source}}));
}

/// Ends the runs of the kernel one by one until its queue is empty. The named cells fail.
fn work(world: &mut World, failing: &[&str]) -> Vec<String> {
    let mut done = Vec::new();
    loop {
        let assigned = world.notebook.executions.iter().find(|(_, run)| run.status == ExecutionStatus::Assigned);
        let Some((id, run)) = assigned.map(|(id, run)| (id.to_string(), run.clone())) else { return done };
        let cell = run.subject.cell_id().map_or("removal", |id| id.as_str()).to_owned();
        world.step(&agent("gpu"), report(&id, 1, json!({"started": {}})));
        world.step(&agent("gpu"), report(&id, 2, completed(!failing.contains(&&*cell))));
        done.push(cell);
    }
}

fn graph(world: &World) -> NotebookGraph {
    notebook_graph(&world.notebook, &world.notebook.ledger.kernel_variables(), names_of_all(&world.notebook))
}

fn cell_of(graph: &NotebookGraph, cell: &str) -> CellReport {
    graph.cells.iter().find(|report| report.cell_id.as_str() == cell).unwrap().clone()
}

/// Lines "cell: why" for all cells that are not fresh.
fn stale(world: &World) -> Vec<String> {
    let cells = graph(world).cells;
    let told = cells.iter().filter_map(|cell| Some(format!("{}: {}", cell.cell_id, cell.why.as_ref()?)));
    told.collect()
}

/// Every event and field that only reactive notebooks have.
pub fn story() -> World {
    let mut world = reactive("eager", CHAIN);
    world.step(&user("ann"), request("one", "first"));
    work(&mut world, &["two"]);
    edit_to(&mut world, "one", "v = 1");
    world.step(&user("ann"), request("one", "second"));
    world.step(&user("ann"), json!({"DeleteCell": {"cell_id": "one"}}));
    work(&mut world, &[]);
    world.with(&user("ann"), json!({"SetReactivity": {"reactivity": "lazy"}}))
}

#[test]
fn an_eager_run_is_followed_by_what_reads_from_it() {
    let mut world = reactive("eager", CHAIN);
    let (events, outcome) = world.try_do(&user("ann"), &request("one", "run")).unwrap();
    assert_eq!(plan(&world, &events), ["one", "two after one", "three after two"]);
    let causes: Vec<Value> = events
        .iter()
        .filter_map(|event| match event {
            Event::ExecutionRequested(event) => Some(serde_json::to_value(&event.cause).unwrap()),
            _ => None,
        })
        .collect();
    let dependency = json!({"dependency": {"of": "run"}});
    assert_eq!(causes, [json!("requested"), dependency.clone(), dependency]);
    assert_eq!(outcome.executions.len(), 1, "the sender learns of the run that it asked for");
    assert_eq!(types(&events).last(), Some(&"ExecutionAssigned"));
    assert_eq!(work(&mut world, &[]), ["one", "two", "three"], "one at a time");
    assert_eq!(stale(&world), ["other: it has not run here"]);
    assert_eq!(run(&mut world, "two"), ["two", "three after two"], "what it reads is fresh");
}

#[test]
fn a_lazy_run_runs_what_is_stale_before_it_and_marks_what_is_behind() {
    let mut world = reactive("lazy", CHAIN);
    assert_eq!(run(&mut world, "three"), ["one", "two after one", "three after two"]);
    work(&mut world, &[]);
    assert_eq!(run(&mut world, "one"), ["one"]);
    work(&mut world, &[]);
    assert_eq!(
        stale(&world),
        [
            "two: cell one, from which it reads, has run since",
            "three: cell two, from which it reads, is not up to date",
            "other: it has not run here"
        ]
    );
    assert_eq!(run(&mut world, "three"), ["two", "three after two"]);
}

#[test]
fn an_eager_run_brings_what_its_followers_read_beside_it() {
    let mut world = reactive("eager", &[("x", "x = 1"), ("y", "y = 1"), ("sum", "s = x y"), ("show", "s")]);
    assert_eq!(run(&mut world, "x"), ["x", "y", "sum after x y", "show after sum"]);
}

#[test]
fn without_reactivity_a_run_is_one_cells() {
    let mut world = reactive("off", CHAIN);
    assert_eq!(run(&mut world, "three"), ["three"]);
    let world = reactive("eager", CHAIN);
    let mut off = world.with(&user("ann"), json!({"SetReactivity": {"reactivity": "off"}}));
    assert!(!off.json().contains("reactivity"), "as if there had never been any");
    assert_eq!(run(&mut off, "one"), ["one"]);
}

#[test]
fn who_may_set_it() {
    let set = |mode: &str| json!({"SetReactivity": {"reactivity": mode}});
    let mut world = started();
    for who in ["viewer", "commenter", "runner", "author"] {
        assert_eq!(world.try_do(&user(who), &set("lazy")).unwrap_err().code, Code::Forbidden, "{who}");
    }
    let (events, _) = world.try_do(&user("editor"), &set("lazy")).unwrap();
    assert_eq!(world.whole(&events), json!([{"NotebookReactivitySet": {"reactivity": "lazy", "previous": "off"}}]));
    assert!(world.try_do(&user("ann"), &set("lazy")).unwrap().0.is_empty());
    assert_eq!(archived().try_do(&user("ann"), &set("lazy")).unwrap_err().code, Code::NotebookArchived);
}

#[test]
fn a_failure_blocks_what_reads_from_it_and_nothing_else() {
    let mut world =
        reactive("eager", &[("one", "x = 1"), ("two", "y = x"), ("three", "y"), ("beside", "b = 1"), ("last", "b x")]);
    world.step(&user("ann"), json!({"Batch": {"commands": [run_of("one"), run_of("beside")]}}));
    let first = world.notebook.latest[&cell_id("one")].clone();
    assert_eq!(work(&mut world, &["one"]), ["one", "beside"]);
    for cell in ["two", "three", "last"] {
        let (_, run) = world.notebook.latest_execution(&cell_id(cell)).unwrap();
        assert_eq!((run.status, run.blocked_by.as_ref()), (ExecutionStatus::Blocked, Some(&first)), "{cell}");
    }
    let two = cell_of(&graph(&world), "two");
    assert_eq!((two.standing, two.because_of), (Standing::Blocked, Some(cell_id("one"))));
    assert_eq!(two.why.as_deref(), Some("cell one, from which it reads, did not succeed"));
    assert_eq!(two.reason, Some(StaleReason::CellFailed { cell_id: Some(cell_id("one")) }));
    let again = ["one", "two after one", "three after two", "last after one"];
    assert_eq!(run(&mut world, "three"), again, "what failed is tried again");
}

#[test]
fn cancelling_a_run_that_waits_blocks_what_waits_for_it() {
    let mut world = reactive("eager", CHAIN);
    world.step(&user("ann"), run_of("other"));
    run(&mut world, "one");
    let (id, _) = world.notebook.latest_execution(&cell_id("one")).unwrap();
    let cancel = json!({"CancelExecution": {"execution_id": id.as_str()}});
    let (events, _) = world.try_do(&user("ann"), &cancel).unwrap();
    assert_eq!(types(&events), ["ExecutionCancelled", "ExecutionBlocked", "ExecutionBlocked"]);
    assert_eq!(work(&mut world, &[]), ["other"]);
}

#[test]
fn cells_in_a_circle_do_not_run_and_are_told_which() {
    let circle = [("k", "x = y"), ("l", "y = z"), ("m", "z = x"), ("n", "x"), ("free", "v = 1")];
    let mut world = reactive("eager", &circle);
    let before = world.json();
    for (cell, way) in
        [("k", "k (`x`) → m (`z`) → l (`y`) → k"), ("l", "l (`y`) → k"), ("m", "m (`z`) → l"), ("n", "k (`x`) → m")]
    {
        let rejection = world.try_do(&user("ann"), &run_of(cell)).unwrap_err();
        assert_eq!(rejection.code, Code::DependencyCycle, "{cell}");
        let Some(RejectionDetails::Cells { cells }) = rejection.details.as_deref() else { panic!("{rejection:?}") };
        let first = way.split(' ').next().expect("a way");
        assert!(cells[0].as_str() == first && cells.len() == 3, "{cells:?}");
        assert!(rejection.message.contains(way), "{cell}: {}", rejection.message);
    }
    assert_eq!(world.json(), before);
    assert_eq!(run(&mut world, "free"), ["free"]);
    let graph = graph(&world);
    assert_eq!(cell_of(&graph, "l").standing, Standing::Cycle);
    let l = cell_of(&graph, "l");
    assert!(l.why.unwrap().ends_with("l (`y`) → k (`x`) → m (`z`) → l"));
    let step = |cell: &str, name: &str| CircleStep { cell_id: cell_id(cell), name: name.to_owned() };
    let cells = vec![step("l", "y"), step("k", "x"), step("m", "z")];
    assert_eq!(l.reason, Some(StaleReason::Circle { cells, more: 0 }));
    assert_eq!(cell_of(&graph, "n").standing, Standing::Stale);
    edit_to(&mut world, "l", "y = 1");
    assert_eq!(run(&mut world, "l"), ["l", "k after l", "m after k", "n after k"]);
}

#[test]
fn a_long_circle_is_named_by_its_first_cells_and_the_number_of_the_others() {
    let circle = |count: usize| {
        let source = |cell: usize| format!("n{cell} = n{}", (cell + count - 1) % count);
        let cells: Vec<(String, String)> = (0..count).map(|cell| (format!("c{cell}"), source(cell))).collect();
        let cells: Vec<(&str, &str)> = cells.iter().map(|(id, source)| (&**id, &**source)).collect();
        cell_of(&graph(&reactive("lazy", &cells)), "c0")
    };
    for (count, named, more) in [(8, 8, 0), (9, 8, 1), (12, 8, 4)] {
        let report = circle(count);
        let Some(StaleReason::Circle { cells, more: further }) = &report.reason else { panic!("{report:?}") };
        assert_eq!((cells.len(), *further), (named, more));
        let end = if more == 0 { "c7 (`n7`) → c0".to_owned() } else { format!("→ … {more} more … → c0") };
        assert!(report.why.as_ref().unwrap().ends_with(&end), "{report:?}");
    }
}

#[test]
fn reasons_have_a_kind_and_the_cells_that_they_are_about() {
    let mut world = reactive("lazy", CHAIN);
    let reasons = |world: &World| {
        let cells = graph(world).cells.into_iter();
        let told =
            cells.filter_map(|cell| Some((cell.cell_id.to_string(), serde_json::to_value(cell.reason?).unwrap())));
        serde_json::to_value(told.collect::<std::collections::BTreeMap<_, _>>()).unwrap()
    };
    assert_eq!(reasons(&world)["one"], json!({"kind": "not_run"}));
    run(&mut world, "two");
    work(&mut world, &[]);
    assert_eq!((&reasons(&world)["one"], &reasons(&world)["two"]), (&json!(null), &json!(null)));
    edit_to(&mut world, "one", "x = 2");
    assert_eq!(reasons(&world)["one"], json!({"kind": "edited"}));
    assert_eq!(reasons(&world)["two"], json!({"kind": "cell_stale", "cell_id": "one"}));
    run(&mut world, "one");
    work(&mut world, &[]);
    assert_eq!(reasons(&world)["two"], json!({"kind": "ran_since", "cell_id": "one"}));
}

#[test]
fn a_cell_that_reads_what_a_circle_leaves_is_no_part_of_anothers_plan() {
    let mut world =
        reactive("eager", &[("k", "x = y"), ("l", "y = x"), ("root", "r = 1"), ("both", "r x"), ("one", "r")]);
    assert_eq!(run(&mut world, "root"), ["root", "one after root"]);
}

#[test]
fn a_name_defined_twice_is_told_on_both_and_read_from_the_nearest_above() {
    let mut world = reactive(
        "eager",
        &[
            ("one", "x = 1"),
            ("use", "x"),
            ("two", "x = 2"),
            ("last", "x"),
            ("i", "import np = 1"),
            ("j", "import np = 1"),
        ],
    );
    let graph = graph(&world);
    let clashes: Vec<String> =
        graph.defined_twice.iter().map(|clash| format!("{} {:?}", clash.name, clash.cells)).collect();
    assert_eq!(clashes, ["x [CellId(one), CellId(two)]"], "what all import is no clash");
    assert_eq!(run(&mut world, "one"), ["one", "use after one"]);
    assert_eq!(run(&mut world, "two"), ["two", "last after two"]);
    world.step(&user("ann"), json!({"MoveCell": {"cell_id": "two", "place": "end"}}));
    assert_eq!(run(&mut world, "one"), ["one", "use after one", "last after one"]);
}

#[test]
fn a_star_may_leave_any_name() {
    let mut world =
        reactive("eager", &[("x", "x = 1"), ("star", "*"), ("both", "x"), ("own", "y = 1"), ("y", "y"), ("w", "w")]);
    assert_eq!(run(&mut world, "star"), ["x", "star", "both after x star", "w after star"]);
}

#[test]
fn a_cell_may_be_read_above() {
    let mut world = reactive("lazy", &[("reads", "x"), ("leaves", "x = 1")]);
    assert_eq!(run(&mut world, "reads"), ["leaves", "reads after leaves"]);
}

#[test]
fn running_all_is_one_plan_in_which_each_cell_runs_once() {
    let mut world = reactive("eager", &[("show", "z"), ("one", "x = 1"), ("two", "z = x")]);
    let batch = json!({"Batch": {"commands": [request("show", "first"), run_of("one"), run_of("two")]}});
    let (events, outcome) = world.try_do(&user("ann"), &batch).unwrap();
    assert_eq!(plan(&world, &events), ["one", "two after one", "show after two"]);
    assert_eq!(
        outcome.executions.first().map(|id| id.as_str()),
        Some("first"),
        "in the order in which they were asked for"
    );
    assert_eq!(outcome.executions.len(), 3);
}

#[test]
fn another_kernel_has_none_of_the_variables() {
    let mut world = reactive("lazy", CHAIN);
    run(&mut world, "three");
    work(&mut world, &[]);
    world.step(&agent("gpu"), end_kernel());
    assert!(stale(&world).iter().take(3).all(|line| line.ends_with("the kernel that ran it is gone")));
    assert_eq!(run(&mut world, "three"), ["one", "two after one", "three after two"]);
}

#[test]
fn editing_while_the_plan_runs_makes_cells_stale_and_mixes_nothing() {
    let mut world = reactive("eager", CHAIN);
    run(&mut world, "one");
    edit_to(&mut world, "two", "y = x x");
    let (_, two) = world.notebook.latest_execution(&cell_id("two")).unwrap();
    assert_eq!(two.subject.source(), "y = x");
    work(&mut world, &[]);
    assert_eq!(
        stale(&world)[..2],
        ["two: its text has changed since it ran", "three: cell two, from which it reads, is not up to date"]
    );
}

#[test]
fn the_dependency_graph_changing_while_a_run_is_planned_is_planned_at_one_version() {
    // The names were read from earlier cells; the decision meets other ones.
    let mut world = reactive("eager", CHAIN);
    let names = names_of_all(&world.notebook);
    edit_to(&mut world, "three", "w");
    edit_to(&mut world, "two", "(");
    world.step(&user("ann"), insert("late", "code", "x"));
    let mut context = world.context(&user("ann"), None);
    context.history.names = Some(names);
    let command = world.command(&run_of("one"));
    let decision = notarium_core::decide(&world.notebook, &mut context, command).unwrap();
    let sources: Vec<&str> = decision
        .events
        .iter()
        .filter_map(|decided| match &decided.event {
            Event::ExecutionRequested(event) => Some(event.subject.source()),
            _ => None,
        })
        .collect();
    // The plan uses the names that were known (the room asks again before it decides). The sources are those of this
    // version.
    assert_eq!(sources, ["x = 1", "(", "w"]);
    let mut fresh = world.clone();
    assert_eq!(run(&mut fresh, "one"), ["one", "late after one"], "with the names of this version");
    assert!(cell_of(&graph(&fresh), "two").outdated);
}

#[test]
fn a_cell_that_does_not_parse_keeps_what_was_known_of_it() {
    let world = reactive("eager", CHAIN);
    let mut names = notarium_core::reactive::KnownNames::default();
    learn(&mut names, &world.notebook);
    let mut world = world;
    edit_to(&mut world, "two", "(");
    learn(&mut names, &world.notebook);
    let graph = notebook_graph(&world.notebook, &world.notebook.ledger.kernel_variables(), std::sync::Arc::new(names));
    let two = cell_of(&graph, "two");
    assert!(two.outdated && two.reads == ["x"] && two.writes == ["y"]);
}

#[test]
fn deleting_a_cell_removes_what_it_alone_had_bound_behind_what_reads_it() {
    let mut world = reactive("eager", &[("one", "x shared = 1"), ("two", "y = x"), ("more", "shared = 2")]);
    world.step(&user("ann"), json!({"Batch": {"commands": [run_of("one"), run_of("more")]}}));
    let (events, _) = world.try_do(&user("ann"), &json!({"DeleteCell": {"cell_id": "one"}})).unwrap();
    assert_eq!(types(&events), ["CellDeleted", "ExecutionRequested"], "what runs goes on");
    assert_eq!(plan(&world, &events), [r#"removes (["x"])"#]);
    assert_eq!(
        work(&mut world, &[]),
        ["one", "two", "more", "removal"].map(str::to_owned),
        "never before what reads it"
    );
    assert_eq!(cell_of(&graph(&world), "two").missing, ["x"]);
    world.step(&user("ann"), json!({"RestoreCell": {"cell_id": "one"}}));
    let why = cell_of(&graph(&world), "one").why;
    assert_eq!(why.as_deref(), Some("it was deleted and came back, and its variables did not"));
    assert_eq!(run(&mut world, "two"), ["one", "two after one"]);
}

#[test]
fn deleting_a_cell_whose_run_waits_blocks_what_reads_from_it() {
    let mut world = reactive("eager", &[("busy", "b = 1"), ("one", "x = 1"), ("two", "x")]);
    run(&mut world, "busy");
    run(&mut world, "one");
    let (events, _) = world.try_do(&user("ann"), &json!({"DeleteCell": {"cell_id": "one"}})).unwrap();
    assert_eq!(types(&events)[..3], ["ExecutionCancelled", "ExecutionBlocked", "CellDeleted"]);
    let two = cell_of(&graph(&world), "two");
    assert_eq!((two.standing, two.missing), (Standing::Blocked, vec!["x".to_owned()]));
}

#[test]
fn who_may_not_run_code_leaves_the_removal_to_the_next_run() {
    let mut world = reactive("lazy", &[("one", "x = 1"), ("two", "y = 1")]);
    run(&mut world, "one");
    work(&mut world, &[]);
    let (events, _) = world.try_do(&user("author"), &json!({"DeleteCell": {"cell_id": "one"}})).unwrap();
    assert_eq!(types(&events), ["CellDeleted"]);
    assert_eq!(run(&mut world, "two"), [r#"removes (["x"])"#, "two"]);
    work(&mut world, &[]);
    assert_eq!(run(&mut world, "two"), ["two"]);
}

#[test]
fn renaming_a_variable_removes_the_old_one_when_the_cell_runs_again() {
    let mut world = reactive("lazy", &[("one", "x = 1"), ("two", "x")]);
    run(&mut world, "two");
    work(&mut world, &[]);
    edit_to(&mut world, "one", "z = 1");
    assert_eq!(run(&mut world, "one"), [r#"removes (["x"])"#, "one"]);
    work(&mut world, &[]);
    edit_to(&mut world, "two", "x = 2");
    assert_eq!(run(&mut world, "two"), ["two"], "nothing is left to remove");
}

#[test]
fn what_an_assistant_runs_is_the_cell_that_was_judged() {
    let mut world = reactive("eager", CHAIN);
    world.step(&user("ann"), json!({"SetPolicy": {"policy": "trusted"}}));
    world.step(&user("ann"), json!({"StartTurn": {"conversation_id": "talk", "turn_id": "turn", "text": "run"}}));
    let (events, _) =
        world.try_do(&assistant_of("ann"), &call("go", "execute_cell", json!({"cell_id": "one"}))).unwrap();
    let started = if types(&events).contains(&"ExecutionRequested") {
        events
    } else {
        world.try_do(&reactor_of("ann"), &start("go")).unwrap().0
    };
    assert_eq!(plan(&world, &started), ["one"]);
}

#[test]
fn a_plan_that_is_longer_than_the_queue_is_refused() {
    let mut world = reactive("eager", CHAIN);
    world.limits.max_queued_executions = 2;
    let rejection = world.try_do(&user("ann"), &run_of("one")).unwrap_err();
    assert_eq!(rejection.code, Code::LimitExceeded);
    assert!(rejection.message.contains("asks for 3"), "{}", rejection.message);
}
