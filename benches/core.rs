//! Benchmark of decisions in a small and in a large notebook, without server and disk.

use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::Args;
use notarium_core::{
    Actor, Authority, Command, CommandId, Context, Head, History, IdSource, Limits, Notebook, NotebookId, Recorded,
    UserId, decide, required_history, seal,
};
use serde_json::{Value, json};

#[derive(Args)]
pub struct Core {
    /// Cells of the large notebook.
    #[arg(long, default_value_t = 10_000)]
    cells: usize,
}

impl Core {
    /// Returns microseconds per keystroke in 10 and in many cells, and milliseconds for the undo and redo of all cells.
    pub fn run(&self) -> anyhow::Result<Value> {
        let (mut small, mut large) = (World::of_cells(10)?, World::of_cells(self.cells)?);
        let (few, many) = (small.keystroke()?, large.keystroke()?);
        let mut world = World::of_cells(self.cells)?;
        let undo = world.time(json!({"Undo": {}}))?;
        let redo = world.time(json!({"Redo": {}}))?;
        Ok(json!({
            "keystroke_us": {"10 cells": micros(few), "many cells": micros(many)},
            "undo_ms": undo.as_secs_f64() * 1e3,
            "redo_ms": redo.as_secs_f64() * 1e3,
        }))
    }
}

fn micros(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}

/// A notebook and its log in memory.
struct World {
    notebook: Notebook,
    head: Head,
    log: Vec<Recorded>,
    commands: u64,
}

impl World {
    fn of_cells(count: usize) -> anyhow::Result<Self> {
        let notebook = Notebook::new(NotebookId::new("large")?);
        let mut world = Self { notebook, head: Head::START, log: Vec::new(), commands: 0 };
        let cell = |index: usize| json!({"InsertCell": {"cell_id": format!("cell-{index}"), "cell_type": "code", "source": "x = 1"}});
        let mut commands = vec![json!({"CreateNotebook": {"title": "Large"}})];
        commands.extend((0..count).map(cell));
        world.submit(serde_json::from_value(json!({"Batch": {"commands": commands}}))?)?;
        Ok(world)
    }

    fn submit(&mut self, command: Command) -> anyhow::Result<()> {
        self.commands += 1;
        let mut context = Context {
            instance: "instance".parse().expect("an id"),
            now: self.commands,
            actor: Actor::User { id: UserId::new("ann")? },
            authority: Authority::session(),
            command_id: CommandId::new(format!("c{}", self.commands))?,
            correlation_id: format!("c{}", self.commands).parse()?,
            causation_id: None,
            expected_version: None,
            head_hash: notarium_core::Head::START.hash,
            ids: IdSource::new(self.commands, [7; 32]),
            history: History::default(),
            past: None,
            redaction: None,
            account_status: Default::default(),
            away: Default::default(),
            unreachable: Default::default(),
            holding_kernelspecs: Default::default(),
            agent_labels: Default::default(),
            run_effects: None,
            unposted: Default::default(),
            limits: Limits::default(),
        };
        for query in required_history(&self.notebook, &context, &command) {
            let selection = query.selection();
            let wanted = |event: &&Recorded| selection.holds(event.envelope.version, event.event.subject());
            let selected = query.narrow(self.log.iter().filter(wanted).cloned().collect());
            context.history.events.extend(selected.into_iter().map(Arc::new));
        }
        let decision =
            decide(&self.notebook, &mut context, command).map_err(|rejection| anyhow::anyhow!("{rejection:?}"))?;
        for stored in seal(&mut self.head, &self.notebook.notebook_id.clone(), &mut context, &decision.events)? {
            let recorded = stored.typed()?;
            self.notebook.apply(&recorded);
            self.log.push(recorded);
        }
        Ok(())
    }

    fn time(&mut self, command: Value) -> anyhow::Result<Duration> {
        let command = serde_json::from_value(command)?;
        let start = Instant::now();
        self.submit(command)?;
        Ok(start.elapsed())
    }

    /// Returns the best of five rounds of a hundred edits.
    fn keystroke(&mut self) -> anyhow::Result<Duration> {
        let mut best = Duration::MAX;
        for round in 0..5 {
            let start = Instant::now();
            for index in 0..100 {
                let change = json!([5 + round * 100 + index, [0, "x"]]);
                let base = self.notebook.version;
                self.submit(serde_json::from_value(
                    json!({"EditSource": {"cell_id": "cell-5", "base": base, "change": change}}),
                )?)?;
            }
            best = best.min(start.elapsed() / 100);
        }
        Ok(best)
    }
}
