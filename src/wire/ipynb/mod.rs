//! Jupyter notebook files: reads `.ipynb` of nbformat 1 to 4, writes valid nbformat 4.5.
//!
//! *Lenient*: reads all files that Python's `nbformat` reads, and many that it refuses; a [`Notice`] names each repair.
//! *Lossless*: content without a place in nbformat 4.5 is stored under `metadata.notarium` and restored from there.
//! *Nbformat's own style*: a valid 4.5 file is written with the same bytes that `nbformat.write` would write.
//!
//! **Invariant.** `write(read(write(d))) == write(d)`, and the result of [`write()`] always validates against the schema of nbformat 4.5.
//! Nothing in here panics or recurses deeper than [`MAX_DEPTH`] plus a small constant, whatever the input.
//! No clock and no randomness: the caller supplies ids for cells that need one.
//!
//! Not checked here: names and titles. The code that takes over an imported name validates it like a typed one.

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

/// Maximum nesting depth of a metadata value, an output or an attachment.
pub const MAX_DEPTH: usize = 100;

/// A JSON object with opaque values: compact JSON with sorted keys.
pub type Object = BTreeMap<String, Box<RawValue>>;

/// Limits of a file that [`read()`] accepts.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Maximum size of the whole file, in bytes.
    pub max_bytes: usize,
    /// Maximum number of cells in all worksheets together.
    pub max_cells: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { max_bytes: 256 << 20, max_cells: 20_000 }
    }
}

/// A notebook in the form of a file.
#[derive(Debug, Clone, Default)]
pub struct Document {
    /// The notebook's metadata, unknown entries included; may hold a `notarium` object with our own entries.
    pub metadata: Object,
    /// The (major, minor) version in the file. [`write()`] ignores it.
    pub nbformat_original: (u32, u32),
    /// Top-level keys that nbformat 4 does not know.
    pub extra: Object,
    /// Cells from top to bottom.
    pub cells: Vec<DocumentCell>,
}

/// One cell in the form of a file.
#[derive(Debug, Clone, Default)]
pub struct DocumentCell<V = Box<RawValue>> {
    /// 1 to 64 of `a-z A-Z 0-9 - _`, unique in its document.
    pub id: String,
    /// `code`, `markdown`, `raw`, `sql` (written as a code cell) or `prompt` (written as a markdown cell).
    pub cell_type: String,
    /// Source text; lines end with `\n` only.
    pub source: String,
    /// The cell's metadata, unknown entries included, without entries that have a field here.
    pub metadata: BTreeMap<String, V>,
    /// MIME bundles by file name.
    pub attachments: Option<BTreeMap<String, V>>,
    /// The number in `In [3]:`; absent: not executed, or no code cell.
    pub execution_count: Option<i64>,
    /// Output objects of nbformat 4 with multi-line text joined; unknown fields and types are kept.
    pub outputs: Vec<V>,
    /// Flag name to value, from `metadata.notarium.flags` and, for `source_hidden` and `outputs_hidden`, JupyterLab's
    /// `metadata.jupyter`. A flag that is off is absent.
    pub flags: BTreeMap<String, V>,
    /// Keys of the cell that nbformat 4 does not know, or whose value it does not allow.
    pub extra: BTreeMap<String, V>,
}

impl<V> DocumentCell<V> {
    /// Copies the cell with its values converted.
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

/// Result of [`read()`].
#[derive(Debug, Clone)]
pub struct Imported {
    /// Content of the file, repaired where necessary.
    pub document: Document,
    /// `metadata.title`, or `metadata.name` of nbformat 1 to 3: a suggestion, not validated.
    pub title: Option<String>,
    /// Repairs, conversions and entries put aside; at most one notice for each code.
    pub notices: Vec<Notice>,
}

/// Reason why a file was refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum IpynbError {
    /// The file has no bytes, or only white space.
    #[error("the file is empty: choose a notebook file")]
    Empty,
    /// The file exceeds [`Limits::max_bytes`].
    #[error("the file has {bytes} bytes, more than the {max_bytes} allowed: clear large outputs and try again")]
    TooLarge {
        /// Size of the file.
        bytes: usize,
        /// The limit.
        max_bytes: usize,
    },
    /// The notebook exceeds [`Limits::max_cells`].
    #[error("the notebook has {cells} cells, more than the {max_cells} allowed: split it")]
    TooManyCells {
        /// Number of cells in the file.
        cells: usize,
        /// The limit.
        max_cells: usize,
    },
    /// A value exceeds [`MAX_DEPTH`].
    #[error("a value nests deeper than {max_depth} levels: remove or flatten it")]
    TooDeep {
        /// The limit.
        max_depth: usize,
    },
    /// The file has another encoding, or is not text.
    #[error("the file is not UTF-8 (at byte {offset}): save it as UTF-8 and try again")]
    NotUtf8 {
        /// Byte offset of the first wrong byte, from 0.
        offset: usize,
    },
    /// The text is not JSON.
    #[error("the file is not valid JSON at line {line}, column {column}: {reason}")]
    NotJson {
        /// Line, from 1.
        line: usize,
        /// Column, from 1, in characters.
        column: usize,
        /// Found or expected token, in a few words.
        reason: &'static str,
    },
    /// The file is JSON, but not a notebook.
    #[error("the file is not a notebook: {reason}")]
    NotANotebook {
        /// The missing or wrong part, in a few words.
        reason: &'static str,
    },
    /// The major version is not supported.
    #[error("nbformat {version} is not supported (1 to 4 are): save the notebook in an older format")]
    UnsupportedVersion {
        /// The version as the file has it.
        version: String,
    },
}
