//! Frames assembled from texts that are serialised once for many subscribers.

use std::fmt;

use notarium_core::{NotebookId, RawJson, Stored, Version};

use crate::server_message::{ErrorCode, ErrorMessage, EventMessage, ServerMessage, SubscribedMessage};

/// Serialises a message.
pub fn text(message: &ServerMessage) -> String {
    serde_json::to_string(message).unwrap_or_else(|error| unwritable(&error))
}

/// Our own types always serialise; if one did not, the client gets an error instead of silence.
fn unwritable(error: &serde_json::Error) -> String {
    let message = format!("the server could not write a message: {error}");
    let code = ErrorCode::Unavailable;
    let error = ErrorMessage { code, message, notebook: None, protocols: None, details: None, fatal: false };
    serde_json::to_string(&ServerMessage::Error(error)).unwrap_or_default()
}

/// Serialises one event as an element of [`events`].
pub fn event(stored: &Stored) -> Result<String, serde_json::Error> {
    serde_json::to_string(&EventMessage::from(stored))
}

/// Builds an `events` frame from the texts of gapless events; the first has version `from`.
pub fn events<'a>(notebook: &NotebookId, from: Version, events: impl Iterator<Item = &'a str> + Clone) -> String {
    let length: usize = events.clone().map(|event| event.len() + 1).sum();
    let mut text = String::with_capacity(length + notebook.as_str().len() + 64);
    text.push_str(r#"{"events":{"notebook":""#);
    text.push_str(notebook.as_str());
    text.push_str(r#"","from":"#);
    text.push_str(&from.to_string());
    text.push_str(r#","events":["#);
    for (index, event) in events.enumerate() {
        if index > 0 {
            text.push(',');
        }
        text.push_str(event);
    }
    text.push_str("]}}");
    text
}

/// Text of a frame whose middle is shared by all receivers.
#[derive(Debug, Clone, Default)]
pub struct SharedText {
    /// Text before the shared part, or the whole text if there is none.
    pub before: String,
    /// Shared JSON, serialised once.
    pub shared: Option<RawJson>,
    /// Text after the shared part.
    pub after: String,
}

impl fmt::Display for SharedText {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shared = self.shared.as_ref().map_or("", RawJson::get);
        write!(formatter, "{}{shared}{}", self.before, self.after)
    }
}

/// Builds a `subscribed` frame around a serialised snapshot, without copying it. `message.snapshot` is ignored.
pub fn subscribed(mut message: SubscribedMessage, snapshot: Option<RawJson>) -> SharedText {
    const OPENING: &str = r#"{"subscribed":{"#;
    message.snapshot = None;
    let text = text(&ServerMessage::Subscribed(Box::new(message)));
    match (snapshot, text.strip_prefix(OPENING)) {
        (Some(snapshot), Some(rest)) => {
            let (before, after) = (format!(r#"{OPENING}"snapshot":"#), format!(",{rest}"));
            SharedText { before, shared: Some(snapshot), after }
        }
        _ => SharedText { before: text, ..SharedText::default() },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use notarium_core::{Actor, Document, Role};

    fn notebook_id() -> NotebookId {
        NotebookId::new("nb").unwrap()
    }

    fn an_event(version: Version) -> EventMessage {
        EventMessage {
            version,
            id: format!("e{version}").parse().unwrap(),
            event_type: "NotebookArchived".into(),
            schema: 1,
            actor: Actor::System,
            command_id: "c".parse().unwrap(),
            correlation_id: "c".parse().unwrap(),
            causation_id: None,
            undoes: None,
            recorded_at: 7,
            payload: RawJson::parse("{}").unwrap(),
        }
    }

    #[test]
    fn a_frame_of_event_texts_is_the_message() {
        let expected = vec![an_event(3), an_event(4)];
        let texts: Vec<String> = expected.iter().map(|event| serde_json::to_string(event).unwrap()).collect();
        let frame = events(&notebook_id(), 3, texts.iter().map(String::as_str));
        let ServerMessage::Events(message) = serde_json::from_str(&frame).unwrap() else { panic!("{frame}") };
        assert_eq!((message.from, message.events), (3, expected));
    }

    #[test]
    fn a_snapshot_text_is_the_snapshot_of_the_message() {
        let notebook = Document::new(notebook_id());
        let message = SubscribedMessage {
            notebook: notebook_id(),
            version: 0,
            event_id: "e".parse().unwrap(),
            diverged: false,
            role: Role::Viewer,
            document: 1,
            redaction_epoch: 0,
            digest: None,
            undo: None,
            read_only: false,
            snapshot: Some(Box::new(notebook.clone())),
            unconfirmed_events: vec![],
            base_too_old: vec![],
            peers: vec![],
            kernels: vec![],
        };
        let frame = subscribed(message.clone(), Some(RawJson::of(&notebook).unwrap()));
        let read: ServerMessage = serde_json::from_str(&frame.to_string()).unwrap();
        assert_eq!(read, ServerMessage::Subscribed(Box::new(message)));
    }
}
