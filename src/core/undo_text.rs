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

/// The edits of one cell from some version on, in order, and which of them cancel each other.
pub(crate) struct Edits<'a> {
    edits: Vec<Edit<'a>>,
    is_cancelled: Vec<bool>,
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
    pub(crate) fn of(events: &'a [Recorded], cell_id: &CellId, from: Version) -> Self {
        let recent = events.iter().filter(|recorded| recorded.envelope.version >= from);
        let edits: Vec<_> = recent.filter_map(|recorded| Edit::of(recorded, cell_id)).collect();
        let mut edits = Self { is_cancelled: vec![false; edits.len()], edits };
        edits.cancel();
        edits
    }

    /// Whether somebody but this actor wrote text that was not undone.
    pub(crate) fn others_wrote(&self, actor: &str) -> bool {
        let is_others = |edit: &Edit| edit.recorded.envelope.actor.key() != actor && edit.change.inserts_text();
        self.edits.iter().zip(&self.is_cancelled).any(|(edit, cancelled)| !cancelled && is_others(edit))
    }

    /// The change that takes the edits that are `mine` out of the text that all edits lead to. `None`: there are none.
    pub(crate) fn without(&self, mine: impl Fn(&Recorded) -> bool) -> Result<Option<ChangeSet>, TextError> {
        if !self.edits.iter().any(|edit| mine(edit.recorded)) {
            return Ok(None);
        }
        let goes: Vec<bool> = self
            .edits
            .iter()
            .zip(&self.is_cancelled)
            .map(|(edit, cancelled)| *cancelled || mine(edit.recorded))
            .collect();
        taken_out(&self.edits, &goes)
    }

    /// Finds the groups that were undone and not redone. A group whose beginning is not among the edits leads to another
    /// change than the recorded one: it and its undo then count as ordinary edits.
    fn cancel(&mut self) {
        let mut pairs: Vec<(usize, Vec<usize>)> = Vec::new();
        for undoer in 0..self.edits.len() {
            let Some(target) = self.edits[undoer].recorded.envelope.undoes.clone() else { continue };
            // To undo an undo is to redo: its pair comes apart again.
            let is_kept = |(index, _): &&(usize, Vec<usize>)| *self.edits[*index].correlation_id() != target;
            let kept: Vec<_> = pairs.iter().filter(is_kept).cloned().collect();
            let mut goes = vec![false; self.edits.len()];
            mark(&mut goes, &kept);
            let members: Vec<usize> =
                (0..undoer).filter(|index| !goes[*index] && *self.edits[*index].correlation_id() == target).collect();
            let Some(first) = members.first().copied() else { continue };
            members.iter().for_each(|index| goes[*index] = true);
            let expected = taken_out(&self.edits[first..undoer], &goes[first..undoer]);
            if expected.is_ok_and(|change| change.as_ref() == Some(&*self.edits[undoer].change)) {
                pairs = kept;
                pairs.push((undoer, members));
            }
        }
        mark(&mut self.is_cancelled, &pairs);
    }
}

fn mark(flags: &mut [bool], pairs: &[(usize, Vec<usize>)]) {
    for (undoer, members) in pairs {
        flags[*undoer] = true;
        members.iter().for_each(|index| flags[*index] = true);
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
