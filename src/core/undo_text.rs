//! Taking somebody's edits out of a text and leaving everybody else's in.
//!
//! The edits of one cell are walked from last to first; each that goes is inverted, and the inverse is carried over the
//! later ones that stay. An edit and the undo of it, both in the past, cancel each other and go together: or text that
//! an undo brought back would count as new text of nobody's.

use std::borrow::Cow;

use crate::envelope::Recorded;
use crate::event::Event;
use crate::ids::{CellId, CorrelationId, Version};
use crate::text::{ChangeSet, TextError};

/// One edit of a cell's text. An insertion of the cell is the edit that writes its first source.
pub(crate) struct Edit<'a> {
    recorded: &'a Recorded,
    change: Cow<'a, ChangeSet>,
    removed: &'a [String],
}

/// A group's edits and the edit that undid them.
#[derive(Clone)]
struct Pair {
    undoer: usize,
    members: Vec<usize>,
}

/// The edits of one cell from some version on, in order, and which of them cancel each other.
pub(crate) struct Edits<'a> {
    edits: Vec<Edit<'a>>,
    pairs: Vec<Pair>,
    /// The text that all edits lead to.
    text: &'a str,
}

impl<'a> Edit<'a> {
    fn of(recorded: &'a Recorded, cell_id: &CellId) -> Option<Self> {
        let (change, removed) = match &recorded.event {
            Event::CellSourceEdited(event) if event.cell_id == *cell_id => {
                (Cow::Borrowed(&event.change), event.removed.as_slice())
            }
            Event::CellInserted(event) if event.cell_id == *cell_id => {
                (Cow::Owned(ChangeSet::replace_all(0, &event.cell.source).ok()?), [].as_slice())
            }
            _ => return None,
        };
        Some(Edit { recorded, change, removed })
    }

    fn correlation_id(&self) -> &CorrelationId {
        &self.recorded.envelope.correlation_id
    }
}

impl<'a> Edits<'a> {
    /// `text` is the cell's text after all `events`.
    pub(crate) fn of(events: &'a [Recorded], cell_id: &CellId, from: Version, text: &'a str) -> Self {
        let recent = events.iter().filter(|recorded| recorded.envelope.version >= from);
        let mut edits = Self {
            edits: recent.filter_map(|recorded| Edit::of(recorded, cell_id)).collect(),
            pairs: Vec::new(),
            text,
        };
        edits.pairs = edits.cancelling_pairs();
        edits
    }

    /// Whether somebody but this actor wrote text that was not undone.
    pub(crate) fn others_wrote(&self, actor: &str) -> bool {
        let cancelled = self.marked(&self.pairs);
        let is_others = |edit: &Edit| edit.recorded.envelope.actor.key() != actor && edit.change.inserts_text();
        self.edits.iter().zip(cancelled).any(|(edit, cancelled)| !cancelled && is_others(edit))
    }

    /// The change that takes the edits that are `mine` out of the text that all edits lead to. `None`: there are none.
    pub(crate) fn without(&self, mine: impl Fn(&Recorded) -> bool) -> Result<Option<ChangeSet>, TextError> {
        let mine: Vec<bool> = self.edits.iter().map(|edit| mine(edit.recorded)).collect();
        self.taken_out(&mine, &self.pairs, self.text)
    }

    /// Takes the marked edits, which end where `text` is, out of it. The pairs go along where that makes a difference.
    fn taken_out(&self, mine: &[bool], pairs: &[Pair], text: &str) -> Result<Option<ChangeSet>, TextError> {
        let Some(first) = mine.iter().position(|mine| *mine) else { return Ok(None) };
        let edits = &self.edits[first..mine.len()];
        let alone = taken_out(edits, &mine[first..])?;
        let inside: Vec<Pair> =
            pairs.iter().filter(|pair| pair.members.iter().all(|index| *index >= first)).cloned().collect();
        if inside.is_empty() {
            return Ok(alone);
        }
        let goes: Vec<bool> = self.marked(&inside).iter().zip(mine).map(|(marked, mine)| *marked || *mine).collect();
        let (Some(alone), Some(together)) = (alone, taken_out(edits, &goes[first..])?) else { return Ok(None) };
        let applied = together.apply(text)?;
        if alone.apply(text)?.text == applied.text {
            return Ok(Some(alone));
        }
        together.tightened(&applied.removed).map(Some)
    }

    fn marked(&self, pairs: &[Pair]) -> Vec<bool> {
        let mut marked = vec![false; self.edits.len()];
        for pair in pairs {
            marked[pair.undoer] = true;
            pair.members.iter().for_each(|index| marked[*index] = true);
        }
        marked
    }

    /// Finds the groups that were undone and not redone. A group whose beginning is not among the edits leads to another
    /// change than the recorded one: it and its undo then count as ordinary edits.
    fn cancelling_pairs(&self) -> Vec<Pair> {
        let mut pairs: Vec<Pair> = Vec::new();
        for (undoer, text) in self.texts_before_undoing() {
            let edit = &self.edits[undoer];
            let Some(target) = &edit.recorded.envelope.undoes else { continue };
            // To undo an undo is to redo: its pair comes apart again.
            let is_kept = |pair: &&Pair| self.edits[pair.undoer].correlation_id() != target;
            let kept: Vec<Pair> = pairs.iter().filter(is_kept).cloned().collect();
            let cancelled = self.marked(&kept);
            let is_member = |index: usize| !cancelled[index] && self.edits[index].correlation_id() == target;
            let mine: Vec<bool> = (0..undoer).map(is_member).collect();
            let expected = self.taken_out(&mine, &kept, &text);
            if expected.is_ok_and(|change| change.as_ref() == Some(&*edit.change)) {
                pairs = kept;
                pairs.push(Pair { undoer, members: (0..undoer).filter(|index| mine[*index]).collect() });
            }
        }
        pairs
    }

    /// The edits that undo something, and the texts that they met, from first to last.
    fn texts_before_undoing(&self) -> Vec<(usize, String)> {
        let undoes = |edit: &Edit| edit.recorded.envelope.undoes.is_some();
        let Some(first) = self.edits.iter().position(undoes) else { return Vec::new() };
        let mut texts = Vec::new();
        let mut text = self.text.to_owned();
        for (index, edit) in self.edits.iter().enumerate().skip(first).rev() {
            let inverted = edit.change.invert_with(edit.removed).and_then(|inverse| inverse.apply_to(&mut text));
            if inverted.is_err() {
                break;
            }
            if undoes(edit) {
                texts.push((index, text.clone()));
            }
        }
        texts.reverse();
        texts
    }
}

/// The change that takes the marked edits out of the text that `edits` lead to, and leaves the others in.
fn taken_out(edits: &[Edit], goes: &[bool]) -> Result<Option<ChangeSet>, TextError> {
    // Everybody else's edits after the point that we are at (newest first), as they would be without those taken out.
    let mut later: Vec<Cow<ChangeSet>> = Vec::new();
    let mut whole: Option<ChangeSet> = None;
    for (edit, goes) in edits.iter().zip(goes).rev() {
        if !goes {
            later.push(Cow::Borrowed(&*edit.change));
            continue;
        }
        let mut inverse = edit.change.invert_with(edit.removed)?;
        for other in later.iter_mut().rev() {
            let rebased = other.map(&inverse, true)?;
            inverse = inverse.map(other, false)?;
            *other = Cow::Owned(rebased);
        }
        whole = Some(match whole {
            Some(before) => before.compose(&inverse)?,
            None => inverse,
        });
    }
    Ok(whole)
}
