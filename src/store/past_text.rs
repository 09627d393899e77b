//! Lines that ever stood in cells, with their versions, folded from events: what a search in the past looks through.
//!
//! A line that is typed or shortened at its ends stays one [`PastLine`]: its text is the longest that it had, and its spans
//! say which part of that stood from which version on. Any other change of a line ends it and begins another.

use std::collections::{BTreeMap, BTreeSet};
use std::mem;

use notarium_record::{CellId, Document, Event, Recorded, Version};

/// Spans of one line at most; a line that changes more often goes on as another.
const MAX_SPANS: usize = 1_000;

/// A line of a cell, with all states of its life.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PastLine {
    /// The cell in which it stood.
    pub cell_id: CellId,
    /// The longest text that it had, without its line break.
    pub text: String,
    /// Its states in order, at least one.
    pub spans: Vec<LineSpan>,
    /// The last version at which it stood; `None`: it still stands.
    pub last: Option<Version>,
}

/// A state of a line: the part of its text that stood from a version on, until the next state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LineSpan {
    /// The version that made this state.
    pub since: Version,
    /// Byte at which the part begins.
    pub start: u32,
    /// Byte at which it ends.
    pub end: u32,
}

/// Versions from `first` to `last` (`None`: to the present) at which a text stood in a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stretch {
    /// First version.
    pub first: Version,
    /// Last version; `None`: it still stands there.
    pub last: Option<Version>,
}

impl PastLine {
    fn new(cell_id: CellId, text: &str, since: Version) -> Self {
        let spans = vec![LineSpan { since, start: 0, end: offset(text.len()) }];
        Self { cell_id, text: text.to_owned(), spans, last: None }
    }

    /// The text of one of its states.
    pub fn text_of(&self, span: &LineSpan) -> &str {
        self.text.get(span.start as usize..span.end as usize).unwrap_or_default()
    }

    fn last_text(&self) -> &str {
        self.spans.last().map_or("", |span| self.text_of(span))
    }

    /// Versions at which the line had a state that `holds`.
    pub fn stretches(&self, holds: impl Fn(&str) -> bool) -> Vec<Stretch> {
        let ends = self.spans.iter().skip(1).map(|next| Some(next.since - 1)).chain([self.last]);
        let mut stretches = Vec::<Stretch>::new();
        for (span, last) in self.spans.iter().zip(ends) {
            if !holds(self.text_of(span)) {
                continue;
            }
            match stretches.last_mut() {
                Some(before) if before.last == Some(span.since - 1) => before.last = last,
                _ => stretches.push(Stretch { first: span.since, last }),
            }
        }
        stretches
    }

    /// Takes the line to another text, if that is the same line, longer or shorter at its ends.
    fn follow(&mut self, text: &str, since: Version) -> bool {
        let Some(span) = self.spans.last().copied() else { return false };
        if self.spans.len() >= MAX_SPANS {
            return false;
        }
        let shown = self.text_of(&span);
        let next = if let Some(at) = shown.find(text) {
            let start = span.start + offset(at);
            LineSpan { since, start, end: start + offset(text.len()) }
        } else if let Some(at) = text.find(shown).filter(|_| shown.len() == self.text.len()) {
            for span in &mut self.spans {
                (span.start, span.end) = (span.start + offset(at), span.end + offset(at));
            }
            text.clone_into(&mut self.text);
            LineSpan { since, start: 0, end: offset(text.len()) }
        } else {
            return false;
        };
        self.spans.push(next);
        true
    }
}

/// The text with each letter in lower case by itself, so that a part of a text is a part here too.
pub fn lower_case(text: &str) -> String {
    text.chars().flat_map(char::to_lowercase).collect()
}

/// Bytes in a line; a source has at most 1 MiB.
fn offset(bytes: usize) -> u32 {
    u32::try_from(bytes).unwrap_or(u32::MAX)
}

/// Lines of a notebook at a version, and the lines that changed since they were last taken.
#[derive(Debug, Clone, Default)]
pub struct PastText {
    version: Version,
    cells: BTreeMap<CellId, CellLines>,
    /// Number of the next line.
    next: u64,
    /// Lines that stand and have changed.
    changed: BTreeSet<u64>,
    /// Lines that have ended.
    ended: BTreeMap<u64, PastLine>,
}

/// A live cell: its source, and its lines with their numbers.
#[derive(Debug, Clone, Default)]
struct CellLines {
    source: String,
    lines: Vec<(u64, PastLine)>,
}

impl PastText {
    /// The state at the version of `document`, with the lines that stood then by their numbers, and the next number. A line
    /// that is not among them begins at that version.
    pub fn resume(document: &Document, open: impl IntoIterator<Item = (u64, PastLine)>, next: u64) -> Self {
        let mut past = Self { version: document.version, next, ..Self::default() };
        let mut known = BTreeMap::<(CellId, String), Vec<(u64, PastLine)>>::new();
        for (number, line) in open {
            known.entry((line.cell_id.clone(), line.last_text().to_owned())).or_default().push((number, line));
        }
        for (cell_id, cell) in &document.cells {
            let mut lines = Vec::new();
            for text in cell.content.source.split('\n') {
                let same = known.get_mut(&(cell_id.clone(), text.to_owned())).and_then(Vec::pop);
                lines.push(same.unwrap_or_else(|| past.begin(cell_id, text, document.version)));
            }
            past.cells.insert(cell_id.clone(), CellLines { source: cell.content.source.clone(), lines });
        }
        // Lines that no cell has cannot stand.
        for (number, mut line) in known.into_values().flatten() {
            line.last = Some(document.version);
            past.ended.insert(number, line);
        }
        past
    }

    /// The version that is folded in.
    pub fn version(&self) -> Version {
        self.version
    }

    /// The number that the next new line gets.
    pub fn next_number(&self) -> u64 {
        self.next
    }

    /// Lines that changed since this was last called, by their numbers. Empty ones are left out.
    pub fn take_changed(&mut self) -> BTreeMap<u64, PastLine> {
        let (standing, mut changed) = (mem::take(&mut self.changed), mem::take(&mut self.ended));
        let lines = self.cells.values().flat_map(|cell| &cell.lines);
        changed.extend(lines.filter(|(number, _)| standing.contains(number)).cloned());
        changed.retain(|_, line| !line.text.is_empty());
        changed
    }

    /// Count of lines that changed since they were last taken.
    pub fn changed_count(&self) -> usize {
        self.changed.len() + self.ended.len()
    }

    /// Goes on to a version whose event changes no line.
    pub fn pass(&mut self, version: Version) {
        self.version = self.version.max(version);
    }

    /// Folds in an event. One that was folded in already changes nothing.
    pub fn apply(&mut self, recorded: &Recorded) {
        let version = recorded.envelope.version;
        if version <= self.version {
            return;
        }
        self.version = version;
        match &recorded.event {
            Event::CellInserted(event) => self.insert(&event.cell_id, &event.cell.source, version),
            Event::CellRestored(event) => self.insert(&event.cell_id, &event.cell.source, version),
            Event::CellDeleted(event) => self.remove(&event.cell_id, version),
            Event::CellSourceEdited(event) => {
                let Some(cell) = self.cells.get(&event.cell_id) else { return };
                let mut source = cell.source.clone();
                if event.change.apply_to(&mut source).is_ok() {
                    self.rewrite(&event.cell_id, source, version);
                }
            }
            _ => {}
        }
    }

    fn begin(&mut self, cell_id: &CellId, text: &str, since: Version) -> (u64, PastLine) {
        let (number, line) = (self.next, PastLine::new(cell_id.clone(), text, since));
        self.next += 1;
        self.changed.insert(number);
        (number, line)
    }

    fn insert(&mut self, cell_id: &CellId, source: &str, version: Version) {
        self.remove(cell_id, version);
        let lines = source.split('\n').map(|text| self.begin(cell_id, text, version)).collect();
        self.cells.insert(cell_id.clone(), CellLines { source: source.to_owned(), lines });
    }

    fn remove(&mut self, cell_id: &CellId, version: Version) {
        let lines = self.cells.remove(cell_id).map(|cell| cell.lines).unwrap_or_default();
        lines.into_iter().for_each(|line| self.end(line, version));
    }

    fn end(&mut self, (number, mut line): (u64, PastLine), version: Version) {
        line.last = Some(version - 1);
        self.changed.remove(&number);
        self.ended.insert(number, line);
    }

    /// Replaces a cell's source. Lines before and after the changed ones go on.
    fn rewrite(&mut self, cell_id: &CellId, source: String, version: Version) {
        let Some(CellLines { source: old, mut lines }) = self.cells.remove(cell_id) else { return };
        let (head, tail) = unchanged_lines(&old, &source);
        let new: Vec<&str> = source.split('\n').collect();
        let (gone, come) = (head..lines.len() - tail, &new[head..new.len() - tail]);
        // Each line goes on as the one in its place; where lines come or go, the first one does.
        let going_on = if gone.len() == come.len() { come.len() } else { 1 };
        let mut gone = lines.drain(gone).collect::<Vec<_>>().into_iter();
        let come: Vec<_> = come
            .iter()
            .enumerate()
            .map(|(index, text)| match if index < going_on { gone.next() } else { None } {
                Some(line) => self.go_on(line, text, version),
                None => self.begin(cell_id, text, version),
            })
            .collect();
        gone.for_each(|line| self.end(line, version));
        lines.splice(head..head, come);
        self.cells.insert(cell_id.clone(), CellLines { source, lines });
    }

    fn go_on(&mut self, (number, mut line): (u64, PastLine), text: &str, version: Version) -> (u64, PastLine) {
        if line.last_text() == text {
            return (number, line);
        }
        if line.follow(text, version) {
            self.changed.insert(number);
            return (number, line);
        }
        let cell_id = line.cell_id.clone();
        self.end((number, line), version);
        self.begin(&cell_id, text, version)
    }
}

/// Numbers of lines at the beginning and at the end that both texts have.
fn unchanged_lines(old: &str, new: &str) -> (usize, usize) {
    let (old_bytes, new_bytes) = (old.as_bytes(), new.as_bytes());
    let breaks = |bytes: &[u8]| bytes.iter().filter(|byte| **byte == b'\n').count();
    let prefix = old_bytes.iter().zip(new_bytes).take_while(|(one, other)| one == other).count();
    let head = breaks(&old_bytes[..prefix]);
    // Bytes of the common lines at the beginning are not counted again at the end.
    let from = old_bytes[..prefix].iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    let (old_rest, new_rest) = (&old_bytes[from..], &new_bytes[from..]);
    let suffix = old_rest.iter().rev().zip(new_rest.iter().rev()).take_while(|(one, other)| one == other).count();
    (head, breaks(&old_rest[old_rest.len() - suffix..]))
}

#[cfg(test)]
pub(crate) mod tests {
    use notarium_record::text::{ChangeSet, utf16_len};
    use notarium_record::{
        Actor, CellContent, CellDeleted, CellInserted, CellRestored, CellSourceEdited, CellType, Envelope, OrderKey,
        RawObject,
    };
    use std::cell::RefCell;

    use proptest::prelude::*;
    use proptest::sample::Index;

    use super::*;

    const CELLS: [&str; 2] = ["a", "b"];

    thread_local! {
        /// Content of each cell at its last deletion.
        static DELETED: RefCell<BTreeMap<CellId, CellContent>> = RefCell::default();
    }

    /// An empty notebook; what other cases deleted is forgotten.
    pub(crate) fn empty() -> Document {
        DELETED.with_borrow_mut(BTreeMap::clear);
        Document::new("n".parse().unwrap())
    }

    #[derive(Debug, Clone)]
    pub(crate) enum Step {
        Insert(usize, String),
        Delete(usize),
        Restore(usize),
        /// Types, or deletes so many characters, at a place.
        Edit {
            cell: usize,
            at: Index,
            delete: usize,
            insert: String,
        },
        Replace(usize, String),
        /// The lines are written down, and the fold begins again with those that stand.
        Resume,
    }

    pub(crate) fn step() -> impl Strategy<Value = Step> {
        let cell = || 0..CELLS.len();
        prop_oneof![
            1 => (cell(), "[ab\n]{0,6}").prop_map(|(cell, text)| Step::Insert(cell, text)),
            1 => cell().prop_map(Step::Delete),
            1 => cell().prop_map(Step::Restore),
            8 => (cell(), any::<Index>(), 0..3_usize, "[ab\n]{0,2}")
                .prop_map(|(cell, at, delete, insert)| Step::Edit { cell, at, delete, insert }),
            1 => (cell(), "[abä\n]{0,8}").prop_map(|(cell, text)| Step::Replace(cell, text)),
            1 => Just(Step::Resume),
        ]
    }

    pub(crate) fn event(document: &Document, step: Step) -> Option<Event> {
        let id = |cell: usize| CellId::new(CELLS[cell]).unwrap();
        let source = |cell: usize| document.cells.get(&id(cell)).map(|cell| cell.content.source.clone());
        let edited = |cell: usize, change: ChangeSet| CellSourceEdited { cell_id: id(cell), change, removed: vec![] };
        Some(match step {
            Step::Insert(cell, source) => {
                let (metadata, attachments, flags) = (RawObject::default(), None, Default::default());
                let order_key = OrderKey::between(None, None);
                let content =
                    CellContent { cell_type: CellType::Code, source, order_key, metadata, attachments, flags };
                CellInserted { cell_id: id(cell), cell: content, reply: None }.into()
            }
            Step::Delete(cell) => {
                let content = document.cells.get(&id(cell))?.content.clone();
                DELETED.with_borrow_mut(|deleted| deleted.insert(id(cell), content.clone()));
                CellDeleted { cell_id: id(cell), cell: content, latest_execution: None, reply: None }.into()
            }
            Step::Restore(cell) => {
                let cell_id = id(cell);
                let deleted = DELETED.with_borrow(|deleted| deleted.get(&cell_id).cloned())?;
                let is_live = document.cells.contains_key(&cell_id);
                let restored =
                    CellRestored { cell_id, cell: deleted, latest_execution: None, execution: None, reply: None };
                return (!is_live).then(|| restored.into());
            }
            Step::Edit { cell, at, delete, insert } => {
                let source = source(cell)?;
                let start = at.index(utf16_len(&source) + 1);
                let end = (start + delete).min(utf16_len(&source));
                edited(cell, ChangeSet::replace(utf16_len(&source), start..end, &insert).ok()?).into()
            }
            Step::Replace(cell, text) => edited(cell, notarium_record::text::diff(&source(cell)?, &text)).into(),
            Step::Resume => return None,
        })
    }

    pub(crate) fn recorded(version: Version, event: Event) -> Recorded {
        let envelope = Envelope {
            id: format!("e{version}").parse().unwrap(),
            notebook_id: "n".parse().unwrap(),
            version,
            event_type: event.event_type().to_owned(),
            schema: event.schema(),
            actor: Actor::System,
            command_id: "c".parse().unwrap(),
            correlation_id: "c".parse().unwrap(),
            causation_id: None,
            undoes: None,
            recorded_at: version,
        };
        Recorded { envelope, event }
    }

    /// Versions at which a line of a cell held the text, by looking at every version.
    type Seen = BTreeSet<(CellId, Version)>;

    fn stretched(lines: &BTreeMap<u64, PastLine>, wanted: &str, now: Version) -> Seen {
        let mut seen = Seen::new();
        for line in lines.values() {
            for Stretch { first, last } in line.stretches(|text| text.contains(wanted)) {
                seen.extend((first..=last.unwrap_or(now)).map(|version| (line.cell_id.clone(), version)));
            }
        }
        seen
    }

    proptest! {
        #[test]
        fn lines_stood_when_they_stood(steps in prop::collection::vec(step(), 1..60), wanted in "[ab]{1,3}") {
            let mut document = empty();
            let (mut past, mut written, mut seen) = (PastText::default(), BTreeMap::new(), Seen::new());
            for step in steps {
                if matches!(step, Step::Resume) {
                    written.extend(past.take_changed());
                    let open = written.iter().filter(|(_, line)| line.last.is_none());
                    let open: Vec<_> = open.map(|(number, line)| (*number, line.clone())).collect();
                    past = PastText::resume(&document, open, past.next_number());
                }
                let Some(event) = event(&document, step) else { continue };
                let recorded = recorded(document.version + 1, event);
                document.apply(&recorded);
                past.apply(&recorded);
                for (cell_id, cell) in &document.cells {
                    if cell.content.source.split('\n').any(|line| line.contains(&wanted)) {
                        seen.insert((cell_id.clone(), document.version));
                    }
                }
            }
            written.extend(past.take_changed());
            prop_assert_eq!(stretched(&written, &wanted, document.version), seen);
        }
    }

    #[test]
    fn a_typed_line_is_one_line() {
        let mut document = empty();
        let mut past = PastText::default();
        let mut follow = |step| {
            let recorded = recorded(document.version + 1, event(&document, step).unwrap());
            document.apply(&recorded);
            past.apply(&recorded);
        };
        follow(Step::Insert(0, String::new()));
        for text in ["i", "im", "imp", "imp\n", "imp\nx"] {
            follow(Step::Replace(0, text.to_owned()));
        }
        let lines = past.take_changed();
        let texts: Vec<&str> = lines.values().map(|line| line.text.as_str()).collect();
        assert_eq!(texts, ["imp", "x"]);
        let stretches = lines[&0].stretches(|text| text.contains("im"));
        assert_eq!(stretches, [Stretch { first: 3, last: None }]);
    }
}
