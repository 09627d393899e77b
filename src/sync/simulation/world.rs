//! The world: virtual time, connections that break, a server that crashes, and the schedule of all events.

mod assistant;
mod server;
mod watch;

use std::collections::BTreeMap;
use std::sync::Arc;

use notarium_core::{
    Actor, Append, Authority, Command, CommandId, Context, History, IdSource, Limits, Millis, Version, decide,
};
use notarium_wire::{CommandMessage, PresenceState, ServerMessage, SubscribeMessage};

use super::agent::Agent;
use super::assistant::Assistant;
use super::audit::Audit;
use super::chance::Chance;
use super::disk::{Disk, context_notebook, judged, named, rendered};
use super::editor::{Editor, Judgement};
use super::fault::{Fault, FaultyRoom};
use super::happenings::{Connection, Happening, Sent};
use super::totals::Totals;
use super::wishes::{EDITORS, creation, people, welcome_all};
use crate::RoomConfig;
use crate::io::{AppendFailure, ClientId, ClientInput, Identity, Input, Output, ReplyTo, Submission};

/// Duration of faults; afterwards everything recovers.
const CHAOS_MS: Millis = 12_000;
/// Time by which all actors must be finished.
const END_MS: Millis = CHAOS_MS + 40_000;
/// Index of the agent among the actors.
const AGENT: usize = EDITORS;
/// Maximum number of event frames in flight to one client; more are dropped.
const QUEUE_FRAMES: usize = 2;

pub(crate) struct World {
    seed: u64,
    fault: Option<Fault>,
    pub chance: Chance,
    pub now: Millis,
    happenings: BTreeMap<(Millis, u64), Happening>,
    count: u64,
    config: Arc<RoomConfig>,
    room: Option<FaultyRoom>,
    /// Number of runs of the server.
    life: u64,
    appending: Option<Append>,
    ticks_at: Option<Millis>,
    pub disk: Disk,
    connections: BTreeMap<u64, Connection>,
    pub editors: Vec<Editor>,
    pub agent: Agent,
    agent_lives: u64,
    is_calm: bool,
    /// Number of processes of the server.
    process: u64,
    assistant: Assistant,
    busy_since: Option<Millis>,
    wakes_at: Option<Millis>,
    pub audit: Audit,
    /// Violation found in the current step.
    broken: Option<String>,
    totals: Totals,
}

impl World {
    pub(crate) fn new(seed: u64, fault: Option<Fault>) -> Self {
        let mut chance = Chance::new(seed);
        let config = RoomConfig {
            max_recent_events: chance.index(20) + 1,
            max_cell_change_bytes: chance.index(40) * 60,
            max_recent_answers: chance.index(6),
            max_tail_events: [5, 200][chance.index(2)],
            max_batch_commands: chance.index(8) + 1,
            snapshot_events: chance.below(30) + 1,
            lease_ms: 4_000,
            unreachable_after_ms: 500,
            unload_after_ms: 300,
            idle_ms: 200,
            retry_load_ms: 50,
            catalog_delay_ms: 500,
            presence_ttl_ms: 1_000,
            limits: Limits { tool_call_expiry_ms: 3_000, ..Limits::default() },
            ..RoomConfig::default()
        };
        Self {
            seed,
            fault,
            chance,
            now: 1_000_000,
            happenings: BTreeMap::new(),
            count: 0,
            config: Arc::new(config),
            room: None,
            life: 0,
            appending: None,
            ticks_at: None,
            disk: Disk::default(),
            connections: BTreeMap::new(),
            editors: people().enumerate().map(|(number, actor)| Editor::new(actor, &format!("user{number}"))).collect(),
            agent: Agent::new(0),
            agent_lives: 0,
            is_calm: false,
            process: 0,
            assistant: Assistant::new(RoomConfig::default().instance),
            busy_since: None,
            wakes_at: None,
            audit: Audit::new(),
            broken: None,
            totals: Totals::default(),
        }
    }

    /// Runs the whole story. The error is a violation.
    pub(crate) fn run(mut self) -> Result<Totals, String> {
        self.plan();
        let end = self.now + END_MS;
        while let Some(((at, _), happening)) = self.happenings.pop_first() {
            if at > end {
                break;
            }
            self.now = at;
            self.happen(happening)
                .and_then(|()| self.check_step())
                .map_err(|reason| format!("at {} ms: {reason}", self.now - 1_000_000))?;
        }
        self.check_end()?;
        self.totals.count_events(&self.disk.events);
        Ok(self.totals)
    }

    fn plan(&mut self) {
        self.editors[0].replica.command(&creation(), None);
        for actor in 0..=AGENT {
            let delay = self.chance.below(300);
            self.after(delay, Happening::Connect(actor));
        }
        for _ in 0..90 {
            let (delay, actor) = (self.chance.below(CHAOS_MS), self.chance.index(EDITORS));
            self.after(delay, Happening::Act(actor));
        }
        for step in 0..60 {
            self.after(step * (CHAOS_MS / 60), Happening::Act(AGENT));
        }
        for _ in 0..self.chance.below(6) {
            let (delay, actor) = (self.chance.below(CHAOS_MS), self.chance.index(AGENT + 1));
            self.after(delay, Happening::Break(actor));
        }
        for _ in 0..self.chance.below(3) {
            let delay = self.chance.below(CHAOS_MS);
            self.after(delay, Happening::Crash);
        }
        if self.chance.percent(40) {
            let delay = self.chance.below(CHAOS_MS);
            self.after(delay, Happening::AgentDies);
        }
        self.after(CHAOS_MS, Happening::Calm);
    }

    fn after(&mut self, delay: Millis, happening: Happening) {
        self.at(self.now + delay, happening);
    }

    fn at(&mut self, at: Millis, happening: Happening) {
        self.count += 1;
        self.happenings.insert((at, self.count), happening);
    }

    fn happen(&mut self, happening: Happening) -> Result<(), String> {
        match happening {
            Happening::ToServer { connection, sent } => self.reach_server(connection, sent),
            Happening::ToClient { connection, text, is_events } => {
                return self.reach_client(connection, &text, is_events);
            }
            Happening::Disk { life, question } if life == self.life => self.answer(question),
            Happening::Tick { life } if life == self.life => {
                self.ticks_at = None;
                self.feed(Input::Tick);
            }
            Happening::Wake { process } if process == self.process => self.assist(),
            Happening::Step { process, step } if process == self.process => self.take_step(step),
            Happening::Disk { .. } | Happening::Tick { .. } | Happening::Wake { .. } | Happening::Step { .. } => {}
            Happening::Act(actor) => self.act(actor),
            Happening::Connect(actor) => self.connect(actor),
            Happening::Break(actor) => self.disconnect(actor),
            Happening::Crash => self.crash(),
            Happening::AgentDies => self.kill_agent(),
            Happening::Calm => self.calm_down(),
            Happening::Welcome => self.welcome_everybody(),
        }
        Ok(())
    }

    // --- actors ---

    fn act(&mut self, actor: usize) {
        let commands = match actor {
            AGENT => self.agent.act(&mut self.chance, self.is_calm),
            actor => self.editors[actor].act(&mut self.chance, self.now),
        };
        self.send_commands(actor, commands);
        if self.is_calm {
            self.after(400, Happening::Act(actor));
        } else if self.chance.percent(20) {
            self.send(actor, Sent::Presence(PresenceState { typing: true, ..PresenceState::default() }));
        }
    }

    fn connection_of(&self, actor: usize) -> Option<u64> {
        match actor {
            AGENT => self.agent.replica.connection,
            actor => self.editors[actor].replica.connection,
        }
    }

    fn send_commands(&mut self, actor: usize, commands: Vec<CommandMessage>) {
        for command in commands {
            self.audit.hear(&command);
            let is_doubled = !self.is_calm && self.chance.percent(5);
            if is_doubled {
                self.totals.count("retry");
                self.send(actor, Sent::Command(command.clone()));
            }
            self.send(actor, Sent::Command(command));
        }
    }

    fn send(&mut self, actor: usize, sent: Sent) {
        let delay = self.chance.below(if self.is_calm { 5 } else { 80 });
        let Some(number) = self.connection_of(actor) else { return };
        let Some(connection) = self.connections.get_mut(&number) else { return };
        let at = connection.to_server_at.max(self.now + delay);
        connection.to_server_at = at;
        self.at(at, Happening::ToServer { connection: number, sent });
    }

    /// Connects: subscribes, and then sends all unanswered commands again.
    fn connect(&mut self, actor: usize) {
        if self.connection_of(actor).is_some() {
            return;
        }
        self.count += 1;
        let number = self.count;
        let (subscription, pending, identity) = self.introduce(actor, number);
        let now = self.now;
        let slowness = if self.chance.percent(25) { 1_500 } else { 120 };
        self.connections.insert(
            number,
            Connection {
                actor,
                identity,
                to_server_at: now,
                to_client_at: now,
                events_on_the_way: 0,
                is_stalled: false,
                is_reported: false,
                slowness,
            },
        );
        let creates_first = actor == 0 && subscription.since.is_none();
        if creates_first {
            self.send_commands(actor, pending.clone());
        }
        self.send(actor, Sent::Subscribe(subscription));
        if !creates_first {
            pending.iter().for_each(|_| self.totals.count("retry"));
            self.send_commands(actor, pending);
        }
    }

    fn introduce(&mut self, actor: usize, number: u64) -> (SubscribeMessage, Vec<CommandMessage>, Arc<Identity>) {
        let (subscription, replica) = match actor {
            AGENT => {
                self.agent.reconnected();
                self.agent.replica.is_subscribed = false;
                (self.agent.replica.subscription(Vec::new()), &mut self.agent.replica)
            }
            actor => {
                let editor = &mut self.editors[actor];
                editor.is_resync = false;
                (editor.subscription(), &mut editor.replica)
            }
        };
        replica.connection = Some(number);
        (subscription, replica.pending.clone(), replica.identity.clone())
    }

    /// Breaks the connection and drops messages in flight. The client reconnects later.
    fn disconnect(&mut self, actor: usize) {
        let Some(number) = self.connection_of(actor) else { return };
        let replica = if actor == AGENT { &mut self.agent.replica } else { &mut self.editors[actor].replica };
        replica.connection = None;
        replica.is_subscribed = false;
        self.connections.remove(&number);
        let is_closed = self.chance.percent(50);
        let end = if is_closed { ClientInput::Unsubscribe } else { ClientInput::Gone };
        self.feed(Input::Client(ClientId(number), end));
        let delay = self.chance.below(if self.is_calm { 50 } else { 3_000 });
        self.after(delay, Happening::Connect(actor));
    }

    /// Kills the agent process with its kernels; a new one connects later.
    fn kill_agent(&mut self) {
        self.disconnect(AGENT);
        self.agent_lives += 1;
        self.agent = Agent::new(self.agent_lives);
        let delay = self.chance.below(8_000);
        self.after(delay, Happening::Connect(AGENT));
    }

    fn calm_down(&mut self) {
        self.is_calm = true;
        self.after(0, Happening::Welcome);
        for actor in 0..=AGENT {
            self.connect(actor);
            if actor == AGENT {
                self.after(100, Happening::Act(actor));
            }
        }
        self.after(10_000, Happening::Break(0));
    }

    /// Grants roles after all earlier commands of the owner are answered, as a retry could be applied later.
    fn welcome_everybody(&mut self) {
        if !self.editors[0].replica.pending.is_empty() {
            return self.after(100, Happening::Welcome);
        }
        let welcome = self.editors[0].replica.command(&welcome_all(), None);
        self.send_commands(0, vec![welcome]);
    }

    fn reach_client(&mut self, number: u64, text: &str, is_events: bool) -> Result<(), String> {
        let Some(connection) = self.connections.get_mut(&number) else { return Ok(()) };
        let actor = connection.actor;
        if is_events {
            connection.events_on_the_way -= 1;
        }
        let has_drained = connection.is_stalled && connection.events_on_the_way == 0;
        if has_drained && !std::mem::replace(&mut connection.is_reported, true) {
            self.feed(Input::CaughtUp { client: ClientId(number) });
        }
        let message: ServerMessage = serde_json::from_str(text).map_err(|error| format!("{error}: {text}"))?;
        if matches!(message, ServerMessage::Resync { .. }) {
            self.totals.count("resync");
        }
        if matches!(message, ServerMessage::Access { role: None, .. }) {
            self.shut_out(actor);
        }
        if let ServerMessage::Error(error) = &message {
            return self.take_error(actor, error.code);
        }
        self.count_gap(&message);
        let is_unavailable = matches!(&message, ServerMessage::Reject(reject) if reject.code == notarium_core::RejectionCode::Unavailable);
        if actor != AGENT {
            match self.editors[actor].judge(&message) {
                Judgement::Take => {}
                Judgement::Ignore => return Ok(()),
                Judgement::AskAgain => {
                    let subscription = self.editors[actor].subscription();
                    self.send(actor, Sent::Subscribe(subscription));
                    return Ok(());
                }
            }
        }
        let commands = match actor {
            AGENT => self.agent.take(message)?,
            actor => self.editors[actor].take(message)?,
        };
        self.send_commands(actor, commands);
        if actor != AGENT && self.editors[actor].must_subscribe {
            self.totals.count("base too old");
            let subscription = self.editors[actor].subscription();
            self.send(actor, Sent::Subscribe(subscription));
        }
        if is_unavailable {
            self.after(100, Happening::Break(actor));
        }
        Ok(())
    }

    /// Notes that the client lost access; it reconnects later.
    fn shut_out(&mut self, actor: usize) {
        self.totals.count("shut out");
        if actor != AGENT {
            self.editors[actor].replica.is_subscribed = false;
        }
        self.after(300, Happening::Break(actor));
    }

    /// Handles an error by a later reconnect. An unknown version is a violation.
    fn take_error(&mut self, actor: usize, code: notarium_wire::ErrorCode) -> Result<(), String> {
        use notarium_wire::ErrorCode as E;
        match code {
            E::UnknownNotebook if self.disk.events.is_empty() || !self.is_calm => {}
            // Expected until everybody has a role again.
            E::UnknownNotebook if (1..EDITORS).contains(&actor) && self.now < 1_000_000 + CHAOS_MS + 20_000 => {}
            E::Unavailable => {}
            code => return Err(format!("actor {actor} got {code:?}")),
        }
        self.after(100, Happening::Break(actor));
        Ok(())
    }

    // --- server ---

    fn reach_server(&mut self, number: u64, sent: Sent) {
        let Some(connection) = self.connections.get(&number) else { return };
        let (client, identity) = (ClientId(number), connection.identity.clone());
        let input = match sent {
            Sent::Subscribe(message) => Input::Client(client, ClientInput::Subscribe { identity, message }),
            Sent::Command(message) => {
                Input::Command(Submission::where_all_are_active(identity, message, ReplyTo::Client(client)))
            }
            Sent::Presence(state) => Input::Client(client, ClientInput::Presence(state)),
        };
        self.feed(input);
    }

    fn feed(&mut self, input: Input) {
        if self.room.is_none() {
            if matches!(
                input,
                Input::Client(_, ClientInput::Unsubscribe | ClientInput::Gone | ClientInput::Presence(_))
                    | Input::Tick
                    | Input::CaughtUp { .. }
            ) {
                return;
            }
            let entropy = self.chance.bytes();
            let (room, outputs) = FaultyRoom::new(self.fault, self.config.clone(), entropy);
            self.room = Some(room);
            self.life += 1;
            self.ticks_at = None;
            self.perform(outputs);
        }
        let Some(room) = &mut self.room else { return };
        let outputs = room.handle(self.now, input);
        self.perform(outputs);
        self.plan_tick();
    }

    pub(crate) fn seed(&self) -> u64 {
        self.seed
    }

    /// Returns true if the server has no pending decisions.
    pub(crate) fn is_idle(&self) -> bool {
        self.room.as_ref().is_none_or(FaultyRoom::is_idle)
    }
}
