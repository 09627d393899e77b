//! The notebook as a whole: title, metadata, access, policy.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::access::{ForkOrigin, Role, Subject};
use crate::execution::Reactivity;
use crate::ids::{Millis, UserId, Version};
use crate::json::RawObject;
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

/// A subject got a role. A role that it had before is replaced.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AccessGranted {
    /// A user, share link, workspace or runtime agent.
    pub subject: Subject,
    /// The new role. Runtime agents have the role `agent`, and other subjects never have it.
    pub role: Role,
    /// Time at which the role ends, in milliseconds since 1970; no event follows then. Absent: until it is revoked.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub expires_at: Option<Millis>,
    /// The owner whom an administrator has replaced by the subject, because the owner's account had ended. Absent: an
    /// owner has granted the role.
    #[serde(skip_serializing_if = "Option::is_none", default)]
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

/// An undo or redo had no effect, because other edits had replaced the whole group. The group still leaves its stack.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct UndoSkipped {}
