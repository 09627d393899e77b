//! Software that a kernel finds, as its agent reports it at the start.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ids::Hash;

/// The software of a kernel: a blob with its Python, its platform and the installed distributions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct KernelEnvironment {
    /// Lower-case hex of the SHA-256 of the blob. Kernels with the same software have the same.
    pub sha256: Hash,
    /// Size of the blob, in bytes.
    pub size_bytes: u64,
}
