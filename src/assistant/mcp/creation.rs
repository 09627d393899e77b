//! `create_notebook` without a notebook in whose log the call could be recorded, as on an empty server: the new notebook has the record
//! itself. It is made in the name of the person's assistant, and its first cells are a tool call in it.

use std::sync::Arc;
use std::time::Duration;

use notarium_core::tools::{Arguments, CreateNotebook, Tool};
use notarium_core::{Command, NotebookId, RawObject};
use rmcp::model::{CallToolResult, JsonObject};
use serde_json::{Value, json};

use super::tools;
use super::visitor::Visitor;
use crate::assistants::{Called, ToolCaller, WantedCall};
use crate::host::NotebookHost;

/// Makes the notebook `id` and its cells. The error is for the model to read.
pub async fn create(
    (caller, host): (&Arc<dyn ToolCaller>, &Arc<dyn NotebookHost>),
    visitor: &Visitor,
    id: NotebookId,
    arguments: JsonObject,
    patience: Duration,
) -> Result<CallToolResult, String> {
    let call = parsed(&arguments)?;
    let command =
        Command::CreateNotebook { title: call.title.clone(), metadata: RawObject::default(), forked_from: None };
    host.execute(&visitor.actor, &id, &command).await.map_err(|rejection| rejection.message)?;
    let made = |cells: Vec<Value>| json!({"notebook_id": id, "title": call.title, "cells": cells});
    if call.cells.as_ref().is_none_or(Vec::is_empty) {
        return Ok(tools::value(&made(Vec::new())));
    }
    let cells = json!({"cells": arguments.get("cells"), "run": call.run});
    let wanted = WantedCall {
        function: "create_cells".to_owned(),
        arguments: RawObject::parse(&cells.to_string()).map_err(|error| error.to_string())?,
        title: Some(visitor.title.clone()),
        token: Some(visitor.person.token_id.clone()),
    };
    let is_made = format!("The notebook {id} was made. Name it in the argument notebook from now on.");
    let called = caller.call(&visitor.actor, &id, wanted, patience).await;
    let called = called.map_err(|rejection| format!("{is_made} Its cells were not: {}", rejection.message))?;
    match called {
        Called::Ended { call_id, text, is_error, image } => {
            let (first, rest) = text.split_once('\n').unwrap_or((&text, ""));
            let text = match (cell_ids(first), rest) {
                (Some(cells), "") => made(cells).to_string(),
                (Some(cells), rest) => format!("{}\n{rest}", made(cells)),
                (None, _) => format!("{is_made}\n{text}"),
            };
            Ok(tools::result(&Called::Ended { call_id, text, is_error, image }))
        }
        called => {
            let mut result = tools::result(&called);
            result.content.insert(0, rmcp::model::ContentBlock::text(is_made));
            Ok(result)
        }
    }
}

fn parsed(arguments: &JsonObject) -> Result<CreateNotebook, String> {
    let tool = Tool::find(tools::CREATE_NOTEBOOK).ok_or("there is no such tool")?;
    let given = RawObject::parse(&Value::Object(arguments.clone()).to_string()).map_err(|error| error.to_string())?;
    match tool.arguments(&given).map_err(|rejection| rejection.message)? {
        Arguments::CreateNotebook(call) => Ok(call),
        other => Err(format!("{} makes no notebook", other.name())),
    }
}

/// The ids in the result of `create_cells`.
fn cell_ids(result: &str) -> Option<Vec<Value>> {
    let result: Value = serde_json::from_str(result).ok()?;
    let cells = result.get("cells")?.as_array()?;
    Some(cells.iter().map(|cell| cell["cell_id"].clone()).collect())
}
