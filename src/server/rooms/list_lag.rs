//! Read-your-writes for the notebook list: which catalog rows lag, and whose changes they miss.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};

use dashmap::DashMap;
use futures_util::FutureExt;
use futures_util::future::{BoxFuture, Shared};
use notarium_core::{Actor, NotebookId};

/// Resolves at the end of a write of a catalog row.
pub type Writing = Shared<BoxFuture<'static, ()>>;

/// Notebooks whose catalog rows lag.
#[derive(Default)]
pub struct ListLag {
    notebooks: DashMap<NotebookId, Line>,
    /// Logical clock that orders changes and writes.
    moments: AtomicU64,
}

#[derive(Default)]
struct Line {
    /// Moment of the last change per author that the row misses.
    authors: BTreeMap<String, u64>,
    /// The last write that began, and its moment.
    writing: Option<(u64, Writing)>,
}

impl ListLag {
    /// Records that the row misses changes of these actors.
    pub fn note(&self, notebook: &NotebookId, actors: &[Actor]) {
        let moment = self.moment();
        let mut line = self.notebooks.entry(notebook.clone()).or_default();
        line.authors.extend(actors.iter().map(|actor| (person(actor), moment)));
    }

    /// Begins a write of the row, with all changes noted up to now. `write` gets the moment to pass to [`Self::wrote`].
    pub fn write(&self, notebook: &NotebookId, write: impl FnOnce(u64) -> BoxFuture<'static, ()>) {
        // The entry stays locked, so a write that ends early waits for it in `wrote`.
        let mut line = self.notebooks.entry(notebook.clone()).or_default();
        let moment = self.moment();
        line.writing = Some((moment, write(moment).shared()));
    }

    /// Records the end of the write that began at this moment.
    pub fn wrote(&self, notebook: &NotebookId, moment: u64) {
        self.notebooks.remove_if_mut(notebook, |_, line| {
            line.authors.retain(|_, noted| *noted > moment);
            line.writing.take_if(|(began, _)| *began == moment);
            line.authors.is_empty() && line.writing.is_none()
        });
    }

    /// Notebooks whose rows miss changes of this actor.
    pub fn of(&self, actor: &Actor) -> Vec<NotebookId> {
        let person = person(actor);
        let lacking = self.notebooks.iter().filter(|line| line.authors.contains_key(&person));
        lacking.map(|line| line.key().clone()).collect()
    }

    /// The write in progress, if any.
    pub fn writing(&self, notebook: &NotebookId) -> Option<Writing> {
        self.notebooks.get(notebook)?.writing.as_ref().map(|(_, writing)| writing.clone())
    }

    fn moment(&self) -> u64 {
        self.moments.fetch_add(1, Ordering::SeqCst)
    }
}

/// Key of the actor; an assistant counts as its person.
fn person(actor: &Actor) -> String {
    match actor {
        Actor::Assistant { for_user: id, .. } => Actor::User { id: id.clone() }.key(),
        actor => actor.key(),
    }
}
