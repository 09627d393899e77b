//! Text of values that are one word on the wire.

use serde::Serialize;
use serde_json::Value;

/// The word on the wire; empty for other values.
pub fn word(value: &impl Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(Value::String(word)) => word,
        _ => String::new(),
    }
}
