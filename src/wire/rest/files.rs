//! Import of `.ipynb` files.

use notarium_core::{NotebookId, Outcome, Version};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ipynb::Notice;

/// Options of an import; the `.ipynb` file is the body of the request.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ImportQuery {
    /// Title; absent: the title in the file, else the file's name.
    pub title: Option<String>,
    /// Name of the file.
    pub filename: Option<String>,
    /// Id of the new notebook, chosen by you; absent: derived from `Idempotency-Key`, else new.
    pub id: Option<NotebookId>,
}

/// An imported notebook; you are its owner.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct ImportAnswer {
    /// Id of the notebook: `id` of the query, else derived from `Idempotency-Key`, else new.
    pub notebook: NotebookId,
    /// Title: as requested, else from the file's metadata or name, else `Untitled`.
    pub title: String,
    /// The notebook's version at which the whole file is in the log.
    pub version: Version,
    /// Outcome of the import; `cells` has the ids of the cells from top to bottom.
    pub outcome: Outcome,
    /// Notices of repairs, conversions and entries put aside, each with a code and a sentence.
    pub notices: Vec<Notice>,
}
