//! What an import changed, in words for the person who imported.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What kind of repair or conversion a [`Notice`] tells of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum NoticeCode {
    ByteOrderMark,
    LoneSurrogate,
    NotFinite,
    DuplicateKey,
    VersionGuessed,
    NewerMinor,
    Upgraded,
    WorksheetsFlattened,
    NotebookMetadata,
    UnknownNotebookKey,
    KernelspecCompleted,
    CellNotAnObject,
    CellType,
    CellId,
    CellMetadata,
    UnknownCellKey,
    Source,
    LineEndings,
    Attachments,
    ExecutionCount,
    OutputsMissing,
    OutputNotAnObject,
    OutputCompleted,
    OutputUpgraded,
    UnknownOutput,
    EmptyFieldDropped,
    StaleAside,
}

impl NoticeCode {
    fn text(self) -> &'static str {
        match self {
            Self::ByteOrderMark => "a byte order mark at the start was skipped",
            Self::LoneSurrogate => "half a surrogate pair was replaced by U+FFFD",
            Self::NotFinite => "NaN or an infinity, which JSON does not have, became null",
            Self::DuplicateKey => "an object has the same key twice; the last one counts",
            Self::VersionGuessed => "the format version is missing or odd; it was guessed from the shape",
            Self::NewerMinor => "the file is newer than nbformat 4.5; what is not known was kept aside",
            Self::Upgraded => "the notebook was upgraded from an older major version",
            Self::WorksheetsFlattened => "several worksheets became one list of cells",
            Self::NotebookMetadata => "the notebook's metadata is missing or not an object",
            Self::UnknownNotebookKey => "a key that nbformat does not know was kept aside",
            Self::KernelspecCompleted => "the kernelspec or language had no name to show; one was filled in",
            Self::CellNotAnObject => "a cell is not an object; it was kept aside and an empty raw cell stands for it",
            Self::CellType => "a cell type was converted",
            Self::CellId => "a cell id is missing, invalid or used twice; the cell has a new one",
            Self::CellMetadata => "a cell's metadata is missing or not an object",
            Self::UnknownCellKey => "a key that nbformat does not know in such a cell was kept aside",
            Self::Source => "a source is missing or is not text",
            Self::LineEndings => "line endings CRLF or CR became LF",
            Self::Attachments => "attachments are not an object; they were kept aside",
            Self::ExecutionCount => "an execution count is not a whole number; it was kept aside",
            Self::OutputsMissing => "a code cell has no list of outputs",
            Self::OutputNotAnObject => "an output is not an object; it was wrapped in one",
            Self::OutputCompleted => "a required field of an output was missing and filled in",
            Self::OutputUpgraded => "an output of nbformat 3 was upgraded",
            Self::UnknownOutput => "an output, or a part of one, does not fit nbformat 4.5; exports keep it aside",
            Self::EmptyFieldDropped => "an empty field that does not belong there was left out",
            Self::StaleAside => {
                "something kept aside belongs to content that another program has replaced; it was left out"
            }
        }
    }
}

/// One thing that the import changed, however often it occurred.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Notice {
    pub code: NoticeCode,
    /// How often.
    pub count: usize,
    /// Index of the first cell that it is about; absent when it is about the notebook.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cell: Option<usize>,
    pub message: String,
}

/// Collects notices, one for each code, so that a hostile file cannot make many.
#[derive(Debug, Default)]
pub(super) struct Notices {
    by_code: BTreeMap<NoticeCode, Notice>,
    /// The cell that is being read.
    pub cell: Option<usize>,
}

impl Notices {
    pub fn add(&mut self, code: NoticeCode) {
        self.add_many(code, 1, "");
    }

    /// `detail` is shown for the first occurrence only.
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
