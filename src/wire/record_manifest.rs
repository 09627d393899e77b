//! Manifest of an exported record: the JSON file `FILE.manifest.json` beside the exported file. It says what the file must hold, and carries the
//! notes that the server has signed, so that both are checked without it.

use notarium_core::{Hash, Millis, NotebookId, Version};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Number of this format.
pub const MANIFEST_SCHEMA: u32 = 1;

/// Form of an exported record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum RecordFormat {
    /// JSON Lines, compressed with zstd: one event a line, as `GET …/events` gives it. The form that is verified and imported.
    Jsonl,
    /// Parquet: one row an event, for analysis.
    Parquet,
}

/// Content of an exported file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RecordManifest {
    /// Number of this format: 1. Programs refuse numbers that they do not know.
    pub schema: u32,
    /// Form of the file.
    pub format: RecordFormat,
    /// Name of the file beside the manifest.
    pub file: String,
    /// Bytes of the file.
    pub size_bytes: u64,
    /// SHA-256 of the file, in lower-case hex.
    pub sha256: Hash,
    /// Count of events.
    pub events: u64,
    /// Time of the export, in milliseconds since 1970.
    pub exported_at: Millis,
    /// The notebooks, in the order of the file. A notebook's events stand together, from version 1 on.
    pub notebooks: Vec<ManifestNotebook>,
    /// Notes with the names of the people, guests and agents that the events name by id, each with the server's signature. Together they have all
    /// names that the server knew.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub signed_names: Vec<String>,
    /// Large outputs that the events name. Their bytes are files of the folder `FILE.blobs`, named by their SHA-256.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub blobs: Vec<ManifestBlob>,
    /// Large outputs that the server did not have any more, or that were left out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing_blobs: Vec<Hash>,
}

/// A notebook's record in the file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ManifestNotebook {
    /// The notebook.
    pub id: NotebookId,
    /// Its title when it was exported.
    pub title: String,
    /// Version of the last event.
    pub version: Version,
    /// Hash of the last event.
    pub hash: Hash,
    /// A head of this record with the server's signature, of the last version or of a later one.
    pub signed_head: String,
}

/// A large output beside the file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ManifestBlob {
    /// SHA-256 of its bytes, and its name.
    pub sha256: Hash,
    /// Count of its bytes.
    pub size_bytes: u64,
    /// The first notebook of the file whose events name it.
    pub notebook: NotebookId,
}
