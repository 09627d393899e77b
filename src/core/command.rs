//! The commands: intents, which may be refused. Externally tagged in JSON: `{"InsertCell": {…}}`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use notarium_record::text::ChangeSet;
use notarium_record::{
    CellId, CellReply, CellType, ConversationId, CorrelationId, EndCause, ExecutionId, ExecutionOutcome, ForkOrigin,
    GrantId, Hash, KernelCause, KernelSessionId, MessageBlock, MessageId, MessageRole, Millis, Output, Policy,
    RawObject, Role, StopReason, Subject, ToolCallEnd, ToolCallId, TurnFailure, TurnId, Usage, UserFunction, Version,
};

/// Where a cell goes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Place {
    Start,
    End,
    Before(CellId),
    After(CellId),
}

/// Flags to change; absent ones stay.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct CellFlagChanges {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pinned: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub skipped: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source_hidden: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outputs_hidden: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub heading_collapsed: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exported: Option<bool>,
    /// 1 to 9; 0 removes it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bookmark: Option<u8>,
}

/// What an agent reports of one execution.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum ExecutionReport {
    Started {},
    Output {
        outputs: Vec<Output>,
    },
    UpdateDisplay {
        display_id: String,
        output: Output,
    },
    Clear {
        wait: bool,
    },
    InputRequest {
        prompt: String,
        password: bool,
    },
    Completed {
        outcome: ExecutionOutcome,
        #[serde(skip_serializing_if = "Option::is_none", default)]
        execution_count: Option<u64>,
        #[serde(skip_serializing_if = "Option::is_none", default)]
        notice: Option<String>,
    },
    /// The agent did not run it, or knows that it ended without a result.
    Lost {
        cause: EndCause,
        #[serde(skip_serializing_if = "Option::is_none", default)]
        detail: Option<String>,
    },
}

/// What somebody wants. The actor is the connection's; there is no field for it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub enum Command {
    // --- the notebook ---
    /// Makes the notebook that the command is addressed to. The sender becomes its owner.
    CreateNotebook {
        title: String,
        #[serde(default)]
        metadata: RawObject,
        /// Where the content comes from that follows in the same batch.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        forked_from: Option<ForkOrigin>,
    },
    RenameNotebook {
        title: String,
    },
    SetNotebookMetadata {
        metadata: RawObject,
    },
    ArchiveNotebook {},
    UnarchiveNotebook {},
    NameVersion {
        version: Version,
        name: String,
    },
    GrantAccess {
        subject: Subject,
        role: Role,
        #[serde(skip_serializing_if = "Option::is_none", default)]
        expires_at: Option<Millis>,
    },
    RevokeAccess {
        subject: Subject,
    },

    // --- cells ---
    InsertCell(InsertCell),
    /// A change against the text that the sender saw at `base`; later edits are transformed over, nobody is clobbered.
    EditSource {
        cell_id: CellId,
        base: Version,
        change: ChangeSet,
    },
    /// A whole new text by a program that read the cell at `cell_version`; refused when the cell has moved on.
    ReplaceSource {
        cell_id: CellId,
        cell_version: Version,
        source: String,
    },
    MoveCell {
        cell_id: CellId,
        place: Place,
        #[serde(skip_serializing_if = "Option::is_none", default)]
        cell_version: Option<Version>,
    },
    ChangeCellType {
        cell_id: CellId,
        cell_type: CellType,
        #[serde(skip_serializing_if = "Option::is_none", default)]
        cell_version: Option<Version>,
    },
    DeleteCell {
        cell_id: CellId,
        #[serde(skip_serializing_if = "Option::is_none", default)]
        cell_version: Option<Version>,
    },
    /// Brings a deleted cell back where it was.
    RestoreCell {
        cell_id: CellId,
    },
    SetCellMetadata {
        cell_id: CellId,
        metadata: RawObject,
    },
    SetCellAttachments {
        cell_id: CellId,
        attachments: Option<RawObject>,
    },
    SetCellFlags {
        cell_id: CellId,
        flags: CellFlagChanges,
    },
    /// Clears the shown outputs of a cell. The executions stay in the record.
    ClearOutputs {
        cell_id: CellId,
    },
    /// Undoes the sender's last undoable groups, or one group by its id.
    Undo {
        #[serde(default = "one")]
        steps: u32,
        #[serde(skip_serializing_if = "Option::is_none", default)]
        correlation_id: Option<CorrelationId>,
        /// All that an assistant did in one turn.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        turn_id: Option<TurnId>,
    },
    Redo {
        #[serde(default = "one")]
        steps: u32,
    },

    // --- executions ---
    RequestExecution(RequestExecution),
    /// Queued: it will not run. Running: its kernel is interrupted.
    CancelExecution {
        execution_id: ExecutionId,
    },
    /// A person gives an unreachable execution up.
    GiveUpExecution {
        execution_id: ExecutionId,
    },
    AnswerInput {
        execution_id: ExecutionId,
        value: String,
    },
    /// An execution that happened elsewhere, as an imported file tells it.
    RecordExecution {
        cell_id: CellId,
        outputs: Vec<Output>,
        #[serde(skip_serializing_if = "Option::is_none", default)]
        execution_count: Option<u64>,
    },

    // --- kernels ---
    LaunchKernel {
        /// Absent: the notebook's own, else `python3`.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        kernelspec: Option<String>,
    },
    InterruptKernel {
        kernel_session: KernelSessionId,
    },
    RestartKernel {
        kernel_session: KernelSessionId,
    },
    ShutDownKernel {
        kernel_session: KernelSessionId,
    },
    /// Stop: cancels everything that waits and interrupts what runs.
    StopAll {},

    // --- from agents ---
    ClaimKernelLaunch {
        kernel_session: KernelSessionId,
    },
    ReportKernelStarted {
        kernel_session: KernelSessionId,
        language_info: RawObject,
        /// What keeps the kernel's code from the rest of its machine.
        #[serde(skip_serializing_if = "RawObject::is_empty", default)]
        sandbox: RawObject,
    },
    ReportKernelLaunchFailed {
        kernel_session: KernelSessionId,
        cause: KernelCause,
        #[serde(skip_serializing_if = "Option::is_none", default)]
        detail: Option<String>,
    },
    ReportKernelEnded {
        kernel_session: KernelSessionId,
        cause: KernelCause,
        #[serde(skip_serializing_if = "Option::is_none", default)]
        detail: Option<String>,
    },
    /// `seq` counts 1, 2, 3 … per execution; a number that was seen is accepted and changes nothing.
    ReportExecution {
        execution_id: ExecutionId,
        fence: Version,
        seq: u64,
        report: ExecutionReport,
    },
    /// After a reconnect: these sessions of mine are alive; any other of mine is not.
    ReconcileKernels {
        alive: Vec<KernelSessionId>,
    },

    /// The functions that a kernel has registered, all of them: they replace what it had registered before.
    RegisterFunctions {
        kernel_session: KernelSessionId,
        fence: Version,
        functions: Vec<UserFunction>,
    },

    // --- assistants: what people do ---
    StartTurn(StartTurn),
    /// Stop: nothing of the turn starts any more, and what waits is withdrawn.
    CancelTurn {
        turn_id: TurnId,
    },
    /// Pins a message (it is always in the assistant's context) or skips it (never). What is absent stays.
    FlagMessage {
        conversation_id: ConversationId,
        message_id: MessageId,
        #[serde(skip_serializing_if = "Option::is_none", default)]
        pinned: Option<bool>,
        #[serde(skip_serializing_if = "Option::is_none", default)]
        skipped: Option<bool>,
    },
    SetPolicy {
        policy: Policy,
    },
    /// A person's decision on a call that waits, bound to the arguments that the person saw.
    ConfirmToolCall {
        call_id: ToolCallId,
        arguments_hash: Hash,
    },
    DenyToolCall {
        call_id: ToolCallId,
        #[serde(skip_serializing_if = "Option::is_none", default)]
        detail: Option<String>,
    },
    /// Takes a call back that has not started.
    WithdrawToolCall {
        call_id: ToolCallId,
        #[serde(skip_serializing_if = "Option::is_none", default)]
        detail: Option<String>,
    },
    /// Lets a conversation's calls pass for a while; never what destroys.
    IssueGrant {
        #[serde(skip_serializing_if = "Option::is_none", default)]
        grant_id: Option<GrantId>,
        conversation_id: ConversationId,
        /// Empty: every function.
        #[serde(default)]
        functions: Vec<String>,
        expires_at: Millis,
    },
    RevokeGrant {
        grant_id: GrantId,
    },

    // --- assistants: what they do ---
    RequestToolCall(RequestToolCall),

    // --- assistants: what the server's reactor does for them ---
    /// Starts a call whose gate is open; what is core commands happens with it.
    StartToolCall {
        call_id: ToolCallId,
    },
    ReportToolCall {
        call_id: ToolCallId,
        end: ToolCallEnd,
        result: String,
    },
    /// Closes calls that waited too long or whose targets have changed.
    SweepToolCalls {},
    StartModelCall {
        turn_id: TurnId,
        provider: String,
        model: String,
    },
    ReportModelCall {
        turn_id: TurnId,
        #[serde(skip_serializing_if = "Option::is_none", default)]
        failure: Option<TurnFailure>,
        #[serde(skip_serializing_if = "Option::is_none", default)]
        detail: Option<String>,
        #[serde(default)]
        usage: Usage,
    },
    PostReply {
        turn_id: TurnId,
        role: MessageRole,
        blocks: Vec<MessageBlock>,
    },
    EndTurn {
        turn_id: TurnId,
        end: TurnEnd,
    },

    // --- many at once ---
    /// All or nothing, as one command and one undo group. Batches do not nest.
    Batch {
        commands: Vec<Command>,
    },
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct InsertCell {
    /// Named by the client when it shows the cell before the ack; else by the server.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub cell_id: Option<CellId>,
    pub cell_type: CellType,
    #[serde(default)]
    pub source: String,
    #[serde(default = "end")]
    pub place: Place,
    #[serde(default)]
    pub metadata: RawObject,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub attachments: Option<RawObject>,
    #[serde(default)]
    pub flags: CellFlagChanges,
    /// Of a prompt cell that comes with the reply that a file or another notebook has of it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub reply: Option<Box<CellReply>>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RequestExecution {
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub execution_id: Option<ExecutionId>,
    pub target: ExecutionTarget,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub kernel_session: Option<KernelSessionId>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub timeout_ms: Option<Millis>,
    #[serde(default)]
    pub stop_on_error: bool,
}

/// Says something to an assistant and begins its turn. A conversation that does not exist begins.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StartTurn {
    pub conversation_id: ConversationId,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub turn_id: Option<TurnId>,
    /// What is asked; absent for a prompt cell, whose source it is.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub text: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub cell_id: Option<CellId>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub model: Option<String>,
}

/// The only way in which an assistant acts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RequestToolCall {
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub call_id: Option<ToolCallId>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub turn_id: Option<TurnId>,
    pub function: String,
    #[serde(default)]
    pub arguments: RawObject,
    /// Not before that call of the same conversation has ended, however it ends. One that has ended holds nothing back.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub after: Option<ToolCallId>,
    /// What a conversation is called that begins with this call: an outside assistant's, which nobody speaks to here.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub conversation_title: Option<String>,
}

/// How the reactor ends a turn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum TurnEnd {
    Finished(StopReason),
    Failed {
        cause: TurnFailure,
        #[serde(skip_serializing_if = "Option::is_none", default)]
        detail: Option<String>,
    },
}

/// What to execute. A request for a cell names it and never carries code.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum ExecutionTarget {
    Cell {
        cell_id: CellId,
        #[serde(skip_serializing_if = "Option::is_none", default)]
        cell_version: Option<Version>,
    },
    /// Code that belongs to no cell: `purpose` says in words what for.
    Scratch { source: String, purpose: String },
}

fn end() -> Place {
    Place::End
}

fn one() -> u32 {
    1
}
