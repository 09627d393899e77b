//! Document of one notebook at one version: what every client shows and reproduces. Its serialised form is the
//! snapshot.

pub(crate) mod assistants;
pub(crate) mod cells;
pub(crate) mod executions;
pub(crate) mod kernels;

use std::collections::BTreeMap;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::access::AccessEntry;
use crate::cell::is_default;
use crate::execution::{ExecutionSubject, Reactivity};
use crate::ids::{
    CellId, ConversationId, ExecutionId, GrantId, KernelSessionId, Millis, NotebookId, ThreadId, ToolCallId, TurnId,
    Version,
};
use crate::json::RawObject;
use crate::order_key::OrderKey;
use crate::state::{
    AssistantGrant, Cell, Conversation, Execution, KernelNotice, KernelSession, RegisteredFunction, Thread, ToolCall,
    Turn,
};
use crate::tool_call::Policy;

/// The document of one notebook at one version.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Document {
    /// The notebook's id, which its creator's client has chosen.
    pub notebook_id: NotebookId,
    /// Version of the last applied event; 0 before the notebook exists.
    pub version: Version,
    /// The title: 1 to 255 characters on one line; empty before the first event.
    pub title: String,
    /// True: the notebook can be read, exported and forked, but neither changed nor run.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub archived: bool,
    /// The notebook's metadata, as in nbformat.
    pub metadata: RawObject,
    /// Time of the first event, in milliseconds since 1970.
    #[serde(default)]
    pub created_at: Millis,
    /// Time of the last event, in milliseconds since 1970.
    #[serde(default)]
    pub updated_at: Millis,
    /// The access list, sorted by subject.
    pub access: Vec<AccessEntry>,
    /// The live cells by id. The trash is a projection of the log.
    pub cells: BTreeMap<CellId, Arc<Cell>>,
    /// Cell ids in page order: by order key, then id. Derived from `cells`.
    pub order: Vec<CellId>,
    /// The latest execution of each live cell, whose outputs the cell shows.
    pub latest: BTreeMap<CellId, ExecutionId>,
    /// Threads of comments, also resolved ones and those of cells in the trash.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub threads: BTreeMap<ThreadId, Arc<Thread>>,
    /// Executions that are unfinished, or the latest of a live cell.
    pub executions: BTreeMap<ExecutionId, Arc<Execution>>,
    /// The kernel sessions that have not ended, also unclaimed ones.
    pub kernels: BTreeMap<KernelSessionId, KernelSession>,
    /// The last unrequested end or failed launch of a kernel. Absent: none since a kernel started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kernel_notice: Option<KernelNotice>,
    /// Functions that kernels have registered as tools, by name; also those of ended kernels.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub functions: BTreeMap<String, RegisteredFunction>,
    /// Names of versions, by version.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub named_versions: BTreeMap<Version, String>,
    /// The policy: which tool calls of assistants need no confirmation. Absent: `guarded`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub policy: Policy,
    /// The setting that says which other cells a run of a cell also updates. Absent: `off`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub reactivity: Reactivity,
    /// Conversations, without their messages, which are a projection of the log.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub conversations: BTreeMap<ConversationId, Conversation>,
    /// Turns that have not ended.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub turns: BTreeMap<TurnId, Turn>,
    /// Tool calls that have not ended.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub tool_calls: BTreeMap<ToolCallId, Arc<ToolCall>>,
    /// Grants that are not revoked. Expired ones may still be here: check `expires_at`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub grants: BTreeMap<GrantId, AssistantGrant>,
}

impl Document {
    /// The document before the first event.
    pub fn new(notebook_id: NotebookId) -> Self {
        Self {
            notebook_id,
            version: 0,
            title: String::new(),
            archived: false,
            metadata: RawObject::default(),
            created_at: 0,
            updated_at: 0,
            access: Vec::new(),
            cells: BTreeMap::new(),
            order: Vec::new(),
            latest: BTreeMap::new(),
            threads: BTreeMap::new(),
            executions: BTreeMap::new(),
            kernels: BTreeMap::new(),
            kernel_notice: None,
            functions: BTreeMap::new(),
            named_versions: BTreeMap::new(),
            policy: Policy::default(),
            reactivity: Reactivity::default(),
            conversations: BTreeMap::new(),
            turns: BTreeMap::new(),
            tool_calls: BTreeMap::new(),
            grants: BTreeMap::new(),
        }
    }

    /// Returns true after the first event.
    pub fn exists(&self) -> bool {
        self.version > 0
    }

    /// The cell's latest execution, if it has one.
    pub fn latest_execution(&self, cell_id: &CellId) -> Option<(&ExecutionId, &Arc<Execution>)> {
        self.executions.get_key_value(self.latest.get(cell_id)?)
    }

    /// Cells in page order.
    pub fn ordered_cells(&self) -> impl Iterator<Item = (&CellId, &Arc<Cell>)> {
        self.order.iter().filter_map(|id| self.cells.get_key_value(id))
    }

    /// Returns true if the cell's source differs from that of its latest execution or of its reply's prompt.
    pub fn is_stale(&self, cell_id: &CellId) -> bool {
        let Some(cell) = self.cells.get(cell_id) else { return false };
        if cell.reply.as_ref().is_some_and(|reply| *reply.prompt != *cell.content.source) {
            return true;
        }
        self.latest_execution(cell_id).is_some_and(|(_, execution)| match &execution.subject {
            ExecutionSubject::Cell { source, .. } => **source != *cell.content.text_to_run(),
            ExecutionSubject::Scratch { .. } | ExecutionSubject::Tool { .. } => false,
        })
    }

    /// Index of the cell in `order`.
    pub fn position(&self, cell_id: &CellId) -> Option<usize> {
        let index = self.place_of(&self.cells.get(cell_id)?.content.order_key, cell_id);
        (self.order.get(index) == Some(cell_id)).then_some(index)
    }

    /// Index in `order` of a cell with this key and id, or the index at which it would be inserted.
    pub fn place_of(&self, key: &OrderKey, cell_id: &CellId) -> usize {
        let place = (key, cell_id);
        self.order.partition_point(|other| {
            let cell = self.cells.get(other);
            cell.is_none_or(|cell| (&cell.content.order_key, other) < place)
        })
    }
}
