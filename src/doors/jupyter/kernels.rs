//! Kernels and sessions. A kernel of Jupyter is the default kernel of a notebook and has the notebook's id, which survives restarts.

use std::collections::BTreeSet;
use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use axum::response::{IntoResponse, Response};
use http::{Method, StatusCode};
use notarium_core::NotebookId;
use parking_lot::Mutex;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::api::{CallerToken, encoded};
use crate::body::JsonOf;
use crate::contents::{self, ContentPlace, NotebookEntry, Tree};
use crate::door::{EPOCH, JupyterDoor};
use crate::error::JupyterError;

/// Notebooks that lists of kernels look into.
const MAX_NOTED: usize = 200;

/// Notebooks that were opened through the door. Lists of kernels name those among them that the caller may see.
#[derive(Debug, Clone, Default)]
pub struct OpenNotebooks(Arc<Mutex<BTreeSet<NotebookId>>>);

impl OpenNotebooks {
    pub fn note(&self, notebook: &NotebookId) {
        let mut noted = self.0.lock();
        if noted.len() >= MAX_NOTED && !noted.contains(notebook) {
            noted.pop_first();
        }
        noted.insert(notebook.clone());
    }
}

fn of(notebook: &NotebookId) -> String {
    format!("/api/notebooks/{}/kernels", encoded(notebook.as_str()))
}

/// The default kernel of a notebook: the oldest that has not ended.
pub struct DefaultKernel {
    pub session: String,
    pub kernelspec: String,
    pub state: &'static str,
}

pub async fn default_kernel(
    door: &JupyterDoor,
    token: &CallerToken,
    notebook: &NotebookId,
) -> Result<Option<DefaultKernel>, JupyterError> {
    let answer = door.api.get(token, &of(notebook)).await?;
    let kernels = answer["kernels"].as_object().cloned().unwrap_or_default();
    let usable = kernels.into_iter().filter(|(_, kernel)| kernel["phase"] != "ending");
    let oldest = usable.min_by_key(|(_, kernel)| kernel["requested_version"].as_u64());
    Ok(oldest.map(|(session, kernel)| {
        let status = answer["status"].as_array().into_iter().flatten();
        let is_busy =
            status.into_iter().any(|status| status["kernel_session"] == session.as_str() && status["busy"] == true);
        let state = match kernel["phase"].as_str() {
            Some("started") if is_busy => "busy",
            Some("started") => "idle",
            _ => "starting",
        };
        DefaultKernel { kernelspec: kernel["kernelspec"].as_str().unwrap_or("python3").to_owned(), session, state }
    }))
}

fn kernel_model(notebook: &NotebookId, kernel: &DefaultKernel) -> Value {
    json!({
        "id": notebook, "name": kernel.kernelspec, "last_activity": EPOCH, "execution_state": kernel.state, "connections": 1,
    })
}

fn session_model(entry: &NotebookEntry, kernel: &DefaultKernel) -> Value {
    json!({
        "id": entry.id, "path": entry.path, "name": entry.name, "type": "notebook",
        "kernel": kernel_model(&entry.id, kernel), "notebook": {"path": entry.path, "name": entry.name},
    })
}

fn no_kernel() -> JupyterError {
    JupyterError::not_found("this kernel has ended: start another one")
}

// --- kernelspecs ---

/// Kernelspecs that the runtime agents of the caller's last changed notebook offer. Without a notebook: Python.
pub async fn kernelspecs(State(door): State<JupyterDoor>, token: CallerToken) -> Result<Json<Value>, JupyterError> {
    let newest = door.api.get(&token, "/api/notebooks?limit=1").await?;
    let offered = match newest["notebooks"][0]["id"].as_str() {
        Some(notebook) => door.api.get(&token, &format!("/api/notebooks/{}/kernels", encoded(notebook))).await?,
        None => Value::Null,
    };
    let mut specs = Map::new();
    for offer in offered["kernelspecs"].as_array().into_iter().flatten() {
        if let Some(name) = offer["name"].as_str() {
            specs.insert(name.to_owned(), spec(name, &offer["display_name"], &offer["language"]));
        }
    }
    if specs.is_empty() {
        specs.insert("python3".to_owned(), spec("python3", &json!("Python 3"), &json!("python")));
    }
    let default = if specs.contains_key("python3") { Some("python3") } else { specs.keys().next().map(String::as_str) };
    Ok(Json(json!({"default": default, "kernelspecs": specs})))
}

fn spec(name: &str, display_name: &Value, language: &Value) -> Value {
    let spec = json!({
        "argv": [], "env": {}, "display_name": display_name, "language": language, "interrupt_mode": "signal", "metadata": {},
    });
    json!({"name": name, "spec": spec, "resources": {}})
}

// --- kernels ---

pub async fn list(State(door): State<JupyterDoor>, token: CallerToken) -> Result<Json<Value>, JupyterError> {
    let running = running(&door, &token).await?;
    Ok(Json(running.iter().map(|(entry, kernel)| kernel_model(&entry.id, kernel)).collect()))
}

/// Notebooks opened through the door that have a kernel and that the caller sees.
async fn running(door: &JupyterDoor, token: &CallerToken) -> Result<Vec<(NotebookEntry, DefaultKernel)>, JupyterError> {
    let tree = Tree::read(&door.api, token).await?;
    let noted = door.kernels.0.lock().clone();
    let mut running = Vec::new();
    for entry in tree.notebooks.into_iter().filter(|entry| noted.contains(&entry.id)) {
        if let Some(kernel) = default_kernel(door, token, &entry.id).await? {
            running.push((entry, kernel));
        }
    }
    Ok(running)
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct NewKernel {
    name: Option<String>,
    path: Option<String>,
}

/// Starts the kernel of the notebook that the path names. Without one, a new notebook keeps the record of what the kernel runs.
pub async fn start(
    State(door): State<JupyterDoor>,
    token: CallerToken,
    JsonOf(new): JsonOf<NewKernel>,
) -> Result<Response, JupyterError> {
    let tree = Tree::read(&door.api, &token).await?;
    let named = new.path.as_deref().filter(|path| !path.is_empty()).map(|path| tree.find(path));
    let notebook = match named {
        Some(Ok(ContentPlace::Notebook(entry))) => entry.id,
        _ => {
            let made = json!({"title": "Runs of a Jupyter client"});
            let made = door.api.json(&token, Method::POST, "/api/notebooks", Some(made)).await?;
            let id = made["notebook"].as_str().unwrap_or_default();
            id.parse()
                .map_err(|_| JupyterError::not_found("the notebook of the kernel could not be made: try again"))?
        }
    };
    let kernel = started(&door, &token, &notebook, new.name.as_deref()).await?;
    Ok((StatusCode::CREATED, Json(kernel_model(&notebook, &kernel))).into_response())
}

/// The kernel of a notebook, launched if there is none.
async fn started(
    door: &JupyterDoor,
    token: &CallerToken,
    notebook: &NotebookId,
    kernelspec: Option<&str>,
) -> Result<DefaultKernel, JupyterError> {
    door.kernels.note(notebook);
    if let Some(kernel) = default_kernel(door, token, notebook).await? {
        return Ok(kernel);
    }
    let kernelspec = kernelspec.filter(|name| !name.is_empty());
    door.api.json(token, Method::POST, &of(notebook), Some(json!({"kernelspec": kernelspec}))).await?;
    default_kernel(door, token, notebook).await?.ok_or_else(no_kernel)
}

pub async fn one(
    State(door): State<JupyterDoor>,
    token: CallerToken,
    Path(notebook): Path<NotebookId>,
) -> Result<Json<Value>, JupyterError> {
    let kernel = default_kernel(&door, &token, &notebook).await?.ok_or_else(no_kernel)?;
    Ok(Json(kernel_model(&notebook, &kernel)))
}

pub async fn shut_down(
    State(door): State<JupyterDoor>,
    token: CallerToken,
    Path(notebook): Path<NotebookId>,
) -> Result<StatusCode, JupyterError> {
    act(&door, &token, &notebook, Method::DELETE, "").await?;
    Ok(StatusCode::NO_CONTENT)
}

pub async fn interrupt(
    State(door): State<JupyterDoor>,
    token: CallerToken,
    Path(notebook): Path<NotebookId>,
) -> Result<StatusCode, JupyterError> {
    act(&door, &token, &notebook, Method::POST, "/interrupt").await?;
    Ok(StatusCode::NO_CONTENT)
}

pub async fn restart(
    State(door): State<JupyterDoor>,
    token: CallerToken,
    Path(notebook): Path<NotebookId>,
) -> Result<Json<Value>, JupyterError> {
    act(&door, &token, &notebook, Method::POST, "/restart").await?;
    let kernel = default_kernel(&door, &token, &notebook).await?.ok_or_else(no_kernel)?;
    Ok(Json(kernel_model(&notebook, &kernel)))
}

/// Calls an action of the default kernel.
pub async fn act(
    door: &JupyterDoor,
    token: &CallerToken,
    notebook: &NotebookId,
    method: Method,
    action: &str,
) -> Result<(), JupyterError> {
    let kernel = default_kernel(door, token, notebook).await?.ok_or_else(no_kernel)?;
    let path = format!("{}/{}{action}", of(notebook), encoded(&kernel.session));
    door.api.send(token, method, &path, None).await.map(drop)
}

// --- sessions ---

pub async fn list_sessions(State(door): State<JupyterDoor>, token: CallerToken) -> Result<Json<Value>, JupyterError> {
    let running = running(&door, &token).await?;
    Ok(Json(running.iter().map(|(entry, kernel)| session_model(entry, kernel)).collect()))
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct NewSession {
    path: String,
    name: String,
    kernel: NewKernel,
}

pub async fn start_session(
    State(door): State<JupyterDoor>,
    token: CallerToken,
    JsonOf(new): JsonOf<NewSession>,
) -> Result<Response, JupyterError> {
    let entry = notebook_of(&door, &token, &new.path, &new.name).await?;
    let kernel = started(&door, &token, &entry.id, new.kernel.name.as_deref()).await?;
    let mut model = session_model(&entry, &kernel);
    // JupyterLab gives up a session with another path than it has asked for.
    model["path"] = json!(new.path);
    Ok((StatusCode::CREATED, Json(model)).into_response())
}

/// The notebook of a new session. JupyterLab starts it under a path of its own making, in the notebook's folder and with the
/// notebook's name, and then changes the path.
async fn notebook_of(
    door: &JupyterDoor,
    token: &CallerToken,
    path: &str,
    name: &str,
) -> Result<NotebookEntry, JupyterError> {
    let tree = Tree::read(&door.api, token).await?;
    let beside = path.rsplit_once('/').map_or_else(|| name.to_owned(), |(folder, _)| format!("{folder}/{name}"));
    match tree.find(path).or_else(|error| tree.find(&beside).map_err(|_| error))? {
        ContentPlace::Notebook(entry) => Ok(entry),
        _ => Err(JupyterError::invalid("only notebooks have kernels: open one")),
    }
}

pub async fn session(
    State(door): State<JupyterDoor>,
    token: CallerToken,
    Path(notebook): Path<NotebookId>,
) -> Result<Json<Value>, JupyterError> {
    let ContentPlace::Notebook(entry) = contents::find(&door, &token, notebook.as_str()).await? else {
        return Err(no_kernel());
    };
    let kernel = default_kernel(&door, &token, &notebook).await?.ok_or_else(no_kernel)?;
    Ok(Json(session_model(&entry, &kernel)))
}

/// Paths follow titles, so a changed path says nothing new. Another kernel replaces the present one.
pub async fn change_session(
    State(door): State<JupyterDoor>,
    token: CallerToken,
    Path(notebook): Path<NotebookId>,
    JsonOf(change): JsonOf<Value>,
) -> Result<Json<Value>, JupyterError> {
    let wanted = change["kernel"]["name"].as_str().filter(|name| !name.is_empty());
    if let (Some(wanted), Some(present)) = (wanted, default_kernel(&door, &token, &notebook).await?)
        && present.kernelspec != wanted
    {
        act(&door, &token, &notebook, Method::DELETE, "").await?;
    }
    if let Some(wanted) = wanted {
        started(&door, &token, &notebook, Some(wanted)).await?;
    }
    session(State(door), token, Path(notebook)).await
}

pub async fn end_session(
    door: State<JupyterDoor>,
    token: CallerToken,
    notebook: Path<NotebookId>,
) -> Result<StatusCode, JupyterError> {
    shut_down(door, token, notebook).await
}
