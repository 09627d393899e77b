//! The state of one notebook: what a replica holds after applying its events. Serialised, it is the snapshot.
//!
//! It stays small: live cells with their latest and unfinished executions, kernels, access. Older runs and the trash are
//! projections that the server pages.

use std::collections::BTreeMap;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::access::{Role, Subject};
use crate::actor::Actor;
use crate::conversations::{Conversation, Turn};
use crate::functions::RegisteredFunction;
use crate::gate::{AssistantGrant, Policy};
use crate::ids::{
    AgentId, CellId, ConversationId, CorrelationId, ExecutionId, GrantId, KernelSessionId, Millis, NotebookId,
    ToolCallId, TurnId, Version,
};
use crate::json::{RawJson, RawObject};
use crate::order_key::OrderKey;
use crate::replies::Reply;
use crate::tool_calls::ToolCall;

/// What a cell is. `sql` and `prompt` are written to `.ipynb` as code and markdown with our mark in the metadata.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CellType {
    Code,
    Markdown,
    Raw,
    Sql,
    Prompt,
}

/// Marks on a cell that change how it is shown or used, never what it says.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct CellFlags {
    /// Always in the assistant's context.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub pinned: bool,
    /// Never in the assistant's context.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub skipped: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub source_hidden: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub outputs_hidden: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub heading_collapsed: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub exported: bool,
    /// 1 to 9.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bookmark: Option<u8>,
}

/// A cell as an event carries it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CellContent {
    pub cell_type: CellType,
    pub source: String,
    pub order_key: OrderKey,
    #[serde(default, skip_serializing_if = "RawObject::is_empty")]
    pub metadata: RawObject,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attachments: Option<RawObject>,
    #[serde(default, skip_serializing_if = "is_default")]
    pub flags: CellFlags,
    /// The execution whose outputs it showed; only in the trash.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latest_execution: Option<ExecutionId>,
    /// What an assistant answered, of a prompt cell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reply: Option<Arc<Reply>>,
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// A live cell. In JSON its content stands beside the versions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(from = "FlatCell")]
#[schemars(!from)]
pub struct Cell {
    #[serde(flatten)]
    pub content: CellContent,
    /// Version of the last event that changed source, type, place or existence. Preconditions use it.
    pub cell_version: Version,
    /// Version of the last event that changed the source. A change whose base is not older needs no transform.
    pub source_version: Version,
}

/// How a [`Cell`] is read: serde's `flatten` cannot read raw JSON, so the fields are spelled out.
#[derive(Deserialize)]
struct FlatCell {
    cell_type: CellType,
    source: String,
    order_key: OrderKey,
    #[serde(default)]
    metadata: RawObject,
    #[serde(default)]
    attachments: Option<RawObject>,
    #[serde(default)]
    flags: CellFlags,
    #[serde(default)]
    latest_execution: Option<ExecutionId>,
    #[serde(default)]
    reply: Option<Arc<Reply>>,
    cell_version: Version,
    source_version: Version,
}

impl From<FlatCell> for Cell {
    fn from(flat: FlatCell) -> Self {
        let FlatCell { cell_type, source, order_key, metadata, attachments, flags, latest_execution, reply, .. } = flat;
        let content =
            CellContent { cell_type, source, order_key, metadata, attachments, flags, latest_execution, reply };
        Cell { content, cell_version: flat.cell_version, source_version: flat.source_version }
    }
}

/// One part of an output that lives in a blob instead of the event.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BlobPart {
    /// JSON pointer (RFC 6901) into `content`, where the value was taken out.
    pub pointer: String,
    /// Lower-case hex of the SHA-256 of the blob's bytes.
    pub sha256: String,
    pub size_bytes: u64,
    /// False: the bytes are the UTF-8 text of a JSON string. True: the bytes are JSON.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub json: bool,
}

/// One output, as nbformat has it, opaque.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Output {
    /// An nbformat 4 output object (`output_type` …) without the parts that are in `blobs`.
    #[serde(deserialize_with = "crate::json::compact")]
    pub content: RawJson,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub blobs: Vec<BlobPart>,
    /// Of `display_data` that may be updated later.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub display_id: Option<String>,
}

/// What was executed, word for word.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum ExecutionSubject {
    Cell { cell_id: CellId, cell_version: Version, source: Arc<str> },
    Scratch { source: Arc<str>, purpose: String },
}

impl ExecutionSubject {
    pub fn source(&self) -> &str {
        match self {
            ExecutionSubject::Cell { source, .. } | ExecutionSubject::Scratch { source, .. } => source,
        }
    }

    pub fn cell_id(&self) -> Option<&CellId> {
        match self {
            ExecutionSubject::Cell { cell_id, .. } => Some(cell_id),
            ExecutionSubject::Scratch { .. } => None,
        }
    }
}

/// Why something was executed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ExecutionCause {
    /// Somebody asked for it.
    Requested,
    /// A file tells that it happened elsewhere.
    Imported,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ExecutionStatus {
    Queued,
    /// A kernel session has won it and not begun.
    Assigned,
    Running,
    Ok,
    Error,
    Cancelled,
    Lost,
}

impl ExecutionStatus {
    pub fn is_finished(self) -> bool {
        matches!(self, Self::Ok | Self::Error | Self::Cancelled | Self::Lost)
    }

    /// The kernel has not begun with it.
    pub fn is_queued(self) -> bool {
        matches!(self, Self::Queued | Self::Assigned)
    }
}

/// A question that waits for an answer on stdin.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PendingInput {
    pub prompt: String,
    pub password: bool,
}

/// One execution: a record with its own id, the exact source it ran, its outputs, its end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Execution {
    pub subject: ExecutionSubject,
    pub status: ExecutionStatus,
    pub cause: ExecutionCause,
    pub requested_by: Actor,
    pub requested_at: Millis,
    /// Version of the request: the order of the queue.
    pub requested_version: Version,
    pub correlation_id: CorrelationId,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kernel_session: Option<KernelSessionId>,
    /// The only agent that may write about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<AgentId>,
    /// Of the assignment: writes about the execution must carry it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fence: Option<Version>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<Millis>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub stop_on_error: bool,
    /// A person wants it cancelled; its kernel has been asked to interrupt.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cancel_requested: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_at: Option<Millis>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<Millis>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub execution_count: Option<u64>,
    /// The cause of a cancellation or loss, or a notice on an odd end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub notice: Option<String>,
    /// The highest write of the agent that is in the log.
    #[serde(default)]
    pub output_seq: u64,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outputs: Vec<Output>,
    /// `clear_output(wait=True)`: the next output replaces all.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub clear_on_next_output: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pending_input: Option<PendingInput>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum KernelPhase {
    /// Waits for an agent.
    Requested,
    /// An agent is starting it.
    Claimed,
    /// It answers.
    Started,
    /// It was asked to shut down or is being replaced by a restart.
    Ending,
}

/// One life of a kernel.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct KernelSession {
    pub kernelspec: String,
    pub phase: KernelPhase,
    /// Version of the launch request, kept over restarts: the lowest is the default kernel.
    pub requested_version: Version,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<AgentId>,
    /// Version of `KernelSessionStarted`; every write about the session carries it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fence: Option<Version>,
    #[serde(default, skip_serializing_if = "RawObject::is_empty")]
    pub language_info: RawObject,
}

/// The last thing that went wrong with a kernel, so that everybody sees the cause. Cleared by the next start.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct KernelNotice {
    pub kernel_session: KernelSessionId,
    pub cause: String,
    pub version: Version,
}

/// Somebody's right.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Grant {
    pub role: Role,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Millis>,
}

/// One line of the access list. A list, because JSON keys cannot be subjects.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AccessEntry {
    pub subject: Subject,
    #[serde(flatten)]
    pub grant: Grant,
}

/// One undoable group of one actor: where its events are, and which cells they touch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct UndoGroup {
    pub correlation_id: CorrelationId,
    pub first_version: Version,
    pub last_version: Version,
    // Sorted. A list, because there are hundreds of groups of one or two cells, and a tree takes ten times as much for each.
    #[schemars(with = "std::collections::BTreeSet<CellId>")]
    pub cells: Vec<CellId>,
    /// The assistant's turn that it is part of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn_id: Option<TurnId>,
}

/// An actor's stacks, newest last, at most [`crate::Limits::max_undo_steps`] deep.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct UndoStacks {
    pub undo: Vec<UndoGroup>,
    pub redo: Vec<UndoGroup>,
}

/// The state of one notebook at one version.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Notebook {
    pub notebook_id: NotebookId,
    /// Version of the last applied event; 0 before the notebook exists.
    pub version: Version,
    pub title: String,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub archived: bool,
    pub metadata: RawObject,
    #[serde(default)]
    pub created_at: Millis,
    #[serde(default)]
    pub updated_at: Millis,
    /// Sorted by subject.
    pub access: Vec<AccessEntry>,
    pub cells: BTreeMap<CellId, Arc<Cell>>,
    /// Cell ids in the order of the page: by order key, then id. Derived from `cells`.
    pub order: Vec<CellId>,
    /// The latest execution of each live cell (the one whose outputs it shows).
    pub latest: BTreeMap<CellId, ExecutionId>,
    /// Latest and unfinished executions.
    pub executions: BTreeMap<ExecutionId, Arc<Execution>>,
    pub kernels: BTreeMap<KernelSessionId, KernelSession>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kernel_notice: Option<KernelNotice>,
    /// By name: what users have registered as tools, also of kernels that have ended.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub functions: BTreeMap<String, RegisteredFunction>,
    /// Names given to versions.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub named_versions: BTreeMap<Version, String>,
    #[serde(default, skip_serializing_if = "is_default")]
    pub policy: Policy,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub conversations: BTreeMap<ConversationId, Conversation>,
    /// Turns that have not ended.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub turns: BTreeMap<TurnId, Turn>,
    /// Tool calls that have not ended.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub tool_calls: BTreeMap<ToolCallId, Arc<ToolCall>>,
    /// Replies of cells that were deleted while an assistant was answering them, as far as they have come.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub replies_in_trash: BTreeMap<CellId, Arc<Reply>>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub grants: BTreeMap<GrantId, AssistantGrant>,
    /// Per actor key.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub undo: BTreeMap<String, UndoStacks>,
}

impl Notebook {
    /// The state before the first event.
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
            executions: BTreeMap::new(),
            kernels: BTreeMap::new(),
            kernel_notice: None,
            functions: BTreeMap::new(),
            named_versions: BTreeMap::new(),
            policy: Policy::default(),
            conversations: BTreeMap::new(),
            turns: BTreeMap::new(),
            tool_calls: BTreeMap::new(),
            replies_in_trash: BTreeMap::new(),
            grants: BTreeMap::new(),
            undo: BTreeMap::new(),
        }
    }

    pub fn exists(&self) -> bool {
        self.version > 0
    }

    /// The cell's latest execution, if it has one.
    pub fn latest_execution(&self, cell_id: &CellId) -> Option<(&ExecutionId, &Arc<Execution>)> {
        self.executions.get_key_value(self.latest.get(cell_id)?)
    }

    /// Cells in the order of the page.
    pub fn ordered_cells(&self) -> impl Iterator<Item = (&CellId, &Arc<Cell>)> {
        self.order.iter().filter_map(|id| self.cells.get_key_value(id))
    }

    /// Whether the cell's source changed since its latest execution began, or since what it asks was answered.
    pub fn is_stale(&self, cell_id: &CellId) -> bool {
        let Some(cell) = self.cells.get(cell_id) else { return false };
        if cell.content.reply.as_ref().is_some_and(|reply| *reply.prompt != *cell.content.source) {
            return true;
        }
        self.latest_execution(cell_id).is_some_and(|(_, execution)| match &execution.subject {
            ExecutionSubject::Cell { source, .. } => **source != *cell.content.source,
            ExecutionSubject::Scratch { .. } => false,
        })
    }
}
