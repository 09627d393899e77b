//! Test scene: a room, a disk that answers immediately unless held, and all messages sent to clients.

mod clients;
mod commands;
mod comms;
mod faults;
mod followers;
mod judging;
mod kernels;
mod late;
mod maintenance;
mod reactive;
mod rendering;
mod surprises;
mod unposted;

use std::collections::BTreeMap;
use std::sync::Arc;

use notarium_core::{
    Actor, AgentId, Authority, Epoch, JudgementQuery, Millis, RawJson, Rejection, RejectionCode, Role, Scope, UserId,
    Version,
};
use notarium_wire::{
    AckMessage, CommandMessage, ErrorCode, LastEvent, ServerMessage, SubscribeMessage, UnconfirmedText,
};

use crate::RoomConfig;
use crate::io::{AppendFailure, Caller, ClientId, ClientInput, Identity, Input, Output, ReplyTo, Submission, Ticket};
use crate::room::Room;
use crate::simulation::{Disk, context_notebook, harmless, named, rendered};

pub(crate) const CREATE: &str = r#"{"CreateNotebook":{"title":"T","metadata":{}}}"#;
pub(crate) const INSERT: &str = r#"{"InsertCell":{"cell_id":"a","cell_type":"code"}}"#;
pub(crate) const LAUNCH: &str = r#"{"LaunchKernel":{}}"#;

pub(crate) struct Scene {
    pub room: Room,
    pub now: Millis,
    pub disk: Disk,
    /// Questions to the disk that wait while it is held.
    pub is_held: bool,
    pub held: Vec<Output>,
    /// Questions to the judge that wait while it is held; otherwise the judge finds nothing.
    pub is_judge_held: bool,
    pub to_judge: Vec<(Ticket, JudgementQuery)>,
    /// Failure of the next append.
    pub failure: Option<AppendFailure>,
    sent: BTreeMap<ClientId, Vec<ServerMessage>>,
    pub answers: Vec<Result<AckMessage, Rejection>>,
    pub others: Vec<Output>,
    /// Number of clients of each events frame.
    pub shared: Vec<usize>,
    commands: u64,
}

pub(crate) fn user(name: &str) -> Arc<Identity> {
    let actor = Actor::User { id: UserId::new(name).unwrap() };
    let (name, connection) = (name.to_owned(), format!("{name}-1"));
    Arc::new(Identity { actor, authority: Authority::session(), name, connection })
}

pub(crate) fn with_role(name: &str, role: Role) -> Arc<Identity> {
    let authority = Authority { ambient_role: Some(role), ..Authority::session() };
    Arc::new(Identity { authority, ..(*user(name)).clone() })
}

pub(crate) fn without_scopes(name: &str, scopes: &[Scope]) -> Arc<Identity> {
    let scopes = scopes.iter().copied().collect();
    let authority = Authority { ambient_role: Some(Role::Editor), scopes, ..Authority::default() };
    Arc::new(Identity { authority, ..(*user(name)).clone() })
}

pub(crate) fn agent() -> Arc<Identity> {
    let actor = Actor::Agent { id: AgentId::new("gpu").unwrap() };
    Arc::new(Identity { actor, authority: Authority::agent(), name: "gpu".into(), connection: "gpu-1".into() })
}

/// Anna's assistant, with the authority of the server's assistants' host.
pub(crate) fn assistant() -> Arc<Identity> {
    let actor = Actor::Assistant { for_user: UserId::new("anna").unwrap(), conversation: "talk".parse().unwrap() };
    let authority = Authority { reactor: Some(Default::default()), ..Authority::session() };
    Arc::new(Identity { actor, authority, ..(*user("anna")).clone() })
}

pub(crate) fn edit(base: Version, change: &str) -> String {
    format!(r#"{{"EditSource":{{"cell_id":"a","base":{base},"change":{change}}}}}"#)
}

impl Scene {
    /// Creates a room whose notebook does not exist yet.
    pub(crate) fn empty(config: RoomConfig) -> Self {
        let (room, outputs) = Room::new(context_notebook(), Arc::new(config), [1; 32]);
        let mut scene = Self {
            room,
            now: 1_000_000,
            disk: Disk::default(),
            is_held: false,
            held: Vec::new(),
            is_judge_held: false,
            to_judge: Vec::new(),
            failure: None,
            sent: BTreeMap::new(),
            answers: Vec::new(),
            others: Vec::new(),
            shared: Vec::new(),
            commands: 0,
        };
        scene.perform(outputs);
        scene
    }

    /// Creates Anna's notebook with the empty cell `a`, at version 2.
    pub(crate) fn new(config: RoomConfig) -> Self {
        let mut scene = Self::empty(config);
        scene.execute("anna", CREATE).unwrap();
        scene.execute("anna", INSERT).unwrap();
        scene.others.clear();
        scene
    }

    /// Restarts the server abruptly on the same disk.
    pub(crate) fn restarted(self, config: RoomConfig) -> Self {
        let mut scene = Self::empty(config);
        scene.disk = self.disk;
        let (room, outputs) = Room::new(context_notebook(), scene.room.config.clone(), [2; 32]);
        scene.room = room;
        scene.commands = self.commands + 1_000;
        scene.perform(outputs);
        scene
    }

    /// Restarts the server when no lease can be taken, for this reason.
    pub(crate) fn without_lease(mut self, config: RoomConfig, reason: &str) -> Self {
        self.disk.no_lease = Some(reason.to_owned());
        self.restarted(config)
    }

    pub(crate) fn feed(&mut self, input: Input) {
        let outputs = self.room.handle(self.now, input);
        self.perform(outputs);
    }

    pub(crate) fn advance(&mut self, time: Millis) {
        let end = self.now + time;
        while let Some(at) = self.room.wake_at(self.now).filter(|at| *at <= end) {
            self.now = at.max(self.now + 1);
            self.feed(Input::Tick);
        }
        self.now = self.now.max(end);
        self.feed(Input::Tick);
    }

    fn perform(&mut self, outputs: Vec<Output>) {
        for output in outputs {
            match output {
                Output::Send { client, text } | Output::Reply { client, text, .. } => self.deliver(client, &text),
                Output::Subscribed { client, text } => self.deliver(client, &text.to_string()),
                Output::Presence { clients, text } => clients.iter().for_each(|client| self.deliver(*client, &text)),
                Output::Events { clients, text, .. } => {
                    self.shared.push(clients.len());
                    clients.iter().for_each(|client| self.deliver(*client, &text));
                }
                Output::Answer { answer, .. } => self.answers.push(answer),
                Output::Judge { ticket, query } if self.is_judge_held => self.to_judge.push((ticket, query)),
                question @ (Output::Load { .. }
                | Output::Append(_)
                | Output::ReadTail { .. }
                | Output::ReadHistory { .. }
                | Output::FindCommands { .. }
                | Output::Render { .. }
                | Output::ReadNames { .. }
                | Output::Judge { .. }) => {
                    if self.is_held {
                        self.held.push(question);
                    } else {
                        self.answer(question);
                    }
                }
                other => self.others.push(other),
            }
        }
    }

    fn deliver(&mut self, client: ClientId, text: &str) {
        self.sent.entry(client).or_default().push(serde_json::from_str(text).unwrap());
    }

    fn answer(&mut self, question: Output) {
        let input = match question {
            Output::Load { recent_after } => self.disk.loaded(recent_after).unwrap(),
            Output::Append(append) => match self.failure.take() {
                Some(failure) => Input::AppendFailed(failure),
                None => self.disk.append(append).map_or_else(Input::AppendFailed, |()| Input::Appended),
            },
            Output::ReadTail { ticket, after, limit } => {
                Input::Past { ticket, past: Ok(self.disk.read(after, limit).into()) }
            }
            Output::ReadHistory { ticket, queries } => Input::Past { ticket, past: Ok(self.disk.history(&queries)) },
            Output::FindCommands { ticket, commands } => {
                let records = commands.iter().filter_map(|(actor, id)| self.disk.command(actor, id)).collect();
                Input::Commands { ticket, records: Ok(records) }
            }
            Output::Render { document, event_id } => rendered(&document, event_id),
            Output::Judge { ticket, query } => Input::Judged { ticket, judgement: Some(harmless(query)) },
            Output::ReadNames { texts } => named(texts),
            other => panic!("{other:?} is no question"),
        };
        self.feed(input);
    }

    /// Answers held questions; returns their number.
    pub(crate) fn release(&mut self) -> usize {
        let held = std::mem::take(&mut self.held);
        let count = held.len();
        held.into_iter().for_each(|question| self.answer(question));
        count
    }

    // --- actions of people ---

    pub(crate) fn message(&mut self, body: &str) -> CommandMessage {
        self.commands += 1;
        self.named(&format!("command{}", self.commands), body)
    }

    pub(crate) fn named(&self, id: &str, body: &str) -> CommandMessage {
        CommandMessage {
            id: id.parse().unwrap(),
            notebook: context_notebook(),
            expected_version: None,
            correlation_id: None,
            body: RawJson::parse(body).unwrap(),
        }
    }

    pub(crate) fn send(&mut self, client: u64, identity: &Arc<Identity>, body: &str) {
        let message = self.message(body);
        self.send_message(client, identity, message);
    }

    pub(crate) fn send_message(&mut self, client: u64, identity: &Arc<Identity>, message: CommandMessage) {
        let reply_to = ReplyTo::Client(ClientId(client));
        self.feed(Input::Command(Submission::where_all_are_active(identity.clone(), message, reply_to)));
    }

    pub(crate) fn execute(&mut self, name: &str, body: &str) -> Result<AckMessage, Rejection> {
        let message = self.message(body);
        self.execute_message(&user(name), message)
    }

    pub(crate) fn execute_message(
        &mut self,
        identity: &Arc<Identity>,
        message: CommandMessage,
    ) -> Result<AckMessage, Rejection> {
        self.now += 100;
        let reply_to = ReplyTo::Caller(Caller::new(drop));
        self.feed(Input::Command(Submission::where_all_are_active(identity.clone(), message, reply_to)));
        self.answers.pop().expect("an answer")
    }

    /// Executes a command that follows from a state read in this epoch.
    pub(crate) fn execute_in_epoch(&mut self, epoch: Epoch, name: &str, body: &str) -> Result<AckMessage, Rejection> {
        let reply_to = ReplyTo::Caller(Caller::new(drop));
        let mut submission = Submission::where_all_are_active(user(name), self.message(body), reply_to);
        submission.facts.epoch = Some(epoch);
        self.feed(Input::Command(submission));
        self.answers.pop().expect("an answer")
    }

    pub(crate) fn refused(&mut self, name: &str, body: &str) -> RejectionCode {
        self.execute(name, body).unwrap_err().code
    }

    pub(crate) fn subscribe(&mut self, client: u64, identity: &Arc<Identity>, since: Option<Version>) {
        self.subscribe_with(client, identity, since, &[]);
    }

    pub(crate) fn subscribe_with(
        &mut self,
        client: u64,
        identity: &Arc<Identity>,
        since: Option<Version>,
        unconfirmed: &[(&str, Version)],
    ) {
        let cell = |(id, base): &(&str, Version)| UnconfirmedText { cell_id: id.parse().unwrap(), base: *base };
        let unconfirmed = unconfirmed.iter().map(cell).collect();
        let since = since.map(|version| self.last_event(version));
        let message = SubscribeMessage { notebook: context_notebook(), since, unconfirmed };
        self.feed(Input::Client(ClientId(client), ClientInput::Subscribe { identity: identity.clone(), message }));
    }

    /// Returns the event at a version, as a client names it; an invented one if the log has none.
    pub(crate) fn last_event(&self, version: Version) -> LastEvent {
        let found = self.disk.events.iter().find(|stored| stored.envelope.version == version);
        let event_id = found.map_or_else(|| "elsewhere".parse().unwrap(), |stored| stored.envelope.id.clone());
        LastEvent { version, event_id }
    }

    // --- messages to people ---

    /// Returns the messages since the last call.
    pub(crate) fn seen(&mut self, client: u64) -> Vec<ServerMessage> {
        self.sent.remove(&ClientId(client)).unwrap_or_default()
    }

    /// Returns the messages since the last call in short words.
    pub(crate) fn words(&mut self, client: u64) -> Vec<String> {
        self.seen(client).iter().map(in_words).collect()
    }

    /// Returns the messages since the last call in short words, without ephemeral ones.
    pub(crate) fn durable(&mut self, client: u64) -> Vec<String> {
        let is_durable = |message: &&ServerMessage| {
            !matches!(message, ServerMessage::Presence { .. } | ServerMessage::Kernels { .. })
        };
        self.seen(client).iter().filter(is_durable).map(in_words).collect()
    }
}

fn in_words(message: &ServerMessage) -> String {
    match message {
        ServerMessage::Subscribed(it) => {
            let snapshot = if it.snapshot.is_some() { " with state" } else { "" };
            let diverged = if it.diverged { ", diverged" } else { "" };
            format!("subscribed {}{snapshot}{diverged}", it.version)
        }
        ServerMessage::Events(it) => format!("events {}..{}", it.from, it.from + it.events.len() as u64 - 1),
        ServerMessage::Ack(it) => format!("ack {}", it.version),
        ServerMessage::Reject(it) => format!("reject {:?}", it.code),
        ServerMessage::Presence { peers, left, .. } => {
            let peers: Vec<&str> = peers.iter().map(|peer| peer.name.as_str()).collect();
            format!("presence {peers:?} left {left:?}")
        }
        ServerMessage::Kernels { kernels, .. } => {
            let kernels: Vec<_> = kernels.iter().map(|kernel| (kernel.reachable, kernel.busy)).collect();
            format!("kernels {kernels:?}")
        }
        ServerMessage::Access { role, .. } => format!("access {role:?}"),
        ServerMessage::Resync { .. } => "resync".to_owned(),
        ServerMessage::InputValue { value, .. } => format!("input {value}"),
        ServerMessage::Error(it) => format!("error {:?}", it.code),
        other => format!("{other:?}"),
    }
}

pub(crate) fn error(code: ErrorCode) -> Vec<String> {
    vec![format!("error {code:?}")]
}
