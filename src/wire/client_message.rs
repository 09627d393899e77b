//! Messages from client to server over the WebSocket: one JSON text frame each, externally tagged, as in `{"subscribe": {…}}`.

use notarium_core::{CellId, CommandId, CorrelationId, EventId, Hash, KernelSessionId, NotebookId, RawJson, Version};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::kernel_questions::{AskKernelMessage, KernelAnswer};
use crate::live::{CommChange, OpenComm, SendCommMessage};
use crate::machines::{MachineLoad, OfferMessage};
use crate::working_files::FileAnswer;

/// A message from client to server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum ClientMessage {
    /// First frame of a connection; the server waits ten seconds for it.
    Hello(HelloMessage),
    /// Replaces the token by a new one of the same account, without reconnecting.
    Refresh {
        /// The new token. A token of another account ends the connection.
        token: String,
    },
    /// Follows a notebook. The answer is `subscribed` or an `error`; `events` follow as long as the subscription lasts.
    Subscribe(SubscribeMessage),
    /// Ends the subscription. There is no answer.
    Unsubscribe {
        /// The notebook. An id without a subscription is ignored.
        notebook: NotebookId,
    },
    /// Submits a command: the answer is `ack` or `reject`. No subscription is needed.
    Command(CommandMessage),
    /// Asks for the digest of the state at a version.
    Check(CheckMessage),
    /// Presence of this client. Ephemeral: coalesced, dropped on disconnect, never in the log.
    Presence {
        /// A notebook that the connection follows.
        notebook: NotebookId,
        /// Replaces the state shown before. The server drops it after 30 seconds without another.
        state: PresenceState,
    },
    /// Asks a kernel about code that is being written: the answer is `kernel_answer`. Ephemeral.
    AskKernel(AskKernelMessage),
    /// Follows the comms of a kernel, which widgets use. The answer is `comms`, then `comm` for each change. Ephemeral: it ends with the
    /// subscription, so repeat it after each `subscribed`.
    FollowComms {
        /// A notebook that the connection follows.
        notebook: NotebookId,
        /// The kernel.
        kernel_session: KernelSessionId,
    },
    /// Sends a message on an open comm of a kernel, as moving a slider does. Needs the right to run. Ephemeral: only a
    /// refusal has an answer, an `error`.
    SendComm(SendCommMessage),
    /// From runtime agents: the kernels that the agent can launch. Replaces its last offer.
    Offer(OfferMessage),
    /// From runtime agents, every few seconds, to a server with the feature `agent_machines`: load of their machine. Ephemeral.
    MachineLoad {
        /// Load by all programs of the machine.
        load: MachineLoad,
    },
    /// From runtime agents: busy or idle state of a kernel. Ephemeral.
    KernelStatus {
        /// The notebook of the session.
        notebook: NotebookId,
        /// A session that this agent has claimed; other ids are ignored.
        kernel_session: KernelSessionId,
        /// True while the kernel executes anything, whoever requested it.
        busy: bool,
    },
    /// From runtime agents, every few seconds while `measure_kernels` requests it: memory and CPU use of a kernel. Ephemeral.
    KernelUse {
        /// The notebook of the session.
        notebook: NotebookId,
        /// A session that this agent has claimed; other ids are ignored.
        kernel_session: KernelSessionId,
        /// Use by the kernel's process and its child processes.
        usage: KernelUsage,
    },
    /// From runtime agents: the answer to `comms_wanted`, with all open comms of a kernel.
    Comms {
        /// The notebook of the session.
        notebook: NotebookId,
        /// A session that this agent has claimed; other ids are ignored.
        kernel_session: KernelSessionId,
        /// The `asker` of `comms_wanted`.
        asker: String,
        /// Open comms in the order in which they were opened.
        comms: Vec<OpenComm>,
    },
    /// From runtime agents, while `comms_wanted` requests it: changes of a kernel's comms. Ephemeral.
    Comm {
        /// The notebook of the session.
        notebook: NotebookId,
        /// A session that this agent has claimed; other ids are ignored.
        kernel_session: KernelSessionId,
        /// Changes in the order in which they happened.
        changes: Vec<CommChange>,
    },
    /// From runtime agents: the answer to a `kernel_question`.
    AnswerQuestion {
        /// The question's `id`. An id that has timed out or was cancelled is ignored.
        id: u64,
        /// The kernel's answer or its refusal.
        answer: KernelAnswer,
    },
    /// From runtime agents: the answer to a `file_request`.
    AnswerFile {
        /// The request's `id`. An id that no request waits for is ignored.
        id: u64,
        /// The result or the refusal.
        answer: FileAnswer,
    },
}

/// First message of a client. It alone ignores unknown fields: a newer client's additions must not hide which protocols it speaks.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HelloMessage {
    /// Protocols that the client speaks; the server picks the newest that both speak.
    pub protocols: ProtocolRange,
    /// The token. Absent when it came as the subprotocol `notarium.bearer.<token>`.
    pub token: Option<String>,
    /// Name and version of the client program, for diagnosis.
    pub client: String,
    /// From runtime agents: a name of this process, 1 to 64 characters, chosen anew at every start. A new connection of the same process
    /// replaces the one before. A connection of another process is refused while the first is alive.
    pub instance: Option<String>,
    /// Optional parts of the protocol that the client knows. Unknown names are ignored.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub features: Vec<String>,
    /// From guests: the display name, 1 to 40 characters on one line. Others see it with the label of the link. Ignored for all other
    /// clients.
    pub name: Option<String>,
}

/// Major versions of this protocol, both ends included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ProtocolRange {
    /// The oldest major version.
    pub min: u32,
    /// The newest major version.
    pub max: u32,
}

impl ProtocolRange {
    /// Returns the newest version in both ranges, if any.
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

/// Subscription to a notebook, from the client's last event on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SubscribeMessage {
    /// Id of the notebook.
    pub notebook: NotebookId,
    /// The last event that the client has; absent: it has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<LastEvent>,
    /// Cells with text that is not acked. Their changes since `base` are sent even if the answer is a snapshot.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unconfirmed: Vec<UnconfirmedText>,
}

/// An event by version and id. After a restore from a backup, another event may have the same version.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LastEvent {
    /// 1 or more.
    pub version: Version,
    /// The event's `id`.
    pub event_id: EventId,
}

/// A cell in which the client has text that is not acked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UnconfirmedText {
    /// The cell.
    pub cell_id: CellId,
    /// Version to which that text is mapped: the `base` of the change that was sent, else the client's own version.
    pub base: Version,
}

/// One command. A repeat with the same id and the same bytes of `body` gets the same answer.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CommandMessage {
    /// Command id, chosen by the client and new for every command. A retry repeats it and is applied once.
    pub id: CommandId,
    /// Target notebook; `CreateNotebook` creates it.
    pub notebook: NotebookId,
    /// Refuse the command unless the notebook is at this version.
    pub expected_version: Option<Version>,
    /// The undo group; absent: the command forms a group alone.
    pub correlation_id: Option<CorrelationId>,
    /// A `Command` of the core. Kept as text: a repeat is recognised by its digest.
    #[schemars(with = "notarium_core::Command")]
    pub body: RawJson,
}

impl CommandMessage {
    /// Builds a command without a condition, in an undo group of one.
    pub fn new(id: CommandId, notebook: NotebookId, body: RawJson) -> Self {
        Self { id, notebook, expected_version: None, correlation_id: None, body }
    }
}

/// Compares the client's state at a version with the server's. The client must follow the notebook.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CheckMessage {
    /// Id of the notebook.
    pub notebook: NotebookId,
    /// The version that the client holds.
    pub version: Version,
    /// Digest of the client's own state. If the server's digest differs, it sends the whole state after its answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<Hash>,
}

/// Position of a client in a notebook. All fields may be absent: the client is present, and nothing more is known.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct PresenceState {
    /// The cell that has the focus.
    pub cell_id: Option<CellId>,
    /// Selection in that cell's source, UTF-16 code units: `[anchor, head]`.
    pub selection: Option<[u32; 2]>,
    /// True while text is being entered.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub typing: bool,
}

/// Memory and CPU use of a kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct KernelUsage {
    /// Resident memory, in bytes.
    pub memory_bytes: u64,
    /// CPU use in percent of one processor: 200 means two processors fully used. Absent after the first measurement, which has no interval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_percent: Option<u32>,
}
