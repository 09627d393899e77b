//! `.ipynb` files.

use notarium_core::{NotebookId, Outcome, Version};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ipynb::Notice;

/// How an `.ipynb` file, the body of the request, becomes a notebook.
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

/// The notebook that a file became; you are its owner.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct ImportAnswer {
    /// Its id: `id` of the query, else one that follows from `Idempotency-Key`, else a new one.
    pub notebook: NotebookId,
    /// As asked for, else from the file's metadata or its name, else `Untitled`.
    pub title: String,
    /// The new notebook's version: all of the file is in the log up to it.
    pub version: Version,
    /// `cells` has the ids of the cells from top to bottom.
    pub outcome: Outcome,
    /// What was repaired, converted or put aside, each with a code and a sentence.
    pub notices: Vec<Notice>,
}
