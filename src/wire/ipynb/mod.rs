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

mod draft;
mod json;
mod long;
mod output;
mod read;
mod schema;
mod upgrade;
mod write;

#[cfg(test)]
mod tests;

pub use long::{LongMarks, LongValue};
pub use read::read;
pub use schema::is_json_mime;
pub use write::{Pieces, fits, mends_outputs, write};

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// Maximum nesting depth of a metadata value, an output or an attachment.
pub const MAX_DEPTH: usize = 100;

/// A JSON object with opaque values: compact JSON with sorted keys.
pub type Object = BTreeMap<String, Box<RawValue>>;

/// Limits of a file that [`read()`] accepts.
#[derive(Debug, Clone, Copy)]
pub struct FileLimits {
    /// Maximum size of the whole file, in bytes.
    pub max_bytes: usize,
    /// Maximum number of cells in all worksheets together.
    pub max_cells: usize,
}

impl Default for FileLimits {
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
    /// The file exceeds [`FileLimits::max_bytes`].
    #[error("the file has {bytes} bytes, more than the {max_bytes} allowed: clear large outputs and try again")]
    TooLarge {
        /// Size of the file.
        bytes: usize,
        /// The limit.
        max_bytes: usize,
    },
    /// The notebook exceeds [`FileLimits::max_cells`].
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

macro_rules! codes {
    ($($(#[$doc:meta])* $name:ident = $text:literal,)*) => {
        /// Kind of repair or conversion in a [`Notice`].
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
        #[serde(rename_all = "snake_case")]
        pub enum NoticeCode { $($(#[$doc])* $name),* }

        impl NoticeCode {
            fn text(self) -> &'static str {
                match self { $(Self::$name => $text),* }
            }
        }
    };
}

codes! {
    /// U+FEFF preceded the JSON, as Windows editors write it.
    ByteOrderMark = "a byte order mark at the start was skipped",
    /// A string held half of a surrogate pair, which UTF-8 cannot carry.
    LoneSurrogate = "half a surrogate pair was replaced by U+FFFD",
    /// A number was NaN or infinite, as Python writes it.
    NotFinite = "NaN or an infinity, which JSON does not have, became null",
    /// An object had a key twice.
    DuplicateKey = "an object has the same key twice; the last one counts",
    /// `nbformat` was missing or no whole number.
    VersionGuessed = "the format version is missing or odd; it was guessed from the shape",
    /// `nbformat_minor` is above 5.
    NewerMinor = "the file is newer than nbformat 4.5; what is not known was kept aside",
    /// `nbformat` was 1, 2 or 3.
    Upgraded = "the notebook was upgraded from an older major version",
    /// A file of nbformat 3 or older had several worksheets.
    WorksheetsFlattened = "several worksheets became one list of cells",
    /// The notebook's `metadata` was missing or no object.
    NotebookMetadata = "the notebook's metadata is missing or not an object",
    /// A top-level key is unknown to nbformat 4; an export writes it back.
    UnknownNotebookKey = "a key that nbformat does not know was kept aside",
    /// `kernelspec` or `language_info` lacked a name that nbformat requires.
    KernelspecCompleted = "the kernelspec or language had no name to show; one was filled in",
    /// An entry of `cells` was no object; it is kept in the cell's metadata.
    CellNotAnObject = "a cell is not an object; it was kept aside and an empty raw cell stands for it",
    /// A cell type that Notarium does not have was converted, as the notice says: `heading` became Markdown, for example.
    CellType = "a cell type was converted",
    /// An id was missing, already used, or not 1 to 64 characters of `A-Z a-z 0-9 - _`.
    CellId = "a cell id is missing, invalid or used twice; the cell has a new one",
    /// A cell's `metadata` was missing or no object.
    CellMetadata = "a cell's metadata is missing or not an object",
    /// A key that nbformat does not know in a cell of this type; an export writes it back.
    UnknownCellKey = "a key that nbformat does not know in such a cell was kept aside",
    /// A cell's `source` was missing, or neither a string nor a list of strings.
    Source = "a source is missing or is not text",
    /// A source had other line breaks than `\n`.
    LineEndings = "line endings CRLF or CR became LF",
    /// A cell's `attachments` were no object; an export writes them back.
    Attachments = "attachments are not an object; they were kept aside",
    /// An `execution_count` was no whole number.
    ExecutionCount = "an execution count is not a whole number; it was kept aside",
    /// A code cell had no `outputs`.
    OutputsMissing = "a code cell has no list of outputs",
    /// An entry of `outputs` was no object.
    OutputNotAnObject = "an output is not an object; it was wrapped in one",
    /// An output lacked a field that nbformat requires.
    OutputCompleted = "a required field of an output was missing and filled in",
    /// An output had the shape of nbformat 3: `pyout`, `pyerr`, or fields instead of a MIME bundle.
    OutputUpgraded = "an output of nbformat 3 was upgraded",
    /// An output has a type or a part that nbformat 4.5 does not allow; it is kept as it is.
    UnknownOutput = "an output, or a part of one, does not fit nbformat 4.5; exports keep it aside",
    /// A field that does not belong to its cell or output, and was empty.
    EmptyFieldDropped = "an empty field that does not belong there was left out",
    /// A Markdown cell had pictures in its text; they became attachments of the cell.
    PicturesAttached = "pictures in the text of cells became their attachments",
    /// An earlier export had stored something under `metadata.notarium` for content that has changed since.
    StaleAside = "something kept aside belongs to content that another program has replaced; it was left out",
}

/// One kind of change that the import made, with the number of its occurrences.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Notice {
    /// Stable code, for programs.
    pub code: NoticeCode,
    /// Number of occurrences.
    pub count: usize,
    /// Index of the first cell with this change; absent when it concerns the notebook.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cell: Option<usize>,
    /// Text for people: the change, and a short extract where it helps.
    pub message: String,
}

/// Collects notices, one for each code, so that a hostile file cannot cause many.
#[derive(Debug, Default)]
struct ImportNotices {
    by_code: BTreeMap<NoticeCode, Notice>,
    /// Index of the cell that is being read.
    cell: Option<usize>,
}

impl ImportNotices {
    fn add(&mut self, code: NoticeCode) {
        self.add_many(code, 1, "");
    }

    /// Adds an occurrence; `detail` is shown for the first one only.
    fn add_with(&mut self, code: NoticeCode, detail: &str) {
        self.add_many(code, 1, detail);
    }

    fn add_many(&mut self, code: NoticeCode, count: usize, detail: &str) {
        if count == 0 {
            return;
        }
        let cell = self.cell;
        let new = || Notice { code, count: 0, cell, message: message(code, detail) };
        self.by_code.entry(code).or_insert_with(new).count += count;
    }

    fn into_list(self) -> Vec<Notice> {
        self.by_code.into_values().collect()
    }
}

fn message(code: NoticeCode, detail: &str) -> String {
    if detail.is_empty() {
        return code.text().to_owned();
    }
    let short: String = detail.chars().take(80).collect();
    format!("{} ({short})", code.text())
}
