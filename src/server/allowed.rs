//! Long answers that end, visibly unfinished, when what they tell may be read no more: a download that was begun with a token
//! does not outlive it.

use std::error::Error;
use std::io;

use axum::body::Body;
use bytes::Bytes;
use futures_util::{Stream, StreamExt, stream};
use notarium_core::NotebookId;

use crate::app::App;
use crate::auth::Authenticated;
use crate::problem::Problem;
use crate::socket::Follow;

/// What goes out at once.
const PIECE_BYTES: usize = 64 << 10;

/// A body of these pieces, for as long as the notebook may be read by who asked for it.
pub async fn body<P, E>(
    app: &App,
    who: &Authenticated,
    notebook: &NotebookId,
    pieces: impl Stream<Item = Result<P, E>> + Send + 'static,
) -> Result<Body, Problem>
where
    P: Into<Bytes>,
    E: Into<Box<dyn Error + Send + Sync>>,
{
    let ended = stream::once(ended(app, who, notebook).await?);
    let ended = ended.map(|reason| Some(Err(axum::Error::new(io::Error::other(reason)))));
    let pieces = pieces.flat_map(|piece| stream::iter(cut(piece.map(Into::into).map_err(axum::Error::new))));
    // After the last piece nothing waits for the token any more.
    let pieces = pieces.chain(stream::once(async { None }));
    let until_over = stream::select(pieces, ended).take_while(|piece| std::future::ready(piece.is_some()));
    Ok(Body::from_stream(until_over.filter_map(std::future::ready)))
}

/// Between two of these it is seen that the token has ended.
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

/// Ready when the notebook may be read no more by who began to.
async fn ended(
    app: &App,
    who: &Authenticated,
    notebook: &NotebookId,
) -> Result<impl Future<Output = &'static str> + Send + use<>, Problem> {
    let mut follow = Follow::new(&app.accounts, who).await?;
    let (app, notebook) = (app.clone(), notebook.clone());
    Ok(async move {
        loop {
            let Ok(who) = follow.changed().await else { return "the token has ended" };
            if app.read(&who, &notebook).await.is_err() {
                return "the notebook may be read no more";
            }
        }
    })
}
