//! What a kernel still has of code that no cell has any more: a call that would use it is judged by it.

use crate::support::*;
use notarium_core::{Event, Risk};

/// A world in which Ann runs a cell again and again.
struct Session {
    world: World,
    runs: u32,
}

impl Session {
    fn new() -> Self {
        Self { world: talking().with(&user("ann"), insert("names", "code", "import os as o")), runs: 0 }
    }

    fn write(mut self, source: &str) -> Self {
        let version = self.world.cell("names").cell_version;
        let write = json!({"cell_id": "names", "cell_version": version, "source": source});
        self.world.step(&user("ann"), json!({"ReplaceSource": write}));
        self
    }

    fn run(mut self) -> Self {
        self.runs += 1;
        let run = format!("run-{}", self.runs);
        self.world.step(&user("ann"), request("names", &run));
        self.world.step(&agent("gpu"), report(&run, 1, json!({"started": {}})));
        self.world.step(&agent("gpu"), report(&run, 2, completed(true)));
        self
    }

    fn then(mut self, command: serde_json::Value) -> Self {
        self.world.step(&user("ann"), command);
        self
    }

    fn left_behind(&self) -> Vec<String> {
        let kernels = self.world.notebook.kernels.values();
        kernels.flat_map(|kernel| kernel.left_behind.iter().map(ToString::to_string)).collect()
    }

    /// The risk of a call that uses the name.
    fn risk(self) -> Risk {
        self.risk_of("o.remove('x')")
    }

    fn risk_of(mut self, source: &str) -> Risk {
        let uses = json!({"cells": [{"source": source}], "run": true});
        let (events, _) = self.world.try_do(&assistant_of("ann"), &call("use", "create_cells", uses)).unwrap();
        let Event::ToolCallRequested(event) = &events[0] else { panic!("{events:?}") };
        event.risk
    }
}

#[test]
fn a_name_stays_bound_when_its_cell_is_changed() {
    assert_eq!(Session::new().risk(), Risk::Destructive, "it stands in a cell");
    assert_eq!(Session::new().write("pass").risk(), Risk::Edit, "it never ran");
    assert_eq!(Session::new().run().write("pass").risk(), Risk::Destructive, "changed since it ran");
    assert_eq!(Session::new().run().write("pass").run().risk(), Risk::Destructive, "another source ran since");
    let deleted = || Session::new().run().then(json!({"DeleteCell": {"cell_id": "names"}}));
    assert_eq!(deleted().risk(), Risk::Destructive, "deleted");
    let cleared = Session::new().run().then(json!({"ClearOutputs": {"cell_id": "names"}})).write("pass");
    assert_eq!(cleared.risk(), Risk::Destructive, "its outputs were cleared");
    assert_eq!(deleted().then(json!({"RestartKernel": {"kernel_session": "$kernel"}})).risk(), Risk::Edit, "restarted");
}

#[test]
fn a_name_of_code_without_a_cell_stays_bound() {
    let mut session = Session::new().write("pass");
    let target = json!({"scratch": {"source": "import os as o", "purpose": "a look"}});
    session.world.step(&user("ann"), json!({"RequestExecution": {"execution_id": "look", "target": target}}));
    for (seq, said) in [(1, json!({"started": {}})), (2, completed(true))] {
        session.world.step(&agent("gpu"), report("look", seq, said));
    }
    assert_eq!(session.risk(), Risk::Destructive);
}

#[test]
fn what_runs_again_leaves_nothing_behind() {
    let mut session = Session::new().run().run().write("pass").run().run();
    assert_eq!(session.left_behind(), ["import os as o"]);
    session = session.write("import os as o").run().write("pass").run();
    assert_eq!(session.left_behind(), ["import os as o", "pass"], "each once");
}

/// Runs a source of this many bytes, and changes the cell.
fn run_of(session: Session, bytes: usize, name: usize) -> Session {
    let head = format!("x = {name} # ");
    let source = format!("{head}{}", "x".repeat(bytes - head.len()));
    session.write(&source).run().write("pass")
}

#[test]
fn the_latest_256_kib_are_kept_and_that_there_was_more() {
    let mut session = Session::new();
    for number in 0..9 {
        session = run_of(session, 40_000, number);
    }
    let left = session.left_behind();
    assert!(left.iter().map(String::len).sum::<usize>() <= 256 << 10);
    assert_eq!((left.len(), &left[5][..5]), (6, "x = 7"));
    assert!(session.world.notebook.kernels.values().all(|kernel| kernel.has_forgotten));
}

#[test]
fn forgetting_closes_the_gate_until_a_restart() {
    let restart = || json!({"RestartKernel": {"kernel_session": "$kernel"}});
    let harmless = |session: Session| session.risk_of("print(1)");
    assert_eq!(harmless(run_of(Session::new(), 90_000, 0)), Risk::Edit, "all is remembered");
    let full = || (0..4).fold(Session::new().run(), |session, name| run_of(session, 99_000, name));
    assert_eq!(harmless(full()), Risk::Destructive, "the first was forgotten");
    assert_eq!(harmless(full().then(restart())), Risk::Edit, "another kernel");
    let large = || run_of(Session::new().run(), 150_000, 0);
    assert_eq!(harmless(large()), Risk::Destructive, "too large to be checked");
    assert_eq!(harmless(large().run()), Risk::Destructive, "nor when no run shows it any more");
    assert_eq!(large().run().left_behind(), ["import os as o"], "and it pushes nothing out");
}
