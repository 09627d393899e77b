//! Errors of the door, in the form that Jupyter's clients show: `{"message": …, "reason": …}`.

use std::fmt::Display;

use axum::Json;
use axum::response::{IntoResponse, Response};
use http::StatusCode;
use notarium_client::CommandError;
use notarium_core::RejectionCode;
use serde_json::{Value, json};

/// A refusal. Its message says what happened and what to do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct JupyterError {
    pub status: StatusCode,
    /// Code for programs, as in protocol/errors.md.
    pub reason: String,
    pub message: String,
}

impl JupyterError {
    pub fn new(status: StatusCode, reason: &str, message: impl Into<String>) -> Self {
        Self { status, reason: reason.to_owned(), message: message.into() }
    }

    pub fn not_found(message: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, "not_found", message)
    }

    pub fn invalid(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "invalid_value", message)
    }

    pub fn no_token() -> Self {
        let message = "a token is needed: send it as 'Authorization: token …' (notarium token new makes one)";
        Self::new(StatusCode::UNAUTHORIZED, "unauthenticated", message)
    }

    pub fn unavailable(message: impl Into<String>) -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "unavailable", message)
    }

    pub fn internal(error: &dyn Display) -> Self {
        tracing::error!(%error, "the Jupyter door could not use an answer of the server");
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "internal", "the server made a mistake: report it")
    }

    pub fn unreadable(error: &dyn Display) -> Self {
        Self::new(StatusCode::BAD_GATEWAY, "unavailable", format!("the content ended early ({error}): try again"))
    }

    /// The problem with which the server's API answered.
    pub fn of_problem(status: StatusCode, body: &[u8]) -> Self {
        let problem: Value = serde_json::from_slice(body).unwrap_or_default();
        let text = |key: &str| problem[key].as_str().map(str::to_owned);
        let message = text("detail").unwrap_or_else(|| format!("the server answered {status}"));
        Self { status, reason: text("code").unwrap_or_else(|| "error".to_owned()), message }
    }
}

impl From<CommandError> for JupyterError {
    fn from(error: CommandError) -> Self {
        let status = match error.code() {
            Some(RejectionCode::Forbidden) => StatusCode::FORBIDDEN,
            Some(RejectionCode::UnknownNotebook) => StatusCode::NOT_FOUND,
            Some(_) => StatusCode::CONFLICT,
            None => StatusCode::SERVICE_UNAVAILABLE,
        };
        Self::new(status, "refused", error.to_string())
    }
}

impl IntoResponse for JupyterError {
    fn into_response(self) -> Response {
        (self.status, Json(json!({"message": self.message, "reason": self.reason}))).into_response()
    }
}
