//! Parses frames to messages, or to errors that say what was expected; builds error and reject messages.

use std::collections::BTreeMap;

use notarium_core::{CommandId, NotebookId, Rejection};
use notarium_wire::{ClientMessage, ErrorCode, ErrorMessage, RejectMessage};
use serde::de::IgnoredAny;

/// Names of all client messages.
const NAMES: [&str; 17] = [
    "hello",
    "refresh",
    "subscribe",
    "unsubscribe",
    "command",
    "check",
    "presence",
    "ask_kernel",
    "follow_comms",
    "send_comm",
    "offer",
    "kernel_status",
    "kernel_use",
    "comms",
    "comm",
    "answer_question",
    "answer_file",
];

/// Parses one message.
pub fn parse(text: &str) -> Result<ClientMessage, ErrorMessage> {
    serde_json::from_str(text).map_err(|error| explain(text, &error))
}

fn explain(text: &str, error: &serde_json::Error) -> ErrorMessage {
    match serde_json::from_str::<BTreeMap<String, IgnoredAny>>(text) {
        Ok(fields) if fields.len() == 1 => {
            let name = fields.into_keys().next().unwrap_or_default();
            if NAMES.contains(&name.as_str()) {
                return problem(ErrorCode::Malformed, format!("'{name}' is not of its shape: {error}"));
            }
            let name: String = name.chars().take(80).collect();
            let names = NAMES.join(", ");
            problem(ErrorCode::UnknownMessage, format!("there is no message '{name}': use one of {names}"))
        }
        _ => {
            problem(ErrorCode::Malformed, format!("a frame is a JSON object with one key, its message's name: {error}"))
        }
    }
}

/// An error that leaves the connection open.
pub fn problem(code: ErrorCode, message: impl Into<String>) -> ErrorMessage {
    ErrorMessage { code, message: message.into(), notebook: None, protocols: None, fatal: false }
}

/// An error after which the server closes the connection.
pub fn fatal(code: ErrorCode, message: impl Into<String>) -> ErrorMessage {
    ErrorMessage { fatal: true, ..problem(code, message) }
}

/// Reply to a command that is refused.
pub fn reject(id: CommandId, notebook: NotebookId, rejection: Rejection) -> RejectMessage {
    RejectMessage {
        id,
        notebook,
        code: rejection.code,
        message: rejection.message,
        expected_version: rejection.expected_version,
        actual_version: rejection.actual_version,
        expected_seq: rejection.expected_seq,
        part: rejection.part,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(text: &str) -> (ErrorCode, String) {
        let error = parse(text).unwrap_err();
        (error.code, error.message)
    }

    #[test]
    fn every_name_is_one_that_the_wire_knows() {
        let (_, wire) = refused(r#"{"no_such_message":{}}"#);
        for name in NAMES {
            assert!(wire.contains(name), "{name}");
            let error = serde_json::from_str::<ClientMessage>(&format!("{{\"{name}\":7}}")).unwrap_err().to_string();
            assert!(!error.contains("unknown variant"), "{name}: {error}");
        }
        let all = serde_json::from_str::<ClientMessage>("{\"x\":7}").unwrap_err().to_string();
        assert_eq!(
            all.matches('`').count(),
            2 * (NAMES.len() + 1),
            "the wire has a message that is missing here: {all}"
        );
    }

    #[test]
    fn what_is_wrong_is_said() {
        assert_eq!(refused("{").0, ErrorCode::Malformed);
        assert_eq!(refused("[1]").0, ErrorCode::Malformed);
        assert_eq!(refused(r#"{"sudo":{}}"#).0, ErrorCode::UnknownMessage);
        let (code, message) = refused(r#"{"unsubscribe":{"notebook":"n","extra":1}}"#);
        assert_eq!(code, ErrorCode::Malformed);
        assert!(message.contains("extra"), "{message}");
        let (_, message) = refused(r#"{"subscribe":{"notebook":"no spaces allowed"}}"#);
        assert!(message.contains("is not an id"), "{message}");
    }
}
