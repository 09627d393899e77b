//! A cell is fresh only if running everything from nothing in a new kernel shows what it shows: random notebooks, the
//! names that the server reads, and code that IPython runs.

mod kernel;
mod notebooks;

use std::cell::RefCell;
use std::collections::BTreeMap;

use proptest::prelude::*;
use proptest::test_runner::{TestCaseError, TestRunner};

use crate::support::*;
use kernel::{Kernels, Shown, notebooks};
use notarium_core::reactive::{NotebookGraph, StaleReason, Standing, notebook_graph};
use notarium_core::{CellType, ExecutionStatus};
use notebooks::{Step, Text, renamed, step, texts};
use serde_json::Value;

/// Notebooks of `make test`; `make soak` makes 20,000.
const NOTEBOOKS: u32 = 300;

fn name(cell: usize) -> String {
    format!("cell{cell}")
}

/// An empty notebook with an idle kernel, whose names are read as the server reads them.
fn empty() -> World {
    let mut world = started();
    for id in ["a", "b", "c"] {
        world.step(&user("ann"), json!({"DeleteCell": {"cell_id": id}}));
    }
    world.reads_python = true;
    world
}

fn insert_text(cell: usize, text: &Text) -> Value {
    insert(&name(cell), if text.is_sql { "sql" } else { "code" }, &text.source)
}

fn mode(is_eager: bool) -> Value {
    json!({"SetReactivity": {"reactivity": if is_eager { "eager" } else { "lazy" }}})
}

fn command(world: &World, step: &Step) -> Option<Value> {
    let run = |cell: &str| json!({"RequestExecution": {"target": {"cell": {"cell_id": cell}}}});
    let replace = |cell: usize, source: &str| {
        let version = world.notebook.cells.get(&cell_id(&name(cell)))?.cell_version;
        Some(json!({"ReplaceSource": {"cell_id": name(cell), "cell_version": version, "source": source}}))
    };
    Some(match step {
        Step::Run(cell) => run(&name(*cell)),
        Step::RunAll => json!({"Batch": {"commands": world.order().into_iter().map(run).collect::<Vec<_>>()}}),
        Step::Edit(cell, text) => {
            let is_sql = world.notebook.cells.get(&cell_id(&name(*cell)))?.content.cell_type == CellType::Sql;
            replace(*cell, &text.source).filter(|_| is_sql == text.is_sql)?
        }
        Step::Insert(cell, text) => insert_text(*cell, text),
        Step::Delete(cell) => json!({"DeleteCell": {"cell_id": name(*cell)}}),
        Step::Restore(cell) => json!({"RestoreCell": {"cell_id": name(*cell)}}),
        Step::Move(cell, after) => json!({"MoveCell": {"cell_id": name(*cell), "place": {"after": name(*after)}}}),
        Step::Rename(cell, from, to) => {
            let source = &world.notebook.cells.get(&cell_id(&name(*cell)))?.content.source;
            replace(*cell, &renamed(source, *from, *to))?
        }
        Step::Mode(is_eager) => mode(*is_eager),
    })
}

/// Runs what the kernel's queue holds; adds what each run showed, by execution.
fn work(world: &mut World, kernels: &mut Kernels, kernel: u64, shown: &mut BTreeMap<String, Shown>) {
    loop {
        let assigned = world.notebook.executions.iter().find(|(_, run)| run.status == ExecutionStatus::Assigned);
        let Some((id, source)) = assigned.map(|(id, run)| (id.to_string(), run.subject.source().to_owned())) else {
            return;
        };
        let result = kernels.run(kernel, &source);
        world.step(&agent("gpu"), report(&id, 1, json!({"started": {}})));
        world.step(&agent("gpu"), report(&id, 2, completed(result.is_ok)));
        shown.insert(id, result);
    }
}

fn graph(world: &World) -> NotebookGraph {
    let names = names_of_python(&world.notebook);
    notebook_graph(&world.notebook, &world.notebook.ledger.kernel_variables(), names)
}

/// Texts that the latest run of each cell showed.
fn latest(world: &World, shown: &BTreeMap<String, Shown>) -> BTreeMap<String, Shown> {
    let latest = world.notebook.latest.iter();
    latest.filter_map(|(cell, id)| Some((cell.to_string(), shown.get(id.as_str())?.clone()))).collect()
}

fn texts_of(world: &World) -> Vec<(String, Text)> {
    let cells = world.notebook.ordered_cells();
    let text = |cell: &notarium_core::Cell| Text {
        is_sql: cell.content.cell_type == CellType::Sql,
        source: cell.content.source.clone(),
    };
    cells.map(|(id, cell)| (id.to_string(), text(cell))).collect()
}

/// Texts that cells show when all run from nothing in a new kernel, in the order of a plan.
fn from_nothing(world: &World, kernels: &mut Kernels) -> BTreeMap<String, Shown> {
    let (mut anew, mut shown, kernel) = (empty(), BTreeMap::new(), kernels.next());
    for (id, text) in texts_of(world) {
        let cell_type = if text.is_sql { "sql" } else { "code" };
        anew.step(&user("ann"), insert(&id, cell_type, &text.source));
    }
    anew.step(&user("ann"), mode(true));
    // Cells in a circle do not run, and nothing runs beside them in one request: each of the others runs once.
    let all = command(&anew, &Step::RunAll).expect("a command");
    if anew.try_do(&user("ann"), &all).is_err() {
        for (id, _) in texts_of(world) {
            if anew.notebook.latest.contains_key(&cell_id(&id)) {
                continue;
            }
            _ = anew.try_do(&user("ann"), &json!({"RequestExecution": {"target": {"cell": {"cell_id": id}}}}));
        }
    }
    work(&mut anew, kernels, kernel, &mut shown);
    kernels.end(kernel);
    latest(&anew, &shown)
}

/// Texts that cells show from top to bottom of the page; `None` if one of them fails.
fn down_the_page(world: &World, kernels: &mut Kernels) -> Option<BTreeMap<String, Shown>> {
    let kernel = kernels.next();
    let run = |(id, _): (String, Text)| {
        let shown = kernels.run(kernel, &world.cell(&id).content.text_to_run());
        shown.is_ok.then_some((id, shown))
    };
    let shown = texts_of(world).into_iter().map(run).collect();
    kernels.end(kernel);
    shown
}

#[derive(Debug, Default)]
struct Tally {
    fresh: usize,
    compared: usize,
    may_be: usize,
}

fn check(
    world: &World,
    kernels: &mut Kernels,
    shown: &BTreeMap<String, Shown>,
    tally: &mut Tally,
) -> Result<(), TestCaseError> {
    let (now, graph) = (latest(world, shown), graph(world));
    tally.compared += graph.cells.len();
    tally.fresh += graph.cells.iter().filter(|cell| cell.standing == Standing::Fresh).count();
    let may_be = |cell: &&_| matches!(cell, Some(StaleReason::MayBeStale { .. }));
    tally.may_be +=
        graph.cells.iter().map(|cell| cell.reason.clone()).collect::<Vec<_>>().iter().filter(may_be).count();
    let (anew, page) = (from_nothing(world, kernels), down_the_page(world, kernels));
    for cell in graph.cells.iter().filter(|cell| cell.standing == Standing::Fresh) {
        let id = cell.cell_id.to_string();
        prop_assert_eq!(
            now.get(&id),
            anew.get(&id),
            "{} is fresh, and a new kernel shows another text: {:#?}",
            id,
            texts_of(world)
        );
        if let Some(page) = &page {
            prop_assert_eq!(now.get(&id), page.get(&id), "{} from top to bottom: {:#?}", id, texts_of(world));
        }
    }
    Ok(())
}

fn walk(texts: &[Text], steps: &[Step], kernels: &mut Kernels, tally: &mut Tally) -> Result<(), TestCaseError> {
    let (mut world, mut shown, kernel) = (empty(), BTreeMap::new(), kernels.next());
    for (cell, text) in texts.iter().enumerate() {
        world.step(&user("ann"), insert_text(cell, text));
    }
    world.step(&user("ann"), mode(true));
    for step in [Step::RunAll].iter().chain(steps) {
        let Some(command) = command(&world, step) else { continue };
        if world.try_do(&user("ann"), &command).is_ok() {
            work(&mut world, kernels, kernel, &mut shown);
            check(&world, kernels, &shown, tally)?;
        }
    }
    kernels.end(kernel);
    prop_assert_eq!(&replay(&world.log), &world.notebook);
    Ok(())
}

#[test]
fn a_cell_is_fresh_only_if_a_new_kernel_shows_the_same() {
    let config = ProptestConfig { cases: notebooks(NOTEBOOKS), failure_persistence: None, ..ProptestConfig::default() };
    let (kernels, tally) = (RefCell::new(Kernels::start()), RefCell::new(Tally::default()));
    let notebook = (texts(), prop::collection::vec(step(), 1..12));
    let outcome = TestRunner::new(config)
        .run(&notebook, |(texts, steps)| walk(&texts, &steps, &mut kernels.borrow_mut(), &mut tally.borrow_mut()));
    if let Err(failure) = outcome {
        panic!("{failure}");
    }
    let Tally { fresh, compared, may_be } = tally.into_inner();
    println!("{fresh} of {compared} cells were fresh, {may_be} may have been stale");
    assert!(fresh * 3 >= compared, "too few cells are fresh for a test of those: {fresh} of {compared}");
}
