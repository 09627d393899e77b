//! Questions to a kernel about code that is being written: completions, documentation, formatted cells. Ephemeral: neither question nor answer
//! enters the log.

use std::collections::BTreeMap;

use notarium_core::{CellId, KernelSessionId, NotebookId, Rejection, RejectionDetails, if_known};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::connection_schema::{ConnectionSchema, cut, fitting};
use crate::kernel_tables::{ColumnSummary, ReadTable, SummarizeColumn, TablePage, VariableList};

/// Maximum matches in one answer.
pub const MAX_MATCHES: usize = 500;

/// Maximum bytes of one text in a match. A longer match is left out, a longer signature cut.
const MAX_MATCH_BYTES: usize = 1 << 10;

/// Maximum bytes of all matches in one answer.
const MAX_COMPLETION_BYTES: usize = 64 << 10;

/// Maximum bytes of each representation in an inspection.
const MAX_INSPECTION_BYTES: usize = 64 << 10;

/// MIME types that an inspection may have.
const INSPECTION_TYPES: [&str; 3] = ["text/plain", "text/html", "text/markdown"];

/// Feature of a server, and of a runtime agent, that answers the question `format`.
pub const KERNEL_FORMAT: &str = "kernel_format";

/// Feature of a server that takes `effects` in offers.
pub const KERNEL_EFFECTS: &str = "kernel_effects";

/// Maximum cells in one question.
pub const MAX_FORMATTED_CELLS: usize = 500;

/// Maximum bytes of all cells in one question.
pub const MAX_FORMATTED_BYTES: usize = 256 << 10;

/// Maximum bytes of all cells in one answer; larger, as a formatter may put each argument on a separate line.
const MAX_ANSWERED_BYTES: usize = 1 << 20;

/// Maximum bytes of a formatter's name.
const MAX_NAME_BYTES: usize = 64;

/// Kind of a question, with its parameters.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum QuestionKind {
    /// Asks for completions at the cursor.
    Complete {},
    /// Asks for documentation of the name at the cursor; after an open bracket, of the called function (signature help).
    Inspect {
        /// 0: signature and documentation; 1: the source too, where the kernel has it.
        #[serde(default)]
        #[schemars(range(max = 1))]
        detail: u8,
    },
    /// Asks for the tables and columns of a connection, as the kernel's SQL cells reach it; never for rows. `code` and `cursor` are
    /// ignored. Answered also while the kernel is busy.
    Describe {
        /// A connection that the kernel's runtime agent offers, `duckdb` (in the kernel's memory), or a file of the working folder, as SQL
        /// cells name it after `-- @`. At most 1 KiB.
        connection: String,
        /// Returns only tables whose `schema.name` contains this text, ignoring case. At most 1 KiB.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        matching: String,
    },
    /// Asks for the user's variables: names, types, sizes. `code` and `cursor` are ignored, here and in the kinds below.
    Variables {},
    /// Asks for rows of a table that an output shows, or that a variable holds.
    ReadTable(ReadTable),
    /// Asks for a summary of a column of such a table.
    SummarizeColumn(SummarizeColumn),
    /// Asks for cells as the kernel's own formatter writes them. `code` and `cursor` are ignored.
    Format(FormatCells),
}

/// A question to a kernel. The next one about code of the same connection to the same kernel cancels it.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AskKernelMessage {
    /// Question id, chosen by the client; the answer carries it.
    pub id: u32,
    /// The notebook whose kernel is asked. No subscription is needed.
    pub notebook: NotebookId,
    /// The cell that contains the code. A cell that cannot run is refused.
    pub cell_id: Option<CellId>,
    /// Kernel that is asked; absent: the kernel that the cell would run on now.
    pub kernel_session: Option<KernelSessionId>,
    /// Text in the editor; it may differ from the cell's source.
    #[serde(default)]
    pub code: String,
    /// Cursor position in `code`, in UTF-16 code units.
    #[serde(default)]
    pub cursor: u32,
    /// Kind of the question.
    pub kind: QuestionKind,
}

/// A question on its way to the runtime agent of a kernel.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct KernelQuestionMessage {
    /// Question id, chosen by the server; the agent's answer carries it.
    pub id: u64,
    /// The notebook of the session.
    pub notebook: NotebookId,
    /// The session that is asked.
    pub kernel_session: KernelSessionId,
    /// Key of the requester. A new question replaces the earlier one with the same key, which then needs no answer.
    pub asker: String,
    /// Text around the cursor.
    pub code: String,
    /// Cursor position in `code`, in UTF-16 code units.
    pub cursor: u32,
    /// Kind of the question.
    pub kind: QuestionKind,
    /// Time that the server waits for an answer, in milliseconds.
    pub timeout_ms: u64,
}

/// The answer to `ask_kernel`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct KernelAnswerMessage {
    /// The question's `id`.
    pub id: u32,
    /// The notebook of the question.
    pub notebook: NotebookId,
    /// The kernel's answer or its refusal.
    pub answer: KernelAnswer,
}

/// A kernel's answer to a question, or a refusal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum KernelAnswer {
    /// Answers `complete`.
    Completed(Completion),
    /// Answers `inspect`.
    Inspected(Inspection),
    /// Answers `describe`.
    Described(ConnectionSchema),
    /// Answers `variables`.
    Variables(VariableList),
    /// Answers `read_table`.
    TableRead(Box<TablePage>),
    /// Answers `summarize_column`.
    ColumnSummarized(Box<ColumnSummary>),
    /// Answers `format`.
    Formatted(FormattedCells),
    /// There is no answer.
    Refused {
        /// Refusal code, for programs.
        code: QuestionRefusal,
        /// One sentence for people that says what to do.
        message: String,
        /// Facts of the refusal. Absent: `code` says all. A kind that is unknown counts as absent.
        #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "if_known")]
        details: Option<Box<RejectionDetails>>,
    },
}

/// Completions for a piece of the code.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Completion {
    /// Start of the piece that a match replaces, in UTF-16 code units of the code.
    pub from: u32,
    /// End of the piece, exclusive.
    pub to: u32,
    /// Matches in the kernel's order; at most 500.
    pub matches: Vec<CompletionMatch>,
    /// The kernel has more matches: they were left out.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_cut: bool,
}

/// One completion.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CompletionMatch {
    /// Text that replaces the piece.
    pub text: String,
    /// Type of the completion as the kernel names it: `function`, `class`, `instance`, `module`, `keyword`, `param`, `path`, `magic` …
    #[serde(rename = "type")]
    pub match_type: Option<String>,
    /// Signature of a function, as in `(a, b=1)`.
    pub signature: Option<String>,
}

/// Documentation of a name.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Inspection {
    /// False: the kernel does not know the name.
    pub found: bool,
    /// The description by MIME type: `text/plain` (with ANSI colours), `text/html`, `text/markdown`; each at most 64 KiB.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub data: BTreeMap<String, String>,
    /// The description was longer: its end was left out.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_cut: bool,
}

/// Reason for a refusal. Each description ends with the HTTP status.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum QuestionRefusal {
    /// You may not run code, so you may not ask: an answer can run code in a kernel. 403
    Forbidden,
    /// The notebook does not exist, or you may not read it. 404
    UnknownNotebook,
    /// The notebook has no kernel with this id. 404
    UnknownKernelSession,
    /// No connection and no file has this name; the message lists those available. 404
    UnknownConnection,
    /// The kernel no longer has this table, or no variable with this name holds one. 404
    UnknownTable,
    /// The database is unreachable, refuses the request, or has no driver here. The message says which, and never reveals the address. 502
    ConnectionFailed,
    /// The cell is not a code cell of this notebook, or the notebook is archived. 400
    NotRunnable,
    /// The notebook has no running kernel; a question starts none. 409
    NoKernel,
    /// The kernel was busy until the timeout, or has too many questions. 409
    KernelBusy,
    /// The kernel's runtime agent cannot be reached. 503
    AgentUnreachable,
    /// The runtime agent is too old to know this question. 501
    AgentTooOld,
    /// The kernel did not answer in time. 504
    Timeout,
    /// A later question of the same connection replaced it. 409
    Cancelled,
    /// The code is too long; the message names the limit. 413
    LimitExceeded,
    /// The cursor is not a place in the code. 400
    InvalidValue,
    /// Too many questions in a short time; the message says how long to wait. 429
    RateLimited,
    /// The kernel reported that it cannot answer. 502
    KernelFailed,
    /// The server cannot ask now; retry later. 503
    Unavailable,
}

/// Cells to format.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FormatCells {
    /// Texts of the cells as the editor has them; at most 500 cells and 256 KiB.
    pub cells: Vec<String>,
}

/// Formatted cells.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FormattedCells {
    /// Name and version of the formatter, as in `black 26.1.0`. Absent: the kernel's Python has none, and `cells` is empty.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub formatter: Option<String>,
    /// Texts in the order of the question; `null` for a cell that the formatter cannot parse or does not change.
    pub cells: Vec<Option<String>>,
}

impl QuestionKind {
    /// Returns true for questions about code that is being written: the next one of the same connection cancels it.
    pub fn is_about_code(&self) -> bool {
        matches!(self, Self::Complete {} | Self::Inspect { .. })
    }

    /// Returns true for questions answered by Python code in the kernel: variables, tables and formatting.
    pub fn runs_python(&self) -> bool {
        matches!(self, Self::Variables {} | Self::ReadTable(_) | Self::SummarizeColumn(_) | Self::Format(_))
    }
}

impl QuestionRefusal {
    /// Builds the refusal; `message` is a sentence that says what to do.
    pub fn because(self, message: impl Into<String>) -> KernelAnswer {
        KernelAnswer::Refused { code: self, message: message.into(), details: None }
    }

    /// Builds the refusal from a rejection, with its facts.
    pub fn from_rejection(self, Rejection { message, details, .. }: Rejection) -> KernelAnswer {
        KernelAnswer::Refused { code: self, message, details }
    }
}

impl KernelAnswer {
    /// Cuts the answer to its limits, whoever made it.
    pub fn bounded(self) -> Self {
        match self {
            Self::Completed(completion) => Self::Completed(completion.bounded()),
            Self::Inspected(inspection) => Self::Inspected(inspection.bounded()),
            Self::Described(schema) => Self::Described(schema.bounded()),
            Self::Variables(list) => Self::Variables(list.bounded()),
            Self::TableRead(page) => Self::TableRead(Box::new(page.bounded())),
            Self::ColumnSummarized(summary) => Self::ColumnSummarized(Box::new(summary.bounded())),
            Self::Formatted(formatted) => Self::Formatted(formatted.bounded()),
            Self::Refused { code, mut message, details } => {
                cut(&mut message, MAX_MATCH_BYTES);
                Self::Refused { code, message, details }
            }
        }
    }
}

impl Completion {
    fn bounded(mut self) -> Self {
        let all = self.matches.len();
        self.matches.retain(|it| it.text.len() <= MAX_MATCH_BYTES);
        self.matches.truncate(MAX_MATCHES);
        for one in &mut self.matches {
            for text in [&mut one.match_type, &mut one.signature].into_iter().flatten() {
                cut(text, MAX_MATCH_BYTES);
            }
        }
        self.matches.truncate(fitting(&self.matches, MAX_COMPLETION_BYTES, CompletionMatch::bytes));
        self.is_cut |= self.matches.len() < all;
        self
    }
}

impl CompletionMatch {
    fn bytes(&self) -> usize {
        let optional = [&self.match_type, &self.signature];
        self.text.len() + optional.into_iter().flatten().map(String::len).sum::<usize>()
    }
}

impl Inspection {
    fn bounded(mut self) -> Self {
        self.data.retain(|mime, _| INSPECTION_TYPES.contains(&mime.as_str()));
        // Truncated HTML may be invalid.
        let is_fit = |mime: &str, text: &str| mime != "text/html" || text.len() <= MAX_INSPECTION_BYTES;
        let before = self.data.len();
        self.data.retain(|mime, text| is_fit(mime, text));
        self.is_cut |= self.data.len() < before;
        for text in self.data.values_mut() {
            self.is_cut |= cut(text, MAX_INSPECTION_BYTES);
        }
        self
    }
}

impl FormattedCells {
    pub(crate) fn bounded(mut self) -> Self {
        if let Some(name) = &mut self.formatter {
            cut(name, MAX_NAME_BYTES);
        }
        self.cells.truncate(MAX_FORMATTED_CELLS);
        let mut left = MAX_ANSWERED_BYTES;
        for cell in &mut self.cells {
            let rest = left.checked_sub(cell.as_ref().map_or(0, String::len));
            // A truncated cell would be useless.
            if rest.is_none() {
                *cell = None;
            }
            left = rest.unwrap_or(left);
        }
        self
    }
}

/// Converts an offset in UTF-16 code units to one in characters, as Jupyter counts. `None`: the offset is beyond the code, or in the middle
/// of a character.
pub fn characters_before(code: &str, utf16: u32) -> Option<usize> {
    let mut left = utf16 as usize;
    let mut characters = code.chars();
    let mut count = 0;
    while left > 0 {
        left = left.checked_sub(characters.next()?.len_utf16())?;
        count += 1;
    }
    Some(count)
}

/// Converts an offset in characters to one in UTF-16 code units; at most the end of the code.
pub fn utf16_after(code: &str, characters: usize) -> u32 {
    let units: usize = code.chars().take(characters).map(char::len_utf16).sum();
    u32::try_from(units).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_bounded_and_no_cell_of_it_is_cut() {
        let large = "x".repeat(MAX_ANSWERED_BYTES - 1);
        let cells = vec![Some("a".to_owned()), Some(large), Some("b".to_owned()), None];
        let answer = FormattedCells { formatter: Some("é".repeat(100)), cells }.bounded();
        assert_eq!(answer.cells.iter().map(Option::is_some).collect::<Vec<_>>(), [true, true, false, false]);
        assert!(answer.formatter.is_some_and(|name| name.len() <= MAX_NAME_BYTES));
    }

    fn one(text: &str, signature: Option<&str>) -> CompletionMatch {
        CompletionMatch { text: text.to_owned(), match_type: None, signature: signature.map(str::to_owned) }
    }

    fn completed(matches: Vec<CompletionMatch>) -> Completion {
        let answer = KernelAnswer::Completed(Completion { from: 0, to: 0, matches, is_cut: false }).bounded();
        let KernelAnswer::Completed(completion) = answer else { panic!("{answer:?}") };
        completion
    }

    #[test]
    fn places_are_counted_in_both_units() {
        let code = "a😀b";
        for (utf16, characters) in [(0, Some(0)), (1, Some(1)), (2, None), (3, Some(2)), (4, Some(3)), (5, None)] {
            assert_eq!(characters_before(code, utf16), characters, "{utf16}");
        }
        for (characters, utf16) in [(0, 0), (1, 1), (2, 3), (3, 4), (9, 4)] {
            assert_eq!(utf16_after(code, characters), utf16, "{characters}");
        }
    }

    #[test]
    fn a_completion_is_cut_by_number_and_by_size() {
        let few = completed(vec![one("a", Some("()")), one("b", None)]);
        assert_eq!((few.matches.len(), few.is_cut), (2, false));
        let many = completed(vec![one("x", None); MAX_MATCHES + 1]);
        assert_eq!((many.matches.len(), many.is_cut), (MAX_MATCHES, true));
        let signature = "s".repeat(MAX_MATCH_BYTES * 2);
        let large = completed(vec![one("x", Some(&signature)); 100]);
        assert_eq!(large.matches.len(), MAX_COMPLETION_BYTES / (MAX_MATCH_BYTES + 1));
        assert!(large.is_cut && large.matches[0].signature.as_ref().unwrap().len() == MAX_MATCH_BYTES);
        let odd = completed(vec![one(&signature, None), one("b", None)]);
        assert_eq!((odd.matches, odd.is_cut), (vec![one("b", None)], true));
    }

    #[test]
    fn an_inspection_keeps_what_can_be_shown_and_cuts_only_text() {
        let long = "é".repeat(MAX_INSPECTION_BYTES);
        let data = [("text/plain", &*long), ("text/html", &*long), ("application/x", "1")];
        let data = data.into_iter().map(|(mime, text)| (mime.to_owned(), text.to_owned())).collect();
        let answer = KernelAnswer::Inspected(Inspection { found: true, data, is_cut: false }).bounded();
        let KernelAnswer::Inspected(inspection) = answer else { panic!("{answer:?}") };
        assert_eq!(inspection.data.keys().collect::<Vec<_>>(), ["text/plain"]);
        assert_eq!((inspection.data["text/plain"].len(), inspection.is_cut), (MAX_INSPECTION_BYTES, true));
    }
}
