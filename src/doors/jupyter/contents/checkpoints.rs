//! Checkpoints of Jupyter are named versions. Every version of a notebook is kept, so nothing is copied.

use axum::Json;
use axum::response::{IntoResponse, Response};
use http::{Method, StatusCode};
use serde_json::{Value, json};

use crate::api::{CallerToken, encoded};
use crate::contents::paths::NotebookEntry;
use crate::door::{EPOCH, JupyterDoor};
use crate::error::JupyterError;

/// The named versions, the newest last.
pub async fn list(door: &JupyterDoor, token: &CallerToken, entry: &NotebookEntry) -> Result<Response, JupyterError> {
    let state = door.api.get(token, &format!("/api/notebooks/{}?outputs=false", encoded(entry.id.as_str()))).await?;
    let named = state["notebook"]["named_versions"].as_object().cloned().unwrap_or_default();
    let mut versions: Vec<u64> = named.keys().filter_map(|version| version.parse().ok()).collect();
    versions.sort_unstable();
    let checkpoints: Vec<Value> = versions.into_iter().map(|version| model(&version.to_string())).collect();
    Ok(Json(checkpoints).into_response())
}

/// Names the present version.
pub async fn create(door: &JupyterDoor, token: &CallerToken, entry: &NotebookEntry) -> Result<Response, JupyterError> {
    let notebook = format!("/api/notebooks/{}", encoded(entry.id.as_str()));
    let state = door.api.get(token, &format!("{notebook}?outputs=false")).await?;
    let version = state["notebook"]["version"].as_u64().unwrap_or_default();
    let known = &state["notebook"]["named_versions"][version.to_string()];
    if known.is_null() {
        let body = json!({"version": version, "name": format!("Checkpoint at version {version}")});
        door.api.json(token, Method::POST, &format!("{notebook}/versions"), Some(body)).await?;
    }
    Ok((StatusCode::CREATED, Json(model(&version.to_string()))).into_response())
}

fn model(id: &str) -> Value {
    json!({"id": id, "last_modified": EPOCH})
}

/// Restoring and deleting are refused.
pub fn refused() -> JupyterError {
    let message =
        "a checkpoint is a version of the record, which stays: open Notarium's history to look at it or to fork it";
    JupyterError::new(StatusCode::CONFLICT, "not_supported", message)
}
