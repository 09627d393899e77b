//! Renders outputs as text for a terminal, with a note of other formats; and the progress of runs, which is not in the log, as a
//! line that is redrawn.

use std::collections::BTreeMap;

use console::Term;
use notarium_agent::connection::CommandSender;
use notarium_core::{BlobPart, ExecutionId, KernelSessionId, NotebookId, Output, unescape_key};
use notarium_wire::{ClientMessage, CommChange, OpenComm, PROGRESS_TARGET, ServerMessage};
use serde::Deserialize;
use serde_json::Value;

use crate::cli::connection::client::NotebookClient;
use crate::cli::terminal::print::{self, style};

/// Largest text that is fetched, in bytes; larger ones are only named.
const MAX_BLOB_BYTES: u64 = 64 << 20;

/// An output in parts: its text, and a note of the parts that cannot be shown.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ShownOutput {
    pub text: String,
    /// A note such as `image/png, 12 KiB`.
    pub rest: Option<String>,
    /// True for stderr and errors.
    pub is_alarming: bool,
    /// True for a piece of standard output or standard error.
    pub is_stream: bool,
}

impl ShownOutput {
    /// Text for the terminal, with a line break at its end.
    pub fn for_terminal(&self) -> String {
        let mut text = print::clean_block(&notarium_terminal::folded(&self.text));
        if let Some(rest) = &self.rest {
            end_line(&mut text);
            text.push_str(&style(format!("[{}]", print::clean(rest))).dim().to_string());
            text.push('\n');
        }
        text
    }
}

fn end_line(text: &mut String) {
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
}

/// The text of an output from its event alone.
pub fn shown(output: &Output) -> ShownOutput {
    let content = serde_json::from_str(output.content.get()).unwrap_or(Value::Null);
    shown_of(&content, &output.blobs)
}

/// Like [`shown`], with texts that are stored in blobs.
pub async fn fetched(notebook: &NotebookClient, output: &Output) -> ShownOutput {
    let mut content = serde_json::from_str(output.content.get()).unwrap_or(Value::Null);
    let mut missing = Vec::new();
    for blob in &output.blobs {
        let text = match is_shown_as_text(&blob.pointer) && blob.size_bytes <= MAX_BLOB_BYTES {
            true => blob_text(notebook, blob).await,
            false => None,
        };
        match text {
            Some(text) => put(&mut content, &blob.pointer, text),
            None => missing.push(blob.clone()),
        }
    }
    shown_of(&content, &missing)
}

fn is_shown_as_text(pointer: &str) -> bool {
    matches!(pointer, "/text" | "/data/text~1plain" | "/traceback" | "/evalue") || pointer.starts_with("/traceback/")
}

async fn blob_text(notebook: &NotebookClient, blob: &BlobPart) -> Option<Value> {
    let bytes = notebook.blob(&blob.sha256).await.ok()?.bytes().await.ok()?;
    match blob.json {
        true => serde_json::from_slice(&bytes).ok(),
        false => Some(Value::String(String::from_utf8_lossy(&bytes).into_owned())),
    }
}

/// Sets the value at a pointer; creates its last step if missing.
fn put(content: &mut Value, pointer: &str, value: Value) {
    if let Some(place) = content.pointer_mut(pointer) {
        *place = value;
        return;
    }
    let Some((parent, key)) = pointer.rsplit_once('/') else { return };
    if let Some(Value::Object(parent)) = content.pointer_mut(parent) {
        parent.insert(unescape_key(key), value);
    }
}

fn shown_of(content: &Value, missing: &[BlobPart]) -> ShownOutput {
    let field = |name: &str| text_of(&content[name]);
    match content["output_type"].as_str() {
        Some("stream") => {
            let is_alarming = field("name") == "stderr";
            ShownOutput { text: field("text"), rest: rest_of(&[], missing), is_alarming, is_stream: true }
        }
        Some("error") => {
            ShownOutput { text: error_text(content), rest: rest_of(&[], missing), is_alarming: true, is_stream: false }
        }
        Some("execute_result" | "display_data") => bundle(&content["data"], missing),
        _ => ShownOutput { rest: Some("an output of an unknown type".to_owned()), ..ShownOutput::default() },
    }
}

/// A text, or the joined lines of one.
fn text_of(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(lines) => lines.iter().filter_map(Value::as_str).collect(),
        _ => String::new(),
    }
}

fn error_text(content: &Value) -> String {
    let traceback = content["traceback"].as_array().into_iter().flatten();
    let traceback: Vec<&str> = traceback.filter_map(Value::as_str).collect();
    let mut text = match traceback.is_empty() {
        true => format!("{}: {}", text_of(&content["ename"]), text_of(&content["evalue"])),
        false => traceback.join("\n"),
    };
    end_line(&mut text);
    text
}

/// A MIME bundle: its plain text if there is one, and the names of other types.
fn bundle(data: &Value, missing: &[BlobPart]) -> ShownOutput {
    let Some(data) = data.as_object() else {
        return ShownOutput { rest: rest_of(&[], missing), ..ShownOutput::default() };
    };
    let best = ["text/plain", "text/markdown", "text/latex"].into_iter().find(|name| data.contains_key(*name));
    let mut text = best.map(|name| text_of(&data[name])).unwrap_or_default();
    end_line(&mut text);
    let others: Vec<String> = data.iter().filter(|(name, _)| Some(name.as_str()) != best).map(described).collect();
    ShownOutput { text, rest: rest_of(&others, missing), ..ShownOutput::default() }
}

fn described((name, value): (&String, &Value)) -> String {
    let bytes = value.as_str().map_or_else(|| value.to_string().len(), str::len);
    format!("{name}, {}", print::size(bytes as u64))
}

fn rest_of(others: &[String], missing: &[BlobPart]) -> Option<String> {
    let blobs = missing.iter().map(|blob| {
        let name = unescape_key(blob.pointer.rsplit('/').next().unwrap_or_default());
        format!("{name}, {}", print::size(blob.size_bytes))
    });
    let all: Vec<String> = others.iter().cloned().chain(blobs).collect();
    (!all.is_empty()).then(|| all.join("; "))
}

// --- progress ---

const BAR_WIDTH: usize = 24;

/// Open progress, by comm. The most recently changed one is shown.
#[derive(Debug, Default)]
pub struct Bars {
    bars: BTreeMap<(KernelSessionId, String), Bar>,
    changes: u64,
    is_drawn: bool,
}

#[derive(Debug, Clone)]
struct Bar {
    run: Option<ExecutionId>,
    state: BarState,
    changed: u64,
}

/// State of a bar in a kernel's message; every field may be absent in a change.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
struct BarState {
    label: Option<String>,
    done: Option<f64>,
    total: Option<f64>,
}

impl BarState {
    fn merge(&mut self, news: Self) {
        self.label = news.label.or(self.label.take());
        self.done = news.done.or(self.done);
        self.total = news.total.or(self.total);
    }

    fn line(&self) -> String {
        let done = self.done.unwrap_or_default();
        let label = self.label.as_deref().map(print::clean).filter(|label| !label.is_empty());
        let head = label.map(|label| format!("{label}: ")).unwrap_or_default();
        let Some(total) = self.total.filter(|total| *total > 0.0) else { return format!("{head}{done}") };
        let part = (done / total).clamp(0.0, 1.0);
        let filled = (0..BAR_WIDTH).filter(|step| (*step as f64) < part * BAR_WIDTH as f64).count();
        let bar = format!("{}{}", "█".repeat(filled), " ".repeat(BAR_WIDTH - filled));
        format!("{head}{:3.0}% |{bar}| {done}/{total}", part * 100.0)
    }
}

/// Subscribes to a kernel's messages outside the log; needed after each subscription, and for each new kernel.
pub fn follow_kernel(sender: &CommandSender, notebook: &NotebookId, kernel: &KernelSessionId) {
    sender.ephemeral(ClientMessage::FollowComms { notebook: notebook.clone(), kernel_session: kernel.clone() });
}

impl Bars {
    /// Takes a message about comms; false for other messages.
    pub fn hear(&mut self, message: &ServerMessage) -> bool {
        match message {
            ServerMessage::Comms { kernel_session, comms, .. } => {
                self.bars.retain(|(kernel, _), _| kernel != kernel_session);
                comms.iter().for_each(|comm| self.open(kernel_session, comm));
            }
            ServerMessage::Comm { kernel_session, changes, .. } => {
                changes.iter().for_each(|change| self.change(kernel_session, change));
            }
            _ => return false,
        }
        true
    }

    fn open(&mut self, kernel: &KernelSessionId, comm: &OpenComm) {
        if comm.target.as_deref() == Some(PROGRESS_TARGET) {
            self.changes += 1;
            let state = serde_json::from_str(comm.state.get()).unwrap_or_default();
            let bar = Bar { run: comm.execution_id.clone(), state, changed: self.changes };
            self.bars.insert((kernel.clone(), comm.comm_id.clone()), bar);
        }
    }

    fn change(&mut self, kernel: &KernelSessionId, change: &CommChange) {
        #[derive(Default, Deserialize)]
        #[serde(default)]
        struct BarUpdate {
            state: BarState,
        }
        match change {
            CommChange::Opened(comm) => self.open(kernel, comm),
            CommChange::Closed { comm_id } => _ = self.bars.remove(&(kernel.clone(), comm_id.clone())),
            CommChange::Message(message) => {
                self.changes += 1;
                let changed = self.changes;
                if let Some(bar) = self.bars.get_mut(&(kernel.clone(), message.comm_id.clone())) {
                    let said: BarUpdate = serde_json::from_str(message.data.get()).unwrap_or_default();
                    bar.state.merge(said.state);
                    bar.changed = changed;
                }
            }
        }
    }

    /// The line of the most recently changed progress among the wanted runs.
    fn line(&self, is_wanted: impl Fn(&ExecutionId) -> bool) -> Option<String> {
        let wanted = self.bars.values().filter(|bar| bar.run.as_ref().is_none_or(&is_wanted));
        wanted.max_by_key(|bar| bar.changed).map(|bar| bar.state.line())
    }

    /// Redraws the line if standard error is a terminal.
    pub fn draw(&mut self, is_wanted: impl Fn(&ExecutionId) -> bool) {
        let terminal = Term::stderr();
        if !terminal.is_term() {
            return;
        }
        self.erase();
        if let Some(line) = self.line(is_wanted) {
            let width = usize::from(terminal.size().1).saturating_sub(1);
            let _ = terminal.write_str(&console::truncate_str(&line, width, "…"));
            self.is_drawn = true;
        }
    }

    /// Erases the line; call before any other output.
    pub fn erase(&mut self) {
        if std::mem::take(&mut self.is_drawn) {
            let _ = Term::stderr().clear_line();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use notarium_core::RawJson;
    use serde_json::json;

    fn output(content: &str) -> Output {
        Output { content: RawJson::parse(content).unwrap(), blobs: Vec::new(), display_id: None }
    }

    #[test]
    fn each_type_shows_what_a_terminal_can() {
        let text = |content: &str| shown(&output(content)).for_terminal();
        assert_eq!(text(r#"{"output_type":"stream","name":"stdout","text":"a\nb\n"}"#), "a\nb\n");
        assert_eq!(text(r#"{"output_type":"stream","name":"stdout","text":["a\n","b"]}"#), "a\nb");
        assert_eq!(text(r#"{"output_type":"execute_result","data":{"text/plain":"2"}}"#), "2\n");
        let image = r#"{"output_type":"display_data","data":{"image/png":"aGk=","text/plain":"<Figure>"}}"#;
        assert_eq!(text(image), "<Figure>\n[image/png, 4 B]\n");
        assert_eq!(text(r#"{"output_type":"error","ename":"E","evalue":"v","traceback":[]}"#), "E: v\n");
        assert_eq!(text(r#"{"output_type":"new"}"#), "[an output of an unknown type]\n");
    }

    #[test]
    fn a_progress_bar_ends_as_it_was_last() {
        let bar = r#"{"output_type":"stream","name":"stderr","text":"0%\r50%\r100%\ndone\r\n"}"#;
        assert_eq!(shown(&output(bar)).for_terminal(), "100%\ndone\n");
    }

    #[test]
    fn a_part_in_a_blob_goes_where_it_was_taken_out() {
        let mut content = serde_json::json!({"output_type": "display_data", "data": {}});
        put(&mut content, "/data/text~1plain", Value::String("long".to_owned()));
        assert_eq!(shown_of(&content, &[]).text, "long\n");
        let blob = BlobPart { pointer: "/text".into(), sha256: String::new(), size_bytes: 20_000, json: false };
        let stream = serde_json::json!({"output_type": "stream", "name": "stdout"});
        assert_eq!(shown_of(&stream, &[blob]).rest.as_deref(), Some("text, 19.53 KiB"));
    }

    fn hear(bars: &mut Bars, kind: &str, body: serde_json::Value) {
        let message = json!({kind: body});
        assert!(bars.hear(&serde_json::from_value(message).expect("a message")));
    }

    #[test]
    fn a_bar_follows_what_the_kernel_says_until_it_is_closed() {
        let mut bars = Bars::default();
        let state = json!({"label": "reading\u{1b}", "done": 1, "total": 4});
        let comm = json!({"comm_id": "p", "target": "notarium.progress", "execution_id": "r", "state": state});
        let widget = json!({"comm_id": "w", "state": {"done": 3}});
        hear(&mut bars, "comms", json!({"notebook": "n", "kernel_session": "k", "comms": [comm, widget]}));
        let all = |_: &ExecutionId| true;
        assert_eq!(bars.line(all).as_deref(), Some("reading :  25% |██████                  | 1/4"));
        let update = json!({"comm_id": "p", "data": {"method": "update", "state": {"done": 4}}});
        hear(&mut bars, "comm", json!({"notebook": "n", "kernel_session": "k", "changes": [{"message": update}]}));
        assert!(bars.line(all).is_some_and(|line| line.ends_with("4/4") && line.contains("100%")));
        assert_eq!(bars.line(|run| run.as_str() == "other"), None, "of another run");
        let closed = json!([{"closed": {"comm_id": "p"}}]);
        hear(&mut bars, "comm", json!({"notebook": "n", "kernel_session": "k", "changes": closed}));
        assert_eq!(bars.line(all), None);
    }

    #[test]
    fn without_a_total_what_is_done_is_told() {
        let state = BarState { label: None, done: Some(7.0), total: None };
        assert_eq!(state.line(), "7");
    }
}
