//! Task of one room: takes inputs, passes them to the pure room, performs its outputs.

use std::collections::HashSet;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use futures_util::stream::{FuturesUnordered, StreamExt};
use notarium_core::{Notebook, NotebookId, Past, Version};
use notarium_sync::{Caller, ClientId, ClientInput, Input, Output, Rendered, ReplyTo, Room};
use tokio::sync::{OwnedSemaphorePermit, mpsc};
use tokio_util::sync::CancellationToken;

use super::handle::Inbox;
use super::outbox::{Frame, Offered};
use super::stored::{LostNotebook, RoomAnswer, failure};
use super::subscription::News;
use super::{Rooms, WorkNotice, catalog, stored};
use crate::metrics::RoomMetrics;

/// Inputs that the room handles in one call.
const MAX_INPUTS: usize = 256;
/// Bytes of undecided commands above which the task stops reading the inbox.
const MAX_BACKLOG_BYTES: usize = 8 << 20;
/// Message in a room's inbox.
pub(super) struct RoomMessage {
    /// Boxed: a queue allocates 32 messages when it is made, and each open room has two.
    pub(super) input: Box<Input>,
    /// Share of the inbox's capacity, released when the message is taken out.
    pub(super) permit: Option<OwnedSemaphorePermit>,
    pub(super) sent_at: Instant,
}

impl RoomMessage {
    /// True if the message has to reach the room that is opened next.
    pub(super) fn outlives_the_room(&self) -> bool {
        matches!(
            *self.input,
            Input::Client(_, ClientInput::Subscribe { .. } | ClientInput::Follow(_))
                | Input::Command(_)
                | Input::Read { .. }
        )
    }
}

/// Reason why the room leaves the notebook to other nodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Departure {
    /// Another node has the lease.
    Lost,
    /// Everything is on disk: the lease can be given back.
    GivenUp,
}

pub(super) struct Task {
    rooms: Arc<Rooms>,
    id: NotebookId,
    room: Room,
    messages: mpsc::UnboundedReceiver<RoomMessage>,
    urgent: mpsc::UnboundedReceiver<RoomMessage>,
    /// Sender for callbacks; weak, so that it does not keep the room open.
    report_to: mpsc::WeakUnboundedSender<RoomMessage>,
    pending: FuturesUnordered<BoxFuture<'static, RoomAnswer>>,
    /// Cancelled when other nodes are to have the room.
    given_up: CancellationToken,
    /// Set when the room ends because other nodes have the notebook, or are to have it.
    departure: Option<Departure>,
    /// Clients whose outbox was full for an events frame: they get only answers until they are subscribed again.
    stalled: HashSet<ClientId>,
    /// Connections that follow the notebook, or have sent a command.
    clients: HashSet<ClientId>,
    /// Inputs that performing the outputs has caused.
    follow_ups: Vec<Input>,
    is_unloaded: bool,
}

impl Task {
    pub(super) fn new(
        rooms: Arc<Rooms>,
        id: NotebookId,
        (messages, urgent): (mpsc::UnboundedReceiver<RoomMessage>, mpsc::UnboundedReceiver<RoomMessage>),
        inbox: &Inbox,
    ) -> Box<Self> {
        let (room, outputs) = Room::new(id.clone(), rooms.room_config.clone(), entropy());
        let mut task = Box::new(Self {
            rooms,
            id,
            room,
            messages,
            urgent,
            report_to: inbox.urgent.downgrade(),
            pending: FuturesUnordered::new(),
            given_up: inbox.given_up.clone(),
            departure: None,
            stalled: HashSet::new(),
            clients: HashSet::new(),
            follow_ups: Vec::new(),
            is_unloaded: false,
        });
        task.perform(outputs);
        task
    }

    /// Runs until the room is unloaded, or until a fault ends it and another room replaces it.
    pub(super) async fn run(mut self: Box<Self>) {
        let has_failed = AssertUnwindSafe(self.work()).catch_unwind().await.is_err();
        self.rooms.metrics.rooms.open.closed(&self.id);
        if let Some(departure) = self.departure {
            return self.depart(departure).await;
        }
        if has_failed {
            self.turn_away().await;
        }
        self.rooms.retire(&self.id, &mut self.messages, &mut self.urgent);
        if has_failed && !self.rooms.is_stopping.load(Ordering::SeqCst) {
            // Leases and expiries run only in an open room.
            self.rooms.open(&self.id);
        }
    }

    /// Closes the clients' connections after a fault, because the room's state cannot be trusted. They reconnect, and
    /// resend unanswered commands.
    async fn turn_away(&mut self) {
        let pause = self.rooms.faults.add(&self.id);
        self.rooms.metrics.rooms.faults.inc();
        tracing::error!(
            notebook = %self.id, ?pause,
            "a fault ended the notebook's room: its clients connect again, and find a new one after the pause"
        );
        for client in self.clients.drain() {
            if let Some(outbox) = self.rooms.clients.outbox(client) {
                outbox.close();
            }
        }
        tokio::time::sleep(pause).await;
    }

    /// Ends the room without an answer to what waits, and tells its clients, which send it again to the new owner.
    async fn depart(mut self: Box<Self>, departure: Departure) {
        tracing::info!(notebook = %self.id, ?departure, "another node has the notebook from now on");
        for message in self.rooms.close(&self.id, &mut self.messages, &mut self.urgent) {
            self.taken(message);
        }
        self.rooms.cluster.forget(&self.id);
        let RoomMetrics { leases_lost, leases_released, .. } = &self.rooms.metrics.rooms;
        match departure {
            Departure::Lost => leases_lost.inc(),
            Departure::GivenUp => leases_released.inc(),
        };
        if departure == Departure::GivenUp
            && let Err(error) = self.rooms.cluster.release(&self.id).await
        {
            tracing::warn!(notebook = %self.id, %error, "the lease stays until this node has left");
        }
        self.rooms.list_lag.forget(&self.id);
        self.notify(|notebook| WorkNotice::Moved { notebook });
        let moved = Frame::from(moved_text(&self.id));
        for client in std::mem::take(&mut self.clients) {
            if let Some(outbox) = self.rooms.clients.outbox(client) {
                outbox.send(moved.clone());
            }
        }
    }

    async fn work(&mut self) {
        while !self.is_unloaded && self.departure.is_none() {
            match self.next_input().await {
                Some(Ok(first)) => {
                    let inputs = self.more_inputs(first);
                    self.handle(inputs);
                }
                Some(Err(LostNotebook)) => self.departure = Some(Departure::Lost),
                None => return self.finish().await,
            }
        }
    }

    /// Takes no more messages, waits for everything that was begun, and writes a snapshot.
    async fn finish(&mut self) {
        let mut is_closing = false;
        loop {
            match self.pending.next().await {
                Some(Ok(input)) => self.handle(vec![input]),
                Some(Err(LostNotebook)) => return self.departure = Some(Departure::Lost),
                None if is_closing => break,
                None => {
                    is_closing = true;
                    self.handle(vec![Input::ShutDown]);
                }
            }
        }
        self.departure = Some(Departure::GivenUp);
    }

    fn handle(&mut self, inputs: Vec<Input>) {
        let outputs = self.room.handle_all(self.rooms.clock.now(), inputs);
        self.perform(outputs);
        while !self.follow_ups.is_empty() && self.departure.is_none() {
            let inputs = std::mem::take(&mut self.follow_ups);
            let outputs = self.room.handle_all(self.rooms.clock.now(), inputs);
            self.perform(outputs);
        }
    }

    /// `None`: other nodes are to have the room.
    async fn next_input(&mut self) -> Option<RoomAnswer> {
        let takes_more = self.room.backlog_bytes() < MAX_BACKLOG_BYTES;
        let wake_at = self.room.wake_at(self.rooms.clock.now());
        let message = tokio::select! {
            biased;
            () = self.given_up.cancelled() => return None,
            Some(answer) = self.pending.next() => return Some(answer),
            Some(message) = self.urgent.recv() => message,
            Some(message) = self.messages.recv(), if takes_more => message,
            () = self.rooms.clock.sleep_until(wake_at.unwrap_or_default()), if wake_at.is_some() => {
                return Some(Ok(Input::Tick));
            }
        };
        Some(Ok(self.taken(message)))
    }

    /// Takes all other inputs that are already there: they are decided together.
    fn more_inputs(&mut self, first: Input) -> Vec<Input> {
        let mut inputs = vec![first];
        while let Some(Some(answer)) = self.pending.next().now_or_never() {
            match answer {
                Ok(input) => inputs.push(input),
                Err(LostNotebook) => {
                    self.departure = Some(Departure::Lost);
                    return inputs;
                }
            }
        }
        let takes_more = self.room.backlog_bytes() < MAX_BACKLOG_BYTES;
        while inputs.len() < MAX_INPUTS {
            let message = self.urgent.try_recv().ok();
            let message = message.or_else(|| if takes_more { self.messages.try_recv().ok() } else { None });
            let Some(message) = message else { break };
            inputs.push(self.taken(message));
        }
        inputs
    }

    fn taken(&mut self, message: RoomMessage) -> Input {
        let RoomMessage { input, permit, sent_at } = message;
        drop(permit);
        self.rooms.metrics.rooms.inbox_waits.observe_time(sent_at.elapsed());
        match &*input {
            Input::Client(client, ClientInput::Unsubscribe | ClientInput::Gone) => {
                self.stalled.remove(client);
                self.clients.remove(client);
            }
            Input::Client(client, ClientInput::Subscribe { .. } | ClientInput::Follow(_)) => {
                self.clients.insert(*client);
            }
            Input::Command(submission) => {
                if let ReplyTo::Client(client) = &submission.reply_to {
                    self.clients.insert(*client);
                }
            }
            _ => {}
        }
        *input
    }

    // --- out ---

    fn perform(&mut self, outputs: Vec<Output>) {
        for output in outputs {
            self.perform_one(output);
        }
    }

    fn perform_one(&mut self, output: Output) {
        match output {
            Output::Send { client, text } => self.send(client, text),
            Output::Reply { client, text, refusal } => {
                self.rooms.metrics.rooms.answered(refusal);
                self.send(client, text);
                if let Some(outbox) = self.rooms.clients.outbox(client) {
                    outbox.answered();
                }
            }
            Output::Subscribed { client, text } => {
                self.stalled.remove(&client);
                let RoomMetrics { snapshots_sent, tails_sent, .. } = &self.rooms.metrics.rooms;
                if text.shared.is_some() {
                    snapshots_sent.inc()
                } else {
                    tails_sent.inc()
                };
                self.send(client, text);
            }
            Output::Events { clients, from, text } => self.show(&clients, from, &text.into()),
            Output::Following { client, version, activity } => {
                self.stalled.remove(&client);
                self.send(client, News::Position { version, activity });
            }
            Output::Committed { clients, events, payload_bytes } => {
                let from = events.first().map_or(Version::MAX, |recorded| recorded.envelope.version);
                self.show(&clients, from, &News::Committed { events, payload_bytes }.into());
            }
            Output::Activity { clients, activity } => {
                self.show(&clients, Version::MAX, &News::Activity(activity).into());
            }
            Output::Presence { clients, text } => self.show_presence(&clients, text),
            // Commands of this client are still answered.
            Output::Forget { .. } => {}
            Output::Answer { caller, answer } => {
                self.rooms.metrics.rooms.answered(answer.as_ref().err().map(|rejection| rejection.code));
                caller.answer(answer);
            }
            Output::State { caller, state } => caller.answer(state),
            Output::WorkWanted { kernel_session, kernelspec, placement } => {
                self.notify(|notebook| WorkNotice::Wanted { notebook, kernel_session, kernelspec, placement });
            }
            Output::WorkSettled { kernel_session } => {
                self.notify(|notebook| WorkNotice::Settled { notebook, kernel_session });
            }
            Output::WriteSnapshot { notebook, head } => {
                let store = self.rooms.store.clone();
                self.rooms.past_lines_due.put(self.id.clone(), head.version);
                if let Some(content) = store.content_locks().try_read(&self.id) {
                    self.rooms.tasks.spawn(catalog::write_snapshot(store, notebook, head, content));
                }
            }
            Output::Erase { version } => self.rooms.erased.put(self.id.clone(), version),
            Output::ListLacks { actors } => self.rooms.list_lag.note(&self.id, &actors),
            Output::UpdateCatalog { notebook } => self.update_catalog(notebook),
            Output::Listed { caller } => self.answer_when_listed(caller),
            Output::WakeAssistants { version } => {
                self.notify(|notebook| WorkNotice::Assistants { notebook, version });
            }
            Output::WakeSchedules { version } => self.rooms.schedules_due.put(self.id.clone(), version),
            Output::Unload => self.unload(),
            question => self.ask(question),
        }
    }

    fn update_catalog(&self, notebook: Arc<Notebook>) {
        let rooms = self.rooms.clone();
        self.rooms.list_lag.write(&self.id, |moment| {
            let writing = self.rooms.tasks.spawn(async move {
                let id = notebook.notebook_id.clone();
                catalog::update_catalog(&rooms, notebook).await;
                rooms.list_lag.wrote(&id, moment);
            });
            writing.map(drop).boxed()
        });
    }

    fn answer_when_listed(&self, caller: Caller<()>) {
        match self.rooms.list_lag.writing(&self.id) {
            Some(writing) => _ = self.rooms.tasks.spawn(writing.map(move |()| caller.answer(()))),
            None => caller.answer(()),
        }
    }

    fn unload(&mut self) {
        self.is_unloaded = true;
        if let Some(at) = self.room.expiry_at()
            && !self.rooms.is_stopping.load(Ordering::SeqCst)
        {
            self.rooms.open_at(&self.id, at);
        }
    }

    /// Passes a question to the store, the judge or a blocking thread; the answer is an input.
    fn ask(&self, question: Output) {
        let (store, id) = (self.rooms.store.clone(), self.id.clone());
        let answer: BoxFuture<'static, RoomAnswer> = match question {
            Output::Load { recent_after } => stored::load_room(self.rooms.clone(), id, recent_after).boxed(),
            Output::Append(append) => stored::append_of_room(self.rooms.clone(), append).boxed(),
            Output::ReadTail { ticket, after, limit } => {
                let read = async move { store.read(&id, after, limit).await.map(Past::from) };
                read.map(move |past| Ok(Input::Past { ticket, past: past.map_err(failure) })).boxed()
            }
            Output::ReadHistory { ticket, queries } => {
                let read = async move { stored::history(&*store, &id, queries).await };
                read.map(move |past| Ok(Input::Past { ticket, past: past.map_err(failure) })).boxed()
            }
            Output::FindCommands { ticket, commands } => {
                let read = async move { stored::records(&*store, &id, commands).await };
                read.map(move |records| Ok(Input::Commands { ticket, records: records.map_err(failure) })).boxed()
            }
            Output::Render { document, event_id } => {
                let rendering = tokio::task::spawn_blocking(move || Rendered::of(&document, event_id));
                async move { Ok(Input::Rendered(rendering.await.ok().flatten().map(Box::new))) }.boxed()
            }
            Output::Judge { ticket, query } => {
                let judge = self.rooms.judge.clone();
                async move { Ok(Input::Judged { ticket, judgement: judge.judge(query).await }) }.boxed()
            }
            Output::ReadNames { texts } => {
                let names = self.rooms.names.clone();
                async move { Ok(Input::Names { names: names.read_all(texts).await }) }.boxed()
            }
            _ => return,
        };
        self.pending.push(answer);
    }

    fn notify(&self, notice: impl FnOnce(NotebookId) -> WorkNotice) {
        // A server that routes no work has dropped the receiver.
        let _ = self.rooms.work.send(notice(self.id.clone()));
    }

    fn send(&mut self, client: ClientId, text: impl Into<Frame>) {
        let is_sent = self.rooms.clients.outbox(client).is_some_and(|outbox| outbox.send(text.into()));
        if !is_sent {
            self.forget(client);
        }
    }

    fn show(&mut self, clients: &[ClientId], from: Version, frame: &Frame) {
        for client in clients.iter().copied() {
            if self.stalled.contains(&client) {
                continue;
            }
            match self.offer(client, frame) {
                Offered::Queued => {}
                Offered::Closed => self.forget(client),
                Offered::Full => {
                    self.rooms.metrics.rooms.lagging.inc();
                    self.stalled.insert(client);
                    self.follow_ups.push(Input::Lagging { client, from });
                    self.wake_when_drained(client);
                }
            }
        }
    }

    fn offer(&self, client: ClientId, frame: &Frame) -> Offered {
        self.rooms.clients.outbox(client).map_or(Offered::Closed, |outbox| outbox.offer(frame.clone()))
    }

    fn wake_when_drained(&self, client: ClientId) {
        let (Some(outbox), report_to) = (self.rooms.clients.outbox(client), self.report_to.clone()) else { return };
        outbox.when_drained(move || {
            if let Some(report_to) = report_to.upgrade() {
                // The room may have ended: then there is no client to catch up.
                let _ = report_to.send(RoomMessage::from(Input::CaughtUp { client }));
            }
        });
    }

    fn show_presence(&self, clients: &[ClientId], text: String) {
        let frame = Frame::from(text);
        for client in clients {
            self.offer(*client, &frame);
        }
    }

    /// Unsubscribes a connection that has ended.
    fn forget(&mut self, client: ClientId) {
        self.stalled.remove(&client);
        self.clients.remove(&client);
        self.follow_ups.push(Input::Client(client, ClientInput::Unsubscribe));
    }
}

impl From<Input> for RoomMessage {
    fn from(input: Input) -> Self {
        Self { input: Box::new(input), permit: None, sent_at: Instant::now() }
    }
}

/// Frame for connections of other nodes: the notebook is not here any more. Clients never see it.
pub fn moved_text(notebook: &NotebookId) -> String {
    format!(r#"{{"moved":{{"notebook":"{notebook}"}}}}"#)
}

pub(super) fn entropy() -> [u8; 32] {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).expect("the operating system has entropy");
    bytes
}
