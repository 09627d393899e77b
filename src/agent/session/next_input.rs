//! Text that a run offers for a cell. The server puts it into the cell of a person's run; elsewhere it is an output.

use notarium_core::{Command, ExecutionId, NextInput};

use super::KernelSessionMachine;
use super::reports::ReportCommand;
use crate::kernel::shown_text;

impl KernelSessionMachine {
    pub(super) fn next_input(&mut self, now_ms: u64, id: &Option<ExecutionId>, text: String, replace: bool) {
        let Some((id, run)) = id.as_ref().and_then(|id| Some((id, self.runs.get(id)?))) else { return };
        if !run.may_fill_cell {
            return self.show_text(now_ms, &id.clone(), &text);
        }
        let (execution_id, fence) = (id.clone(), run.fence);
        // Alone, because it may be refused: its cell may be gone, or the text too long.
        self.push_alone(ReportCommand::plain(Command::ReportNextInput(NextInput {
            execution_id,
            fence,
            text,
            replace,
        })));
    }

    /// Shows the text as an output, also of a run that has ended.
    pub(super) fn show_text(&mut self, now_ms: u64, id: &ExecutionId, text: &str) {
        let Some(run) = self.runs.get_mut(id) else { return };
        let mut emits = run.collector.handle(now_ms, shown_text(text));
        if run.is_finished() {
            emits.extend(run.collector.finish(now_ms));
        }
        self.emit(now_ms, id, emits);
    }
}
