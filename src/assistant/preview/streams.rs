//! Joins the pieces in which a run reports a stream.

use std::borrow::Cow;
use std::sync::Arc;

use notarium_core::{Execution, Output, RawJson};
use serde::Deserialize;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Piece<'a> {
    #[serde(borrow)]
    output_type: Cow<'a, str>,
    #[serde(borrow)]
    name: Cow<'a, str>,
    #[serde(borrow)]
    text: Cow<'a, str>,
}

/// The outputs, with consecutive pieces of one stream as one output. A piece whose text is in a blob stays apart.
pub fn joined_streams(outputs: &[Output]) -> Vec<Cow<'_, Output>> {
    let mut joined = Vec::new();
    for group in outputs.chunk_by(|one, next| name_of(one).is_some_and(|name| name_of(next) == Some(name))) {
        match stream_of(group).filter(|_| group.len() > 1) {
            Some(whole) => joined.push(Cow::Owned(whole)),
            None => joined.extend(group.iter().map(Cow::Borrowed)),
        }
    }
    joined
}

/// The run with one output per stream. Unchanged if no stream has several pieces.
pub fn with_joined_streams(mut execution: Arc<Execution>) -> Arc<Execution> {
    let joined = joined_streams(&execution.outputs);
    if joined.len() < execution.outputs.len() {
        let outputs = joined.into_iter().map(Cow::into_owned).collect();
        Arc::make_mut(&mut execution).outputs = outputs;
    }
    execution
}

fn piece_of(output: &Output) -> Option<Piece<'_>> {
    let piece: Piece = serde_json::from_str(output.content.get()).ok()?;
    (output.blobs.is_empty() && output.display_id.is_none() && piece.output_type == "stream").then_some(piece)
}

fn name_of(output: &Output) -> Option<Cow<'_, str>> {
    piece_of(output).map(|piece| piece.name)
}

fn stream_of(group: &[Output]) -> Option<Output> {
    let pieces: Vec<Piece> = group.iter().map(piece_of).collect::<Option<_>>()?;
    let text: String = pieces.iter().map(|piece| &*piece.text).collect();
    let content = serde_json::json!({"name": pieces.first()?.name, "output_type": "stream", "text": text});
    Some(Output { content: RawJson::of(&content).ok()?, blobs: Vec::new(), display_id: None })
}
