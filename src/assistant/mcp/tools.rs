//! The list of tools for the protocol.

use std::sync::{Arc, LazyLock};

use notarium_core::tools::{TOOLS, Tool as Row, offered};
use notarium_core::{Document, Operation, Risk, Scope, Scopes};
use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use serde_json::{Value, json};

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
    let schema = if row.name == LIST_NOTEBOOKS { object(row.schema()).into() } else { with_notebook(row.schema()) };
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

/// Adds the argument for the notebook to a schema.
fn with_notebook(schema: Value) -> Arc<JsonObject> {
    let description =
        "The notebook: its id, or its title where only one has it. Left out: the notebook that the connection is for.";
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

#[cfg(test)]
mod tests {
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
}
