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
    counted: Vec<String>,
    is_interrupted: bool,
}

impl Failures {
    pub fn outputs(&mut self, id: &ExecutionId, new: &[Output]) {
        if let Some(error) = new.iter().find(|output| output.is_error()) {
            self.tracebacks.insert(id.clone(), outputs::shown(error).text.trim_end().to_owned());
        }
    }

    /// A cell ended. Those that were cancelled behind a failure add nothing.
    pub fn ended(&mut self, id: &ExecutionId, cell: Option<&CellId>, end: &End, is_fine: bool) {
        let traceback = self.tracebacks.remove(id);
        let adds_nothing = end.status == ExecutionStatus::Cancelled && !self.counted.is_empty();
        if is_fine || adds_nothing || self.is_interrupted {
            return;
        }
        let cell = cell.map(ToString::to_string).unwrap_or_default();
        let status = format!("{:?}", end.status).to_lowercase();
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
