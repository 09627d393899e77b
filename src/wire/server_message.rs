//! Messages from server to client over the WebSocket: one JSON text frame each, externally tagged, as in `{"events": {…}}`.

use std::ops::Deref;

use notarium_core::{
    Actor, CellId, CommandId, CorrelationId, Document, EventId, ExecutionId, Hash, KernelSessionId, Millis, NextSteps,
    NotebookId, Outcome, RawJson, Rejection, RejectionDetails, Role, Scope, Stored, Version, if_known,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::client_message::{KernelUsage, PresenceState, ProtocolRange};
use crate::kernel_questions::{KernelAnswerMessage, KernelQuestionMessage};
use crate::live::{CommChange, OpenComm, SendCommMessage, TurnActivity};
use crate::working_files::FileRequest;

/// A message from server to client.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ServerMessage {
    /// Answers `hello`.
    Welcome(WelcomeMessage),
    /// Answers `subscribe`; `events` follow after its version.
    Subscribed(Box<SubscribedMessage>),
    /// Committed events, at most one frame per commit.
    Events(EventsMessage),
    /// Accepts a command: its events are on disk. Follows the `events` that carry them.
    Ack(AckMessage),
    /// Refuses a command: nothing was changed.
    Reject(RejectMessage),
    /// Answers `check`.
    Checked(CheckedMessage),
    /// Changes of presence: peers that came, moved or left.
    Presence {
        /// The notebook.
        notebook: NotebookId,
        /// Peers that came or moved, each with its whole state.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        peers: Vec<PeerState>,
        /// Connections that left, named as in `PeerState.connection`.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        left: Vec<String>,
    },
    /// Status of kernels that is not in the log. Ephemeral.
    Kernels {
        /// The notebook of the kernels.
        notebook: NotebookId,
        /// All kernels of the notebook: replaces the list sent before.
        kernels: Vec<KernelStatus>,
    },
    /// To runtime agents: starts or stops measurements of kernels. While it is `wanted`, send `kernel_use` for each kernel of the notebook
    /// every few seconds. After each `subscribed` it is off until this message.
    MeasureKernels {
        /// The notebook of the kernels.
        notebook: NotebookId,
        /// True while a client that is not an agent follows the notebook.
        wanted: bool,
    },
    /// Answers `ask_kernel`.
    KernelAnswer(KernelAnswerMessage),
    /// Answers `follow_comms`: replaces the known comms of the kernel. Ephemeral.
    Comms {
        /// The notebook of the kernel.
        notebook: NotebookId,
        /// The kernel.
        kernel_session: KernelSessionId,
        /// All open comms, in the order in which they were opened.
        comms: Vec<OpenComm>,
        /// Reason why the comms are unknown now, in a sentence for people. Comms known before stay valid.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        problem: Option<String>,
    },
    /// Changes of the comms of a kernel that the connection follows. Ephemeral.
    Comm {
        /// The notebook of the kernel.
        notebook: NotebookId,
        /// The kernel.
        kernel_session: KernelSessionId,
        /// Changes in the order in which they happened.
        changes: Vec<CommChange>,
    },
    /// To the runtime agent of a session: a client follows its comms. Send `comms` once for this asker, and `comm` for each later change.
    CommsWanted {
        /// The notebook of the session.
        notebook: NotebookId,
        /// The session.
        kernel_session: KernelSessionId,
        /// Key for the answer. Absent: no client follows any more, send nothing.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        asker: Option<String>,
    },
    /// To the runtime agent of a session: a message on one of its comms, from a client that may run code.
    SendComm(SendCommMessage),
    /// Live activity of assistants. Ephemeral, and omitted for slow readers: the result follows as events, which are authoritative.
    Activity {
        /// The notebook of the turns.
        notebook: NotebookId,
        /// Activity in the order in which it happened.
        activity: Vec<TurnActivity>,
    },
    /// Your role in this notebook has changed; null: you may no longer see it, and get no more events.
    Access {
        /// The notebook that the role is for.
        notebook: NotebookId,
        /// The highest of your current roles.
        role: Option<Role>,
    },
    /// You fell behind, so events were omitted. A `subscribed` with the current state follows.
    Resync {
        /// The notebook.
        notebook: NotebookId,
        /// Reason, in a sentence for people.
        reason: String,
    },
    /// Too many of your commands are unanswered. None is lost, but the server reads from this connection again only when half of them are
    /// answered.
    SlowDown {
        /// Number of unanswered commands of this connection.
        unanswered: u32,
    },
    /// To runtime agents: this notebook waits for a kernel that you offer. Subscribe, claim, launch.
    Work {
        /// The notebook to subscribe to.
        notebook: NotebookId,
        /// Session to claim; all agents but the first are refused with `already_claimed`.
        kernel_session: KernelSessionId,
        /// Name of one of your offered kernelspecs.
        kernelspec: String,
    },
    /// To the runtime agent of a session: the answer to its input request. Passwords are sent only this way.
    InputValue {
        /// The notebook of the run.
        notebook: NotebookId,
        /// The run with the input request.
        execution_id: ExecutionId,
        /// Entered text, without a line break at its end.
        value: String,
    },
    /// To the runtime agent of a session: a question to its kernel. Answer with `answer_question` before the timeout.
    KernelQuestion(KernelQuestionMessage),
    /// To a runtime agent with `working_files` in its `hello`: a request for a file of the folder in which its kernels start, from a client
    /// that may run code. Answer with `answer_file`.
    FileRequest {
        /// Request id, chosen by the server; the answer carries it.
        id: u64,
        /// The notebook for which the file is requested.
        notebook: NotebookId,
        /// The request.
        request: FileRequest,
    },
    /// A message or the connection is invalid.
    Error(ErrorMessage),
}

/// The client's identity and its limits.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WelcomeMessage {
    /// The version of `hello.protocols` that both sides use from now on.
    pub protocol: u32,
    /// Name and version of the server.
    pub server: String,
    /// Name of this connection in presence.
    pub connection: String,
    /// Author of all commands of this connection.
    pub actor: Actor,
    /// Scopes of the token; the role in a notebook may allow less.
    pub scopes: Vec<Scope>,
    /// Expiry of the token, in milliseconds since 1970; send `refresh` before.
    pub expires_at: Option<Millis>,
    /// Maximum size of a frame. A larger one is refused with `frame_too_large`; one of twice the size ends the connection.
    pub max_frame_bytes: u64,
    /// Interval of the server's pings, in milliseconds. A client that receives nothing for three intervals reconnects.
    pub heartbeat_ms: u64,
    /// Optional parts of the protocol that this server has, such as `assistants`. Ignore unknown names.
    pub features: Vec<String>,
    /// Limits of this server for what a client sends. Absent: an older server.
    pub limits: Option<SendLimits>,
}

impl WelcomeMessage {
    /// Returns true if the server has this feature.
    pub fn has(&self, feature: &str) -> bool {
        self.features.iter().any(|it| it == feature)
    }
}

/// Limits of what a client sends; a client checks them before it does. Texts count in bytes as UTF-8, where nothing else is said.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SendLimits {
    /// A cell's source, or code of no cell.
    pub max_source_bytes: u64,
    /// Metadata of a cell or of the notebook, as JSON.
    pub max_metadata_bytes: u64,
    /// All attachments of a cell together, as JSON.
    pub max_attachments_bytes: u64,
    /// A title or a name, in Unicode characters.
    pub max_title_characters: u64,
    /// Cells of a notebook.
    pub max_cells: u64,
    /// Commands of one `Batch`.
    pub max_batch_commands: u64,
    /// An answer to an input request of running code.
    pub max_input_bytes: u64,
    /// All blocks of a message to an assistant.
    pub max_message_bytes: u64,
    /// Attachments of one question to an assistant.
    pub max_question_attachments: u64,
    /// A picture of a question.
    pub max_picture_bytes: u64,
    /// A text file of a question.
    pub max_attached_text_bytes: u64,
    /// All outputs of one report.
    pub max_output_bytes_per_report: u64,
    /// One blob.
    pub max_blob_bytes: u64,
    /// The body of a REST request, except for imports, blobs and files.
    pub max_request_bytes: u64,
    /// An imported file.
    pub max_import_bytes: u64,
    /// A file in the folder of kernels.
    pub max_working_file_bytes: u64,
}

/// Start of a subscription: everything that the client needs to be at `version`.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SubscribedMessage {
    /// The requested notebook.
    pub notebook: NotebookId,
    /// Version after which events follow.
    pub version: Version,
    /// Id of the event at `version`: both together are the `since` of a later `subscribe`.
    pub event_id: EventId,
    /// True: the event in `since` is not in this log, which was restored from a backup. The snapshot replaces the client's state, its
    /// unconfirmed texts belong to another branch (`base_too_old`), and acked commands may be lost.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub diverged: bool,
    /// Your role now; `access` announces changes.
    pub role: Role,
    /// [`crate::DOCUMENT`]: version of the rules by which the state is folded.
    pub document: u32,
    /// Version of the notebook's last redaction. If it is above the one that you know, drop everything that you hold of the notebook, also what is
    /// stored. Absent: 0, none.
    #[serde(default, skip_serializing_if = "notarium_core::is_default")]
    pub redaction_epoch: Version,
    /// Digest of the snapshot; absent if it has no canonical form.
    pub digest: Option<Hash>,
    /// For people: the next steps to undo and redo.
    pub undo: Option<NextSteps>,
    /// True: a newer server has written this notebook. `version` is the last one before the first event that this server does not know. No
    /// more events follow, and every command is refused with `read_only`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub read_only: bool,
    /// State at `version`. Absent: the client's state at `since` is valid, and the missing events follow.
    pub snapshot: Option<Box<Document>>,
    /// With a snapshot: events of the unconfirmed cells that the client named, since their base.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unconfirmed_events: Vec<EventMessage>,
    /// Cells whose base is too old: offer the text as a conflict copy.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub base_too_old: Vec<CellId>,
    /// Other clients in the notebook.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub peers: Vec<PeerState>,
    /// Reachability and activity of each kernel.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kernels: Vec<KernelStatus>,
}

/// An event for clients: without the notebook's id (the frame has it) and the hashes (the record has them).
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EventMessage {
    /// Version, one more than that of the event before.
    pub version: Version,
    /// Event id, unique over all notebooks.
    pub id: EventId,
    /// Name of the event, as in `CellInserted`: it selects the shape of `payload`.
    #[serde(rename = "type")]
    pub event_type: String,
    /// Version of the payload's schema, for each type from 1. A client cannot fold an unknown higher version.
    pub schema: u16,
    /// Actor of the connection; never read from a payload.
    pub actor: Actor,
    /// Command of the event: your commands keep the id that you chose.
    pub command_id: CommandId,
    /// The undo group; equal to `command_id` if the command named none.
    pub correlation_id: CorrelationId,
    /// Id of the event that caused this one. Absent if a client's command did.
    pub causation_id: Option<EventId>,
    /// Correlation id of the group that this event undoes or redoes.
    pub undoes: Option<CorrelationId>,
    /// Server time in milliseconds since 1970; never before that of the previous event.
    pub recorded_at: Millis,
    /// Payload, by type: see `event-payloads.json`. Keep unknown fields.
    pub payload: RawJson,
}

/// Events of one notebook, without gaps.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EventsMessage {
    /// The notebook.
    pub notebook: NotebookId,
    /// Version of the first event; there are no gaps.
    pub from: Version,
    /// Events, oldest first; never empty.
    pub events: Vec<EventMessage>,
}

/// A command was accepted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AckMessage {
    /// The command's id.
    pub id: CommandId,
    /// The notebook of the command.
    pub notebook: NotebookId,
    /// The notebook's version after the command.
    pub version: Version,
    /// Ids that the server chose, and notices of parts that could not be done.
    #[serde(default, skip_serializing_if = "Outcome::is_empty")]
    pub outcome: Outcome,
    /// For people: the next steps to undo and redo. Of several acks sent together only the last has it; the answer to a repeated command
    /// may omit it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undo: Option<NextSteps>,
}

/// Digest of the state at a version.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CheckedMessage {
    /// The notebook of `check`.
    pub notebook: NotebookId,
    /// The version of `check`.
    pub version: Version,
    /// Digest; absent if the state has no canonical form.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<Hash>,
    /// True: the digest in `check` differs. A `resync` and the whole state follow.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub differs: bool,
}

/// A command was refused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RejectMessage {
    /// The command's id; it can be used again.
    pub id: CommandId,
    /// The notebook that the command was for.
    pub notebook: NotebookId,
    /// Its fields are those of the message.
    #[serde(flatten)]
    pub rejection: Rejection,
}

impl Deref for RejectMessage {
    type Target = Rejection;

    fn deref(&self) -> &Rejection {
        &self.rejection
    }
}

/// A client in the notebook.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PeerState {
    /// Connection, as in its `welcome`: one person may have several.
    pub connection: String,
    /// Actor of the connection. Runtime agents are not peers; `KernelStatus` names them.
    pub actor: Actor,
    /// Display name.
    pub name: String,
    /// Position in the notebook.
    #[serde(default)]
    pub state: PresenceState,
}

/// Status of a kernel that is not in the log.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct KernelStatus {
    /// The session, as in the state's `kernels`.
    pub kernel_session: KernelSessionId,
    /// Display name of its runtime agent. Absent: the agent has not connected since the server loaded the notebook.
    pub agent_name: Option<String>,
    /// False: its runtime agent has been silent for some seconds.
    pub reachable: bool,
    /// Time since when it is unreachable, in milliseconds since 1970; absent while it is reachable.
    pub unreachable_since: Option<Millis>,
    /// True if its agent reports an execution. False while it is unreachable.
    pub busy: bool,
    /// Memory and CPU use, a few seconds old. Absent: not measured, or unreachable.
    pub usage: Option<KernelUsage>,
}

/// Code of an error of a message or a connection; refused commands have a `RejectionCode`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ErrorCode {
    /// Not JSON, or not of the described shape.
    Malformed,
    /// No message has this name.
    UnknownMessage,
    /// The frame is larger than `max_frame_bytes`.
    FrameTooLarge,
    /// The server supports none of the protocols in `hello`; `protocols` and the message name both ranges.
    UnsupportedProtocol,
    /// No `hello` came in time.
    HelloTimeout,
    /// The token is missing, unknown, expired or revoked.
    Unauthenticated,
    /// The role or the token's scopes do not allow it.
    Forbidden,
    /// The notebook does not exist, or the client may not see it.
    UnknownNotebook,
    /// The notebook has not reached this version.
    VersionInFuture,
    /// The version is too old to be checked.
    VersionTooOld,
    /// Too many messages in a short time; the message says what to do.
    TooManyRequests,
    /// Another process is connected as this runtime agent, or the same process has a newer connection.
    AgentConnected,
    /// The server is stopping or cannot serve this now; reconnect with backoff.
    Unavailable,
}

/// Two protocol ranges without overlap.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NoCommonProtocol {
    /// Range in `hello`.
    pub client: ProtocolRange,
    /// Range of this server.
    pub server: ProtocolRange,
}

/// An error of a message or the connection. Errors in a command's body are sent as `reject`.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ErrorMessage {
    /// Code for programs.
    pub code: ErrorCode,
    /// One sentence for people that says what to do.
    pub message: String,
    /// The notebook. Absent: the error concerns the connection or a message.
    pub notebook: Option<NotebookId>,
    /// Both ranges, with `unsupported_protocol`.
    pub protocols: Option<NoCommonProtocol>,
    /// Facts of the error. Absent: `code` says all. A kind that is unknown counts as absent.
    #[serde(default, deserialize_with = "if_known")]
    pub details: Option<Box<RejectionDetails>>,
    /// True: the server closes the connection after this.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub fatal: bool,
}

/// Converts to the newest schema, whatever the stored one is.
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
