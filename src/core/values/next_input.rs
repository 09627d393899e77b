//! Commands by which agents report what a run offers for a cell, and what it was refused.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use notarium_record::{Effect, ExecutionId, Version};

/// Text that a run offers for a cell: Jupyter's `set_next_input`, as `%load` and `%recall` do. It replaces the source of the run's
/// cell, if that is still what ran, else it becomes a new cell below. Refused (`invalid_value`) unless a person who may edit
/// requested the run of a cell: show the text as an output then.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NextInput {
    /// An execution that was assigned to a session of the sender.
    pub execution_id: ExecutionId,
    /// The version of the session's KernelSessionStarted. `stale_fence`: the session has ended, or is not the sender's.
    pub fence: Version,
    /// The text. Line breaks become `\n`.
    pub text: String,
    /// True: the text is meant in place of the cell's source. False: for a new cell below.
    pub replace: bool,
}

/// An effect of a run that was refused. The first effect of each kind is recorded at once, with the number 1; once more, with the final
/// number, if there were several. Further reports on the kind change nothing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RefusalReport {
    /// An execution that was assigned to a session of the sender. It may have ended: its threads may go on.
    pub execution_id: ExecutionId,
    /// The version of the session's KernelSessionStarted. `stale_fence`: the session has ended, or is not the sender's.
    pub fence: Version,
    /// The kind of the effect.
    pub kind: Effect,
    /// The target of the first effect of this kind, as the code named it. The first 1,024 bytes are kept.
    pub target: String,
    /// Number of refused effects of this kind so far; at least 1.
    pub count: u64,
}
