//! Large parts of outputs.

use notarium_core::Hash;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Uploaded {
    pub sha256: Hash,
    pub size_bytes: u64,
}
