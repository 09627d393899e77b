//! Blobs: large parts of outputs.

use notarium_core::Hash;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// An uploaded blob.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Uploaded {
    /// Hash of the received bytes: the same as in the path.
    pub sha256: Hash,
    /// Size in bytes; at most 256 MiB by default.
    pub size_bytes: u64,
}
