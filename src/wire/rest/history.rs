//! The record of events, the trash, and the verification of the hash chain.

use notarium_core::{Actor, CellContent, CellId, Hash, Head, Millis, Stored, Version};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Part of the record to read.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EventsQuery {
    /// Lower bound: events after this version. Absent: from the beginning; for a stream, from now on.
    #[serde(alias = "since")]
    pub after: Option<Version>,
    /// Size of a page, 1 to 1,000; absent: 200.
    pub limit: Option<usize>,
}

/// Page of the record, oldest event first.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct EventPage {
    /// Events with all hashed fields: see `protocol/README.md`, The record.
    #[schemars(with = "Vec<Value>")]
    pub events: Vec<Stored>,
    /// The notebook's last version and its hash now.
    #[schemars(with = "Value")]
    pub head: Head,
    /// Value of `after` for the next page; absent on the last page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<Version>,
}

/// Cells in the trash, which can be restored, the last deleted first.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Trash {
    /// Cells as they were when deleted, each once. At most 1,000.
    pub cells: Vec<TrashedCell>,
    /// True: older cells may be missing, as the log was not read to its beginning.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub incomplete: bool,
}

/// A cell in the trash: `POST …/cells/{cell}/restore` brings it back where it was.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct TrashedCell {
    /// Cell id; a restored cell keeps it.
    pub cell_id: CellId,
    /// Type, source, metadata, attachments and flags.
    pub cell: CellContent,
    /// Actor who deleted it; for an undone insertion, who undid it.
    pub deleted_by: Actor,
    /// Milliseconds since 1970.
    pub deleted_at: Millis,
    /// Version of the event that deleted it.
    pub deleted_version: Version,
}

/// Result of a verification: reads the record up to a version and hashes every event.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Verification {
    /// True if the hash chain is intact.
    pub ok: bool,
    /// Last version that is verified.
    pub version: Version,
    /// The hash of that event.
    pub hash: Hash,
    /// SHA-256 of the state after these events, as JSON: the same on every server that has the same events.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state_hash: Option<Hash>,
    /// True if the served state equals the replayed one. Absent for past versions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state_is_replayed: Option<bool>,
    /// Place and kind of the first break in the chain.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}
