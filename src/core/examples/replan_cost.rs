//! Measures the planning of a run in a large reactive notebook:
//! `cargo run --release -p notarium-core --example replan_cost [CELLS]`.
//!
//! Cells form chains of fifty. An edit changes the text of one. Then the names are refreshed, the graph is rebuilt, and
//! a run of that cell is planned and decided.
#![expect(clippy::disallowed_methods, clippy::disallowed_types, reason = "a tool: it reads the clock")]

use std::sync::Arc;
use std::time::{Duration, Instant};

use notarium_core::reactive::{CodeNames, KnownNames, notebook_graph};
use notarium_core::*;

const CHAIN: usize = 50;

fn context(now: Millis) -> Context {
    let actor = Actor::User { id: UserId::new("ann").expect("an id") };
    Context {
        now,
        instance: "bench".parse().expect("an id"),
        actor,
        authority: Authority::session(),
        command_id: CommandId::new(format!("c{now}")).expect("an id"),
        correlation_id: CorrelationId::new(format!("c{now}")).expect("an id"),
        causation_id: None,
        expected_version: None,
        head_hash: notarium_core::Head::START.hash,
        ids: IdSource::new(now, [u8::try_from(now % 251).unwrap_or_default(); 32]),
        history: History::default(),
        past: None,
        redaction: None,
        account_status: AccountStatuses::default(),
        away: Default::default(),
        unreachable: Default::default(),
        holding_kernelspecs: Default::default(),
        agent_labels: Default::default(),
        run_effects: None,
        unposted: Default::default(),
        limits: Limits::default(),
    }
}

struct Bench {
    notebook: Notebook,
    head: Head,
    now: Millis,
}

impl Bench {
    fn decide(&mut self, command: Command, names: Option<Arc<KnownNames>>) -> (Context, Decision) {
        self.now += 1;
        let mut context = context(self.now);
        context.history.names = names;
        let decision = decide(&self.notebook, &mut context, command).expect("it is accepted");
        (context, decision)
    }

    fn step(&mut self, command: Command) {
        let (mut context, decision) = self.decide(command, None);
        let id = self.notebook.notebook_id.clone();
        for stored in seal(&mut self.head, &id, &mut context, &decision.events).expect("JSON") {
            self.notebook.apply(&stored.typed().expect("known"));
        }
    }
}

fn names(cell: usize) -> CodeNames {
    let mut names = CodeNames::default();
    names.leaves.insert(format!("name{cell}"));
    names.reads.insert("np".to_owned());
    if !cell.is_multiple_of(CHAIN) {
        names.reads.insert(format!("name{}", cell - 1));
    }
    names
}

fn command(json: serde_json::Value) -> Command {
    serde_json::from_value(json).expect("a command")
}

fn place(id: &CellId) -> usize {
    id.as_str().trim_start_matches("cell").parse().expect("a number")
}

fn main() {
    let cells: usize = std::env::args().nth(1).map_or(10_000, |count| count.parse().expect("a number"));
    let mut bench = Bench { notebook: Notebook::new(NotebookId::new("nb").expect("an id")), head: Head::START, now: 1 };
    bench.step(command(serde_json::json!({"CreateNotebook": {"title": "Large"}})));
    for cell in 0..cells {
        let source = format!("name{cell} = np.sum(name{})", cell.saturating_sub(1));
        bench.step(command(serde_json::json!({"InsertCell": {"cell_id": format!("cell{cell}"), "cell_type": "code", "source": source}})));
    }
    bench.step(command(serde_json::json!({"SetReactivity": {"reactivity": "lazy"}})));
    let mut known = KnownNames::default();
    for text in known.refresh(&bench.notebook) {
        known.learn(&text.cell_id, text.source_version, Some(&names(place(&text.cell_id))));
    }
    let mut known = Arc::new(known);
    let (mut plans, mut graphs) = (Vec::new(), Vec::new());
    for round in 0..100 {
        let cell = format!("cell{}", (round * 97 + 49) % cells);
        let version = bench.notebook.cells[&CellId::new(&cell).expect("an id")].cell_version;
        let source = format!("name = {round}");
        bench.step(command(
            serde_json::json!({"ReplaceSource": {"cell_id": cell, "cell_version": version, "source": source}}),
        ));
        let start = Instant::now();
        let names_known = Arc::make_mut(&mut known);
        for text in names_known.refresh(&bench.notebook) {
            names_known.learn(&text.cell_id, text.source_version, Some(&names(place(&text.cell_id))));
        }
        assert!(known.is_complete(&bench.notebook));
        let run = command(serde_json::json!({"RequestExecution": {"target": {"cell": {"cell_id": cell}}}}));
        let (_, decision) = bench.decide(run, Some(known.clone()));
        plans.push(start.elapsed());
        assert!(decision.events.len() >= 2, "a kernel, and the run with what is stale before it");
        let start = Instant::now();
        let graph = notebook_graph(&bench.notebook, &bench.notebook.ledger.kernel_variables(), known.clone());
        graphs.push(start.elapsed());
        assert_eq!(graph.cells.len(), cells);
    }
    told("re-plan after an edit", &mut plans);
    told("the whole graph", &mut graphs);
}

fn told(what: &str, times: &mut [Duration]) {
    times.sort();
    println!("{what}: median {:?}, longest {:?}", times[times.len() / 2], times[times.len() - 1]);
}
