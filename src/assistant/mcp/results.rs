//! Converts the state of a call into results and tasks of the protocol.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use chrono::DateTime;
use notarium_core::{Millis, NotebookId, ToolCallId};
use rmcp::model::{CallToolResult, ContentBlock, JsonObject, Task, TaskPayload, TaskStatus};
use serde::Serialize;
use serde_json::{Value, json};

use super::tools::AWAIT;
use crate::caller::Called;

/// Poll interval for tasks that clients are asked to keep.
const POLL_INTERVAL_MS: u64 = 2_000;

/// The result of a call for the client, ended or not. A waiting call is no error.
pub fn result(called: &Called) -> CallToolResult {
    match called {
        Called::Ended { text, is_error, image, .. } => ended(text, *is_error, image.as_ref()),
        Called::Waiting { call_id, risk, reasons, expires_at } => {
            let because = if reasons.is_empty() { String::new() } else { format!(" ({})", reasons.join("; ")) };
            let text = format!(
                "Waiting for confirmation by a person: call {call_id}{because}. Nothing has been done yet. Use {AWAIT} with \
                 this call_id to learn how it ends; do not request it again."
            );
            let facts = json!({
                "status": "waiting_for_confirmation", "call_id": call_id, "risk": risk, "reasons": reasons,
                "expires_at": expires_at,
            });
            with_facts(text, facts)
        }
        Called::Running { call_id } => {
            let text =
                format!("Call {call_id} has started and goes on. Use {AWAIT} with this call_id to learn how it ends.");
            with_facts(text, json!({ "status": "running", "call_id": call_id }))
        }
    }
}

fn ended(text: &str, is_error: bool, image: Option<&Bytes>) -> CallToolResult {
    let mut content = vec![ContentBlock::text(text)];
    content.extend(image.map(|png| ContentBlock::image(STANDARD.encode(png), "image/png")));
    if is_error {
        return CallToolResult::error(content);
    }
    let mut result = CallToolResult::success(content);
    result.structured_content = serde_json::from_str::<JsonObject>(text).ok().map(Value::Object);
    result
}

fn with_facts(text: String, facts: Value) -> CallToolResult {
    let mut result = CallToolResult::success(vec![ContentBlock::text(text)]);
    result.structured_content = Some(facts);
    result
}

/// A refusal that the model can read and act on.
pub fn refused(message: &str) -> CallToolResult {
    CallToolResult::error(vec![ContentBlock::text(message)])
}

/// The call's id.
pub fn id_of(called: &Called) -> &ToolCallId {
    match called {
        Called::Ended { call_id, .. } | Called::Waiting { call_id, .. } | Called::Running { call_id } => call_id,
    }
}

/// A value as text and as structured content.
pub fn value(value: &impl Serialize) -> CallToolResult {
    CallToolResult::structured(serde_json::to_value(value).unwrap_or_default())
}

// --- tasks ---

/// A call's id as a task: derived from its ids, so it needs no table and outlives the connection.
pub fn task_id(notebook: &NotebookId, call_id: &ToolCallId) -> String {
    format!("{notebook}.{call_id}")
}

/// Parses a task id; `None` if it is not one of ours.
pub fn call_of(task_id: &str) -> Option<(NotebookId, ToolCallId)> {
    let (notebook, call_id) = task_id.split_once('.')?;
    Some((notebook.parse().ok()?, call_id.parse().ok()?))
}

/// A task with the times of its begin and its last change.
pub fn task(id: String, called: &Called, began: Millis, moved: Millis) -> Task {
    let (status, message) = match called {
        Called::Ended { .. } => (TaskStatus::Completed, "It is over."),
        Called::Waiting { .. } => (TaskStatus::Working, "It waits for confirmation by a person."),
        Called::Running { .. } => (TaskStatus::Working, "It is under way."),
    };
    let task = Task::new(id, status, iso(began), iso(moved));
    task.with_status_message(message).with_poll_interval_ms(POLL_INTERVAL_MS)
}

pub fn payload(called: &Called) -> TaskPayload {
    match called {
        Called::Ended { .. } => match serde_json::to_value(result(called)) {
            Ok(Value::Object(result)) => TaskPayload::Completed { result },
            _ => TaskPayload::Working,
        },
        Called::Waiting { .. } | Called::Running { .. } => TaskPayload::Working,
    }
}

fn iso(at: Millis) -> String {
    let at = i64::try_from(at).ok().and_then(DateTime::from_timestamp_millis).unwrap_or_default();
    at.to_rfc3339_opts(chrono::SecondsFormat::Millis, true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use notarium_core::Risk;

    #[test]
    fn a_task_s_id_names_notebook_and_call() {
        let (notebook, call): (NotebookId, ToolCallId) = ("n-1".parse().unwrap(), "c_2".parse().unwrap());
        assert_eq!(call_of(&task_id(&notebook, &call)), Some((notebook, call)));
        for bad in ["", "n", "n.", ".c", "n.c.d", "n/../x.c"] {
            assert_eq!(call_of(bad), None, "{bad}");
        }
    }

    #[test]
    fn what_waits_is_told_as_no_error_and_names_the_call() {
        let called = Called::Waiting {
            call_id: "k1".parse().unwrap(),
            risk: Risk::Destructive,
            reasons: vec!["it deletes".to_owned()],
            expires_at: Some(5),
        };
        let rendered = serde_json::to_value(result(&called)).unwrap();
        assert_eq!(rendered["isError"], false);
        assert!(
            rendered["content"][0]["text"]
                .as_str()
                .unwrap()
                .starts_with("Waiting for confirmation by a person: call k1")
        );
        let facts = json!({"status": "waiting_for_confirmation", "call_id": "k1", "risk": "destructive", "reasons": ["it deletes"], "expires_at": 5});
        assert_eq!(rendered["structuredContent"], facts);
    }

    #[test]
    fn a_result_in_json_comes_as_structure_too_and_a_picture_as_one() {
        let ended = |text: &str, is_error, image| {
            let call_id = "k1".parse().unwrap();
            serde_json::to_value(result(&Called::Ended { call_id, text: text.to_owned(), is_error, image })).unwrap()
        };
        assert_eq!(ended("{\"a\":1}", false, None)["structuredContent"], json!({"a": 1}));
        assert!(ended("done", false, None).get("structuredContent").is_none());
        let failed = ended("{\"a\":1}", true, None);
        assert!(failed["isError"] == true && failed.get("structuredContent").is_none());
        let picture = ended("a plot", false, Some(Bytes::from_static(b"\x89PNG")));
        assert_eq!(picture["content"][1], json!({"type": "image", "data": "iVBORw==", "mimeType": "image/png"}));
    }

    #[test]
    fn times_are_iso_8601() {
        assert_eq!(iso(1_700_000_000_123), "2023-11-14T22:13:20.123Z");
    }
}
