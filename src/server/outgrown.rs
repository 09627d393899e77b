//! Notebooks that show nearly as much as they may: what runs that have ended printed moves from the state to blobs, the most first, and
//! is shown as before.

use std::sync::Arc;

use notarium_core::{
    Actor, Authority, Command, Execution, ExecutionId, MoveOutputs, MovedOutputs, NotebookId, Output, RawJson,
    Rejection,
};
use notarium_wire::CommandMessage;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::app::App;
use crate::blobs;
use crate::files::parts::{Part, split_above};
use crate::problem::Problem;
use crate::rooms::Identity;

/// Shorter values stay: their name as a blob would not be much shorter.
const MIN_MOVED_BYTES: usize = 1 << 10;
/// Pieces of a stream become texts of at most about so much.
const MAX_JOINED_BYTES: usize = 16 << 20;

/// What leaves the state of one run.
struct Plan {
    execution_id: ExecutionId,
    output_seq: u64,
    moved: Vec<MovedOutputs>,
    parts: Vec<Part>,
    /// Of the state.
    saved_bytes: usize,
}

/// Follows what is measured, for as long as the server runs.
pub async fn follow(app: App) {
    loop {
        let (notebook, too_many) = tokio::select! {
            () = app.stopping.cancelled() => return,
            outgrown = app.usage.take_outgrown() => outgrown,
        };
        let relieved = relieve(&app, &notebook, too_many).await;
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

/// Takes so many bytes out of the notebook's state, as far as there are outputs that can leave it; gives how many.
async fn relieve(app: &App, notebook: &NotebookId, too_many: u64) -> Result<usize, String> {
    let state = app.rooms.open(notebook).read(by_server()).await.map_err(|refused| refused.to_string())?;
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
        let saved_bytes = plan.saved_bytes;
        match carry_out(app, notebook, plan).await {
            Ok(()) => saved += saved_bytes,
            // It was cleared, or has written since: the next look sees it as it is then.
            Err(Refused::Command(rejection)) => tracing::debug!(%notebook, %rejection, "outputs stay where they are"),
            Err(Refused::Blobs(reason)) => return Err(reason),
        }
    }
    Ok(saved)
}

enum Refused {
    Command(Rejection),
    Blobs(String),
}

async fn carry_out(app: &App, notebook: &NotebookId, plan: Plan) -> Result<(), Refused> {
    let told = |problem: Problem| Refused::Blobs(problem.detail.clone());
    let bytes = plan.parts.iter().map(|part| part.bytes.len() as u64).sum();
    app.usage.check_blob(notebook, bytes).map_err(|full| Refused::Blobs(full.to_string()))?;
    let kept = blobs::put_all(app, notebook, plan.parts).await.map_err(told)?;
    blobs::record(app, &Actor::System, notebook, kept).await.map_err(|error| Refused::Blobs(error.to_string()))?;
    let Plan { execution_id, output_seq, moved, .. } = plan;
    let body = RawJson::of(&Command::MoveOutputs(MoveOutputs { execution_id, output_seq, moved }));
    let body = body.map_err(|error| Refused::Blobs(error.to_string()))?;
    let message = CommandMessage::new(ulid::Ulid::generate().into(), notebook.clone(), body);
    app.execute_as(by_server(), message).await.map(drop).map_err(Refused::Command)
}

fn plan(execution_id: ExecutionId, run: &Execution) -> Plan {
    let mut plan =
        Plan { execution_id, output_seq: run.output_seq, moved: Vec::new(), parts: Vec::new(), saved_bytes: 0 };
    let mut first = 0;
    while first < run.outputs.len() {
        let (count, whole) = joined(&run.outputs[first..]);
        plan.note(first, &run.outputs[first..first + count], whole);
        first += count;
    }
    plan
}

impl Plan {
    fn note(&mut self, first: usize, replaced: &[Output], whole: Option<Box<RawValue>>) {
        let Some(whole) = whole else { return };
        let before: usize = replaced.iter().map(Output::size_bytes).sum();
        let (mut output, parts) = split_above(whole, MIN_MOVED_BYTES);
        // What had left before is named as it was.
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

/// How many of the first outputs are one: pieces of a stream that follow one another. With them as one object; `None`: they stay as
/// they are.
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
    let whole = serde_json::json!({"name": name, "output_type": "stream", "text": text});
    (count, serde_json::value::to_raw_value(&whole).ok())
}

/// Name and text of a piece of a stream that is whole, and has nothing else.
fn piece_of(output: &Output) -> Option<(String, String)> {
    if output.display_id.is_some() || !output.blobs.is_empty() {
        return None;
    }
    let mut fields: Map<String, Value> = serde_json::from_str(output.content.get()).ok()?;
    let is_stream = fields.remove("output_type")? == "stream";
    let (name, text) = (fields.remove("name")?, fields.remove("text")?);
    match (is_stream && fields.is_empty(), name, text) {
        (true, Value::String(name), Value::String(text)) => Some((name, text)),
        _ => None,
    }
}

fn by_server() -> Arc<Identity> {
    let (name, connection) = ("server".to_owned(), String::new());
    Arc::new(Identity { actor: Actor::System, authority: Authority::default(), name, connection })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stream(name: &str, text: &str) -> Output {
        let content = serde_json::json!({"output_type": "stream", "name": name, "text": text});
        Output { content: RawJson::of(&content).unwrap(), blobs: Vec::new(), display_id: None }
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
