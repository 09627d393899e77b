//! Fast mapping: if two changes each touch one place, one of them mostly just moves.

use super::{ChangeSet, MAX_TEXT_UNITS, Section, TextError};

/// The only place that a change touches, with the lengths that it keeps before and after.
struct Place {
    before: usize,
    length: usize,
    insert_length: usize,
    after: usize,
}

impl Place {
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
    fn moved(&self, over: &Place) -> Option<(usize, usize)> {
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
        let (Some(place), Some(other)) = (Place::of(self), Place::of(over)) else { return false };
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
