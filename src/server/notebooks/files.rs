//! Import and export of files: `.ipynb` to commands, state to `.ipynb`, and files for reading (HTML, Markdown, Python).
//!
//! A `.ipynb` is streamed by `pieces`. The text of a file for reading is made whole, so its outputs have a smaller limit.

pub mod kernel_metadata;
pub mod pictures;
pub mod pieces;
pub mod sizes;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use bytes::Bytes;
use notarium_core::{
    BlobPart, Cell, CellFlagChanges, CellFlags, CellId, CellReply, CellType, Command, Document, Execution, InsertCell,
    KernelSettings, Output, Place, RawObject, Reactivity, SetKernelSettings, checked_labels, wire_word,
};
use notarium_export::{ExportedCell as ReadableCell, ExportedKind, ExportedNotebook, Format};
use notarium_wire::ipynb::{Document as File, DocumentCell, Imported, Object};
use notarium_wire::rest::ExportFormat;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::Notebooks;
use crate::blobs::parts::{self, OutputBlob};
use crate::http::extract::too_large;
use crate::http::problem::Problem;
use crate::rooms::metadata;
use pieces::MAX_MAKING_MIB;

/// Plan of an import: upload the parts, then send the command.
#[derive(Debug, Clone)]
pub struct ImportPlan {
    /// `CreateNotebook`, `InsertCell` …, `RecordExecution` …: all or nothing.
    pub command: Command,
    pub parts: Vec<OutputBlob>,
}

/// Plans the import of a file under a title.
pub fn plan_import(imported: Imported, title: String) -> ImportPlan {
    let mut document = imported.document;
    let reactivity: Option<Reactivity> = metadata::take(&mut document.metadata, metadata::REACTIVITY);
    let kernels: Option<KernelSettings> = metadata::take(&mut document.metadata, metadata::KERNELS);
    let metadata = with_aside(document.metadata, [("extra", document.extra)]);
    let mut commands = vec![Command::CreateNotebook { title, metadata, forked_from: None }];
    let mut parts = Vec::new();
    for cell in document.cells {
        plan_cell(cell, &mut commands, &mut parts);
    }
    let reactivity = reactivity.filter(|reactivity| *reactivity != Reactivity::Off);
    commands.extend(reactivity.map(|reactivity| Command::SetReactivity { reactivity }));
    // A file may have settings that no command can set: it is imported without them.
    let kernels = kernels.filter(|settings| checked_labels(settings.labels.clone()).is_ok());
    commands.extend(kernels.and_then(|settings| SetKernelSettings::of(&settings)).map(Command::SetKernelSettings));
    ImportPlan { command: Command::Batch { commands }, parts }
}

fn plan_cell(cell: DocumentCell, commands: &mut Vec<Command>, parts: &mut Vec<OutputBlob>) {
    // The reader gives only valid ids. Without an id the server would choose one, and the outputs would not find their
    // cell.
    let Ok(cell_id) = CellId::new(&cell.id) else { return };
    let (flags, other_flags) = split_flags(cell.flags);
    let asides = [("extra", cell.extra), ("flags", other_flags)];
    // The file's names are those of our JSON.
    let cell_type = serde_json::from_value(cell.cell_type.into()).unwrap_or(CellType::Raw);
    let mut metadata = cell.metadata;
    let reply: Option<CellReply> =
        (cell_type == CellType::Prompt).then(|| metadata::take(&mut metadata, metadata::REPLY)).flatten();
    commands.push(Command::InsertCell(InsertCell {
        cell_id: Some(cell_id.clone()),
        cell_type,
        source: cell.source,
        place: Place::End,
        metadata: with_aside(metadata, asides),
        attachments: cell.attachments.as_ref().map(to_object),
        flags,
        // A reply written by a later version is read as far as this version knows it.
        reply: reply.map(|reply| Box::new(reply.closed())),
    }));
    let execution_count = cell.execution_count.and_then(|count| u64::try_from(count).ok());
    if !cell.outputs.is_empty() || execution_count.is_some() {
        let outputs = split_outputs(cell.outputs, parts);
        commands.push(Command::RecordExecution { cell_id, outputs, execution_count });
    }
}

fn split_outputs(outputs: Vec<Box<RawValue>>, parts: &mut Vec<OutputBlob>) -> Vec<Output> {
    let split = |content| {
        let (output, taken) = parts::split(content);
        parts.extend(taken);
        output
    };
    outputs.into_iter().map(split).collect()
}

/// Splits flags into those that the core knows and the others.
fn split_flags(flags: Object) -> (CellFlagChanges, Object) {
    let (known, others): (Object, Object) =
        flags.into_iter().partition(|(name, value)| is_known_flag(name, value.get()));
    (serde_json::from_str(metadata::to_raw(&known).get()).unwrap_or_default(), others)
}

fn is_known_flag(name: &str, value: &str) -> bool {
    match name {
        "pinned" | "skipped" | "source_hidden" | "outputs_hidden" | "heading_collapsed" | "exported" => value == "true",
        "bookmark" => value.parse().is_ok_and(|mark: u8| (1..=9).contains(&mark)),
        _ => false,
    }
}

/// Puts values without a field in the core under `metadata.notarium`, where exports find them again.
fn with_aside<const N: usize>(mut metadata: Object, asides: [(&str, Object); N]) -> RawObject {
    for (name, aside) in asides.iter().filter(|(_, aside)| !aside.is_empty()) {
        metadata::put(&mut metadata, name, aside);
    }
    to_object(&metadata)
}

fn to_object(object: &Object) -> RawObject {
    RawObject::parse(metadata::to_raw(object).get()).unwrap_or_default()
}

/// Blobs that the shown outputs of these cells name and a file contains, each once.
pub fn named_blobs<'a>(notebook: &'a Document, cells: &'a [CellId]) -> Vec<&'a BlobPart> {
    let shown = cells.iter().filter_map(|id| notebook.latest_execution(id));
    named_by(shown.flat_map(|(_, run)| &run.outputs))
}

/// Blobs that these outputs name and a file contains, each once.
pub fn named_by<'a>(outputs: impl IntoIterator<Item = &'a Output>) -> Vec<&'a BlobPart> {
    let mut seen = BTreeSet::new();
    let named = outputs.into_iter().flat_map(|output| &output.blobs);
    let named = named.filter(|part| parts::is_in_files(part));
    named.filter(|part| seen.insert(part.sha256.as_str())).collect()
}

/// The file without its cells.
pub fn frame(notebook: &Document) -> File {
    let mut metadata = object(&notebook.metadata);
    if notebook.reactivity != Reactivity::Off {
        metadata::put(&mut metadata, metadata::REACTIVITY, &notebook.reactivity);
    }
    kernel_metadata::complete(&mut metadata, notebook);
    if notebook.kernel_settings != KernelSettings::default() {
        metadata::put(&mut metadata, metadata::KERNELS, &notebook.kernel_settings);
    }
    File { metadata, nbformat_original: (4, 5), extra: Object::new(), cells: Vec::new() }
}

/// A cell as in the file; `blobs` are bytes by lower-case hex of their SHA-256. `None`: there is no such cell.
pub fn cell(notebook: &Document, cell_id: &CellId, blobs: &BTreeMap<String, Bytes>) -> Option<DocumentCell> {
    let latest = notebook.latest_execution(cell_id).map(|(_, execution)| &**execution);
    let bare = without_outputs(cell_id, notebook.cells.get(cell_id)?, latest);
    let shown = latest.map_or(&[][..], |execution| &execution.outputs);
    Some(DocumentCell { outputs: outputs(shown, blobs), ..bare })
}

/// Outputs as in the file.
pub fn outputs(outputs: &[Output], blobs: &BTreeMap<String, Bytes>) -> Vec<Box<RawValue>> {
    one_stream_each(outputs.iter().map(|output| parts::join(output, blobs)))
}

/// Outputs that can be written separately: consecutive pieces of one stream stay together.
pub fn groups(outputs: &[Output]) -> impl Iterator<Item = &[Output]> {
    let stream = |output: &Output| parts::stream_piece(output.content.get()).map(|(name, _)| name);
    outputs.chunk_by(move |one, next| stream(one).is_some_and(|name| stream(next) == Some(name)))
}

/// A cell without outputs.
pub fn without_outputs(cell_id: &CellId, cell: &Cell, latest: Option<&Execution>) -> DocumentCell {
    let content = &cell.content;
    let count = latest.and_then(|execution| execution.execution_count);
    DocumentCell {
        id: cell_id.to_string(),
        // Our JSON names are those of the file.
        cell_type: wire_word(&content.cell_type),
        source: content.source.clone(),
        metadata: metadata(cell),
        attachments: content.attachments.as_ref().map(object),
        execution_count: count.and_then(|count| i64::try_from(count).ok()),
        outputs: Vec::new(),
        flags: flags(&content.flags),
        extra: Object::new(),
    }
}

fn metadata(cell: &Cell) -> Object {
    let mut metadata = object(&cell.content.metadata);
    if let Some(reply) = cell.reply.as_deref() {
        metadata::put(&mut metadata, metadata::REPLY, &CellReply { turn_id: None, ..reply.clone() });
    }
    metadata
}

/// Merges consecutive pieces of one stream into the text that a terminal shows. A run reports a stream in pieces; every other program writes it as one
/// output.
fn one_stream_each(outputs: impl Iterator<Item = Box<RawValue>>) -> Vec<Box<RawValue>> {
    let mut merged: Vec<Box<RawValue>> = Vec::new();
    let mut open: Option<(String, String, bool)> = None;
    let stream = |(name, text, has_pieces): (String, String, bool)| {
        // A text that is no piece may be of another program: it stays as it is.
        parts::stream(&name, &if has_pieces { notarium_terminal::folded(&text) } else { text })
    };
    for output in outputs {
        let next = parts::stream_piece(output.get()).and_then(|(name, text)| Some((name, text?, false)));
        match (next, &mut open) {
            (Some((name, text, _)), Some((last, whole, has_pieces))) if name == *last => {
                whole.push_str(&text);
                *has_pieces = true;
            }
            (next, _) => {
                merged.extend(open.take().map(stream));
                if next.is_none() {
                    merged.push(output);
                }
                open = next;
            }
        }
    }
    merged.extend(open.map(stream));
    merged
}

/// Flags that are on; their names in JSON are those of the file.
fn flags(flags: &CellFlags) -> Object {
    let text = serde_json::to_string(flags).unwrap_or_default();
    serde_json::from_str(&text).unwrap_or_default()
}

fn object(raw: &RawObject) -> BTreeMap<String, Box<RawValue>> {
    serde_json::from_str(raw.get()).unwrap_or_default()
}

/// Limit of all large outputs in one file.
const MAX_BLOB_BYTES: u64 = 64 << 20;
/// Memory for one file: as values, as text, and while it is sanitised.
const MAKING_MIB: u32 = MAX_MAKING_MIB / 2;

pub async fn write_readable(
    notebooks: &Notebooks,
    state: Arc<Document>,
    format: ExportFormat,
) -> Result<String, Problem> {
    let format = match format {
        ExportFormat::Html => Format::Html,
        ExportFormat::Md => Format::Markdown,
        ExportFormat::Py | ExportFormat::Ipynb => Format::Percent,
    };
    let kernelspec = kernelspec(&frame(&state).metadata);
    if format == Format::Percent && !["", "python", "ipython"].contains(&kernelspec.2.as_str()) {
        let detail = format!("the notebook's language is {}, not Python: export it as html, md or ipynb", kernelspec.2);
        return Err(Problem::invalid(detail));
    }
    let named = if format == Format::Percent { Vec::new() } else { named_blobs(&state, &state.order) };
    let total: u64 = named.iter().map(|part| part.size_bytes).sum();
    if total > MAX_BLOB_BYTES {
        return Err(too_large(format!(
            "the outputs have {total} bytes, more than the {MAX_BLOB_BYTES} of a file for reading: export it as ipynb, or clear large ones"
        )));
    }
    let _permits = notebooks.making_files.acquire_many(MAKING_MIB).await;
    let loaded = notebooks.blobs.load_all(&state.notebook_id, named).await?;
    let making = tokio::task::spawn_blocking(move || {
        let files = state.order.iter().filter_map(|id| Some((id, cell(&state, id, &loaded)?)));
        let (kernel_name, kernel_display_name, language) = kernelspec;
        let cells = files.map(|(id, file)| ReadableCell { notes: notes(&state, id), ..readable_cell(file) }).collect();
        let notebook =
            ExportedNotebook { title: state.title.clone(), kernel_name, kernel_display_name, language, cells };
        notarium_export::write(format, &notebook)
    });
    making.await.map_err(|error| {
        tracing::error!(%error, "writing a file failed");
        Problem::internal("the file could not be written: report it")
    })
}

/// Name, display name, language.
fn kernelspec(metadata: &Object) -> (String, String, String) {
    let part = |part: &str| metadata.get(part).and_then(|raw| serde_json::from_str::<Value>(raw.get()).ok());
    let field = |name_of: &str, name: &str| {
        part(name_of).and_then(|part| part[name].as_str().map(str::to_owned)).unwrap_or_default()
    };
    let language = Some(field("kernelspec", "language")).filter(|language| !language.is_empty());
    let name = field("kernelspec", "name");
    let shown =
        Some(field("kernelspec", "display_name")).filter(|shown| !shown.is_empty()).unwrap_or_else(|| name.clone());
    (name, shown, language.unwrap_or_else(|| field("language_info", "name")).to_lowercase())
}

fn readable_cell(file: DocumentCell) -> ReadableCell {
    let value = |raw: &RawValue| serde_json::from_str(raw.get()).unwrap_or(Value::Null);
    let is_on = |flag: &str| file.flags.get(flag).is_some_and(|raw| raw.get() == "true");
    let mut outputs: Vec<Value> = file.outputs.iter().map(|raw| value(raw)).collect();
    outputs
        .extend(reply(&file).map(|text| json!({ "output_type": "display_data", "data": { "text/markdown": text } })));
    let attachments = file.attachments.iter().flatten().map(|(name, raw)| (name.clone(), value(raw))).collect();
    ReadableCell {
        kind: match file.cell_type.as_str() {
            "markdown" => ExportedKind::Markdown,
            "raw" => ExportedKind::Raw,
            "sql" => ExportedKind::Sql,
            "prompt" => ExportedKind::Prompt,
            _ => ExportedKind::Code,
        },
        execution_count: file.execution_count,
        outputs,
        attachments: Value::Object(attachments),
        notes: Vec::new(),
        is_source_hidden: is_on("source_hidden"),
        are_outputs_hidden: is_on("outputs_hidden"),
        source: file.source,
    }
}

/// Sentences about a cell's outputs: the cause of a run that did not end by itself, and a text that has changed since.
fn notes(notebook: &Document, cell_id: &CellId) -> Vec<String> {
    let end = notebook.latest_execution(cell_id).and_then(|(_, execution)| execution.end_sentence());
    let is_prompt = notebook.cells.get(cell_id).is_some_and(|cell| cell.reply.is_some());
    let since = if is_prompt { "Changed since it was answered." } else { "Changed since it ran." };
    end.into_iter().chain(notebook.is_stale(cell_id).then(|| since.to_owned())).collect()
}

/// The assistant's answer to a prompt.
fn reply(file: &DocumentCell) -> Option<String> {
    let own: Value = serde_json::from_str(file.metadata.get("notarium")?.get()).ok()?;
    own[metadata::REPLY]["text"].as_str().filter(|text| !text.is_empty()).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_of_a_stream_are_what_a_terminal_shows() {
        let stream = |text: &str| parts::stream("stdout", text);
        let texts = |given: &[&str]| -> Vec<String> {
            one_stream_each(given.iter().map(|text| stream(text)))
                .iter()
                .map(|output| output.get().to_owned())
                .collect()
        };
        assert_eq!(texts(&["a\nb", "\u{1b}[A\rc\n\r\u{1b}[Kd\n"]), [stream("c\nd\n").get()]);
        assert_eq!(texts(&["10%\r20%"]), [stream("10%\r20%").get()], "a text of another program stays");
    }

    #[test]
    fn pieces_of_a_stream_that_follow_each_other_are_one_output() {
        let stream = |name: &str, text: &str| format!(r#"{{"name":"{name}","output_type":"stream","text":"{text}"}}"#);
        let display = r#"{"output_type":"display_data","data":{},"metadata":{}}"#.to_owned();
        let odd = r#"{"name":"stdout","output_type":"stream","text":"x","unknown":1}"#.to_owned();
        let given = [
            stream("stdout", "a"),
            stream("stdout", "b"),
            stream("stderr", "c"),
            display.clone(),
            odd.clone(),
            stream("stdout", "d"),
        ];
        let merged = one_stream_each(given.into_iter().map(|text| RawValue::from_string(text).unwrap()));
        let texts: Vec<&str> = merged.iter().map(|output| output.get()).collect();
        assert_eq!(texts, [stream("stdout", "ab"), stream("stderr", "c"), display, odd, stream("stdout", "d")]);
    }
}
