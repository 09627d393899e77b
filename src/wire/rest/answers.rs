//! What several routes share.

use notarium_core::{CommandId, NotebookId, Outcome, Version};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A refusal or a fault, as `application/problem+json` (RFC 9457).
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Problem {
    /// Names the kind: `about:blank` where `code` says it all.
    #[serde(rename = "type")]
    pub problem_type: String,
    /// The same for every problem of this status.
    pub title: String,
    /// The HTTP status.
    pub status: u16,
    /// Stable, for programs: `snake_case`.
    pub code: String,
    /// One sentence for people that says what to do.
    pub detail: String,
    /// Of a `conflict`: the version that the request named, of the notebook or of a cell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expected_version: Option<Version>,
    /// Of a `conflict`: the version that is, of the same thing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub actual_version: Option<Version>,
    /// Of a `Batch` that was sent to `POST …/commands`: which of its commands was refused, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub part: Option<usize>,
    /// Seconds; also in the header `Retry-After`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry_after: Option<u64>,
}

/// An accepted command: what it led to is on disk.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Answer {
    /// The command's id: repeat it to get the same answer.
    pub command_id: CommandId,
    /// The notebook that the command was for; a new one after a fork or an import.
    pub notebook: NotebookId,
    /// The notebook's version after the command.
    pub version: Version,
    /// Ids that the server chose, and notices.
    pub outcome: Outcome,
}

/// Which version is read.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AtVersion {
    /// A version of the past; absent: now.
    pub at: Option<Version>,
}

/// The form of an exported file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ExportFormat {
    /// nbformat 4.5: the whole notebook.
    #[default]
    Ipynb,
    /// One page that needs no other file and runs nothing.
    Html,
    /// Markdown with outputs.
    Md,
    /// Python in the percent format (`# %%`), without outputs.
    Py,
}

/// Which version is exported, and as what.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExportQuery {
    /// A version of the past; absent: now.
    pub at: Option<Version>,
    /// `ipynb` where it is left out.
    pub format: Option<ExportFormat>,
}

/// Says that the process answers.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Alive {
    /// `ok`, or `degraded` where there are problems; a server that is not ready answers with a [`Problem`] instead.
    pub status: String,
    /// The server's release, as in `0.1.0`.
    pub version: String,
    /// What its operator should look at, in sentences.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<String>,
}
