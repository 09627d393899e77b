//! Sentences for people about changes that were undone. JupyterLab shows them in the notebook's log (View › Show Log Console): they go over
//! the WebSocket of events, as those of jupyter-collaboration do. Other clients find them in the room's own messages.

use std::sync::Arc;
use std::time::{Duration, Instant};

use notarium_core::NotebookId;
use serde_json::{Value, json};
use tokio::sync::broadcast;
use tokio::sync::broadcast::error::RecvError;

use crate::api::CallerToken;

/// Events of jupyter-collaboration about a document.
const SCHEMA: &str = "https://schema.jupyter.org/jupyter_collaboration/session/v1";
/// Sentences that wait for one slow client; further ones are dropped.
const MAX_WAITING: usize = 64;
/// Time before a client gets the same sentence again: each keystroke of a viewer is refused.
const PAUSE: Duration = Duration::from_secs(5);

#[derive(Debug, Clone)]
struct AddressedEvent {
    token: CallerToken,
    event: Arc<Value>,
}

/// Events for the clients of a token. Cheap to clone.
#[derive(Debug, Clone)]
pub struct EventsByToken(broadcast::Sender<AddressedEvent>);

impl Default for EventsByToken {
    fn default() -> Self {
        Self(broadcast::channel(MAX_WAITING).0)
    }
}

impl EventsByToken {
    /// Sends a sentence about the notebook to the event sockets of the token.
    pub fn send(&self, token: &CallerToken, notebook: &NotebookId, path: &str, sentence: &str) {
        // Level WARNING would open a dialog of jupyter-collaboration with another text.
        let event = json!({
            "schema_id": SCHEMA, "level": "ERROR", "room": format!("json:notebook:{notebook}"), "path": path, "msg": sentence,
        });
        let _ = self.0.send(AddressedEvent { token: token.clone(), event: Arc::new(event) });
    }

    pub fn subscribe(&self, token: &CallerToken) -> TokenEvents {
        TokenEvents { token: token.clone(), events: self.0.subscribe() }
    }
}

/// Events for one client.
pub struct TokenEvents {
    token: CallerToken,
    events: broadcast::Receiver<AddressedEvent>,
}

impl TokenEvents {
    /// The next event. Cancel safe. It never ends.
    pub async fn next(&mut self) -> Arc<Value> {
        loop {
            match self.events.recv().await {
                Ok(event) if event.token.reveal() == self.token.reveal() => return event.event,
                Ok(_) | Err(RecvError::Lagged(_)) => {}
                Err(RecvError::Closed) => std::future::pending().await,
            }
        }
    }
}

/// The last sentence that a client got.
#[derive(Debug, Default)]
pub struct LastSentence(Option<(Instant, String)>);

impl LastSentence {
    /// True if the client should get the sentence now.
    pub fn is_news(&mut self, sentence: &str, now: Instant) -> bool {
        let is_repeated = self.0.as_ref().is_some_and(|(at, last)| last == sentence && now.duration_since(*at) < PAUSE);
        if !is_repeated {
            self.0 = Some((now, sentence.to_owned()));
        }
        !is_repeated
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_repeated_sentence_waits() {
        let (mut last, now) = (LastSentence::default(), Instant::now());
        assert!(last.is_news("no", now));
        assert!(!last.is_news("no", now + PAUSE / 2));
        assert!(last.is_news("never", now + PAUSE / 2));
        assert!(last.is_news("no", now + PAUSE / 2));
        assert!(last.is_news("no", now + 2 * PAUSE));
    }
}
