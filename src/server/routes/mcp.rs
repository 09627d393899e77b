//! Route `/mcp` for outside assistants. The program that starts the server mounts the protocol's handler; this file
//! checks tokens, and ends streams when they end.

use std::pin::Pin;

use axum::body::Body;
use axum::extract::{FromRequest, Request, State};
use axum::response::Response;
use axum::routing::{delete, get, post};
use futures_util::StreamExt;
use http::{Method, header};
use notarium_core::NotebookId;
use serde::Deserialize;

use crate::app::App;
use crate::auth::Authenticated;
use crate::auth::following::Follow;
use crate::http::extract::{BytesBody, QueryOf};
use crate::http::guard::{Guard, GuardedRouter, require_assistant};
use crate::http::problem::Problem;

pub fn routes(routes: GuardedRouter<App>) -> GuardedRouter<App> {
    routes
        .route(Guard::Assistant, Method::POST, "/mcp", post(answer))
        .route(Guard::Assistant, Method::GET, "/mcp", get(answer))
        .route(Guard::Assistant, Method::DELETE, "/mcp", delete(answer))
}

/// Query parameters.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct McpQuery {
    /// The only notebook that the connection may use.
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
        // An unreadable notebook is refused here, and not with each call.
        app.read(&who, notebook).await?;
    }
    let handler = app.assistants.mcp.get()?;
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

/// Resolves when an assistant may no longer use the token, or when the server stops.
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
        stopped.unwrap_or_else(|| Problem::unavailable("the server stops: try again in a moment"))
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
