//! Mount of the Model Context Protocol handler, which the program that starts the server provides.

use std::sync::{Arc, PoisonError, RwLock};

use async_trait::async_trait;
use axum::body::Body;
use axum::extract::Request;
use axum::response::{IntoResponse, Response};
use http::StatusCode;
use notarium_assistant::mcp::{McpService, Person};

use crate::auth::Authenticated;
use crate::http::problem::Problem;

/// Handler of the Model Context Protocol.
#[async_trait]
pub trait McpHandler: Send + Sync + 'static {
    /// Answers a request of an authenticated caller. It must check `who` for every notebook. The body is read, and
    /// within the limits.
    async fn answer(&self, who: Authenticated, request: Request) -> Response;
}

#[async_trait]
impl McpHandler for McpService {
    async fn answer(&self, who: Authenticated, request: Request) -> Response {
        let (token_id, scopes) = (who.token_id.clone(), who.scopes.clone());
        // The guard admits only people's tokens.
        let Some(user_id) = who.user_id().cloned() else { return StatusCode::FORBIDDEN.into_response() };
        let person = Person { user_id, token_id, scopes, covers: Arc::new(move |notebook| who.may_see(notebook)) };
        McpService::answer(self, person, request).await.map(Body::new)
    }
}

/// Holder of the one handler.
#[derive(Default)]
pub struct McpMount(RwLock<Option<Arc<dyn McpHandler>>>);

impl McpMount {
    /// Sets the handler; `None` removes it.
    pub(crate) fn set(&self, handler: Option<Arc<dyn McpHandler>>) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = handler;
    }

    pub(crate) fn get(&self) -> Result<Arc<dyn McpHandler>, Problem> {
        let handler = self.0.read().unwrap_or_else(PoisonError::into_inner).clone();
        let detail = "this server has no handler for outside assistants, or it just starts or stops: try again later";
        handler.ok_or_else(|| Problem::new(StatusCode::SERVICE_UNAVAILABLE, "unavailable", detail))
    }
}
