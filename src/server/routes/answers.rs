//! Shapes that several routes share.

use axum::Json;
use axum::response::{IntoResponse, Response};
use http::{HeaderValue, StatusCode, header};
use notarium_core::{Command, NotebookId, Outcome, RawJson, Version};
use notarium_wire::AckMessage;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::app::{App, CommandRequest};
use crate::auth::Authenticated;
use crate::extract::Conditions;
use crate::problem::Problem;

/// An accepted command: what it led to is on disk.
#[derive(Debug, Serialize, ToSchema)]
pub struct Answer {
    /// The command's id: repeat it to get the same answer.
    #[schema(value_type = String)]
    pub command_id: notarium_core::CommandId,
    #[schema(value_type = String)]
    pub notebook: NotebookId,
    /// The notebook's version after the command.
    pub version: Version,
    /// Ids that the server chose, and notices.
    #[schema(value_type = Object)]
    pub outcome: Outcome,
}

impl From<AckMessage> for Answer {
    fn from(ack: AckMessage) -> Self {
        Self { command_id: ack.id, notebook: ack.notebook, version: ack.version, outcome: ack.outcome }
    }
}

impl IntoResponse for Answer {
    fn into_response(self) -> Response {
        let etag = etag(self.version);
        ([(header::ETAG, etag)], Json(self)).into_response()
    }
}

/// The version in quotes.
pub fn etag(version: Version) -> HeaderValue {
    HeaderValue::from_str(&format!("\"{version}\"")).unwrap_or_else(|_| HeaderValue::from_static("\"0\""))
}

/// 201 with what was made.
pub fn created(answer: impl IntoResponse) -> Response {
    (StatusCode::CREATED, answer).into_response()
}

/// Sends one command, and answers when it is on disk.
pub async fn execute(
    app: &App,
    authenticated: &Authenticated,
    notebook: &NotebookId,
    conditions: Conditions,
    command: &Command,
) -> Result<Answer, Problem> {
    let body = RawJson::of(command).map_err(|error| Problem::invalid(error.to_string()))?;
    let Conditions { command_id, expected_version } = conditions;
    let request = CommandRequest { id: command_id, expected_version, body };
    Ok(app.execute(authenticated, notebook, request).await?.into())
}

/// Which version is read.
#[derive(Debug, Clone, Copy, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct AtVersion {
    /// A version of the past; absent: now.
    pub at: Option<Version>,
}

/// `{notebook}` and one more part of the path.
#[derive(Debug, Deserialize)]
pub struct NotebookAnd<T> {
    pub notebook: NotebookId,
    #[serde(flatten)]
    pub part: T,
}
