//! Refusals of the door, in the form that clients of dialoghelper read.

use axum::Json;
use axum::response::{IntoResponse, Response};
use http::StatusCode;
use notarium_client::{CommandError, ConnectError};
use serde_json::json;

/// A refusal: one sentence that says what happened and what to do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct DoorError {
    pub message: String,
    /// 200 for refusals that the client reads from the body.
    status: StatusCode,
}

impl DoorError {
    /// Answered as HTTP 200 with `{"error": …}`, as clients expect.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), status: StatusCode::OK }
    }

    /// Answered with a status that makes `raise_for_status` raise.
    pub fn raised(status: StatusCode, message: impl Into<String>) -> Self {
        Self { message: message.into(), status }
    }

    pub fn unauthenticated(message: impl Into<String>) -> Self {
        Self::raised(StatusCode::UNAUTHORIZED, message)
    }

    /// True if the client reads the refusal from the body of a success.
    pub fn is_read_from_body(&self) -> bool {
        self.status.is_success()
    }

    /// The same refusal under this status, unless it has one that is no success.
    #[must_use]
    pub fn or_status(self, status: StatusCode) -> Self {
        if self.status.is_success() { self.with_status(status) } else { self }
    }

    /// The same refusal under another status.
    #[must_use]
    pub fn with_status(self, status: StatusCode) -> Self {
        Self { status, ..self }
    }
}

impl IntoResponse for DoorError {
    fn into_response(self) -> Response {
        (self.status, Json(json!({"error": self.message}))).into_response()
    }
}

impl From<CommandError> for DoorError {
    fn from(error: CommandError) -> Self {
        match error {
            CommandError::Rejected(reject) => Self::new(reject.message.clone()),
            CommandError::Connection(cause) => cause.into(),
        }
    }
}

impl From<ConnectError> for DoorError {
    fn from(cause: ConnectError) -> Self {
        match cause {
            ConnectError::Unauthenticated(_) => Self::unauthenticated(cause.to_string()),
            ConnectError::Refused(_) => Self::raised(StatusCode::FORBIDDEN, cause.to_string()),
            _ => Self::new(format!("the server does not answer now: try again ({cause})")),
        }
    }
}
