//! Interface between the pure room and its driver: inputs and outputs, identities, and commands on their way to a decision.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use notarium_core::reactive::{CodeNames, CodeText, KnownNames};
use notarium_core::{
    AccountStatuses, Actor, Append, Authority, CommandId, CommandRecord, Document, Epoch, EventId, Hash, Head,
    HistoryQuery, Judgement, JudgementQuery, KernelPlacement, KernelSessionId, KernelVariables, Labels, Millis,
    Notebook, Past, RawJson, Recorded, RedactionPlan, Rejection, RejectionCode, Role, Stored, TokenId, Version,
};
use notarium_wire::frame::SharedText;
use notarium_wire::{
    AckMessage, CommChange, KernelStatus, KernelUsage, OpenComm, PresenceState, SendCommMessage, SubscribeMessage,
    TurnActivity,
};

use crate::decoded_command::{DecodedCommand, is_control};
use crate::replay::Loaded;

/// Id of a question from the room to its driver.
pub type Ticket = u64;

/// An event for the room.
#[derive(Debug)]
pub enum Input {
    /// Answers [`Output::Load`], with the epoch of the lease that was taken for it. Lease error: the reason why none could be taken, for
    /// instance a full disk; the notebook can still be read.
    Loaded {
        loaded: Box<Loaded>,
        lease: Result<Epoch, String>,
    },
    LoadFailed {
        reason: String,
    },
    /// From a connection.
    Client(ClientId, ClientInput),
    Command(Submission),
    /// From the assistants' host: live activity of a turn.
    Activity(TurnActivity),
    Read {
        identity: Arc<Identity>,
        caller: Caller<Result<ReadState, Rejection>>,
    },
    /// The append in flight is on disk.
    Appended,
    AppendFailed(AppendFailure),
    /// Answers [`Output::ReadTail`] and [`Output::ReadHistory`].
    Past {
        ticket: Ticket,
        past: Result<Past<Stored>, ReadFailure>,
    },
    /// Answers [`Output::FindCommands`] with the recorded ones.
    Commands {
        ticket: Ticket,
        records: Result<Vec<CommandRecord>, ReadFailure>,
    },
    /// Answers [`Output::Judge`]; `None`: the judge gave up.
    Judged {
        ticket: Ticket,
        judgement: Option<Judgement>,
    },
    /// Answers [`Output::ReadNames`], for each text; `None`: it does not parse.
    Names {
        names: Vec<(CodeText, Option<CodeNames>)>,
    },
    /// Answers [`Output::Render`]; `None`: it cannot be serialised.
    Rendered(Option<Box<Rendered>>),
    /// Updates the notebook list before an author of recent changes reads it.
    List {
        caller: Caller<()>,
    },
    /// An events frame for this client was dropped because its queue was full; `from` is the frame's version.
    Lagging {
        client: ClientId,
        from: Version,
    },
    /// A lagging client has read its whole queue.
    CaughtUp {
        client: ClientId,
    },
    /// The time of [`crate::Room::wake_at`] has come.
    Tick,
    /// Stops new commands; the room ends when its work is done.
    ShutDown,
}

/// A message of a connection to a room: values alone, so that it can go to a room on another node.
#[derive(Debug)]
pub enum ClientInput {
    Subscribe {
        identity: Arc<Identity>,
        message: SubscribeMessage,
    },
    /// Subscribes a client in this process: it gets events and activity as values, not as frames.
    Follow(Arc<Identity>),
    Unsubscribe,
    /// The connection broke: its subscription ends, and its waiting commands are dropped. It sends them again when it is back.
    Gone,
    IdentityChanged(Arc<Identity>),
    Presence(PresenceState),
    KernelStatus {
        kernel_session: KernelSessionId,
        busy: bool,
    },
    KernelUse {
        kernel_session: KernelSessionId,
        usage: KernelUsage,
    },
    FollowComms {
        kernel_session: KernelSessionId,
    },
    /// From an agent: the open comms, for one follower.
    Comms {
        kernel_session: KernelSessionId,
        asker: String,
        comms: Vec<OpenComm>,
    },
    /// From an agent: changes of comms, for all followers.
    Comm {
        kernel_session: KernelSessionId,
        changes: Vec<CommChange>,
    },
    /// From a follower: a message for the kernel.
    SendComm(SendCommMessage),
    /// The client's state differs from the notebook's: it gets the whole state.
    Differs,
}

/// Reason why an append failed. Only `Unknown` may have been written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AppendFailure {
    /// The log's head is not the expected one.
    VersionConflict,
    /// One of the commands is already recorded.
    DuplicateCommand,
    /// Another server has taken the notebook's lease.
    LeaseLost,
    /// The append may have been written, and may appear after the next start.
    Unknown {
        reason: String,
    },
    Unavailable {
        reason: String,
    },
}

/// Reason why a read of the store failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReadFailure {
    TooLong,
    Unavailable { reason: String },
}

/// An action for the driver; actions are executed in order.
#[derive(Debug)]
pub enum Output {
    /// Takes the notebook's lease and loads the stored state, with the events after `recent_after` if they are available.
    Load {
        recent_after: Version,
    },
    Append(Append),
    /// Reads at most `limit` events after a version.
    ReadTail {
        ticket: Ticket,
        after: Version,
        limit: usize,
    },
    ReadHistory {
        ticket: Ticket,
        queries: Vec<HistoryQuery>,
    },
    /// Judges what code could do. The room continues meanwhile.
    Judge {
        ticket: Ticket,
        query: JudgementQuery,
    },
    /// Finds the names in these texts; each needs an answer. At most one such question is open.
    ReadNames {
        texts: Vec<CodeText>,
    },
    /// Serialises the state with [`Rendered::of`]. The room continues meanwhile.
    Render {
        document: Arc<Document>,
        event_id: EventId,
    },
    /// Looks up the records of commands, by actor key and id.
    FindCommands {
        ticket: Ticket,
        commands: Vec<(String, CommandId)>,
    },
    /// Sends a frame that must not be dropped.
    Send {
        client: ClientId,
        text: String,
    },
    /// Like `Send`, for the answer to a command of the client. `refusal`: the code with which it was refused.
    Reply {
        client: ClientId,
        text: String,
        refusal: Option<RejectionCode>,
    },
    /// Like `Send`. From here on the client gets events again.
    Subscribed {
        client: ClientId,
        text: SharedText,
    },
    /// Sends one frame of events or comms to many clients. If a client's queue is full: drop it and all later ones until `Subscribed`, and
    /// report [`Input::Lagging`] once.
    Events {
        clients: Vec<ClientId>,
        from: Version,
        text: String,
    },
    /// Sends an in-process subscriber its position, at first and after a gap: it reads the log up to `version`, then it knows all but the
    /// text of unfinished replies, which `activity` has from their beginning. Like `Send`. From here on it gets events again.
    Following {
        client: ClientId,
        version: Version,
        activity: Vec<TurnActivity>,
    },
    /// Sends one commit to in-process subscribers; treated like `Events`.
    Committed {
        clients: Vec<ClientId>,
        events: Arc<[Recorded]>,
        payload_bytes: usize,
    },
    /// Sends live activity to in-process subscribers; treated like `Events`.
    Activity {
        clients: Vec<ClientId>,
        activity: Arc<[TurnActivity]>,
    },
    /// Sends one frame to many clients; it may be dropped without loss.
    Presence {
        clients: Vec<ClientId>,
        text: String,
    },
    /// Ends the client's subscription.
    Forget {
        client: ClientId,
    },
    Answer {
        caller: Caller<Result<AckMessage, Rejection>>,
        answer: Result<AckMessage, Rejection>,
    },
    State {
        caller: Caller<Result<ReadState, Rejection>>,
        state: Result<ReadState, Rejection>,
    },
    /// Requests an agent that offers this kernelspec, and that the launch allows.
    WorkWanted {
        kernel_session: KernelSessionId,
        kernelspec: String,
        placement: KernelPlacement,
    },
    WorkSettled {
        kernel_session: KernelSessionId,
    },
    /// Wakes the assistants' host, for events up to this version: conversations, tool calls, ends of runs, input requests, starts and ends
    /// of kernels. Also sent after a load of a notebook with unfinished turns or calls.
    WakeAssistants {
        version: Version,
    },
    /// Wakes the server's runner of schedules, for events about schedules up to this version. Also sent after a load of a notebook with
    /// a scheduled run that is under way.
    WakeSchedules {
        version: Version,
    },
    WriteSnapshot {
        notebook: Arc<Notebook>,
        head: Head,
    },
    /// Deletes everything of an erased notebook but the event that says so, which is on disk.
    Erase {
        version: Version,
    },
    /// Marks the notebook list as outdated for these actors, until [`Output::UpdateCatalog`] is done.
    ListLacks {
        actors: Vec<Actor>,
    },
    UpdateCatalog {
        notebook: Arc<Notebook>,
    },
    /// Answers the caller when every earlier `UpdateCatalog` is done.
    Listed {
        caller: Caller<()>,
    },
    /// Ends the room: drop it. Later inputs belong to a new room.
    Unload,
}

/// Returns the earliest deadline, if any.
pub(crate) fn earliest(moments: impl IntoIterator<Item = Option<Millis>>) -> Option<Millis> {
    moments.into_iter().flatten().min()
}

/// Id of one connection, unique within the process. Never on the wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ClientId(pub u64);

/// Actor and authority of a connection now: set by the server, never read from a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    pub actor: Actor,
    pub authority: Authority,
    /// Display name in presence.
    pub name: String,
    /// Name of the connection in presence.
    pub connection: String,
}

/// A notebook's state for a reader, without the ledger; everything in it is on disk.
#[derive(Debug, Clone)]
pub struct ReadState {
    pub notebook: Arc<Document>,
    pub head: Head,
    /// Epoch of the lease that this process has, 0 without one. While the epoch is the same, no other process has written.
    pub epoch: Epoch,
    /// Role of the reader.
    pub role: Role,
    pub kernels: Vec<KernelStatus>,
    /// Names in the cells of a reactive notebook, as far as they have been analysed.
    pub names: Arc<KnownNames>,
    /// True if a newer server has written this notebook: commands are refused.
    pub read_only: bool,
    /// Tokens with which unfinished turns and tool calls were requested.
    pub open_tokens: Vec<TokenId>,
    /// Facts about the variables of the notebook's kernel.
    pub kernel_variables: KernelVariables,
    /// People and guests in the notebook, with their display names: each once, at most [`Self::MAX_HERE`].
    pub here: Vec<(Actor, String)>,
}

impl ReadState {
    /// Maximum number of connections that `here` considers.
    pub const MAX_HERE: usize = 20;
}

/// A command for a room, with its sender. The same value passes the room's inbox and queue up to its decision.
#[derive(Debug)]
pub struct Submission {
    pub identity: Arc<Identity>,
    pub decoded: DecodedCommand,
    pub reply_to: ReplyTo,
    pub facts: OutsideFacts,
}

/// Facts outside the notebook that the decision on a command needs, as the server looked them up.
#[derive(Debug, Clone, Default)]
pub struct OutsideFacts {
    /// The notebook at the version that [`notarium_core::required_past`] names.
    pub past: Option<Arc<Document>>,
    /// Changes of a redaction, as the server read them from the record.
    pub redaction: Option<Arc<RedactionPlan>>,
    /// Account status of subjects, as requested by [`notarium_core::required_account_status`].
    pub account_status: AccountStatuses,
    /// Kernelspecs whose kernels would hold effects, for commands of assistants.
    pub holding_kernelspecs: BTreeSet<String>,
    /// Labels of the sender, if it is a runtime agent.
    pub agent_labels: Labels,
    /// Epoch in which the sender read the notebook: the command is refused in any other one.
    pub epoch: Option<Epoch>,
}

impl Submission {
    /// Creates a submission of a command that grants no rights.
    pub fn new(identity: Arc<Identity>, decoded: DecodedCommand, reply_to: ReplyTo) -> Self {
        Self { identity, decoded, reply_to, facts: OutsideFacts::default() }
    }

    /// Returns true if it may overtake waiting commands.
    pub fn is_control(&self) -> bool {
        is_control(&self.decoded.command)
    }
}

/// Receiver of a command's answer.
#[derive(Debug)]
pub enum ReplyTo {
    Client(ClientId),
    Caller(Caller<Result<AckMessage, Rejection>>),
    /// No receiver: the room itself submitted it.
    Nobody,
}

impl ReplyTo {
    pub(crate) fn client(&self) -> Option<ClientId> {
        match self {
            ReplyTo::Client(client) => Some(*client),
            ReplyTo::Caller(_) | ReplyTo::Nobody => None,
        }
    }
}

/// A caller that waits for one answer. The room passes it back to its driver with the answer; if it is dropped, there is no answer.
pub struct Caller<T>(Box<dyn FnOnce(T) + Send>);

impl<T> Caller<T> {
    pub fn new(answer: impl FnOnce(T) + Send + 'static) -> Self {
        Self(Box::new(answer))
    }

    pub fn answer(self, answer: T) {
        (self.0)(answer);
    }
}

impl<T> fmt::Debug for Caller<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Caller")
    }
}

/// A state as serialised for the wire.
#[derive(Debug, Clone)]
pub struct Rendered {
    pub version: Version,
    /// Id of the event at `version`.
    pub event_id: EventId,
    pub snapshot: RawJson,
    /// Digest of the state; absent if it has no canonical form.
    pub digest: Option<Hash>,
}

impl Rendered {
    /// Serialises the state; slow for large ones, so call it off the room's task. `event_id`: id of the state's last event.
    pub fn of(document: &Document, event_id: EventId) -> Option<Self> {
        let snapshot = RawJson::of(document).ok()?;
        Some(Self { version: document.version, event_id, snapshot, digest: document.digest().ok() })
    }
}
