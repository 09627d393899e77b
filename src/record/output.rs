//! Outputs of executions: nbformat's, opaque; large parts are in blobs.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::json::RawJson;

/// One part of an output that is stored in a blob instead of the event.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BlobPart {
    /// JSON pointer (RFC 6901) into `content`, to the place of the missing value.
    pub pointer: String,
    /// Lower-case hex of the SHA-256 of the blob's bytes.
    pub sha256: String,
    /// Size of the blob, in bytes.
    pub size_bytes: u64,
    /// False: the bytes are the UTF-8 text of a JSON string. True: the bytes are JSON.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub json: bool,
}

/// One output of a run, as in nbformat.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Output {
    /// An nbformat 4 output object (`output_type` …) without the parts that are in `blobs`.
    #[serde(deserialize_with = "crate::json::compact")]
    pub content: RawJson,
    /// The parts that are missing in `content`: each part above 8 KiB is a blob.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub blobs: Vec<BlobPart>,
    /// The id by which later updates name this `display_data`. Absent: it has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub display_id: Option<String>,
}

impl Output {
    /// Approximate size in an event, in bytes.
    pub fn size_bytes(&self) -> usize {
        self.content.get().len() + self.blobs.iter().map(|blob| blob.pointer.len() + 128).sum::<usize>()
    }

    /// Returns true for nbformat's `error`.
    pub fn is_error(&self) -> bool {
        self.output_type().as_deref() == Some("error")
    }

    /// Returns true if the output has this `display_id`.
    pub fn is_display(&self, display_id: &str) -> bool {
        self.display_id.as_deref() == Some(display_id)
    }

    /// nbformat's `output_type`, if the content has one.
    pub fn output_type(&self) -> Option<String> {
        #[derive(serde::Deserialize)]
        struct Typed {
            output_type: String,
        }
        serde_json::from_str::<Typed>(self.content.get()).ok().map(|typed| typed.output_type)
    }
}
