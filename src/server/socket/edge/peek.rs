//! The few fields of a frame that an edge needs: the rest is passed on as it is.

use std::collections::BTreeMap;

use notarium_core::{EventId, NotebookId, Version};
use notarium_wire::LastEvent;
use serde::Deserialize;
use serde_json::Value;

/// A frame by its message's name and the fields that matter here.
#[derive(Debug)]
pub struct Peek {
    pub name: String,
    pub fields: Fields,
}

#[derive(Debug, Default, Deserialize)]
pub struct Fields {
    pub notebook: Option<NotebookId>,
    /// Id of a command (a text), or of a question (a number).
    pub id: Option<Value>,
    pub since: Option<LastEvent>,
    pub version: Option<Version>,
    pub event_id: Option<EventId>,
    pub events: Option<Vec<Tip>>,
    /// Present in `access`; null: the notebook may not be seen any more.
    #[serde(default, deserialize_with = "present")]
    pub role: Option<Option<Value>>,
    #[serde(default)]
    pub fatal: bool,
    /// Token of a `refresh`.
    pub token: Option<String>,
}

/// Place of an event.
#[derive(Debug, Deserialize)]
pub struct Tip {
    pub version: Version,
    pub id: EventId,
}

fn present<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<Option<Value>>, D::Error> {
    Option::<Value>::deserialize(deserializer).map(Some)
}

/// Reads a frame. `None`: it is none of the form `{"name": {…}}`.
pub fn peek(text: &str) -> Option<Peek> {
    let mut messages = serde_json::from_str::<BTreeMap<String, Fields>>(text).ok()?;
    let (name, fields) = messages.pop_first()?;
    messages.is_empty().then_some(Peek { name, fields })
}

impl Fields {
    /// Id as a text.
    pub fn text_id(&self) -> Option<&str> {
        self.id.as_ref()?.as_str()
    }

    pub fn number(&self) -> Option<u64> {
        self.id.as_ref()?.as_u64()
    }

    /// Position of a client that has this frame of a subscription.
    pub fn position(&self) -> Option<LastEvent> {
        if let Some(last) = self.events.as_ref().and_then(|events| events.last()) {
            return Some(LastEvent { version: last.version, event_id: last.id.clone() });
        }
        Some(LastEvent { version: self.version?, event_id: self.event_id.clone()? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fields_that_matter_are_read_and_others_are_not() {
        let events =
            r#"{"events":{"notebook":"n","from":3,"events":[{"version":3,"id":"a","x":1},{"version":4,"id":"b"}]}}"#;
        let peek = peek(events).unwrap();
        assert_eq!(peek.name, "events");
        assert_eq!(peek.fields.position().unwrap().version, 4);
        let ack = super::peek(r#"{"ack":{"id":"c1","notebook":"n","version":4}}"#).unwrap();
        assert_eq!((ack.fields.text_id(), ack.fields.position()), (Some("c1"), None));
        let access =
            |role: &str| super::peek(&format!(r#"{{"access":{{"notebook":"n"{role}}}}}"#)).map(|it| it.fields.role);
        assert_eq!(access(r#","role":null"#), Some(Some(None)));
        assert_eq!(access(r#","role":"owner""#), Some(Some(Some("owner".into()))));
        assert_eq!(access(""), Some(None));
        for other in ["", "7", "{}", r#"{"a":{},"b":{}}"#, r#"{"x":7}"#] {
            assert!(super::peek(other).is_none(), "{other}");
        }
    }
}
