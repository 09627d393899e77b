//! What assistants are writing, told to those who follow the notebook: beside the log, coalesced, never kept.

use notarium_core::Millis;
use notarium_wire::{PendingNews, ServerMessage, TurnNews, frame};

use crate::identity::ClientId;
use crate::io::Output;
use crate::leases::agent_of;
use crate::room::{Room, Turn};

/// What is not told yet.
#[derive(Debug, Default)]
pub(crate) struct AssistantNews {
    next_at: Millis,
    pending: PendingNews,
}

impl AssistantNews {
    pub(crate) fn push(&mut self, news: TurnNews) {
        self.pending.push(news);
    }
}

impl Room {
    /// The first at once, then at most one frame in a while.
    pub(crate) fn tell_news_when_due(&mut self, turn: &mut Turn) {
        if turn.now >= self.news.next_at {
            self.tell_news(turn);
        }
    }

    pub(crate) fn tell_news(&mut self, turn: &mut Turn) {
        if self.news.pending.is_empty() {
            return;
        }
        self.news.next_at = turn.now + self.config.news_delay_ms;
        let (notebook, news) = (self.notebook_id.clone(), self.news.pending.take());
        let people = self.subscribers.iter().filter(|(_, subscriber)| {
            // Runtime agents have no use for it.
            !subscriber.is_lagging && agent_of(&subscriber.identity.actor).is_none()
        });
        let clients: Vec<ClientId> = people.map(|(client, _)| *client).collect();
        if !clients.is_empty() {
            let text = frame::text(&ServerMessage::News { notebook, news });
            turn.out.push(Output::Presence { clients, text });
        }
    }

    pub(crate) fn news_at(&self) -> Option<Millis> {
        (!self.news.pending.is_empty()).then_some(self.news.next_at)
    }
}
