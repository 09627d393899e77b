//! The events: facts, in the past tense, for ever. `type` and `schema` stand in the envelope; the payloads are here.
//!
//! Never change the meaning of a field. A new shape is a new `schema` number of that type, with an upcaster in `upcast.rs`
//! and a golden file in `protocol/golden/events/`. What may change without one: `protocol/versions.md`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::access::{ForkOrigin, Role, Scopes, Subject};
use crate::cause::{EndCause, KernelCause, TurnFailure, VoidCause, WithdrawalCause};
use crate::cell::{CellContent, CellFlags, CellType};
use crate::execution::{ExecutionCause, ExecutionOutcome, ExecutionSubject, PastExecution};
use crate::function::UserFunction;
use crate::hash::Hash;
use crate::ids::{
    AgentId, CellId, ConversationId, ExecutionId, GrantId, InstanceId, KernelSessionId, MessageId, Millis, ToolCallId,
    TurnId, UserId, Version,
};
use crate::json::{RawJson, RawObject};
use crate::message::{MessageBlock, MessageFlags, MessageRole, StopReason, Usage};
use crate::open::Open;
use crate::order_key::OrderKey;
use crate::output::Output;
use crate::reply::CellReply;
use crate::text::ChangeSet;
use crate::tool_call::{Gate, Means, Passed, Policy, Risk, Target, ToolCallEnd};
use crate::upcast::{self, DecodeError};

macro_rules! events {
    ($($group:ident [ $($(#[$doc:meta])* $name:ident { $($(#[$field_doc:meta])* $field:ident : $type:ty),* $(,)? })* ])*) => {
        $($(
            $(#[$doc])*
            #[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
            pub struct $name { $($(#[$field_doc])* pub $field: $type),* }

            impl From<$name> for Event {
                fn from(payload: $name) -> Event { Event::$name(payload) }
            }
        )*)*

        /// The part of the document that an event is about.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum EventGroup { $($group),* }

        /// Every event of version 1, typed.
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub enum Event { $($($name($name)),*),* }

        impl Event {
            /// The names of all types, in the order of this file.
            pub const TYPES: &'static [&'static str] = &[$($(stringify!($name)),*),*];

            /// The name that stands in the envelope.
            pub fn event_type(&self) -> &'static str {
                match self { $($(Event::$name(_) => stringify!($name)),*),* }
            }

            /// The part of the document that it is about.
            pub fn group(&self) -> EventGroup {
                match self { $($(Event::$name(_) => EventGroup::$group),*),* }
            }

            /// The newest schema of its type: the one that this build writes.
            pub fn schema(&self) -> u16 { upcast::newest_schema(self.event_type()) }

            /// The payload's JSON text: the bytes that are hashed and stored.
            pub fn payload(&self) -> Result<RawJson, serde_json::Error> {
                match self { $($(Event::$name(payload) => RawJson::of(payload)),*),* }
            }

            /// Types a payload of any schema that its type has had.
            pub fn decode(event_type: &str, schema: u16, payload: &str) -> Result<Event, DecodeError> {
                let payload = upcast::to_newest(event_type, schema, payload)?;
                let event = match event_type {
                    $($(stringify!($name) => serde_json::from_str(&payload).map(Event::$name),)*)*
                    _ => return Err(DecodeError::Unknown { event_type: event_type.to_owned(), schema }),
                };
                event.map_err(|error| DecodeError::malformed(event_type, schema, &error))
            }

            /// JSON Schemas of all payloads, by type.
            pub fn schemas(generator: &mut schemars::SchemaGenerator) -> Vec<(&'static str, schemars::Schema)> {
                vec![$($((stringify!($name), generator.subschema_for::<$name>())),*),*]
            }
        }
    };
}

events! {
    Notebook [
    NotebookCreated {
        title: String,
        metadata: RawObject,
        /// The first owner.
        owner: Subject,
        /// Where the content came from; the events that follow in the same command carry it.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        forked_from: Option<ForkOrigin>,
    }
    NotebookRenamed { title: String, previous: String }
    NotebookMetadataSet { metadata: RawObject, previous: RawObject }
    NotebookArchived {}
    NotebookUnarchived {}
    NotebookVersionNamed {
        version: Version,
        name: String,
    }
    AccessGranted {
        subject: Subject,
        role: Role,
        #[serde(skip_serializing_if = "Option::is_none", default)]
        expires_at: Option<Millis>,
    }
    AccessRevoked { subject: Subject }
    NotebookPolicyChanged { policy: Policy, previous: Policy }
    /// Nothing of the group that this undoes was left to invert. The group leaves its stack all the same.
    UndoSkipped {}

    ]
    Cells [
    CellInserted {
        cell_id: CellId,
        cell: CellContent,
        /// Of a prompt cell that a file or another notebook brought with its reply.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        reply: Option<CellReply>,
    }
    /// The change is the transformed one: it applies to the text as it is in the log just before.
    CellSourceEdited {
        cell_id: CellId,
        change: ChangeSet,
        /// The text that each deleting section of `change` removed, in order: with it the change can be inverted.
        #[serde(skip_serializing_if = "Vec::is_empty", default)]
        removed: Vec<String>,
    }
    CellMoved { cell_id: CellId, order_key: OrderKey, previous: OrderKey }
    CellTypeChanged { cell_id: CellId, cell_type: CellType, previous: CellType }
    /// Carries the whole cell: the trash is a projection of these.
    CellDeleted {
        cell_id: CellId,
        cell: CellContent,
        /// The execution whose outputs it showed.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        latest_execution: Option<ExecutionId>,
        /// What an assistant had answered, of a prompt cell.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        reply: Option<CellReply>,
    }
    CellRestored {
        cell_id: CellId,
        cell: CellContent,
        /// The execution whose outputs it shows again.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        latest_execution: Option<ExecutionId>,
        /// That execution, where it has left the document since.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        execution: Option<Box<PastExecution>>,
        #[serde(skip_serializing_if = "Option::is_none", default)]
        reply: Option<CellReply>,
    }
    CellMetadataSet { cell_id: CellId, metadata: RawObject, previous: RawObject }
    CellAttachmentsSet { cell_id: CellId, attachments: Option<RawObject>, previous: Option<RawObject> }
    CellFlagsSet { cell_id: CellId, flags: CellFlags, previous: CellFlags }
    /// The cell shows no outputs from here on; the execution that it showed stays in the record.
    CellOutputsCleared { cell_id: CellId, execution_id: ExecutionId }

    ]
    Executions [
    ExecutionRequested {
        execution_id: ExecutionId,
        subject: ExecutionSubject,
        cause: Open<ExecutionCause>,
        /// The kernel session that it is meant for, when the requester named one.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        kernel_session: Option<KernelSessionId>,
        /// Interrupt the run after so long; absent means never.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        timeout_ms: Option<Millis>,
        /// When it fails, executions of the same correlation that still wait are blocked.
        #[serde(skip_serializing_if = "std::ops::Not::not", default)]
        stop_on_error: bool,
    }
    /// One winner: the session that runs it. Writes about it must carry that session's fence.
    ExecutionAssigned { execution_id: ExecutionId, kernel_session: KernelSessionId, agent: AgentId, fence: Version }
    /// The kernel has begun.
    ExecutionStarted { execution_id: ExecutionId, output_seq: u64 }
    ExecutionOutputAppended {
        execution_id: ExecutionId,
        /// The agent's number of this write, 1, 2, 3 … per execution.
        output_seq: u64,
        outputs: Vec<Output>,
    }
    /// All outputs of the notebook that carry this `display_id` show this now.
    ExecutionOutputUpdated { execution_id: ExecutionId, output_seq: u64, display_id: String, output: Output }
    ExecutionOutputsCleared {
        execution_id: ExecutionId,
        output_seq: u64,
        /// Clear when the next output comes.
        wait: bool,
    }
    ExecutionInputRequested { execution_id: ExecutionId, output_seq: u64, prompt: String, password: bool }
    ExecutionInputAnswered {
        execution_id: ExecutionId,
        /// Absent for a password: that value never enters the log.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        value: Option<String>,
    }
    ExecutionCompleted {
        execution_id: ExecutionId,
        output_seq: u64,
        outcome: Open<ExecutionOutcome>,
        #[serde(skip_serializing_if = "Option::is_none", default)]
        execution_count: Option<u64>,
        /// A sentence about an odd end: outputs lost by the kernel, a timeout.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        notice: Option<String>,
    }
    /// Somebody wants a run cancelled that its kernel has; the agent interrupts it. A run that waits is cancelled at once.
    ExecutionCancelRequested { execution_id: ExecutionId }
    /// It never began, or ended because somebody wanted it.
    ExecutionCancelled {
        execution_id: ExecutionId,
        cause: Open<EndCause>,
        #[serde(skip_serializing_if = "Option::is_none", default)]
        detail: Option<String>,
    }
    /// It never began, because that run before it did not succeed.
    ExecutionBlocked { execution_id: ExecutionId, blocked_by: ExecutionId }
    /// Nobody knows how it ended, or that it ended.
    ExecutionLost {
        execution_id: ExecutionId,
        cause: Open<EndCause>,
        #[serde(skip_serializing_if = "Option::is_none", default)]
        detail: Option<String>,
    }
    /// Output that came after the execution was lost: kept, not shown as the run's own.
    ExecutionOutputRecovered { execution_id: ExecutionId, output_seq: u64, outputs: Vec<Output> }

    ]
    Kernels [
    KernelLaunchRequested { kernel_session: KernelSessionId, kernelspec: String }
    /// An agent's claim, before it acts: one wins.
    KernelLaunchClaimed { kernel_session: KernelSessionId, agent: AgentId }
    /// The kernel answers. The version of this event is the fence of every later write about the session.
    KernelSessionStarted {
        kernel_session: KernelSessionId,
        agent: AgentId,
        kernelspec: String,
        language_info: RawObject,
        /// What keeps the kernel's code from the rest of its machine, as its agent says; absent: nothing is known to.
        #[serde(skip_serializing_if = "RawObject::is_empty", default)]
        sandbox: RawObject,
    }
    KernelLaunchFailed {
        kernel_session: KernelSessionId,
        cause: Open<KernelCause>,
        #[serde(skip_serializing_if = "Option::is_none", default)]
        detail: Option<String>,
    }
    /// Whatever runs in the kernel is to be interrupted.
    KernelInterruptRequested { kernel_session: KernelSessionId }
    KernelRestartRequested {
        kernel_session: KernelSessionId,
        /// The session that follows on the same agent.
        next: KernelSessionId,
    }
    KernelShutdownRequested { kernel_session: KernelSessionId }
    KernelSessionEnded {
        kernel_session: KernelSessionId,
        cause: Open<KernelCause>,
        #[serde(skip_serializing_if = "Option::is_none", default)]
        detail: Option<String>,
    }
    /// All functions that the kernel has registered by now, in place of those before.
    KernelFunctionsRegistered { kernel_session: KernelSessionId, functions: Vec<UserFunction> }
    /// Functions whose kernels have ended made room for others.
    KernelFunctionsForgotten { names: Vec<String> }

    ]
    Conversations [
    ConversationStarted { conversation_id: ConversationId, title: String }
    /// The conversation of an outside assistant that had been idle made room for another. It begins anew with its next call.
    ConversationClosed { conversation_id: ConversationId }
    MessagePosted {
        conversation_id: ConversationId,
        message_id: MessageId,
        #[serde(skip_serializing_if = "Option::is_none", default)]
        turn_id: Option<TurnId>,
        role: Open<MessageRole>,
        /// One that a reader does not know is shown by its name, and not told to models.
        blocks: Vec<Open<MessageBlock>>,
        /// How much of its text the prompt cell shows, in UTF-16 code units; absent: all.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        reply_units: Option<usize>,
    }
    /// It is always in the assistant's context, or never, or as there is room for it.
    MessageFlagged {
        conversation_id: ConversationId,
        message_id: MessageId,
        flags: MessageFlags,
        previous: MessageFlags,
    }
    TurnStarted {
        turn_id: TurnId,
        conversation_id: ConversationId,
        /// The message that it answers.
        message_id: MessageId,
        /// The prompt cell that it answers, where it was not asked in a chat.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        cell_id: Option<CellId>,
        /// Which model, as the person chose; absent: the server's default.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        model: Option<String>,
        /// What the token or session of who began it allows, of read, edit and run: nothing in the turn goes beyond.
        scopes: Scopes,
        /// That token is good for some notebooks only: the turn makes no notebook and lists none.
        is_bound: bool,
    }
    /// The claim before a model is called.
    TurnModelCallStarted {
        turn_id: TurnId,
        /// The server instance that calls the model. Another one that finds the claim knows that it is a dead one's.
        claimant: InstanceId,
        /// Of the turn's model calls, 1, 2, 3 …
        number: u32,
        /// Of the same call, 1, 2, 3 …
        attempt: u32,
        provider: String,
        model: String,
    }
    TurnModelCallFinished {
        turn_id: TurnId,
        number: u32,
        attempt: u32,
        /// Absent: it answered. Else why there is no answer.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        failure: Option<Open<TurnFailure>>,
        #[serde(skip_serializing_if = "Option::is_none", default)]
        detail: Option<String>,
        usage: Usage,
    }
    TurnFinished { turn_id: TurnId, stop_reason: Open<StopReason> }
    TurnCancelled { turn_id: TurnId }
    TurnFailed {
        turn_id: TurnId,
        cause: Open<TurnFailure>,
        #[serde(skip_serializing_if = "Option::is_none", default)]
        detail: Option<String>,
    }
    ]
    ToolCalls [
    ToolCallRequested {
        call_id: ToolCallId,
        #[serde(skip_serializing_if = "Option::is_none", default)]
        turn_id: Option<TurnId>,
        function: String,
        /// In full, as they came.
        arguments: RawObject,
        /// SHA-256 of the function and its arguments in canonical form: what a confirmation names.
        arguments_hash: Hash,
        /// One that a reader does not know is `destructive`.
        risk: Open<Risk>,
        /// Sentences: why the risk is what it is.
        #[serde(skip_serializing_if = "Vec::is_empty", default)]
        reasons: Vec<String>,
        /// What it touches, in the version that the assistant and the confirming person see.
        #[serde(skip_serializing_if = "Vec::is_empty", default)]
        targets: Vec<Open<Target>>,
        gate: Open<Gate>,
        /// Present: it starts when that call has ended, not before.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        after: Option<ToolCallId>,
    }
    /// A permitted person said yes, once, to exactly these arguments.
    ToolCallConfirmed {
        call_id: ToolCallId,
        arguments_hash: Hash,
        #[serde(skip_serializing_if = "Option::is_none", default)]
        by_means: Option<Means>,
    }
    ToolCallDenied {
        call_id: ToolCallId,
        #[serde(skip_serializing_if = "Option::is_none", default)]
        by_means: Option<Means>,
        /// The person's own reason.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        detail: Option<String>,
    }
    /// Taken back before it started: by who asked, or because the turn was stopped.
    ToolCallWithdrawn {
        call_id: ToolCallId,
        cause: Open<WithdrawalCause>,
        #[serde(skip_serializing_if = "Option::is_none", default)]
        detail: Option<String>,
    }
    /// What it would touch changed, or a right that it needs is gone: a confirmation counts no more.
    ToolCallVoided {
        call_id: ToolCallId,
        cause: Open<VoidCause>,
        #[serde(skip_serializing_if = "Option::is_none", default)]
        detail: Option<String>,
    }
    ToolCallExpired { call_id: ToolCallId }
    /// The claim: from here on it happens, once.
    ToolCallStarted {
        call_id: ToolCallId,
        passed_by: Open<Passed>,
        /// The server instance that executes it. Another one that finds the claim knows that it is a dead one's.
        claimant: InstanceId,
    }
    ToolCallExecuted {
        call_id: ToolCallId,
        end: Open<ToolCallEnd>,
        /// What the model is told, in full.
        result: String,
        duration_ms: Millis,
    }
    GrantIssued {
        grant_id: GrantId,
        conversation_id: ConversationId,
        functions: Vec<String>,
        expires_at: Millis,
        /// The person for whom the assistant acts.
        for_user: UserId,
    }
    GrantRevoked { grant_id: GrantId }
    GrantExpired { grant_id: GrantId }
    ]
}
