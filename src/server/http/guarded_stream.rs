//! Streams a body only while the caller may read it; revocation aborts the download.

use std::io;
use std::sync::Arc;

use axum::BoxError;
use axum::body::Body;
use bytes::Bytes;
use futures_util::stream::BoxStream;
use futures_util::{Stream, StreamExt, stream};
use notarium_core::{NotebookId, Operation};

use crate::auth::{Accounts, Authenticated, FollowedToken};
use crate::http::problem::Problem;
use crate::rooms::{ReadState, Rooms};

/// Largest piece that is sent in one step.
const PIECE_BYTES: usize = 64 << 10;

type GuardedPiece = Result<Bytes, axum::Error>;

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
) -> Result<BoxStream<'static, GuardedPiece>, Problem> {
    let followed = accounts.follow(who).await?;
    let rights = Rights { followed, rooms: rooms.clone(), notebook: notebook.clone(), operation };
    let pieces = pieces.flat_map(|piece| stream::iter(cut(piece.map(Into::into).map_err(axum::Error::new)))).boxed();
    let guarded = stream::unfold(Some((rights, pieces)), |open| async move {
        let (mut rights, mut pieces) = open?;
        match rights.next_of(&mut pieces).await {
            Ok(piece) => piece.map(|piece| (piece, Some((rights, pieces)))),
            Err(reason) => Some((Err(axum::Error::new(io::Error::other(reason))), None)),
        }
    });
    // Encoders ask again after the end.
    Ok(guarded.fuse().boxed())
}

/// Cuts a piece into parts of at most `PIECE_BYTES`: a revocation takes effect between two of them.
fn cut(piece: Result<Bytes, axum::Error>) -> Vec<GuardedPiece> {
    let mut rest = match piece {
        Ok(bytes) => bytes,
        error => return vec![error],
    };
    let mut cut = Vec::with_capacity(rest.len() / PIECE_BYTES + 1);
    while rest.len() > PIECE_BYTES {
        cut.push(Ok(rest.split_to(PIECE_BYTES)));
    }
    cut.push(Ok(rest));
    cut
}

/// Rights of the caller that a stream depends on.
struct Rights {
    followed: FollowedToken,
    rooms: Arc<Rooms>,
    notebook: NotebookId,
    operation: Operation,
}

impl Rights {
    /// Next piece; the reason where the rights have ended. While rights that changed are looked up, no piece goes out.
    async fn next_of(
        &mut self,
        pieces: &mut BoxStream<'static, GuardedPiece>,
    ) -> Result<Option<GuardedPiece>, &'static str> {
        loop {
            tokio::select! {
                biased;
                () = self.followed.touched() => self.look_up().await?,
                piece = pieces.next() => return Ok(piece),
            }
        }
    }

    async fn look_up(&mut self) -> Result<(), &'static str> {
        let Ok(who) = self.followed.changed().await else { return Err("the token has ended") };
        let is_open = |state: ReadState| self.operation.is_open_to(state.role) && who.has(self.operation.scope());
        let still_open = self.rooms.read_for(&who, &self.notebook).await.is_ok_and(is_open);
        if still_open { Ok(()) } else { Err("the right to this has ended") }
    }
}
