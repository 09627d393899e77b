//! The messages of the WebSocket, one JSON text frame each, externally tagged: `{"subscribe": {…}}`.

use notarium_core::{
    Actor, CellId, CommandId, CorrelationId, Document, EventId, ExecutionId, Hash, KernelSessionId, Millis, NextSteps,
    NotebookId, Outcome, RawJson, RejectionCode, Role, Scope, Stored, Version,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::live::TurnActivity;

// --- from the client ---

/// What a client sends.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum ClientMessage {
    /// The first frame, within ten seconds.
    Hello(HelloMessage),
    /// A new token for the same account, without reconnecting.
    Refresh {
        token: String,
    },
    Subscribe(SubscribeMessage),
    Unsubscribe {
        notebook: NotebookId,
    },
    Command(CommandMessage),
    /// Asks for the digest of the state at a version.
    Check(CheckMessage),
    /// Where I am. Ephemeral: coalesced, forgotten on disconnect, never in the log.
    Presence {
        notebook: NotebookId,
        state: PresenceState,
    },
    /// From runtime agents: what I can launch. Replaces the last offer.
    Offer {
        kernelspecs: Vec<OfferedKernelspec>,
    },
    /// From runtime agents: whether a kernel is busy. Ephemeral.
    KernelStatus {
        notebook: NotebookId,
        kernel_session: KernelSessionId,
        busy: bool,
    },
}

/// The one message whose unknown fields are ignored: what a newer client adds must not hide which protocols it speaks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HelloMessage {
    /// The client speaks each of these; the server picks the newest that both speak.
    pub protocols: ProtocolRange,
    /// Absent when it came as the subprotocol `notarium.bearer.<token>`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token: Option<String>,
    /// Name and version of the program, for people who look for a fault.
    pub client: String,
    /// From runtime agents: a name of this process, 1 to 64 characters, chosen anew at every start. A connection of the
    /// same process takes over from the one before; another process is refused while that lives.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instance: Option<String>,
    /// Optional parts of the protocol that the client knows. Unknown names are ignored.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub features: Vec<String>,
}

/// Major versions of this protocol, both ends included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ProtocolRange {
    pub min: u32,
    pub max: u32,
}

impl ProtocolRange {
    /// The newest that both speak.
    pub fn common(self, other: Self) -> Option<u32> {
        let newest = self.max.min(other.max);
        (newest >= self.min.max(other.min)).then_some(newest)
    }
}

impl std::fmt::Display for ProtocolRange {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{} to {}", self.min, self.max)
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SubscribeMessage {
    pub notebook: NotebookId,
    /// The last event that the client has; absent: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<LastEvent>,
    /// Cells with text that is not acked: their changes since the base come even when a snapshot does.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unconfirmed: Vec<UnconfirmedText>,
}

/// An event by its place and its name: after a restore from a backup another event may stand at that place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LastEvent {
    pub version: Version,
    pub event_id: EventId,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UnconfirmedText {
    pub cell_id: CellId,
    pub base: Version,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CommandMessage {
    /// Chosen by the client, new for every command; a retry repeats it and is applied once.
    pub id: CommandId,
    pub notebook: NotebookId,
    /// Refuse the command unless the notebook is at this version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected_version: Option<Version>,
    /// The undo group; absent: the command is a group of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub correlation_id: Option<CorrelationId>,
    /// A `Command` of the core. Kept as text: a repeat is recognised by its digest.
    #[schemars(with = "notarium_core::Command")]
    pub body: RawJson,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CheckMessage {
    pub notebook: NotebookId,
    /// The version that the client holds.
    pub version: Version,
    /// Of the client's own state. Where the server's is another, it sends the whole state afterwards.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<Hash>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct PresenceState {
    /// The cell that has the focus.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cell_id: Option<CellId>,
    /// Selection in that cell's source, UTF-16 code units: `[anchor, head]`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub selection: Option<[u32; 2]>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub typing: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OfferedKernelspec {
    pub name: String,
    pub display_name: String,
    pub language: String,
}

// --- from the server ---

/// What the server sends.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ServerMessage {
    /// The answer to `hello`.
    Welcome(WelcomeMessage),
    /// The answer to `subscribe`; `events` follow from the version that it names.
    Subscribed(Box<SubscribedMessage>),
    Events(EventsMessage),
    /// The command's events are on disk. Follows the `events` that carry them.
    Ack(AckMessage),
    /// Nothing was changed.
    Reject(RejectMessage),
    /// The answer to `check`.
    Checked(CheckedMessage),
    /// Who is here: the peers that changed, and those that left (by connection).
    Presence {
        notebook: NotebookId,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        peers: Vec<PeerState>,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        left: Vec<String>,
    },
    /// What is known of the kernels beside the log. Ephemeral.
    Kernels {
        notebook: NotebookId,
        kernels: Vec<KernelStatus>,
    },
    /// What assistants are writing this moment. Ephemeral, and left out for slow readers: what it comes to follows as events,
    /// and counts.
    Activity {
        notebook: NotebookId,
        activity: Vec<TurnActivity>,
    },
    /// Your role in this notebook is now another; null: you may no longer see it, and hear no more of it.
    Access {
        notebook: NotebookId,
        role: Option<Role>,
    },
    /// You fell behind: events were left out. What follows is a `subscribed` that catches you up.
    Resync {
        notebook: NotebookId,
        reason: String,
    },
    /// To runtime agents: this notebook waits for a kernel that you offer. Subscribe, claim, launch.
    Work {
        notebook: NotebookId,
        kernel_session: KernelSessionId,
        kernelspec: String,
    },
    /// To the runtime agent of a session: the answer to its input request. The only way of a password.
    InputValue {
        notebook: NotebookId,
        execution_id: ExecutionId,
        value: String,
    },
    /// Something is wrong with a message or the connection.
    Error(ErrorMessage),
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WelcomeMessage {
    /// The one of `hello.protocols` that is spoken from here on.
    pub protocol: u32,
    /// Name and version of the server.
    pub server: String,
    /// The name of this connection in presence.
    pub connection: String,
    pub actor: Actor,
    pub scopes: Vec<Scope>,
    /// When the token ends; send `refresh` before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Millis>,
    pub max_frame_bytes: u64,
    /// The server sends a ping this often; a client that hears nothing for three times as long reconnects.
    pub heartbeat_ms: u64,
    pub features: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SubscribedMessage {
    pub notebook: NotebookId,
    /// The events that follow come after this version.
    pub version: Version,
    /// Of the event at `version`: both together are the `since` of a later `subscribe`.
    pub event_id: EventId,
    /// The event in `since` is not in this log, which was restored from a backup: the snapshot replaces what the client has,
    /// its unconfirmed texts are of another branch (`base_too_old`), and commands that were acked may be gone.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub diverged: bool,
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
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub peers: Vec<PeerState>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kernels: Vec<KernelStatus>,
}

/// An event as clients see it: without the notebook's id (the frame has it) and the hashes (the record has them).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EventMessage {
    pub version: Version,
    pub id: EventId,
    #[serde(rename = "type")]
    pub event_type: String,
    pub schema: u16,
    pub actor: Actor,
    pub command_id: CommandId,
    pub correlation_id: CorrelationId,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub causation_id: Option<EventId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undoes: Option<CorrelationId>,
    pub recorded_at: Millis,
    pub payload: RawJson,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EventsMessage {
    pub notebook: NotebookId,
    /// The version of the first event; they are gapless.
    pub from: Version,
    pub events: Vec<EventMessage>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AckMessage {
    pub id: CommandId,
    pub notebook: NotebookId,
    /// The notebook's version after the command.
    pub version: Version,
    #[serde(default, skip_serializing_if = "Outcome::is_empty")]
    pub outcome: Outcome,
    /// To a person: what they can undo and redo next. May be absent in the answer to a repeated command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undo: Option<NextSteps>,
}

/// The digest of the state at a version.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CheckedMessage {
    pub notebook: NotebookId,
    pub version: Version,
    /// Absent where the state has no canonical form.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<Hash>,
    /// The digest in `check` was another: a `resync` and the whole state follow.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub differs: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RejectMessage {
    pub id: CommandId,
    pub notebook: NotebookId,
    pub code: RejectionCode,
    /// One sentence that says what to do.
    pub message: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected_version: Option<Version>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub actual_version: Option<Version>,
}

/// Somebody who is in the notebook.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PeerState {
    pub connection: String,
    pub actor: Actor,
    /// For people to read.
    pub name: String,
    #[serde(default)]
    pub state: PresenceState,
}

/// What is known of a kernel beside the log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct KernelStatus {
    pub kernel_session: KernelSessionId,
    /// False: its runtime agent has not been heard of for five seconds.
    pub reachable: bool,
    pub busy: bool,
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
    pub client: ProtocolRange,
    pub server: ProtocolRange,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ErrorMessage {
    pub code: ErrorCode,
    pub message: String,
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
