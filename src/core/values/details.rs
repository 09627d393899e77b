//! Details of a rejection: its facts as fields, so that no program has to read the sentence.

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize};

use crate::values::decision::{Rejection, RejectionCode, Result};
use notarium_record::{CellId, Erasure, Role, Scope};

/// Facts of a refusal, for programs. Ignore an unknown kind: `code` and `message` have the rest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum RejectionDetails {
    /// The token lacks a scope.
    MissingScope {
        /// The missing scope.
        scope: Scope,
    },
    /// The session may do it only shortly after a sign-in: `POST /api/session` with `fresh`.
    FreshSignIn {
        /// The scope that such a session has.
        scope: Scope,
    },
    /// The role does not allow it.
    MissingRight {
        /// The highest role of the sender in this notebook.
        role: Role,
    },
    /// A retry may succeed after this time.
    RetryAfter {
        /// Seconds to wait.
        seconds: u64,
    },
    /// Nothing is left to undo.
    NothingToUndo,
    /// Nothing is left to redo.
    NothingToRedo,
    /// A limit was reached.
    Limit {
        /// The limit.
        limit: LimitName,
        /// Its value on this server.
        max: u64,
        /// Unit of `max`.
        unit: LimitUnit,
    },
    /// The refusal is about these cells.
    Cells {
        /// The cells, in the order in which the message names them.
        cells: Vec<CellId>,
    },
    /// The notebook was erased.
    Erased {
        /// Author, time and reason of the erasure.
        erasure: Box<Erasure>,
    },
    /// An argument is missing, unknown or wrong.
    Argument {
        /// Its place in the arguments, as in `at.x` or `rows[2].name`. Empty: the arguments as a whole.
        place: String,
        /// The mistake, without the name of the tool or function.
        problem: String,
    },
}

/// Unit of a limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LimitUnit {
    /// Bytes; of texts as UTF-8.
    Bytes,
    /// Unicode characters.
    Characters,
    /// A number of things.
    Count,
    /// Billionths of the currency that the message names.
    Nanos,
}

macro_rules! limits {
    ($($(#[doc = $says:literal])+ $name:ident $unit:ident)*) => {
        /// A limit that a rejection names.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
        #[serde(rename_all = "snake_case")]
        pub enum LimitName { $($(#[doc = $says])+ $name),* }

        impl LimitName {
            /// Unit of the limit's value.
            pub fn unit(self) -> LimitUnit {
                match self { $(Self::$name => LimitUnit::$unit),* }
            }
        }
    };
}

limits! {
    /// A cell's source, code of no cell, or the arguments of a kernel tool.
    Source Bytes
    /// Metadata of a cell or of the notebook, as JSON.
    Metadata Bytes
    /// All attachments of a cell together, as JSON.
    Attachments Bytes
    /// A title or a name.
    Title Characters
    /// Live cells of a notebook.
    Cells Count
    /// Parts of one `Batch`.
    BatchCommands Count
    /// Runs of a notebook that have not ended.
    QueuedExecutions Count
    /// Kernels of a notebook.
    Kernels Count
    /// All outputs of one report.
    ReportOutputs Bytes
    /// All recorded outputs of one run.
    RunOutputs Bytes
    /// All outputs of one run that an imported file brings.
    RecordedOutputs Bytes
    /// Outputs of a runtime agent in an hour.
    AgentOutputs Bytes
    /// An answer to one input request of running code.
    Input Bytes
    /// Saved state of a notebook's widgets.
    Widgets Bytes
    /// Entries of an access list.
    AccessEntries Count
    /// Named versions of a notebook.
    NamedVersions Count
    /// Functions that a kernel registers.
    Functions Count
    /// Conversations of a notebook.
    Conversations Count
    /// Outside assistants at work in a notebook.
    OutsideConversations Count
    /// All blocks of a message together.
    Message Bytes
    /// Attachments of one question to an assistant.
    QuestionAttachments Count
    /// A picture of a question.
    Picture Bytes
    /// A text file of a question.
    AttachedText Bytes
    /// Pinned or skipped messages of one conversation.
    FlaggedMessages Count
    /// Tool calls of a notebook that wait.
    WaitingToolCalls Count
    /// Result of a tool.
    ToolResult Bytes
    /// Content that one `save_data` writes.
    SavedData Bytes
    /// Grants of a notebook.
    Grants Count
    /// Threads of comments of a notebook.
    Threads Count
    /// Comments of a thread.
    ThreadComments Count
    /// Comments of a notebook.
    Comments Count
    /// A comment.
    Comment Characters
    /// Texts of all comments of a notebook.
    CommentText Bytes
    /// People whom a comment mentions.
    Mentions Count
    /// People, links and agents whom one command names.
    NamedSubjects Count
    /// Schedules of a notebook.
    Schedules Count
    /// Parameters of a schedule, as JSON.
    ScheduleParameters Bytes
    /// State of a notebook, as JSON.
    NotebookState Bytes
    /// Notebooks of a person or workspace.
    AccountNotebooks Count
    /// Records of the notebooks of a person or workspace.
    AccountLog Bytes
    /// Large outputs of the notebooks of a person or workspace.
    AccountBlobs Bytes
    /// Tokens of model calls in a day or month.
    SpentTokens Count
    /// Cost of model calls in a day or month.
    SpentMoney Nanos
    /// One blob.
    Blob Bytes
    /// A frame of the socket.
    Frame Bytes
    /// The body of a request.
    Request Bytes
    /// An imported file.
    Import Bytes
}

impl LimitName {
    /// Facts of a refusal by this limit.
    pub fn details(self, max: u64) -> RejectionDetails {
        RejectionDetails::Limit { limit: self, max, unit: self.unit() }
    }

    /// A `limit_exceeded` from a sentence that says what to do.
    pub fn refusal(self, max: u64, message: impl Into<String>) -> Rejection {
        Rejection::new(RejectionCode::LimitExceeded, message).with(self.details(max))
    }

    /// Rejects if `is_over`; the sentence is made only then.
    pub(crate) fn when<M: Into<String>>(self, is_over: bool, max: usize, message: impl FnOnce() -> M) -> Result<()> {
        if is_over { Err(self.refusal(max as u64, message())) } else { Ok(()) }
    }
}

/// Reads an optional value; one that this version does not know counts as absent.
pub fn if_known<'de, D: Deserializer<'de>, T: DeserializeOwned>(deserializer: D) -> Result<Option<T>, D::Error> {
    let value = Option::<serde_json::Value>::deserialize(deserializer)?;
    Ok(value.and_then(|value| serde_json::from_value(value).ok()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn details_of_a_later_version_are_left_out() {
        let text = r#"{"code":"forbidden","message":"no","details":{"kind":"moon","phase":3}}"#;
        let rejection: Rejection = serde_json::from_str(text).unwrap();
        assert_eq!(rejection, Rejection::new(RejectionCode::Forbidden, "no"));
        let text = r#"{"code":"forbidden","message":"no","details":{"kind":"missing_scope","scope":"edit","more":1}}"#;
        let rejection: Rejection = serde_json::from_str(text).unwrap();
        assert_eq!(rejection.details.as_deref(), Some(&RejectionDetails::MissingScope { scope: Scope::Edit }));
    }
}
