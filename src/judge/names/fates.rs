//! Fates of the module's names on the ways through a cell: a name is as it was before the cell, bound, or deleted. Where ways
//! meet, a name has the fates of all of them.

use std::collections::BTreeMap;

/// The name is as it was before the cell.
pub(super) const KEPT: u8 = 1;
/// The cell has bound the name.
pub(super) const BOUND: u8 = 2;
/// The cell has deleted the name.
pub(super) const GONE: u8 = 4;

/// Names that one way through a part of the cell changes.
#[derive(Debug, Default)]
pub(super) struct Way {
    changed: BTreeMap<String, u8>,
    /// The way ends in an exception.
    is_dead: bool,
}

/// The way so far: a part inside another one stands above it.
#[derive(Debug)]
pub(super) struct Fates(Vec<Way>);

impl Default for Fates {
    fn default() -> Self {
        Self(vec![Way::default()])
    }
}

impl Fates {
    pub(super) fn of(&self, name: &str) -> u8 {
        self.0.iter().rev().find_map(|way| way.changed.get(name).copied()).unwrap_or(KEPT)
    }

    pub(super) fn set(&mut self, name: &str, fate: u8) {
        self.top().changed.insert(name.to_owned(), fate);
    }

    pub(super) fn end_way(&mut self) {
        self.top().is_dead = true;
    }

    pub(super) fn enter(&mut self) {
        self.0.push(Way::default());
    }

    /// Enters a part that begins somewhere inside another one: each change may have happened.
    pub(super) fn enter_after_some_of(&mut self, way: &Way) {
        let changed = way.changed.iter().map(|(name, fate)| (name.clone(), fate | self.of(name))).collect();
        self.0.push(Way { changed, is_dead: false });
    }

    /// Goes on where a part ended.
    pub(super) fn resume(&mut self, way: Way) {
        self.0.push(way);
    }

    pub(super) fn leave(&mut self) -> Way {
        // The outermost way is never left.
        if self.0.len() > 1 { self.0.pop().unwrap_or_default() } else { Way::default() }
    }

    /// The ways of a branch meet. `may_skip`: none of them may have been taken.
    pub(super) fn meet(&mut self, ways: Vec<Way>, may_skip: bool) {
        let alive: Vec<Way> = ways.into_iter().filter(|way| !way.is_dead).collect();
        if alive.is_empty() && !may_skip {
            return self.end_way();
        }
        let count = alive.len();
        let mut met: BTreeMap<String, (u8, usize)> = BTreeMap::new();
        for (name, fate) in alive.into_iter().flat_map(|way| way.changed) {
            let (fates, ways) = met.entry(name).or_default();
            (*fates, *ways) = (*fates | fate, *ways + 1);
        }
        for (name, (fate, ways)) in met {
            let is_on_all = ways == count && !may_skip;
            let fate = if is_on_all { fate } else { fate | self.of(&name) };
            self.set(&name, fate);
        }
    }

    /// A loop's body counts as run: what it binds is bound. What it deletes may be there.
    pub(super) fn meet_loop(&mut self, body: Way) {
        if body.is_dead {
            return;
        }
        for (name, fate) in body.changed {
            let fate = if fate == BOUND { fate } else { fate | self.of(&name) };
            self.set(&name, fate);
        }
    }

    fn top(&mut self) -> &mut Way {
        if self.0.is_empty() {
            self.0.push(Way::default());
        }
        let last = self.0.len() - 1;
        &mut self.0[last]
    }
}
