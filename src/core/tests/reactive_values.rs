//! Reactive notebooks: whose value of a name a cell has read. Names are read from Python and SQL, as the server does.

use crate::support::*;
use notarium_core::reactive::{CellReport, NotebookGraph, StaleReason, Standing, notebook_graph};
use notarium_core::{Event, ExecutionStatus};
use serde_json::Value;

/// A reactive notebook of these cells; those whose id begins with `q` are queries.
fn python(mode: &str, cells: &[(&str, &str)]) -> World {
    let mut world = started();
    world.reads_python = true;
    for id in ["a", "b", "c"] {
        world.step(&user("ann"), json!({"DeleteCell": {"cell_id": id}}));
    }
    for (id, source) in cells {
        world.step(&user("ann"), insert(id, if id.starts_with('q') { "sql" } else { "code" }, source));
    }
    world.with(&user("ann"), json!({"SetReactivity": {"reactivity": mode}}))
}

fn run_of(cell: &str) -> Value {
    json!({"RequestExecution": {"target": {"cell": {"cell_id": cell}}, "stop_on_error": true}})
}

/// Ends the kernel's runs until its queue is empty; the named cells fail. Returns the cells in the order of their runs, and
/// removed names.
fn work(world: &mut World, failing: &[&str]) -> Vec<String> {
    let mut done = Vec::new();
    loop {
        let assigned = world.notebook.executions.iter().find(|(_, run)| run.status == ExecutionStatus::Assigned);
        let Some((id, run)) = assigned.map(|(id, run)| (id.to_string(), run.clone())) else { return done };
        let removed = || format!("removes {}", run.subject.source().rsplit("and None)").next().expect("names"));
        let cell = run.subject.cell_id().map_or_else(removed, |id| id.to_string());
        world.step(&agent("gpu"), report(&id, 1, json!({"started": {}})));
        world.step(&agent("gpu"), report(&id, 2, completed(!failing.contains(&&*cell))));
        done.push(cell);
    }
}

fn run(world: &mut World, cell: &str) -> Vec<String> {
    world.step(&user("ann"), run_of(cell));
    work(world, &[])
}

fn run_all(world: &mut World, failing: &[&str]) -> Vec<String> {
    let all: Vec<Value> = world.order().into_iter().map(run_of).collect();
    world.step(&user("ann"), json!({"Batch": {"commands": all}}));
    work(world, failing)
}

fn edit(world: &mut World, cell: &str, source: &str) {
    let version = world.cell(cell).cell_version;
    world.step(&user("ann"), json!({"ReplaceSource": {"cell_id": cell, "cell_version": version, "source": source}}));
}

fn graph(world: &World) -> NotebookGraph {
    notebook_graph(&world.notebook, &world.notebook.ledger.kernel_variables(), names_of_python(&world.notebook))
}

fn report_of(world: &World, cell: &str) -> CellReport {
    graph(world).cells.into_iter().find(|report| report.cell_id.as_str() == cell).expect("a cell")
}

/// Lines "cell: why" for all cells that are not fresh.
fn stale(world: &World) -> Vec<String> {
    graph(world).cells.iter().filter_map(|cell| Some(format!("{}: {}", cell.cell_id, cell.why.as_ref()?))).collect()
}

fn parents(world: &World, cell: &str) -> Vec<String> {
    report_of(world, cell).parents.iter().map(|link| format!("{} {}", link.cell_id, link.names.join(" "))).collect()
}

const TWO: &[(&str, &str)] = &[("one", "x = 1"), ("two", "x = 2"), ("show", "print(x)")];
const LOST: [&str; 2] =
    ["one: cell two has overwritten its `x`", "show: cell one, from which it reads, is not up to date"];

#[test]
fn a_value_that_another_cell_has_overwritten_is_not_fresh() {
    let changes: [fn(&mut World); 3] = [
        |world| _ = world.step(&user("ann"), json!({"DeleteCell": {"cell_id": "two"}})),
        |world| edit(world, "two", "z = 2"),
        |world| _ = world.step(&user("ann"), json!({"MoveCell": {"cell_id": "two", "place": "end"}})),
    ];
    for (at, change) in changes.into_iter().enumerate() {
        for mode in ["eager", "lazy"] {
            let mut world = python(mode, TWO);
            assert_eq!(run_all(&mut world, &[]), ["one", "two", "show"]);
            assert_eq!(stale(&world), [""; 0], "as in a new kernel");
            change(&mut world);
            let lines: Vec<String> = stale(&world).into_iter().filter(|line| !line.starts_with("two")).collect();
            assert_eq!(lines, LOST, "{at}");
            let reason = StaleReason::Overwritten { name: "x".to_owned(), cell_id: Some(cell_id("two")) };
            assert_eq!(report_of(&world, "one").reason, Some(reason));
            assert_eq!(run(&mut world, "show"), ["one", "show"]);
            assert!(!stale(&world).iter().any(|line| !line.starts_with("two")), "{:?}", stale(&world));
        }
    }
}

#[test]
fn the_source_runs_again_before_a_reader_if_the_kernel_has_lost_its_value() {
    let mut world = python("eager", &[("one", "x = 1"), ("show", "print(x)"), ("two", "x = 2"), ("last", "print(x)")]);
    assert_eq!(run_all(&mut world, &[]), ["one", "show", "two", "last"]);
    assert_eq!(stale(&world), [""; 0]);
    assert_eq!(run(&mut world, "show"), ["one", "show"], "the kernel had the x of `two`");
    assert_eq!(stale(&world), [""; 0], "`last` has read the x of `two`");
    assert_eq!(run(&mut world, "last"), ["two", "last"]);
    let mut world = python("lazy", &[("load", "df = 1"), ("clean", "df = df + 1"), ("show", "print(df)")]);
    assert_eq!(run_all(&mut world, &[]), ["load", "clean", "show"]);
    assert_eq!(run(&mut world, "show"), ["show"]);
    assert_eq!(run(&mut world, "clean"), ["load", "clean"], "it had read its own df");
    assert_eq!(stale(&world), ["show: cell clean, from which it reads, has run since"]);
}

#[test]
fn no_cell_overwrites_a_name_before_it_is_read_in_a_plan() {
    let cells = [("one", "x = 1"), ("show", "print(x, y)"), ("two", "x = 2"), ("below", "y = 3")];
    let mut world = python("eager", &cells);
    assert_eq!(run_all(&mut world, &[]), ["one", "below", "show", "two"]);
    assert_eq!(stale(&world), [""; 0]);
    // Here no order keeps the first x until it is read.
    let cells = [("one", "x = 1"), ("show", "print(x, y)"), ("two", "x = 2"), ("below", "y = x")];
    let mut world = python("eager", &cells);
    run_all(&mut world, &[]);
    assert_eq!(stale(&world), ["show: it may be stale: `x` is overwritten before it can read it"]);
}

#[test]
fn one_branch_binds_perhaps_and_reads_what_was_there() {
    let cells = [("flag", "c = 0"), ("one", "x = 1"), ("maybe", "if c: x = 2"), ("show", "print(x)")];
    let mut world = python("lazy", &cells);
    run_all(&mut world, &[]);
    assert_eq!(parents(&world, "show"), ["one x", "maybe x"]);
    edit(&mut world, "flag", "c = 1");
    assert_eq!(run(&mut world, "show"), ["flag", "one", "maybe", "show"], "what it bound before must not remain");
    assert_eq!(stale(&world), [""; 0]);
    let mut world = python("lazy", &[("flag", "c = 1"), ("maybe", "if c: x = 2"), ("show", "print(x)")]);
    run_all(&mut world, &[]);
    edit(&mut world, "flag", "c = 0");
    assert_eq!(run(&mut world, "show"), [r#"removes (["x"])"#, "flag", "maybe", "show"]);
}

#[test]
fn deletions_are_no_definitions() {
    let cells =
        [("one", "e = g = 1"), ("try", "try: f()\nexcept E as e: pass"), ("def", "def d():\n    global g\n    del g")];
    let world = python("lazy", &cells);
    assert_eq!((graph(&world).defined_twice, report_of(&world, "try").writes), (Vec::new(), Vec::<String>::new()));
    let mut world = python("eager", &[("one", "x = 1"), ("show", "print(x)"), ("drop", "del x"), ("last", "print(x)")]);
    run_all(&mut world, &["last"]);
    assert_eq!(report_of(&world, "last").missing, ["x"]);
    world.step(&user("ann"), json!({"MoveCell": {"cell_id": "show", "place": "end"}}));
    assert_eq!(parents(&world, "show"), ["drop x"]);
    assert_eq!(report_of(&world, "show").standing, Standing::Stale, "a new kernel has no x there");
}

#[test]
fn what_magics_bind_is_followed() {
    let mut world = python("eager", &[("n", "n = 1"), ("m", "%time m = n + 1"), ("show", "print(m)")]);
    assert_eq!(run(&mut world, "n"), ["n", "m", "show"]);
    let mut world = python("eager", &[("n", "n = 1"), ("m", "%%capture cap\nprint(n)"), ("show", "print(cap.stdout)")]);
    assert_eq!(run(&mut world, "n"), ["n", "m", "show"]);
    let mut world = python("eager", &[("n", "n = 1"), ("m", "x = !echo {n}"), ("show", "print(x)")]);
    assert_eq!(run(&mut world, "n"), ["n", "m", "show"]);
}

#[test]
fn a_function_reads_its_names_where_it_is_called() {
    let cells = [("k", "k = 1"), ("f", "def f(): return k"), ("again", "k = 2"), ("show", "print(f())")];
    let mut world = python("eager", &cells);
    assert_eq!(run_all(&mut world, &[]), ["k", "f", "again", "show"]);
    assert_eq!(parents(&world, "show"), ["f f"], "what it names itself");
    assert_eq!(run(&mut world, "again"), ["again", "show"]);
    assert_eq!(run(&mut world, "k"), ["k", "f", "again", "show"], "f() must find the k of `again`");
}

#[test]
fn a_query_reads_from_the_cell_that_makes_its_table() {
    let cells = [
        ("least", "least = 1"),
        ("qmake", "CREATE OR REPLACE TABLE t AS SELECT {least} AS v"),
        ("qother", "-- @shop.sqlite\nSELECT * FROM t"),
        ("qshow", "-- > rows\nSELECT * FROM t"),
        ("rows", "print(rows)"),
    ];
    let mut world = python("eager", &cells);
    assert_eq!(run(&mut world, "qmake"), ["least", "qmake", "qshow", "rows"]);
    assert_eq!((parents(&world, "qshow"), parents(&world, "qother")), (vec!["qmake table t".to_owned()], vec![]));
    assert_eq!(report_of(&world, "qother").missing, [""; 0], "it may be in the database");
    let mut world = python("lazy", &[("qmake", "CREATE TABLE t (v int)"), ("qadd", "INSERT INTO t VALUES (1)")]);
    run_all(&mut world, &[]);
    assert_eq!(run(&mut world, "qadd"), ["qadd"], "what made the table is not done twice");
    assert_eq!(stale(&world).len(), 2, "a new kernel has one row: {:?}", stale(&world));
}

#[test]
fn running_all_blocks_only_what_reads_from_the_failed_cell() {
    let mut world =
        python("eager", &[("bad", "x = 1 / 0"), ("reads", "print(x)"), ("free", "y = 1"), ("end", "print(y)")]);
    assert_eq!(run_all(&mut world, &["bad"]), ["bad", "free", "end"]);
    assert_eq!(stale(&world), ["bad: its run failed", "reads: cell bad, from which it reads, did not succeed"]);
    // If runs stop after a failure, the reason is that, and no dependency.
    let mut world = python("off", &[("bad", "x = 1 / 0"), ("free", "y = 1")]);
    assert_eq!(run_all(&mut world, &["bad"]), ["bad"]);
    assert_eq!(stale(&world), ["bad: its run failed", "free: cell bad failed before it"]);
    assert_eq!(report_of(&world, "free").reason, Some(StaleReason::Skipped { cell_id: cell_id("bad") }));
}

#[test]
fn what_nobody_can_know_may_be_stale() {
    let mut world = python("lazy", &[("one", "x = 1"), ("any", "exec('y = 1')"), ("show", "print(x)")]);
    run(&mut world, "one");
    run(&mut world, "any");
    edit(&mut world, "any", "z = 1");
    run_all(&mut world, &[]);
    assert_eq!(stale(&world), [""; 0], "all has run since");
    // An assistant runs one cell, and nobody noted its names.
    let mut world = python("off", &[("one", "x = 1"), ("late", "x = 2"), ("show", "print(x)")]);
    for cell in ["one", "late", "show"] {
        run(&mut world, cell);
    }
    world.step(&user("ann"), json!({"SetReactivity": {"reactivity": "lazy"}}));
    assert_eq!(stale(&world), [""; 0]);
    edit(&mut world, "late", "z = 2");
    assert_eq!(
        stale(&world),
        [
            "late: its text has changed since it ran",
            "show: it may be stale: cell late may have changed `x` before it ran"
        ]
    );
    assert_eq!(run(&mut world, "show"), ["one", "show"]);
    // Text that is evaluated may read what no cell binds any more.
    let mut world = python("eager", &[("one", "x = 1"), ("any", "print(eval('x'))")]);
    run_all(&mut world, &[]);
    world.step(&user("ann"), json!({"DeleteCell": {"cell_id": "one"}}));
    assert_eq!(stale(&world), ["any: it may be stale: cell one may have changed `x` before it ran"]);
    // From top to bottom the text above may bind the name, and the cell below comes too late.
    let mut world = python("eager", &[("any", "exec('y = 1')"), ("show", "print(x)"), ("one", "x = 1")]);
    run_all(&mut world, &[]);
    assert_eq!(stale(&world), ["show: it may be stale: cell any may have changed `x` before it ran"]);
}

#[test]
fn the_log_of_a_kernel_stays_short_and_says_the_same() {
    let mut world = python("eager", TWO);
    run_all(&mut world, &[]);
    for _ in 0..400 {
        run(&mut world, "two");
    }
    world.step(&user("ann"), json!({"DeleteCell": {"cell_id": "two"}}));
    assert_eq!(stale(&world), LOST);
    let runs = world.recorded.iter().filter(|recorded| matches!(recorded.event, Event::ExecutionRequested(_))).count();
    let kept = serde_json::to_value(&world.notebook.ledger).expect("JSON")["reactive"]["log"]["runs"].clone();
    assert!(runs > 800 && kept.as_array().expect("a list").len() < 300, "{runs}");
    assert_eq!(replay(&world.log), world.notebook);
    let json = serde_json::to_string(&world.notebook.ledger).expect("JSON");
    let read: notarium_core::Ledger = serde_json::from_str(&json).expect("a ledger");
    assert_eq!(read, world.notebook.ledger, "a snapshot keeps it");
}
