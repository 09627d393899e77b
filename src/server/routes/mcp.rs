//! `/mcp`: where outside assistants come in. Who speaks their protocol is mounted by the program that starts the server;
//! here it is decided who gets that far, and for how long.

use std::pin::Pin;
use std::sync::{Arc, PoisonError, RwLock};

use async_trait::async_trait;
use axum::body::Body;
use axum::extract::{FromRequest, Request, State};
use axum::response::{IntoResponse, Response};
use axum::routing::{delete, get, post};
use futures_util::StreamExt;
use http::{Method, StatusCode, header};
use notarium_assistant::mcp::{McpService, Person};
use notarium_core::NotebookId;
use serde::Deserialize;

use crate::app::App;
use crate::auth::Authenticated;
use crate::extract::{BytesBody, QueryOf};
use crate::guard::{Guard, GuardedRouter, require_assistant};
use crate::problem::Problem;
use crate::socket::Follow;

/// A request as it is handed over: its body is read, and within the limits.
pub type McpRequest = Request;
pub type McpResponse = Response;

/// Speaks the Model Context Protocol.
#[async_trait]
pub trait McpHandler: Send + Sync + 'static {
    /// Answers a request of somebody whom the server let in; it must ask `who` about every notebook.
    async fn answer(&self, who: Authenticated, request: McpRequest) -> McpResponse;
}

#[async_trait]
impl McpHandler for McpService {
    async fn answer(&self, who: Authenticated, request: McpRequest) -> McpResponse {
        let (token_id, scopes) = (who.token_id.clone(), who.scopes.clone());
        // The guard lets in people's tokens alone.
        let Some(user_id) = who.user_id().cloned() else { return StatusCode::FORBIDDEN.into_response() };
        let person = Person { user_id, token_id, scopes, covers: Arc::new(move |notebook| who.may_see(notebook)) };
        McpService::answer(self, person, request).await.map(Body::new)
    }
}

/// The place of the one handler.
#[derive(Default)]
pub struct McpMount(RwLock<Option<Arc<dyn McpHandler>>>);

impl McpMount {
    /// `None` takes it away.
    pub(crate) fn set(&self, handler: Option<Arc<dyn McpHandler>>) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = handler;
    }

    fn get(&self) -> Result<Arc<dyn McpHandler>, Problem> {
        let handler = self.0.read().unwrap_or_else(PoisonError::into_inner).clone();
        let detail = "this server has no handler for outside assistants, or it just starts or stops: try again later";
        handler.ok_or_else(|| Problem::new(StatusCode::SERVICE_UNAVAILABLE, "unavailable", detail))
    }
}

pub fn routes(routes: GuardedRouter<App>) -> GuardedRouter<App> {
    routes
        .route(Guard::Assistant, Method::POST, "/mcp", post(answer))
        .route(Guard::Assistant, Method::GET, "/mcp", get(answer))
        .route(Guard::Assistant, Method::DELETE, "/mcp", delete(answer))
}

/// What may stand in the address.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct McpQuery {
    /// The only notebook that the connection is for.
    #[serde(default)]
    notebook: Option<NotebookId>,
}

async fn answer(
    State(app): State<App>,
    who: Authenticated,
    QueryOf(query): QueryOf<McpQuery>,
    request: Request,
) -> Result<Response, Problem> {
    if let Some(notebook) = &query.notebook {
        // Told at once, and not with every call.
        app.read(&who, notebook).await?;
    }
    let handler = app.mcp.get()?;
    let mut end = end(&app, &who).await?;
    let (parts, body) = request.into_parts();
    let BytesBody(bytes) = BytesBody::from_request(Request::from_parts(parts.clone(), body), &app).await?;
    let request = Request::from_parts(parts, Body::from(bytes));
    let response = tokio::select! {
        response = handler.answer(who, request) => response,
        problem = &mut end => return Err(problem),
    };
    Ok(if is_stream(&response) { response.map(|body| until(body, end)) } else { response })
}

type End = Pin<Box<dyn Future<Output = Problem> + Send>>;

/// Ready when the token is no more one that an assistant may use, or when the server stops.
async fn end(app: &App, who: &Authenticated) -> Result<End, Problem> {
    let mut follow = Follow::new(&app.accounts, who).await?;
    let stopping = app.stopping.clone();
    let refused = async move {
        loop {
            match follow.changed().await.map_err(Problem::from).and_then(|who| require_assistant(&who)) {
                Ok(()) => {}
                Err(problem) => return problem,
            }
        }
    };
    Ok(Box::pin(async move {
        let stopped = stopping.run_until_cancelled(refused).await;
        let detail = "the server stops: try again in a moment";
        stopped.unwrap_or_else(|| Problem::new(StatusCode::SERVICE_UNAVAILABLE, "unavailable", detail))
    }))
}

fn is_stream(response: &Response) -> bool {
    let kind = response.headers().get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    kind.is_some_and(|kind| kind.starts_with("text/event-stream"))
}

fn until(body: Body, end: End) -> Body {
    Body::from_stream(body.into_data_stream().take_until(end))
}
#[cfg(test)]
mod tests;
