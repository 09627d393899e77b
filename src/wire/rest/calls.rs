//! Tool calls of assistants: what waits, what happened, decisions.

use notarium_core::{
    Actor, CellId, CellType, Hash, Means, Millis, NotebookId, Open, Passed, RawObject, Risk, Target, ToolCallId,
    TurnId, Usage, Version,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What waits for your decision, in all notebooks that you may see.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Confirmations {
    /// The longest waiting first; at most 500.
    pub calls: Vec<WaitingCall>,
    /// There are more than could be looked through: decide on some of these first.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_cut: bool,
}

/// A call that waits, and where.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct WaitingCall {
    /// Where to decide: `POST /api/notebooks/{notebook}/calls/{call}/confirm`.
    pub notebook: NotebookId,
    /// The notebook's title now.
    pub title: String,
    /// In full, arguments included; its state is `waiting`.
    pub call: Call,
    /// What would happen if you confirmed.
    pub confirmation: Confirmation,
}

/// Which calls are listed.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CallsQuery {
    /// Calls requested before this version: `next` of the page before.
    pub before: Option<Version>,
    /// 1 to 200; absent: 50.
    pub limit: Option<usize>,
    /// Only of this function, for instance `delete_cell`.
    pub function: Option<String>,
    /// Only requested at this time or later: milliseconds since 1970.
    pub since: Option<Millis>,
    /// Only in this state.
    pub state: Option<CallState>,
}

/// Tool calls of all times.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct CallPage {
    /// On the first page those that wait come first.
    pub calls: Vec<Call>,
    /// Ask again with this as `before`; absent when there are no older ones.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<Version>,
}

/// One call, and what confirming it would do.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct CallInFull {
    /// The notebook's.
    pub title: String,
    /// Everything that is on record of it.
    pub call: Call,
    /// What it would do. Absent when it has started or is over.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub confirmation: Option<Confirmation>,
    /// Whether it waits for a decision that you may take.
    pub may_decide: bool,
}

/// Confirms a call. Needs a person, in a session or with a token that has the scope `confirm`.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Yes {
    /// Of the call as you saw it.
    pub arguments_hash: Hash,
}

/// Denies or withdraws a call. The body may be left out.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Because {
    /// Said to the assistant.
    pub reason: String,
}

/// What confirming would do.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Confirmation {
    /// What the tool does, in a few words.
    pub summary: String,
    /// The risk in words.
    pub risk: String,
    /// In the order in which it would happen.
    pub effects: Vec<Effect>,
    /// Why it would not happen any more: confirming closes the call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub void: Option<String>,
}

/// One thing that a call would do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Effect {
    /// A new cell.
    Creates {
        /// Type of the new cell.
        cell_type: CellType,
        /// All of its text.
        source: String,
    },
    /// A cell's text changes: a unified diff.
    Changes {
        /// The cell; its id stays.
        cell: CellId,
        /// From what it says now to what it would say. Of texts above 1 MiB together only that they differ.
        diff: String,
    },
    /// A cell goes, with this source.
    Deletes {
        /// The cell; it goes to the trash, from where it can be restored.
        cell: CellId,
        /// What it says now.
        source: String,
        /// Whether outputs go with it.
        has_outputs: bool,
    },
    /// A cell changes its place.
    Moves {
        /// The cell; its text stays.
        cell: CellId,
    },
    /// This code runs.
    Runs {
        /// Absent: of a cell that the call makes.
        #[serde(skip_serializing_if = "Option::is_none")]
        cell: Option<CellId>,
        /// The code, as it would be sent to the kernel.
        source: String,
    },
    /// A file is written where the kernel runs.
    Writes {
        /// As the tool was given it: relative paths begin where the kernel runs.
        path: String,
        /// The whole content, as text.
        content: String,
        /// SHA-256 of the file that is lost.
        #[serde(skip_serializing_if = "Option::is_none")]
        replaces: Option<String>,
    },
    /// Something else, in a sentence.
    Does {
        /// A sentence for people, in English.
        what: String,
    },
}

/// Where a call stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CallState {
    /// For a person.
    Waiting,
    /// Nobody need be asked; it has not started yet.
    Passed,
    /// A person said yes; it has not started yet.
    Confirmed,
    /// It has started and not ended: other servers and restarts do not begin it again.
    Running,
    /// It did what it was to do; `result` is its answer.
    Succeeded,
    /// It was tried and certainly failed; `result` says why.
    Failed,
    /// Whoever executed it died meanwhile. It is not repeated.
    OutcomeUnknown,
    /// A person said no; `decided_by` and `reason` say who and why.
    Denied,
    /// Taken back before it started: by its person, by an editor, or because its turn ended.
    Withdrawn,
    /// What it would have acted on has changed, or somebody lost the right.
    Voided,
    /// No person decided within the time (24 hours, unless the server is set otherwise).
    Expired,
}

/// One tool call of an assistant, with everything that is on record of it.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Call {
    /// Also the correlation id of all that it does, so `Undo {"correlation_id": …}` takes that back.
    pub id: ToolCallId,
    /// The tool's name: one of the built-in tools, or a function that a user has registered.
    pub function: String,
    /// In full.
    pub arguments: RawObject,
    /// What a confirmation names: exactly these arguments of this function.
    pub arguments_hash: Hash,
    /// `read`, `edit`, `sensitive` or `destructive`.
    pub risk: Open<Risk>,
    /// Why the risk is more than the tool's own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reasons: Vec<String>,
    /// What it touches, as it was when the call was requested.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub targets: Vec<Open<Target>>,
    /// The assistant, and the person for whom it acts.
    pub requested_by: Actor,
    /// Milliseconds since 1970, like all times here.
    pub requested_at: Millis,
    /// The version of its ToolCallRequested event: `before` of the next page.
    pub requested_version: Version,
    /// The turn that asked for it. Absent for assistants outside.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turn_id: Option<TurnId>,
    /// What the model call took that asked for it: `input_tokens`, `output_tokens`; `estimated` when the provider did not say.
    /// Calls that it asked for together show the same. Absent outside of turns.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model_usage: Option<Usage>,
    /// Set when a person is asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Millis>,
    /// The call that must have ended before this one starts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<ToolCallId>,
    /// At this moment.
    pub state: CallState,
    /// Who confirmed, denied or withdrew it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decided_by: Option<Actor>,
    /// By what means a person confirmed or denied it: the door, and the session or token by its label. Absent where nobody did, and
    /// for decisions before version 0.1 recorded it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by_means: Option<Means>,
    /// When they did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decided_at: Option<Millis>,
    /// Of a denial, withdrawal or voiding.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What let it through: the policy, a grant, or a person's confirmation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub passed_by: Option<Open<Passed>>,
    /// Absent: it has not started, or never will.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub started_at: Option<Millis>,
    /// When it ended after its start. Absent for calls that never started.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<Millis>,
    /// From start to end; absent while either is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<Millis>,
    /// What the assistant was told.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<String>,
}
