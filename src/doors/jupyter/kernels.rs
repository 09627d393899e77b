//! Kernels and sessions. A kernel of Jupyter is the default kernel of a notebook and has the notebook's id, which survives restarts.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use axum::response::{IntoResponse, Response};
use hashlink::LinkedHashMap;
use http::{Method, StatusCode};
use notarium_core::NotebookId;
use parking_lot::Mutex;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::api::{CallerToken, encoded};
use crate::body::JsonOf;
use crate::contents::{self, ContentPlace, NotebookEntry, Tree, is_backing};
use crate::door::{EPOCH, JupyterDoor};
use crate::error::JupyterError;
use crate::record;

/// Notebooks that lists of kernels look into.
const MAX_NOTED: usize = 200;

/// Notebooks that were opened through the door, the last used last. Lists of kernels name those among them that the caller may see.
#[derive(Debug, Clone, Default)]
pub struct OpenNotebooks {
    noted: Arc<Mutex<LinkedHashMap<NotebookId, Option<SessionPath>>>>,
    /// Held while a notebook for the record of a new kernel is chosen.
    pub starting: Arc<tokio::sync::Mutex<()>>,
}

/// Path and name that a client gave to the session of a file or console which is no notebook here.
#[derive(Debug, Clone)]
struct SessionPath {
    path: String,
    name: String,
    kind: String,
}

impl OpenNotebooks {
    pub fn note(&self, notebook: &NotebookId) {
        let mut noted = self.noted.lock();
        if noted.to_back(notebook).is_none() {
            noted.insert(notebook.clone(), None);
        }
        if noted.len() > MAX_NOTED {
            noted.pop_front();
        }
    }

    fn note_path(&self, notebook: &NotebookId, path: Option<SessionPath>) {
        self.note(notebook);
        if let Some(noted) = self.noted.lock().get_mut(notebook) {
            *noted = path;
        }
    }

    fn path(&self, notebook: &NotebookId) -> Option<SessionPath> {
        self.noted.lock().get(notebook).cloned().flatten()
    }

    /// The notebook with the session of that path.
    fn at_path(&self, path: &str) -> Vec<NotebookId> {
        let is_it = |noted: &Option<SessionPath>| noted.as_ref().is_some_and(|noted| noted.path == path);
        self.noted.lock().iter().filter(|(_, noted)| is_it(noted)).map(|(notebook, _)| notebook.clone()).collect()
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

fn session_model(door: &JupyterDoor, entry: &NotebookEntry, kernel: &DefaultKernel) -> Value {
    let shown = door.kernels.path(&entry.id).unwrap_or_else(|| SessionPath {
        path: entry.path.clone(),
        name: entry.name.clone(),
        kind: "notebook".to_owned(),
    });
    json!({
        "id": entry.id, "path": shown.path, "name": shown.name, "type": shown.kind,
        "kernel": kernel_model(&entry.id, kernel), "notebook": {"path": shown.path, "name": shown.name},
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
    let noted = door.kernels.noted.lock().clone();
    let mut running = Vec::new();
    for entry in tree.notebooks.into_iter().filter(|entry| noted.contains_key(&entry.id)) {
        if let Some(kernel) = default_kernel(door, token, &entry.id).await? {
            running.push((entry, kernel));
        }
    }
    Ok(running)
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct NewKernel {
    /// An existing kernel to which a session is opened.
    id: Option<String>,
    name: Option<String>,
    path: Option<String>,
}

/// Starts the kernel of the notebook that the path names. Without one, a notebook of the caller keeps the record of its runs.
pub async fn start(
    State(door): State<JupyterDoor>,
    token: CallerToken,
    JsonOf(new): JsonOf<NewKernel>,
) -> Result<Response, JupyterError> {
    let tree = Tree::read(&door.api, &token).await?;
    let named = new.path.as_deref().filter(|path| !path.is_empty()).map(|path| tree.find(path));
    let (notebook, kernel) = match named {
        Some(Ok(ContentPlace::Notebook(entry))) => {
            let kernel = started(&door, &token, &entry.id, new.name.as_deref()).await?;
            (entry.id, kernel)
        }
        _ => record::started(&door, &token, record::OF_PROGRAMS, new.name.as_deref()).await?,
    };
    Ok((StatusCode::CREATED, Json(kernel_model(&notebook, &kernel))).into_response())
}

/// The kernel of a notebook, launched if there is none.
pub async fn started(
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
    door.kernels.note_path(&notebook, None);
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
    Ok(Json(running.iter().map(|(entry, kernel)| session_model(&door, entry, kernel)).collect()))
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct NewSession {
    path: String,
    name: String,
    #[serde(rename = "type")]
    kind: String,
    kernel: NewKernel,
}

pub async fn start_session(
    State(door): State<JupyterDoor>,
    token: CallerToken,
    JsonOf(new): JsonOf<NewSession>,
) -> Result<Response, JupyterError> {
    let path = new.path.clone();
    let id = match new.kernel.id.as_deref().filter(|id| !id.is_empty()) {
        Some(id) => {
            let id = id.parse().map_err(|_| no_kernel())?;
            default_kernel(&door, &token, &id).await?.ok_or_else(no_kernel)?;
            door.kernels.note(&id);
            id
        }
        None => match notebook_of(&door, &token, &new).await {
            Ok(ContentPlace::Notebook(entry)) => {
                started(&door, &token, &entry.id, new.kernel.name.as_deref()).await?;
                entry.id
            }
            Err(error) if error.status != StatusCode::NOT_FOUND => return Err(error),
            // VS Code names a file that is only on its machine. Consoles and editors have no notebook.
            _ if is_backing(&new.path) || !matches!(&*new.kind, "" | "notebook") => {
                elsewhere(&door, &token, new).await?
            }
            Ok(_) => return Err(JupyterError::invalid("only notebooks have kernels: open one")),
            Err(error) => return Err(error),
        },
    };
    let Json(mut model) = session(State(door), token, Path(id)).await?;
    // JupyterLab gives up a session with another path than it has asked for.
    model["path"] = json!(path);
    Ok((StatusCode::CREATED, Json(model)).into_response())
}

/// The notebook of a new session. JupyterLab starts it under a path of its own making, in the notebook's folder and with the
/// notebook's name, and then changes the path.
async fn notebook_of(door: &JupyterDoor, token: &CallerToken, new: &NewSession) -> Result<ContentPlace, JupyterError> {
    let NewSession { path, name, kind, .. } = new;
    let found = contents::find(door, token, path).await;
    if found.is_ok() || name.is_empty() || kind != "notebook" {
        return found;
    }
    let beside = path.rsplit_once('/').map_or_else(|| name.to_owned(), |(folder, _)| format!("{folder}/{name}"));
    contents::find(door, token, &beside).await.or(found)
}

/// The notebook with the runs of a file or console that is no notebook here, with its kernel: the same for the same path, as in Jupyter.
async fn elsewhere(door: &JupyterDoor, token: &CallerToken, new: NewSession) -> Result<NotebookId, JupyterError> {
    for notebook in door.kernels.at_path(&new.path) {
        if let Ok(Some(_)) = default_kernel(door, token, &notebook).await {
            return Ok(notebook);
        }
    }
    let title = record::title_of(&new.path, &new.name);
    let (notebook, _) = record::started(door, token, &title, new.kernel.name.as_deref()).await?;
    let NewSession { path, name, kind, .. } = new;
    door.kernels.note_path(&notebook, Some(SessionPath { path, name, kind }));
    Ok(notebook)
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
    Ok(Json(session_model(&door, &entry, &kernel)))
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
