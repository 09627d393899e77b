//! Notices of an import: each repair or conversion, in words for the person who imported.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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
pub(super) struct Notices {
    by_code: BTreeMap<NoticeCode, Notice>,
    /// Index of the cell that is being read.
    pub cell: Option<usize>,
}

impl Notices {
    pub fn add(&mut self, code: NoticeCode) {
        self.add_many(code, 1, "");
    }

    /// Adds an occurrence; `detail` is shown for the first one only.
    pub fn add_with(&mut self, code: NoticeCode, detail: &str) {
        self.add_many(code, 1, detail);
    }

    pub fn add_many(&mut self, code: NoticeCode, count: usize, detail: &str) {
        if count == 0 {
            return;
        }
        let cell = self.cell;
        let new = || Notice { code, count: 0, cell, message: message(code, detail) };
        self.by_code.entry(code).or_insert_with(new).count += count;
    }

    pub fn into_list(self) -> Vec<Notice> {
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
