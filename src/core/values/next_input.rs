//! The command by which a run offers a text for a cell.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use notarium_record::{ExecutionId, Version};

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
