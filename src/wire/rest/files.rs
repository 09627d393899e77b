//! `.ipynb` files.

use notarium_core::{NotebookId, Outcome, Version};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ipynb::Notice;

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ImportQuery {
    /// Absent: what the file says, else the name of the file.
    pub title: Option<String>,
    /// The name of the file.
    pub filename: Option<String>,
    /// Of the new notebook, chosen by you; absent: from `Idempotency-Key`, else new.
    pub id: Option<NotebookId>,
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct ImportAnswer {
    pub notebook: NotebookId,
    pub title: String,
    pub version: Version,
    pub outcome: Outcome,
    /// What was repaired, converted or put aside, each with a code and a sentence.
    pub notices: Vec<Notice>,
}
