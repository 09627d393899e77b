//! Fan-out of events to subscribers: immediately on a quiet notebook; on a busy one several commits share a frame.

use std::collections::BTreeMap;

use notarium_core::{Millis, Version};

use super::{Cycle, Room};
use crate::config::RoomConfig;
use crate::identity::ClientId;
use crate::io::{Input, Output};

/// Schedule of frames for all subscribers.
#[derive(Debug, Default)]
pub(super) struct FanOut {
    next_at: Millis,
    /// Delay of frames: from 1 ms, doubled while there is always more to send.
    window: Millis,
    /// Number of commits that wait for `next_at`.
    held_back: u32,
}

impl FanOut {
    pub(super) fn turn_back(&mut self, by: Millis) {
        self.next_at = self.next_at.saturating_sub(by);
    }
}

impl Room {
    /// Sends a commit. Senders get it now, because their acks follow; others get it now or with the next frame.
    pub(super) fn fan_out(&mut self, cycle: &mut Cycle, senders: &[ClientId]) {
        if cycle.now < self.fan_out.next_at {
            self.fan_out.held_back += 1;
            self.show(cycle, |client| senders.contains(&client));
            return;
        }
        if cycle.now >= self.fan_out.next_at + self.fan_out.window {
            self.fan_out.window = 1;
        }
        self.fan_out.next_at = cycle.now + self.fan_out.window;
        self.fan_out.held_back = 0;
        self.show(cycle, |_| true);
    }

    pub(super) fn fan_out_when_due(&mut self, cycle: &mut Cycle) {
        if self.fan_out.held_back == 0 || cycle.now < self.fan_out.next_at {
            return;
        }
        if self.fan_out.held_back > 1 {
            self.fan_out.window = (self.fan_out.window * 2).min(self.config.max_frame_delay_ms).max(1);
        }
        self.fan_out.next_at = cycle.now + self.fan_out.window;
        self.fan_out.held_back = 0;
        self.show(cycle, |_| true);
        self.trim();
    }

    pub(super) fn fan_out_at(&self) -> Option<Millis> {
        (self.fan_out.held_back > 0).then_some(self.fan_out.next_at)
    }

    /// Sends missing events up to the committed version. Clients at the same version share a frame.
    fn show(&mut self, cycle: &mut Cycle, is_meant: impl Fn(ClientId) -> bool) {
        let committed = self.committed;
        let mut groups: BTreeMap<Version, Vec<ClientId>> = BTreeMap::new();
        for (client, subscriber) in &mut self.subscribers {
            if !subscriber.is_lagging && subscriber.sent < committed && is_meant(*client) {
                groups.entry(subscriber.sent).or_default().push(*client);
                subscriber.sent = committed;
            }
        }
        for (sent, clients) in groups {
            for (from, text) in self.ring.frames(&self.notebook_id, sent, committed) {
                cycle.out.push(Output::Events { clients: clients.clone(), from, text });
            }
        }
    }

    /// Trims the ring to its limits; events that a subscriber has not been sent stay.
    pub(super) fn trim(&mut self) {
        let keep_after = self.least_sent();
        let RoomConfig { max_recent_events, max_recent_bytes, max_late_events, max_late_bytes, .. } = *self.config;
        match self.ring.has_missed() {
            true => self.ring.trim(max_late_events, max_late_bytes, keep_after),
            false => self.ring.trim(max_recent_events, max_recent_bytes, keep_after),
        }
    }

    // --- slow subscribers ---

    pub(super) fn take_lagging(&mut self, client: ClientId, from: Version) {
        // Ignores frames sent before its last `subscribed`, which replaced them.
        if let Some(subscriber) = self.subscribers.get_mut(&client).filter(|subscriber| from > subscriber.joined_at) {
            subscriber.is_lagging = true;
            subscriber.sent = subscriber.sent.min(from.saturating_sub(1));
        }
    }

    /// Resyncs a lagging client that has read its queue.
    pub(super) fn take_caught_up(&mut self, cycle: &mut Cycle, client: ClientId) {
        if self.subscribers.get(&client).is_some_and(|subscriber| subscriber.is_lagging) {
            self.resync(cycle, client, "you read slower than the others write");
        }
    }

    /// Resyncs clients whose missing events are not in the ring after a reload.
    pub(super) fn resync_unreachable(&mut self, cycle: &mut Cycle) {
        let is_out = |sent: Version| sent > self.committed || !self.ring.covers(sent);
        let live = self.subscribers.iter().filter(|(_, subscriber)| !subscriber.is_lagging);
        let out: Vec<ClientId> =
            live.filter(|(_, subscriber)| is_out(subscriber.sent)).map(|(client, _)| *client).collect();
        for client in out {
            self.take(cycle, Input::Lagging { client, from: Version::MAX });
            self.resync(cycle, client, "the server has read the notebook again");
        }
    }
}
