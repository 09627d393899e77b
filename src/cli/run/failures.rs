//! Errors of the cells of a headless run, and the failures that count.

use std::collections::BTreeMap;
use std::path::Path;

use notarium_core::{CellId, ExecutionId, ExecutionStatus, Output};

use crate::cli::runs::follow::End;
use crate::cli::words::outputs;
use crate::cli::{Ended, Failure};

/// The error that Python's kernel raises if code asks and nobody can answer.
const NO_INPUT: &str = "StdinNotImplementedError";

/// Errors of all cells, and the failures that count.
#[derive(Debug, Default)]
pub struct Failures {
    tracebacks: BTreeMap<ExecutionId, String>,
    /// Prompts of runs that nobody answered.
    pub questions: BTreeMap<ExecutionId, String>,
    counted: Vec<String>,
    pub is_interrupted: bool,
}

impl Failures {
    pub fn outputs(&mut self, id: &ExecutionId, new: &[Output]) {
        if let Some(error) = new.iter().find(|output| output.is_error()) {
            self.tracebacks.insert(id.clone(), outputs::shown(error).text.trim_end().to_owned());
        }
    }

    /// Takes the end of a cell. Cells that were cancelled after a failure do not count.
    pub fn ended(&mut self, id: &ExecutionId, cell: Option<&CellId>, end: &End, is_fine: bool) {
        let (traceback, question) = (self.tracebacks.remove(id), self.questions.remove(id));
        let adds_nothing = end.status == ExecutionStatus::Cancelled && !self.counted.is_empty();
        if is_fine || adds_nothing || self.is_interrupted {
            return;
        }
        let cell = cell.map(ToString::to_string).unwrap_or_default();
        let status = format!("{:?}", end.status).to_lowercase();
        let traceback = traceback.unwrap_or_default();
        if question.is_some() || traceback.contains(NO_INPUT) {
            let asks = question.map(|prompt| format!("asks '{}'", prompt.escape_debug()));
            let asks = asks.unwrap_or_else(|| "calls input()".to_owned());
            self.counted.push(format!(
                "cell {cell}: the code {asks}, and nobody can answer in a headless run: give the value with -p \
                 NAME=VALUE instead of input()\n{traceback}"
            ));
            return;
        }
        let notice = end.notice.as_ref().map(|notice| format!(": {notice}")).unwrap_or_default();
        let traceback = if traceback.is_empty() { traceback } else { format!("\n{traceback}") };
        self.counted.push(format!("cell {cell}: {status}{notice}{traceback}"));
    }

    /// True if no further cell may run.
    pub fn is_final(&self) -> bool {
        self.is_interrupted || !self.counted.is_empty()
    }

    pub fn report(self, file: &Path) -> Ended {
        let file = file.display();
        if self.is_interrupted {
            return Err(Failure::interrupted(format!("{file} was interrupted: the output holds what ran until then")));
        }
        match self.counted.first() {
            None => Ok(()),
            Some(first) => Err(Failure::failed(format!("{file} failed in {first}"))),
        }
    }
}
