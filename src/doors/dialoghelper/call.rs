//! One request: who calls, its form, its dialog; and the table of endpoints.

use std::sync::Arc;

use axum::Json;
use axum::body::{Body, to_bytes};
use axum::extract::{Path, State};
use axum::response::{IntoResponse, Response};
use http::{HeaderMap, StatusCode, header};
use notarium_core::{CellId, NotebookId, Role, Scope};
use notarium_wire::{DOOR_CELL, DOOR_NOTEBOOK, DOOR_REFUSAL};
use serde_json::Value;

use crate::dialogs::Dialog;
use crate::error::DoorError;
use crate::forms::Form;
use crate::messages::{DialogMessage, LargeTexts};
use crate::session::{KernelCode, Session};
use crate::{DialoghelperDoor, changes, clipboard, data_exchange, dialogs, html, marks, reading, run_queue};

/// Texts of large outputs that one answer reads, together.
const MAX_BLOB_BYTES: u64 = 4 << 20;
/// Longest name of an endpoint that an error repeats.
const MAX_ENDPOINT_CHARACTERS: usize = 40;

/// Endpoints whose clients take every text for a success: an empty one is a failure.
const FAIL_EMPTY: [&str; 3] = ["msg_clipboard_", "toggle_header_collapse_", "toggle_comment_"];

/// A request with a valid token.
pub struct DialogCall {
    pub door: Arc<DialoghelperDoor>,
    pub session: Arc<Session>,
    pub form: Form,
    wants_json: bool,
}

/// An answer.
#[derive(Debug)]
pub enum Reply {
    Json(Value),
    /// JSON that is text already.
    JsonText(String),
    Text(String),
}

impl IntoResponse for Reply {
    fn into_response(self) -> Response {
        match self {
            Self::Json(value) => Json(value).into_response(),
            Self::JsonText(text) => ([(header::CONTENT_TYPE, "application/json")], text).into_response(),
            Self::Text(text) => ([(header::CONTENT_TYPE, "text/plain; charset=utf-8")], text).into_response(),
        }
    }
}

/// Handles `POST /{endpoint}`. The token is checked before the body is read.
pub async fn handle(
    State(door): State<Arc<DialoghelperDoor>>,
    Path(endpoint): Path<String>,
    headers: HeaderMap,
    body: Body,
) -> Response {
    answer(door, endpoint, headers, body, None).await
}

/// Handles a request of code in a kernel, which the server has described.
pub async fn handle_of_kernel(
    State(door): State<Arc<DialoghelperDoor>>,
    Path(endpoint): Path<String>,
    headers: HeaderMap,
    body: Body,
) -> Response {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let Some(notebook) = text(DOOR_NOTEBOOK).and_then(|id| NotebookId::new(id).ok()) else {
        return DoorError::raised(StatusCode::BAD_REQUEST, "the server has not named the notebook").into_response();
    };
    let code = KernelCode { notebook, refusal: text(DOOR_REFUSAL).map(str::to_owned) };
    answer(door, endpoint, headers, body, Some(code)).await
}

async fn answer(
    door: Arc<DialoghelperDoor>,
    endpoint: String,
    headers: HeaderMap,
    body: Body,
    code: Option<KernelCode>,
) -> Response {
    let answer = async {
        let session = door.sessions.of(&headers, code).await?;
        let mut form = form(&headers, body, door.max_body_bytes).await?;
        form.current = headers.get(DOOR_CELL).and_then(|cell| cell.to_str().ok()).map(str::to_owned);
        let accepted = headers.get(header::ACCEPT).and_then(|accept| accept.to_str().ok()).unwrap_or_default();
        let wants_json = accepted.contains("application/json");
        let call = DialogCall { door: door.clone(), session, form, wants_json };
        call.answer(&endpoint).await
    };
    let stopped = || Err(DoorError::raised(StatusCode::SERVICE_UNAVAILABLE, "the server is stopping: try again soon"));
    match door.stopping.run_until_cancelled(answer).await.unwrap_or_else(stopped) {
        Ok(reply) => reply.into_response(),
        Err(error) if error.is_read_from_body() && FAIL_EMPTY.contains(&&*endpoint) => {
            tracing::debug!(endpoint, %error, "a request fails with an empty answer");
            Reply::Text(String::new()).into_response()
        }
        Err(error) => error.into_response(),
    }
}

async fn form(headers: &HeaderMap, body: Body, max_bytes: usize) -> Result<Form, DoorError> {
    let too_large = |_| DoorError::new(format!("a request has at most {max_bytes} bytes: send less, or split it"));
    let body = to_bytes(body, max_bytes).await.map_err(too_large)?;
    let content_type = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    if content_type.starts_with("application/json") { Form::parse_json(&body) } else { Form::parse(&body) }
}

/// Refuses requests of pages of other origins. Browsers send this header and let no page change it.
pub async fn check_fetch_site(request: axum::extract::Request, next: axum::middleware::Next) -> Response {
    let mut sites = request.headers().get_all("sec-fetch-site").iter();
    if sites.all(|site| site == "same-origin" || site == "none") {
        return next.run(request).await;
    }
    let message = "pages of other origins may not use this address: call it from a kernel or a program";
    DoorError::raised(StatusCode::FORBIDDEN, message).into_response()
}

impl DialogCall {
    async fn answer(&self, endpoint: &str) -> Result<Reply, DoorError> {
        match endpoint {
            "curr_dialog_" => reading::dialog(self).await,
            "msg_idx_" => reading::index(self).await,
            "find_msgs_" => reading::find(self).await,
            "read_msg_" => reading::read(self).await,
            "server_info_" => Ok(reading::server_info(self)),
            "add_relative_" => changes::add(self).await,
            "update_msg_" => changes::update(self).await,
            "rm_msg_" => changes::remove(self).await,
            "msg_insert_line_" => changes::edit_text(self, changes::insert_line).await,
            "msg_str_replace_" => changes::edit_text(self, changes::str_replace).await,
            "msg_strs_replace_" => changes::edit_text(self, changes::strs_replace).await,
            "msg_replace_lines_" => changes::edit_text(self, changes::replace_lines).await,
            "add_runq_" => run_queue::queue(self).await,
            "run_msgs_" => run_queue::run(self).await,
            "msg_clipboard_" => clipboard::copy(self).await,
            "msg_paste_" => clipboard::paste(self).await,
            "toggle_header_collapse_" => marks::header(self).await,
            "toggle_export_" => marks::export(self).await,
            "toggle_comment_" => marks::comment(self).await,
            "bookmark_" => marks::bookmark(self).await,
            other => self.answer_for_dialogs(other).await,
        }
    }

    /// Endpoints for whole dialogs, and for pages.
    async fn answer_for_dialogs(&self, endpoint: &str) -> Result<Reply, DoorError> {
        match endpoint {
            "create_dialog_" => dialogs::create(self).await,
            "rm_dialog_" => dialogs::remove(self).await,
            "list_dialogs_" => dialogs::list(self).await,
            "realpath_" => dialogs::real_path(&self.form),
            "stop_kernel_" => dialogs::stop(self).await,
            "restart_kernel_" => dialogs::restart(self).await,
            "load_dialog_" => dialogs::load(self).await,
            "add_html_" => html::push(self).await,
            "push_data_" | "push_data_blocking_" => data_exchange::push(self).await,
            "pop_data_blocking_" => data_exchange::pop(self).await,
            other => Err(not_offered(other)),
        }
    }

    /// The dialog that `dlg_name` names; code in a kernel may leave it out.
    pub async fn dialog(&self) -> Result<Dialog, DoorError> {
        let name = match (&self.session.code, self.form.text("dlg_name")) {
            (Some(code), None) => code.notebook.as_str(),
            _ => self.form.required("dlg_name")?,
        };
        dialogs::resolve(&self.door, &self.session, name).await
    }

    /// True if the request concerns one dialog. Some clients name none when they exchange values.
    pub fn has_dialog(&self) -> bool {
        self.session.code.is_some() || self.form.text("dlg_name").is_some()
    }

    /// The dialog, if the caller may change or run it: pushes reach other people's browsers and kernels.
    pub async fn pushing(&self) -> Result<NotebookId, DoorError> {
        let dialog = self.dialog().await?;
        let may = !matches!(dialog.role, Role::Viewer | Role::Commenter | Role::Agent)
            && self.session.scopes.iter().any(|scope| matches!(scope, Scope::Edit | Scope::Run));
        if may {
            return Ok(dialog.id);
        }
        Err(DoorError::new("pushing to a dialog needs the right to edit or run it: ask its owner for access"))
    }

    /// Texts of the messages' large outputs; the rest is named by its size.
    pub async fn blobs(&self, notebook: &NotebookId, messages: &[DialogMessage<'_>]) -> LargeTexts {
        let (mut blobs, mut left) = (LargeTexts::new(), MAX_BLOB_BYTES);
        for (sha256, size_bytes) in messages.iter().flat_map(DialogMessage::text_blobs) {
            if blobs.contains_key(sha256) || size_bytes > left {
                continue;
            }
            match self.door.rest.blob(&self.session, notebook, sha256).await {
                Ok(bytes) => {
                    left -= size_bytes;
                    blobs.insert(sha256.to_owned(), bytes);
                }
                Err(error) => tracing::debug!(%notebook, %error, "a large output is not shown"),
            }
        }
        blobs
    }

    /// JSON for clients that accept it, else the id as text.
    pub fn id_or(&self, id: &CellId, json: Value) -> Reply {
        if self.wants_json { Reply::Json(json) } else { Reply::Text(id.to_string()) }
    }
}

/// Says what to use instead of an endpoint that this server does not offer.
fn not_offered(endpoint: &str) -> DoorError {
    let shown: String = endpoint.chars().take(MAX_ENDPOINT_CHARACTERS).collect();
    match endpoint {
        "search_" | "searches_" | "web_answer_" => DoorError::new(
            "this server does not search the web: call a search library in a cell, or register a function for the assistant",
        ),
        "connfiles_" => DoorError::new(
            "connection files hold a kernel's key and are given to nobody: run code with run_msg, or `notarium exec`",
        ),
        _ => DoorError::raised(
            StatusCode::NOT_FOUND,
            format!("this server has no endpoint '{shown}': docs/dialoghelper.md lists them"),
        ),
    }
}
