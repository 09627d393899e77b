//! Events of the notebook as a whole, of its cells, and of comments.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::access::{AccessEntry, ForkOrigin, Role, Subject};
use crate::cell::{CellContent, CellFlags, CellType, OrderKey};
use crate::execution::{PastExecution, Reactivity};
use crate::ids::{CellId, CommentId, ExecutionId, Hash, Millis, ThreadId, UserId, Version};
use crate::json::{Open, RawObject};
use crate::message::CellReply;
use crate::placement::KernelSettings;
use crate::text::{ChangeSet, TextRange};
use crate::tool_call::Policy;

/// The notebook was created. This is the first event of every log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NotebookCreated {
    /// The title: 1 to 255 characters on one line.
    pub title: String,
    /// The notebook's metadata, as in nbformat.
    pub metadata: RawObject,
    /// The first owner.
    pub owner: Subject,
    /// The notebook and version that were copied. Later events of the same command carry the content. Absent: not a fork.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub forked_from: Option<ForkOrigin>,
}

/// The notebook was renamed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NotebookRenamed {
    /// The title: 1 to 255 characters on one line.
    pub title: String,
    /// The previous title, for undo.
    pub previous: String,
}

/// The notebook's whole metadata was replaced.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NotebookMetadataSet {
    /// The notebook's metadata, as in nbformat.
    pub metadata: RawObject,
    /// The previous metadata, for undo.
    pub previous: RawObject,
}

/// The notebook was archived: it can be read, exported and forked, but neither changed nor run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NotebookArchived {}

/// The archiving ended: the notebook can be changed and run again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NotebookUnarchived {}

/// A version was named. A name that it had before is replaced.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NotebookVersionNamed {
    /// The named version, which is below that of this event.
    pub version: Version,
    /// The name: 1 to 255 characters on one line.
    pub name: String,
}

/// The notebook was taken back to an earlier version: the events after it of the same group make its cells, their order and
/// the notebook's metadata as they were. By itself it changes nothing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NotebookRestored {
    /// The version whose content returns, which is below that of this event.
    pub version: Version,
}

/// Content of earlier events was removed for good. Their payloads are stand-ins since: `█` for each UTF-16 code unit that went, with the same
/// line breaks. It changes no state by itself: take a snapshot, and drop what you hold of the notebook.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ContentRedacted {
    /// The owner's reason: 1 to 500 characters.
    pub reason: String,
    /// The named content, without its text.
    pub target: Open<RedactedTarget>,
    /// Events with a stand-in, in the order of versions.
    pub redactions: Vec<RedactedEvent>,
    /// Blobs that were removed with the content, sorted.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub blobs: Vec<Hash>,
}

/// Content that an owner has named for redaction.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RedactedTarget {
    /// All texts of one event.
    Event {
        /// The event's version.
        version: Version,
    },
    /// A text, wherever it stood.
    Text {},
    /// The whole past of a cell: its texts, runs, outputs and comments.
    Cell {
        /// The cell, live or in the trash.
        cell_id: CellId,
    },
}

/// An event with a stand-in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RedactedEvent {
    /// The event's version.
    pub version: Version,
    /// SHA-256 of the stand-in's JSON, as it is in the log. Nothing else may stand there.
    pub stand_in: Hash,
}

/// The notebook was erased. This is the last event of the log: the server deletes all events before it with everything that derives
/// from them, so that a reader may find this event alone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NotebookErased {
    /// The reason, in words of the person who erased it: 1 to 1,000 characters.
    pub reason: String,
    /// Version of the event before this one.
    pub version: Version,
    /// Hash of the event before this one, from which the hash of this one follows.
    pub hash: Hash,
    /// People and workspaces that had access, sorted by subject. They may still read who erased the notebook, when and why.
    pub access: Vec<AccessEntry>,
}

/// A subject got a role. A role that it had before is replaced.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AccessGranted {
    /// A user, share link, workspace or runtime agent.
    pub subject: Subject,
    /// The new role. Runtime agents have the role `agent`, and other subjects never have it.
    pub role: Role,
    /// Time at which the role ends, in milliseconds since 1970; no event follows then. Absent: until it is revoked.
    pub expires_at: Option<Millis>,
    /// The owner whom an administrator has replaced by the subject, because the owner's account had ended. Absent: an
    /// owner has granted the role.
    pub taken_over_from: Option<UserId>,
}

/// A subject was removed from the access list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AccessRevoked {
    /// The removed subject. A user may still have a role through a workspace.
    pub subject: Subject,
}

/// The policy changed: which tool calls of assistants need no confirmation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NotebookPolicyChanged {
    /// The new policy, for calls that are requested or started after this event.
    pub policy: Policy,
    /// The previous policy.
    pub previous: Policy,
}

/// The setting changed that says which other cells a run of a cell also updates.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NotebookReactivitySet {
    /// The new setting, for runs that are requested after this event.
    pub reactivity: Reactivity,
    /// The previous setting.
    pub previous: Reactivity,
}

/// The settings of the notebook's kernels changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NotebookKernelSettingsSet {
    /// The new settings, for kernels that are launched or whose agent is gone after this event.
    pub settings: KernelSettings,
    /// The previous settings.
    pub previous: KernelSettings,
}

/// An undo or redo had no effect, because other edits had replaced the whole group. The group still leaves its stack.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct UndoSkipped {}

/// A cell was inserted, or an undo or redo inserted it again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CellInserted {
    /// The cell's id: new in this notebook, unless an undo or redo inserts the cell again.
    pub cell_id: CellId,
    /// Type, source, place and flags of the cell.
    pub cell: CellContent,
    /// The reply of a prompt cell that came from a file or another notebook. Absent: none.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub reply: Option<CellReply>,
}

/// The cell's text changed. The change is transformed already: it applies to the text just before this event.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CellSourceEdited {
    /// A live cell.
    pub cell_id: CellId,
    /// CodeMirror's ChangeSet JSON, in UTF-16 code units.
    pub change: ChangeSet,
    /// The texts that the deleting sections of `change` removed, in order. They allow clients to invert the change.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub removed: Vec<String>,
}

/// The cell was moved.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CellMoved {
    /// A live cell.
    pub cell_id: CellId,
    /// The key of the new place.
    pub order_key: OrderKey,
    /// The key of the previous place, for undo.
    pub previous: OrderKey,
}

/// The cell's type changed. Source, metadata and outputs stay.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CellTypeChanged {
    /// A live cell.
    pub cell_id: CellId,
    /// The new type.
    pub cell_type: CellType,
    /// The previous type, for undo.
    pub previous: CellType,
}

/// The cell was moved to the trash. The event carries the whole cell: the trash is a projection of these events.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CellDeleted {
    /// The cell, live until this event.
    pub cell_id: CellId,
    /// The cell's content when it was deleted.
    pub cell: CellContent,
    /// The execution whose outputs the cell showed. Absent: none.
    pub latest_execution: Option<ExecutionId>,
    /// The reply that a prompt cell showed. Absent: none.
    pub reply: Option<CellReply>,
}

/// A cell was restored from the trash.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CellRestored {
    /// A cell in the trash until this event.
    pub cell_id: CellId,
    /// The cell's content when it was deleted. The order key differs if its place was taken.
    pub cell: CellContent,
    /// The execution whose outputs the cell shows again. Absent: none.
    pub latest_execution: Option<ExecutionId>,
    /// The execution itself, if it has left the document since. Absent: the document has it.
    pub execution: Option<Box<PastExecution>>,
    /// The reply that the prompt cell shows, with progress since the deletion. Absent: none.
    pub reply: Option<CellReply>,
}

/// The cell's whole metadata was replaced.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CellMetadataSet {
    /// A live cell.
    pub cell_id: CellId,
    /// The new metadata, as in nbformat.
    pub metadata: RawObject,
    /// The previous metadata, for undo.
    pub previous: RawObject,
}

/// All attachments of the cell were replaced.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CellAttachmentsSet {
    /// A live cell.
    pub cell_id: CellId,
    /// File name to MIME bundle, as in nbformat. Null: the cell has no attachments any more.
    pub attachments: Option<RawObject>,
    /// The previous attachments, for undo. Null: none.
    pub previous: Option<RawObject>,
}

/// The cell's flags changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CellFlagsSet {
    /// A live cell.
    pub cell_id: CellId,
    /// All flags of the cell. A flag that is left out is not set.
    pub flags: CellFlags,
    /// The previous flags, for undo.
    pub previous: CellFlags,
}

/// The cell's outputs were cleared. Their execution stays in the record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CellOutputsCleared {
    /// A live cell.
    pub cell_id: CellId,
    /// The execution whose outputs the cell showed.
    pub execution_id: ExecutionId,
}

/// A thread of comments begins. Its first comment follows in the same command.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadStarted {
    /// The new thread's id, which later events of the thread carry.
    pub thread_id: ThreadId,
    /// A live cell. The thread stays with the cell, also in the trash.
    pub cell_id: CellId,
    /// The range in the cell's source at this version; not empty. Absent: the thread is about the whole cell.
    pub range: Option<TextRange>,
    /// The text of the range, cut to 500 characters. Absent: there is no range.
    pub quote: Option<String>,
}

/// The place of a thread: a cell, and a range of its source.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadPlace {
    /// The cell that the thread is about.
    pub cell_id: CellId,
    /// The range in the cell's source. Absent: the whole cell.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub range: Option<TextRange>,
}

/// A thread was moved along with its text, because cells were split or merged.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadMoved {
    /// Named by ThreadStarted.
    pub thread_id: ThreadId,
    /// A live cell.
    pub cell_id: CellId,
    /// The range in the cell's source at this version. Absent: the whole cell.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub range: Option<TextRange>,
    /// The previous place, for undo.
    pub previous: ThreadPlace,
}

/// A comment was posted in a thread.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CommentPosted {
    /// Named by ThreadStarted.
    pub thread_id: ThreadId,
    /// The new comment's id.
    pub comment_id: CommentId,
    /// Markdown, with `\n` line breaks only; not empty.
    pub text: String,
    /// Accounts that the comment mentions, sorted. A mention gives no right.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub mentions: Vec<UserId>,
}

/// The author of a comment changed it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CommentEdited {
    /// Named by ThreadStarted.
    pub thread_id: ThreadId,
    /// Named by CommentPosted.
    pub comment_id: CommentId,
    /// The whole new text. The record has the previous text.
    pub text: String,
    /// All accounts that the comment mentions now, sorted.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub mentions: Vec<UserId>,
}

/// A comment was deleted: it is no longer shown, and stays in the record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CommentDeleted {
    /// Named by ThreadStarted. If this was its last comment, the thread is removed too.
    pub thread_id: ThreadId,
    /// Named by CommentPosted.
    pub comment_id: CommentId,
}

/// A thread was marked as resolved.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadResolved {
    /// Named by ThreadStarted.
    pub thread_id: ThreadId,
}

/// A resolved thread was reopened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadReopened {
    /// Named by ThreadStarted.
    pub thread_id: ThreadId,
}
