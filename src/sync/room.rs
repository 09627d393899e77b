//! State machine of a room: its state, its inputs, and the order of its steps. The steps are in the files of `room/`.

mod activity;
mod answers;
mod batch;
mod comms;
mod fanout;
mod joining;
mod judging;
mod kernels;
mod listing;
mod live;
mod loading;
mod maintenance;
mod names;
pub(crate) mod queue;
mod rendering;
mod retries;
mod subscribers;

use std::collections::BTreeMap;
use std::sync::Arc;

use notarium_core::{
    CommandId, Epoch, Head, IdSource, Millis, NextSteps, Notebook, NotebookId, Rejection, RejectionCode, Version,
    sweep_due,
};
use notarium_wire::{AckMessage, ErrorCode, ErrorMessage, RejectMessage, ServerMessage, frame};
use sha2::{Digest, Sha256};

use crate::config::RoomConfig;
use crate::identity::{ClientId, Identity, ReadState};
use crate::io::{Input, Output, Ticket};
use crate::rendering::Rendering;
use crate::replay::{Loaded, ReadOnly};
use crate::ring::Ring;
use crate::submission::{ReplyTo, Submission};
use activity::ActivityQueue;
use answers::Answers;
use batch::Batch;
use fanout::FanOut;
use joining::{Join, Waiting};
use kernels::Leases;
use listing::Listing;
use live::PresenceQueue;
use loading::Recovery;
use names::Names;
use queue::{Pending, Queue};
use retries::Lookup;
use subscribers::Subscriber;

type Answer = Result<AckMessage, Rejection>;

/// Backoff of failed loads: the delay doubles each time, up to these limits.
const MAX_DOUBLINGS: u32 = 10;
const MAX_RETRY_LOAD_MS: Millis = 300_000;

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
    /// A command of the batch was already recorded; the records are being read.
    Sorting(Ticket, Box<Batch>),
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
    pub(crate) queue: Queue,
    waiting: Vec<Waiting>,
    joins: BTreeMap<Ticket, Join>,
    lookups: BTreeMap<Ticket, Lookup>,
    /// Commands whose code is being judged, each with those that must stay behind it.
    pub(crate) judging: BTreeMap<Ticket, Vec<Pending>>,
    /// Names in the cells of a reactive notebook.
    names: Names,
    arrivals: u64,
    tickets: Ticket,
    subscribers: BTreeMap<ClientId, Subscriber>,
    fan_out: FanOut,
    presence: PresenceQueue,
    activity: ActivityQueue,
    answers: Answers,
    leases: Leases,
    /// Serialised state for joining clients.
    rendering: Rendering,
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
            queue: Queue::default(),
            waiting: Vec::new(),
            joins: BTreeMap::new(),
            lookups: BTreeMap::new(),
            judging: BTreeMap::new(),
            names: Names::default(),
            arrivals: 0,
            tickets: 0,
            subscribers: BTreeMap::new(),
            fan_out: FanOut::default(),
            presence: PresenceQueue::default(),
            activity: ActivityQueue::default(),
            answers: Answers::default(),
            leases: Leases::default(),
            rendering: Rendering::default(),
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
            Input::Subscribe { client, identity, message } => self.take_subscribe(cycle, client, identity, message),
            Input::Read { identity, caller } => self.wait(cycle, Waiting::Read { identity, caller }),
            Input::Unsubscribe { client } => self.leave(cycle, client),
            Input::IdentityChanged { client, identity } => self.take_identity(cycle, client, identity),
            Input::Activity(activity) => self.take_activity(activity),
            Input::Presence { client, state } => self.take_presence(cycle, client, state),
            Input::KernelStatus { client, kernel_session, busy } => self.take_status(client, kernel_session, busy),
            Input::KernelUse { client, kernel_session, usage } => self.take_usage(client, kernel_session, usage),
            Input::FollowComms { client, kernel_session } => self.take_follow_comms(cycle, client, kernel_session),
            Input::Comms { client, kernel_session, asker, comms } => {
                self.take_comms(cycle, client, kernel_session, &asker, comms);
            }
            Input::Comm { client, kernel_session, changes } => self.take_comm(cycle, client, kernel_session, changes),
            Input::SendComm { client, message } => self.take_send_comm(cycle, client, message),
            Input::Appended => self.take_appended(cycle),
            Input::AppendFailed(failure) => self.take_append_failure(cycle, failure),
            Input::Past { ticket, past } => self.take_past(cycle, ticket, past),
            Input::Commands { ticket, records } => self.take_records(cycle, ticket, records),
            Input::Judged { ticket, judgement } => self.take_judgement(ticket, judgement),
            Input::Names { names } => self.take_names(&names),
            Input::Rendered(rendered) => self.take_rendered(cycle, rendered.map(|rendered| *rendered)),
            Input::Differs { client } => self.take_differing(cycle, client),
            Input::List { caller } => self.take_list(cycle.now, caller),
            Input::Lagging { client, from } => self.take_lagging(client, from),
            Input::CaughtUp { client } => self.take_caught_up(cycle, client),
            Input::Tick => {}
            Input::ShutDown => self.is_closing = true,
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

    /// Requests a lease. Waiting commands are decided, or answered with the reason, when the answer arrives.
    fn ask_for_lease(&mut self, cycle: &mut Cycle) {
        self.phase = Phase::Loading;
        cycle.out.push(Output::Load { recent_after: self.least_sent() });
    }

    /// Returns true if the state equals the one on disk.
    pub(crate) fn is_settled(&self) -> bool {
        matches!(self.phase, Phase::Live | Phase::Reading)
    }

    // --- loading ---

    fn take_loaded(&mut self, cycle: &mut Cycle, loaded: Loaded, lease: Result<Epoch, String>) {
        self.no_lease = match lease {
            Ok(epoch) => {
                self.epoch = epoch;
                None
            }
            Err(reason) => {
                let waiting = self.queue.drain();
                self.answer_all(cycle, waiting, &unavailable(&reason));
                Some(reason)
            }
        };
        match std::mem::replace(&mut self.phase, Phase::Live) {
            Phase::Recovering(recovery) => {
                self.adopt(cycle, loaded);
                self.recover(cycle, *recovery);
            }
            Phase::Loading => {
                self.adopt(cycle, loaded);
                if self.no_lease.is_some() {
                    self.rest_from_sweeps(cycle);
                }
                // After a failed load there may already be subscribers.
                self.fan_out(cycle, &[]);
                self.ask_for_work(cycle);
            }
            other => self.phase = other,
        }
    }

    fn adopt(&mut self, cycle: &mut Cycle, loaded: Loaded) {
        self.head = loaded.head;
        self.committed = loaded.notebook.version;
        self.state = loaded.notebook;
        self.read_only = loaded.read_only;
        self.load_failures = 0;
        self.ring = Ring::of(self.committed, &loaded.recent);
        self.snapshot_version = loaded.snapshot_version;
        self.rendering.forget();
        self.idle_at = Some(cycle.now + self.config.idle_ms);
        if self.read_only.is_some() {
            // A read-only notebook cannot end kernels or tool calls.
            (self.leases, self.sweep_at) = (Leases::default(), None);
        } else {
            self.leases.follow(&self.state, cycle.now, &self.config);
            self.sweep_at = sweep_due(&self.state);
        }
        self.recheck_access(cycle);
        self.resync_unreachable(cycle);
        self.snapshot_when_due(cycle);
    }

    fn take_load_failure(&mut self, cycle: &mut Cycle, reason: String) {
        let backoff = (self.config.retry_load_ms << self.load_failures.min(MAX_DOUBLINGS)).min(MAX_RETRY_LOAD_MS);
        self.load_failures += 1;
        let phase = std::mem::replace(&mut self.phase, Phase::Failed(cycle.now + backoff));
        self.failure = format!("the notebook cannot be read: {reason}");
        if let Phase::Recovering(recovery) = phase {
            let rejection = recovery.rejection(&self.failure);
            self.answer_all(cycle, recovery.batch.into_commands(), &rejection);
        }
        self.turn_all_away(cycle);
    }

    /// Answers all waiting requests with the failure.
    fn turn_all_away(&mut self, cycle: &mut Cycle) {
        let mut pending = self.queue.drain();
        pending.extend(std::mem::take(&mut self.judging).into_values().flatten());
        self.answer_all(cycle, pending, &unavailable(&self.failure));
        for waiting in std::mem::take(&mut self.waiting) {
            self.turn_away(cycle, waiting);
        }
        self.answer_lists(cycle);
    }

    fn retry_load(&mut self, cycle: &mut Cycle) {
        if matches!(self.phase, Phase::Failed(at) if at <= cycle.now) {
            self.phase = Phase::Loading;
            cycle.out.push(Output::Load { recent_after: self.least_sent() });
        }
    }

    fn turn_away(&self, cycle: &mut Cycle, waiting: Waiting) {
        match waiting {
            Waiting::Read { caller, .. } => {
                let state = Err(unavailable(&self.failure));
                cycle.out.push(Output::State { caller, state });
            }
            Waiting::Subscribe { client, .. } => {
                self.send_error(cycle, client, ErrorCode::Unavailable, &self.failure);
            }
        }
    }

    // --- incoming commands and reads ---

    fn take_command(&mut self, cycle: &mut Cycle, submission: Submission) {
        if let Some(reason) = self.closed_because() {
            return self.reply(cycle, submission, Err(unavailable(&reason)));
        }
        match queue::parse(&submission.message.body) {
            Ok(command) => {
                let arrival = self.next_arrival();
                self.queue.push(Pending::new(submission, command, arrival));
            }
            Err(sentence) => {
                self.reply(cycle, submission, Err(Rejection::new(RejectionCode::InvalidValue, sentence)));
            }
        }
    }

    fn closed_because(&self) -> Option<String> {
        if self.is_closing {
            return Some("the server is stopping: send it again when you are connected again".to_owned());
        }
        matches!(self.phase, Phase::Failed(_) | Phase::Closed).then(|| self.failure.clone())
    }

    /// Queues a request that is answered from the state on disk.
    fn wait(&mut self, cycle: &mut Cycle, waiting: Waiting) {
        if self.closed_because().is_some() {
            self.turn_away(cycle, waiting);
        } else {
            self.waiting.push(waiting);
        }
    }

    fn next_arrival(&mut self) -> u64 {
        self.arrivals += 1;
        self.arrivals
    }

    fn read_state(&self, cycle: &Cycle, identity: &Identity) -> Result<ReadState, Rejection> {
        let role = self.reading_role(cycle.now, identity)?;
        Ok(ReadState {
            notebook: self.state.clone(),
            head: self.head,
            role,
            kernels: self.leases.statuses(&self.state, cycle.now, &self.config),
            names: self.names.known.clone(),
            read_only: self.read_only.is_some(),
            here: self.here(),
        })
    }

    // --- outgoing answers ---

    /// Answers the sender, and the senders of repeats.
    fn answer(&self, cycle: &mut Cycle, pending: Pending, answer: Answer) {
        let Pending { submission, also, .. } = pending;
        for reply_to in also {
            self.reply_to(cycle, reply_to, &submission.identity, &submission.message.id, answer.clone());
        }
        self.reply(cycle, submission, answer);
    }

    fn answer_all(&self, cycle: &mut Cycle, commands: Vec<Pending>, rejection: &Rejection) {
        for pending in commands {
            self.answer(cycle, pending, Err(rejection.clone()));
        }
    }

    fn reply(&self, cycle: &mut Cycle, submission: Submission, answer: Answer) {
        let Submission { identity, message, reply_to, .. } = submission;
        self.reply_to(cycle, reply_to, &identity, &message.id, answer);
    }

    fn reply_to(&self, cycle: &mut Cycle, to: ReplyTo, identity: &Identity, id: &CommandId, answer: Answer) {
        match to {
            ReplyTo::Client(client) => {
                let message = match answer {
                    Ok(ack) => ServerMessage::Ack(AckMessage { undo: self.next_steps(identity), ..ack }),
                    Err(rejection) => ServerMessage::Reject(self.reject(id, rejection)),
                };
                cycle.out.push(Output::Reply { client, text: frame::text(&message) });
            }
            ReplyTo::Caller(caller) => cycle.out.push(Output::Answer { caller, answer }),
            ReplyTo::Nobody => {}
        }
    }

    /// Returns a person's next steps to undo and redo; `None` while the state is ahead of the disk.
    fn next_steps(&self, identity: &Identity) -> Option<NextSteps> {
        if self.state.version > self.committed {
            return None;
        }
        self.state.ledger.next_steps(&identity.actor)
    }

    fn reject(&self, id: &CommandId, rejection: Rejection) -> RejectMessage {
        let Rejection { code, message, expected_version, actual_version, expected_seq, part } = rejection;
        let (id, notebook) = (id.clone(), self.notebook_id.clone());
        RejectMessage { id, notebook, code, message, expected_version, actual_version, expected_seq, part }
    }

    fn send_error(&self, cycle: &mut Cycle, client: ClientId, code: ErrorCode, message: &str) {
        let (notebook, message) = (Some(self.notebook_id.clone()), message.to_owned());
        let error = ErrorMessage { code, message, notebook, protocols: None, fatal: false };
        cycle.send(client, &ServerMessage::Error(error));
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
