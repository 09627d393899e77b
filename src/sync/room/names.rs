//! Names in the cells of a reactive notebook: analysed off the room's task, and complete before a run is planned.

use std::sync::Arc;

use notarium_core::reactive::{CodeNames, CodeText, KnownNames, needs_names};
use notarium_core::{Command, Reactivity, Version};

use super::{Cycle, Phase, Room};
use crate::io::Output;
use crate::room::queue::Pending;

/// Maximum number and bytes of texts in one question.
const MAX_TEXTS: usize = 500;
const MAX_BYTES: usize = 4 << 20;

/// Known names, and the state of the analysis.
#[derive(Debug, Default)]
pub(super) struct Names {
    pub(in crate::room) known: Arc<KnownNames>,
    is_asked: bool,
    /// True if a command waits for the answer.
    is_holding: bool,
    /// Version up to which all names were requested.
    seen: Version,
}

impl Room {
    /// Returns true if the decision needs names that are not known.
    pub(super) fn lacks_names(&mut self, cycle: &Cycle, pending: &Pending, command: &Command) -> bool {
        self.read_only.is_none()
            && needs_names(&self.state, command)
            && self.role(cycle.now, pending.identity()).is_some()
            && !self.names.known.is_complete(&self.state)
            // Moved or deleted cells need no analysis, only a refresh.
            && !Arc::make_mut(&mut self.names.known).refresh(&self.state).is_empty()
    }

    /// Returns the names for the decision of a command, if it needs them.
    pub(super) fn names_for(&self, command: &Command) -> Option<Arc<KnownNames>> {
        needs_names(&self.state, command).then(|| self.names.known.clone())
    }

    /// Puts the command back at the front until the names are known. No other command is decided before it, so the plan uses the cells of
    /// one version.
    pub(super) fn hold_for_names(&mut self, cycle: &mut Cycle, is_first: bool, pending: Pending) {
        if is_first {
            self.phase = Phase::Reading;
            self.names.is_holding = true;
            self.ask_for_names(cycle);
        }
        self.queue.push_front(pending);
    }

    fn ask_for_names(&mut self, cycle: &mut Cycle) {
        if self.names.is_asked {
            return;
        }
        let mut texts = Arc::make_mut(&mut self.names.known).refresh(&self.state);
        let mut bytes = 0;
        let few = texts.iter().take(MAX_TEXTS).take_while(|text| {
            let is_next = bytes == 0 || bytes + text.source.len() <= MAX_BYTES;
            bytes += text.source.len().max(1);
            is_next
        });
        let few = few.count();
        texts.truncate(few);
        if texts.is_empty() {
            self.names.seen = self.state.version;
        } else {
            self.names.is_asked = true;
            cycle.out.push(Output::ReadNames { texts });
        }
    }

    pub(super) fn take_names(&mut self, names: &[(CodeText, Option<CodeNames>)]) {
        let known = Arc::make_mut(&mut self.names.known);
        for (text, names) in names {
            known.learn(&text.cell_id, text.source_version, names.as_ref());
        }
        self.names.is_asked = false;
        if std::mem::take(&mut self.names.is_holding) && matches!(self.phase, Phase::Reading) {
            self.phase = Phase::Live;
        }
    }

    /// Requests names before a run needs them.
    pub(super) fn look_ahead_for_names(&mut self, cycle: &mut Cycle) {
        let is_wanted = self.state.reactivity != Reactivity::Off && self.names.seen != self.state.version;
        if is_wanted && matches!(self.phase, Phase::Live) && self.read_only.is_none() {
            self.ask_for_names(cycle);
        }
    }
}
