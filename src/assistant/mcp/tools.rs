//! Tools in the protocol's form: their list, and the results and tasks of calls.

use std::sync::{Arc, LazyLock};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use chrono::DateTime;
use notarium_core::tools::{TOOLS, Tool as Row, offered};
use notarium_core::{Document, Millis, NotebookId, Operation, Risk, Scope, Scopes, ToolCallId};
use rmcp::model::{CallToolResult, ContentBlock, JsonObject, Task, TaskPayload, TaskStatus, Tool, ToolAnnotations};
use serde::Serialize;
use serde_json::{Value, json};

use crate::assistants::Called;

/// Tool that waits on a call that waits for a person or is running.
pub const AWAIT: &str = "await_confirmation";
pub const LIST_NOTEBOOKS: &str = "list_notebooks";
pub const CREATE_NOTEBOOK: &str = "create_notebook";
/// The argument with the notebook of a call. It is removed before the tool sees its arguments.
pub const NOTEBOOK: &str = "notebook";

/// Longest wait of `await_confirmation` in seconds: clients give up on a request after about a minute.
pub const MAX_AWAIT_SECONDS: u64 = 60;
pub const DEFAULT_AWAIT_SECONDS: u64 = 45;

static LISTED: LazyLock<Vec<Tool>> = LazyLock::new(|| TOOLS.iter().map(listed).chain([await_tool()]).collect());

/// The tools that a token with these scopes can call.
pub fn all(scopes: &Scopes) -> Vec<Tool> {
    let may_call = |tool: &&Tool| Row::find(&tool.name).is_none_or(|row| scopes.contains(&row.operation.scope()));
    LISTED.iter().filter(may_call).cloned().collect()
}

pub fn find(name: &str) -> Option<Tool> {
    LISTED.iter().find(|tool| tool.name == name).cloned()
}

/// The functions that the notebook's kernels have registered, as tools; each needs the scope to run.
pub fn functions(notebook: &Document) -> impl Iterator<Item = Tool> {
    let registered = offered(notebook).into_iter().filter(|tool| tool.version.is_some());
    registered.map(|function| {
        let tool = Tool::new(function.name, function.description, with_notebook(function.schema));
        tool.with_title(function.summary).with_annotations(annotations(function.risk))
    })
}

/// The scope that a call needs and the token lacks. A function outside the table runs in the kernel.
pub fn missing_scope(name: &str, arguments: &JsonObject, scopes: &Scopes) -> Option<Scope> {
    let own = Row::find(name).map_or(Operation::Run, |row| row.operation).scope();
    let runs = arguments.get("run") == Some(&Value::Bool(true));
    let needed = [Some(own), runs.then_some(Scope::Run)];
    needed.into_iter().flatten().find(|scope| !scopes.contains(scope))
}

fn listed(row: &Row) -> Tool {
    let schema = match row.name {
        LIST_NOTEBOOKS => object(row.schema()).into(),
        CREATE_NOTEBOOK => with_notebook_as(row.schema(), NOTEBOOK_OF_RECORD),
        _ => with_notebook(row.schema()),
    };
    let description = match row.risk {
        Risk::Destructive => format!("{} The call waits for a person: then use {AWAIT}.", row.description),
        _ => row.description.to_owned(),
    };
    Tool::new(row.name, description, schema).with_title(row.summary).with_annotations(annotations(row.risk))
}

/// Hints for clients; they do not affect the gate.
fn annotations(risk: Risk) -> ToolAnnotations {
    ToolAnnotations::new().read_only(risk == Risk::Read).destructive(risk >= Risk::Destructive).open_world(false)
}

fn await_tool() -> Tool {
    let schema = with_notebook(json!({
        "type": "object",
        "properties": {
            "call_id": { "type": "string", "description": "The id of the call, as the answer to it said." },
            "seconds": {
                "type": "integer", "minimum": 0, "maximum": MAX_AWAIT_SECONDS,
                "description": format!("How long to wait. Default {DEFAULT_AWAIT_SECONDS}."),
            },
        },
        "required": ["call_id"],
        "additionalProperties": false,
    }));
    let description = "Waits until a call that waits for a person, or that goes on, has ended, and gives its result. If it \
                       has not ended in time, you are told so: wait again, or go on with something else.";
    let annotations = annotations(Risk::Read).idempotent(true);
    Tool::new(AWAIT, description, schema).with_title("Wait for a call").with_annotations(annotations)
}

const NOTEBOOK_OF_CALL: &str =
    "The notebook: its id, or its title where only one has it. Left out: the notebook that the connection is for.";
const NOTEBOOK_OF_RECORD: &str = "The notebook in whose log the call is recorded: its id, or its title where only one has it. Left out: the new one.";

/// Adds the argument for the notebook to a schema.
fn with_notebook(schema: Value) -> Arc<JsonObject> {
    with_notebook_as(schema, NOTEBOOK_OF_CALL)
}

fn with_notebook_as(schema: Value, description: &str) -> Arc<JsonObject> {
    let mut schema = object(schema);
    let properties = schema.entry("properties").or_insert_with(|| json!({}));
    if let Some(properties) = properties.as_object_mut() {
        properties.insert(NOTEBOOK.to_owned(), json!({ "type": "string", "description": description }));
    }
    schema.into()
}

fn object(value: Value) -> JsonObject {
    match value {
        Value::Object(fields) => fields,
        _ => JsonObject::new(),
    }
}

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
    use notarium_core::Risk;

    use super::*;

    #[test]
    fn no_tool_of_the_table_has_an_argument_of_the_door_s_own_name() {
        for row in TOOLS {
            assert!(row.schema()["properties"].get(NOTEBOOK).is_none(), "{}", row.name);
            assert_ne!(row.name, AWAIT);
        }
    }

    #[test]
    fn a_token_is_offered_what_its_scopes_allow() {
        let names = |scopes: &[Scope]| -> Vec<String> {
            all(&scopes.iter().copied().collect()).iter().map(|tool| tool.name.to_string()).collect()
        };
        let reading = names(&[Scope::Read]);
        assert!(reading.contains(&"get_notebook_state".to_owned()) && reading.contains(&AWAIT.to_owned()));
        assert!(!reading.contains(&"create_cell".to_owned()) && !reading.contains(&"get_variables".to_owned()));
        assert_eq!(names(&[Scope::Read, Scope::Edit, Scope::Run]).len(), TOOLS.len() + 1);
    }

    #[test]
    fn a_call_that_also_runs_needs_the_scope_to_run() {
        let scopes: Scopes = [Scope::Read, Scope::Edit].into();
        let arguments = |run: bool| object(json!({ "cells": [], "run": run }));
        assert_eq!(missing_scope("create_cells", &arguments(true), &scopes), Some(Scope::Run));
        assert_eq!(missing_scope("create_cells", &arguments(false), &scopes), None);
        assert_eq!(missing_scope("somebody_s_function", &JsonObject::new(), &scopes), Some(Scope::Run));
    }

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
