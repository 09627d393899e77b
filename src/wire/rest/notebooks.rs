//! Notebooks as wholes, and any command.

use std::sync::Arc;

use notarium_core::{
    CommandId, CorrelationId, Document, Head, Millis, NotebookId, RawJson, RawObject, Role, Version, WorkspaceId,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::KernelStatus;

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListQuery {
    /// Words that all stand in title or sources.
    pub text: Option<String>,
    /// Only archived (true) or only unarchived (false) ones; absent: unarchived.
    pub archived: Option<bool>,
    /// A workspace's id.
    pub workspace: Option<WorkspaceId>,
    /// 1 to 200; absent: 50.
    pub limit: Option<usize>,
    /// `next` of the page before.
    pub cursor: Option<String>,
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct NotebookPage {
    pub notebooks: Vec<NotebookLine>,
    /// Ask again with this as `cursor`; absent on the last page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct NotebookLine {
    pub id: NotebookId,
    pub title: String,
    pub version: Version,
    pub archived: bool,
    /// Milliseconds since 1970.
    pub created_at: Millis,
    pub updated_at: Millis,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workspace: Option<WorkspaceId>,
    pub cells: u64,
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewNotebook {
    /// Chosen by you, so that a repeat is the same creation; absent: from `Idempotency-Key`, else new.
    pub id: Option<NotebookId>,
    pub title: String,
    /// As in nbformat, for instance `{"kernelspec": {"name": "python3", "display_name": "Python 3"}}`.
    #[serde(default)]
    pub metadata: RawObject,
    /// With one empty code cell.
    #[serde(default)]
    pub with_cell: bool,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Fork {
    /// Of the new notebook.
    pub id: Option<NotebookId>,
    /// Absent: the title of the old one, and "(fork)".
    pub title: Option<String>,
    /// Absent: as it is now.
    pub version: Option<Version>,
    /// Leave the outputs behind.
    pub without_outputs: bool,
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReadQuery {
    /// A version of the past; absent: now.
    pub at: Option<Version>,
    /// False: without the outputs.
    pub outputs: Option<bool>,
}

/// A notebook's state, as `protocol/schema/notebook.json` has it.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct NotebookAnswer {
    pub version: Version,
    /// The end of the record: at `version`, or after it where the notebook is `read_only`. Absent for the past.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Value>")]
    pub head: Option<Head>,
    /// Yours, now.
    pub role: Role,
    /// True: a newer server has written this notebook. It is shown as it was before the first event that this one does not
    /// know, and takes no commands.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub read_only: bool,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kernels: Vec<KernelStatus>,
    pub notebook: Arc<Document>,
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NotebookChange {
    pub title: Option<String>,
    /// The whole metadata, as in nbformat.
    pub metadata: Option<RawObject>,
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct VersionName {
    pub version: Version,
    pub name: String,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Steps {
    /// Absent: one.
    pub steps: Option<u32>,
    /// One group, by its id, instead of your last ones. Undo only.
    pub correlation_id: Option<CorrelationId>,
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AnyCommand {
    /// Chosen by you, new for every command; a repeat is applied once. Absent: `Idempotency-Key`, else new.
    pub id: Option<CommandId>,
    /// Refuse unless the notebook is at this version. Also as `If-Match`.
    pub expected_version: Option<Version>,
    /// The undo group.
    pub correlation_id: Option<CorrelationId>,
    /// A command of `protocol/schema/command.json`.
    pub body: RawJson,
}
