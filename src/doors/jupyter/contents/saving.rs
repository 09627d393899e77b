//! Saves a notebook's file over the shared notebook: the difference, as one command. Outputs of a file are not taken: they come from runs.

use http::Method;
use notarium_core::Document;
use serde_json::{Value, json};

use crate::api::{CallerToken, encoded};
use crate::contents::paths::NotebookEntry;
use crate::document::differences;
use crate::door::JupyterDoor;
use crate::error::JupyterError;

pub async fn save(
    door: &JupyterDoor,
    token: &CallerToken,
    entry: &NotebookEntry,
    file: &Value,
) -> Result<(), JupyterError> {
    let notebook = format!("/api/notebooks/{}", encoded(entry.id.as_str()));
    let state = door.api.get(token, &notebook).await?;
    let document: Document =
        serde_json::from_value(state["notebook"].clone()).map_err(|error| JupyterError::internal(&error))?;
    let command = differences::of_file(&document, file).map_err(JupyterError::invalid)?;
    let Some(command) = command else { return Ok(()) };
    let body = json!({"body": command});
    door.api.json(token, Method::POST, &format!("{notebook}/commands"), Some(body)).await?;
    Ok(())
}
