//! The task of one room: takes what comes, asks the pure room, does what it says.

use std::collections::HashSet;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use futures_util::stream::{FuturesUnordered, StreamExt};
use notarium_core::{Millis, Notebook, NotebookId, Past, Version};
use notarium_sync::{Caller, ClientId, Input, Output, Rendered, ReplyTo, Room};
use tokio::sync::{OwnedSemaphorePermit, mpsc};

use super::frame::Frame;
use super::outbox::Offered;
use super::stored::failure;
use super::{Rooms, WorkNotice, projections, stored};

/// Inputs that the room gets in one call.
const MAX_INPUTS: usize = 256;
/// Bytes of undecided commands above which the inbox is left to fill.
const MAX_BACKLOG_BYTES: usize = 8 << 20;
/// What a room's inbox holds.
pub(super) struct Message {
    /// In a box: a queue takes the memory of 32 messages when it is made, and each open room has two.
    pub(super) input: Box<Input>,
    /// Its share of the inbox, given back when it is taken out.
    pub(super) permit: Option<OwnedSemaphorePermit>,
}

impl Message {
    /// Whether it means something to a room that is opened for it.
    pub(super) fn outlives_the_room(&self) -> bool {
        matches!(*self.input, Input::Subscribe { .. } | Input::Command(_) | Input::Read { .. })
    }
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
    /// Clients that an events frame did not fit for: nothing but answers until they are subscribed again.
    stalled: HashSet<ClientId>,
    /// Connections that follow, or have sent a command.
    clients: HashSet<ClientId>,
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
    ) -> Box<Self> {
        let (room, outputs) = Room::new(id.clone(), rooms.room_config.clone(), entropy());
        let mut task = Box::new(Self {
            rooms,
            id,
            room,
            messages,
            urgent,
            report_to,
            pending: FuturesUnordered::new(),
            stalled: HashSet::new(),
            clients: HashSet::new(),
            follow_ups: Vec::new(),
            is_unloaded: false,
        });
        task.perform(outputs);
        task
    }

    /// Until the room is unloaded, or a fault ends it: then another room takes its place.
    pub(super) async fn run(mut self: Box<Self>) {
        let has_failed = AssertUnwindSafe(self.work()).catch_unwind().await.is_err();
        if has_failed {
            self.turn_away().await;
        }
        self.rooms.retire(&self.id, &mut self.messages, &mut self.urgent);
        if has_failed && !self.rooms.is_stopping.load(Ordering::SeqCst) {
            // Leases and expiries run in an open room alone.
            self.rooms.open(&self.id);
        }
    }

    /// Nobody knows what of the room's state is good. Its clients connect again, and send again what was not answered.
    async fn turn_away(&mut self) {
        let pause = self.rooms.faults.add(&self.id);
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

    async fn work(&mut self) {
        while !self.is_unloaded {
            let first = self.next_input().await;
            let inputs = self.more_inputs(first);
            self.handle(inputs);
            while !self.follow_ups.is_empty() {
                let inputs = std::mem::take(&mut self.follow_ups);
                self.handle(inputs);
            }
        }
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
        self.taken(message)
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
            inputs.push(self.taken(message));
        }
        inputs
    }

    fn taken(&mut self, message: Message) -> Input {
        let Message { input, permit } = message;
        drop(permit);
        match &*input {
            Input::Unsubscribe { client } => {
                self.stalled.remove(client);
                self.clients.remove(client);
            }
            Input::Subscribe { client, .. } => _ = self.clients.insert(*client),
            Input::Command(submission) => {
                #[cfg(test)]
                assert_ne!(submission.message.id.as_str(), super::tests::FAULT, "a planted fault");
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
            Output::Reply { client, text } => {
                self.send(client, text);
                if let Some(outbox) = self.rooms.clients.outbox(client) {
                    outbox.answered();
                }
            }
            Output::Subscribed { client, text } => {
                self.stalled.remove(&client);
                self.send(client, text);
            }
            Output::Events { clients, from, text } => self.show(&clients, from, text),
            Output::Presence { clients, text } => self.show_presence(&clients, text),
            // Its commands are still answered.
            Output::Forget { .. } => {}
            Output::Answer { caller, answer } => caller.answer(answer),
            Output::State { caller, state } => caller.answer(state),
            Output::WorkWanted { kernel_session, kernelspec } => {
                self.notify(|notebook| WorkNotice::Wanted { notebook, kernel_session, kernelspec });
            }
            Output::WorkSettled { kernel_session } => {
                self.notify(|notebook| WorkNotice::Settled { notebook, kernel_session });
            }
            Output::WriteSnapshot { notebook, head } => {
                let store = self.rooms.store.clone();
                self.rooms.tasks.spawn(projections::write_snapshot(store, notebook, head));
            }
            Output::ListLacks { actors } => self.rooms.behind.note(&self.id, &actors),
            Output::UpdateCatalog { notebook } => self.update_catalog(notebook),
            Output::Listed { caller } => self.answer_when_listed(caller),
            Output::WakeAssistants { version } => {
                self.notify(|notebook| WorkNotice::Assistants { notebook, version });
            }
            Output::Unload => self.unload(),
            question => self.ask(question),
        }
    }

    fn update_catalog(&self, notebook: Arc<Notebook>) {
        let rooms = self.rooms.clone();
        self.rooms.behind.write(&self.id, |moment| {
            let writing = self.rooms.tasks.spawn(async move {
                let id = notebook.notebook_id.clone();
                projections::update_catalog(rooms.store.clone(), &rooms.usage, notebook).await;
                rooms.behind.wrote(&id, moment);
            });
            writing.map(drop).boxed()
        });
    }

    fn answer_when_listed(&self, caller: Caller<()>) {
        match self.rooms.behind.writing(&self.id) {
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

    /// What the store, or the judge, answers.
    fn ask(&self, question: Output) {
        let (store, id) = (self.rooms.store.clone(), self.id.clone());
        let answer: BoxFuture<'static, Input> = match question {
            Output::Load { recent_after } => {
                let (config, max_gap) = (self.rooms.room_config.clone(), self.rooms.max_snapshot_gap);
                async move { stored::load_input(&*store, &id, &config.instance, recent_after, max_gap).await }.boxed()
            }
            Output::Append(append) => {
                let usage = self.rooms.usage.clone();
                async move { stored::append(&*store, &usage, append).await }.boxed()
            }
            Output::ReadTail { ticket, after, limit } => {
                let read = async move { store.read(&id, after, limit).await.map(Past::from) };
                read.map(move |past| Input::Past { ticket, past: past.map_err(failure) }).boxed()
            }
            Output::ReadHistory { ticket, queries } => {
                let read = async move { stored::history(&*store, &id, queries).await };
                read.map(move |past| Input::Past { ticket, past: past.map_err(failure) }).boxed()
            }
            Output::FindCommands { ticket, commands } => {
                let read = async move { stored::records(&*store, &id, commands).await };
                read.map(move |records| Input::Commands { ticket, records: records.map_err(failure) }).boxed()
            }
            Output::Render { document, event_id } => {
                let rendering = tokio::task::spawn_blocking(move || Rendered::of(&document, event_id));
                async move { Input::Rendered(rendering.await.ok().flatten().map(Box::new)) }.boxed()
            }
            Output::Judge { ticket, query } => {
                let judge = self.rooms.judge.clone();
                async move { Input::Judged { ticket, judgement: judge.judge(query).await } }.boxed()
            }
            Output::ReadNames { texts } => {
                let names = self.rooms.names.clone();
                async move { Input::Names { names: names.read_all(texts).await } }.boxed()
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

    fn show(&mut self, clients: &[ClientId], from: Version, text: String) {
        let frame = Frame::from(text);
        for client in clients.iter().copied() {
            if self.stalled.contains(&client) {
                continue;
            }
            match self.offer(client, &frame) {
                Offered::Queued => {}
                Offered::Closed => self.forget(client),
                Offered::Full => {
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
                // The room may have ended: then there is nobody to catch up.
                let _ = report_to.send(Message::from(Input::CaughtUp { client }));
            }
        });
    }

    fn show_presence(&self, clients: &[ClientId], text: String) {
        let frame = Frame::from(text);
        for client in clients {
            self.offer(*client, &frame);
        }
    }

    /// The connection has ended.
    fn forget(&mut self, client: ClientId) {
        self.stalled.remove(&client);
        self.clients.remove(&client);
        self.follow_ups.push(Input::Unsubscribe { client });
    }
}

impl From<Input> for Message {
    fn from(input: Input) -> Self {
        Self { input: Box::new(input), permit: None }
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
