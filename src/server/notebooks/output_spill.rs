//! Moves large outputs of finished runs to blobs when a notebook nears its state quota. The largest go first, and
//! clients show them as before.

use std::sync::Arc;

use notarium_core::{Actor, Command, Execution, ExecutionId, MoveOutputs, MovedOutputs, NotebookId, Output};
use serde_json::value::RawValue;

use crate::blobs::parts::{OutputBlob, split_above, stream, stream_piece};
use crate::notebooks::Notebooks;

/// Shorter values stay: a reference to a blob is hardly shorter.
const MIN_MOVED_BYTES: usize = 1 << 10;
/// Limit of a text that consecutive pieces of a stream are joined to.
const MAX_JOINED_BYTES: usize = 16 << 20;

/// Outputs to move from the state of one run.
struct SpillPlan {
    execution_id: ExecutionId,
    output_seq: u64,
    moved: Vec<MovedOutputs>,
    parts: Vec<OutputBlob>,
    /// Bytes by which the state shrinks.
    saved_bytes: usize,
}

/// Handles notebooks that usage reports as too large, until the server stops.
pub async fn follow(notebooks: Arc<Notebooks>) {
    loop {
        let (notebook, too_many) = tokio::select! {
            () = notebooks.stopping.cancelled() => return,
            large = notebooks.rooms.large_states.take() => (large.notebook, notebooks.usage.excess(large.version)),
        };
        let relieved = relieve(&notebooks, &notebook, too_many).await;
        log(&notebook, relieved);
    }
}

fn log(notebook: &NotebookId, relieved: Result<usize, String>) {
    match relieved {
        Ok(0) => tracing::debug!(%notebook, "a notebook shows much, and has no outputs that can leave its state"),
        Ok(saved_bytes) => tracing::info!(%notebook, saved_bytes, "outputs have left the state of a large notebook"),
        Err(error) => tracing::warn!(%notebook, %error, "outputs of a large notebook do not leave its state now"),
    }
}

/// Moves outputs worth `too_many` bytes, as far as there are any; returns the bytes by which the state shrank.
async fn relieve(notebooks: &Notebooks, notebook: &NotebookId, too_many: u64) -> Result<usize, String> {
    let Some(_content) = notebooks.store.content_locks().try_read(notebook) else { return Ok(0) };
    let state = notebooks.read_by_server(notebook).await.map_err(|refused| refused.to_string())?;
    let mut runs: Vec<(ExecutionId, Arc<Execution>)> = state.notebook.executions.clone().into_iter().collect();
    runs.retain(|(_, run)| run.status.is_finished() && !run.outputs.is_empty());
    runs.sort_by_cached_key(|(_, run)| std::cmp::Reverse(run.outputs.iter().map(Output::size_bytes).sum::<usize>()));
    let mut saved = 0;
    for (id, run) in runs {
        if saved as u64 >= too_many {
            break;
        }
        let plan = tokio::task::spawn_blocking(move || plan(id, &run)).await.map_err(|error| error.to_string())?;
        if plan.moved.is_empty() {
            continue;
        }
        let SpillPlan { execution_id, output_seq, moved, parts, saved_bytes } = plan;
        notebooks.cluster.forget(notebook);
        if !notebooks.cluster.owns(notebook).await.map_err(|error| error.to_string())? {
            break;
        }
        put(notebooks, notebook, parts).await?;
        let command = Command::MoveOutputs(MoveOutputs { execution_id, output_seq, moved });
        match notebooks.execute_by_server_in_epoch(state.epoch, notebook, command).await {
            Ok(_) => saved += saved_bytes,
            // The run was cleared or has written since, or the notebook was at another node, where content of it may have been removed. The next
            // measurement sees the new state.
            Err(rejection) => tracing::debug!(%notebook, %rejection, "outputs stay where they are"),
        }
    }
    Ok(saved)
}

async fn put(notebooks: &Notebooks, notebook: &NotebookId, parts: Vec<OutputBlob>) -> Result<(), String> {
    let bytes = parts.iter().map(|part| part.bytes.len() as u64).sum();
    notebooks.usage.check_blob(notebook, bytes).map_err(|full| full.to_string())?;
    let kept = notebooks.blobs.put_all(notebook, parts).await.map_err(|problem| problem.detail.clone())?;
    notebooks.blobs.record(&Actor::System, notebook, kept).await.map_err(|error| error.to_string())
}

fn plan(execution_id: ExecutionId, run: &Execution) -> SpillPlan {
    let mut plan =
        SpillPlan { execution_id, output_seq: run.output_seq, moved: Vec::new(), parts: Vec::new(), saved_bytes: 0 };
    let mut first = 0;
    while first < run.outputs.len() {
        let (count, whole) = joined(&run.outputs[first..]);
        plan.note(first, &run.outputs[first..first + count], whole);
        first += count;
    }
    plan
}

impl SpillPlan {
    fn note(&mut self, first: usize, replaced: &[Output], whole: Option<Box<RawValue>>) {
        let Some(whole) = whole else { return };
        let before: usize = replaced.iter().map(Output::size_bytes).sum();
        let (mut output, parts) = split_above(whole, MIN_MOVED_BYTES);
        // Blobs that were moved earlier stay named.
        output.blobs.extend(replaced.iter().flat_map(|one| one.blobs.iter().cloned()));
        let after = output.size_bytes();
        if parts.is_empty() || after >= before {
            return;
        }
        self.saved_bytes += before - after;
        self.moved.push(MovedOutputs { first, count: replaced.len(), output });
        self.parts.extend(parts);
    }
}

/// Number of leading outputs that form one object, and that object: consecutive pieces of a stream are joined. `None`:
/// they stay as they are.
fn joined(outputs: &[Output]) -> (usize, Option<Box<RawValue>>) {
    let Some(first) = outputs.first() else { return (0, None) };
    if first.display_id.is_some() {
        return (1, None);
    }
    let Some((name, mut text)) = piece_of(first) else {
        return (1, RawValue::from_string(first.content.get().to_owned()).ok());
    };
    let mut count = 1;
    while let Some((other, more)) = outputs.get(count).and_then(piece_of) {
        if other != name || text.len() + more.len() > MAX_JOINED_BYTES {
            break;
        }
        text.push_str(&more);
        count += 1;
    }
    (count, Some(stream(&name, &text)))
}

/// Name and text of an output that is only a piece of a stream, with its text inline.
fn piece_of(output: &Output) -> Option<(String, String)> {
    if output.display_id.is_some() || !output.blobs.is_empty() {
        return None;
    }
    let (name, text) = stream_piece(output.content.get())?;
    Some((name, text?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stream(name: &str, text: &str) -> Output {
        let content = serde_json::json!({"output_type": "stream", "name": name, "text": text});
        Output { content: notarium_core::RawJson::of(&content).unwrap(), blobs: Vec::new(), display_id: None }
    }

    #[test]
    fn pieces_of_one_stream_are_one_and_others_stay_apart() {
        let display = Output { display_id: Some("bar".to_owned()), ..stream("stdout", "shown") };
        let outputs = [stream("stdout", "a"), stream("stdout", "b"), stream("stderr", "c"), display];
        let (count, whole) = joined(&outputs);
        assert_eq!((count, whole.unwrap().get()), (2, r#"{"name":"stdout","output_type":"stream","text":"ab"}"#));
        assert_eq!(joined(&outputs[2..]).0, 1);
        assert!(joined(&outputs[3..]).1.is_none(), "an update finds it by its id");
    }
}
