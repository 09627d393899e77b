//! Commands: intents, which may be refused. Externally tagged in JSON: `{"InsertCell": {…}}`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::closed::Closed;
use crate::command_values::{
    AddComment, CellFlagChanges, CommentPlace, EditComment, EditSource, ExecutionReport, FlagMessage, InsertCell,
    MoveOutputs, Place, RequestExecution, RequestToolCall, Revoked, StartTurn, TurnEnd,
};
use notarium_record::{
    CellId, CellType, CommentId, ConversationId, CorrelationId, ExecutionId, ForkOrigin, FunctionPlace, GrantId, Hash,
    KernelCause, KernelSessionId, MessageBlock, MessageRole, Millis, Output, Policy, RawObject, Reactivity, Role,
    Subject, ThreadId, ToolCallEnd, ToolCallId, TurnFailure, TurnId, Usage, UserFunction, UserId, Version,
};

/// What somebody wants. The actor is the connection's; there is no field for it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub enum Command {
    // --- the notebook ---
    /// Makes the notebook that the command is addressed to. The sender becomes its owner.
    CreateNotebook {
        /// 1 to 255 characters on one line.
        title: String,
        /// As in nbformat, at most 1 MiB.
        #[serde(default)]
        metadata: RawObject,
        /// Where the content comes from that follows in the same batch.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        forked_from: Option<ForkOrigin>,
    },
    /// Gives the notebook another title. Needs the right to edit.
    RenameNotebook {
        /// 1 to 255 characters on one line.
        title: String,
    },
    /// Replaces the notebook's metadata. Needs the right to edit.
    SetNotebookMetadata {
        /// The whole metadata, as in nbformat; at most 1 MiB.
        metadata: RawObject,
    },
    /// From here on the notebook is read, exported and forked, and neither changed nor run.
    ArchiveNotebook {},
    /// Ends the archiving.
    UnarchiveNotebook {},
    /// Gives a version a name, so that people find it again. A notebook has at most 1,000 names.
    NameVersion {
        /// 1 up to the notebook's own version (`version_in_future` above it).
        version: Version,
        /// 1 to 255 characters on one line; replaces the name that the version has.
        name: String,
    },
    /// Gives a subject a role in place of the one it has. Needs the right to share.
    GrantAccess {
        /// A user, share link, workspace or agent that there is (`unknown_subject`) and that can use it (`subject_ended`).
        subject: Subject,
        /// `agent` for agents only, and for them no other.
        role: Role,
        /// Milliseconds since 1970; absent: until it is revoked.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        expires_at: Option<Millis>,
    },
    /// Takes a subject off the access list. The last owner stays (`last_owner`).
    RevokeAccess {
        /// As it stands in the list.
        subject: Subject,
    },

    /// An administrator puts somebody in the place of an owner who left. The notebook need not be the administrator's; what is
    /// needed is the scope `admin`. The account of `from` is deactivated, or gone (`forbidden` otherwise).
    TakeOverNotebook {
        /// An owner of the notebook (`invalid_value` otherwise). Loses the role.
        from: UserId,
        /// Becomes an owner; the administrator too may.
        to: UserId,
    },

    // --- cells ---
    /// Makes a cell. Needs the right to edit.
    InsertCell(InsertCell),
    /// A change against the text that the sender saw at `base`; later edits are transformed over, nobody is clobbered.
    EditSource(EditSource),
    /// A whole new text by a program that read the cell at `cell_version`; refused when the cell has moved on.
    ReplaceSource {
        /// A live cell.
        cell_id: CellId,
        /// The `cell_version` that was read; `conflict` names another one.
        cell_version: Version,
        /// At most 1 MiB, with `\n` line breaks only.
        source: String,
    },
    /// Gives a cell another place. Needs the right to edit.
    MoveCell {
        /// A live cell.
        cell_id: CellId,
        /// Not before or after itself (`invalid_place`).
        place: Place,
        /// Refuse with `conflict` unless the cell is at this version.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        cell_version: Option<Version>,
    },
    /// Makes a cell one of another type. Needs the right to edit.
    ChangeCellType {
        /// A live cell.
        cell_id: CellId,
        /// Its source, metadata and outputs stay.
        cell_type: CellType,
        /// Refuse with `conflict` unless the cell is at this version.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        cell_version: Option<Version>,
    },
    /// Moves a cell to the trash, with what it shows. Needs the right to edit.
    DeleteCell {
        /// A live cell.
        cell_id: CellId,
        /// Refuse with `conflict` unless the cell is at this version.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        cell_version: Option<Version>,
    },
    /// Brings a cell in the trash back where it was.
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
        /// File name to MIME bundle, as in nbformat, at most 16 MiB; absent: none any more.
        attachments: Option<RawObject>,
    },
    /// Sets and clears marks of a cell. Needs the right to edit.
    SetCellFlags {
        /// A live cell.
        cell_id: CellId,
        /// Those that change.
        flags: CellFlagChanges,
    },
    /// Clears the shown outputs of a cell. The executions stay in the record.
    ClearOutputs {
        /// A live cell.
        cell_id: CellId,
    },
    /// Undoes the sender's last undoable groups, or one group by its id. What the notebook was made with (an import, a fork, a
    /// template) is undone by its id alone.
    Undo {
        /// How many groups, 1 to 100. Without effect beside `correlation_id` or `turn_id`.
        #[serde(default = "one")]
        steps: u32,
        /// A group of anybody's: of a tool call it is the call's id.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        correlation_id: Option<CorrelationId>,
        /// All that an assistant did in one turn.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        turn_id: Option<TurnId>,
        /// Of the sender's groups those that changed text and touch this cell: undo as an editor of the cell does it.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        cell_id: Option<CellId>,
    },
    /// Undoes the sender's last undos.
    Redo {
        /// How many groups, 1 to 100.
        #[serde(default = "one")]
        steps: u32,
        /// As in `Undo`.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        cell_id: Option<CellId>,
    },

    // --- comments ---
    /// Begins a thread of comments, or replies in one. Needs the right to comment.
    AddComment(AddComment),
    /// Changes a comment of the sender's.
    EditComment(EditComment),
    /// Takes a comment away: one of the sender's, or with the right to moderate anybody's. With the last one the thread goes.
    DeleteComment {
        /// Named by ThreadStarted.
        thread_id: ThreadId,
        /// Named by CommentPosted.
        comment_id: CommentId,
    },
    /// Says that what a thread was about is settled. Needs the right to comment.
    ResolveThread {
        /// Named by ThreadStarted.
        thread_id: ThreadId,
    },
    /// Opens a resolved thread again. Needs the right to comment.
    ReopenThread {
        /// Named by ThreadStarted.
        thread_id: ThreadId,
    },
    /// For who splits or merges cells, in the same batch, before the text goes from where it was: the thread follows its text.
    MoveThread {
        /// Named by ThreadStarted.
        thread_id: ThreadId,
        /// Where its text is now.
        place: CommentPlace,
    },

    // --- executions ---
    /// Asks for a run, which queues behind those of its kernel. Needs the right to run.
    RequestExecution(RequestExecution),
    /// Queued: it will not run. Running: its kernel is interrupted.
    CancelExecution {
        /// One that has not ended.
        execution_id: ExecutionId,
    },
    /// A person gives an unreachable execution up. Where the kernel's agent cannot be reached, the kernel goes with it: what waits
    /// for it is cancelled, and the next request launches another.
    GiveUpExecution {
        /// One that is assigned or running (`execution_state` otherwise). It is lost from then on.
        execution_id: ExecutionId,
    },
    /// Answers the question that running code asks on stdin. The first answer counts (`no_input_requested` after it).
    AnswerInput {
        /// A run with a `pending_input`.
        execution_id: ExecutionId,
        /// At most 64 KiB, without the line break. Of a password the record keeps nothing.
        value: String,
    },
    /// An execution that happened elsewhere, as an imported file tells it.
    RecordExecution {
        /// A live cell, which shows these outputs from here on.
        cell_id: CellId,
        /// At most 64 MiB together.
        outputs: Vec<Output>,
        /// The number in `In [3]:`.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        execution_count: Option<u64>,
    },

    // --- kernels ---
    /// Launches a kernel, without running anything. A notebook has at most 8.
    LaunchKernel {
        /// Absent: the notebook's own, else `python3`.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        kernelspec: Option<String>,
    },
    /// Interrupts what the kernel is executing; its queue goes on. Needs the right to control kernels.
    InterruptKernel {
        /// One that has started.
        kernel_session: KernelSessionId,
    },
    /// Ends the kernel and all that its code has made, and begins a new session. What is queued is cancelled. Where the kernel's agent
    /// cannot be reached, any agent that offers the kernelspec may start the new one.
    RestartKernel {
        /// One that has started, or whose agent cannot be reached.
        kernel_session: KernelSessionId,
    },
    /// Ends the kernel and all that its code has made. What is queued is cancelled. Where its agent cannot be reached, it counts
    /// as ended at once.
    ShutDownKernel {
        /// One that has not ended.
        kernel_session: KernelSessionId,
    },
    /// Stop: cancels everything that waits and interrupts what runs.
    StopAll {},

    // --- from agents ---
    /// A runtime agent takes a launch for itself; `already_claimed` tells all others.
    ClaimKernelLaunch {
        /// One in phase `requested`.
        kernel_session: KernelSessionId,
    },
    /// The kernel of a claimed session runs. The version of the resulting event is the session's fence.
    ReportKernelStarted {
        /// One that the sender has claimed.
        kernel_session: KernelSessionId,
        /// As the kernel's `kernel_info_reply` has it.
        language_info: RawObject,
        /// What keeps the kernel's code from the rest of its machine.
        #[serde(skip_serializing_if = "RawObject::is_empty", default)]
        sandbox: RawObject,
    },
    /// The kernel of a claimed session could not be started.
    ReportKernelLaunchFailed {
        /// One that the sender has claimed.
        kernel_session: KernelSessionId,
        /// Why.
        cause: KernelCause,
        /// More about it, in a sentence, such as the end of the kernel's stderr; at most 2,000 characters are kept.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        detail: Option<String>,
    },
    /// A kernel is gone, whether that was asked for or not. Its unfinished runs are lost.
    ReportKernelEnded {
        /// One of the sender's.
        kernel_session: KernelSessionId,
        /// Why.
        cause: KernelCause,
        /// More about it, in a sentence; at most 2,000 characters are kept.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        detail: Option<String>,
    },
    /// `seq` counts 1, 2, 3 … per execution; a number that was seen is accepted and changes nothing.
    ReportExecution {
        /// One that was assigned to the sender's session.
        execution_id: ExecutionId,
        /// The version of the session's KernelSessionStarted; `stale_fence` where the session has ended.
        fence: Version,
        /// From 1, counted for each run.
        seq: u64,
        /// What happened.
        report: ExecutionReport,
    },
    /// After a reconnect: these sessions of mine are alive; any other of mine is not.
    ReconcileKernels {
        /// At most what the notebook has; ids that it does not know change nothing.
        alive: Vec<KernelSessionId>,
    },

    /// What the widgets of a kernel show: kept in the notebook's metadata (`widgets`, as nbformat has it), for files and for when the
    /// kernel is gone. Only what outputs show is kept, beside what other kernels' widgets showed last.
    SaveWidgets {
        /// One of the sender's.
        kernel_session: KernelSessionId,
        /// By model id, as `application/vnd.jupyter.widget-state+json` has its `state`; at most 512 KiB with what is kept of others.
        state: RawObject,
    },
    /// The functions that a kernel has registered, all of them: they replace what it had registered before.
    RegisterFunctions {
        /// One of the sender's.
        kernel_session: KernelSessionId,
        /// The version of the session's KernelSessionStarted.
        fence: Version,
        /// At most 64, no two of one name. One that is malformed refuses all (`invalid_value`).
        functions: Vec<UserFunction>,
        /// Where they stand, as far as the kernel knows.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        places: Vec<FunctionPlace>,
    },

    // --- assistants: commands of people ---
    /// Asks an assistant. Needs the right to converse.
    StartTurn(StartTurn),
    /// Stop: nothing of the turn starts any more, and what waits is withdrawn.
    CancelTurn {
        /// One that has not ended.
        turn_id: TurnId,
    },
    /// Pins a message (it is always in the assistant's context) or skips it (never). What is absent stays.
    FlagMessage(FlagMessage),
    /// Says whether running a cell brings the cells that hang together with it up to date. For editors and owners.
    SetReactivity {
        /// `off`, `lazy` or `eager`, for runs that are requested from then on.
        reactivity: Reactivity,
    },
    /// Says what assistants may do unasked. For owners.
    SetPolicy {
        /// For all conversations of the notebook, from the next call on.
        policy: Policy,
    },
    /// A person's decision on a call that waits, bound to the arguments that the person saw.
    ConfirmToolCall {
        /// A call that waits (`tool_call_state` otherwise).
        call_id: ToolCallId,
        /// Of the call as it was shown; `conflict` where the call has another.
        arguments_hash: Hash,
    },
    /// A person says no. The assistant reads the detail.
    DenyToolCall {
        /// A call that waits.
        call_id: ToolCallId,
        /// Why, at most 2,000 characters.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        detail: Option<String>,
    },
    /// Takes a call back that has not started.
    WithdrawToolCall {
        /// One that the sender's assistant requested, or any call for who may edit.
        call_id: ToolCallId,
        /// Why, at most 2,000 characters.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        detail: Option<String>,
    },
    /// Lets a conversation's calls pass for a while; never what destroys.
    IssueGrant {
        /// Chosen by the client, or by the server.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        grant_id: Option<GrantId>,
        /// The only one that it is for, and in it the calls for the person whom the assistant serves now.
        conversation_id: ConversationId,
        /// Empty: every function.
        #[serde(default)]
        functions: Vec<String>,
        /// Milliseconds since 1970, at most seven days ahead.
        expires_at: Millis,
    },
    /// Ends a grant before its time. Nothing happens where it has ended.
    RevokeGrant {
        /// As `IssueGrant` named it, or the event.
        grant_id: GrantId,
    },

    // --- assistants: their own commands ---
    /// An assistant's wish to call a tool. It passes, waits for a person, or is refused.
    RequestToolCall(RequestToolCall),

    // --- assistants: commands of the server's reactor ---
    /// Starts a call whose gate is open; what is core commands happens with it.
    StartToolCall {
        /// One that is `passed` or `confirmed`, and whose `after` has ended.
        call_id: ToolCallId,
    },
    /// How a call that had started has ended.
    ReportToolCall {
        /// One that has started.
        call_id: ToolCallId,
        /// Never `ok` where it is not known.
        end: ToolCallEnd,
        /// What the assistant reads; at most 256 KiB.
        result: String,
    },
    /// Closes calls that waited too long or whose targets have changed.
    SweepToolCalls {},
    /// Takes back the calls that have not started and ends the turns that came by a token or person who is let in no more.
    WithdrawRevoked {
        /// Whose calls and turns.
        revoked: Revoked,
    },
    /// Takes large values of a run's outputs out of the state: they are blobs already. What the run shows stays the same.
    MoveOutputs(MoveOutputs),
    /// The reactor is about to ask a model: it does so only if this command wins.
    StartModelCall {
        /// One that has not ended.
        turn_id: TurnId,
        /// The name of the provider, as in `anthropic`.
        provider: String,
        /// The provider's name of the model.
        model: String,
    },
    /// The model has answered, or failed to.
    ReportModelCall {
        /// One whose model call has not been answered.
        turn_id: TurnId,
        /// Why there is no answer. Absent: there is one.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        failure: Option<TurnFailure>,
        /// More about the failure, in a sentence.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        detail: Option<String>,
        /// What the call took.
        #[serde(default)]
        usage: Usage,
    },
    /// What the assistant or its tools have said becomes a message of the conversation.
    PostReply {
        /// One that has not ended.
        turn_id: TurnId,
        /// `assistant` or `tool`.
        role: MessageRole,
        /// At most 1 MiB together.
        blocks: Vec<MessageBlock>,
    },
    /// Nothing more of the turn comes.
    EndTurn {
        /// One that has not ended.
        turn_id: TurnId,
        /// Finished or failed; people cancel with `CancelTurn`.
        end: TurnEnd,
    },

    // --- many at once ---
    /// All or nothing, as one command and one undo group. Batches do not nest.
    Batch {
        /// At most 60,000, each decided on what those before it led to. No Batch, Undo or Redo among them.
        commands: Vec<Command>,
    },
}

impl Command {
    /// Reads a command and rejects unknown fields ([`Closed`]). `decide` refuses unknown words of open enums.
    ///
    /// # Errors
    /// Invalid JSON for a command, or an unknown field.
    pub fn decode(text: &str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(text).map(|Closed(command)| command)
    }
}

fn one() -> u32 {
    1
}
