//! Executions folded from the log alone, after they have left the document.

use serde::{Deserialize, Serialize};

use crate::event::Event;
use crate::logged::Logged;
use crate::output::Output;
use crate::state::Execution;

/// Bytes that an event costs beside its outputs, so that many small events do not bypass the limit.
const OVERHEAD_BYTES: usize = 256;
/// Amount that one run has written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Written {
    /// Bytes of outputs, and the cost of their events.
    pub bytes: usize,
    /// The limit notice is recorded: no more output is taken.
    pub is_full: bool,
}

impl Written {
    /// Adds one more event of the run.
    #[must_use]
    pub fn with(self, event: &Event) -> Self {
        let (bytes, is_full) = match event {
            Event::ExecutionOutputAppended(event) => (size(&event.outputs), event.is_limit_notice),
            Event::ExecutionOutputRecovered(event) => (size(&event.outputs), event.is_limit_notice),
            Event::ExecutionOutputUpdated(event) => (event.output.size_bytes(), false),
            Event::ExecutionOutputsCleared(_) => (0, false),
            _ => return self,
        };
        Self { bytes: self.bytes + bytes + OVERHEAD_BYTES, is_full: self.is_full || is_full }
    }
}

fn size(outputs: &[Output]) -> usize {
    outputs.iter().map(Output::size_bytes).sum()
}

/// An execution folded from its events.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReplayedExecution {
    /// The execution as the document had it last.
    pub execution: Execution,
    /// Amount written, with outputs that were cleared or replaced since.
    pub written: Written,
}

impl ReplayedExecution {
    /// Folds events of one execution, in order: all from its request on, or those that follow the state `before`.
    /// `None`: its request is not among them.
    pub fn resume<'a, T: Logged + 'a>(before: Option<Self>, events: impl IntoIterator<Item = &'a T>) -> Option<Self> {
        events.into_iter().filter_map(Logged::recorded).fold(before, |replayed, recorded| {
            let (execution, written) = replayed.map_or_else(Default::default, |it| (Some(it.execution), it.written));
            let execution = Execution::with(execution, &recorded)?;
            Some(Self { execution, written: written.with(&recorded.event) })
        })
    }
}
