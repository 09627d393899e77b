//! Composes and maps changes. A fast mapping comes first: if two changes each touch one place, one of them mostly just
//! moves.

use super::build::{Builder, ChangeCursor};
use super::{ChangeSet, MAX_TEXT_UNITS, Section, TextError};

impl ChangeSet {
    /// Returns one change with the effect of `self` and then `next`.
    ///
    /// # Errors
    /// [`TextError::LengthMismatch`] if `next` does not start where `self` ends, [`TextError::InsideSurrogatePair`] if
    /// it cuts a pair that `self` inserts, [`TextError::TooManySections`].
    pub fn compose(&self, next: &ChangeSet) -> Result<ChangeSet, TextError> {
        next.expect_length(self.length_after())?;
        if self.is_plain_identity() {
            return Ok(next.clone());
        }
        if next.is_plain_identity() {
            return Ok(self.clone());
        }
        Composition::new(self, next).run()
    }

    /// Maps `self` over `over`, which is for the same text: the result is a change of the text to which `over` leads.
    ///
    /// The flag decides between two insertions at one place: if `before` is false, that of `over` comes first, else
    /// that of `self`. `a.compose(b.map(a, false))` and `b.compose(a.map(b, true))` lead to the same text.
    ///
    /// # Errors
    /// [`TextError::LengthMismatch`] if the two are for texts of different lengths, [`TextError::TooManySections`] or
    /// [`TextError::TooLong`] if the result exceeds a limit.
    pub fn map(&self, over: &ChangeSet, before: bool) -> Result<ChangeSet, TextError> {
        over.expect_length(self.length_before())?;
        if over.is_plain_identity() {
            return Ok(self.clone());
        }
        Mapping::new(self, over, before).run()
    }
}

/// Unreachable, because the lengths were compared before. It is returned all the same, so that no input can panic or
/// loop.
fn mismatch(first: &ChangeCursor<'_>, second: &ChangeCursor<'_>) -> TextError {
    TextError::LengthMismatch { expected: first.length, actual: second.length }
}

struct Composition<'a> {
    first: ChangeCursor<'a>,
    second: ChangeCursor<'a>,
    result: Builder,
    /// The last section of `result` continues with the next piece.
    open: bool,
    /// Offset in the text between the two changes.
    offset: usize,
}

impl<'a> Composition<'a> {
    fn new(first: &'a ChangeSet, second: &'a ChangeSet) -> Self {
        let (first, second) = (ChangeCursor::new(first), ChangeCursor::new(second));
        Self { first, second, result: Builder::default(), open: false, offset: 0 }
    }

    fn run(mut self) -> Result<ChangeSet, TextError> {
        loop {
            if self.first.is_done() && self.second.is_done() {
                return self.result.finish();
            } else if self.first.is_change() && self.first.insert_length == 0 {
                self.result.replace_joined(self.first.length, "", 0, self.open);
                self.first.next();
            } else if self.second.length == 0 && !self.second.is_done() {
                self.result.replace_joined(0, self.second.text(), self.second.insert_length, self.open);
                self.second.next();
            } else if self.first.is_done() || self.second.is_done() {
                return Err(mismatch(&self.first, &self.second));
            } else {
                self.piece()?;
            }
        }
    }

    /// Takes the next stretch of the text between the changes that is of one kind in both changes.
    fn piece(&mut self) -> Result<(), TextError> {
        let keeps = self.first.is_keep();
        let left = if keeps { self.first.length } else { self.first.insert_length };
        let length = left.min(self.second.length);
        let open = self.open;
        let sections = self.result.section_count();
        if keeps {
            self.second_on_kept(length);
            self.first.advance(length);
        } else {
            let end = self.offset + length;
            let piece = self.first.insert_piece(length).ok_or(TextError::InsideSurrogatePair { offset: end })?;
            self.second_on_inserted(piece, length);
            self.first.take_insert(piece.len(), length);
        }
        let unfinished = (!keeps && left > length) || (self.second.is_change() && self.second.length > length);
        self.open = unfinished && (open || self.result.section_count() > sections);
        self.second.advance(length);
        self.offset += length;
        Ok(())
    }

    fn second_on_kept(&mut self, length: usize) {
        if self.second.is_keep() {
            self.result.keep(length);
        } else {
            let (text, text_length) = self.unwritten_replacement();
            self.result.replace_joined(length, text, text_length, self.open);
        }
    }

    fn second_on_inserted(&mut self, piece: &str, length: usize) {
        let deleted = if self.first.started { 0 } else { self.first.length };
        let (text, text_length) = if self.second.is_keep() { (piece, length) } else { self.unwritten_replacement() };
        self.result.replace_joined(deleted, text, text_length, self.open);
    }

    /// Insertion of the second change here, unless an earlier piece of the same section has written it.
    fn unwritten_replacement(&self) -> (&'a str, usize) {
        if self.second.started { ("", 0) } else { (self.second.text(), self.second.insert_length) }
    }
}

struct Mapping<'a> {
    change: ChangeCursor<'a>,
    over: ChangeCursor<'a>,
    before: bool,
    result: Builder,
    /// The section of `change` whose insertion is already in `result`, if the section is taken piece by piece.
    inserted: Option<usize>,
}

impl<'a> Mapping<'a> {
    fn new(change: &'a ChangeSet, over: &'a ChangeSet, before: bool) -> Self {
        let (change, over) = (ChangeCursor::new(change), ChangeCursor::new(over));
        Self { change, over, before, result: Builder::default(), inserted: None }
    }

    fn run(mut self) -> Result<ChangeSet, TextError> {
        loop {
            if self.change.is_keep() && self.over.is_keep() {
                let length = self.change.length.min(self.over.length);
                self.result.keep(length);
                self.change.advance(length);
                self.over.advance(length);
            } else if self.over_comes_first() {
                self.consume_section()?;
            } else if self.change.is_change() {
                self.take_change();
            } else if self.change.is_done() && self.over.is_done() {
                return self.result.finish();
            } else {
                return Err(mismatch(&self.change, &self.over));
            }
        }
    }

    /// Orders changes by their start, then by length, then by `before`.
    fn over_comes_first(&self) -> bool {
        self.over.is_change() && (!self.change.is_change() || self.has_inserted() || self.over_is_shorter())
    }

    fn over_is_shorter(&self) -> bool {
        let (over, change) = (self.over.length, self.change.length);
        !self.change.started && (over < change || over == change && !self.before)
    }

    fn has_inserted(&self) -> bool {
        self.inserted == Some(self.change.index())
    }

    /// Passes the current section of `over`, with all that `change` does to the units that the section deletes.
    fn consume_section(&mut self) -> Result<(), TextError> {
        self.result.keep(self.over.insert_length);
        let mut left = self.over.length;
        while left > 0 {
            if self.change.is_done() {
                return Err(mismatch(&self.change, &self.over));
            }
            let piece = self.change.length.min(left);
            if self.change.is_change() && !self.has_inserted() && self.change.length <= piece {
                self.write_insertion(0);
            }
            self.change.advance(piece);
            left -= piece;
        }
        self.over.next();
        Ok(())
    }

    /// Takes the current section of `change` up to the next insertion of `over` within it.
    fn take_change(&mut self) {
        let mut left = self.change.length;
        let mut still_there = 0;
        while left > 0 {
            if self.over.is_keep() {
                let piece = left.min(self.over.length);
                still_there += piece;
                left -= piece;
                self.over.advance(piece);
            } else if self.over.is_change() && self.over.insert_length == 0 && self.over.length < left {
                left -= self.over.length;
                self.over.next();
            } else {
                break;
            }
        }
        self.write_insertion(still_there);
        self.change.advance(self.change.length - left);
    }

    /// Deletes `length` units, and inserts the text of the current section of `change` unless that is done.
    fn write_insertion(&mut self, length: usize) {
        let (text, text_length) =
            if self.has_inserted() { ("", 0) } else { (self.change.text(), self.change.insert_length) };
        self.result.replace(length, text, text_length);
        self.inserted = Some(self.change.index());
    }
}

/// The only place that a change touches, with the lengths that it keeps before and after.
struct TouchedPlace {
    before: usize,
    length: usize,
    insert_length: usize,
    after: usize,
}

impl TouchedPlace {
    /// Returns `None` if the change touches no place, or several, or is not in normal form.
    fn of(change: &ChangeSet) -> Option<Self> {
        let kept = |section: &Section| section.insert.is_none().then_some(section.length);
        let (before, touched, after) = match change.sections.as_slice() {
            [touched] => (0, touched, 0),
            [first, second] => match kept(first) {
                Some(before) => (before, second, 0),
                None => (0, first, kept(second)?),
            },
            [first, touched, last] => (kept(first)?, touched, kept(last)?),
            _ => return None,
        };
        touched.insert.as_ref()?;
        Some(Self { before, length: touched.length, insert_length: touched.insert_length, after })
    }

    fn end(&self) -> usize {
        self.before + self.length
    }

    /// Returns the kept lengths before and after the place once `over` is applied. `None`: the places touch each other,
    /// and [`ChangeSet::map`] must do it.
    fn moved(&self, over: &TouchedPlace) -> Option<(usize, usize)> {
        let both_insert = self.length == 0 && over.length == 0 && self.before == over.before;
        if both_insert || over.end() < self.before {
            Some((self.before - over.length + over.insert_length, self.after))
        } else if over.before > self.end() {
            Some((self.before, self.after - over.length + over.insert_length))
        } else {
            None
        }
    }
}

impl ChangeSet {
    /// Maps the change over each of `overs` in sequence, as [`ChangeSet::map`] with `before` false. Of two insertions
    /// at one place this one's then comes second. Their composition is never used: it puts some insertions elsewhere,
    /// and clients map over one event after the other.
    ///
    /// # Errors
    /// The errors of [`ChangeSet::map`].
    pub fn map_over_all<'a>(mut self, overs: impl IntoIterator<Item = &'a ChangeSet>) -> Result<ChangeSet, TextError> {
        for over in overs {
            if !self.shift(over) {
                self = self.map(over, false)?;
            }
        }
        Ok(self)
    }

    /// Maps the change in place if that is possible; returns true if so.
    fn shift(&mut self, over: &ChangeSet) -> bool {
        let (Some(place), Some(other)) = (TouchedPlace::of(self), TouchedPlace::of(over)) else { return false };
        let fits = place.end() + place.after == other.end() + other.after;
        let Some((before, after)) = place.moved(&other).filter(|_| fits) else { return false };
        if before + place.length.max(place.insert_length) + after > MAX_TEXT_UNITS {
            return false;
        }
        let touched = self.sections.swap_remove(usize::from(place.before > 0));
        self.sections.clear();
        let keep = |length: usize| Section { length, insert: None, insert_length: 0 };
        self.sections.extend((before > 0).then(|| keep(before)));
        self.sections.push(touched);
        self.sections.extend((after > 0).then(|| keep(after)));
        true
    }
}
