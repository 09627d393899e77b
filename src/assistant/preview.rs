//! Previews: short descriptions of outputs for models, in place of the outputs (R28).
//!
//! Text has 500 characters at most; a table has its shape and columns, a figure its kind and axes, an image its kind and
//! size. An error is complete. The same output always has the same preview.

mod figure;
mod streams;
mod text;

use std::borrow::Cow;
use std::collections::BTreeMap;

use notarium_core::mask::{self, mask_keys};
use notarium_core::{BlobPart, Output, escape_key, unescape_key};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

pub use streams::{joined_streams, with_joined_streams};
pub use text::{MAX_PREVIEW_CHARACTERS, truncated, without_escapes};

/// Most bytes that are parsed of a chart's JSON, a table's HTML or a text; of longer ones only kind and size are given.
pub const MAX_READ_BYTES: usize = 8 << 20;

/// Returns the first bytes of a blob, at most as many as requested; `None` if they are not loaded, which the preview then says.
///
/// A caller that cannot wait inside records the requested blobs, returns `None`, fetches them, and renders the preview again.
pub type ReadBlob<'a> = dyn Fn(&BlobPart, usize) -> Option<Vec<u8>> + 'a;

/// Blob reader for callers without loaded blobs.
pub fn no_blobs(_: &BlobPart, _: usize) -> Option<Vec<u8>> {
    None
}

/// The output in a few words or lines; never empty.
pub fn preview(output: &Output, blobs: &ReadBlob) -> String {
    let Some(parts) = OutputParts::of(output, blobs) else {
        return "[output that is not in nbformat's shape]".to_owned();
    };
    let preview = match &*parts.content.output_type {
        "stream" => stream(&parts.content.name, parts.field(parts.content.text, "/text")),
        "error" => error(&parts.failure()),
        "execute_result" | "display_data" | "update_display_data" => bundle(&parts),
        other => format!("[output of the unknown type '{}']", truncated(other)),
    };
    if preview.trim().is_empty() { "[empty output]".to_owned() } else { mask_keys(&preview).into_owned() }
}

/// The full output: texts with at most `most` characters, everything else as its preview.
pub fn whole(output: &Output, blobs: &ReadBlob, most: usize) -> String {
    let Some(parts) = OutputParts::of(output, blobs) else { return preview(output, blobs) };
    let text = match &*parts.content.output_type {
        "stream" => parts.whole(parts.content.text, "/text"),
        "execute_result" | "display_data" | "update_display_data" if parts.kinds().len() == 1 => {
            parts.whole(parts.data.get("text/plain").copied(), &OutputParts::pointer("text/plain"))
        }
        _ => None,
    };
    match text.map(|text| text::as_shown(&text)) {
        Some(text) => text::cut(&text, most).into_owned(),
        None => preview(output, blobs),
    }
}

const PNG: &str = "image/png";

/// True if the output shows a PNG.
pub fn has_png(output: &Output) -> bool {
    OutputParts::of(output, &no_blobs).is_some_and(|parts| parts.kinds().iter().any(|kind| kind == PNG))
}

/// The PNG that the output shows, decoded; `None` if there is none, or it is not loaded.
pub fn png(output: &Output, blobs: &ReadBlob) -> Option<Vec<u8>> {
    let text = OutputParts::of(output, blobs)?.text(PNG)?.ok()?;
    let text: String = text.chars().filter(|one| !one.is_whitespace()).collect();
    base64::Engine::decode(&base64::engine::general_purpose::STANDARD, text).ok()
}

/// An error output, complete.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ErrorOutput {
    /// The exception's class: `NameError`.
    pub name: String,
    pub message: String,
    /// Traceback without colour codes.
    pub traceback: String,
}

impl ErrorOutput {
    /// `None` if the output is no error.
    pub fn of(output: &Output, blobs: &ReadBlob) -> Option<Self> {
        let parts = OutputParts::of(output, blobs)?;
        (parts.content.output_type == "error").then(|| parts.failure())
    }
}

#[derive(Deserialize)]
struct OutputContent<'a> {
    #[serde(borrow, default)]
    output_type: Cow<'a, str>,
    #[serde(borrow, default)]
    name: Cow<'a, str>,
    #[serde(borrow, default)]
    text: Option<&'a RawValue>,
    #[serde(borrow, default)]
    data: Option<BTreeMap<Cow<'a, str>, &'a RawValue>>,
    #[serde(borrow, default)]
    ename: Option<&'a RawValue>,
    #[serde(borrow, default)]
    evalue: Option<&'a RawValue>,
    #[serde(borrow, default)]
    traceback: Option<&'a RawValue>,
}

/// The values of an output, from its content or from blobs.
struct OutputParts<'a> {
    content: OutputContent<'a>,
    output: &'a Output,
    blobs: &'a ReadBlob<'a>,
    data: BTreeMap<Cow<'a, str>, &'a RawValue>,
}

/// A value, or its stored size in bytes if it is not loaded.
type PartRead<T> = Result<T, u64>;

impl<'a> OutputParts<'a> {
    fn of(output: &'a Output, blobs: &'a ReadBlob<'a>) -> Option<Self> {
        let mut content: OutputContent = serde_json::from_str(output.content.get()).ok()?;
        let data = content.data.take().unwrap_or_default();
        Some(Self { content, output, blobs, data })
    }

    fn failure(&self) -> ErrorOutput {
        let text = |field, pointer| without_escapes(&self.whole(field, pointer).unwrap_or_default());
        ErrorOutput {
            name: text(self.content.ename, "/ename"),
            message: text(self.content.evalue, "/evalue"),
            traceback: without_escapes(&self.lines(self.content.traceback, "/traceback")),
        }
    }

    fn blob(&self, pointer: &str) -> Option<&BlobPart> {
        self.output.blobs.iter().find(|part| part.pointer == pointer)
    }

    /// The names of the MIME types, including those in blobs.
    fn kinds(&self) -> Vec<String> {
        let away = self.output.blobs.iter().filter_map(BlobPart::mime);
        let mut kinds: Vec<String> = self.data.keys().map(|kind| kind.to_string()).chain(away).collect();
        // Rows as data are for the page; a preview of a table uses its HTML and text.
        kinds.retain(|kind| !kind.starts_with("application/vnd.notarium.table+"));
        kinds.sort();
        kinds.dedup();
        kinds
    }

    fn pointer(kind: &str) -> String {
        format!("/data/{}", escape_key(kind))
    }

    fn field(&self, inline: Option<&RawValue>, pointer: &str) -> Option<PartRead<String>> {
        if let Some(raw) = inline {
            return Some(Ok(masked(text::joined(raw), pointer)));
        }
        let part = self.blob(pointer)?;
        let text = (self.blobs)(part, MAX_READ_BYTES).map(|bytes| masked(text::of_blob(&bytes, part.json), pointer));
        Some(text.ok_or(part.size_bytes))
    }

    fn text(&self, kind: &str) -> Option<PartRead<String>> {
        self.field(self.data.get(kind).copied(), &Self::pointer(kind))
    }

    /// A field in full, or a note that it is not loaded.
    fn whole(&self, inline: Option<&RawValue>, pointer: &str) -> Option<String> {
        Some(match self.field(inline, pointer)? {
            Ok(text) => text,
            Err(bytes) => format!("[{} that are not at hand]", size(bytes)),
        })
    }

    /// Like [`OutputParts::whole`], for the lines of a traceback, which nbformat keeps without their line breaks.
    fn lines(&self, inline: Option<&RawValue>, pointer: &str) -> String {
        let listed = |json: &str| serde_json::from_str::<Vec<String>>(json).ok().map(|lines| lines.join("\n"));
        let away = || {
            let part = self.blob(pointer).filter(|part| part.json)?;
            (self.blobs)(part, MAX_READ_BYTES).and_then(|bytes| listed(&String::from_utf8_lossy(&bytes)))
        };
        let text = inline.map_or_else(away, |raw| listed(raw.get()));
        let text = text.map(|text| masked(text, pointer));
        text.or_else(|| self.whole(inline, pointer)).unwrap_or_default()
    }

    fn json(&self, kind: &str) -> Option<PartRead<Value>> {
        if let Some(raw) = self.data.get(kind) {
            return Some(Ok(serde_json::from_str(raw.get()).unwrap_or(Value::Null)));
        }
        let part = self.blob(&Self::pointer(kind))?;
        let fits = usize::try_from(part.size_bytes).is_ok_and(|bytes| bytes <= MAX_READ_BYTES);
        let bytes = fits.then(|| (self.blobs)(part, MAX_READ_BYTES)).flatten();
        let value = bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok());
        Some(value.ok_or(part.size_bytes))
    }

    /// The first bytes of a text, and its length.
    fn head(&self, kind: &str, most: usize) -> Option<(Vec<u8>, u64)> {
        if let Some(raw) = self.data.get(kind) {
            let text = text::joined(raw);
            return Some((text.as_bytes()[..text.len().min(most)].to_vec(), text.len() as u64));
        }
        let part = self.blob(&Self::pointer(kind))?;
        Some(((self.blobs)(part, most).unwrap_or_default(), part.size_bytes))
    }
}

/// Masks keys before any text is cut: half a key would not be recognised. Pictures are no text.
fn masked(text: String, pointer: &str) -> String {
    let kind = pointer.strip_prefix("/data/").map(unescape_key);
    if kind.is_some_and(|kind| !mask::is_text(&kind)) {
        return text;
    }
    match mask_keys(&text) {
        Cow::Borrowed(_) => text,
        Cow::Owned(masked) => masked,
    }
}

fn stream(name: &str, text: Option<PartRead<String>>) -> String {
    let mark = if name == "stderr" { "[stderr] " } else { "" };
    match text {
        Some(Ok(text)) => format!("{mark}{}", truncated(&text::as_shown(&text))),
        Some(Err(bytes)) => format!("{mark}[text: {}]", size(bytes)),
        None => String::new(),
    }
}

fn error(failure: &ErrorOutput) -> String {
    let head = format!("{}: {}", failure.name, failure.message);
    if failure.traceback.is_empty() { head } else { format!("{head}\n{}", failure.traceback) }
}

/// Previews the most telling MIME type of a result.
fn bundle(parts: &OutputParts) -> String {
    let kinds = parts.kinds();
    let chart = kinds.iter().find_map(|kind| figure::chart_of_kind(kind).map(|read| (kind, read)));
    if let Some((kind, read)) = chart {
        return match parts.json(kind) {
            Some(Ok(value)) => read(&value),
            Some(Err(bytes)) => format!("[chart: {}]", size(bytes)),
            None => String::new(),
        };
    }
    let has = |kind: &str| kinds.iter().any(|found| found == kind);
    if kinds.iter().any(|kind| kind.starts_with("application/vnd.jupyter.widget-view")) {
        return widget(parts);
    }
    if let Some(table) = has("text/html").then(|| frame(parts)).flatten() {
        return table;
    }
    if let Some(kind) = kinds.iter().find(|kind| kind.starts_with("image/")) {
        return picture(parts, kind);
    }
    let plain = ["text/markdown", "text/latex", "text/plain"].into_iter().find(|kind| has(kind));
    match (has("text/html"), plain) {
        (true, _) => html(parts),
        (_, Some(kind)) => plain_text(parts.text(kind)),
        _ => others(parts, &kinds),
    }
}

fn widget(parts: &OutputParts) -> String {
    match parts.text("text/plain") {
        Some(Ok(text)) => format!("[widget] {}", truncated(&text)),
        _ => "[widget]".to_owned(),
    }
}

fn frame(parts: &OutputParts) -> Option<String> {
    match parts.text("text/html")? {
        Ok(html) => text::table_of_html(&html),
        Err(_) => match parts.text("text/plain")? {
            Ok(text) => text::table_of_text(&text),
            Err(_) => None,
        },
    }
}

fn picture(parts: &OutputParts, kind: &str) -> String {
    let (head, length) = parts.head(kind, figure::MAX_HEADER_CHARACTERS).unwrap_or_default();
    figure::image(kind, &head, length)
}

fn plain_text(text: Option<PartRead<String>>) -> String {
    match text {
        Some(Ok(text)) => text::table_of_text(&text).unwrap_or_else(|| truncated(&text::as_shown(&text)).into_owned()),
        Some(Err(bytes)) => format!("[text: {}]", size(bytes)),
        None => String::new(),
    }
}

fn html(parts: &OutputParts) -> String {
    let plain = match parts.text("text/plain") {
        Some(Ok(text)) if !text.starts_with('<') => Some(text),
        _ => None,
    };
    let (bytes, words) = match parts.text("text/html") {
        Some(Ok(html)) => (html.len() as u64, plain.unwrap_or_else(|| text::words_of_html(&html))),
        Some(Err(bytes)) => (bytes, plain.unwrap_or_default()),
        None => return String::new(),
    };
    format!("[HTML: {}] {}", size(bytes), truncated(&words)).trim_end().to_owned()
}

fn others(parts: &OutputParts, kinds: &[String]) -> String {
    let named: Vec<String> = kinds
        .iter()
        .map(|kind| match parts.head(kind, 0) {
            Some((_, length)) => format!("[{kind}: {}]", size(length)),
            None => format!("[{kind}]"),
        })
        .collect();
    let json = parts.text("application/json").filter(|_| kinds.len() == 1);
    match json {
        Some(Ok(text)) => format!("[JSON] {}", truncated(&text)),
        _ => named.join(" "),
    }
}

/// `32 KB`, `1.5 MB`; units of 1,024.
pub(crate) fn size(bytes: u64) -> String {
    const KB: u64 = 1 << 10;
    const MB: u64 = 1 << 20;
    match bytes {
        0..KB => format!("{bytes} bytes"),
        KB..MB => format!("{} KB", (bytes + KB / 2) / KB),
        _ => format!("{}.{} MB", bytes / MB, bytes % MB * 10 / MB),
    }
}
