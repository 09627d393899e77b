//! Handlers of `/api/contents`.

use axum::extract::{Path, Query, State};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Json, Router};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use http::{Method, StatusCode};
use notarium_core::WorkspaceId;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::api::{CallerToken, encoded};
use crate::body::JsonOf;
use crate::contents::backing;
use crate::contents::checkpoints;
use crate::contents::paths::{ContentPlace, NotebookEntry, Tree, WORKING_FILES, find, no_such};
use crate::contents::saving;
use crate::door::{EPOCH, JupyterDoor};
use crate::error::JupyterError;

/// Largest text that a model has in `text` format; others are base64.
const TEXT_TYPES: [&str; 14] =
    ["txt", "md", "py", "json", "csv", "tsv", "yaml", "yml", "toml", "html", "css", "js", "sql", "log"];

#[derive(Debug, Default, Deserialize)]
struct ContentQuery {
    content: Option<String>,
    format: Option<String>,
}

impl ContentQuery {
    fn wants_content(&self) -> bool {
        self.content.as_deref() != Some("0")
    }
}

pub fn routes() -> Router<JupyterDoor> {
    let root = get(read_root).post(create_root);
    let one = get(read).post(create).put(save).patch(rename).delete(delete);
    Router::new().route("/api/contents", root.clone()).route("/api/contents/", root).route("/api/contents/{*path}", one)
}

async fn read_root(
    door: State<JupyterDoor>,
    token: CallerToken,
    query: Query<ContentQuery>,
) -> Result<Response, JupyterError> {
    read(door, token, Path(String::new()), query).await
}

async fn create_root(
    door: State<JupyterDoor>,
    token: CallerToken,
    body: JsonOf<Value>,
) -> Result<Response, JupyterError> {
    create(door, token, Path(String::new()), body).await
}

/// The notebook of a path that ends with `/checkpoints` or `/checkpoints/ID`.
fn checkpoint_of(path: &str) -> Option<(&str, &str)> {
    let (file, rest) = path.rsplit_once("/checkpoints")?;
    let id = rest.trim_matches('/');
    (rest.is_empty() || rest.starts_with('/')).then_some((file, id))
}

async fn notebook_at(door: &JupyterDoor, token: &CallerToken, path: &str) -> Result<NotebookEntry, JupyterError> {
    match find(door, token, path).await? {
        ContentPlace::Notebook(entry) => Ok(entry),
        _ => Err(JupyterError::invalid("only notebooks have checkpoints: copy the file to keep a version of it")),
    }
}

// --- reading ---

async fn read(
    State(door): State<JupyterDoor>,
    token: CallerToken,
    Path(path): Path<String>,
    Query(query): Query<ContentQuery>,
) -> Result<Response, JupyterError> {
    if let Some((file, _)) = checkpoint_of(&path) {
        let entry = notebook_at(&door, &token, file).await?;
        return checkpoints::list(&door, &token, &entry).await;
    }
    let wants_content = query.wants_content();
    if let Some(content) = door.backing.content(&token, &path) {
        return Ok(Json(held_model(&path, wants_content.then_some(content))).into_response());
    }
    backing::settle(&door, &token).await?;
    let tree = Tree::read(&door.api, &token).await?;
    let model = match tree.find(&path)? {
        ContentPlace::Root => folder("", wants_content.then(|| in_workspace(&tree, None))),
        ContentPlace::Workspace { id, name } => folder(&name, wants_content.then(|| in_workspace(&tree, Some(&id)))),
        ContentPlace::FileFolders => folder(WORKING_FILES, wants_content.then(|| file_folders(&tree))),
        ContentPlace::Notebook(entry) => notebook(&door, &token, &entry, wants_content).await?,
        ContentPlace::File { notebook, file } => working_file(&door, &token, &notebook, &file, &query).await?,
    };
    Ok(Json(model).into_response())
}

fn in_workspace(tree: &Tree, workspace: Option<&WorkspaceId>) -> Vec<Value> {
    let here = tree.notebooks.iter().filter(|entry| entry.workspace.as_ref() == workspace);
    let notebooks = here.map(|entry| notebook_model(entry, None));
    if workspace.is_some() {
        return notebooks.collect();
    }
    let folders = tree.workspaces.values().map(|name| folder(name, None));
    notebooks.chain(folders).chain([folder(WORKING_FILES, None)]).collect()
}

fn file_folders(tree: &Tree) -> Vec<Value> {
    let path = |entry: &NotebookEntry| format!("{WORKING_FILES}/{}", entry.path.trim_end_matches(".ipynb"));
    tree.notebooks.iter().map(|entry| folder(&path(entry), None)).collect()
}

fn folder(path: &str, content: Option<Vec<Value>>) -> Value {
    let format = content.as_ref().map(|_| "json");
    json!({
        "name": path.rsplit('/').next().unwrap_or_default(), "path": path, "type": "directory", "format": format,
        "content": content, "created": EPOCH, "last_modified": EPOCH, "mimetype": null, "writable": true, "size": null,
    })
}

fn notebook_model(entry: &NotebookEntry, content: Option<Value>) -> Value {
    let format = content.as_ref().map(|_| "json");
    json!({
        "name": entry.name, "path": entry.path, "type": "notebook", "format": format, "content": content,
        "created": time(entry.created_at), "last_modified": time(entry.updated_at), "mimetype": null, "writable": true,
        "size": null, "hash": null, "hash_algorithm": null,
    })
}

/// Model of a notebook that is in memory alone.
fn held_model(path: &str, content: Option<Value>) -> Value {
    let name = path.rsplit('/').next().unwrap_or_default();
    let format = content.as_ref().map(|_| "json");
    json!({
        "name": name, "path": path, "type": "notebook", "format": format, "content": content, "created": EPOCH,
        "last_modified": EPOCH, "mimetype": null, "writable": true, "size": null, "hash": null, "hash_algorithm": null,
    })
}

async fn notebook(
    door: &JupyterDoor,
    token: &CallerToken,
    entry: &NotebookEntry,
    wants_content: bool,
) -> Result<Value, JupyterError> {
    if !wants_content {
        return Ok(notebook_model(entry, None));
    }
    let path = format!("/api/notebooks/{}/export?format=ipynb", encoded(entry.id.as_str()));
    let file = door.api.send(token, Method::GET, &path, None).await?;
    let content: Value = serde_json::from_slice(&file).map_err(|error| JupyterError::internal(&error))?;
    Ok(notebook_model(entry, Some(content)))
}

/// Milliseconds since 1970 as ISO 8601.
pub fn time(milliseconds: u64) -> String {
    let (seconds, millis) = (milliseconds / 1000, milliseconds % 1000);
    let (days, of_day) = (seconds / 86_400, seconds % 86_400);
    // Civil date from days since 1970, with years that begin in March.
    let shifted = days + 719_468;
    let (era, day_of_era) = (shifted / 146_097, shifted % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    let (hour, minute, second) = (of_day / 3_600, of_day / 60 % 60, of_day % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{millis:03}000Z")
}

// --- working files ---

fn files(notebook: &NotebookEntry) -> String {
    format!("/api/notebooks/{}/files", encoded(notebook.id.as_str()))
}

async fn working_file(
    door: &JupyterDoor,
    token: &CallerToken,
    notebook: &NotebookEntry,
    file: &str,
    query: &ContentQuery,
) -> Result<Value, JupyterError> {
    let base = format!("{WORKING_FILES}/{}", notebook.path.trim_end_matches(".ipynb"));
    let path = if file.is_empty() { base } else { format!("{base}/{file}") };
    let entry = match file {
        "" => json!({"kind": "folder"}),
        file => door.api.get(token, &format!("{}/about?path={}", files(notebook), encoded(file))).await?,
    };
    if entry["kind"] == "folder" {
        if !query.wants_content() {
            return Ok(folder(&path, None));
        }
        let listed = door.api.get(token, &format!("{}?path={}&limit=1000", files(notebook), encoded(file))).await?;
        let entries = listed["files"].as_array().cloned().unwrap_or_default();
        return Ok(folder(&path, Some(entries.iter().map(|entry| listed_file(&path, entry)).collect())));
    }
    let mut model = listed_file(path.rsplit_once('/').map_or("", |(folder, _)| folder), &entry);
    if query.wants_content() {
        let content = format!("{}/content?path={}", files(notebook), encoded(file));
        let bytes = door.api.send(token, Method::GET, &content, None).await?;
        let (format, content, mimetype) = file_content(file, &bytes, query.format.as_deref());
        (model["format"], model["content"], model["mimetype"]) = (format.into(), content.into(), mimetype.into());
    }
    Ok(model)
}

fn listed_file(folder_path: &str, entry: &Value) -> Value {
    let name = entry["name"].as_str().unwrap_or_default();
    let path = format!("{folder_path}/{name}");
    if entry["kind"] == "folder" {
        return folder(&path, None);
    }
    let modified = entry["modified_at"].as_u64().map_or_else(|| EPOCH.to_owned(), time);
    json!({
        "name": name, "path": path, "type": "file", "format": null, "content": null, "created": modified,
        "last_modified": modified, "mimetype": null, "writable": true, "size": entry["size_bytes"],
    })
}

fn file_content(name: &str, bytes: &[u8], format: Option<&str>) -> (&'static str, String, &'static str) {
    let ending = name.rsplit('.').next().unwrap_or_default();
    let wants_text = format == Some("text") || (format.is_none() && TEXT_TYPES.contains(&ending));
    match std::str::from_utf8(bytes).ok().filter(|_| wants_text) {
        Some(text) => ("text", text.to_owned(), "text/plain"),
        None => ("base64", STANDARD.encode(bytes), "application/octet-stream"),
    }
}

// --- writing ---

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct NewContent {
    #[serde(rename = "type")]
    kind: Option<String>,
    copy_from: Option<String>,
}

async fn create(
    State(door): State<JupyterDoor>,
    token: CallerToken,
    Path(path): Path<String>,
    JsonOf(body): JsonOf<Value>,
) -> Result<Response, JupyterError> {
    if let Some((file, id)) = checkpoint_of(&path) {
        let entry = notebook_at(&door, &token, file).await?;
        return if id.is_empty() {
            checkpoints::create(&door, &token, &entry).await
        } else {
            Err(checkpoints::refused())
        };
    }
    let new: NewContent = serde_json::from_value(body).map_err(|error| JupyterError::invalid(error.to_string()))?;
    backing::settle(&door, &token).await?;
    let tree = Tree::read(&door.api, &token).await?;
    let workspace = match tree.find(&path)? {
        ContentPlace::Root => None,
        ContentPlace::Workspace { id, .. } => Some(id),
        _ => {
            return Err(JupyterError::invalid("new notebooks belong into a workspace or the root: choose one of them"));
        }
    };
    if let Some(source) = &new.copy_from {
        let ContentPlace::Notebook(source) = tree.find(source)? else { return Err(no_such(source)) };
        let title = format!("{} (copy)", source.name.trim_end_matches(".ipynb"));
        let fork = format!("/api/notebooks/{}/fork", encoded(source.id.as_str()));
        let made = door.api.json(&token, Method::POST, &fork, Some(json!({"title": title}))).await?;
        return created(&door, &token, &made, workspace.as_ref()).await;
    }
    if new.kind.as_deref() != Some("notebook") {
        let message = "only notebooks are made here: upload files into the folder 'working files'";
        return Err(JupyterError::invalid(message));
    }
    let title = tree.untitled(workspace.as_ref());
    let folder = workspace.as_ref().and_then(|id| tree.workspaces.get(id));
    let path = folder.map_or_else(|| format!("{title}.ipynb"), |folder| format!("{folder}/{title}.ipynb"));
    backing::hold_untitled(&door, &token, &path, title, workspace);
    Ok((StatusCode::CREATED, Json(held_model(&path, None))).into_response())
}

/// Puts a new notebook into its workspace, and answers with its model.
async fn created(
    door: &JupyterDoor,
    token: &CallerToken,
    made: &Value,
    workspace: Option<&WorkspaceId>,
) -> Result<Response, JupyterError> {
    let id = made["notebook"].as_str().unwrap_or_default();
    if let Some(workspace) = workspace {
        place(door, token, id, Some(workspace)).await?;
    }
    match Tree::read(&door.api, token).await?.find(id)? {
        ContentPlace::Notebook(entry) => Ok((StatusCode::CREATED, Json(notebook_model(&entry, None))).into_response()),
        _ => Err(no_such(id)),
    }
}

async fn place(
    door: &JupyterDoor,
    token: &CallerToken,
    id: &str,
    workspace: Option<&WorkspaceId>,
) -> Result<Value, JupyterError> {
    let path = format!("/api/notebooks/{}/workspace", encoded(id));
    door.api.json(token, Method::PUT, &path, Some(json!({"workspace": workspace}))).await
}

#[derive(Debug, Deserialize)]
struct SavedContent {
    format: Option<String>,
    #[serde(default)]
    content: Value,
}

async fn save(
    State(door): State<JupyterDoor>,
    token: CallerToken,
    Path(path): Path<String>,
    JsonOf(body): JsonOf<Value>,
) -> Result<Response, JupyterError> {
    let saved: SavedContent = serde_json::from_value(body).map_err(|error| JupyterError::invalid(error.to_string()))?;
    backing::settle(&door, &token).await?;
    let tree = Tree::read(&door.api, &token).await?;
    match tree.find(&path) {
        Err(_) if backing::is_backing(&path) => {
            door.backing.save(&token, &path, saved.content)?;
            Ok(Json(held_model(&path, None)).into_response())
        }
        Ok(ContentPlace::Notebook(entry)) => {
            saving::save(&door, &token, &entry, &saved.content).await?;
            Ok(Json(notebook_model(&entry, None)).into_response())
        }
        Ok(ContentPlace::File { notebook, file }) => put_file(&door, &token, &notebook, &file, saved).await,
        Ok(_) => Err(JupyterError::invalid("this is a folder: choose a name for the file")),
        Err(_) => {
            let (folder, name) = tree.parent(&path)?;
            let workspace = match folder {
                ContentPlace::Root => None,
                ContentPlace::Workspace { id, .. } => Some(id),
                _ => return Err(no_such(&path)),
            };
            let Some(title) = name.strip_suffix(".ipynb") else {
                return Err(JupyterError::invalid("only notebooks are kept here: upload files into 'working files'"));
            };
            let import = format!("/api/import?title={}", encoded(title));
            let file = ("application/x-ipynb+json", Bytes::from(saved.content.to_string()));
            let answer = door.api.send(&token, Method::POST, &import, Some(file)).await?;
            let made: Value = serde_json::from_slice(&answer).map_err(|error| JupyterError::internal(&error))?;
            created(&door, &token, &made, workspace.as_ref()).await
        }
    }
}

async fn put_file(
    door: &JupyterDoor,
    token: &CallerToken,
    notebook: &NotebookEntry,
    file: &str,
    saved: SavedContent,
) -> Result<Response, JupyterError> {
    let text = saved.content.as_str().unwrap_or_default();
    let bytes = match saved.format.as_deref() {
        Some("base64") => {
            STANDARD.decode(text).map_err(|_| JupyterError::invalid("the content is not base64: send it again"))?
        }
        _ => text.as_bytes().to_vec(),
    };
    let target = format!("{}/content?path={}&overwrite=true", files(notebook), encoded(file));
    door.api.send(token, Method::PUT, &target, Some(("application/octet-stream", bytes.into()))).await?;
    let query = ContentQuery { content: Some("0".to_owned()), format: None };
    Ok(Json(working_file(door, token, notebook, file, &query).await?).into_response())
}

#[derive(Debug, Deserialize)]
struct NewPath {
    path: String,
}

async fn rename(
    State(door): State<JupyterDoor>,
    token: CallerToken,
    Path(path): Path<String>,
    JsonOf(body): JsonOf<Value>,
) -> Result<Response, JupyterError> {
    let NewPath { path: to } =
        serde_json::from_value(body).map_err(|error| JupyterError::invalid(error.to_string()))?;
    if door.backing.rename(&token, &path, to.trim_matches('/')) {
        return Ok(Json(held_model(to.trim_matches('/'), None)).into_response());
    }
    backing::settle(&door, &token).await?;
    let tree = Tree::read(&door.api, &token).await?;
    match tree.find(&path)? {
        ContentPlace::Notebook(entry) => rename_notebook(&door, &token, &tree, &entry, &to).await,
        ContentPlace::File { notebook, file } => {
            let folder = format!("{WORKING_FILES}/{}/", notebook.path.trim_end_matches(".ipynb"));
            let Some(to) = to.strip_prefix(&folder) else {
                return Err(JupyterError::invalid("a working file stays beside its notebook: download and upload it"));
            };
            let body = json!({"from": file, "to": to});
            door.api.json(&token, Method::POST, &format!("{}/move", files(&notebook)), Some(body)).await?;
            let query = ContentQuery { content: Some("0".to_owned()), format: None };
            Ok(Json(working_file(&door, &token, &notebook, to, &query).await?).into_response())
        }
        _ => Err(JupyterError::invalid("workspaces are renamed in Notarium, not here")),
    }
}

async fn rename_notebook(
    door: &JupyterDoor,
    token: &CallerToken,
    tree: &Tree,
    entry: &NotebookEntry,
    to: &str,
) -> Result<Response, JupyterError> {
    let (folder, name) = tree.parent(to)?;
    let workspace = match folder {
        ContentPlace::Root => None,
        ContentPlace::Workspace { id, .. } => Some(id),
        _ => return Err(no_such(to)),
    };
    if workspace != entry.workspace {
        place(door, token, entry.id.as_str(), workspace.as_ref()).await?;
    }
    let title = name.strip_suffix(".ipynb").unwrap_or(&name);
    if name != entry.name {
        let path = format!("/api/notebooks/{}", encoded(entry.id.as_str()));
        door.api.json(token, Method::PATCH, &path, Some(json!({"title": title}))).await?;
    }
    match Tree::read(&door.api, token).await?.find(entry.id.as_str())? {
        ContentPlace::Notebook(entry) => Ok(Json(notebook_model(&entry, None)).into_response()),
        _ => Err(no_such(to)),
    }
}

/// Archives a notebook: its record stays. A working file goes to the trash of its machine.
async fn delete(
    State(door): State<JupyterDoor>,
    token: CallerToken,
    Path(path): Path<String>,
) -> Result<StatusCode, JupyterError> {
    if checkpoint_of(&path).is_some() {
        return Err(checkpoints::refused());
    }
    if door.backing.remove(&token, &path) {
        return Ok(StatusCode::NO_CONTENT);
    }
    match Tree::read(&door.api, &token).await?.find(&path)? {
        ContentPlace::Notebook(entry) => {
            let archive = format!("/api/notebooks/{}/archive", encoded(entry.id.as_str()));
            door.api.send(&token, Method::POST, &archive, None).await?;
        }
        ContentPlace::File { notebook, file } if !file.is_empty() => {
            let target = format!("{}/content?path={}", files(&notebook), encoded(&file));
            door.api.send(&token, Method::DELETE, &target, None).await?;
        }
        _ => return Err(JupyterError::invalid("this folder cannot be deleted here")),
    }
    Ok(StatusCode::NO_CONTENT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_iso_8601() {
        assert_eq!(time(0), EPOCH);
        assert_eq!(time(1_709_210_096_789), "2024-02-29T12:34:56.789000Z");
    }

    #[test]
    fn paths_of_checkpoints_name_their_notebook() {
        assert_eq!(checkpoint_of("a/b.ipynb/checkpoints"), Some(("a/b.ipynb", "")));
        assert_eq!(checkpoint_of("b.ipynb/checkpoints/7"), Some(("b.ipynb", "7")));
        assert_eq!(checkpoint_of("checkpoints.ipynb"), None);
    }
}
