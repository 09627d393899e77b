//! Runs over REST, as JupyterLab's server-side execution and `jupyter-nbmodel-client` request them. Outputs come through the document.

use axum::Json;
use axum::extract::{Path, State};
use axum::response::{IntoResponse, Response};
use http::{Method, StatusCode, header};
use notarium_core::{Execution, ExecutionStatus, NotebookId};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::api::{CallerToken, encoded};
use crate::body::JsonOf;
use crate::document::cell_view::{BlobTexts, outputs_of};
use crate::door::JupyterDoor;
use crate::error::JupyterError;

/// Purpose of a run whose code belongs to no cell.
const PURPOSE: &str = "code of a Jupyter client";

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct CellTarget {
    cell_id: Option<String>,
    document_id: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct CellRequest {
    code: Option<String>,
    metadata: CellTarget,
    cell_id: Option<String>,
    document_id: Option<String>,
}

impl CellRequest {
    fn cell(&self) -> Option<&str> {
        self.cell_id.as_deref().or(self.metadata.cell_id.as_deref())
    }

    /// The notebook that the document id names.
    fn notebook(&self) -> Option<NotebookId> {
        let document = self.document_id.as_deref().or(self.metadata.document_id.as_deref())?;
        document.rsplit(':').next()?.parse().ok()
    }
}

/// Requests a run; 202 with the address of its result.
pub async fn execute(
    State(door): State<JupyterDoor>,
    token: CallerToken,
    Path(kernel): Path<NotebookId>,
    JsonOf(request): JsonOf<CellRequest>,
) -> Result<Response, JupyterError> {
    let notebook = request.notebook().unwrap_or_else(|| kernel.clone());
    // The client's last keystrokes come first: they are on their way over its WebSocket.
    if let Some(room) = door.rooms.get(&notebook) {
        room.settle().await;
    }
    let run = start(&door, &token, &notebook, request.cell(), request.code.as_deref()).await?;
    let location = format!("/jupyter/api/kernels/{}/requests/{}", encoded(notebook.as_str()), encoded(&run));
    Ok((StatusCode::ACCEPTED, [(header::LOCATION, location)], Json(json!({}))).into_response())
}

/// Starts a run of the cell if the code is its source, else of the code alone; returns its id.
pub async fn start(
    door: &JupyterDoor,
    token: &CallerToken,
    notebook: &NotebookId,
    cell: Option<&str>,
    code: Option<&str>,
) -> Result<String, JupyterError> {
    let base = format!("/api/notebooks/{}", encoded(notebook.as_str()));
    let cell = match cell {
        Some(cell) => is_source_of(door, token, &base, cell, code).await?.then_some(cell),
        None => None,
    };
    let body = match (cell, code) {
        (Some(cell), _) => json!({"cells": [cell]}),
        (None, Some(code)) => json!({"scratch": {"source": code, "purpose": PURPOSE}}),
        (None, None) => return Err(JupyterError::invalid("name a cell ('cell_id') or send 'code'")),
    };
    let answer = door.api.json(token, Method::POST, &format!("{base}/runs"), Some(body)).await?;
    let run = answer["outcome"]["executions"][0].as_str();
    run.map(str::to_owned)
        .ok_or_else(|| JupyterError::invalid("there is nothing to run: the cell is empty or not code"))
}

async fn is_source_of(
    door: &JupyterDoor,
    token: &CallerToken,
    base: &str,
    cell: &str,
    code: Option<&str>,
) -> Result<bool, JupyterError> {
    let Some(code) = code else { return Ok(true) };
    match door.api.get(token, &format!("{base}/cells/{}", encoded(cell))).await {
        Ok(found) => Ok(found["cell"]["source"] == code),
        Err(error) if error.status == StatusCode::NOT_FOUND => Ok(false),
        Err(error) => Err(error),
    }
}

/// The result of a run: 202 while it is pending, 300 while it waits for input.
pub async fn request(
    State(door): State<JupyterDoor>,
    token: CallerToken,
    Path((notebook, run)): Path<(NotebookId, String)>,
) -> Result<Response, JupyterError> {
    let base = format!("/api/notebooks/{}/runs/{}", encoded(notebook.as_str()), encoded(&run));
    let answer = door.api.get(&token, &base).await?;
    let execution: Execution =
        serde_json::from_value(answer["execution"].clone()).map_err(|error| JupyterError::internal(&error))?;
    if let Some(input) = &execution.pending_input {
        let location = format!("/jupyter/api/kernels/{}/requests/{}/input", encoded(notebook.as_str()), encoded(&run));
        let body = json!({"parent_header": {}, "input_request": {"prompt": input.prompt, "password": input.password}});
        return Ok((StatusCode::MULTIPLE_CHOICES, [(header::LOCATION, location)], Json(body)).into_response());
    }
    if !execution.status.is_finished() {
        return Ok((StatusCode::ACCEPTED, Json(json!({}))).into_response());
    }
    Ok(Json(result(&execution)).into_response())
}

fn result(execution: &Execution) -> Value {
    let outputs = outputs_of(execution, &BlobTexts::new());
    let error = outputs.iter().find(|output| output["output_type"] == "error").cloned();
    let mut result = json!({
        "status": if execution.status == ExecutionStatus::Ok { "ok" } else { "error" },
        "execution_count": execution.execution_count,
        "outputs": Value::Array(outputs).to_string(),
    });
    if execution.status != ExecutionStatus::Ok {
        let error = error.unwrap_or_else(|| json!({"ename": "RunEnded", "evalue": ended(execution), "traceback": []}));
        for key in ["ename", "evalue", "traceback"] {
            result[key] = error[key].clone();
        }
    }
    result
}

/// Sentence for a run that ended without an error of its code.
pub fn ended(execution: &Execution) -> &'static str {
    match execution.status {
        ExecutionStatus::Cancelled => "the run was cancelled",
        ExecutionStatus::Blocked => "the run was skipped, because one before it failed",
        ExecutionStatus::Lost => "the run was lost with its kernel",
        _ => "the run failed",
    }
}

#[derive(Debug, Deserialize)]
pub struct InputAnswer {
    input: String,
}

/// Answers a request for input.
pub async fn input(
    State(door): State<JupyterDoor>,
    token: CallerToken,
    Path((notebook, run)): Path<(NotebookId, String)>,
    JsonOf(InputAnswer { input }): JsonOf<InputAnswer>,
) -> Result<StatusCode, JupyterError> {
    let path = format!("/api/notebooks/{}/runs/{}/input", encoded(notebook.as_str()), encoded(&run));
    door.api.json(&token, Method::POST, &path, Some(json!({"value": input}))).await?;
    Ok(StatusCode::CREATED)
}
