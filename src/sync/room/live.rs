//! Presence of clients and live activity of assistants: beside the log, coalesced. Presence is dropped when it is not renewed. The text of each
//! unfinished answer is kept in memory: for later in-process subscribers, and to be recorded if its turn ends before the answer is complete.

use std::collections::{BTreeMap, BTreeSet};

use notarium_core::{Command, Millis, Notebook, TurnId};
use notarium_wire::{ActivityKind, PendingActivity, PresenceState, ServerMessage, TurnActivity, frame};

use super::kernels::agent_of;
use super::subscribers::{Subscriber, Transport};
use super::{Cycle, Room};
use crate::io::{ClientId, Output, earliest};

/// Maximum number of pieces that are kept of one answer: starts, texts and ends of its blocks.
const MAX_PIECES: usize = 4_096;

/// Changes that are not sent yet.
#[derive(Debug, Default)]
pub(super) struct PresenceQueue {
    next_at: Millis,
    changed: BTreeSet<ClientId>,
    /// Connections that left.
    left: Vec<String>,
    /// True while agents measure their kernels.
    pub(super) is_measuring: bool,
}

impl PresenceQueue {
    pub(super) fn turn_back(&mut self, by: Millis) {
        self.next_at = self.next_at.saturating_sub(by);
    }

    pub(super) fn changed(&mut self, client: ClientId) {
        self.changed.insert(client);
    }

    pub(super) fn left(&mut self, client: ClientId, subscriber: &Subscriber) {
        self.changed.remove(&client);
        if subscriber.is_visible() {
            self.left.push(subscriber.identity.connection.clone());
        }
    }

    fn is_empty(&self) -> bool {
        self.changed.is_empty() && self.left.is_empty()
    }
}

impl Room {
    pub(super) fn take_presence(&mut self, cycle: &Cycle, client: ClientId, state: PresenceState) {
        let Some(subscriber) = self.subscribers.get_mut(&client) else { return };
        subscriber.presence_ends_at = Some(cycle.now + self.config.presence_ttl_ms);
        if subscriber.presence != state {
            subscriber.presence = state;
            self.presence.changed(client);
        }
    }

    /// Sends at most one frame of each kind per interval; the first without delay.
    pub(super) fn send_presence(&mut self, cycle: &mut Cycle) {
        self.forget_old_cursors(cycle.now);
        self.ask_to_measure(cycle);
        if cycle.now < self.presence.next_at {
            return;
        }
        let sent_peers = self.send_peers(cycle);
        let sent_kernels = self.send_kernels(cycle);
        if sent_peers || sent_kernels {
            self.presence.next_at = cycle.now + self.config.presence_delay_ms;
        }
    }

    fn send_peers(&mut self, cycle: &mut Cycle) -> bool {
        if self.presence.is_empty() {
            return false;
        }
        let changed = std::mem::take(&mut self.presence.changed);
        let left = std::mem::take(&mut self.presence.left);
        let peers: Vec<_> =
            changed.iter().filter_map(|client| self.subscribers.get(client)).filter_map(Subscriber::peer).collect();
        if peers.is_empty() && left.is_empty() {
            return false;
        }
        let notebook = self.notebook_id.clone();
        self.send_all(cycle, &ServerMessage::Presence { notebook, peers, left });
        true
    }

    pub(super) fn send_all(&self, cycle: &mut Cycle, message: &ServerMessage) {
        let clients = self.live_clients(Transport::Frames);
        if !clients.is_empty() {
            cycle.out.push(Output::Presence { clients, text: frame::text(message) });
        }
    }

    fn forget_old_cursors(&mut self, now: Millis) {
        for (client, subscriber) in &mut self.subscribers {
            if subscriber.presence_ends_at.is_some_and(|at| at <= now) {
                subscriber.presence_ends_at = None;
                subscriber.presence = PresenceState::default();
                self.presence.changed(*client);
            }
        }
    }

    pub(super) fn presence_at(&self, now: Millis) -> Option<Millis> {
        let cursors = earliest(self.subscribers.values().map(|subscriber| subscriber.presence_ends_at));
        let frame = (!self.presence.is_empty() || now < self.presence.next_at).then_some(self.presence.next_at);
        earliest([cursors, frame])
    }
}

/// Activity that is not sent yet, and that of answers that are not in the log yet.
#[derive(Debug, Default)]
pub(super) struct ActivityQueue {
    next_at: Millis,
    pending: PendingActivity,
    pub(super) unposted: Unposted,
}

impl ActivityQueue {
    pub(super) fn turn_back(&mut self, by: Millis) {
        self.next_at = self.next_at.saturating_sub(by);
    }

    pub(super) fn push(&mut self, activity: TurnActivity) {
        self.pending.push(activity);
    }
}

/// Incomplete answers, by turn.
#[derive(Debug, Default)]
pub(super) struct Unposted(BTreeMap<TurnId, PartialAnswer>);

/// Activity of one attempt of a model call, and of the calls that it made.
#[derive(Debug, Default)]
struct PartialAnswer {
    model_call: u32,
    attempt: u32,
    pieces: PendingActivity,
    bytes: usize,
    /// The size limit was reached: later text would not be contiguous.
    is_full: bool,
}

impl Unposted {
    /// Adds activity; returns false if it is beyond the size limit. Thoughts, and late activity of a turn that has ended, are not kept.
    fn take(&mut self, notebook: &Notebook, activity: &TurnActivity, max_bytes: usize) -> bool {
        if !notebook.turns.contains_key(&activity.turn_id) {
            return true;
        }
        let answer = self.0.entry(activity.turn_id.clone()).or_default();
        if (answer.model_call, answer.attempt) != (activity.model_call, activity.attempt) {
            *answer = PartialAnswer {
                model_call: activity.model_call,
                attempt: activity.attempt,
                ..PartialAnswer::default()
            };
        }
        match &activity.what {
            ActivityKind::AttemptFailed { .. } => _ = self.0.remove(&activity.turn_id),
            ActivityKind::ThinkingDelta { .. } => {}
            _ => return answer.grow(activity, max_bytes),
        }
        true
    }

    /// Returns the activity of all unfinished answers from their beginning.
    pub(super) fn activity(&self) -> Vec<TurnActivity> {
        self.0.values().flat_map(|answer| answer.pieces.pieces()).cloned().collect()
    }

    /// Returns the texts that `command` may record. Excludes turns in `over`: a message was posted since, or they ended.
    pub(super) fn for_command(
        &self,
        notebook: &Notebook,
        command: &Command,
        over: &BTreeSet<TurnId>,
    ) -> BTreeMap<TurnId, Vec<String>> {
        let open = self.0.iter().filter(|(id, answer)| {
            let turn = notebook.turns.get(*id).filter(|_| !over.contains(*id));
            turn.is_some_and(|turn| (turn.model_calls, turn.attempts) == (answer.model_call, answer.attempt))
        });
        let texts = open.map(|(id, answer)| (id.clone(), answer.texts()));
        if may_end_turns(command) { texts.collect() } else { BTreeMap::new() }
    }

    pub(super) fn forget(&mut self, over: &BTreeSet<TurnId>) {
        self.0.retain(|id, _| !over.contains(id));
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl PartialAnswer {
    fn grow(&mut self, activity: &TurnActivity, max_bytes: usize) -> bool {
        let bytes = match &activity.what {
            ActivityKind::TextDelta { text, .. } => text.len(),
            ActivityKind::ToolStart { provider_id, function, .. } => provider_id.len() + function.len(),
            ActivityKind::ToolUpdate { message, .. } => message.len(),
            _ => 0,
        };
        self.is_full |= self.bytes + bytes > max_bytes || self.pieces.pieces().len() > MAX_PIECES;
        if !self.is_full {
            self.bytes += bytes;
            self.pieces.push(activity.clone());
        }
        !self.is_full
    }

    /// Returns the texts of its blocks.
    fn texts(&self) -> Vec<String> {
        let mut blocks: BTreeMap<usize, String> = BTreeMap::new();
        for piece in self.pieces.pieces() {
            if let ActivityKind::TextDelta { block, text } = &piece.what {
                blocks.entry(*block).or_default().push_str(text);
            }
        }
        blocks.into_values().collect()
    }
}

fn may_end_turns(command: &Command) -> bool {
    match command {
        Command::CancelTurn { .. } | Command::EndTurn { .. } | Command::WithdrawRevoked { .. } => true,
        Command::Batch { commands } => commands.iter().any(may_end_turns),
        _ => false,
    }
}

impl Room {
    pub(super) fn take_activity(&mut self, activity: TurnActivity) {
        // An answer beyond the limit cannot be recorded. Its rest is not sent, so that late subscribers see no gap.
        if self.activity.unposted.take(&self.state, &activity, self.config.limits.max_message_bytes) {
            self.activity.push(activity);
        }
    }

    /// Sends the first activity without delay, then at most one frame per interval.
    pub(super) fn send_activity_when_due(&mut self, cycle: &mut Cycle) {
        if cycle.now >= self.activity.next_at {
            self.send_activity(cycle);
        }
    }

    pub(super) fn send_activity(&mut self, cycle: &mut Cycle) {
        if self.activity.pending.is_empty() {
            return;
        }
        self.activity.next_at = cycle.now + self.config.activity_delay_ms;
        let (notebook, activity) = (self.notebook_id.clone(), self.activity.pending.take());
        let followers = self.live_clients(Transport::Values);
        if !followers.is_empty() {
            cycle.out.push(Output::Activity { clients: followers, activity: activity.clone().into() });
        }
        let people = self.subscribers.iter().filter(|(_, subscriber)| {
            // Runtime agents do not use activity.
            subscriber.is_live(Transport::Frames) && agent_of(&subscriber.identity.actor).is_none()
        });
        let clients: Vec<ClientId> = people.map(|(client, _)| *client).collect();
        if !clients.is_empty() {
            let text = frame::text(&ServerMessage::Activity { notebook, activity });
            cycle.out.push(Output::Presence { clients, text });
        }
    }

    pub(super) fn activity_at(&self) -> Option<Millis> {
        (!self.activity.pending.is_empty()).then_some(self.activity.next_at)
    }
}
