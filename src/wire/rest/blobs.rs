//! Large parts of outputs.

use notarium_core::Hash;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What was stored of an upload.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Uploaded {
    /// Of the bytes as they were received: the same as in the path.
    pub sha256: Hash,
    /// At most 256 MiB, unless the server is set otherwise.
    pub size_bytes: u64,
}
