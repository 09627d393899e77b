//! Jupyter notebook files: `.ipynb` in (nbformat 1 to 4) and out (always valid nbformat 4.5).
//!
//! *Lenient*: whatever Python's `nbformat` reads is read, and much that it refuses; each repair is named in a [`Notice`].
//! *Lossless*: what nbformat 4.5 has no place for is kept under `metadata.notarium` and comes back from there.
//! *Nbformat's own style*: a valid 4.5 file goes out as the very bytes that `nbformat.write` would write.
//!
//! **Invariant.** `write(read(write(d))) == write(d)`, and what [`write()`] returns always validates against the schema of
//! nbformat 4.5. Nothing in here panics or recurses deeper than [`MAX_DEPTH`] plus a small constant, whatever the input.
//! No clock and no randomness: ids for cells that need one come from the caller.
//!
//! Deliberately absent: checks on names and titles (an imported name is validated like a typed one, by whoever takes it).

use std::collections::BTreeMap;

use serde_json::value::RawValue;

mod draft;
mod json;
mod long_json;
mod long_text;
mod notice;
mod output;
mod read;
mod schema;
mod upgrade;
mod write;

#[cfg(test)]
mod tests;

pub use long_json::LongJson;
pub use long_text::{LongText, long_mark};
pub use notice::{Notice, NoticeCode};
pub use read::read;
pub use schema::is_json_mime;
pub use write::{CellOutput, LongValue, OutputPatch, Pieces, write};

/// How deep a metadata value, an output or an attachment may nest.
pub const MAX_DEPTH: usize = 100;

/// A JSON object whose values nobody here needs to understand: compact JSON with sorted keys.
pub type Object = BTreeMap<String, Box<RawValue>>;

/// What [`read()`] refuses to go beyond.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Of the whole file, in bytes.
    pub max_bytes: usize,
    /// In all worksheets together.
    pub max_cells: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { max_bytes: 256 << 20, max_cells: 20_000 }
    }
}

/// A notebook as a file holds it.
#[derive(Debug, Clone, Default)]
pub struct Document {
    /// All of the notebook's metadata, unknown entries included; may hold a `notarium` object with our own entries.
    pub metadata: Object,
    /// The (major, minor) that the file said it was. [`write()`] ignores it.
    pub nbformat_original: (u32, u32),
    /// Top-level keys that nbformat 4 does not know.
    pub extra: Object,
    /// From top to bottom.
    pub cells: Vec<DocumentCell>,
}

/// One cell as a file holds it.
#[derive(Debug, Clone, Default)]
pub struct DocumentCell<V = Box<RawValue>> {
    /// 1 to 64 of `a-z A-Z 0-9 - _`, unique in its document.
    pub id: String,
    /// `code`, `markdown`, `raw`, `sql` (a code cell to others) or `prompt` (a markdown cell to others).
    pub cell_type: String,
    /// Lines end with `\n` only.
    pub source: String,
    /// The cell's own entries, unknown ones included, without those that have a field of their own here.
    pub metadata: BTreeMap<String, V>,
    /// File name to MIME bundle.
    pub attachments: Option<BTreeMap<String, V>>,
    /// The number in `In [3]:`; absent: not executed, or no code cell.
    pub execution_count: Option<i64>,
    /// Output objects of nbformat 4 with multi-line text joined; fields and types that nbformat does not know are kept.
    pub outputs: Vec<V>,
    /// Flag name to value, from `metadata.notarium.flags` and, for `source_hidden` and `outputs_hidden`, JupyterLab's
    /// `metadata.jupyter`. A flag that is off is absent.
    pub flags: BTreeMap<String, V>,
    /// Keys of the cell that nbformat 4 does not know, or whose value it could not take.
    pub extra: BTreeMap<String, V>,
}

impl<V> DocumentCell<V> {
    /// The same cell with its values in another form.
    fn with_values<W>(&self, form: impl Fn(&V) -> W) -> DocumentCell<W> {
        let values = |map: &BTreeMap<String, V>| map.iter().map(|(key, value)| (key.clone(), form(value))).collect();
        DocumentCell {
            id: self.id.clone(),
            cell_type: self.cell_type.clone(),
            source: self.source.clone(),
            metadata: values(&self.metadata),
            attachments: self.attachments.as_ref().map(values),
            execution_count: self.execution_count,
            outputs: self.outputs.iter().map(&form).collect(),
            flags: values(&self.flags),
            extra: values(&self.extra),
        }
    }
}

/// What [`read()`] made of a file.
#[derive(Debug, Clone)]
pub struct Imported {
    /// What the file holds, repaired where that was needed.
    pub document: Document,
    /// `metadata.title`, or `metadata.name` of nbformat 1 to 3: a suggestion, not validated.
    pub title: Option<String>,
    /// What was repaired, converted or put aside; at most one for each code.
    pub notices: Vec<Notice>,
}

/// Why a file was refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum IpynbError {
    /// No bytes, or only blanks.
    #[error("the file is empty: choose a notebook file")]
    Empty,
    /// Beyond [`Limits::max_bytes`].
    #[error("the file has {bytes} bytes, more than the {max_bytes} allowed: clear large outputs and try again")]
    TooLarge {
        /// The size of the file.
        bytes: usize,
        /// What is allowed.
        max_bytes: usize,
    },
    /// Beyond [`Limits::max_cells`].
    #[error("the notebook has {cells} cells, more than the {max_cells} allowed: split it")]
    TooManyCells {
        /// How many it has.
        cells: usize,
        /// What is allowed.
        max_cells: usize,
    },
    /// Beyond [`MAX_DEPTH`].
    #[error("a value nests deeper than {max_depth} levels: remove or flatten it")]
    TooDeep {
        /// What is allowed.
        max_depth: usize,
    },
    /// Text in another encoding, or no text.
    #[error("the file is not UTF-8 (at byte {offset}): save it as UTF-8 and try again")]
    NotUtf8 {
        /// Where the first wrong byte stands, from 0.
        offset: usize,
    },
    /// Text that no JSON reader takes.
    #[error("the file is not valid JSON at line {line}, column {column}: {reason}")]
    NotJson {
        /// From 1.
        line: usize,
        /// From 1, in characters.
        column: usize,
        /// What was found or expected, in a few words.
        reason: &'static str,
    },
    /// JSON, but not the shape of a notebook.
    #[error("the file is not a notebook: {reason}")]
    NotANotebook {
        /// What is missing or wrong, in a few words.
        reason: &'static str,
    },
    /// A major version that nothing here knows.
    #[error("nbformat {version} is not supported (1 to 4 are): save the notebook in an older format")]
    UnsupportedVersion {
        /// As the file says it.
        version: String,
    },
}
