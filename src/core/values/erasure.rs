//! Commands that remove what is recorded: a notebook, or content of one.

use notarium_record::RedactedTarget;
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

/// Removes content from the record for good. The server sends it for `POST /api/notebooks/{notebook}/redactions`, with what it has found in
/// the record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RedactContent {
    /// 1 to 500 characters, which the record keeps.
    pub reason: String,
    /// The content, without its text.
    pub target: RedactedTarget,
}
