//! Routes between the nodes of a cluster. Each request is signed with the cluster's secret.

use axum::extract::{Request, State};
use axum::response::{IntoResponse, Response};
use axum::{Json, body};
use http::StatusCode;
use notarium_core::Actor;
use notarium_wire::{CommandMessage, RejectMessage, ServerMessage};
use serde::de::DeserializeOwned;

use crate::app::App;
use crate::cluster::{IDENTITY, OwnerNode, PeerError};
use crate::http::extract::NoContent;
use crate::http::forward::not_owner;
use crate::http::guard::{Guard, GuardedRouter, route_table};
use crate::http::problem::Problem;
use crate::notices::NoticeNewsFor;
use crate::rooms::{ForwardedIdentity, decode};

pub fn routes(routes: GuardedRouter<App>) -> GuardedRouter<App> {
    route_table!(routes; "" "/api/cluster" {
        /// Between nodes: a command for a notebook that the asked node owns.
        POST "/commands", Guard::Node => command;
        /// Between nodes: brings the list of notebooks up to date with somebody's changes at the asked node.
        POST "/list-changes", Guard::Node => list_changes;
        /// Between nodes: tells the streams of the asked node that people have news.
        POST "/notices", Guard::Node => notices;
    })
}

async fn command(State(app): State<App>, request: Request) -> Result<Response, Problem> {
    let identity: ForwardedIdentity = signed(&app, &request)?;
    // An imported or forked notebook is one command. Only nodes come so far.
    let bytes = body::to_bytes(request.into_body(), app.limits.max_import_bytes.saturating_mul(2)).await;
    let bytes = bytes.map_err(|_| Problem::invalid("the command broke off, or is too large for another server"))?;
    let message: CommandMessage =
        serde_json::from_slice(&bytes).map_err(|error| Problem::invalid(error.to_string()))?;
    let (id, notebook) = (message.id.clone(), message.notebook.clone());
    if let OwnerNode::Elsewhere(node) = app.cluster.place(&notebook).await? {
        app.cluster.forget(&notebook);
        return Err(not_owner(&node));
    }
    let answer = match decode(message).await {
        Ok(decoded) => app.execute_as(identity.into(), decoded).await,
        Err(undecoded) => Err(undecoded.rejection),
    };
    let answer = match answer {
        Ok(ack) => ServerMessage::Ack(ack),
        Err(rejection) => ServerMessage::Reject(RejectMessage { id, notebook, rejection }),
    };
    Ok(Json(answer).into_response())
}

async fn list_changes(State(app): State<App>, request: Request) -> Result<NoContent, Problem> {
    let actor: Actor = signed(&app, &request)?;
    app.rooms.list_changes_here(&actor).await;
    Ok(NoContent)
}

async fn notices(State(app): State<App>, request: Request) -> Result<NoContent, Problem> {
    let news: Vec<NoticeNewsFor> = signed(&app, &request)?;
    news.into_iter().for_each(|news| app.notices.heard(news));
    Ok(NoContent)
}

/// The signed statement of another node.
fn signed<T: DeserializeOwned>(app: &App, request: &Request) -> Result<T, Problem> {
    let refused = |error: PeerError| Problem::new(StatusCode::UNAUTHORIZED, "unauthenticated", error.to_string());
    let peers = app.cluster.peers().ok_or_else(|| refused(PeerError::Forged))?;
    let header = request.headers().get(IDENTITY).ok_or_else(|| refused(PeerError::Malformed))?;
    let path = request.uri().path_and_query().map_or("", |path| path.as_str());
    peers.verify(request.method(), path, header).map_err(refused)
}
