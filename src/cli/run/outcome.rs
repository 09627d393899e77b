//! What failed in a headless run, and what is said of it.

use std::collections::BTreeMap;
use std::path::Path;

use notarium_core::{CellId, ExecutionId, ExecutionStatus, Output};

use crate::cli::follow::End;
use crate::cli::{Ended, Failure, outputs};

/// Errors that were seen, and those that count.
#[derive(Debug, Default)]
pub struct Failures {
    tracebacks: BTreeMap<ExecutionId, String>,
    /// What the code asked for, and was interrupted because nobody can answer.
    questions: BTreeMap<ExecutionId, String>,
    counted: Vec<String>,
    is_interrupted: bool,
}

impl Failures {
    pub fn outputs(&mut self, id: &ExecutionId, new: &[Output]) {
        if let Some(error) = new.iter().find(|output| output.is_error()) {
            self.tracebacks.insert(id.clone(), outputs::shown(error).text.trim_end().to_owned());
        }
    }

    /// The code waits for somebody's answer: it is interrupted.
    pub fn asked(&mut self, id: &ExecutionId, prompt: &str) {
        self.questions.insert(id.clone(), prompt.to_owned());
    }

    /// A cell ended. Those that were cancelled behind a failure add nothing.
    pub fn ended(&mut self, id: &ExecutionId, cell: Option<&CellId>, end: &End, is_fine: bool) {
        let (traceback, question) = (self.tracebacks.remove(id), self.questions.remove(id));
        let adds_nothing = end.status == ExecutionStatus::Cancelled && !self.counted.is_empty();
        if is_fine || adds_nothing || self.is_interrupted {
            return;
        }
        let cell = cell.map(ToString::to_string).unwrap_or_default();
        let status = format!("{:?}", end.status).to_lowercase();
        if let Some(prompt) = question {
            let prompt = prompt.escape_debug();
            self.counted.push(format!(
                "cell {cell}: the code asks '{prompt}', and nobody can answer in a headless run: give the value with -p \
                 NAME=VALUE instead of input()"
            ));
            return;
        }
        let notice = end.notice.as_ref().map(|notice| format!(": {notice}")).unwrap_or_default();
        let traceback = traceback.map(|text| format!("\n{text}")).unwrap_or_default();
        self.counted.push(format!("cell {cell}: {status}{notice}{traceback}"));
    }

    pub fn interrupt(&mut self) {
        self.is_interrupted = true;
    }

    /// Whether nothing more is to be run.
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
