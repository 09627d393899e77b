//! What goes into a room and what comes out: the whole boundary between the pure room and its driver.

use std::sync::Arc;

use notarium_core::reactivity::{CodeNames, CodeText};
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

/// Names a question of the room to its driver.
pub type Ticket = u64;

/// What happened.
#[derive(Debug)]
pub enum Input {
    /// The answer to [`Output::Load`], with the epoch of the lease that was taken for it. The error: why none could be taken,
    /// for instance because the disk is full; the notebook can be read all the same.
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
    /// From an agent: the open comms, for one who follows.
    Comms {
        client: ClientId,
        kernel_session: KernelSessionId,
        asker: String,
        comms: Vec<OpenComm>,
    },
    /// From an agent, for all who follow.
    Comm {
        client: ClientId,
        kernel_session: KernelSessionId,
        changes: Vec<CommChange>,
    },
    /// From somebody who follows, for the kernel.
    SendComm {
        client: ClientId,
        message: SendCommMessage,
    },
    /// From whoever carries turns on: what an assistant is doing this moment.
    Activity(TurnActivity),
    Read {
        identity: Arc<Identity>,
        caller: Caller<Result<ReadState, Rejection>>,
    },
    /// The append in flight is synced.
    Appended,
    AppendFailed(AppendFailure),
    /// The answer to [`Output::ReadTail`] and [`Output::ReadHistory`].
    Past {
        ticket: Ticket,
        past: Result<Past<Stored>, ReadFailure>,
    },
    /// The answer to [`Output::FindCommands`]: those that are recorded.
    Commands {
        ticket: Ticket,
        records: Result<Vec<CommandRecord>, ReadFailure>,
    },
    /// The answer to [`Output::Judge`]; `None`: the judge gave up.
    Judged {
        ticket: Ticket,
        judgement: Option<Judgement>,
    },
    /// The answer to [`Output::ReadNames`], for each text; `None`: it does not parse.
    Names {
        names: Vec<(CodeText, Option<CodeNames>)>,
    },
    /// The answer to [`Output::Render`]; `None`: it cannot be written.
    Rendered(Option<Box<Rendered>>),
    /// The client's state is not the notebook's: it gets the whole state.
    Differs {
        client: ClientId,
    },
    /// Somebody looks at the list of notebooks who has changed this one: the list is brought up to date first.
    List {
        caller: Caller<()>,
    },
    /// An events frame for this client was dropped because its queue is full; `from` is the frame's.
    Lagging {
        client: ClientId,
        from: Version,
    },
    /// A lagging client has read everything that was queued for it.
    CaughtUp {
        client: ClientId,
    },
    /// [`crate::Room::wake_at`] has come.
    Tick,
    /// Nothing new is taken; the room ends when what it has is done.
    ShutDown,
}

/// Why an append is not known to be written. Most say that it was not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AppendFailure {
    /// The head is another one.
    VersionConflict,
    /// One of the commands is recorded already.
    DuplicateCommand,
    /// Another server has taken the notebook's lease since.
    LeaseLost,
    /// It may have been written, and may be found at the next start.
    Unknown {
        reason: String,
    },
    Unavailable {
        reason: String,
    },
}

/// Why the store did not answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReadFailure {
    TooLong,
    Unavailable { reason: String },
}

/// What is to be done, in this order.
#[derive(Debug)]
pub enum Output {
    /// Take the notebook's lease, and load it as it is stored, with the events after `recent_after` where they are at hand.
    Load {
        recent_after: Version,
    },
    Append(Append),
    /// Read at most `limit` events after a version.
    ReadTail {
        ticket: Ticket,
        after: Version,
        limit: usize,
    },
    ReadHistory {
        ticket: Ticket,
        queries: Vec<HistoryQuery>,
    },
    /// Judge what code could do. Everything else goes on meanwhile.
    Judge {
        ticket: Ticket,
        query: JudgementQuery,
    },
    /// Find the names in these texts; each is to be answered. One such question is open at a time.
    ReadNames {
        texts: Vec<CodeText>,
    },
    /// Write the state with [`Rendered::of`]. Everything else goes on meanwhile.
    Render {
        document: Arc<Document>,
        event_id: EventId,
    },
    /// Look up the records of commands, by actor key and id.
    FindCommands {
        ticket: Ticket,
        commands: Vec<(String, CommandId)>,
    },
    /// A frame that must not be dropped.
    Send {
        client: ClientId,
        text: String,
    },
    /// As `Send`: the answer to one of its commands.
    Reply {
        client: ClientId,
        text: String,
    },
    /// As `Send`. From here on the client is one that gets events again.
    Subscribed {
        client: ClientId,
        text: SharedText,
    },
    /// One frame for many, of events or comms. If a client's queue is full: drop it and all that follow until `Subscribed`, and report
    /// [`Input::Lagging`] once.
    Events {
        clients: Vec<ClientId>,
        from: Version,
        text: String,
    },
    /// One frame for many, of which nothing is lost when it is dropped.
    Presence {
        clients: Vec<ClientId>,
        text: String,
    },
    /// The client follows no longer.
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
    /// An agent that offers this kernelspec should come.
    WorkWanted {
        kernel_session: KernelSessionId,
        kernelspec: String,
    },
    WorkSettled {
        kernel_session: KernelSessionId,
    },
    /// Up to this version something happened that those who act for assistants look at: events of conversations and tool
    /// calls, ends of runs and their waiting for input, starts and ends of kernels. Also after a load of a notebook with
    /// unfinished turns or calls.
    WakeAssistants {
        version: Version,
    },
    WriteSnapshot {
        notebook: Arc<Notebook>,
        head: Head,
    },
    /// The list of notebooks lacks changes that these have made, until [`Output::UpdateCatalog`] is done.
    ListLacks {
        actors: Vec<Actor>,
    },
    UpdateCatalog {
        notebook: Arc<Notebook>,
    },
    /// Answer when every `UpdateCatalog` before it is done.
    Listed {
        caller: Caller<()>,
    },
    /// The room has ended: drop it. Inputs that still come belong to a new one.
    Unload,
}

/// A moment, or never.
pub(crate) fn earliest(moments: impl IntoIterator<Item = Option<Millis>>) -> Option<Millis> {
    moments.into_iter().flatten().min()
}
