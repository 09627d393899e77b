//! Writes a [`Document`] as the text of a valid nbformat 4.5 file. Long values of outputs are printed in pieces, so that they are never in memory
//! as a whole.

use std::collections::BTreeSet;

use serde_json::value::RawValue;

use super::draft::{CellDraft, JUPYTER_FLAGS, NotebookDraft};
use super::json::{Json, Map, print_escaped};
use super::output::{is_line_end, split_lines};
use super::schema::{self, Base};
use super::{Document, DocumentCell, Notices, output};

const OUTPUT_PATCHES: &str = "output_patches";

/// Writes the document as nbformat 4.5, in the style of Python's `nbformat.write`, newline at the end included.
///
/// Total: content without a place in the schema goes to `metadata.notarium` of its cell or of the notebook. An id that is invalid or used
/// twice is replaced by one made from the cell's index. A value that nests deeper than [`super::MAX_DEPTH`], which no import accepts, is
/// written as a string of its JSON.
pub fn write(document: &Document) -> String {
    let pieces = Pieces::new(document.cells.iter().map(|cell| cell.id.as_str()));
    let cells = document.cells.iter().enumerate().map(|(index, cell)| pieces.cell(index, cell));
    cells.chain([pieces.end(document)]).collect()
}

/// Writes a file cell by cell, so that it is never in memory as a whole. The texts of [`Pieces::cell`] for each cell in order, then
/// [`Pieces::end`], are the result of [`write()`].
#[derive(Debug)]
pub struct Pieces {
    /// Cell ids of the file.
    ids: Vec<String>,
}

impl Pieces {
    /// Prepares the file; `ids` are those of all cells, as the document has them.
    pub fn new<'a>(ids: impl Iterator<Item = &'a str>) -> Self {
        Self { ids: unique_ids(&ids.collect::<Vec<_>>()) }
    }

    /// Returns the text of one cell, with the separator before it.
    pub fn cell(&self, index: usize, cell: &DocumentCell) -> String {
        printed(index, cell_object(self.settled(index, cell)))
    }

    fn settled(&self, index: usize, cell: &DocumentCell) -> CellDraft {
        let mut draft = CellDraft::of(cell);
        draft.settle(&mut Notices::default());
        draft.id = self.ids.get(index).cloned().unwrap_or_default();
        draft
    }

    /// Splits a code cell into the text before its outputs and the text after them. Between them the caller writes the texts of the
    /// outputs, in order, separated by `,`. The cell is passed without outputs, and with the patches from [`CellOutput::patch`]. `None`:
    /// this cell can be written only as a whole.
    pub fn open(&self, index: usize, cell: &DocumentCell, patches: Vec<OutputPatch>) -> Option<(String, String)> {
        // Outputs that an import put aside can be restored only with the other outputs at hand.
        if !cell.outputs.is_empty() || cell.metadata.get("notarium").is_some_and(|own| mends_outputs(own)) {
            return None;
        }
        let draft = self.settled(index, cell);
        if draft.base() != Base::Code {
            return None;
        }
        let mut object = cell_object(draft);
        if let (false, Some(Json::Object(metadata))) = (patches.is_empty(), object.get_mut("metadata")) {
            let patches = patches.into_iter().map(|patch| patch.0).collect();
            add_aside(metadata, Map::from([(OUTPUT_PATCHES.to_owned(), Json::Array(patches))]));
        }
        object.insert("outputs".to_owned(), Json::Array(vec![Json::Null]));
        let text = printed(index, object);
        // Unambiguous: line breaks occur only between values, and only keys of the cell itself have this indent.
        let (before, after) = text.split_once("\n   \"outputs\": [\n    null\n   ]")?;
        Some((format!("{before}\n   \"outputs\": ["), format!("\n   ]{after}")))
    }

    /// Returns the text after the last cell; the document's cells are not read.
    pub fn end(&self, document: &Document) -> String {
        let mut notebook = NotebookDraft::from_document(document);
        notebook.settle(&mut Notices::default());
        let before = if self.ids.is_empty() { "{\n \"cells\": []" } else { "\n ]" };
        let mut text = format!("{before},\n \"metadata\": ");
        Json::Object(notebook_metadata(notebook)).print(&mut text, Some(1));
        text.push_str(",\n \"nbformat\": 4,\n \"nbformat_minor\": 5\n}\n");
        text
    }
}

/// Prints a cell with the separator before it.
fn printed(index: usize, cell: Map) -> String {
    let mut text = if index == 0 { "{\n \"cells\": [\n  " } else { ",\n  " }.to_owned();
    Json::Object(cell).print(&mut text, Some(2));
    text
}

/// Returns true if the entry holds outputs, or patches of outputs.
fn mends_outputs(own: &RawValue) -> bool {
    let Json::Object(own) = Json::from_raw(own) else { return true };
    own.contains_key("outputs") || own.contains_key(OUTPUT_PATCHES)
}

/// Parts of an output for which the file has no place among its outputs.
#[derive(Debug, Clone)]
pub struct OutputPatch(Json);

/// One output of a code cell.
#[derive(Debug)]
pub struct CellOutput {
    /// Text of the output in the file.
    pub text: String,
    /// Patch for [`Pieces::open`].
    pub patch: Option<OutputPatch>,
}

impl CellOutput {
    /// Prints an output; `index` is its place among the outputs of its cell.
    pub fn new(index: usize, output: &RawValue) -> Self {
        let mut draft = CellDraft { outputs: vec![Json::from_raw(output)], ..CellDraft::default() };
        draft.settle_outputs(&mut Notices::default());
        let settled = draft.outputs.first().and_then(Json::as_object).cloned().unwrap_or_default();
        let (written, patch) = fitted(index, &settled);
        let mut text = "\n    ".to_owned();
        written.print(&mut text, Some(4));
        Self { text, patch: patch.map(OutputPatch) }
    }

    /// Splits an output that contains `marks` [`long_mark`]s: the text before the first, and each long value in the order of the file.
    /// `None`: this output can be written only as a whole.
    pub fn around(output: &RawValue, marks: usize) -> Option<(String, Vec<LongValue>)> {
        let Self { text, patch } = Self::new(0, output);
        let mut places = Vec::new();
        for number in 0..marks {
            let mark = format!("\"{}\"", long_mark(number));
            let mut found = text.match_indices(&mark);
            let (at, _) = found.next()?;
            if found.next().is_some() {
                return None;
            }
            places.push((at, at + mark.len(), number));
        }
        places.sort_unstable();
        let before = text[..places.first()?.0].to_owned();
        let ends = places.iter().skip(1).map(|(at, ..)| *at).chain([text.len()]);
        let mut stood = before.as_str();
        let mut values = Vec::new();
        for ((_, from, number), to) in places.iter().zip(ends) {
            let (written, json) = (LongText::after(stood), LongJson::after(stood));
            stood = &text[*from..to];
            values.push(LongValue { number: *number, text: written, json, after: stood.to_owned() });
        }
        patch.is_none().then_some((before, values))
    }
}

/// A value of an output that is written in pieces, as text or as JSON.
#[derive(Debug)]
pub struct LongValue {
    /// Number of its mark.
    pub number: usize,
    /// Printer for text.
    pub text: LongText,
    /// Printer for JSON.
    pub json: LongJson,
    /// Text between this value and the next, or the end of the output.
    pub after: String,
}

/// Makes ids unique; the first cell with a valid id keeps it.
fn unique_ids(given: &[&str]) -> Vec<String> {
    let taken: BTreeSet<&str> = given.iter().copied().filter(|id| schema::is_cell_id(id)).collect();
    let mut used = BTreeSet::new();
    let mut ids = Vec::with_capacity(given.len());
    for (index, id) in given.iter().copied().enumerate() {
        let keep = schema::is_cell_id(id) && used.insert(id);
        ids.push(if keep { id.to_owned() } else { index_id(index, &taken) });
    }
    ids
}

/// Returns an id made from the cell's index: deterministic, and not taken.
pub fn index_id(index: usize, taken: &BTreeSet<&str>) -> String {
    let plain = format!("cell-{index}");
    let mut numbered = (0..=taken.len()).map(|number| format!("cell-{index}-{number}"));
    if !taken.contains(plain.as_str()) {
        return plain;
    }
    numbered.find(|id| !taken.contains(id.as_str())).unwrap_or(plain)
}

fn notebook_metadata(mut notebook: NotebookDraft) -> Map {
    let odd = take_odd(&mut notebook.metadata, schema::notebook_entry_fits);
    let mut aside = Map::new();
    put(&mut aside, "metadata", odd);
    put(&mut aside, "extra", notebook.extra);
    add_aside(&mut notebook.metadata, aside);
    notebook.metadata
}

fn cell_object(mut cell: CellDraft) -> Map {
    let base = cell.base();
    let mut aside = Map::new();
    if cell.cell_type != base.name() {
        aside.insert("cell_type".to_owned(), Json::text(&cell.cell_type));
    }
    let mut object = Map::new();
    let mut set = |key: &str, value| object.insert(key.to_owned(), value);
    set("id", Json::String(cell.id));
    set("cell_type", Json::text(base.name()));
    set("source", output::lines(&cell.source));
    let count = cell.execution_count.map_or(Json::Null, |count| Json::Number(count.to_string()));
    if base == Base::Code {
        set("execution_count", count);
        set("outputs", outputs(&cell.outputs, &mut aside));
    } else {
        outputs_aside(cell.outputs, count, &mut aside);
    }
    match cell.attachments {
        Some(files) if base != Base::Code && schema::are_attachments(&files) => {
            set("attachments", attachments(files));
        }
        Some(files) => {
            aside.insert("attachments".to_owned(), Json::Object(files));
        }
        None => {}
    }
    let odd = take_odd(&mut cell.metadata, |key, value| schema::cell_entry_fits(base, key, value));
    put(&mut aside, "flags", other_flags(cell.flags, &odd, &mut cell.metadata));
    put(&mut aside, "metadata", odd);
    put(&mut aside, "extra", cell.extra);
    add_aside(&mut cell.metadata, aside);
    set("metadata", Json::Object(cell.metadata));
    object
}

/// Returns the outputs as a file may hold them; patches for the others go to `aside`.
fn outputs(outputs: &[Json], aside: &mut Map) -> Json {
    let mut patches = Vec::new();
    let mut written = Vec::with_capacity(outputs.len());
    for (index, value) in outputs.iter().filter_map(Json::as_object).enumerate() {
        let (output, patch) = fitted(index, value);
        patches.extend(patch);
        written.push(output);
    }
    if !patches.is_empty() {
        aside.insert(OUTPUT_PATCHES.to_owned(), Json::Array(patches));
    }
    Json::Array(written)
}

/// Returns an output as the file may hold it, and the patch that restores the original.
fn fitted(index: usize, value: &Map) -> (Json, Option<Json>) {
    let (mut fitted, patch) = output::fit(value);
    let patch = patch.map(|mut patch| {
        patch.insert("index".to_owned(), Json::Number(index.to_string()));
        patch.insert("digest".to_owned(), Json::String(output::digest(&fitted)));
        Json::Object(patch)
    });
    output::split_output(&mut fitted);
    (Json::Object(fitted), patch)
}

fn outputs_aside(outputs: Vec<Json>, count: Json, aside: &mut Map) {
    if !outputs.is_empty() {
        aside.insert("outputs".to_owned(), Json::Array(outputs));
    }
    if count != Json::Null {
        aside.insert("execution_count".to_owned(), count);
    }
}

fn attachments(mut files: Map) -> Json {
    files.values_mut().for_each(output::split_bundle);
    Json::Object(files)
}

/// Moves the flags that JupyterLab knows to `metadata.jupyter` and returns the others.
fn other_flags(mut flags: Map, odd: &Map, metadata: &mut Map) -> Map {
    for flag in JUPYTER_FLAGS {
        if flags.get(flag) != Some(&Json::Bool(true)) || odd.contains_key("jupyter") {
            continue;
        }
        let jupyter = metadata.entry("jupyter".to_owned()).or_insert_with(Json::empty_object);
        if let Json::Object(jupyter) = jupyter {
            jupyter.insert(flag.to_owned(), Json::Bool(true));
            flags.remove(flag);
        }
    }
    flags
}

/// Removes and returns the entries that would make the file invalid.
fn take_odd(metadata: &mut Map, fits: impl Fn(&str, &Json) -> bool) -> Map {
    metadata.extract_if(.., |key, value| !fits(key, value)).collect()
}

fn put(aside: &mut Map, key: &str, map: Map) {
    if !map.is_empty() {
        aside.insert(key.to_owned(), Json::Object(map));
    }
}

fn add_aside(metadata: &mut Map, aside: Map) {
    if aside.is_empty() {
        return;
    }
    let ours = metadata.entry("notarium".to_owned()).or_insert_with(Json::empty_object);
    if let Json::Object(ours) = ours {
        ours.extend(aside);
    }
}

/// Placeholder in an output for the long value with this number.
pub fn long_mark(number: usize) -> String {
    format!("\u{e000}long value {number} of this output\u{e000}")
}

/// Printer of a text: one string, or one string per line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LongText {
    /// Text between two lines. `None`: the text is printed as one string.
    between: Option<String>,
    has_begun: bool,
    /// True while the current string has no closing quote.
    is_open: bool,
    /// True if the text so far ends with `\r`: the next character decides if the line ends there.
    is_undecided: bool,
}

impl LongText {
    /// Starts a text; `before` is the text before it in the file.
    pub(super) fn after(before: &str) -> Self {
        let blank = before.len() - before.trim_end_matches([' ', '\n']).len();
        let (line, indent) = before.split_at(before.len() - blank);
        let between = line.ends_with('[').then(|| format!(",{indent}"));
        Self { between, has_begun: false, is_open: false, is_undecided: false }
    }

    /// Prints the next piece of the text.
    pub fn push(&mut self, text: &str, out: &mut String) {
        if text.is_empty() {
            return;
        }
        if self.between.is_some() {
            return self.push_lines(text, out);
        }
        self.open(out);
        print_escaped(out, text);
    }

    /// Ends the text after the last piece.
    pub fn end(&mut self, out: &mut String) {
        if !self.has_begun {
            self.open(out);
        }
        self.close(out);
    }

    fn push_lines(&mut self, text: &str, out: &mut String) {
        if std::mem::take(&mut self.is_undecided) && !text.starts_with('\n') {
            self.close(out);
        }
        let mut lines = split_lines(text).peekable();
        while let Some(line) = lines.next() {
            self.open(out);
            print_escaped(out, line);
            self.is_undecided = line.ends_with('\r') && lines.peek().is_none();
            if line.ends_with(is_line_end) && !self.is_undecided {
                self.close(out);
            }
        }
    }

    fn open(&mut self, out: &mut String) {
        if std::mem::replace(&mut self.is_open, true) {
            return;
        }
        if std::mem::replace(&mut self.has_begun, true) {
            out.push_str(self.between.as_deref().unwrap_or_default());
        }
        out.push('"');
    }

    fn close(&mut self, out: &mut String) {
        if std::mem::take(&mut self.is_open) {
            out.push('"');
        }
    }
}

/// Printer that adds the line breaks of a file. Keys keep their order, numbers and strings their spelling.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LongJson {
    /// Indent of the line on which the value begins.
    indent: usize,
    depth: usize,
    in_string: bool,
    /// True if the last character was a backslash in a string.
    is_escaped: bool,
    /// True if a list or an object was just opened and is empty so far.
    is_opened: bool,
}

impl LongJson {
    /// Starts a value; `before` is the text before it in the file.
    pub(super) fn after(before: &str) -> Self {
        let line = before.rsplit('\n').next().unwrap_or_default();
        let indent = line.len() - line.trim_start_matches(' ').len();
        Self { indent, depth: 0, in_string: false, is_escaped: false, is_opened: false }
    }

    /// Prints the next piece of the value, which must be JSON.
    pub fn push(&mut self, text: &str, out: &mut String) {
        for character in text.chars() {
            if self.in_string {
                out.push(character);
                self.in_string = self.is_escaped || character != '"';
                self.is_escaped = !self.is_escaped && character == '\\';
            } else if !character.is_ascii_whitespace() {
                self.token(character, out);
            }
        }
    }

    fn token(&mut self, character: char, out: &mut String) {
        let was_opened = std::mem::take(&mut self.is_opened);
        if let '}' | ']' = character {
            self.depth = self.depth.saturating_sub(1);
            if !was_opened {
                self.new_line(out);
            }
            return out.push(character);
        }
        if was_opened {
            self.new_line(out);
        }
        out.push(character);
        match character {
            '{' | '[' => (self.depth, self.is_opened) = (self.depth + 1, true),
            ',' => self.new_line(out),
            ':' => out.push(' '),
            '"' => self.in_string = true,
            _ => {}
        }
    }

    fn new_line(&self, out: &mut String) {
        out.push('\n');
        out.extend(std::iter::repeat_n(' ', self.indent + self.depth));
    }
}
