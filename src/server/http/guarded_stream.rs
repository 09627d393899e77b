//! Streams a body only while the caller may read it; revocation aborts the download.

use std::io;
use std::sync::Arc;

use axum::BoxError;
use axum::body::Body;
use bytes::Bytes;
use futures_util::stream::BoxStream;
use futures_util::{Stream, StreamExt, stream};
use notarium_core::{NotebookId, Operation};

use crate::auth::{Accounts, Authenticated, Follow};
use crate::http::problem::Problem;
use crate::rooms::{ReadState, Rooms};

/// Largest piece that is sent in one step.
const PIECE_BYTES: usize = 64 << 10;

/// Body of `pieces`, sent while the caller may read the notebook.
pub async fn body(
    (rooms, accounts): (&Arc<Rooms>, &Accounts),
    who: &Authenticated,
    notebook: &NotebookId,
    pieces: impl Stream<Item = Result<impl Into<Bytes>, impl Into<BoxError>>> + Send + 'static,
) -> Result<Body, Problem> {
    pieces_while((rooms, accounts), who, notebook, Operation::Read, pieces).await.map(Body::from_stream)
}

/// Stream of `pieces` while the caller may do `operation` in the notebook; ends with an error on revocation.
pub async fn pieces_while(
    (rooms, accounts): (&Arc<Rooms>, &Accounts),
    who: &Authenticated,
    notebook: &NotebookId,
    operation: Operation,
    pieces: impl Stream<Item = Result<impl Into<Bytes>, impl Into<BoxError>>> + Send + 'static,
) -> Result<BoxStream<'static, Result<Bytes, axum::Error>>, Problem> {
    let ended = stream::once(ended((rooms, accounts), who, notebook, operation).await?);
    let ended = ended.map(|reason| Some(Err(axum::Error::new(io::Error::other(reason)))));
    let pieces = pieces.flat_map(|piece| stream::iter(cut(piece.map(Into::into).map_err(axum::Error::new))));
    // After the last piece the stream ends without waiting for a revocation.
    let pieces = pieces.chain(stream::once(async { None }));
    let until_over = stream::select(pieces, ended).take_while(|piece| std::future::ready(piece.is_some()));
    Ok(until_over.filter_map(std::future::ready).boxed())
}

/// Cuts a piece into parts of at most `PIECE_BYTES`: a revocation takes effect between two of them.
fn cut(piece: Result<Bytes, axum::Error>) -> Vec<Option<Result<Bytes, axum::Error>>> {
    let mut rest = match piece {
        Ok(bytes) => bytes,
        error => return vec![Some(error)],
    };
    let mut cut = Vec::with_capacity(rest.len() / PIECE_BYTES + 1);
    while rest.len() > PIECE_BYTES {
        cut.push(Some(Ok(rest.split_to(PIECE_BYTES))));
    }
    cut.push(Some(Ok(rest)));
    cut
}

/// Resolves with the reason when the caller may no longer do `operation` in the notebook.
async fn ended(
    (rooms, accounts): (&Arc<Rooms>, &Accounts),
    who: &Authenticated,
    notebook: &NotebookId,
    operation: Operation,
) -> Result<impl Future<Output = &'static str> + Send + use<>, Problem> {
    let mut follow = Follow::new(accounts, who).await?;
    let (rooms, notebook) = (rooms.clone(), notebook.clone());
    Ok(async move {
        loop {
            let Ok(who) = follow.changed().await else { return "the token has ended" };
            let is_open = |state: ReadState| operation.is_open_to(state.role) && who.has(operation.scope());
            if !rooms.read_for(&who, &notebook).await.is_ok_and(is_open) {
                return "the right to this has ended";
            }
        }
    })
}
