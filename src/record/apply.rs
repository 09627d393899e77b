//! Folds a recorded event into the document. This file dispatches to one file for each group of events.
//!
//! Invariant: no constant, time window or eviction decides here. Only events remove state.

pub(crate) mod comments;
pub(crate) mod executions;
mod notebook;
mod tool_calls;

use crate::document::{Document, assistants, cells, kernels};
use crate::envelope::Recorded;
use crate::event::EventGroup;

impl Document {
    /// Folds in one event. Total: it cannot fail. An event that was applied already (its version is not later) changes
    /// nothing.
    pub fn apply(&mut self, recorded: &Recorded) {
        let envelope = &recorded.envelope;
        if envelope.version <= self.version {
            return;
        }
        self.version = envelope.version;
        self.updated_at = envelope.recorded_at;
        match recorded.event.group() {
            EventGroup::Notebook => notebook::apply(self, recorded),
            EventGroup::Cells => cells::apply(self, recorded),
            EventGroup::Comments => comments::apply(self, recorded),
            EventGroup::Executions => executions::apply(self, recorded),
            EventGroup::Kernels => kernels::apply(self, recorded),
            EventGroup::Conversations => assistants::apply(self, recorded),
            EventGroup::ToolCalls => tool_calls::apply(self, recorded),
        }
    }
}
