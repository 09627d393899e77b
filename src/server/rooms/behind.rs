//! What the list of notebooks lacks, and whose changes that are: who looks at the list sees at once what they did themselves.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};

use dashmap::DashMap;
use futures_util::FutureExt;
use futures_util::future::{BoxFuture, Shared};
use notarium_core::{Actor, NotebookId};

/// Ends with a write of a line of the list.
pub type Writing = Shared<BoxFuture<'static, ()>>;

/// The notebooks whose lines are behind.
#[derive(Default)]
pub struct Behind {
    notebooks: DashMap<NotebookId, Line>,
    /// Orders changes and writes.
    moments: AtomicU64,
}

#[derive(Default)]
struct Line {
    /// Since when the line lacks changes of somebody.
    authors: BTreeMap<String, u64>,
    /// The last write that began.
    writing: Option<(u64, Writing)>,
}

impl Behind {
    /// The line lacks changes of these.
    pub fn note(&self, notebook: &NotebookId, actors: &[Actor]) {
        let moment = self.moment();
        let mut line = self.notebooks.entry(notebook.clone()).or_default();
        line.authors.extend(actors.iter().map(|actor| (person(actor), moment)));
    }

    /// A write of the line begins, with all that was noted up to now. `write` is given the moment for [`Self::wrote`].
    pub fn write(&self, notebook: &NotebookId, write: impl FnOnce(u64) -> BoxFuture<'static, ()>) {
        // The write may end before this does: it finds the line.
        let mut line = self.notebooks.entry(notebook.clone()).or_default();
        let moment = self.moment();
        line.writing = Some((moment, write(moment).shared()));
    }

    /// The write that began at this moment is over.
    pub fn wrote(&self, notebook: &NotebookId, moment: u64) {
        self.notebooks.remove_if_mut(notebook, |_, line| {
            line.authors.retain(|_, noted| *noted > moment);
            line.writing.take_if(|(began, _)| *began == moment);
            line.authors.is_empty() && line.writing.is_none()
        });
    }

    /// The notebooks whose lines lack changes that somebody made.
    pub fn of(&self, actor: &Actor) -> Vec<NotebookId> {
        let person = person(actor);
        let lacking = self.notebooks.iter().filter(|line| line.authors.contains_key(&person));
        lacking.map(|line| line.key().clone()).collect()
    }

    /// The write that is under way.
    pub fn writing(&self, notebook: &NotebookId) -> Option<Writing> {
        self.notebooks.get(notebook)?.writing.as_ref().map(|(_, writing)| writing.clone())
    }

    fn moment(&self) -> u64 {
        self.moments.fetch_add(1, Ordering::SeqCst)
    }
}

/// What an assistant did, its person did.
fn person(actor: &Actor) -> String {
    match actor {
        Actor::Assistant { for_user: id, .. } => Actor::User { id: id.clone() }.key(),
        actor => actor.key(),
    }
}
