//! Timers: delayed frames, leases, grants, snapshots, the catalog, memory, the end of an idle room. The line in the catalog is written some time
//! after an edit, or immediately if an author of the changes reads the list.

use std::collections::BTreeSet;
use std::sync::Arc;

use notarium_core::{Actor, Authority, Command, CommandId, Millis, RawJson};
use notarium_wire::CommandMessage;

use super::batch::BatchEffects;
use super::queue::PendingCommand;
use super::{Cycle, Phase, Room};
use crate::decoded_command::DecodedCommand;
use crate::io::{Caller, Identity, Input, Output, ReplyTo, Submission, earliest};

/// Time before an id without a notebook is unloaded.
const UNLOAD_NOTHING_AFTER_MS: Millis = 1_000;

/// Schedule of the line.
#[derive(Debug, Default)]
pub(super) struct Listing {
    pub(super) at: Option<Millis>,
    /// Actor keys of authors whose changes the line lacks.
    authors: BTreeSet<String>,
    /// Callers that wait for the line.
    callers: Vec<Caller<()>>,
}

impl Listing {
    pub(super) fn is_waited_for(&self) -> bool {
        !self.callers.is_empty()
    }
}

impl Room {
    /// Returns the time at which [`Input::Tick`] is due, if no other input comes.
    pub fn wake_at(&self, now: Millis) -> Option<Millis> {
        if now < self.last_now {
            return Some(now);
        }
        let retry = match self.phase {
            Phase::Failed(at) => Some(at),
            _ => None,
        };
        let leases = self.leases.wake_at(now, &self.config);
        let settled = [self.listing.at, leases, self.unload_at, self.grant_ends_at, self.sweep_at];
        let settled = if self.is_settled() { earliest(settled) } else { None };
        let frames = [self.fan_out_at(), self.presence_at(now), self.activity_at()];
        earliest([retry, settled, self.idle_at].into_iter().chain(frames))
    }

    /// Shifts deadlines if the clock was set back, so that remaining times stay the same. Times in the record are not shifted.
    pub(super) fn follow_clock(&mut self, now: Millis) {
        let back = self.last_now.saturating_sub(now);
        self.last_now = now;
        if back == 0 {
            return;
        }
        if let Phase::Failed(at) = &mut self.phase {
            *at = at.saturating_sub(back);
        }
        self.fan_out.turn_back(back);
        self.presence.turn_back(back);
        self.activity.turn_back(back);
        self.leases.turn_back(back);
        let own = [&mut self.listing.at, &mut self.idle_at, &mut self.unload_at];
        let cursors = self.subscribers.values_mut().map(|subscriber| &mut subscriber.presence_ends_at);
        own.into_iter().chain(cursors).flatten().for_each(|at| *at = at.saturating_sub(back));
    }

    pub(super) fn maintain(&mut self, cycle: &mut Cycle) {
        self.retry_load(cycle);
        self.fan_out_when_due(cycle);
        self.recheck_when_due(cycle);
        self.end_leases(cycle);
        self.sweep_tool_calls(cycle);
        self.look_ahead_for_names(cycle);
        self.send_presence(cycle);
        if self.is_settled() {
            self.list_when_due(cycle);
        }
        self.give_memory_back(cycle.now);
        self.end_when_idle(cycle);
    }

    /// Closes tool calls that have expired, or have lost their targets.
    fn sweep_tool_calls(&mut self, cycle: &mut Cycle) {
        if !self.is_settled() || self.sweep_at.is_none_or(|at| at > cycle.now) {
            return;
        }
        // Set again when the events of the sweep are on disk.
        self.sweep_at = None;
        self.command_of_server(cycle, Command::SweepToolCalls {});
        self.pump(cycle);
    }

    pub(super) fn command_of_server(&mut self, cycle: &mut Cycle, command: Command) {
        let Ok(body) = RawJson::of(&command) else { return };
        let id: CommandId = self.next_ids(cycle.now).ulid().into();
        let notebook = self.notebook_id.clone();
        let message = CommandMessage::new(id, notebook, body);
        let identity = Arc::new(Identity {
            actor: Actor::System,
            authority: Authority::default(),
            name: "server".to_owned(),
            connection: String::new(),
        });
        self.take(
            cycle,
            Input::Command(Submission::new(identity, DecodedCommand::of(message, command), ReplyTo::Nobody)),
        );
    }

    /// Reports the authors whose changes the list lacks, before their commands are acked.
    pub(super) fn note_authors<'a>(
        &mut self,
        cycle: &mut Cycle,
        effects: &BatchEffects,
        commands: impl Iterator<Item = &'a PendingCommand>,
    ) {
        if !effects.catalog_now && !effects.catalog_later {
            return;
        }
        let mut actors: Vec<Actor> = Vec::new();
        for pending in commands {
            if !self.listing.authors.contains(&pending.actor) {
                self.listing.authors.insert(pending.actor.clone());
                actors.push(pending.identity.actor.clone());
            }
        }
        if !actors.is_empty() {
            cycle.out.push(Output::ListLacks { actors });
        }
    }

    pub(super) fn list_after(&mut self, now: Millis, effects: &BatchEffects) {
        if effects.catalog_now {
            self.listing.at = Some(now);
        } else if effects.catalog_later {
            self.listing.at.get_or_insert(now + self.config.catalog_delay_ms);
        }
    }

    pub(super) fn take_list(&mut self, now: Millis, caller: Caller<()>) {
        self.listing.at = self.listing.at.map(|_| now);
        self.listing.callers.push(caller);
    }

    /// Writes the line if it is due. Call it only while the state is on disk.
    pub(super) fn list_when_due(&mut self, cycle: &mut Cycle) {
        if self.listing.at.is_some_and(|at| at <= cycle.now) {
            self.list_now(cycle);
        }
        self.answer_lists(cycle);
    }

    /// Writes the line if it lacks changes.
    fn list_at_the_end(&mut self, cycle: &mut Cycle) {
        if self.listing.at.is_some() {
            self.list_now(cycle);
        }
    }

    fn list_now(&mut self, cycle: &mut Cycle) {
        self.listing.at = None;
        self.listing.authors.clear();
        cycle.out.push(Output::UpdateCatalog { notebook: self.state.clone() });
    }

    pub(super) fn answer_lists(&mut self, cycle: &mut Cycle) {
        cycle.out.extend(self.listing.callers.drain(..).map(|caller| Output::Listed { caller }));
    }

    /// Writes a snapshot if it is due. Call it only while the state is on disk.
    pub(super) fn snapshot_when_due(&mut self, cycle: &mut Cycle) {
        self.trim();
        if self.committed - self.snapshot_version >= self.config.snapshot_events {
            self.write_snapshot(cycle);
        }
    }

    fn write_snapshot(&mut self, cycle: &mut Cycle) {
        let is_needless = self.committed == self.snapshot_version || self.state.erased.is_some();
        if self.read_only.is_some() || is_needless {
            return;
        }
        self.snapshot_version = self.committed;
        cycle.out.push(Output::WriteSnapshot { notebook: self.state.clone(), head: self.head });
    }

    fn give_memory_back(&mut self, now: Millis) {
        if self.idle_at.is_none_or(|at| at > now) {
            return;
        }
        self.idle_at = None;
        let keep_after = self.least_sent();
        self.ring.trim(self.config.max_recent_events, self.config.max_idle_recent_bytes, keep_after);
        self.ring.shrink();
        self.changes.trim(self.config.max_idle_change_bytes);
        self.queue.shrink();
        self.answers.clear();
        self.rendering.forget();
    }

    fn end_when_idle(&mut self, cycle: &mut Cycle) {
        if !self.has_nothing_to_do() {
            self.unload_at = None;
            return;
        }
        let is_there = self.state.exists() && self.state.erased.is_none();
        let wait = if is_there { self.config.unload_after_ms } else { UNLOAD_NOTHING_AFTER_MS };
        let at = *self.unload_at.get_or_insert(cycle.now + wait);
        if self.is_closing || at <= cycle.now {
            self.end(cycle);
        }
    }

    fn has_nothing_to_do(&self) -> bool {
        let is_resting = matches!(self.phase, Phase::Live | Phase::Failed(_));
        let is_left = self.subscribers.is_empty()
            && !self.leases.is_waiting()
            && self.joins.is_empty()
            && self.activity.unposted.is_empty();
        is_resting
            && (is_left || self.is_closing)
            && self.queue.is_empty()
            && self.waiting.is_empty()
            && self.refused.is_empty()
            && self.lookups.is_empty()
            && self.set_aside.is_empty()
            && self.judging.is_empty()
    }

    fn end(&mut self, cycle: &mut Cycle) {
        if matches!(self.phase, Phase::Live) {
            self.write_snapshot(cycle);
            self.list_at_the_end(cycle);
        }
        self.answer_lists(cycle);
        self.phase = Phase::Closed;
        self.unload_at = None;
        cycle.out.push(Output::Unload);
    }
}
