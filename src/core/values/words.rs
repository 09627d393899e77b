//! Renders values of the wire as words in sentences for people.

use serde::Serialize;

/// A value that is one word on the wire, as people read it: `confirm edit`, not `ConfirmEdit`.
pub fn word(value: &impl Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(word)) => word.replace('_', " "),
        _ => "?".to_owned(),
    }
}
