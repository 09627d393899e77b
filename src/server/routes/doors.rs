//! Routes of doors for clients that speak another protocol. The program that starts the server mounts their handlers; each of them uses
//! this server's API with the caller's own token, so the guard here only demands one that may read.

use axum::extract::{Request, State};
use axum::response::{IntoResponse, Response};
use http::StatusCode;
use notarium_core::Scope;
use tower::ServiceExt;

use crate::app::App;
use crate::http::foreign_token::JUPYTER;
use crate::http::guard::{Guard, GuardedRouter, route_table};
use crate::http::mount::below;
use crate::http::problem::Problem;

pub fn routes(routes: GuardedRouter<App>) -> GuardedRouter<App> {
    let read = Guard::Scope(Scope::Read);
    route_table!(routes; "" "/jupyter" {
        /// The Jupyter door is open: some clients ask before they send a token. It says nothing else.
        GET "/api/status", Guard::Public => jupyter;
        /// The Jupyter door (`--door jupyter`): reads, and WebSockets. Rights are those of each route of this server that it uses.
        GET "/{*path}", read => jupyter;
        /// The Jupyter door: new notebooks, kernels, sessions and runs.
        POST "/{*path}", read => jupyter;
        /// The Jupyter door: saved files, and sessions of shared documents.
        PUT "/{*path}", read => jupyter;
        /// The Jupyter door: names and places of notebooks and files.
        PATCH "/{*path}", read => jupyter;
        /// The Jupyter door: archives a notebook, removes a file, ends a kernel.
        DELETE "/{*path}", read => jupyter;
    })
}

async fn jupyter(State(app): State<App>, request: Request) -> Response {
    let closed = || {
        let detail = "this server has no Jupyter door: start it with `notarium serve --door jupyter`";
        Problem::new(StatusCode::NOT_FOUND, "not_found", detail).into_response()
    };
    let (Some(door), Some(request)) = (app.jupyter.get(), below(JUPYTER, request)) else { return closed() };
    door.oneshot(request).await.unwrap_or_else(|never| match never {})
}
