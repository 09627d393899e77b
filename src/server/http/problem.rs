//! HTTP errors: `application/problem+json` (RFC 9457).

use std::ops::Deref;

use axum::response::{IntoResponse, Response};
use http::{HeaderValue, StatusCode, header};
use notarium_core::{Rejection, RejectionCode, RejectionDetails, wire_word};
use notarium_store::StoreError;
use notarium_store::accounts::{AccountError, ForbiddenScope};
use notarium_wire::{FileRefusal, QuestionRefusal, rest};
use serde::Serialize;

use crate::auth::AuthError;
use crate::auth::oidc::OidcError;
use crate::http::observe::{ErrorId, request_id};

/// A refusal or a fault, boxed because every `Result` carries one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Problem(Box<rest::Problem>);

impl Deref for Problem {
    type Target = rest::Problem;
    fn deref(&self) -> &rest::Problem {
        &self.0
    }
}

impl Problem {
    pub fn new(status: StatusCode, code: &str, detail: impl Into<String>) -> Self {
        Self(Box::new(rest::Problem {
            problem_type: "about:blank".to_owned(),
            title: status.canonical_reason().unwrap_or("Error").to_owned(),
            status: status.as_u16(),
            code: code.to_owned(),
            detail: detail.into(),
            expected_version: None,
            actual_version: None,
            part: None,
            retry_after: None,
            lines: None,
            error_id: if is_fault(status, code) { request_id() } else { None },
            details: None,
        }))
    }

    pub fn forbidden(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::FORBIDDEN, "forbidden", detail)
    }

    /// 500: a fault of the server, whose log says more.
    pub fn internal(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "internal", detail)
    }

    /// Removes the error id, for an answer that the log leaves out.
    pub fn without_error_id(mut self) -> Self {
        self.0.error_id = None;
        self
    }

    pub fn unavailable(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "unavailable", detail)
    }

    fn too_many_attempts(detail: String, retry_after_seconds: u64) -> Self {
        let details = RejectionDetails::RetryAfter { seconds: retry_after_seconds };
        Self::new(StatusCode::TOO_MANY_REQUESTS, "too_many_attempts", detail).with(Some(Box::new(details)))
    }

    /// Adds the facts of a refusal.
    pub fn with(mut self, details: Option<Box<RejectionDetails>>) -> Self {
        if let Some(RejectionDetails::RetryAfter { seconds }) = details.as_deref() {
            self.0.retry_after = Some(*seconds);
        }
        self.0.details = details;
        self
    }

    pub fn invalid(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "invalid_value", detail)
    }

    /// 422: lines of a list that are wrong. Nothing of the list was done.
    pub fn wrong_list(lines: Vec<rest::WrongLine>, count: usize) -> Self {
        let wrong = if count == 1 { "1 line is wrong".to_owned() } else { format!("{count} lines are wrong") };
        let detail = format!("nobody was invited, because {wrong}: correct the list and send it again");
        let mut problem = Self::new(StatusCode::UNPROCESSABLE_ENTITY, "wrong_list", detail);
        problem.0.lines = Some(lines);
        problem
    }

    /// Problem of a question to a kernel that was refused.
    pub fn unanswered(code: QuestionRefusal, detail: impl Into<String>) -> Self {
        use QuestionRefusal as Q;
        let status = match code {
            Q::Forbidden => StatusCode::FORBIDDEN,
            Q::UnknownNotebook | Q::UnknownKernelSession | Q::UnknownConnection | Q::UnknownTable => {
                StatusCode::NOT_FOUND
            }
            Q::NotRunnable | Q::InvalidValue => StatusCode::BAD_REQUEST,
            Q::NoKernel | Q::KernelBusy | Q::Cancelled => StatusCode::CONFLICT,
            Q::LimitExceeded => StatusCode::PAYLOAD_TOO_LARGE,
            Q::RateLimited => StatusCode::TOO_MANY_REQUESTS,
            Q::KernelFailed | Q::ConnectionFailed => StatusCode::BAD_GATEWAY,
            Q::AgentTooOld => StatusCode::NOT_IMPLEMENTED,
            Q::AgentUnreachable | Q::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
            Q::Timeout => StatusCode::GATEWAY_TIMEOUT,
        };
        Self::new(status, &wire_word(&code), detail)
    }

    /// Problem of a failed request for a file beside a notebook.
    pub fn no_file(code: FileRefusal, detail: impl Into<String>) -> Self {
        use FileRefusal as F;
        let status = match code {
            F::InvalidPath | F::BrokenOff => StatusCode::BAD_REQUEST,
            F::OutOfReach => StatusCode::FORBIDDEN,
            F::NotFound | F::UnknownKernelSession => StatusCode::NOT_FOUND,
            F::WrongKind | F::FileExists | F::SystemRefused | F::NotebookArchived | F::NoKernel => StatusCode::CONFLICT,
            F::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
            F::DiskFull => StatusCode::INSUFFICIENT_STORAGE,
            F::AgentUnreachable => StatusCode::SERVICE_UNAVAILABLE,
            F::AgentTooOld => StatusCode::NOT_IMPLEMENTED,
            F::Busy => StatusCode::TOO_MANY_REQUESTS,
            F::Timeout => StatusCode::GATEWAY_TIMEOUT,
        };
        Self::new(status, &wire_word(&code), detail)
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let status = StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let body = serde_json::to_vec(&self).unwrap_or_default();
        let mut response = (status, body).into_response();
        if let Some(id) = &self.error_id {
            response.extensions_mut().insert(ErrorId(id.clone()));
        }
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        if status == StatusCode::UNAUTHORIZED {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        if let Some(seconds) = self.retry_after {
            headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        response
    }
}

/// True for problems of the server or its store, whose reason is in the log. Others say all that there is to know.
fn is_fault(status: StatusCode, code: &str) -> bool {
    match status {
        StatusCode::INTERNAL_SERVER_ERROR => true,
        StatusCode::SERVICE_UNAVAILABLE => ["unavailable", "provider_unavailable"].contains(&code),
        _ => false,
    }
}

/// Status of a rejection's code, as documented in `core/values/decision.rs`.
fn status_of(code: RejectionCode) -> StatusCode {
    use RejectionCode as C;
    match code {
        C::Forbidden => StatusCode::FORBIDDEN,
        C::UnknownNotebook | C::UnknownCell | C::UnknownExecution | C::UnknownKernelSession => StatusCode::NOT_FOUND,
        C::UnknownTool | C::UnknownToolCall | C::UnknownMessage | C::UnknownSubject => StatusCode::NOT_FOUND,
        C::UnknownConversation | C::UnknownTurn | C::UnknownThread | C::UnknownComment => StatusCode::NOT_FOUND,
        C::UnknownSchedule => StatusCode::NOT_FOUND,
        C::RateLimited => StatusCode::TOO_MANY_REQUESTS,
        C::CellDeleted | C::Erased => StatusCode::GONE,
        C::VersionInFuture
        | C::InvalidPlace
        | C::InvalidChange
        | C::NotRunnable
        | C::InvalidValue
        | C::InvalidArguments => StatusCode::BAD_REQUEST,
        C::LimitExceeded | C::OutputLimit => StatusCode::PAYLOAD_TOO_LARGE,
        C::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
        C::DependencyCycle
        | C::NotebookExists
        | C::NotebookArchived
        | C::Conflict
        | C::BaseTooOld
        | C::CellNotDeleted
        | C::CellExists
        | C::ExecutionState
        | C::KernelState
        | C::AlreadyClaimed
        | C::AgentNotWanted
        | C::StaleFence
        | C::ReportGap
        | C::NoInputRequested
        | C::NothingToUndo
        | C::NothingToRedact
        | C::CommandIdReused
        | C::LastOwner
        | C::SubjectEnded
        | C::ToolCallState
        | C::TurnState
        | C::ScheduleState
        | C::ReadOnly => StatusCode::CONFLICT,
    }
}

impl From<Rejection> for Problem {
    fn from(rejection: Rejection) -> Self {
        let mut problem = Self::new(status_of(rejection.code), &wire_word(&rejection.code), rejection.message);
        problem.0.expected_version = rejection.expected_version;
        problem.0.actual_version = rejection.actual_version;
        problem.0.part = rejection.part;
        problem.with(rejection.details)
    }
}

impl From<AuthError> for Problem {
    fn from(error: AuthError) -> Self {
        let (detail, seconds) = (error.to_string(), error.retry_after_seconds());
        let (status, code) = match error {
            AuthError::Missing | AuthError::Invalid => (StatusCode::UNAUTHORIZED, "unauthenticated"),
            AuthError::Expired => (StatusCode::UNAUTHORIZED, "token_expired"),
            AuthError::Revoked => (StatusCode::UNAUTHORIZED, "token_revoked"),
            AuthError::Deactivated => (StatusCode::UNAUTHORIZED, "account_deactivated"),
            AuthError::OneTime => (StatusCode::UNAUTHORIZED, "one_time_token"),
            AuthError::Link(_) => (StatusCode::UNAUTHORIZED, "link_ended"),
            AuthError::WrongPassword => (StatusCode::UNAUTHORIZED, "wrong_password"),
            AuthError::TooManyAttempts { .. } => {
                return Self::too_many_attempts(detail, seconds.unwrap_or_default());
            }
            AuthError::InvalidValue { .. } => (StatusCode::BAD_REQUEST, "invalid_value"),
            AuthError::Forbidden { .. } => (StatusCode::FORBIDDEN, "forbidden"),
            AuthError::Limit { .. } => (StatusCode::PAYLOAD_TOO_LARGE, "limit_exceeded"),
            AuthError::Accounts(error) => return error.into(),
        };
        Self::new(status, code, detail)
    }
}

impl From<AccountError> for Problem {
    fn from(error: AccountError) -> Self {
        let detail = error.to_string();
        let (status, code) = match error {
            AccountError::Unknown { .. } => (StatusCode::NOT_FOUND, "not_found"),
            AccountError::Taken { .. } => (StatusCode::CONFLICT, "taken"),
            AccountError::LastAdmin => (StatusCode::CONFLICT, "last_admin"),
            AccountError::LastWorkspaceOwner => (StatusCode::CONFLICT, "last_owner"),
            AccountError::AlreadySpent => (StatusCode::UNAUTHORIZED, "token_revoked"),
            AccountError::Store(error) => return error.into(),
        };
        Self::new(status, code, detail)
    }
}

impl From<OidcError> for Problem {
    fn from(error: OidcError) -> Self {
        let detail = error.to_string();
        let (status, code) = match error {
            OidcError::Absent => (StatusCode::NOT_FOUND, "not_found"),
            OidcError::Unavailable { .. } => (StatusCode::SERVICE_UNAVAILABLE, "provider_unavailable"),
            OidcError::Ended => (StatusCode::UNAUTHORIZED, "sign_in_ended"),
            OidcError::Refused { .. } => (StatusCode::UNAUTHORIZED, "provider_refused"),
            OidcError::TooMany => return Self::too_many_attempts(detail, 60),
            OidcError::Store(error) => return error.into(),
        };
        Self::new(status, code, detail)
    }
}

impl From<StoreError> for Problem {
    /// The reason may name files of the server: it is logged, and not sent.
    fn from(error: StoreError) -> Self {
        if let StoreError::UnreadableEvent { .. } = error {
            return Self::new(StatusCode::CONFLICT, "damaged", error.to_string());
        }
        tracing::error!(%error, error_id = request_id(), "the store failed");
        let detail = match error {
            StoreError::Unknown { .. } => {
                "the server's disk failed while it wrote: it is not known whether this was changed; look before you try again"
            }
            _ => "the server could not read or write its data; nothing was changed, try again later",
        };
        Self::unavailable(detail)
    }
}

impl From<ForbiddenScope> for Problem {
    fn from(error: ForbiddenScope) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "forbidden_scope", error.to_string())
    }
}
#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_conflict_names_both_versions() {
        let problem = Problem::from(Rejection::conflict("the cell", 3, 5));
        let expected = serde_json::json!({
            "type": "about:blank",
            "title": "Conflict",
            "status": 409,
            "code": "conflict",
            "detail": "the cell is at version 5, not 3: read it again and decide on what it is now",
            "expected_version": 3,
            "actual_version": 5,
        });
        assert_eq!(serde_json::to_value(&problem).unwrap(), expected);
    }

    #[test]
    fn a_problem_has_the_facts_of_its_rejection() {
        let details = RejectionDetails::RetryAfter { seconds: 12 };
        let problem = Problem::from(Rejection::new(RejectionCode::RateLimited, "wait 12 s").with(details));
        assert_eq!(problem.retry_after, Some(12));
        let written = serde_json::to_value(&problem).unwrap();
        assert_eq!(written["details"], serde_json::json!({"kind": "retry_after", "seconds": 12}));
        let problem = Problem::from(AuthError::TooManyAttempts { retry_after_ms: 1_500 });
        assert_eq!(problem.details.as_deref(), Some(&RejectionDetails::RetryAfter { seconds: 2 }));
    }

    #[test]
    fn the_store_s_reasons_are_not_told() {
        let problem = Problem::from(StoreError::ReadOnly { path: "/secret/place".to_owned() });
        assert_eq!((problem.status, problem.code.as_str()), (503, "unavailable"));
        assert!(!problem.detail.contains("secret"));
    }

    #[test]
    fn every_code_has_its_status_and_its_wire_name() {
        let cases = [
            (RejectionCode::Forbidden, 403, "forbidden"),
            (RejectionCode::UnknownNotebook, 404, "unknown_notebook"),
            (RejectionCode::CellDeleted, 410, "cell_deleted"),
            (RejectionCode::InvalidChange, 400, "invalid_change"),
            (RejectionCode::LimitExceeded, 413, "limit_exceeded"),
            (RejectionCode::Unavailable, 503, "unavailable"),
            (RejectionCode::CommandIdReused, 409, "command_id_reused"),
        ];
        for (code, status, name) in cases {
            let problem = Problem::from(Rejection::new(code, "why"));
            assert_eq!((problem.status, problem.code.as_str()), (status, name));
        }
    }
}
