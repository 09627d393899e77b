//! A run as its events tell it, though it has left the document.

use serde::{Deserialize, Serialize};

use crate::event::Event;
use crate::logged::Logged;
use crate::output::Output;
use crate::state::Execution;

/// What an event costs beside its outputs, in bytes: many small ones are no way round the limit.
const OVERHEAD_BYTES: usize = 256;
/// What one run has written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Written {
    /// Of outputs, and what their events cost beside them.
    pub bytes: usize,
    /// The notice stands in the run: nothing more is taken.
    pub is_full: bool,
}

impl Written {
    /// After one more event of the run.
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

/// A run, folded from its events.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReplayedExecution {
    /// As the document had it last.
    pub execution: Execution,
    /// With what was cleared or replaced since.
    pub written: Written,
}

impl ReplayedExecution {
    /// Folds events of one execution, in order: all from its request on, or those after which it stands as `before` says.
    pub fn resume<'a, T: Logged + 'a>(before: Option<Self>, events: impl IntoIterator<Item = &'a T>) -> Option<Self> {
        events.into_iter().filter_map(Logged::recorded).fold(before, |replayed, recorded| {
            let (execution, written) = replayed.map_or_else(Default::default, |it| (Some(it.execution), it.written));
            let execution = Execution::with(execution, &recorded)?;
            Some(Self { execution, written: written.with(&recorded.event) })
        })
    }
}
