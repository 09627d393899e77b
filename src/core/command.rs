//! Commands: intents, which may be refused. Externally tagged in JSON: `{"InsertCell": {…}}`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::values::kernel_commands::{LaunchKernel, RestartKernel, SetKernelSettings};
use crate::values::schedules::{EndScheduledRun, RemoveSchedule, RunSchedule, SetSchedule, StartScheduledRun};
use crate::values::{
    AddComment, CellFlagChanges, Closed, CommentPlace, EditComment, EditSource, ExecutionReport, FlagMessage,
    InsertCell, MoveOutputs, NextInput, Place, RefusalReport, RequestExecution, RequestToolCall, RestoreNotebook,
    Revoked, StartTurn, TurnEnd,
};
use notarium_record::{
    CellId, CellType, CommentId, ConversationId, CorrelationId, Effect, ExecutionId, ForkOrigin, FunctionPlace,
    GrantId, Hash, KernelCause, KernelEnvironment, KernelSessionId, MessageBlock, MessageRole, Millis, Output, Policy,
    RawObject, Reactivity, Role, Subject, ThreadId, ToolCallEnd, ToolCallId, TurnFailure, TurnId, Usage, UserFunction,
    UserId, Version,
};

/// A request to change a notebook, which the server may refuse. Its actor is that of the connection; no field carries it.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub enum Command {
    // --- the notebook ---
    /// Creates the notebook that the command is addressed to. The sender becomes its owner.
    CreateNotebook {
        /// 1 to 255 characters on one line.
        title: String,
        /// The notebook's metadata, as in nbformat; at most 1 MiB.
        #[serde(default)]
        metadata: RawObject,
        /// The notebook and version that were copied; the content follows in the same batch. Absent: not a fork.
        forked_from: Option<ForkOrigin>,
    },
    /// Changes the notebook's title. Needs the right to edit.
    RenameNotebook {
        /// 1 to 255 characters on one line.
        title: String,
    },
    /// Replaces the notebook's metadata. Needs the right to edit.
    SetNotebookMetadata {
        /// The whole metadata, as in nbformat; at most 1 MiB.
        metadata: RawObject,
    },
    /// Archives the notebook: it can be read, exported and forked, but neither changed nor run.
    ArchiveNotebook {},
    /// Ends the archiving.
    UnarchiveNotebook {},
    /// Names a version, so that people find it again. A notebook has at most 1,000 named versions.
    NameVersion {
        /// A version from 1 to the notebook's present one (`version_in_future` otherwise).
        version: Version,
        /// 1 to 255 characters on one line; replaces the name that the version has.
        name: String,
    },
    /// Takes cells, their order and metadata back to a version. Needs the right to edit. Refused in a batch.
    RestoreNotebook(RestoreNotebook),
    /// Removes content from the record for good. From a client it is refused. Needs the right to redact.
    RedactContent(crate::values::erasure::RedactContent),
    /// Erases the notebook: one event is left. Needs the right to erase. Refused in a batch.
    EraseNotebook(crate::values::erasure::EraseNotebook),
    /// Gives a subject a role, which replaces its present one. Needs the right to share.
    GrantAccess {
        /// An existing user, share link, workspace or agent (`unknown_subject` otherwise) that is still active (`subject_ended` otherwise).
        subject: Subject,
        /// `agent` for agents only, and for them no other.
        role: Role,
        /// Milliseconds since 1970; absent: until it is revoked.
        expires_at: Option<Millis>,
    },
    /// Removes a subject from the access list. The last owner cannot be removed (`last_owner`).
    RevokeAccess {
        /// The subject of an entry of the list. Another subject changes nothing.
        subject: Subject,
    },
    /// Replaces an owner who has left. Needs the scope `admin`, and no role in the notebook. The account of `from` must
    /// be deactivated or deleted (`forbidden` otherwise).
    TakeOverNotebook {
        /// An owner of the notebook (`invalid_value` otherwise). Loses the role.
        from: UserId,
        /// The new owner: any active account, also the administrator's own.
        to: UserId,
    },

    // --- cells ---
    /// Inserts a cell. Needs the right to edit.
    InsertCell(InsertCell),
    /// Changes a cell's text as it was at `base`. The server transforms the change over later edits, so no edit is lost.
    EditSource(EditSource),
    /// Replaces a cell's whole text, for programs that have read it at `cell_version`. `conflict`: the cell has changed since.
    ReplaceSource {
        /// A live cell.
        cell_id: CellId,
        /// The `cell_version` that the sender has read. A `conflict` carries the present one.
        cell_version: Version,
        /// At most 1 MiB, with `\n` line breaks only.
        source: String,
    },
    /// Moves a cell. Needs the right to edit.
    MoveCell {
        /// A live cell.
        cell_id: CellId,
        /// The new place; not before or after the cell itself (`invalid_place`).
        place: Place,
        /// Refuse with `conflict` unless the cell is at this version.
        cell_version: Option<Version>,
    },
    /// Changes a cell's type. Needs the right to edit.
    ChangeCellType {
        /// A live cell.
        cell_id: CellId,
        /// The new type. Source, metadata and outputs stay.
        cell_type: CellType,
        /// Refuse with `conflict` unless the cell is at this version.
        cell_version: Option<Version>,
    },
    /// Moves a cell to the trash, with its outputs or reply. Needs the right to edit.
    DeleteCell {
        /// A live cell.
        cell_id: CellId,
        /// Refuse with `conflict` unless the cell is at this version.
        cell_version: Option<Version>,
    },
    /// Restores a cell from the trash to its former place. Needs the right to edit.
    RestoreCell {
        /// A cell in the trash (`cell_not_deleted` for a live one).
        cell_id: CellId,
    },
    /// Replaces a cell's metadata. Needs the right to edit.
    SetCellMetadata {
        /// A live cell.
        cell_id: CellId,
        /// The whole metadata, as in nbformat; at most 1 MiB.
        metadata: RawObject,
    },
    /// Replaces a cell's attachments. Needs the right to edit.
    SetCellAttachments {
        /// A live cell.
        cell_id: CellId,
        /// File name to MIME bundle, as in nbformat, at most 16 MiB. Absent: removes all attachments.
        #[serialize_always]
        attachments: Option<RawObject>,
    },
    /// Sets and clears flags of a cell. Needs the right to edit.
    SetCellFlags {
        /// A live cell.
        cell_id: CellId,
        /// The flags to change.
        flags: CellFlagChanges,
    },
    /// Clears the outputs that a cell shows. The executions stay in the record. Needs the right to edit.
    ClearOutputs {
        /// A live cell.
        cell_id: CellId,
    },
    /// Undoes the sender's last undoable groups, or one group by its id. The content with which the notebook was
    /// created (import, fork, template) is undone by its id only.
    Undo {
        /// Number of groups, 1 to 100. Ignored beside `correlation_id` or `turn_id`.
        #[serde(default = "one")]
        steps: u32,
        /// The id of a group of any actor. The group of a tool call has the call's id.
        correlation_id: Option<CorrelationId>,
        /// All groups of one turn of an assistant.
        turn_id: Option<TurnId>,
        /// Only groups of the sender that changed text of this cell, as undo in an editor does. Ignored beside
        /// `correlation_id` or `turn_id`.
        cell_id: Option<CellId>,
    },
    /// Undoes the sender's last undos.
    Redo {
        /// Number of groups, 1 to 100.
        #[serde(default = "one")]
        steps: u32,
        /// Only groups of the sender that changed text of this cell, as redo in an editor does.
        cell_id: Option<CellId>,
    },

    // --- comments ---
    /// Begins a thread of comments, or replies in a thread. Needs the right to comment.
    AddComment(AddComment),
    /// Changes a comment of the sender. Needs the right to comment.
    EditComment(EditComment),
    /// Deletes a comment of the sender; with the right to moderate, of any author. A thread without comments is removed.
    DeleteComment {
        /// Named by ThreadStarted.
        thread_id: ThreadId,
        /// Named by CommentPosted.
        comment_id: CommentId,
    },
    /// Marks a thread as resolved. Needs the right to comment.
    ResolveThread {
        /// Named by ThreadStarted.
        thread_id: ThreadId,
    },
    /// Reopens a resolved thread. Needs the right to comment.
    ReopenThread {
        /// Named by ThreadStarted.
        thread_id: ThreadId,
    },
    /// Moves a thread along with its text when cells are split or merged. Send it in the same batch, before the text is
    /// removed from its former place. Needs the right to edit.
    MoveThread {
        /// Named by ThreadStarted.
        thread_id: ThreadId,
        /// The cell and range that have the thread's text now.
        place: CommentPlace,
    },

    // --- executions ---
    /// Requests a run, which is queued after earlier runs of its kernel. Needs the right to run.
    RequestExecution(RequestExecution),
    /// Cancels a run. A queued run never begins; for a running one, the kernel is interrupted. Needs the right to run.
    CancelExecution {
        /// An execution that has not ended (`execution_state` otherwise).
        execution_id: ExecutionId,
    },
    /// Gives up an execution, whose status becomes `lost`. If the kernel's agent is unreachable, the kernel ends too,
    /// and runs that are queued on it are cancelled. The next request launches another kernel. Needs the right to run.
    GiveUpExecution {
        /// An execution that is assigned or running (`execution_state` otherwise). Its status becomes `lost`.
        execution_id: ExecutionId,
    },
    /// Answers a request of running code for input on stdin. The first answer counts (`no_input_requested` for later ones).
    AnswerInput {
        /// An execution with a `pending_input`.
        execution_id: ExecutionId,
        /// The answer, at most 64 KiB, without the line break. Answers to a password request are not recorded.
        value: String,
    },
    /// Records an execution that an imported file brings: it ran elsewhere. Needs the right to edit.
    RecordExecution {
        /// A live cell, which then shows these outputs.
        cell_id: CellId,
        /// The run's outputs, at most 64 MiB together.
        outputs: Vec<Output>,
        /// The number in `In [3]:`. Absent: not known.
        execution_count: Option<u64>,
    },

    // --- kernels ---
    /// Launches a kernel, without running anything. A notebook has at most 8 kernels. Needs the right to run.
    LaunchKernel(LaunchKernel),
    /// Interrupts the run that the kernel executes. Queued runs stay queued. Needs the right to control kernels.
    InterruptKernel {
        /// A session that has started (`kernel_state` otherwise).
        kernel_session: KernelSessionId,
    },
    /// Ends the kernel with all its variables, and begins a new session. Queued runs are cancelled. If the kernel's
    /// agent is unreachable, any agent that offers the kernelspec and has the labels may start the new session.
    RestartKernel(RestartKernel),
    /// Ends the kernel with all its variables. Queued runs are cancelled. If its agent is unreachable, the session ends with this command.
    ShutDownKernel {
        /// A session that has not ended.
        kernel_session: KernelSessionId,
    },
    /// Cancels all queued runs and interrupts all running ones. Needs the right to control kernels.
    StopAll {},

    // --- from agents ---
    /// Claims a launch for the sender, a runtime agent. Others get `already_claimed`, or `agent_not_wanted` if it excludes them.
    ClaimKernelLaunch {
        /// A session in phase `requested`.
        kernel_session: KernelSessionId,
    },
    /// Reports that the kernel of a claimed session has started. The version of the resulting event is the session's fence.
    ReportKernelStarted {
        /// A session that the sender has claimed.
        kernel_session: KernelSessionId,
        /// The `language_info` of the kernel's `kernel_info_reply`.
        language_info: RawObject,
        /// The isolation of the kernel's code from the rest of its machine, by kind and means. Absent: no isolation is known.
        #[serde(skip_serializing_if = "RawObject::is_empty", default)]
        sandbox: RawObject,
        /// The kernel's software, in an uploaded blob. Only for a server with the feature `kernel_environments`. Absent: not known.
        environment: Option<KernelEnvironment>,
    },
    /// Reports that the kernel of a claimed session could not be started.
    ReportKernelLaunchFailed {
        /// A session that the sender has claimed.
        kernel_session: KernelSessionId,
        /// The cause.
        cause: KernelCause,
        /// More about it, in a sentence, such as the end of the kernel's stderr; at most 2,000 characters are kept.
        detail: Option<String>,
    },
    /// Reports that a kernel has ended, requested or not. Its running executions are lost, or cancelled if the end was requested.
    ReportKernelEnded {
        /// A session of the sender.
        kernel_session: KernelSessionId,
        /// The cause.
        cause: KernelCause,
        /// More about it, in a sentence; at most 2,000 characters are kept.
        detail: Option<String>,
    },
    /// Reports progress of one execution. A report whose `seq` is already recorded is accepted and changes nothing.
    ReportExecution {
        /// An execution that was assigned to a session of the sender.
        execution_id: ExecutionId,
        /// The version of the session's KernelSessionStarted. `stale_fence`: the session has ended, or is not the sender's.
        fence: Version,
        /// Number of the report: 1, 2, 3 … for each execution.
        seq: u64,
        /// The content of the report.
        report: ExecutionReport,
    },
    /// Reports that an effect of a run was refused.
    ReportEffectRefused(RefusalReport),
    /// Reports text that a run offers for a cell.
    ReportNextInput(NextInput),
    /// Reports, after a reconnect, all living sessions of the sender. Its other sessions count as ended.
    ReconcileKernels {
        /// Sessions of this notebook that are alive. Ids that the notebook does not know change nothing.
        alive: Vec<KernelSessionId>,
    },
    /// Saves widget states in the notebook's metadata (`widgets`, as in nbformat), for files and for pages after the
    /// kernel has ended. Keeps only states of widgets that outputs show, also those of earlier kernels.
    SaveWidgets {
        /// A session of the sender.
        kernel_session: KernelSessionId,
        /// States by model id, as in `state` of `application/vnd.jupyter.widget-state+json`. At most 512 KiB together
        /// with the states already saved.
        state: RawObject,
    },
    /// Registers all functions of a kernel. They replace those that it registered before.
    RegisterFunctions {
        /// A session of the sender.
        kernel_session: KernelSessionId,
        /// The version of the session's KernelSessionStarted.
        fence: Version,
        /// At most 64 functions with different names. A malformed one refuses the whole command (`invalid_value`).
        functions: Vec<UserFunction>,
        /// Places in the code that define the functions, as far as the kernel knows them.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        places: Vec<FunctionPlace>,
    },

    // --- schedules ---
    /// Sets or changes a schedule. Needs the right to run, an account, and a session or a token for all notebooks.
    SetSchedule(Box<SetSchedule>),
    /// Removes a schedule. A run that is under way is stopped. Needs the right to run.
    RemoveSchedule(RemoveSchedule),
    /// Runs a schedule now, in the name of the sender and in a notebook of its own. Needs the right to run.
    RunSchedule(RunSchedule),
    /// Claims the run for a minute. From the server.
    StartScheduledRun(StartScheduledRun),
    /// Ends a scheduled run, or records that there was none. From the server.
    EndScheduledRun(EndScheduledRun),

    // --- assistants: commands of people ---
    /// Sends a message to an assistant, which begins a turn. Needs the right to converse.
    StartTurn(StartTurn),
    /// Stops a turn: nothing more of it starts, and its waiting calls are withdrawn. Needs the right to converse.
    CancelTurn {
        /// A turn that has not ended (`turn_state` otherwise).
        turn_id: TurnId,
    },
    /// Sets flags of a message: pinned (always in the assistant's context) or skipped (never). Absent flags stay. Needs the right to edit.
    FlagMessage(FlagMessage),
    /// Sets whether a run of a cell also updates the cells that it reads from or that read from it. For editors and owners.
    SetReactivity {
        /// `off`, `lazy` or `eager`. It applies to runs that are requested afterwards.
        reactivity: Reactivity,
    },
    /// Changes settings of the notebook's kernels. For editors and owners.
    SetKernelSettings(SetKernelSettings),
    /// Sets which tool calls of assistants need no confirmation. For owners.
    SetPolicy {
        /// The policy for all conversations of the notebook, from the next call on.
        policy: Policy,
    },
    /// Confirms a waiting tool call, for exactly the arguments that the person has seen.
    ConfirmToolCall {
        /// A call that waits for a person (`tool_call_state` otherwise).
        call_id: ToolCallId,
        /// The hash of the call that was shown. `conflict`: the waiting call has another hash.
        arguments_hash: Hash,
    },
    /// Denies a waiting tool call. The assistant reads the detail.
    DenyToolCall {
        /// A call that waits for a person (`tool_call_state` otherwise).
        call_id: ToolCallId,
        /// The reason, at most 2,000 characters; the rest is cut off.
        detail: Option<String>,
    },
    /// Withdraws a tool call that has not started (`tool_call_state` otherwise).
    WithdrawToolCall {
        /// A call of the sender or of the sender's assistant. With the right to edit: any call.
        call_id: ToolCallId,
        /// The reason, at most 2,000 characters; the rest is cut off.
        detail: Option<String>,
    },
    /// Lets calls of one conversation pass without confirmation for a limited time. Destructive calls still wait.
    IssueGrant {
        /// The id that the client chooses. Absent: the server chooses one.
        grant_id: Option<GrantId>,
        /// The conversation that the grant covers: only calls for the person whom its assistant serves now.
        conversation_id: ConversationId,
        /// Names of the functions that the grant covers. Empty: every function.
        #[serde(default)]
        functions: Vec<String>,
        /// Kinds of effects that the covered calls may ask for. Only kinds that destroy nothing (`invalid_value` otherwise). Empty: none.
        #[serde(skip_serializing_if = "Vec::is_empty", default)]
        kinds: Vec<Effect>,
        /// Time at which the grant ends, in milliseconds since 1970; at most seven days ahead.
        expires_at: Millis,
    },
    /// Revokes a grant. Changes nothing if it has ended already.
    RevokeGrant {
        /// The id of the grant, from `IssueGrant` or GrantIssued.
        grant_id: GrantId,
    },

    // --- assistants: their own ---
    /// Requests a tool call, for an assistant. The call passes, waits for a person, or is refused.
    RequestToolCall(RequestToolCall),

    // --- assistants: commands of the server's reactor ---
    /// Starts a tool call that has passed or is confirmed. If the core executes the tool, its effects are recorded in the same append.
    StartToolCall {
        /// A call in phase `passed` or `confirmed`, whose `after` has ended.
        call_id: ToolCallId,
    },
    /// Reports the end of a tool call that had started.
    ReportToolCall {
        /// A call that has started (`tool_call_state` otherwise).
        call_id: ToolCallId,
        /// The end of the call; `outcome_unknown` if it is not known.
        end: ToolCallEnd,
        /// The result that the model reads; at most 256 KiB.
        result: String,
    },
    /// Ends waiting calls that have expired or whose targets have changed.
    SweepToolCalls {},
    /// Ends turns and withdraws calls that have not started, if they came by a revoked token or from a closed account.
    WithdrawRevoked {
        /// The revoked token, or the person whose account is closed.
        revoked: Revoked,
    },
    /// Replaces large values in a run's outputs by references to blobs, which exist already. The outputs show the same.
    MoveOutputs(MoveOutputs),
    /// Claims a model call. The reactor calls the model only after this command is accepted.
    StartModelCall {
        /// A turn that has not ended (`turn_state` otherwise).
        turn_id: TurnId,
        /// The provider's name, such as `anthropic`.
        provider: String,
        /// The provider's name of the model.
        model: String,
    },
    /// Reports that a model call has ended, with or without an answer.
    ReportModelCall {
        /// A turn whose model call is under way (`turn_state` otherwise).
        turn_id: TurnId,
        /// The cause if there is no answer. Absent: the model has answered.
        failure: Option<TurnFailure>,
        /// More about the failure, in a sentence for people.
        detail: Option<String>,
        /// Tokens that the call used.
        #[serde(default)]
        usage: Usage,
    },
    /// Posts a message of the assistant, or the results of its tools, to the conversation.
    PostReply {
        /// A turn that has not ended (`turn_state` otherwise).
        turn_id: TurnId,
        /// `assistant` or `tool`.
        role: MessageRole,
        /// The message's content, at most 1 MiB as JSON.
        blocks: Vec<MessageBlock>,
    },
    /// Ends a turn. Its calls that have not started are withdrawn.
    EndTurn {
        /// A turn that has not ended (`turn_state` otherwise).
        turn_id: TurnId,
        /// The end: finished or failed. People use `CancelTurn` instead.
        end: TurnEnd,
    },

    // --- many at once ---
    /// Decides several commands as one: all of them or none, in one undo group. Batches do not nest.
    Batch {
        /// At most 60,000 commands, each decided on the state after the one before. Batch, Undo and Redo are not allowed.
        commands: Vec<Command>,
    },
}

impl Command {
    /// Reads a command and rejects unknown fields ([`Closed`]). `decide` refuses unknown words of open enums.
    /// # Errors
    /// Invalid JSON for a command, or an unknown field.
    pub fn decode(text: &str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(text).map(|Closed(command)| command)
    }
}

fn one() -> u32 {
    1
}
