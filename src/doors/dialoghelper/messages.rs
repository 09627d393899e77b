//! Cells as messages: kinds, flags, text of outputs; and the current message of a dialog.

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;
use notarium_core::{Cell, CellId, CellType, Document, Execution, ExecutionStatus, Output, SQL_LINE};
use serde_json::{Map, Value, json};

use crate::error::DoorError;

/// Texts of blobs that outputs refer to, by SHA-256.
pub type LargeTexts = BTreeMap<String, Bytes>;

/// The kind of a message, as clients name it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MessageKind {
    Code,
    Note,
    Prompt,
    Raw,
}

impl MessageKind {
    /// The kind of a cell. SQL cells are code, with the line that says so.
    pub fn of(cell_type: CellType) -> Self {
        match cell_type {
            CellType::Code | CellType::Sql => Self::Code,
            CellType::Markdown => Self::Note,
            CellType::Prompt => Self::Prompt,
            CellType::Raw => Self::Raw,
        }
    }

    pub fn parse(name: &str) -> Result<Self, DoorError> {
        match name {
            "code" => Ok(Self::Code),
            "note" | "markdown" => Ok(Self::Note),
            "prompt" => Ok(Self::Prompt),
            "raw" => Ok(Self::Raw),
            other => {
                let other: String = other.chars().take(80).collect();
                Err(DoorError::new(format!("msg_type must be code, note, prompt or raw, not '{other}'")))
            }
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::Code => "code",
            Self::Note => "note",
            Self::Prompt => "prompt",
            Self::Raw => "raw",
        }
    }

    /// The element of the kind in `as_xml`.
    pub fn tag(self) -> &'static str {
        if self == Self::Note { "markdown" } else { self.name() }
    }
}

/// The cell type and source of a message's content. The line of SQL cells makes code an SQL cell.
pub fn cell_of(kind: MessageKind, content: &str) -> (CellType, String) {
    let content = content.replace("\r\n", "\n");
    match kind {
        MessageKind::Code => match content.strip_prefix(SQL_LINE) {
            Some(query) => (CellType::Sql, query.to_owned()),
            None => (CellType::Code, content),
        },
        MessageKind::Note => (CellType::Markdown, content),
        MessageKind::Prompt => (CellType::Prompt, content),
        MessageKind::Raw => (CellType::Raw, content),
    }
}

/// A message: a view of a cell in a state of the notebook.
#[derive(Debug, Clone, Copy)]
pub struct DialogMessage<'a> {
    pub id: &'a CellId,
    pub cell: &'a Cell,
    pub execution: Option<&'a Execution>,
    is_asked: bool,
}

/// All messages of a dialog, in page order.
pub fn messages(document: &Document) -> Vec<DialogMessage<'_>> {
    document.ordered_cells().map(|(id, cell)| message(document, id, cell)).collect()
}

/// One message, if its cell is there.
pub fn message_of<'a>(document: &'a Document, id: &CellId) -> Option<DialogMessage<'a>> {
    document.cells.get_key_value(id).map(|(id, cell)| message(document, id, cell))
}

fn message<'a>(document: &'a Document, id: &'a CellId, cell: &'a Arc<Cell>) -> DialogMessage<'a> {
    let execution = document.latest_execution(id).map(|(_, execution)| &**execution);
    let is_asked = document.turns.values().any(|turn| turn.cell_id.as_ref() == Some(id));
    DialogMessage { id, cell, execution, is_asked }
}

impl DialogMessage<'_> {
    pub fn kind(&self) -> MessageKind {
        MessageKind::of(self.cell.content.cell_type)
    }

    pub fn content(&self) -> String {
        self.cell.content.text_to_run().into_owned()
    }

    /// True while the message waits to run, or runs.
    pub fn is_running(&self) -> bool {
        self.is_asked || self.execution.is_some_and(|execution| !execution.status.is_finished())
    }

    pub fn has_error(&self) -> bool {
        let shows_error = |execution: &Execution| execution.outputs.iter().any(Output::is_error);
        self.execution.is_some_and(|execution| execution.status == ExecutionStatus::Error || shows_error(execution))
    }

    /// Outputs of code as text, or the reply of a prompt.
    pub fn output(&self, blobs: &LargeTexts) -> String {
        match (&self.cell.reply, self.execution) {
            (Some(reply), _) => reply.text.clone(),
            (None, Some(execution)) => text_of(&execution.outputs, blobs),
            (None, None) => String::new(),
        }
    }

    /// The blobs whose text belongs to the output.
    pub fn text_blobs(&self) -> Vec<(&str, u64)> {
        let outputs = self.execution.map_or(&[][..], |execution| &execution.outputs);
        let parts = outputs.iter().flat_map(|output| &output.blobs);
        let is_text = |mime: Option<String>| mime.is_none_or(|mime| mime == "text/plain" || mime == "text/markdown");
        parts.filter(|part| is_text(part.mime())).map(|part| (part.sha256.as_str(), part.size_bytes)).collect()
    }

    /// The message with all its fields.
    pub fn fields(&self, blobs: &LargeTexts) -> Map<String, Value> {
        let flags = self.cell.content.flags;
        let number = |flag: bool| json!(u8::from(flag));
        let mut fields = self.brief(Some(blobs));
        for (name, value) in [
            ("is_exported", number(flags.exported)),
            ("exported", number(flags.exported)),
            ("pinned", number(flags.pinned)),
            ("skipped", number(flags.skipped)),
            ("i_collapsed", number(flags.source_hidden)),
            ("o_collapsed", number(flags.outputs_hidden)),
            ("heading_collapsed", number(flags.heading_collapsed)),
            ("bookmark", json!(flags.bookmark)),
            ("time_run", json!(self.time_run())),
            ("run", json!(self.is_running())),
        ] {
            fields.insert(name.to_owned(), value);
        }
        fields
    }

    /// Id, content, kind, and output unless `blobs` is `None`.
    pub fn brief(&self, blobs: Option<&LargeTexts>) -> Map<String, Value> {
        let mut fields = Map::new();
        fields.insert("id".to_owned(), json!(self.id.as_str()));
        fields.insert("content".to_owned(), json!(self.content()));
        if let Some(blobs) = blobs {
            fields.insert("output".to_owned(), json!(self.output(blobs)));
        }
        fields.insert("msg_type".to_owned(), json!(self.kind().name()));
        fields
    }

    /// Time of the last run's start, in seconds since 1970; empty if the message did not run.
    fn time_run(&self) -> String {
        let started = self.execution.and_then(|execution| execution.started_at);
        started.map_or_else(String::new, |millis| format!("{}.{:03}", millis / 1000, millis % 1000))
    }
}

/// The cell of an id, with or without the `_` in front.
pub fn find<'a>(document: &'a Document, id: &str) -> Result<&'a CellId, DoorError> {
    let other = id.strip_prefix('_').map_or_else(|| format!("_{id}"), str::to_owned);
    let found =
        [id, &other].into_iter().filter_map(|id| CellId::new(id).ok()).find_map(|id| document.cells.get_key_value(&id));
    found.map(|(id, _)| id).ok_or_else(|| {
        let id: String = id.chars().take(80).collect();
        DoorError::new(format!("no message has the id '{id}': it was deleted, or belongs to another dialog"))
    })
}

/// The current message: the cell that runs now or is about to, else the prompt that is being answered.
pub fn current(document: &Document) -> Result<&CellId, DoorError> {
    let mut cells = executing(document, ExecutionStatus::Running);
    if cells.is_empty() {
        // Code may call before the record says that its run has begun.
        cells = executing(document, ExecutionStatus::Assigned);
    }
    if cells.is_empty() {
        cells = document.turns.values().filter_map(|turn| turn.cell_id.as_ref()).collect();
    }
    cells.retain(|cell| document.cells.contains_key(*cell));
    match cells.as_slice() {
        [only] => Ok(only),
        [] => {
            Err(DoorError::new("no message runs in this dialog, so there is no current one: name a message by its id"))
        }
        _ => Err(DoorError::new("several messages run, so the current one is not known: name a message by its id")),
    }
}

/// The cell of each kernel's first run with this status.
fn executing(document: &Document, status: ExecutionStatus) -> Vec<&CellId> {
    let mut first = BTreeMap::new();
    for execution in document.executions.values().filter(|execution| execution.status == status) {
        let held = first.entry(&execution.kernel_session).or_insert(execution);
        if execution.requested_version < held.requested_version {
            *held = execution;
        }
    }
    first.into_values().filter_map(|execution| execution.subject.cell_id()).collect()
}

/// The message that a request names, or the current one.
pub fn named_or_current<'a>(document: &'a Document, id: Option<&str>) -> Result<&'a CellId, DoorError> {
    match id {
        Some(id) => find(document, id),
        None => current(document),
    }
}

/// Outputs as text: streams as a terminal shows them, results as text/plain, errors with their traceback.
pub fn text_of(outputs: &[Output], blobs: &LargeTexts) -> String {
    let mut text = String::new();
    let mut stream = String::new();
    for output in outputs {
        let content: Value = serde_json::from_str(output.content.get()).unwrap_or_default();
        if content["output_type"] == "stream" {
            stream.push_str(&joined(&content["text"], output, "/text", blobs));
            continue;
        }
        push_line(&mut text, &notarium_terminal::folded_plain(&std::mem::take(&mut stream)));
        push_line(&mut text, &shown(&content, output, blobs));
    }
    push_line(&mut text, &notarium_terminal::folded_plain(&stream));
    text.trim_end_matches('\n').to_owned()
}

fn push_line(text: &mut String, piece: &str) {
    if piece.is_empty() {
        return;
    }
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    text.push_str(piece);
}

/// A result or an error as text.
fn shown(content: &Value, output: &Output, blobs: &LargeTexts) -> String {
    if content["output_type"] == "error" {
        let lines = content["traceback"].as_array().into_iter().flatten().filter_map(Value::as_str);
        let traceback = lines.collect::<Vec<_>>().join("\n");
        if !traceback.is_empty() {
            return notarium_terminal::folded_plain(&traceback);
        }
        let word = |name: &str| content[name].as_str().unwrap_or_default().to_owned();
        return format!("{}: {}", word("ename"), word("evalue"));
    }
    let data = &content["data"];
    for mime in ["text/markdown", "text/plain"] {
        let pointer = format!("/data/{}", notarium_core::escape_key(mime));
        let has_blob = output.blobs.iter().any(|part| part.pointer == pointer);
        if !data[mime].is_null() || has_blob {
            return notarium_terminal::folded_plain(&joined(&data[mime], output, &pointer, blobs));
        }
    }
    let kinds: Vec<String> = data.as_object().into_iter().flat_map(Map::keys).cloned().collect();
    let in_blobs = output.blobs.iter().filter_map(notarium_core::BlobPart::mime);
    let kinds: Vec<String> = kinds.into_iter().chain(in_blobs).collect();
    format!("[{}]", kinds.join(", "))
}

/// A JSON string, an array of lines, or the text of a blob in its place.
fn joined(value: &Value, output: &Output, pointer: &str, blobs: &LargeTexts) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(lines) => lines.iter().filter_map(Value::as_str).collect(),
        Value::Null => match output.blobs.iter().find(|part| part.pointer == pointer) {
            None => String::new(),
            Some(part) => match blobs.get(&part.sha256) {
                Some(bytes) if part.json => {
                    let value = serde_json::from_slice(bytes).unwrap_or_default();
                    joined(&value, output, "", blobs)
                }
                Some(bytes) => String::from_utf8_lossy(bytes).into_owned(),
                None => format!("[{} bytes of text: the page shows them]", part.size_bytes),
            },
        },
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use notarium_core::{BlobPart, RawJson};

    fn output(content: &Value) -> Output {
        Output { content: RawJson::of(content).unwrap(), blobs: Vec::new(), display_id: None }
    }

    #[test]
    fn outputs_are_text() {
        let outputs = [
            output(&json!({"output_type": "stream", "name": "stdout", "text": "a\r"})),
            output(&json!({"output_type": "stream", "name": "stdout", "text": ["b\n", "c"]})),
            output(&json!({"output_type": "execute_result", "data": {"text/plain": "2", "text/html": "<b>2</b>"}})),
            output(&json!({"output_type": "display_data", "data": {"image/png": "xx"}})),
            output(
                &json!({"output_type": "error", "ename": "E", "evalue": "v", "traceback": ["\u{1b}[31mE\u{1b}[0m", "v"]}),
            ),
        ];
        assert_eq!(text_of(&outputs, &LargeTexts::new()), "b\nc\n2\n[image/png]\nE\nv");
    }

    #[test]
    fn large_texts_come_from_their_blobs() {
        let blob =
            |pointer: &str, json| BlobPart { pointer: pointer.into(), sha256: "ab".into(), size_bytes: 9000, json };
        let mut large = output(&json!({"output_type": "stream", "name": "stdout"}));
        large.blobs = vec![blob("/text", false)];
        let blobs = LargeTexts::from([("ab".to_owned(), Bytes::from_static(b"long\n"))]);
        assert_eq!(text_of(&[large.clone()], &blobs), "long");
        assert_eq!(text_of(&[large], &LargeTexts::new()), "[9000 bytes of text: the page shows them]");
        let mut result = output(&json!({"output_type": "execute_result", "data": {}}));
        result.blobs = vec![blob("/data/text~1plain", false)];
        assert_eq!(text_of(&[result], &blobs), "long");
    }

    #[test]
    fn sql_cells_are_code_with_their_line() {
        let (cell_type, source) = cell_of(MessageKind::Code, "%%notarium_sql\nselect 1");
        assert_eq!((cell_type, source.as_str()), (CellType::Sql, "select 1"));
        assert_eq!(cell_of(MessageKind::Note, "a\r\nb"), (CellType::Markdown, "a\nb".to_owned()));
        assert!(MessageKind::parse("chart").unwrap_err().message.contains("not 'chart'"));
    }
}
