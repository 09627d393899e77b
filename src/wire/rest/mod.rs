//! Request and response types of the REST interface, shared by the server, the command line and other clients.
//! `protocol/openapi.json` is generated from these types.
//!
//! Clients ignore unknown fields in an answer; the server refuses them in a request.

mod access;
mod accounts;
mod assistants;
mod calls;
mod cells;
mod files;
mod invitations;
mod nodes;
mod notebooks;
mod notices;
mod past;
mod runs;
mod schedules;
mod spending;

pub use access::*;
pub use accounts::*;
pub use assistants::*;
pub use calls::*;
pub use cells::*;
pub use files::*;
pub use invitations::*;
pub use nodes::*;
pub use notebooks::*;
pub use notices::*;
pub use past::*;
pub use runs::*;
pub use schedules::*;
pub use spending::*;

use notarium_core::{CommandId, Millis, NotebookId, Outcome, RejectionDetails, Version, if_known};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A refusal or a fault, as `application/problem+json` (RFC 9457).
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Problem {
    /// Kind of the problem: `about:blank` if `code` is enough.
    #[serde(rename = "type")]
    pub problem_type: String,
    /// Title; the same for every problem with this status.
    pub title: String,
    /// The HTTP status.
    pub status: u16,
    /// Stable, for programs: `snake_case`.
    pub code: String,
    /// One sentence for people that says what to do.
    pub detail: String,
    /// Expected version in the request, of the notebook or of a cell; only for `conflict`.
    pub expected_version: Option<Version>,
    /// Actual version of the same thing; only for `conflict`.
    pub actual_version: Option<Version>,
    /// Number of the refused command in a `Batch` sent to `POST …/commands`, from 1.
    pub part: Option<usize>,
    /// Seconds to wait before a retry; also in the header `Retry-After`.
    pub retry_after: Option<u64>,
    /// Id of a fault of the server: its log has the reason under it, and the trace of the request has the same id.
    pub error_id: Option<String>,
    /// The first 20 wrong lines of a list; only for `wrong_list`.
    pub lines: Option<Vec<WrongLine>>,
    /// Facts of the refusal. Absent: `code` says all. A kind that is unknown counts as absent.
    #[serde(deserialize_with = "if_known")]
    pub details: Option<Box<RejectionDetails>>,
}

/// Answer to an accepted command, whose events are on disk.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Answer {
    /// Command id: a retry with it gets the same answer.
    pub command_id: CommandId,
    /// The notebook of the command; for a fork or an import the new one.
    pub notebook: NotebookId,
    /// The notebook's version after the command.
    pub version: Version,
    /// Ids that the server chose, and notices.
    pub outcome: Outcome,
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

/// Version and format of an export.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExportQuery {
    /// A past version; absent: the current one.
    pub at: Option<Version>,
    /// File format; absent: `ipynb`.
    pub format: Option<ExportFormat>,
}

/// Public keys by which signed heads of records are verified.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct SigningKeys {
    /// Oldest first; the last one signs now.
    pub keys: Vec<SigningKeyLine>,
}

/// One public key.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct SigningKeyLine {
    /// The key as a verifier key of C2SP signed notes: `NAME+ID+KEY`.
    pub key: String,
    /// The same key under the name with which the server signs the checkpoints of its tree of heads.
    #[serde(default)]
    pub log_key: String,
    /// Time from which the server signs with it, in milliseconds since 1970.
    pub since: Millis,
}

/// Question what retention would remove. Absent ages: those of the server's settings.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RetentionQuery {
    /// Age of large outputs, in milliseconds.
    pub blobs_ms: Option<Millis>,
    /// Age of snapshots, in milliseconds.
    pub snapshots_ms: Option<Millis>,
}

/// Things that retention would remove now.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct RetentionPreview {
    /// Number of large outputs; those that notebooks show stay.
    pub blobs: u64,
    /// Their bytes.
    pub blob_bytes: u64,
    /// Number of snapshots, which are made again when somebody looks at the past.
    pub snapshots: u64,
}

/// Result of an append to the tree of heads.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct AppendedHeads {
    /// Number of leaves of the tree now.
    pub size: u64,
    /// Number of heads that are new.
    pub added: u64,
}

/// Health of the server.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Alive {
    /// `ok`, or `degraded` if there are problems; a server that is not ready answers with a [`Problem`] instead.
    pub status: String,
    /// The server's release, as in `0.2.0`.
    pub version: String,
    /// Problems that the operator should look at, in sentences.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<String>,
    /// Parts of the server that `/readyz` looks at, each with its problems; empty: it is in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub checks: Vec<HealthCheck>,
}

/// A part of the server, with its problems.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HealthCheck {
    /// The part.
    pub part: HealthPart,
    /// Its problems, in sentences; empty: it is in order.
    pub problems: Vec<String>,
}

/// Part of the server that can have problems.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum HealthPart {
    /// Writes to the database.
    Store,
    /// Space for data and large outputs.
    Disk,
    /// Data that was read back differs from what was written.
    Damage,
    /// The right to write notebooks, which one server has at a time.
    Lease,
    /// The machine's clock.
    Clock,
    /// Certificates of the server's address and of the node.
    Certificates,
}
