//! Messages to a client of a kernel.

use std::time::{SystemTime, UNIX_EPOCH};

use notarium_core::{KernelSession, NotebookId, Output};
use notarium_wire::{Completion, Inspection};
use serde_json::{Value, json};

use crate::channels::frames::ChannelMessage;
use crate::contents::time;

/// Version of the kernel protocol.
const PROTOCOL: &str = "5.3";

/// A new message that answers `parent`.
pub fn message(notebook: &NotebookId, channel: &str, msg_type: &str, parent: &Value, content: Value) -> ChannelMessage {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_millis());
    let header = json!({
        "msg_id": ulid::Ulid::generate().to_string(), "msg_type": msg_type, "username": "notarium", "session": notebook,
        "date": time(u64::try_from(now).unwrap_or(0)), "version": PROTOCOL,
    });
    ChannelMessage {
        channel: channel.to_owned(),
        header,
        parent_header: parent.clone(),
        metadata: json!({}),
        content,
        buffers: Vec::new(),
    }
}

/// Content of `kernel_info_reply`.
pub fn kernel_info(session: &KernelSession) -> Value {
    let mut language: Value = serde_json::from_str(session.language_info.get()).unwrap_or_else(|_| json!({}));
    if language["name"].is_null() {
        language["name"] = json!("python");
    }
    json!({
        "status": "ok", "protocol_version": PROTOCOL, "implementation": "notarium",
        "implementation_version": env!("CARGO_PKG_VERSION"), "language_info": language, "banner": "", "help_links": [],
        "debugger": false, "supported_features": [],
    })
}

/// Type and content of the message for an output whose blobs are filled in.
pub fn output(mut content: Value, recorded: &Output) -> (String, Value) {
    let msg_type = content["output_type"].as_str().unwrap_or("display_data").to_owned();
    if let Some(map) = content.as_object_mut() {
        map.remove("output_type");
        if msg_type == "display_data" || msg_type == "execute_result" {
            let transient = recorded.display_id.as_ref().map_or_else(|| json!({}), |id| json!({"display_id": id}));
            map.insert("transient".to_owned(), transient);
        }
    }
    (msg_type, content)
}

/// Payload of `execute_reply`: IPython asks a console to end. The record does not have it.
pub fn payload(code: &str) -> Value {
    match code.trim() {
        "exit" | "quit" | "exit()" | "quit()" => json!([{"source": "ask_exit", "keepkernel": false}]),
        _ => json!([]),
    }
}

/// Offset in Unicode characters, as the kernel protocol counts, of an offset in UTF-16 units.
pub fn characters(code: &str, units: u32) -> usize {
    let mut left = i64::from(units);
    code.chars()
        .take_while(|character| {
            left -= i64::try_from(character.len_utf16()).unwrap_or(2);
            left >= 0
        })
        .count()
}

/// Offset in UTF-16 units of an offset in Unicode characters.
pub fn units(code: &str, characters: u64) -> u32 {
    let characters = usize::try_from(characters).unwrap_or(usize::MAX);
    u32::try_from(code.chars().take(characters).map(char::len_utf16).sum::<usize>()).unwrap_or(u32::MAX)
}

/// Content of `complete_reply`.
pub fn completed(code: &str, completion: &Completion) -> Value {
    let (start, end) = (characters(code, completion.from), characters(code, completion.to));
    let typed: Vec<Value> = completion
        .matches
        .iter()
        .map(|found| {
            let (kind, signature) =
                (found.match_type.as_deref().unwrap_or(""), found.signature.as_deref().unwrap_or(""));
            json!({"start": start, "end": end, "text": found.text, "type": kind, "signature": signature})
        })
        .collect();
    let matches: Vec<&str> = completion.matches.iter().map(|found| found.text.as_str()).collect();
    json!({
        "status": "ok", "matches": matches, "cursor_start": start, "cursor_end": end,
        "metadata": {"_jupyter_types_experimental": typed},
    })
}

/// Content of `inspect_reply`.
pub fn inspected(inspection: &Inspection) -> Value {
    json!({"status": "ok", "found": inspection.found, "data": inspection.data, "metadata": {}})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_count_characters_outside() {
        let code = "a😀b";
        assert_eq!((units(code, 2), units(code, 3), units(code, 99)), (3, 4, 4));
        assert_eq!((characters(code, 3), characters(code, 4)), (2, 3));
    }
}
