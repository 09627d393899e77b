//! What clients send over the WebSocket: one JSON text frame each, externally tagged, as in `{"subscribe": {…}}`.

use notarium_core::{CellId, CommandId, CorrelationId, EventId, Hash, KernelSessionId, NotebookId, RawJson, Version};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::comms::{CommChange, OpenComm, SendCommMessage};
use crate::kernel_questions::{AskKernelMessage, KernelAnswer};
use crate::working_files::FileAnswer;

/// What a client sends.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum ClientMessage {
    /// The first frame, within ten seconds.
    Hello(HelloMessage),
    /// A new token for the same account, without reconnecting.
    Refresh {
        /// The new one. A token of another account ends the connection.
        token: String,
    },
    /// Follows a notebook: the answer is `subscribed` or an `error`, then `events` for as long as the subscription
    /// lasts.
    Subscribe(SubscribeMessage),
    /// Ends the subscription. Nothing answers it.
    Unsubscribe {
        /// Its id. One that is not followed is no mistake.
        notebook: NotebookId,
    },
    /// Asks for a change: the answer is `ack` or `reject`. No subscription is needed.
    Command(CommandMessage),
    /// Asks for the digest of the state at a version.
    Check(CheckMessage),
    /// Where I am. Ephemeral: coalesced, forgotten on disconnect, never in the log.
    Presence {
        /// A notebook that the connection follows.
        notebook: NotebookId,
        /// Replaces what was shown before. The server forgets it after 30 seconds without another.
        state: PresenceState,
    },
    /// Asks a kernel about code that is being written: the answer is `kernel_answer`. Ephemeral.
    AskKernel(AskKernelMessage),
    /// Follows the comms of a kernel, which widgets talk on: the answer is `comms`, then `comm` for each change. Ephemeral; ends
    /// with the subscription, and is asked for again after each `subscribed`.
    FollowComms {
        /// A notebook that the connection follows.
        notebook: NotebookId,
        /// The kernel.
        kernel_session: KernelSessionId,
    },
    /// Says something on an open comm of a kernel, as moving a slider does. Needs the right to run. Ephemeral: only a refusal is
    /// answered, with an `error`.
    SendComm(SendCommMessage),
    /// From runtime agents: what I can launch. Replaces the last offer.
    Offer {
        /// At most 200.
        kernelspecs: Vec<OfferedKernelspec>,
        /// Databases that SQL cells can name, at most 200.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        connections: Vec<OfferedConnection>,
    },
    /// From runtime agents: whether a kernel is busy. Ephemeral.
    KernelStatus {
        /// The notebook of the session.
        notebook: NotebookId,
        /// A session that this agent has claimed; others are passed over.
        kernel_session: KernelSessionId,
        /// Whether the kernel is executing something, whoever asked for it.
        busy: bool,
    },
    /// From runtime agents, every few seconds while `measure_kernels` wants it: what a kernel takes of its machine. Ephemeral.
    KernelUse {
        /// The notebook of the session.
        notebook: NotebookId,
        /// A session that this agent has claimed; others are passed over.
        kernel_session: KernelSessionId,
        /// Of the kernel's process and those that it has started.
        usage: KernelUsage,
    },
    /// From runtime agents: the answer to `comms_wanted`, all comms of a kernel that are open.
    Comms {
        /// The notebook of the session.
        notebook: NotebookId,
        /// A session that this agent has claimed; others are passed over.
        kernel_session: KernelSessionId,
        /// As `comms_wanted` named it.
        asker: String,
        /// In the order in which they were opened.
        comms: Vec<OpenComm>,
    },
    /// From runtime agents, while `comms_wanted` asks for it: what happened on a kernel's comms. Ephemeral.
    Comm {
        /// The notebook of the session.
        notebook: NotebookId,
        /// A session that this agent has claimed; others are passed over.
        kernel_session: KernelSessionId,
        /// In the order in which it happened.
        changes: Vec<CommChange>,
    },
    /// From runtime agents: the answer to a `kernel_question`.
    AnswerQuestion {
        /// That of the question. One that nobody waits for any more is passed over.
        id: u64,
        /// What the kernel says, or why it says nothing.
        answer: KernelAnswer,
    },
    /// From runtime agents: the answer to a `file_request`.
    AnswerFile {
        /// That of the request. One that nobody waits for any more is passed over.
        id: u64,
        /// What was done, or why nothing was.
        answer: FileAnswer,
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
    /// From guests: what they want to be called, 1 to 40 characters on one line. Others see it with the label of the link.
    /// Of everybody else it is passed over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

/// Major versions of this protocol, both ends included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ProtocolRange {
    /// The oldest.
    pub min: u32,
    /// The newest.
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

/// Asks to follow a notebook, from what the client already has.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SubscribeMessage {
    /// Its id.
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
    /// 1 or more.
    pub version: Version,
    /// The event's `id`.
    pub event_id: EventId,
}

/// A cell that the client has text for which is not acked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UnconfirmedText {
    /// The cell.
    pub cell_id: CellId,
    /// The version to which that text is mapped: the `base` of the change that was sent, else the client's own version.
    pub base: Version,
}

/// One command. A repeat with the same id and the same bytes of `body` gets the same answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CommandMessage {
    /// Chosen by the client, new for every command; a retry repeats it and is applied once.
    pub id: CommandId,
    /// The notebook that it is for; `CreateNotebook` makes it.
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

impl CommandMessage {
    /// On no condition, and an undo group of its own.
    pub fn new(id: CommandId, notebook: NotebookId, body: RawJson) -> Self {
        Self { id, notebook, expected_version: None, correlation_id: None, body }
    }
}

/// Asks whether the client's state at a version is the right one. The client must follow the notebook.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CheckMessage {
    /// Its id.
    pub notebook: NotebookId,
    /// The version that the client holds.
    pub version: Version,
    /// Of the client's own state. Where the server's is another, it sends the whole state afterwards.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<Hash>,
}

/// Where a client is in a notebook. Everything may be absent: somebody is here, and nothing more is known.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct PresenceState {
    /// The cell that has the focus.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cell_id: Option<CellId>,
    /// Selection in that cell's source, UTF-16 code units: `[anchor, head]`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub selection: Option<[u32; 2]>,
    /// Text is being entered at this moment.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub typing: bool,
}

/// What a kernel takes of its machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct KernelUsage {
    /// Resident memory, in bytes.
    pub memory_bytes: u64,
    /// Of one processor, in percent: 200 is two of them, all the time. Absent: it was measured once so far.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_percent: Option<u32>,
}

/// A connection to a database that the operator of a runtime agent has named: what people and programs may know of it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OfferedConnection {
    /// As an SQL cell names it in its first line: `-- @warehouse`.
    pub name: String,
    /// `postgresql`, `sqlite` or `duckdb`.
    pub kind: String,
    /// Whether a cell that says `write` may write.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub writes: bool,
}

/// A kernel that a runtime agent can launch, as Jupyter describes it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OfferedKernelspec {
    /// The kernelspec's directory name, as in `python3`: what `LaunchKernel` names.
    pub name: String,
    /// For people, as in `Python 3 (ipykernel)`.
    pub display_name: String,
    /// Of the code, as in `python`.
    pub language: String,
}
