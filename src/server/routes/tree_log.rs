//! Routes of the tree of heads: its checkpoint and tiles, as witnesses read them, and the head of a notebook with its proof.

use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::{StatusCode, header};
use notarium_core::Operation;
use notarium_wire::rest::AppendedHeads;
use notarium_wire::tree_log::tiles::Tile;

use super::answers::NotebookReader;
use crate::app::App;
use crate::http::extract::{NoBody, Params};
use crate::http::guard::{Guard, GuardedRouter, route_table};
use crate::http::problem::Problem;
use crate::tree_log::{self, TreeLogError};

/// Checkpoint and tiles are for administrators, unless the operator has made them public (`--public-log`).
pub fn routes(router: GuardedRouter<App>, is_public: bool) -> GuardedRouter<App> {
    let reads = if is_public { Guard::Public } else { Guard::Admin };
    route_table!(router; "history" "/api/notebooks/{notebook}" {
        /// The head of the record, signed, with the proof that it is in the server's tree of heads (C2SP tlog-proof).
        GET "/proven-head", Guard::Notebook(Operation::Read) => proven_head, answers_plain("200", "text/plain; charset=utf-8");
    } "history" "/api/tree-log" {
        /// Appends the heads of changed notebooks to the tree now, as the server does regularly.
        POST "", Guard::Admin => append;
    } "" "/.well-known/notarium-log" {
        /// The checkpoint of the tree of heads (C2SP tlog-checkpoint). For administrators; with `--public-log` for everybody.
        GET "/checkpoint", reads => checkpoint;
        /// A tile of the tree of heads, or a bundle of its entries (C2SP tlog-tiles).
        GET "/tile/{*path}", reads => tile;
    })
}

async fn proven_head(NotebookReader { app, notebook, .. }: NotebookReader) -> Result<Response, Problem> {
    Ok(text(tree_log::proven_head(&app, &notebook).await?))
}

async fn append(State(app): State<App>, _: NoBody) -> Result<Json<AppendedHeads>, Problem> {
    let tree_log::Appended { size, added } = tree_log::append(&app).await?;
    Ok(Json(AppendedHeads { size, added }))
}

async fn checkpoint(State(app): State<App>) -> Result<Response, Problem> {
    let (_, note) = tree_log::checkpoint(&app).await?.ok_or(TreeLogError::Empty)?;
    Ok(([(header::CACHE_CONTROL, "no-cache")], text(note)).into_response())
}

async fn tile(State(app): State<App>, Params(path): Params<String>) -> Result<Response, Problem> {
    let unknown = || Problem::new(StatusCode::NOT_FOUND, "not_found", "the tree has no such tile");
    let tile = Tile::parse(&format!("tile/{path}")).ok_or_else(unknown)?;
    let bytes = tree_log::file(&app, tile).await?.ok_or_else(unknown)?;
    Ok(([(header::CONTENT_TYPE, "application/octet-stream")], bytes).into_response())
}

fn text(content: impl IntoResponse) -> Response {
    ([(header::CONTENT_TYPE, "text/plain; charset=utf-8")], content).into_response()
}
