//! Routes for the dependency graph of cells, and the notebook's reactivity mode.

use std::sync::Arc;

use axum::Json;
use http::Method;
use notarium_core::reactive::{KnownNames, NotebookGraph, notebook_graph};
use notarium_core::{Command, NotebookId, Operation, is_python};
use notarium_wire::rest::ReactivityOf;

use super::answers::Reading;
use crate::app::App;
use crate::http::extract::JsonBody;
use crate::http::guard::{Guard, GuardedRouter};
use crate::http::problem::Problem;

pub fn routes(router: GuardedRouter<App>) -> GuardedRouter<App> {
    let of = Guard::Notebook;
    router
        .group("reactivity", "/api/notebooks/{notebook}")
        .says("Whether running a cell brings the cells that hang together with it up to date.")
        .on(of(Operation::Read), Method::GET, "/reactivity", read_reactivity)
        .says("Sets it. For editors and owners.")
        .command(
            of(Operation::Organise),
            Method::PUT,
            "/reactivity",
            |_: NotebookId, JsonBody(ReactivityOf { reactivity })| Ok(Command::SetReactivity { reactivity }),
        )
        .says("Which cell reads what another leaves, and which are stale; also where the notebook is not reactive.")
        .on(of(Operation::Read), Method::GET, "/graph", read_graph)
}

async fn read_reactivity(Reading { now, .. }: Reading) -> Json<ReactivityOf> {
    Json(ReactivityOf { reactivity: now.notebook.reactivity })
}

async fn read_graph(Reading { app, now, .. }: Reading) -> Result<Json<NotebookGraph>, Problem> {
    let notebook = now.notebook;
    let mut names = KnownNames::default();
    if is_python(&notebook) {
        names = KnownNames::clone(&now.names);
        let texts = names.refresh(&notebook);
        for (text, found) in app.rooms.names().read_all(texts).await {
            names.learn(&text.cell_id, text.source_version, found.as_ref());
        }
    }
    let graph = tokio::task::spawn_blocking(move || notebook_graph(&notebook, Arc::new(names)));
    graph.await.map(Json).map_err(|error| {
        tracing::error!(%error, "the graph of a notebook could not be made");
        Problem::internal("the graph could not be made: report it")
    })
}
