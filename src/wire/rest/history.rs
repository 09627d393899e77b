//! The record, the trash, the proof.

use notarium_core::{Actor, CellContent, CellId, Hash, Head, Millis, Stored, Version};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Which part of the record is read.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EventsQuery {
    /// Events after this version; absent: from the beginning, or for a stream from now on.
    #[serde(alias = "since")]
    pub after: Option<Version>,
    /// Of a page: 1 to 1,000; absent: 200.
    pub limit: Option<usize>,
}

/// A part of the record, oldest event first.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct EventPage {
    /// With everything that is hashed: see `protocol/README.md`, The record.
    #[schemars(with = "Vec<Value>")]
    pub events: Vec<Stored>,
    /// The notebook's end now.
    #[schemars(with = "Value")]
    pub head: Head,
    /// Ask again with this as `after`; absent when this is the end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<Version>,
}

/// The cells in the trash, which can be brought back, the last deleted first.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Trash {
    /// Each cell once, as it was when it was deleted. At most 1,000.
    pub cells: Vec<TrashedCell>,
    /// There may be older ones: the log was not read to its beginning.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub incomplete: bool,
}

/// A cell in the trash: `POST …/cells/{cell}/restore` brings it back where it was.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct TrashedCell {
    /// The id that it had, and has again when it is restored.
    pub cell_id: CellId,
    /// Type, source, metadata, attachments and flags.
    pub cell: CellContent,
    /// Who deleted it; for an undone insertion, who undid.
    pub deleted_by: Actor,
    /// Milliseconds since 1970.
    pub deleted_at: Millis,
    /// The version of the event that deleted it.
    pub deleted_version: Version,
}

/// What came of reading the record to a version and hashing every event of it.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Verification {
    /// The chain is whole.
    pub ok: bool,
    /// The last version that is proven.
    pub version: Version,
    /// The hash of that event.
    pub hash: Hash,
    /// SHA-256 of the state that the events lead to, in JSON: the same on every server that has the same events.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state_hash: Option<Hash>,
    /// The state that is served is the one that the events lead to. Absent for the past.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state_is_replayed: Option<bool>,
    /// Where and how the chain breaks first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}
