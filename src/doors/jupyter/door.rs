//! State and routes of the door.

use std::path::PathBuf;
use std::sync::Arc;

use axum::extract::ws::{WebSocket, WebSocketUpgrade};
use axum::extract::{DefaultBodyLimit, FromRequestParts, Path, Query, State};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post, put};
use axum::{Json, Router};
use http::StatusCode;
use http::request::Parts;
use notarium_client::{ConnectError, ConnectOptions, Connection};
use notarium_core::NotebookId;
use notarium_wire::WelcomeMessage;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::api::{Api, CallerToken};
use crate::channels;
use crate::contents::{self, BackingFiles, ContentPlace};
use crate::error::JupyterError;
use crate::limits::JupyterLimits;
use crate::rooms::kept::KeptDocuments;
use crate::rooms::words::EventsByToken;
use crate::rooms::{JupyterRooms, RoomParts, socket};
use crate::{execute, kernels};

/// Version of Jupyter Server whose API this is.
const JUPYTER_SERVER: &str = "2.17.0";

/// Settings of the door.
pub struct DoorOptions {
    /// The server's own router: its REST API.
    pub api: Router,
    /// The server's address in this process, such as `http://127.0.0.1:8787`.
    pub server: String,
    /// Cancelled when the server stops: sockets end then.
    pub stopping: CancellationToken,
    /// Tasks for which the server waits when it stops.
    pub tasks: TaskTracker,
    /// Folder for shared documents of notebooks; absent: clients load notebooks again after a restart.
    pub folder: Option<PathBuf>,
    pub limits: JupyterLimits,
}

/// State of the door. Cheap to clone.
#[derive(Clone)]
pub struct JupyterDoor {
    pub api: Api,
    pub rooms: JupyterRooms,
    pub kernels: kernels::OpenNotebooks,
    pub backing: BackingFiles,
    pub limits: JupyterLimits,
    server: Arc<str>,
    sockets: Arc<Semaphore>,
    stopping: CancellationToken,
}

impl JupyterDoor {
    /// A connection to the server with the caller's token.
    pub async fn connect(&self, token: &CallerToken) -> Result<(Connection, WelcomeMessage), ConnectError> {
        let options =
            ConnectOptions::new(&*self.server, token.reveal(), concat!("jupyter door ", env!("CARGO_PKG_VERSION")));
        Connection::open(options).await
    }

    /// Serves a WebSocket until it ends or the server stops, within the limit of sockets.
    fn open<F>(
        &self,
        upgrade: WebSocketUpgrade,
        serve: impl FnOnce(WebSocket) -> F + Send + 'static,
    ) -> Result<Response, JupyterError>
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let full = |_| JupyterError::unavailable("too many Jupyter clients are connected: try again in a moment");
        let permit = self.sockets.clone().try_acquire_owned().map_err(full)?;
        let stopping = self.stopping.clone();
        Ok(upgrade.on_upgrade(async move |socket| {
            stopping.run_until_cancelled_owned(serve(socket)).await;
            drop(permit);
        }))
    }
}

/// The caller's token, which the server's guard has checked.
impl<S: Send + Sync> FromRequestParts<S> for CallerToken {
    type Rejection = JupyterError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, JupyterError> {
        CallerToken::of(&parts.headers)
    }
}

/// Routes of the door, from `/api` on.
pub fn router(options: DoorOptions) -> Router {
    let DoorOptions { api, server, stopping, tasks, folder, limits } = options;
    let host = server.split_once("://").map_or(&*server, |(_, host)| host).to_owned();
    let api = Api::new(api, &host);
    let rooms = RoomParts {
        api: api.clone(),
        kept: KeptDocuments::new(folder, &limits),
        events: EventsByToken::default(),
        stopping: stopping.clone(),
        tasks,
        limits: limits.clone(),
    };
    let door = JupyterDoor {
        rooms: JupyterRooms::new(rooms),
        kernels: kernels::OpenNotebooks::default(),
        backing: BackingFiles::new(&limits),
        sockets: Arc::new(Semaphore::new(limits.max_sockets)),
        server: server.into(),
        stopping,
        api,
        limits,
    };
    let (body, file) =
        (DefaultBodyLimit::max(door.limits.max_body_bytes), DefaultBodyLimit::max(door.limits.max_file_bytes));
    Router::new()
        .route("/api", get(version))
        .route("/api/", get(version))
        .route("/api/status", get(status))
        .route("/api/me", get(me))
        .route("/api/kernelspecs", get(kernels::kernelspecs))
        .route("/api/sessions", get(kernels::list_sessions).post(kernels::start_session))
        .route(
            "/api/sessions/{notebook}",
            get(kernels::session).patch(kernels::change_session).delete(kernels::end_session),
        )
        .route("/api/kernels", get(kernels::list).post(kernels::start))
        .route("/api/kernels/{notebook}", get(kernels::one).delete(kernels::shut_down))
        .route("/api/kernels/{notebook}/interrupt", post(kernels::interrupt))
        .route("/api/kernels/{notebook}/restart", post(kernels::restart))
        .route("/api/kernels/{notebook}/channels", get(open_channels))
        .route("/api/kernels/{notebook}/execute", post(execute::execute))
        .route("/api/kernels/{notebook}/requests/{run}", get(execute::request))
        .route("/api/kernels/{notebook}/requests/{run}/input", post(execute::input))
        .route("/api/collaboration/session/{*path}", put(collaboration_session))
        .route("/api/collaboration/room/{room}", get(room))
        .route("/api/events/subscribe", get(events))
        .layer(body)
        .merge(contents::routes().layer(file))
        .fallback(unknown)
        .with_state(door)
}

async fn unknown() -> JupyterError {
    JupyterError::not_found("this part of Jupyter Server's API is not served here: docs/jupyter.md lists what is")
}

async fn version() -> Json<Value> {
    Json(json!({"version": JUPYTER_SERVER}))
}

/// Needs no token, so it tells nothing of the server.
async fn status() -> Json<Value> {
    Json(json!({"connections": 0, "kernels": 0, "started": EPOCH, "last_activity": EPOCH}))
}

/// Time that is told where no other is known.
pub const EPOCH: &str = "1970-01-01T00:00:00.000000Z";

async fn me(State(door): State<JupyterDoor>, token: CallerToken) -> Result<Json<Value>, JupyterError> {
    let me = door.api.get(&token, "/api/me").await?;
    let name = me["name"].as_str().unwrap_or("Somebody").to_owned();
    let id = me["actor"]["id"].as_str().unwrap_or(&name).to_owned();
    let initials: String = name.split_whitespace().filter_map(|word| word.chars().next()).take(2).collect();
    let identity = json!({
        "username": id, "name": name, "display_name": name, "initials": initials, "avatar_url": null, "color": null,
    });
    Ok(Json(json!({"identity": identity, "permissions": {}})))
}

// --- collaboration ---

/// Opens a notebook's shared document. The session id changes when the document in memory is another one.
async fn collaboration_session(
    State(door): State<JupyterDoor>,
    token: CallerToken,
    Path(path): Path<String>,
) -> Result<Response, JupyterError> {
    let ContentPlace::Notebook(entry) = contents::find(&door, &token, &path).await? else {
        let message = "only notebooks are edited together here: open this file without collaboration";
        return Err(JupyterError::invalid(message));
    };
    let room = door.rooms.open(&token, &entry.id).await;
    room.opened_at(&path);
    door.kernels.note(&entry.id);
    let session = json!({"format": "json", "type": "notebook", "fileId": entry.id, "sessionId": room.session()});
    Ok((StatusCode::OK, Json(session)).into_response())
}

#[derive(Debug, Deserialize)]
struct RoomQuery {
    #[serde(rename = "sessionId", default)]
    session: String,
}

async fn room(
    State(door): State<JupyterDoor>,
    token: CallerToken,
    Path(room): Path<String>,
    Query(query): Query<RoomQuery>,
    upgrade: WebSocketUpgrade,
) -> Result<Response, JupyterError> {
    let upgrade = upgrade.max_message_size(door.limits.max_update_bytes + 1024);
    let Some(notebook) = room.strip_prefix("json:notebook:") else {
        return door.clone().open(upgrade, move |socket| socket::serve_silent(door, token, socket));
    };
    let notebook: NotebookId = notebook.parse().map_err(|_| JupyterError::not_found("there is no such notebook"))?;
    door.clone().open(upgrade, move |socket| socket::serve(door, token, notebook, query.session, socket))
}

async fn events(
    State(door): State<JupyterDoor>,
    token: CallerToken,
    upgrade: WebSocketUpgrade,
) -> Result<Response, JupyterError> {
    door.clone().open(upgrade.max_message_size(64 << 10), move |socket| socket::serve_events(door, token, socket))
}

async fn open_channels(
    State(door): State<JupyterDoor>,
    token: CallerToken,
    Path(notebook): Path<NotebookId>,
    upgrade: WebSocketUpgrade,
) -> Result<Response, JupyterError> {
    let upgrade = upgrade.protocols([channels::SUBPROTOCOL]).max_message_size(door.limits.max_update_bytes);
    door.clone().open(upgrade, move |socket| channels::serve(door, token, notebook, socket))
}
