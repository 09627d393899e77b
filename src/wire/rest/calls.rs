//! Tool calls, those that wait for a person included, and functions that users have registered in kernels.

use notarium_core::{
    Actor, CellId, CellType, Hash, KernelSessionId, Means, Millis, NotebookId, Open, Passed, RawObject, Risk, Target,
    TargetChange, ToolCallId, TurnId, Usage, Version,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Calls that wait for your decision, in all notebooks that you may see.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Confirmations {
    /// Calls, the longest waiting first; at most 500.
    pub calls: Vec<WaitingCall>,
    /// True: the list is incomplete; decide on some of these first.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_cut: bool,
}

/// A waiting call with its notebook.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct WaitingCall {
    /// Notebook id, for `POST /api/notebooks/{notebook}/calls/{call}/confirm`.
    pub notebook: NotebookId,
    /// The notebook's current title.
    pub title: String,
    /// The call with its arguments; its state is `waiting`.
    pub call: Call,
    /// Effects of a confirmation.
    pub confirmation: Confirmation,
}

/// Filter and page of the calls.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CallsQuery {
    /// Upper bound: calls requested before this version, as in `next` of the page before.
    pub before: Option<Version>,
    /// 1 to 200; absent: 50.
    pub limit: Option<usize>,
    /// Only calls of this function, as in `delete_cell`.
    pub function: Option<String>,
    /// Only calls requested at this time or later, in milliseconds since 1970.
    pub since: Option<Millis>,
    /// Only calls in this state.
    pub state: Option<CallState>,
}

/// Page of all tool calls, past ones included.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct CallPage {
    /// Calls; on the first page the waiting ones come first.
    pub calls: Vec<Call>,
    /// Value of `before` for the next page; absent when there are no older calls.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<Version>,
}

/// One call, and the effects of a confirmation.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct CallInFull {
    /// The notebook's title.
    pub title: String,
    /// The call's full record.
    pub call: Call,
    /// Effects of a confirmation. Absent once the call has started or ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub confirmation: Option<Confirmation>,
    /// True if the call waits for a decision that you may make.
    pub may_decide: bool,
}

/// Confirms a call. Needs a person, in a session or with a token that has the scope `confirm`.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Yes {
    /// The call's `arguments_hash` as you saw it.
    pub arguments_hash: Hash,
}

/// Denies or withdraws a call. The body may be omitted.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Because {
    /// Reason, which the assistant reads.
    pub reason: String,
}

/// Effects of a confirmation.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Confirmation {
    /// Action of the tool, in a few words.
    pub summary: String,
    /// Risk, in words for people.
    pub risk: String,
    /// Effects in order of execution.
    pub effects: Vec<CallEffect>,
    /// Reason why the call can no longer run, in a sentence for people: a confirmation closes it. Absent: it can run.
    pub void: Option<String>,
    /// The same reason, for programs.
    pub changed: Option<TargetChange>,
}

/// One effect of a call.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum CallEffect {
    /// Creates a cell.
    Creates {
        /// Type of the new cell.
        cell_type: CellType,
        /// Whole source of the new cell.
        source: String,
    },
    /// Changes a cell's source.
    Changes {
        /// The cell; its id stays.
        cell: CellId,
        /// Unified diff from the current source to the new one. If both together exceed 1 MiB: a note that they differ.
        diff: String,
    },
    /// Deletes a cell.
    Deletes {
        /// The cell; it moves to the trash and can be restored.
        cell: CellId,
        /// Current source.
        source: String,
        /// True if outputs are deleted too.
        has_outputs: bool,
    },
    /// Moves a cell.
    Moves {
        /// The cell; its source is unchanged.
        cell: CellId,
    },
    /// Runs code.
    Runs {
        /// The cell; absent: a cell that the call creates.
        cell: Option<CellId>,
        /// Code as sent to the kernel.
        source: String,
    },
    /// Writes a file in the kernel's file system.
    Writes {
        /// Path in the tool's arguments; relative paths start at the kernel's working folder.
        path: String,
        /// The whole content, as text.
        content: String,
        /// SHA-256 of the file that is overwritten.
        replaces: Option<String>,
    },
    /// Any other effect.
    Does {
        /// A sentence for people, in English.
        what: String,
    },
}

/// State of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CallState {
    /// Waits for a confirmation by a person.
    Waiting,
    /// Needs no confirmation; not started yet.
    Passed,
    /// Confirmed by a person; not started yet.
    Confirmed,
    /// Started and not ended; other servers and restarts do not start it again.
    Running,
    /// Succeeded; `result` is the tool's answer.
    Succeeded,
    /// Failed for certain; `result` has the reason.
    Failed,
    /// Its executor died meanwhile, so the outcome is unknown. It is not repeated.
    OutcomeUnknown,
    /// Denied by a person; see `decided_by` and `reason`.
    Denied,
    /// Withdrawn before its start: by its person, by an editor, or because its turn ended.
    Withdrawn,
    /// Closed before its start: its target changed, or a person lost a right.
    Voided,
    /// Closed without a decision in time (24 hours by default).
    Expired,
}

/// One tool call of an assistant, with its full record.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Call {
    /// Call id. Also the correlation id of all its changes, so `Undo {"correlation_id": …}` reverts them.
    pub id: ToolCallId,
    /// Name of a built-in tool, or of a function that a user has registered.
    pub function: String,
    /// All arguments.
    pub arguments: RawObject,
    /// Hash of exactly these arguments of this function; a confirmation names it.
    pub arguments_hash: Hash,
    /// `read`, `edit`, `sensitive` or `destructive`.
    pub risk: Open<Risk>,
    /// Reasons why the risk is higher than the tool's default.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reasons: Vec<String>,
    /// Targets as of the time of the request.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub targets: Vec<Open<Target>>,
    /// The assistant, and the person for whom it acts.
    pub requested_by: Actor,
    /// Milliseconds since 1970, like all times here.
    pub requested_at: Millis,
    /// Version of its ToolCallRequested event: `before` of the next page.
    pub requested_version: Version,
    /// Turn that requested it. Absent for external assistants.
    pub turn_id: Option<TurnId>,
    /// Tokens of the model call that requested it: `input_tokens`, `output_tokens`; `estimated` if the provider reported none. Calls
    /// requested together have the same values. Absent outside of turns.
    pub model_usage: Option<Usage>,
    /// Deadline for a confirmation, if it needs one.
    pub expires_at: Option<Millis>,
    /// Call that must have ended before this one starts.
    pub after: Option<ToolCallId>,
    /// Current state.
    pub state: CallState,
    /// Actor who confirmed, denied or withdrew it.
    pub decided_by: Option<Actor>,
    /// Means by which a person confirmed or denied it: the interface, and the label of the session or token. Absent without such a
    /// decision, and for decisions before version 0.1 recorded it.
    pub by_means: Option<Means>,
    /// Time of the decision.
    pub decided_at: Option<Millis>,
    /// Reason of a denial, withdrawal or voiding.
    pub reason: Option<String>,
    /// Reason why it may start: the policy, a grant, or a person's confirmation.
    pub passed_by: Option<Open<Passed>>,
    /// Start time; absent if it has not started.
    pub started_at: Option<Millis>,
    /// End time of a started call; absent for calls that never started.
    pub ended_at: Option<Millis>,
    /// Time from start to end, in milliseconds; absent until both are known.
    pub duration_ms: Option<Millis>,
    /// Text that the assistant received as the result.
    pub result: Option<String>,
}

/// Functions of a notebook.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Functions {
    /// Functions by name: callable ones, and those without a running kernel.
    pub functions: Vec<NotebookFunction>,
}

/// A function that a user has registered in a kernel.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct NotebookFunction {
    /// Name for calls.
    pub name: String,
    /// Version of this definition; it changes with the function.
    pub version: String,
    /// Description for people and models.
    pub description: String,
    /// JSON Schema of its arguments, of type object.
    pub schema: RawObject,
    /// Highest risk of a call; a destructive function needs `confirmed`.
    pub risk: Open<Risk>,
    /// Kernel that has the function. Absent: the kernel ended.
    pub kernel_session: Option<KernelSessionId>,
    /// Cell that probably defines it, found by its text.
    pub cell_id: Option<CellId>,
    /// Reason why it cannot be called now, and what to do. Absent: it can be called.
    pub problem: Option<String>,
}

/// Arguments and options of a call.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct FunctionArguments {
    /// Arguments that match the function's schema.
    pub arguments: RawObject,
    /// Confirmation; a destructive function is called only if this is true.
    pub confirmed: bool,
    /// Timeout in milliseconds, after which the call is interrupted; absent: none.
    pub timeout_ms: Option<Millis>,
}
