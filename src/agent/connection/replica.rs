//! The state of one subscribed notebook, folded from what the server sends.

use notarium_core::{Document, Envelope, Event, NotebookId, Recorded, Version};
use notarium_wire::{EventMessage, EventsMessage};

/// Why events could not be folded in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Missed {
    /// Events between ours and theirs are missing.
    Gap { held: Version },
    /// An event of a newer build: only the server's snapshot helps.
    UnknownEvent { version: Version },
}

impl Missed {
    pub fn since(self) -> Option<Version> {
        match self {
            Self::Gap { held } => (held > 0).then_some(held),
            Self::UnknownEvent { .. } => None,
        }
    }
}

#[derive(Debug)]
pub(super) struct Replica {
    notebook: Document,
    /// False until the first `subscribed`, and after something was missed until the next.
    is_current: bool,
}

impl Replica {
    pub fn new(id: &NotebookId) -> Self {
        Self { notebook: Document::new(id.clone()), is_current: false }
    }

    pub fn state(&self) -> Option<&Document> {
        self.is_current.then_some(&self.notebook)
    }

    pub fn subscribed(&mut self, snapshot: Option<Box<Document>>) {
        // A snapshot of the past would undo what is known; the events in between follow in any case.
        if let Some(snapshot) = snapshot.filter(|snapshot| snapshot.version >= self.notebook.version) {
            self.notebook = *snapshot;
        }
        self.is_current = true;
    }

    /// Folds in what is new and returns it, typed.
    pub fn apply(&mut self, message: &EventsMessage) -> Result<Vec<Recorded>, Missed> {
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
                    recorded.push(typed);
                }
                // What was folded in before is told with the state that comes next.
                Err(missed) => {
                    self.is_current = false;
                    return Err(missed);
                }
            }
        }
        Ok(recorded)
    }

    fn typed(&self, message: &EventMessage) -> Result<Recorded, Missed> {
        let held = self.notebook.version;
        if message.version != held + 1 {
            return Err(Missed::Gap { held });
        }
        let event = Event::decode(&message.event_type, message.schema, message.payload.get())
            .map_err(|_| Missed::UnknownEvent { version: message.version })?;
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
        replica.subscribed(None);
        replica
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
        assert_eq!(missed.since(), Some(1));
        assert!(replica.state().is_none());
        replica.subscribed(None);
        assert_eq!(replica.apply(&frame(vec![renamed(2, "b"), renamed(3, "c")])).unwrap().len(), 2);
    }

    #[test]
    fn an_unknown_event_asks_for_a_snapshot() {
        let missed = replica().apply(&frame(vec![event(1, "FromTheFuture", "{}")])).unwrap_err();
        assert_eq!(missed.since(), None);
    }

    #[test]
    fn an_old_snapshot_does_not_turn_the_clock_back() {
        let mut replica = replica();
        replica.apply(&frame(vec![renamed(1, "a"), renamed(2, "b")])).unwrap();
        replica.subscribed(Some(Box::new(Document::new("n".parse().unwrap()))));
        assert_eq!(replica.state().unwrap().version, 2);
    }
}
