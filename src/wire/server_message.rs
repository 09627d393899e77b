//! What the server sends over the WebSocket: one JSON text frame each, externally tagged, as in `{"events": {…}}`.

use notarium_core::{
    Actor, CellId, CommandId, CorrelationId, Document, EventId, ExecutionId, Hash, KernelSessionId, Millis, NextSteps,
    NotebookId, Outcome, RawJson, RejectionCode, Role, Scope, Stored, Version,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::client_message::{KernelUsage, PresenceState, ProtocolRange};
use crate::comms::{CommChange, OpenComm, SendCommMessage};
use crate::kernel_questions::{KernelAnswerMessage, KernelQuestionMessage};
use crate::live::TurnActivity;
use crate::working_files::FileRequest;

/// What the server sends.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ServerMessage {
    /// The answer to `hello`.
    Welcome(WelcomeMessage),
    /// The answer to `subscribe`; `events` follow from the version that it names.
    Subscribed(Box<SubscribedMessage>),
    /// Events that were committed, at most one frame for each commit.
    Events(EventsMessage),
    /// The command's events are on disk. Follows the `events` that carry them.
    Ack(AckMessage),
    /// Nothing was changed.
    Reject(RejectMessage),
    /// The answer to `check`.
    Checked(CheckedMessage),
    /// Who is here: the peers that changed, and those that left (by connection).
    Presence {
        /// The notebook that they are in.
        notebook: NotebookId,
        /// Those that came or moved, each with all of their state.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        peers: Vec<PeerState>,
        /// Names of connections, as in `PeerState.connection`.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        left: Vec<String>,
    },
    /// What is known of the kernels beside the log. Ephemeral.
    Kernels {
        /// The notebook of the kernels.
        notebook: NotebookId,
        /// All kernels of the notebook: replaces what was sent before.
        kernels: Vec<KernelStatus>,
    },
    /// For runtime agents: whether somebody who is no agent follows the notebook. While it is `wanted`, send `kernel_use` of each
    /// of its kernels every few seconds. Until it comes, after each `subscribed`, it is not wanted.
    MeasureKernels {
        /// The notebook of the kernels.
        notebook: NotebookId,
        /// False: nobody looks any more.
        wanted: bool,
    },
    /// The answer to `ask_kernel`.
    KernelAnswer(KernelAnswerMessage),
    /// The answer to `follow_comms`: replaces what was known of the kernel's comms. Ephemeral.
    Comms {
        /// The notebook of the kernel.
        notebook: NotebookId,
        /// The kernel.
        kernel_session: KernelSessionId,
        /// All that are open, in the order in which they were opened.
        comms: Vec<OpenComm>,
        /// Why nothing can be known now, in a sentence for people. What was known before stays.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        problem: Option<String>,
    },
    /// What happened on the comms of a kernel that the connection follows. Ephemeral.
    Comm {
        /// The notebook of the kernel.
        notebook: NotebookId,
        /// The kernel.
        kernel_session: KernelSessionId,
        /// In the order in which it happened.
        changes: Vec<CommChange>,
    },
    /// To the runtime agent of a session: somebody follows its comms. Send `comms` once for this asker, and from then on `comm`.
    CommsWanted {
        /// The notebook of the session.
        notebook: NotebookId,
        /// The session.
        kernel_session: KernelSessionId,
        /// To be named in the answer. Absent: nobody follows any more, send nothing.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        asker: Option<String>,
    },
    /// To the runtime agent of a session: somebody who may run code says this on one of its comms.
    SendComm(SendCommMessage),
    /// What assistants are writing this moment. Ephemeral, and left out for slow readers: what it comes to follows as events,
    /// and counts.
    Activity {
        /// The notebook of the turns.
        notebook: NotebookId,
        /// In the order in which it happened.
        activity: Vec<TurnActivity>,
    },
    /// Your role in this notebook is now another; null: you may no longer see it, and hear no more of it.
    Access {
        /// The notebook that the role is for.
        notebook: NotebookId,
        /// The highest of the roles that you have now.
        role: Option<Role>,
    },
    /// You fell behind: events were left out. What follows is a `subscribed` that catches you up.
    Resync {
        /// The notebook that you fell behind in.
        notebook: NotebookId,
        /// Why, in a sentence for people.
        reason: String,
    },
    /// You have sent more commands than you wait answers for at most: nothing is lost, but the server reads on from this
    /// connection only when half of them are answered.
    SlowDown {
        /// Commands of this connection that are not answered yet.
        unanswered: u32,
    },
    /// To runtime agents: this notebook waits for a kernel that you offer. Subscribe, claim, launch.
    Work {
        /// The notebook to subscribe to.
        notebook: NotebookId,
        /// The session to claim; `already_claimed` refuses all agents but the first.
        kernel_session: KernelSessionId,
        /// One of the names that you offered.
        kernelspec: String,
    },
    /// To the runtime agent of a session: the answer to its input request. The only way of a password.
    InputValue {
        /// The notebook of the run.
        notebook: NotebookId,
        /// The run that asked.
        execution_id: ExecutionId,
        /// What was typed, without a line break at its end.
        value: String,
    },
    /// To the runtime agent of a session: somebody asks its kernel. The answer is `answer_question`, within the time.
    KernelQuestion(KernelQuestionMessage),
    /// To a runtime agent that said `working_files` in its `hello`: somebody who may run code asks for a file of the folder in which
    /// its kernels start. The answer is `answer_file`.
    FileRequest {
        /// Chosen by the server: the answer names it.
        id: u64,
        /// The notebook in whose name it is asked.
        notebook: NotebookId,
        /// What is asked for.
        request: FileRequest,
    },
    /// Something is wrong with a message or the connection.
    Error(ErrorMessage),
}

/// Who the client is, and what the server allows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WelcomeMessage {
    /// The one of `hello.protocols` that is spoken from here on.
    pub protocol: u32,
    /// Name and version of the server.
    pub server: String,
    /// The name of this connection in presence.
    pub connection: String,
    /// The author of everything that this connection does.
    pub actor: Actor,
    /// What the token is good for; a role in a notebook may allow less.
    pub scopes: Vec<Scope>,
    /// When the token ends; send `refresh` before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Millis>,
    /// A larger frame is refused with `frame_too_large`; one of twice the size ends the connection.
    pub max_frame_bytes: u64,
    /// The server sends a ping this often; a client that hears nothing for three times as long reconnects.
    pub heartbeat_ms: u64,
    /// Optional parts of the protocol that this server has, such as `assistants`. Pass over names that you do not know.
    pub features: Vec<String>,
}

/// A subscription has begun: what the client needs to be at `version`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SubscribedMessage {
    /// The notebook that was asked for.
    pub notebook: NotebookId,
    /// The events that follow come after this version.
    pub version: Version,
    /// Of the event at `version`: both together are the `since` of a later `subscribe`.
    pub event_id: EventId,
    /// The event in `since` is not in this log, which was restored from a backup: the snapshot replaces what the client has,
    /// its unconfirmed texts are of another branch (`base_too_old`), and commands that were acked may be gone.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub diverged: bool,
    /// Yours, now: `access` announces another.
    pub role: Role,
    /// [`crate::DOCUMENT`]: by which rules the state is folded.
    pub document: u32,
    /// Of the snapshot; absent where that has no canonical form.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<Hash>,
    /// To a person: what they can undo and redo next.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undo: Option<NextSteps>,
    /// True: a newer server has written this notebook. `version` is the last one before the first event that this server does
    /// not know; no more events come, and every command is refused with `read_only`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub read_only: bool,
    /// The state at `version`. Absent: the client's own state at `since` is good, and the missing events follow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub snapshot: Option<Box<Document>>,
    /// With a snapshot: the events since their base of the cells that the client named as unconfirmed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unconfirmed_events: Vec<EventMessage>,
    /// Cells whose base was too far back: offer the text as a conflict copy.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub base_too_old: Vec<CellId>,
    /// Who is here, without yourself.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub peers: Vec<PeerState>,
    /// Which kernels can be reached and are busy.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kernels: Vec<KernelStatus>,
}

/// An event as clients see it: without the notebook's id (the frame has it) and the hashes (the record has them).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EventMessage {
    /// One more than that of the event before.
    pub version: Version,
    /// Unique over all notebooks.
    pub id: EventId,
    /// The name of the event, as in `CellInserted`: it selects the shape of `payload`.
    #[serde(rename = "type")]
    pub event_type: String,
    /// Counted for each type, from 1. A higher number than you know cannot be folded.
    pub schema: u16,
    /// Who was connected; never read from a payload.
    pub actor: Actor,
    /// The command that the event is of: your own come back under the id that you chose.
    pub command_id: CommandId,
    /// The undo group; equal to `command_id` where the command named none.
    pub correlation_id: CorrelationId,
    /// The `id` of the event that led to this one. Absent where a client's command did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub causation_id: Option<EventId>,
    /// The correlation id of the group that this event undoes, or undoes the undoing of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undoes: Option<CorrelationId>,
    /// Milliseconds since 1970, by the server's clock; never before the event before.
    pub recorded_at: Millis,
    /// By type: see `event-payloads.json`. Unknown fields are to be kept.
    pub payload: RawJson,
}

/// Events of one notebook, without gaps.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EventsMessage {
    /// The notebook that they are of.
    pub notebook: NotebookId,
    /// The version of the first event; they are gapless.
    pub from: Version,
    /// Oldest first; never empty.
    pub events: Vec<EventMessage>,
}

/// A command was accepted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AckMessage {
    /// The command's id.
    pub id: CommandId,
    /// The notebook that it was for.
    pub notebook: NotebookId,
    /// The notebook's version after the command.
    pub version: Version,
    /// Ids that the server chose, and what could not be done in full.
    #[serde(default, skip_serializing_if = "Outcome::is_empty")]
    pub outcome: Outcome,
    /// To a person: what they can undo and redo next. Absent in all but the last of several acks that come together; may be
    /// absent in the answer to a repeated command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undo: Option<NextSteps>,
}

/// The digest of the state at a version.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CheckedMessage {
    /// The notebook of `check`.
    pub notebook: NotebookId,
    /// The version of `check`.
    pub version: Version,
    /// Absent where the state has no canonical form.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<Hash>,
    /// The digest in `check` was another: a `resync` and the whole state follow.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub differs: bool,
}

/// A command was refused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RejectMessage {
    /// The command's id; it is free again.
    pub id: CommandId,
    /// The notebook that the command was for.
    pub notebook: NotebookId,
    /// For programs; `protocol/README.md`, section 8, has all of them.
    pub code: RejectionCode,
    /// One sentence that says what to do.
    pub message: String,
    /// Of a `conflict`: the version that the command named, of the notebook or of a cell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected_version: Option<Version>,
    /// Of a `conflict`: the version that is, of the same thing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub actual_version: Option<Version>,
    /// Of a `report_gap`: the number that the execution's next report must have.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected_seq: Option<u64>,
    /// Of a `Batch`: which of its commands was refused, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part: Option<usize>,
}

/// Somebody who is in the notebook.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PeerState {
    /// The connection, by the name in its `welcome`: one person may have several.
    pub connection: String,
    /// Who it is; runtime agents are not among the peers, but named where their kernels are.
    pub actor: Actor,
    /// For people to read.
    pub name: String,
    /// Where they are.
    #[serde(default)]
    pub state: PresenceState,
}

/// What is known of a kernel beside the log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct KernelStatus {
    /// The session, as in the state's `kernels`.
    pub kernel_session: KernelSessionId,
    /// What its runtime agent is called, for people to read. Absent: it has not been here since the server loaded the notebook.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_name: Option<String>,
    /// False: its runtime agent has not been heard of for some seconds.
    pub reachable: bool,
    /// Where it cannot be reached: since when, in milliseconds since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unreachable_since: Option<Millis>,
    /// Its agent says that it is executing. False while it cannot be reached.
    pub busy: bool,
    /// What it takes of its machine, a few seconds ago. Absent: not measured, or it cannot be reached.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<KernelUsage>,
}

/// What can be wrong with a message or a connection, beside rejections of commands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ErrorCode {
    /// Not JSON, or not of the described shape.
    Malformed,
    /// There is no message of this name.
    UnknownMessage,
    /// The frame is larger than `max_frame_bytes`.
    FrameTooLarge,
    /// The server speaks none of the protocols that `hello` offers; `protocols` and the message name both ranges.
    UnsupportedProtocol,
    /// No `hello` came in time.
    HelloTimeout,
    /// No token, or one that is unknown, expired or revoked.
    Unauthenticated,
    /// The role or the token's scopes do not allow it.
    Forbidden,
    /// No such notebook, or it is not for this client's eyes.
    UnknownNotebook,
    /// The notebook has not reached this version.
    VersionInFuture,
    /// The version is too far back to be checked.
    VersionTooOld,
    /// Too many messages in a short time; the message says what to do.
    TooManyRequests,
    /// Another process is connected as this runtime agent, or a newer connection of this one is.
    AgentConnected,
    /// The server is stopping or cannot serve this now; reconnect with backoff.
    Unavailable,
}

/// Two ranges without overlap.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NoCommonProtocol {
    /// What `hello` offered.
    pub client: ProtocolRange,
    /// What this server speaks.
    pub server: ProtocolRange,
}

/// A message or the connection is wrong. What is wrong with a command's body comes as a `reject`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ErrorMessage {
    /// For programs.
    pub code: ErrorCode,
    /// One sentence for people that says what to do.
    pub message: String,
    /// The notebook that it is about. Absent: the connection or a message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub notebook: Option<NotebookId>,
    /// With `unsupported_protocol`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub protocols: Option<NoCommonProtocol>,
    /// True: the server closes the connection after this.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub fatal: bool,
}

/// In the newest schema, whatever it was written in.
impl From<&Stored> for EventMessage {
    fn from(stored: &Stored) -> Self {
        let envelope = stored.envelope.clone();
        let (schema, payload) = stored.newest();
        Self {
            version: envelope.version,
            id: envelope.id,
            event_type: envelope.event_type,
            schema,
            actor: envelope.actor,
            command_id: envelope.command_id,
            correlation_id: envelope.correlation_id,
            causation_id: envelope.causation_id,
            undoes: envelope.undoes,
            recorded_at: envelope.recorded_at,
            payload,
        }
    }
}
