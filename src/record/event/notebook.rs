//! The notebook as a whole: title, metadata, access, policy.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::access::{ForkOrigin, Role, Subject};
use crate::execution::Reactivity;
use crate::ids::{Millis, UserId, Version};
use crate::json::RawObject;
use crate::tool_call::Policy;

/// The first event of every log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NotebookCreated {
    /// 1 to 255 characters on one line.
    pub title: String,
    /// As in nbformat.
    pub metadata: RawObject,
    /// The first owner.
    pub owner: Subject,
    /// Where the content came from; the events that follow in the same command carry it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub forked_from: Option<ForkOrigin>,
}

/// The notebook has another title.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NotebookRenamed {
    /// 1 to 255 characters on one line.
    pub title: String,
    /// What it was before, for undo.
    pub previous: String,
}

/// The metadata is replaced as a whole.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NotebookMetadataSet {
    /// As in nbformat.
    pub metadata: RawObject,
    /// What it was before, for undo.
    pub previous: RawObject,
}

/// From here on the notebook is read, exported and forked, and neither changed nor run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NotebookArchived {}

/// The notebook is changed and run again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NotebookUnarchived {}

/// A version has a name, in place of the one that it may have had.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NotebookVersionNamed {
    /// The version that is named: below that of this event.
    pub version: Version,
    /// 1 to 255 characters on one line.
    pub name: String,
}

/// A subject has a role, in place of the one that it may have had.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AccessGranted {
    /// A user, share link, workspace or runtime agent.
    pub subject: Subject,
    /// `agent` for runtime agents, and for nobody else.
    pub role: Role,
    /// Milliseconds since 1970; absent: until it is revoked. No event follows when the time comes.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub expires_at: Option<Millis>,
    /// An administrator has put the subject in the place of this owner, whose account had ended. Absent: an owner has granted it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub taken_over_from: Option<UserId>,
}

/// A subject has no role of its own any more.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AccessRevoked {
    /// As it stood in the access list.
    pub subject: Subject,
}

/// Assistants may do more unasked, or less.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NotebookPolicyChanged {
    /// Holds for calls that are requested or started from here on.
    pub policy: Policy,
    /// What it was before, for undo.
    pub previous: Policy,
}

/// Running a cell now brings other cells up to date, or does so no longer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NotebookReactivitySet {
    /// Holds for runs that are requested from here on.
    pub reactivity: Reactivity,
    /// What it was before.
    pub previous: Reactivity,
}

/// Nothing of the group that this undoes was left to invert. The group leaves its stack all the same.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct UndoSkipped {}
