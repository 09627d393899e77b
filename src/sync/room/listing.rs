//! Catalog line of the notebook: written some time after an edit, or immediately if an author of the changes reads the list.

use std::collections::BTreeSet;

use notarium_core::{Actor, Millis};

use super::batch::Effects;
use super::{Cycle, Room};
use crate::io::Output;
use crate::room::queue::Pending;
use crate::submission::Caller;

/// Schedule of the line.
#[derive(Debug, Default)]
pub(super) struct Listing {
    pub(super) at: Option<Millis>,
    /// Actor keys of authors whose changes the line lacks.
    authors: BTreeSet<String>,
    /// Callers that wait for the line.
    callers: Vec<Caller<()>>,
}

impl Listing {
    pub(super) fn is_waited_for(&self) -> bool {
        !self.callers.is_empty()
    }
}

impl Room {
    /// Reports the authors whose changes the list lacks, before their commands are acked.
    pub(super) fn note_authors<'a>(
        &mut self,
        cycle: &mut Cycle,
        effects: &Effects,
        commands: impl Iterator<Item = &'a Pending>,
    ) {
        if !effects.catalog_now && !effects.catalog_later {
            return;
        }
        let mut actors: Vec<Actor> = Vec::new();
        for pending in commands {
            if !self.listing.authors.contains(&pending.actor) {
                self.listing.authors.insert(pending.actor.clone());
                actors.push(pending.identity().actor.clone());
            }
        }
        if !actors.is_empty() {
            cycle.out.push(Output::ListLacks { actors });
        }
    }

    pub(super) fn list_after(&mut self, now: Millis, effects: &Effects) {
        if effects.catalog_now {
            self.listing.at = Some(now);
        } else if effects.catalog_later {
            self.listing.at.get_or_insert(now + self.config.catalog_delay_ms);
        }
    }

    pub(super) fn take_list(&mut self, now: Millis, caller: Caller<()>) {
        self.listing.at = self.listing.at.map(|_| now);
        self.listing.callers.push(caller);
    }

    /// Writes the line if it is due. Call it only while the state is on disk.
    pub(super) fn list_when_due(&mut self, cycle: &mut Cycle) {
        if self.listing.at.is_some_and(|at| at <= cycle.now) {
            self.list_now(cycle);
        }
        self.answer_lists(cycle);
    }

    /// Writes the line if it lacks changes.
    pub(super) fn list_at_the_end(&mut self, cycle: &mut Cycle) {
        if self.listing.at.is_some() {
            self.list_now(cycle);
        }
    }

    fn list_now(&mut self, cycle: &mut Cycle) {
        self.listing.at = None;
        self.listing.authors.clear();
        cycle.out.push(Output::UpdateCatalog { notebook: self.state.clone() });
    }

    pub(super) fn answer_lists(&mut self, cycle: &mut Cycle) {
        cycle.out.extend(self.listing.callers.drain(..).map(|caller| Output::Listed { caller }));
    }
}
