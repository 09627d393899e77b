//! The state of one subscribed notebook, folded from the server's messages.

use notarium_core::{Document, Envelope, Event, EventId, NotebookId, Recorded, Version};
use notarium_wire::{EventMessage, EventsMessage, LastEvent, SubscribedMessage};

/// Reasons why events could not be folded in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum MissedEvents {
    /// Events between the replica's version and the message are missing.
    Gap,
    /// An event of a newer version of Notarium: only the server's snapshot helps.
    UnknownEvent { version: Version },
}

#[derive(Debug)]
pub(super) struct Replica {
    notebook: Document,
    last_event: Option<EventId>,
    /// False until the first `subscribed`, and from a missed event until the next.
    is_current: bool,
}

impl Replica {
    pub fn new(id: &NotebookId) -> Self {
        Self { notebook: Document::new(id.clone()), last_event: None, is_current: false }
    }

    pub fn state(&self) -> Option<&Document> {
        self.is_current.then_some(&self.notebook)
    }

    pub fn subscribed(&mut self, message: &mut SubscribedMessage) {
        // A snapshot of the past would undo known events, and the events in between follow in any case. After a divergence the held
        // state is of another branch, so any snapshot replaces it.
        if let Some(snapshot) = message.snapshot.take()
            && (message.diverged || snapshot.version >= self.notebook.version)
        {
            self.notebook = *snapshot;
            self.last_event = Some(message.event_id.clone());
        }
        self.is_current = true;
    }

    /// The last event to name when subscribing again; `None` asks for a snapshot.
    pub fn since(&self, missed: &MissedEvents) -> Option<LastEvent> {
        let event_id = self.last_event.clone().filter(|_| *missed == MissedEvents::Gap)?;
        Some(LastEvent { version: self.notebook.version, event_id })
    }

    /// Folds in new events and returns them, typed.
    pub fn apply(&mut self, message: &EventsMessage) -> Result<Vec<Recorded>, MissedEvents> {
        if !self.is_current {
            return Ok(Vec::new());
        }
        let mut recorded = Vec::with_capacity(message.events.len());
        for event in &message.events {
            if event.version <= self.notebook.version {
                continue;
            }
            match self.typed(event) {
                Ok(typed) => {
                    self.notebook.apply(&typed);
                    self.last_event = Some(event.id.clone());
                    recorded.push(typed);
                }
                // The next `Subscribed` carries the state; events that were already folded in are not returned.
                Err(missed) => {
                    self.is_current = false;
                    return Err(missed);
                }
            }
        }
        Ok(recorded)
    }

    fn typed(&self, message: &EventMessage) -> Result<Recorded, MissedEvents> {
        if message.version != self.notebook.version + 1 {
            return Err(MissedEvents::Gap);
        }
        let event = Event::decode(&message.event_type, message.schema, message.payload.get())
            .map_err(|_| MissedEvents::UnknownEvent { version: message.version })?;
        Ok(Recorded { envelope: envelope(&self.notebook.notebook_id, message), event })
    }
}

fn envelope(notebook_id: &NotebookId, message: &EventMessage) -> Envelope {
    Envelope {
        id: message.id.clone(),
        notebook_id: notebook_id.clone(),
        version: message.version,
        event_type: message.event_type.clone(),
        schema: message.schema,
        actor: message.actor.clone(),
        command_id: message.command_id.clone(),
        correlation_id: message.correlation_id.clone(),
        causation_id: message.causation_id.clone(),
        undoes: message.undoes.clone(),
        recorded_at: message.recorded_at,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use notarium_core::{Actor, RawJson};

    fn renamed(version: Version, title: &str) -> EventMessage {
        event(version, "NotebookRenamed", &format!(r#"{{"title":"{title}","previous":""}}"#))
    }

    fn event(version: Version, event_type: &str, payload: &str) -> EventMessage {
        EventMessage {
            version,
            id: format!("e{version}").parse().unwrap(),
            event_type: event_type.into(),
            schema: 1,
            actor: Actor::System,
            command_id: "c".parse().unwrap(),
            correlation_id: "c".parse().unwrap(),
            causation_id: None,
            undoes: None,
            recorded_at: version,
            payload: RawJson::parse(payload).unwrap(),
        }
    }

    fn frame(events: Vec<EventMessage>) -> EventsMessage {
        EventsMessage { notebook: "n".parse().unwrap(), from: events[0].version, events }
    }

    fn replica() -> Replica {
        let mut replica = Replica::new(&"n".parse().unwrap());
        subscribed(&mut replica, None, false);
        replica
    }

    fn subscribed(replica: &mut Replica, snapshot: Option<Document>, diverged: bool) {
        let message = SubscribedMessage {
            notebook: "n".parse().unwrap(),
            version: snapshot.as_ref().map_or(replica.notebook.version, |snapshot| snapshot.version),
            event_id: "snapshot".parse().unwrap(),
            diverged,
            role: notarium_core::Role::Editor,
            document: notarium_wire::DOCUMENT,
            redaction_epoch: 0,
            digest: None,
            undo: None,
            read_only: false,
            snapshot: snapshot.map(Box::new),
            unconfirmed_events: vec![],
            base_too_old: vec![],
            peers: vec![],
            kernels: vec![],
        };
        replica.subscribed(&mut { message });
    }

    #[test]
    fn a_repeat_changes_nothing() {
        let mut replica = replica();
        assert_eq!(replica.apply(&frame(vec![renamed(1, "a"), renamed(2, "b")])).unwrap().len(), 2);
        assert_eq!(replica.apply(&frame(vec![renamed(1, "a"), renamed(2, "b"), renamed(3, "c")])).unwrap().len(), 1);
        assert_eq!(replica.state().unwrap().title, "c");
    }

    #[test]
    fn a_gap_asks_for_what_is_missing_and_hides_the_state_until_it_came() {
        let mut replica = replica();
        replica.apply(&frame(vec![renamed(1, "a")])).unwrap();
        let missed = replica.apply(&frame(vec![renamed(3, "c")])).unwrap_err();
        assert_eq!(replica.since(&missed), Some(LastEvent { version: 1, event_id: "e1".parse().unwrap() }));
        assert!(replica.state().is_none());
        subscribed(&mut replica, None, false);
        assert_eq!(replica.apply(&frame(vec![renamed(2, "b"), renamed(3, "c")])).unwrap().len(), 2);
    }

    #[test]
    fn an_unknown_event_asks_for_a_snapshot() {
        let mut replica = replica();
        replica.apply(&frame(vec![renamed(1, "a")])).unwrap();
        let later = EventMessage { schema: 2, ..renamed(2, "b") };
        for unknown in [event(2, "FromTheFuture", "{}"), later] {
            let missed = replica.apply(&frame(vec![unknown, renamed(3, "c")])).unwrap_err();
            assert_eq!((replica.since(&missed), missed), (None, MissedEvents::UnknownEvent { version: 2 }));
            assert!(replica.state().is_none(), "nothing is folded on top of it");
            assert!(replica.apply(&frame(vec![renamed(2, "b"), renamed(3, "c")])).unwrap().is_empty());
            subscribed(&mut replica, None, false);
        }
        let state = Document { title: "c".into(), version: 3, ..Document::new("n".parse().unwrap()) };
        subscribed(&mut replica, Some(state), false);
        replica.apply(&frame(vec![renamed(4, "d")])).unwrap();
        assert_eq!(replica.state().map(|state| (state.version, state.title.as_str())), Some((4, "d")));
    }

    #[test]
    fn an_old_snapshot_does_not_turn_the_clock_back() {
        let mut replica = replica();
        replica.apply(&frame(vec![renamed(1, "a"), renamed(2, "b")])).unwrap();
        let old = || Some(Document::new("n".parse().unwrap()));
        subscribed(&mut replica, old(), false);
        assert_eq!(replica.state().unwrap().version, 2);
        subscribed(&mut replica, old(), true);
        assert_eq!(replica.state().unwrap().version, 0, "after a restore the server is believed");
    }
}
