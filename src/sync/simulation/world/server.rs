//! Simulated server: answers its room's questions with a disk that fails and a network that breaks.

use super::*;

impl World {
    pub(super) fn plan_tick(&mut self) {
        let wake_at = self.room.as_ref().and_then(|room| room.wake_at(self.now));
        let Some(at) = wake_at.map(|at| at.max(self.now + 1)) else { return };
        if self.ticks_at.is_none_or(|planned| at < planned) {
            self.ticks_at = Some(at);
            let life = self.life;
            self.at(at, Happening::Tick { life });
        }
    }

    pub(super) fn perform(&mut self, outputs: Vec<Output>) {
        self.follow_log();
        let mut lagging = Vec::new();
        for output in outputs {
            match output {
                Output::Send { client, text } | Output::Reply { client, text, .. } => self.deliver(client, text, false),
                Output::Subscribed { client, text } => {
                    let text = text.to_string();
                    self.check_is_shown(client, &text);
                    if let Some(connection) = self.connections.get_mut(&client.0) {
                        connection.is_stalled = false;
                    }
                    self.deliver(client, text, false);
                }
                Output::Presence { clients, text } => {
                    for client in clients {
                        self.deliver(client, text.clone(), false);
                    }
                }
                Output::Events { clients, from, text } => {
                    for client in clients {
                        self.check_is_shown(client, &text);
                        lagging.extend(self.offer(client, from, &text));
                    }
                }
                Output::Unload => {
                    self.room = None;
                    self.life += 1;
                }
                Output::WakeAssistants { .. } => self.wake_assistant(self.now + 1),
                Output::State { state, .. } => self.take_state(state),
                Output::Answer { answer, .. } => self.take_answer(answer.is_ok()),
                Output::Append(append) => {
                    self.appending = Some(append.clone());
                    self.ask(Output::Append(append));
                }
                question @ (Output::Load { .. }
                | Output::ReadTail { .. }
                | Output::ReadHistory { .. }
                | Output::FindCommands { .. }
                | Output::Render { .. }
                | Output::ReadNames { .. }
                | Output::Judge { .. }
                | Output::WriteSnapshot { .. }) => self.ask(question),
                _ => {}
            }
        }
        for input in lagging {
            self.feed(input);
        }
    }

    pub(super) fn ask(&mut self, question: Output) {
        let delay = self.chance.below(if self.is_calm { 3 } else { 30 }) + 1;
        let life = self.life;
        self.after(delay, Happening::Disk { life, question });
    }

    /// Queues a frame, with the bounds of the real driver.
    pub(super) fn offer(&mut self, client: ClientId, from: Version, text: &str) -> Option<Input> {
        let connection = self.connections.get_mut(&client.0).filter(|connection| !connection.is_stalled)?;
        if connection.events_on_the_way < QUEUE_FRAMES {
            connection.events_on_the_way += 1;
            self.deliver(client, text.to_owned(), true);
            return None;
        }
        connection.is_stalled = true;
        connection.is_reported = false;
        Some(Input::Lagging { client, from })
    }

    pub(super) fn deliver(&mut self, client: ClientId, text: String, is_events: bool) {
        let Some(connection) = self.connections.get_mut(&client.0) else { return };
        let delay = self.chance.below(if self.is_calm { 5 } else { connection.slowness });
        let at = connection.to_client_at.max(self.now + delay);
        connection.to_client_at = at;
        self.at(at, Happening::ToClient { connection: client.0, text, is_events });
    }

    /// Crashes the server. An unsynced append is lost, or was synced without an answer.
    pub(super) fn crash(&mut self) {
        self.totals.count("crash");
        self.forget_assistant();
        self.room = None;
        self.life += 1;
        if let Some(append) = self.appending.take().filter(|_| self.chance.percent(50)) {
            // A conflict here means that another node was first.
            let _ = self.disk.append(append);
        }
        if self.chance.percent(20) {
            self.disk.lose_snapshots();
        }
        for actor in 0..=AGENT {
            self.disconnect(actor);
        }
    }

    // --- disk ---

    pub(super) fn answer(&mut self, question: Output) {
        let input = match question {
            Output::Append(append) => self.append(append),
            Output::Load { recent_after } => match self.disk.loaded(recent_after) {
                _ if self.fails(3) => Input::LoadFailed { reason: "the disk is tired".to_owned() },
                Ok(loaded) => loaded,
                Err(reason) => Input::LoadFailed { reason },
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
            Output::Judge { ticket, query } => {
                Input::Judged { ticket, judgement: (!self.fails(3)).then(|| judged(query)) }
            }
            Output::ReadNames { texts } => named(texts),
            Output::WriteSnapshot { notebook, head } => {
                self.totals.count("snapshot");
                return self.disk.keep_snapshot(Arc::unwrap_or_clone(notebook), head);
            }
            _ => return,
        };
        self.feed(input);
    }

    pub(super) fn fails(&mut self, percent: u64) -> bool {
        !self.is_calm && self.chance.percent(percent)
    }

    pub(super) fn append(&mut self, append: Append) -> Input {
        self.appending = None;
        if self.fails(3) {
            self.interfere();
        }
        if self.fails(3) {
            self.totals.count("store failure");
            // Some failures are reported although the append was written.
            if self.chance.percent(50) {
                let _ = self.disk.append(append);
            }
            return Input::AppendFailed(AppendFailure::Unavailable { reason: "the disk is full".to_owned() });
        }
        match self.disk.append(append) {
            Ok(()) => Input::Appended,
            Err(failure) => {
                if failure == AppendFailure::VersionConflict {
                    self.totals.count("conflict");
                }
                Input::AppendFailed(failure)
            }
        }
    }

    /// Renames the notebook as another node.
    pub(super) fn interfere(&mut self) {
        let Ok(loaded) = self.disk.load(Version::MAX) else { return };
        self.count += 1;
        let id = CommandId::new(format!("node-{}", self.count)).expect("an id");
        let mut context = Context {
            now: self.now,
            instance: "instance".parse().unwrap(),
            actor: Actor::System,
            authority: Authority::default(),
            correlation_id: id.as_str().parse().expect("an id"),
            command_id: id,
            causation_id: None,
            expected_version: None,
            head_hash: notarium_core::Head::START.hash,
            ids: IdSource::new(self.now, self.chance.bytes()),
            history: History::default(),
            past: None,
            redaction: None,
            account_status: Default::default(),
            away: Default::default(),
            unreachable: Default::default(),
            holding_kernelspecs: Default::default(),
            agent_labels: Default::default(),
            run_effects: None,
            unposted: Default::default(),
            limits: Limits::default(),
        };
        let rename = Command::RenameNotebook { title: format!("by another node {}", self.count) };
        if let Ok(decision) = decide(&loaded.notebook, &mut context, rename) {
            self.disk.write(&mut context, &decision);
        }
    }
}
