//! Inputs and outputs of a room: the whole interface between the pure room and its driver.

use std::sync::Arc;

use notarium_core::reactive::{CodeNames, CodeText};
use notarium_core::{
    Actor, Append, CommandId, CommandRecord, Document, Epoch, EventId, Head, HistoryQuery, Judgement, JudgementQuery,
    KernelSessionId, Millis, Notebook, Past, Rejection, Stored, Version,
};
use notarium_wire::frame::SharedText;
use notarium_wire::{
    AckMessage, CommChange, KernelUsage, OpenComm, PresenceState, SendCommMessage, SubscribeMessage, TurnActivity,
};

use crate::identity::{ClientId, Identity, ReadState};
use crate::rendering::Rendered;
use crate::replay::Loaded;
use crate::submission::{Caller, Submission};

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
    Subscribe {
        client: ClientId,
        identity: Arc<Identity>,
        message: SubscribeMessage,
    },
    Unsubscribe {
        client: ClientId,
    },
    IdentityChanged {
        client: ClientId,
        identity: Arc<Identity>,
    },
    Command(Submission),
    Presence {
        client: ClientId,
        state: PresenceState,
    },
    KernelStatus {
        client: ClientId,
        kernel_session: KernelSessionId,
        busy: bool,
    },
    KernelUse {
        client: ClientId,
        kernel_session: KernelSessionId,
        usage: KernelUsage,
    },
    FollowComms {
        client: ClientId,
        kernel_session: KernelSessionId,
    },
    /// From an agent: the open comms, for one follower.
    Comms {
        client: ClientId,
        kernel_session: KernelSessionId,
        asker: String,
        comms: Vec<OpenComm>,
    },
    /// From an agent: changes of comms, for all followers.
    Comm {
        client: ClientId,
        kernel_session: KernelSessionId,
        changes: Vec<CommChange>,
    },
    /// From a follower: a message for the kernel.
    SendComm {
        client: ClientId,
        message: SendCommMessage,
    },
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
    /// The client's state differs from the notebook's: it gets the whole state.
    Differs {
        client: ClientId,
    },
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
    /// Like `Send`, for the answer to a command of the client.
    Reply {
        client: ClientId,
        text: String,
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
    /// Requests an agent that offers this kernelspec.
    WorkWanted {
        kernel_session: KernelSessionId,
        kernelspec: String,
    },
    WorkSettled {
        kernel_session: KernelSessionId,
    },
    /// Wakes the assistants' host, for events up to this version: conversations, tool calls, ends of runs, input requests, starts and ends
    /// of kernels. Also sent after a load of a notebook with unfinished turns or calls.
    WakeAssistants {
        version: Version,
    },
    WriteSnapshot {
        notebook: Arc<Notebook>,
        head: Head,
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
