//! Removes some edits from a text and keeps all others.
//!
//! The edits of one cell are replayed on a text that keeps everything: deleted text becomes a hidden span that records
//! the deleting edits. An undo shows the hidden span again instead of inserting new text of the undoing actor. Removing
//! edits then means to hide what they inserted, and to show what only they have hidden.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use notarium_record::text::{ChangeSet, TextError, split_at_unit, utf16_len};
use notarium_record::{
    CellDeleted, CellId, CellInserted, CellSourceEdited, CorrelationId, Envelope, Event, Recorded, Version,
};

/// Index of an edit among those replayed.
type Index = usize;

/// A stretch of text that the same edits have inserted and deleted.
#[derive(Debug, Clone)]
struct Span {
    /// Length in UTF-16 units.
    length: usize,
    /// The text, if one of the edits inserted or deleted it.
    text: Option<String>,
    /// The edit that inserted it; `None`: it is older than the first edit.
    inserted_by: Option<Index>,
    /// The edits that deleted it; empty: it is shown.
    deleted_by: BTreeSet<Index>,
}

impl Span {
    fn is_shown(&self) -> bool {
        self.deleted_by.is_empty()
    }

    fn is_hidden_only_by(&self, members: &BTreeSet<Index>) -> bool {
        !self.is_shown() && self.deleted_by.is_subset(members)
    }

    /// Cuts the span after `length` units and returns the rest.
    fn split_off(&mut self, length: usize) -> Result<Span, TextError> {
        let mut rest = Span { length: self.length - length, ..self.clone() };
        self.length = length;
        if let Some(text) = &mut self.text {
            rest.text = Some(split_at_unit(text, length)?);
        }
        Ok(rest)
    }
}

/// Positions of each cell's events in a history, so that undo of a group of thousands of cells takes one walk.
#[derive(Debug, Default)]
pub(crate) struct HistoryIndex {
    by_cell: BTreeMap<CellId, Vec<usize>>,
    /// Position of the last deletion of each cell.
    deletions: BTreeMap<CellId, usize>,
    /// Position of the last event of each undo.
    undo_ends: BTreeMap<CorrelationId, usize>,
}

impl HistoryIndex {
    pub(crate) fn of(events: &[Arc<Recorded>]) -> Self {
        let mut index = Self::default();
        events.iter().enumerate().for_each(|(at, recorded)| index.note(at, recorded));
        index
    }

    /// Adds the event at position `at`.
    pub(crate) fn note(&mut self, at: usize, recorded: &Recorded) {
        if let Event::CellSourceEdited(CellSourceEdited { cell_id, .. })
        | Event::CellInserted(CellInserted { cell_id, .. }) = &recorded.event
        {
            self.by_cell.entry(cell_id.clone()).or_default().push(at);
        }
        if let Event::CellDeleted(event) = &recorded.event {
            self.deletions.insert(event.cell_id.clone(), at);
        }
        if recorded.envelope.undoes.is_some() {
            self.undo_ends.insert(recorded.envelope.correlation_id.clone(), at);
        }
    }

    /// The last deletion of the cell.
    pub(crate) fn deleted<'a>(&self, events: &'a [Arc<Recorded>], cell_id: &CellId) -> Option<&'a CellDeleted> {
        match &events.get(*self.deletions.get(cell_id)?)?.event {
            Event::CellDeleted(event) => Some(event),
            _ => None,
        }
    }

    /// Positions of the cell's edits and of the ends of all undos, in order.
    fn of_cell(&self, cell_id: &CellId) -> BTreeSet<usize> {
        self.by_cell.get(cell_id).into_iter().flatten().chain(self.undo_ends.values()).copied().collect()
    }
}

/// Edits of one cell from some version on, replayed in order.
pub(crate) struct PlayedEdits<'a> {
    edits: Vec<&'a Recorded>,
    spans: Vec<Span>,
}

/// Change of an edit, and the texts that it removed.
type Change<'a> = (Cow<'a, ChangeSet>, &'a [String]);

/// Change of an edit of the cell, or of its insertion, which writes the first source. `None` for other events.
fn change_of<'a>(event: &'a Event, cell_id: &CellId) -> Option<Change<'a>> {
    match event {
        Event::CellSourceEdited(event) if event.cell_id == *cell_id => {
            Some((Cow::Borrowed(&event.change), &event.removed))
        }
        Event::CellInserted(event) if event.cell_id == *cell_id => {
            Some((Cow::Owned(ChangeSet::replace_all(0, &event.cell.source).ok()?), &[]))
        }
        _ => None,
    }
}

impl<'a> PlayedEdits<'a> {
    /// Replays the edits. `step` is the undo that is being decided: its events count, but it has not ended.
    ///
    /// # Errors
    /// The edits do not follow one another, which `decide` never records.
    pub(crate) fn of(
        events: &'a [Arc<Recorded>],
        index: &HistoryIndex,
        cell_id: &CellId,
        from: Version,
        step: &CorrelationId,
    ) -> Result<Self, TextError> {
        let mut played = Self { edits: Vec::new(), spans: Vec::new() };
        for at in index.of_cell(cell_id) {
            let recorded = &events[at];
            let Envelope { version, correlation_id, .. } = &recorded.envelope;
            let ends_undo = correlation_id != step && index.undo_ends.get(correlation_id) == Some(&at);
            if *version >= from {
                played.play(recorded, change_of(&recorded.event, cell_id), ends_undo)?;
            }
        }
        Ok(played)
    }

    fn play(&mut self, recorded: &'a Recorded, change: Option<Change>, ends_undo: bool) -> Result<(), TextError> {
        let index = self.edits.len();
        let members = self.members(recorded);
        self.edits.push(recorded);
        if let Some((change, removed)) = change {
            EditPlayer::new(&mut self.spans, index, &members).play(&change, removed)?;
        }
        if ends_undo {
            self.settle(index, &members);
        }
        Ok(())
    }

    /// Earlier edits of the group that this one undoes.
    fn members(&self, recorded: &Recorded) -> BTreeSet<Index> {
        let Some(target) = &recorded.envelope.undoes else { return BTreeSet::new() };
        let is_member = |edit: &&Recorded| edit.envelope.correlation_id == *target;
        self.edits.iter().enumerate().filter(|(_, edit)| is_member(edit)).map(|(index, _)| index).collect()
    }

    /// Completes an undo for hidden text: text that the group inserted, and the group's part in hiding text of others.
    fn settle(&mut self, undoer: Index, members: &BTreeSet<Index>) {
        for span in self.spans.iter_mut().filter(|span| !span.is_shown()) {
            let is_theirs = span.inserted_by.is_some_and(|index| members.contains(&index));
            if is_theirs || span.is_hidden_only_by(members) {
                span.deleted_by.insert(undoer);
            }
            span.deleted_by.retain(|index| !members.contains(index));
        }
    }

    /// Checks that text of other actors is shown.
    pub(crate) fn others_wrote(&self, actor: &str) -> bool {
        let is_others = |index: Index| self.edits[index].envelope.actor.key() != actor;
        self.spans.iter().any(|span| span.is_shown() && span.inserted_by.is_some_and(is_others))
    }

    /// Change that removes the edits that are `mine` from the text after all edits. `None`: no edit is.
    pub(crate) fn without(&self, mine: impl Fn(&Recorded) -> bool) -> Result<Option<ChangeSet>, TextError> {
        let mine: BTreeSet<Index> = (0..self.edits.len()).filter(|index| mine(self.edits[*index])).collect();
        if mine.is_empty() {
            return Ok(None);
        }
        let sections = self.spans.iter().filter_map(|span| {
            let stays = span.inserted_by.is_none_or(|index| !mine.contains(&index));
            match (span.is_shown(), stays && span.deleted_by.is_subset(&mine)) {
                (true, true) => Some((span.length, None)),
                (true, false) => Some((span.length, Some(String::new()))),
                (false, true) => Some((0, Some(span.text.clone()?))),
                (false, false) => None,
            }
        });
        ChangeSet::from_sections(sections).map(Some)
    }
}

/// One edit during its replay along the spans.
struct EditPlayer<'p> {
    spans: &'p mut Vec<Span>,
    /// Index of the edit, and the edits that it undoes.
    index: Index,
    members: &'p BTreeSet<Index>,
    /// Index of the next span.
    at: usize,
}

impl<'p> EditPlayer<'p> {
    fn new(spans: &'p mut Vec<Span>, index: Index, members: &'p BTreeSet<Index>) -> Self {
        Self { spans, index, members, at: 0 }
    }

    fn play(mut self, change: &ChangeSet, removed: &[String]) -> Result<(), TextError> {
        if self.spans.is_empty() && change.length_before() > 0 {
            let (length, deleted_by) = (change.length_before(), BTreeSet::new());
            self.spans.push(Span { length, text: None, inserted_by: None, deleted_by });
        }
        let mut removed = removed.iter();
        for (length, insert) in change.sections() {
            match insert {
                None => self.keep(length)?,
                Some(insert) => {
                    if length > 0 {
                        self.delete(length, removed.next().map_or("", |text| text))?;
                    }
                    self.insert(insert);
                }
            }
        }
        Ok(())
    }

    /// Advances to the next shown span and cuts it to at most `length` units.
    fn next_shown(&mut self, length: usize) -> Result<usize, TextError> {
        while self.spans.get(self.at).is_some_and(|span| !span.is_shown()) {
            self.at += 1;
        }
        let mismatch = TextError::LengthMismatch { expected: length, actual: 0 };
        let span = self.spans.get_mut(self.at).ok_or(mismatch)?;
        if span.length > length {
            let rest = span.split_off(length)?;
            self.spans.insert(self.at + 1, rest);
        }
        Ok(self.spans[self.at].length)
    }

    fn keep(&mut self, mut length: usize) -> Result<(), TextError> {
        while length > 0 {
            length -= self.next_shown(length)?;
            self.at += 1;
        }
        Ok(())
    }

    fn delete(&mut self, mut length: usize, removed: &str) -> Result<(), TextError> {
        let mut removed = removed.to_owned();
        while length > 0 {
            let taken = self.next_shown(length)?;
            let rest = split_at_unit(&mut removed, taken)?;
            let span = &mut self.spans[self.at];
            span.text = Some(std::mem::replace(&mut removed, rest));
            span.deleted_by.insert(self.index);
            self.at += 1;
            length -= taken;
        }
        Ok(())
    }

    fn insert(&mut self, text: &str) {
        if text.is_empty() || self.show_again(text) || self.show_here(text) {
            return;
        }
        let (text, length) = (Some(text.to_owned()), utf16_len(text));
        let span = Span { length, text, inserted_by: Some(self.index), deleted_by: BTreeSet::new() };
        self.spans.insert(self.at, span);
        self.at += 1;
    }

    /// Shows hidden text again, if `text` is what the undone edits have hidden at this place. Returns true if it is.
    fn show_again(&mut self, text: &str) -> bool {
        let is_shown = |span: &Span| span.is_shown();
        let start = self.spans[..self.at].iter().rposition(is_shown).map_or(0, |index| index + 1);
        let end = self.spans[self.at..].iter().position(is_shown).map_or(self.spans.len(), |index| self.at + index);
        let gap = &mut self.spans[start..end];
        let hidden = || gap.iter().filter(|span| span.is_hidden_only_by(self.members));
        let is_it = hidden().map(|span| span.text.as_deref().unwrap_or("")).collect::<String>() == text;
        if is_it {
            let members = self.members;
            gap.iter_mut().filter(|span| span.is_hidden_only_by(members)).for_each(|span| span.deleted_by.clear());
            self.at = end;
        }
        is_it
    }
    /// Moves hidden text here and shows it, if `text` is all that the undone edits have hidden: hidden text of others
    /// stood beside it. It stays the text of its authors. Returns true if it is.
    fn show_here(&mut self, text: &str) -> bool {
        let is_hidden = |span: &Span| span.is_hidden_only_by(self.members);
        let hidden = self.spans.iter().filter(|span| is_hidden(span));
        if hidden.map(|span| span.text.as_deref().unwrap_or("")).collect::<String>() != text {
            return false;
        }
        self.at -= self.spans[..self.at].iter().filter(|span| is_hidden(span)).count();
        let mut shown: Vec<_> = self.spans.extract_if(.., |span| is_hidden(span)).collect();
        shown.iter_mut().for_each(|span| span.deleted_by.clear());
        let end = self.at + shown.len();
        self.spans.splice(self.at..self.at, shown);
        self.at = end;
        true
    }
}
