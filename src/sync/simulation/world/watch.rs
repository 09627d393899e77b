//! Feeds the audit with all writes and all frames.

use super::*;

impl World {
    /// Audits new writes; returns the violation found in this step.
    pub(super) fn check_step(&mut self) -> Result<(), String> {
        self.follow_log();
        self.broken.take().map_or(Ok(()), Err)
    }

    pub(super) fn follow_log(&mut self) {
        let judged = self.audit.follow(&self.disk.events);
        self.note(judged);
    }

    pub(super) fn note(&mut self, judged: Result<(), String>) {
        if let Err(reason) = judged {
            self.broken.get_or_insert(reason);
        }
    }

    pub(super) fn count_gap(&mut self, message: &ServerMessage) {
        if matches!(message, ServerMessage::Reject(reject) if reject.expected_seq.is_some()) {
            self.totals.count("report gap");
        }
    }

    /// Checks that a client without a role gets no frames: for events at the time of recording, for states now.
    pub(super) fn check_is_shown(&mut self, client: ClientId, text: &str) {
        let Some(connection) = self.connections.get(&client.0) else { return };
        let actor = &connection.identity.actor;
        if self.audit.may_see(actor, Version::MAX, self.now) {
            return;
        }
        let (version, at) = match serde_json::from_str(text) {
            Ok(ServerMessage::Subscribed(subscribed)) => (subscribed.version, self.now),
            Ok(ServerMessage::Events(events)) => {
                let version = events.events.last().map_or(0, |event| event.version);
                let recorded_at = self.disk.events.iter().find(|stored| stored.envelope.version == version);
                (version, recorded_at.map_or(self.now, |stored| stored.envelope.recorded_at))
            }
            _ => return,
        };
        if !self.audit.may_see(actor, version, at) {
            let who = actor.key();
            self.note(Err(format!("version {version} is shown to {who}, who may not see it")));
        }
    }
}
