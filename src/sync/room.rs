//! State machine of a room: its settings, its state, its inputs, and the order of its steps. The steps are in the files of `room/`.

mod answers;
mod batch;
mod joining;
mod kernels;
mod live;
mod loading;
mod maintenance;
pub(crate) mod queue;
mod redacting;
mod rendering;
mod set_aside;
mod subscribers;

use std::collections::BTreeMap;
use std::sync::Arc;

use notarium_core::{
    Epoch, Head, IdSource, InstanceId, Limits, Millis, Notebook, NotebookId, Rejection, RejectionCode, Version,
};
use notarium_wire::{AckMessage, ServerMessage, frame};
use sha2::{Digest, Sha256};

use crate::cell_changes::CellChanges;
use crate::io::{ClientId, ClientInput, Identity, Input, Output, ReadState, Submission, Ticket};
use crate::replay::ReadOnly;
use crate::ring::Ring;
use answers::{RecentAnswers, RefusedCommand};
use batch::Batch;
use joining::{PendingJoin, WaitingRequest};
use kernels::AgentLeases;
use live::{ActivityQueue, PresenceQueue};
use loading::Recovery;
use maintenance::Listing;
use queue::{NotebookNames, PendingCommand, Queue};
use rendering::Rendering;
use set_aside::SetAside;
use subscribers::{FanOut, Subscriber};

notarium_core::with_defaults! {
    /// Settings that all rooms of a server share.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct RoomConfig {
        /// Id of this run of the server.
        pub instance: InstanceId = InstanceId::new("instance").unwrap_or_else(|_| unreachable!("it has the shape of an id")),
        /// Limits that `decide` enforces.
        pub limits: Limits = Limits::default(),
        /// Maximum number of commands that are decided and appended together.
        pub max_batch_commands: usize = 512,
        /// Payload bytes above which a batch takes no more commands.
        pub max_batch_bytes: usize = 1 << 20,
        /// Number of missing events above which a subscriber gets a snapshot instead.
        pub max_tail_events: usize = 2_000,
        /// Number of events of unconfirmed cells above which the text becomes a conflict copy.
        pub max_unconfirmed_events: usize = 2_000,
        /// Recent events kept in memory: number and bytes while the notebook is busy, and bytes when it is idle.
        pub max_recent_events: usize = 1_024,
        pub max_recent_bytes: usize = 256 << 10,
        pub max_idle_recent_bytes: usize = 8 << 10,
        /// Bytes of changes in memory over which late edits are mapped: of one cell, of all cells, and of all cells when the notebook is idle. An
        /// edit with an older base is refused, and its sender subscribes again.
        pub max_cell_change_bytes: usize = 64 << 10,
        pub max_change_bytes: usize = 2 << 20,
        pub max_idle_change_bytes: usize = 32 << 10,
        /// Number of answers to recent commands in memory; older ones are in the store.
        pub max_recent_answers: usize = 128,
        /// Number of events between two snapshots.
        pub snapshot_events: u64 = 1_000,
        /// Maximum time that events are delayed to share a frame, on a busy notebook.
        pub max_frame_delay_ms: Millis = 20,
        /// Minimum time between two presence frames.
        pub presence_delay_ms: Millis = 50,
        /// Minimum time between two frames of assistants' activity.
        pub activity_delay_ms: Millis = 30,
        /// Time after which a cursor without renewal is dropped.
        pub presence_ttl_ms: Millis = 30_000,
        /// Time of silence after which an agent is shown as unreachable.
        pub unreachable_after_ms: Millis = 3_000,
        /// Time of silence after which the agent's kernels are given up.
        pub lease_ms: Millis = 15 * 60_000,
        /// Delay with which the catalog follows edits.
        pub catalog_delay_ms: Millis = 5_000,
        /// Time without a command after which caches are freed.
        pub idle_ms: Millis = 5_000,
        /// Time without clients and work after which a room ends.
        pub unload_after_ms: Millis = 60_000,
        /// Delay before a failed load is repeated.
        pub retry_load_ms: Millis = 1_000,
    }
}

type CommandAnswer = Result<AckMessage, Rejection>;

/// Phase of a room.
#[derive(Debug)]
enum Phase {
    /// Waits for the state from the store.
    Loading,
    /// Every decided command is on disk.
    Live,
    /// Like `Live`, while the first command waits for history or names.
    Reading,
    /// The state is ahead of the disk by this batch.
    Appending(Box<Batch>),
    /// The append failed, and the state is being reloaded.
    Recovering(Box<Recovery>),
    /// A command of the batch was already recorded. The records are being read, and decide the answers.
    Deciding(Ticket, Box<Batch>),
    /// The load failed; the next attempt is at this time.
    Failed(Millis),
    Closed,
}

/// One call of the room: the time, and the actions so far.
#[derive(Debug)]
struct Cycle {
    now: Millis,
    out: Vec<Output>,
}

/// Live side of one notebook.
#[derive(Debug)]
pub struct Room {
    pub(crate) config: Arc<RoomConfig>,
    notebook_id: NotebookId,
    entropy: [u8; 32],
    seeds: u64,
    phase: Phase,
    /// Epoch of the lease under which this room writes.
    pub(crate) epoch: Epoch,
    /// Reason why it has no lease. The room can be read; before its next decision it requests a lease again.
    no_lease: Option<String>,
    /// State, including the events of the append in flight.
    pub(crate) state: Arc<Notebook>,
    /// Head of `state`.
    head: Head,
    /// Last version on disk, which may be shown.
    committed: Version,
    /// The event that this build cannot follow: the state ends before it, and nothing is written.
    read_only: Option<ReadOnly>,
    /// Reason why the last load failed, or the room ended.
    failure: String,
    /// Number of failed loads since the last successful one.
    load_failures: u32,
    ring: Ring,
    /// Changes over which late edits are mapped.
    changes: CellChanges,
    pub(crate) queue: Queue,
    waiting: Vec<WaitingRequest>,
    joins: BTreeMap<Ticket, PendingJoin>,
    /// Refused commands of this call, whose records are looked up together at its end.
    refused: Vec<RefusedCommand>,
    lookups: BTreeMap<Ticket, Vec<RefusedCommand>>,
    /// Commands that wait for a scan of the store, while others are decided.
    pub(crate) set_aside: BTreeMap<Ticket, SetAside>,
    /// Commands whose code is being judged, each with those that must stay behind it.
    pub(crate) judging: BTreeMap<Ticket, Vec<PendingCommand>>,
    /// Names in the cells of a reactive notebook.
    names: NotebookNames,
    arrivals: u64,
    tickets: Ticket,
    subscribers: BTreeMap<ClientId, Subscriber>,
    fan_out: FanOut,
    presence: PresenceQueue,
    activity: ActivityQueue,
    answers: RecentAnswers,
    leases: AgentLeases,
    /// Serialised state for joining clients.
    rendering: Rendering,
    /// Content was redacted: every subscriber gets the state anew after the load.
    must_resync: bool,
    /// Version of the last snapshot that was written or requested.
    snapshot_version: Version,
    listing: Listing,
    /// Time of the next sweep of waiting tool calls: the first one expires, or a target has changed.
    sweep_at: Option<Millis>,
    /// Time at which the next grant expires.
    grant_ends_at: Option<Millis>,
    /// Time at which caches are freed, unless there is work before.
    idle_at: Option<Millis>,
    unload_at: Option<Millis>,
    is_closing: bool,
    /// Time of the last call.
    last_now: Millis,
}

impl Room {
    /// Creates an empty room that first requests its state. `entropy`: 32 unpredictable bytes, new for every room.
    pub fn new(notebook_id: NotebookId, config: Arc<RoomConfig>, entropy: [u8; 32]) -> (Self, Vec<Output>) {
        let room = Self {
            state: Arc::new(Notebook::new(notebook_id.clone())),
            config,
            notebook_id,
            entropy,
            seeds: 0,
            phase: Phase::Loading,
            epoch: 0,
            no_lease: None,
            head: Head::START,
            committed: 0,
            read_only: None,
            failure: String::new(),
            load_failures: 0,
            ring: Ring::default(),
            changes: CellChanges::default(),
            queue: Queue::default(),
            waiting: Vec::new(),
            joins: BTreeMap::new(),
            refused: Vec::new(),
            lookups: BTreeMap::new(),
            set_aside: BTreeMap::new(),
            judging: BTreeMap::new(),
            names: NotebookNames::default(),
            arrivals: 0,
            tickets: 0,
            subscribers: BTreeMap::new(),
            fan_out: FanOut::default(),
            presence: PresenceQueue::default(),
            activity: ActivityQueue::default(),
            answers: RecentAnswers::default(),
            leases: AgentLeases::default(),
            rendering: Rendering::default(),
            must_resync: false,
            snapshot_version: 0,
            listing: Listing::default(),
            sweep_at: None,
            grant_ends_at: None,
            idle_at: None,
            unload_at: None,
            is_closing: false,
            last_now: 0,
        };
        (room, vec![Output::Load { recent_after: Version::MAX }])
    }

    /// Handles one input; the returned actions are executed in order.
    pub fn handle(&mut self, now: Millis, input: Input) -> Vec<Output> {
        self.handle_all(now, [input])
    }

    /// Handles many inputs in one call: commands among them are decided together.
    pub fn handle_all(&mut self, now: Millis, inputs: impl IntoIterator<Item = Input>) -> Vec<Output> {
        self.follow_clock(now);
        let mut cycle = Cycle { now, out: Vec::new() };
        for input in inputs {
            self.take(&mut cycle, input);
        }
        self.send_activity_when_due(&mut cycle);
        self.pump(&mut cycle);
        self.maintain(&mut cycle);
        self.look_up_refused(&mut cycle);
        cycle.out
    }

    /// Returns the last version that is on disk and shown.
    pub fn version(&self) -> Version {
        self.committed
    }

    /// Returns the time at which the room must be open because a waiting tool call expires.
    pub fn expiry_at(&self) -> Option<Millis> {
        self.sweep_at
    }

    /// Returns the bytes of waiting commands: above a limit, the driver takes no more.
    pub fn backlog_bytes(&self) -> usize {
        self.queue.bytes()
    }

    fn take(&mut self, cycle: &mut Cycle, input: Input) {
        match input {
            Input::Loaded { loaded, lease } => self.take_loaded(cycle, *loaded, lease),
            Input::LoadFailed { reason } => self.take_load_failure(cycle, reason),
            Input::Command(submission) => self.take_command(cycle, submission),
            Input::Client(client, input) => self.take_of_client(cycle, client, input),
            Input::Read { identity, caller } => self.wait(cycle, WaitingRequest::Read { identity, caller }),
            Input::Activity(activity) => self.take_activity(activity),
            Input::Appended => self.take_appended(cycle),
            Input::AppendFailed(failure) => self.take_append_failure(cycle, failure),
            Input::Past { ticket, past } => self.take_past(cycle, ticket, past),
            Input::Commands { ticket, records } => self.take_records(cycle, ticket, records),
            Input::Judged { ticket, judgement } => self.take_judgement(ticket, judgement),
            Input::Names { names } => self.take_names(&names),
            Input::Rendered(rendered) => self.take_rendered(cycle, rendered.map(|rendered| *rendered)),
            Input::List { caller } => self.take_list(cycle.now, caller),
            Input::Lagging { client, from } => self.take_lagging(client, from),
            Input::CaughtUp { client } => self.take_caught_up(cycle, client),
            Input::Tick => {}
            Input::ShutDown => self.is_closing = true,
        }
    }

    fn take_of_client(&mut self, cycle: &mut Cycle, client: ClientId, input: ClientInput) {
        match input {
            ClientInput::Subscribe { identity, message } => self.take_subscribe(cycle, client, identity, message),
            ClientInput::Follow(identity) => self.take_follow(cycle, client, identity),
            ClientInput::Unsubscribe => self.leave(cycle, client),
            ClientInput::Gone => self.take_gone(cycle, client),
            ClientInput::IdentityChanged(identity) => self.take_identity(cycle, client, identity),
            ClientInput::Presence(state) => self.take_presence(cycle, client, state),
            ClientInput::KernelStatus { kernel_session, busy } => self.take_status(client, kernel_session, busy),
            ClientInput::KernelUse { kernel_session, usage } => self.take_usage(client, kernel_session, usage),
            ClientInput::FollowComms { kernel_session } => self.take_follow_comms(cycle, client, kernel_session),
            ClientInput::Comms { kernel_session, asker, comms } => {
                self.take_comms(cycle, client, kernel_session, &asker, comms);
            }
            ClientInput::Comm { kernel_session, changes } => self.take_comm(cycle, client, kernel_session, changes),
            ClientInput::SendComm(message) => self.take_send_comm(cycle, client, message),
            ClientInput::Differs => self.take_differing(cycle, client),
        }
    }

    /// Serves and decides until the room must wait.
    fn pump(&mut self, cycle: &mut Cycle) {
        while self.is_settled() {
            self.serve_waiting(cycle);
            if !matches!(self.phase, Phase::Live) || self.queue.is_empty() {
                return;
            }
            if self.no_lease.take().is_some() {
                return self.ask_for_lease(cycle);
            }
            self.decide_batch(cycle);
        }
    }

    /// Returns true if the state equals the one on disk.
    pub(crate) fn is_settled(&self) -> bool {
        matches!(self.phase, Phase::Live | Phase::Reading)
    }

    // --- incoming commands and reads ---

    fn take_command(&mut self, cycle: &mut Cycle, submission: Submission) {
        if let Some(reason) = self.closed_because() {
            return self.reply(cycle, submission, Err(unavailable(&reason)));
        }
        let arrival = self.next_arrival();
        self.queue.push(PendingCommand::new(submission, arrival));
    }

    fn closed_because(&self) -> Option<String> {
        if self.is_closing {
            return Some("the server is stopping: send it again when you are connected again".to_owned());
        }
        matches!(self.phase, Phase::Failed(_) | Phase::Closed).then(|| self.failure.clone())
    }

    /// Queues a request that is answered from the state on disk.
    fn wait(&mut self, cycle: &mut Cycle, waiting: WaitingRequest) {
        if self.closed_because().is_some() {
            self.turn_away(cycle, waiting);
        } else {
            self.waiting.push(waiting);
        }
    }

    fn read_state(&self, cycle: &Cycle, identity: &Identity) -> Result<ReadState, Rejection> {
        let role = self.reading_role(cycle.now, identity)?;
        Ok(ReadState {
            notebook: self.state.document.clone(),
            head: self.head,
            epoch: if self.no_lease.is_none() { self.epoch } else { 0 },
            role,
            kernels: self.leases.statuses(&self.state, cycle.now, &self.config),
            names: self.names.known.clone(),
            read_only: self.read_only.is_some(),
            open_tokens: self.state.ledger.open_tokens().into_iter().cloned().collect(),
            kernel_variables: self.state.ledger.kernel_variables(),
            here: self.here(),
        })
    }

    fn next_arrival(&mut self) -> u64 {
        self.arrivals += 1;
        self.arrivals
    }

    fn next_ticket(&mut self) -> Ticket {
        self.tickets += 1;
        self.tickets
    }

    /// Returns a source of new ids and salts; each is used for one command.
    fn next_ids(&mut self, now: Millis) -> IdSource {
        self.seeds += 1;
        let seed = Sha256::new().chain_update(self.entropy).chain_update(self.seeds.to_be_bytes()).finalize();
        IdSource::new(now, seed.into())
    }
}

impl Cycle {
    fn send(&mut self, client: ClientId, message: &ServerMessage) {
        self.out.push(Output::Send { client, text: frame::text(message) });
    }
}

fn unavailable(reason: &str) -> Rejection {
    Rejection::new(RejectionCode::Unavailable, format!("nothing was changed: {reason}"))
}
