//! The task of one room: takes what comes, asks the pure room, does what it says.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use axum::extract::ws::Utf8Bytes;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use futures_util::stream::{FuturesUnordered, StreamExt};
use notarium_core::{Millis, NotebookId, Rejection, Version};
use notarium_sync::{ClientId, Identity, Input, Output, ReadState, Rendered, ReplyTo, Room};
use notarium_wire::{AckMessage, CommandMessage, SubscribeMessage};
use tokio::sync::{OwnedSemaphorePermit, mpsc, oneshot};

use super::outbox::{Offered, Outbox};
use super::{Rooms, WorkNotice, projections, stored};

/// Inputs that the room gets in one call.
const MAX_INPUTS: usize = 256;
/// Bytes of undecided commands above which the inbox is left to fill.
const MAX_BACKLOG_BYTES: usize = 8 << 20;
/// Known connections above which those that have ended are looked for.
const MIN_SWEPT_CLIENTS: usize = 64;

/// What a room's inbox holds.
pub(super) enum Message {
    Input(Input),
    Subscribe {
        client: ClientId,
        identity: Arc<Identity>,
        outbox: Outbox,
        message: SubscribeMessage,
    },
    Command {
        client: ClientId,
        identity: Arc<Identity>,
        outbox: Outbox,
        message: CommandMessage,
        permit: Option<OwnedSemaphorePermit>,
    },
    Execute {
        identity: Arc<Identity>,
        message: CommandMessage,
        answer: oneshot::Sender<Result<AckMessage, Rejection>>,
        permit: Option<OwnedSemaphorePermit>,
    },
    Read {
        identity: Arc<Identity>,
        answer: oneshot::Sender<Result<ReadState, Rejection>>,
    },
}

impl Message {
    /// Whether it means something to a room that is opened for it.
    pub(super) fn outlives_the_room(&self) -> bool {
        !matches!(self, Message::Input(_))
    }
}

/// A connection, as the room knows it.
struct Client {
    outbox: Outbox,
    /// An events frame did not fit: nothing but answers until it is subscribed again.
    is_stalled: bool,
}

pub(super) struct Task {
    rooms: Arc<Rooms>,
    id: NotebookId,
    room: Room,
    messages: mpsc::UnboundedReceiver<Message>,
    urgent: mpsc::UnboundedReceiver<Message>,
    /// For those who report back; weak, so that the room does not keep itself open.
    report_to: mpsc::WeakUnboundedSender<Message>,
    pending: FuturesUnordered<BoxFuture<'static, Input>>,
    clients: HashMap<ClientId, Client>,
    sweep_above: usize,
    next_request: u64,
    answers: HashMap<u64, oneshot::Sender<Result<AckMessage, Rejection>>>,
    reads: HashMap<u64, oneshot::Sender<Result<ReadState, Rejection>>>,
    /// Inputs that doing the outputs has led to.
    follow_ups: Vec<Input>,
    is_unloaded: bool,
}

impl Task {
    pub(super) fn new(
        rooms: Arc<Rooms>,
        id: NotebookId,
        messages: mpsc::UnboundedReceiver<Message>,
        urgent: mpsc::UnboundedReceiver<Message>,
        report_to: mpsc::WeakUnboundedSender<Message>,
    ) -> Self {
        let (room, outputs) = Room::new(id.clone(), rooms.room_config.clone(), entropy());
        let mut task = Self {
            rooms,
            id,
            room,
            messages,
            urgent,
            report_to,
            pending: FuturesUnordered::new(),
            clients: HashMap::new(),
            sweep_above: MIN_SWEPT_CLIENTS,
            next_request: 0,
            answers: HashMap::new(),
            reads: HashMap::new(),
            follow_ups: Vec::new(),
            is_unloaded: false,
        };
        task.perform(outputs);
        task
    }

    pub(super) async fn run(mut self) {
        while !self.is_unloaded {
            let first = self.next_input().await;
            let inputs = self.more_inputs(first);
            self.handle(inputs);
            while !self.follow_ups.is_empty() {
                let inputs = std::mem::take(&mut self.follow_ups);
                self.handle(inputs);
            }
        }
        self.rooms.retire(&self.id, &mut self.messages, &mut self.urgent);
    }

    fn handle(&mut self, inputs: Vec<Input>) {
        let outputs = self.room.handle_all(self.rooms.clock.now(), inputs);
        self.perform(outputs);
    }

    async fn next_input(&mut self) -> Input {
        let takes_more = self.room.backlog_bytes() < MAX_BACKLOG_BYTES;
        let now = self.rooms.clock.now();
        let wake_at = self.room.wake_at(now);
        let message = tokio::select! {
            biased;
            Some(input) = self.pending.next() => return input,
            Some(message) = self.urgent.recv() => message,
            Some(message) = self.messages.recv(), if takes_more => message,
            () = sleep(wake_at, now) => return Input::Tick,
        };
        self.input_of(message)
    }

    /// Whatever else is there already: it is decided together.
    fn more_inputs(&mut self, first: Input) -> Vec<Input> {
        let mut inputs = vec![first];
        while let Some(Some(input)) = self.pending.next().now_or_never() {
            inputs.push(input);
        }
        let takes_more = self.room.backlog_bytes() < MAX_BACKLOG_BYTES;
        while inputs.len() < MAX_INPUTS {
            let message = self.urgent.try_recv().ok();
            let message = message.or_else(|| if takes_more { self.messages.try_recv().ok() } else { None });
            let Some(message) = message else { break };
            inputs.push(self.input_of(message));
        }
        inputs
    }

    // --- in ---

    fn input_of(&mut self, message: Message) -> Input {
        match message {
            Message::Input(input) => input,
            Message::Subscribe { client, identity, outbox, message } => {
                self.know(client, outbox);
                Input::Subscribe { client, identity, message }
            }
            Message::Command { client, identity, outbox, message, permit } => {
                drop(permit);
                self.know(client, outbox);
                Input::Command { reply_to: ReplyTo::Client(client), identity, message }
            }
            Message::Execute { identity, message, answer, permit } => {
                drop(permit);
                let request = self.request();
                self.answers.insert(request, answer);
                Input::Command { reply_to: ReplyTo::Request(request), identity, message }
            }
            Message::Read { identity, answer } => {
                let request = self.request();
                self.reads.insert(request, answer);
                Input::Read { request, identity }
            }
        }
    }

    fn request(&mut self) -> u64 {
        self.next_request += 1;
        self.next_request
    }

    fn know(&mut self, client: ClientId, outbox: Outbox) {
        self.clients.entry(client).or_insert(Client { outbox, is_stalled: false });
        if self.clients.len() > self.sweep_above {
            self.clients.retain(|_, client| !client.outbox.is_closed());
            self.sweep_above = MIN_SWEPT_CLIENTS.max(self.clients.len() * 2);
        }
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
            Output::Subscribed { client, text } => {
                if let Some(known) = self.clients.get_mut(&client) {
                    known.is_stalled = false;
                }
                self.send(client, text);
            }
            Output::Events { clients, from, text } => self.show(&clients, from, text),
            Output::Presence { clients, text } => self.tell(&clients, text),
            // Its commands are still answered.
            Output::Forget { .. } => {}
            Output::Answer { request, answer } => {
                // Who asked may have gone.
                if let Some(sender) = self.answers.remove(&request) {
                    let _ = sender.send(answer);
                }
            }
            Output::State { request, state } => {
                if let Some(sender) = self.reads.remove(&request) {
                    let _ = sender.send(state);
                }
            }
            Output::WorkWanted { kernel_session, kernelspec } => {
                let notebook = self.id.clone();
                self.notify(WorkNotice::Wanted { notebook, kernel_session, kernelspec });
            }
            Output::WorkSettled { kernel_session } => {
                let notebook = self.id.clone();
                self.notify(WorkNotice::Settled { notebook, kernel_session });
            }
            Output::WriteSnapshot { notebook, head } => {
                let store = self.rooms.store.clone();
                self.rooms.tasks.spawn(projections::write_snapshot(store, notebook, head));
            }
            Output::UpdateCatalog { notebook } => {
                let store = self.rooms.store.clone();
                self.rooms.tasks.spawn(projections::update_catalog(store, notebook));
            }
            Output::WakeAssistants { version } => {
                self.notify(WorkNotice::Assistants { notebook: self.id.clone(), version });
            }
            Output::Unload => self.unload(),
            question => self.ask(question),
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

    /// What the store, or the judge, answers.
    fn ask(&self, question: Output) {
        let (store, id) = (self.rooms.store.clone(), self.id.clone());
        let answer: BoxFuture<'static, Input> = match question {
            Output::Load { recent_after } => {
                let config = self.rooms.room_config.clone();
                async move { stored::load_input(&*store, &id, &config.instance, recent_after).await }.boxed()
            }
            Output::Append(append) => async move { stored::append(&*store, append).await }.boxed(),
            Output::ReadTail { ticket, after, limit } => {
                async move { stored::tail(&*store, &id, ticket, after, limit).await }.boxed()
            }
            Output::ReadHistory { ticket, queries } => {
                async move { stored::history(&*store, &id, ticket, queries).await }.boxed()
            }
            Output::FindCommands { ticket, commands } => {
                async move { stored::records(&*store, &id, ticket, commands).await }.boxed()
            }
            Output::Render { document, event_id } => {
                let rendering = tokio::task::spawn_blocking(move || Rendered::of(&document, event_id));
                async move { Input::Rendered(rendering.await.ok().flatten().map(Box::new)) }.boxed()
            }
            Output::Judge { ticket, query } => {
                let judge = self.rooms.judge.clone();
                async move { Input::Judged { ticket, judgement: judge.judge(query).await } }.boxed()
            }
            _ => return,
        };
        self.pending.push(answer);
    }

    fn notify(&self, notice: WorkNotice) {
        // A server that routes no work has dropped the receiver.
        let _ = self.rooms.work.send(notice);
    }

    fn send(&mut self, client: ClientId, text: String) {
        let is_gone = self.clients.get(&client).is_some_and(|known| !known.outbox.send(Utf8Bytes::from(text)));
        if is_gone {
            self.forget(client);
        }
    }

    fn show(&mut self, clients: &[ClientId], from: Version, text: String) {
        let frame = Utf8Bytes::from(text);
        for client in clients {
            let Some(known) = self.clients.get_mut(client).filter(|known| !known.is_stalled) else { continue };
            match known.outbox.offer(frame.clone()) {
                Offered::Queued => {}
                Offered::Closed => self.forget(*client),
                Offered::Full => {
                    known.is_stalled = true;
                    self.follow_ups.push(Input::Lagging { client: *client, from });
                    self.wake_when_drained(*client);
                }
            }
        }
    }

    fn wake_when_drained(&self, client: ClientId) {
        let (Some(known), report_to) = (self.clients.get(&client), self.report_to.clone()) else { return };
        known.outbox.when_drained(move || {
            if let Some(report_to) = report_to.upgrade() {
                // The room may have ended: then there is nobody to catch up.
                let _ = report_to.send(Message::Input(Input::CaughtUp { client }));
            }
        });
    }

    fn tell(&mut self, clients: &[ClientId], text: String) {
        let frame = Utf8Bytes::from(text);
        for known in clients.iter().filter_map(|client| self.clients.get(client)) {
            known.outbox.offer(frame.clone());
        }
    }

    fn forget(&mut self, client: ClientId) {
        self.clients.remove(&client);
        self.follow_ups.push(Input::Unsubscribe { client });
    }
}

async fn sleep(wake_at: Option<Millis>, now: Millis) {
    match wake_at {
        Some(at) => tokio::time::sleep(Duration::from_millis(at.saturating_sub(now))).await,
        None => std::future::pending().await,
    }
}

fn entropy() -> [u8; 32] {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).expect("the operating system has entropy");
    bytes
}
