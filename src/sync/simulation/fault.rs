//! Bugs that the simulation plants in the room, to see that it would catch them.

use notarium_core::{Command, CommandRecord, Notebook, Version};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// Some events are never shown.
    DropEvent,
    /// A retried command is applied again.
    ApplyTwice,
    /// An agent's report is taken whatever its fence.
    AcceptStaleFence,
}

/// With the bug, nothing knows which commands were accepted.
pub(crate) fn plant_in_records(fault: Option<Fault>, records: &mut Vec<CommandRecord>) {
    if fault == Some(Fault::ApplyTwice) {
        records.clear();
    }
}

/// With the bug, every report carries the fence that is wanted.
pub(crate) fn plant_in_command(fault: Option<Fault>, notebook: &Notebook, mut command: Command) -> Command {
    if fault == Some(Fault::AcceptStaleFence)
        && let Command::ReportExecution { execution_id, fence, .. } = &mut command
        && let Some(wanted) = notebook.executions.get(execution_id).and_then(|execution| execution.fence)
    {
        *fence = wanted;
    }
    command
}

pub(crate) fn plants_drop(fault: Option<Fault>, from: Version) -> bool {
    fault == Some(Fault::DropEvent) && from.is_multiple_of(7)
}
