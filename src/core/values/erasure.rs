//! The command that erases a notebook.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// An erasure: all events, outputs and files of the record are deleted, but for the event that says so. Kernels, runs and turns end, and
/// nothing takes it back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EraseNotebook {
    /// The reason, which people who had access may read: 1 to 1,000 characters.
    pub reason: String,
}
