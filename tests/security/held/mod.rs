//! Tests that what an assistant's code does outside its kernel is held by the system: real kernels, real calls, no confirmation.

mod background;
mod compositions;
mod harmless;
mod supervisor;
mod surprises;

use std::collections::BTreeSet;
use std::os::unix::fs::symlink;
use std::sync::Arc;

use notarium_core::{
    CellId, CellType, Command, Document, Event, Execution, ExecutionStatus, ExecutionTarget, InsertCell, KernelEffects,
    Place, RequestExecution, ToolCallId,
};
use serde_json::{Value, json};

use crate::assistants::outside::Outside;
use crate::assistants::witness::Witness;
use crate::processes::{Fixture, Process, Told, Visitor};

/// ipykernel says so when its own code fails before a request is answered.
const LOST_REQUEST: &str = "Uncaught exception in ZMQStream callback";

/// A person in a notebook, an agent whose kernels are in a full sandbox, an assistant, and a witness.
struct HeldScene {
    ada: Visitor,
    outside: Outside,
    witness: Witness,
    agent: Process,
    _fixture: Fixture,
    home: tempfile::TempDir,
}

/// End of a call that runs code.
#[derive(Debug)]
enum Called {
    /// It waited for a person, for these reasons, and was denied.
    Waited(Vec<String>),
    /// It ran: the last run of each cell.
    Ran(Vec<Arc<Execution>>),
}

impl Called {
    #[track_caller]
    fn runs(self) -> Vec<Arc<Execution>> {
        match self {
            Called::Ran(runs) => runs,
            Called::Waited(reasons) => panic!("the call waited: {reasons:?}"),
        }
    }
}

impl HeldScene {
    async fn start() -> Self {
        Self::with(&[]).await
    }

    /// Starts with these arguments of the agent.
    async fn with(arguments: &[&str]) -> Self {
        let home = tempfile::tempdir_in("/tmp").unwrap();
        let mut witness = Witness::start(home.path());
        std::fs::create_dir(witness.folder().join("empty")).unwrap();
        symlink(witness.folder(), witness.working().join("way")).unwrap();
        witness.forget();
        let fixture = Fixture::start_with(&["--max-calls-per-minute", "100000"]).await;
        let mut agent = fixture.agent_of(&format!("http://{}", fixture.address()));
        // Without a supervisor a kernel has the agent's own temporary folder: attacks try to move it away.
        let temporary = home.path().join("temporary");
        std::fs::create_dir(&temporary).unwrap();
        agent.args(arguments).current_dir(witness.working()).env("TMPDIR", temporary);
        let agent = Process::start(agent);
        let ada = fixture.person().await;
        let outside = Outside::enter(&format!("http://{}", fixture.address()), fixture.session()).await;
        Self { ada, outside, witness, agent, _fixture: fixture, home }
    }

    /// Runs a person's code, which must succeed.
    async fn person(&mut self, code: &str) -> Told {
        let id = self.ada.run(code).await;
        let ran = self.ada.until_over(&id).await;
        assert_eq!(ran.status, ExecutionStatus::Ok, "{} {:?}", ran.text, ran.notice);
        ran
    }

    /// Runs a person's code in a cell.
    async fn cell(&mut self, code: &str) -> Arc<Execution> {
        let insert = InsertCell::new(CellType::Code, code.to_owned(), Place::End);
        let cell_id = self.ada.command(Command::InsertCell(insert)).await.cells[0].clone();
        let target = ExecutionTarget::Cell { cell_id: cell_id.clone(), cell_version: None };
        self.ada.command(Command::RequestExecution(RequestExecution::new(target))).await;
        self.ended(&[cell_id]).await.remove(0)
    }

    /// Checks that the kernel holds effects: without that every call would wait, and nothing would be tested.
    fn assert_holds(&self) {
        let kernels = &self.ada.state().kernels;
        let holds = |sandbox| KernelEffects::of_sandbox(sandbox) == Some(KernelEffects::Held);
        let sandboxes: Vec<_> = kernels.values().map(|kernel| kernel.sandbox.get()).collect();
        assert!(!kernels.is_empty() && kernels.values().all(|kernel| holds(&kernel.sandbox)), "{sandboxes:?}");
    }

    /// Has the assistant make cells of these codes and run them, and denies a call that waits.
    async fn held(&mut self, codes: &[&str]) -> Called {
        self.held_with(codes, &[]).await
    }

    /// The same, with these kinds of effects asked for.
    async fn held_with(&mut self, codes: &[&str], effects: &[&str]) -> Called {
        let (answer, waiting) = self.request(codes, effects).await;
        let Some((call_id, reasons)) = waiting else { return Called::Ran(self.ended(&made(&answer)).await) };
        self.ada.command(Command::DenyToolCall { call_id: call_id.clone(), detail: None }).await;
        self.ada.until("the end of the call", |state| !state.tool_calls.contains_key(&call_id)).await;
        Called::Waited(reasons)
    }

    /// The same, and a person confirms a call that waits, as it is: its runs have the effects that it asked for, and no others.
    /// Returns true if it waited.
    async fn confirmed(&mut self, codes: &[&str], effects: &[&str]) -> (Vec<Arc<Execution>>, bool) {
        let (mut answer, waiting) = self.request(codes, effects).await;
        let waited = waiting.is_some();
        if let Some((call_id, _)) = waiting {
            let arguments_hash = self.ada.state().tool_calls[&call_id].arguments_hash;
            self.ada.command(Command::ConfirmToolCall { call_id: call_id.clone(), arguments_hash }).await;
            self.ada.until("the end of the call", |state| !state.tool_calls.contains_key(&call_id)).await;
            let result = self.ada.events().iter().rev().find_map(|recorded| match &recorded.event {
                Event::ToolCallExecuted(event) if event.call_id == call_id => Some(event.result.clone()),
                _ => None,
            });
            answer = result.expect("the call was executed");
        }
        (self.ended(&made(&answer)).await, waited)
    }

    /// Requests a call that makes cells and runs them; returns its answer, and the call with its reasons if it waits.
    async fn request(&mut self, codes: &[&str], effects: &[&str]) -> (String, Option<(ToolCallId, Vec<String>)>) {
        let answer = self.outside.call("create_cells", &self.arguments(codes, effects)).await;
        let text = answer["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned();
        let facts = &answer["structuredContent"];
        if facts["status"] != "waiting_for_confirmation" {
            return (text, None);
        }
        let call_id: ToolCallId = facts["call_id"].as_str().expect("an id").parse().unwrap();
        let reasons = facts["reasons"].as_array().expect("reasons").iter().map(|reason| reason.to_string());
        self.ada.until("the call", |state| state.tool_calls.contains_key(&call_id)).await;
        (text, Some((call_id, reasons.collect())))
    }

    /// Returns the arguments of a call that makes cells and runs them.
    fn arguments(&self, codes: &[&str], effects: &[&str]) -> Value {
        let cells: Vec<Value> = codes.iter().map(|code| json!({"source": code})).collect();
        json!({"notebook": self.ada.notebook(), "run": true, "cells": cells, "effects": effects})
    }

    /// Waits for the ends of the cells' runs.
    async fn ended(&mut self, cells: &[CellId]) -> Vec<Arc<Execution>> {
        let has_ended =
            |state: &Document, cell| state.latest_execution(cell).is_some_and(|(_, run)| run.status.is_finished());
        let are_over = |state: &Document| cells.iter().all(|cell| has_ended(state, cell));
        let has_lost_a_request = |state: &Document| {
            let runs = cells.iter().filter_map(|cell| state.latest_execution(cell));
            runs.flat_map(|(_, run)| &run.outputs).any(|output| output.content.get().contains(LOST_REQUEST))
        };
        self.ada.until("the ends of the runs", |state| are_over(state) || has_lost_a_request(state)).await;
        if !are_over(self.ada.state()) {
            // The code has broken ipykernel itself, which answers nothing more.
            self.ada.end_kernels().await;
            self.ada.until("the ends of the runs", are_over).await;
        }
        let state = self.ada.state();
        cells.iter().map(|cell| state.latest_execution(cell).unwrap().1.clone()).collect()
    }

    /// Waits until all that runs have set going is over: a run after them passes the kernel's loop.
    async fn settle(&mut self) {
        let code = "import threading\nfor t in threading.enumerate():\n    isinstance(t, threading.Timer) and t.join(10)\nprint('settled')";
        let (runs, _) = self.confirmed(&[code], &[]).await;
        assert!(text(&runs[0]).contains("settled"), "{:?}", runs[0]);
    }

    fn changes(&mut self) -> BTreeSet<String> {
        self.witness.changes()
    }
}

/// The cells that a call has made, from its answer.
fn made(answer: &str) -> Vec<CellId> {
    let head: Value = answer.lines().next().and_then(|line| serde_json::from_str(line).ok()).unwrap_or_default();
    let cells = head["cells"].as_array().unwrap_or_else(|| panic!("{answer}"));
    cells.iter().map(|cell| cell["cell_id"].as_str().unwrap().parse().unwrap()).collect()
}

/// Printed text of a run.
fn text(run: &Execution) -> String {
    run.outputs.iter().filter_map(|output| output.json()["text"].as_str().map(str::to_owned)).collect()
}

trait Json {
    fn json(&self) -> Value;
}

impl Json for notarium_core::Output {
    fn json(&self) -> Value {
        serde_json::from_str(self.content.get()).unwrap()
    }
}
