//! Cache of the names in the cells of recently used notebooks. Parsing 10,000 cells for every turn would cost more than
//! the rest of a turn's work here.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use notarium_core::{Document, NotebookId, is_python};

use crate::state::KnownNames;

/// Most notebooks in the cache; one of 10,000 cells takes some megabytes.
const MAX_NOTEBOOKS: usize = 8;

/// The most recently used notebook is last.
#[derive(Default)]
pub(super) struct RecentNames(Mutex<Vec<(NotebookId, Arc<KnownNames>)>>);

impl RecentNames {
    /// The names of exactly this state. Only new or changed cells are parsed.
    pub(super) fn of(&self, notebook: &Document) -> Arc<KnownNames> {
        // Removed while it is refreshed: a concurrent caller parses from scratch.
        let mut names = self.take(&notebook.notebook_id).unwrap_or_default();
        Arc::make_mut(&mut names).refresh(notebook, is_python(notebook));
        self.put(notebook.notebook_id.clone(), names.clone());
        names
    }

    fn take(&self, notebook: &NotebookId) -> Option<Arc<KnownNames>> {
        let mut kept = self.lock();
        let place = kept.iter().position(|(id, _)| id == notebook)?;
        Some(kept.remove(place).1)
    }

    fn put(&self, notebook: NotebookId, names: Arc<KnownNames>) {
        let mut kept = self.lock();
        kept.retain(|(id, _)| *id != notebook);
        if kept.len() >= MAX_NOTEBOOKS {
            kept.remove(0);
        }
        kept.push((notebook, names));
    }

    fn lock(&self) -> MutexGuard<'_, Vec<(NotebookId, Arc<KnownNames>)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_notebooks_that_were_used_last_are_kept() {
        let names = RecentNames::default();
        let notebook = |number: usize| Document::new(format!("n{number}").parse().unwrap());
        let first = names.of(&notebook(0));
        for number in 1..MAX_NOTEBOOKS {
            names.of(&notebook(number));
        }
        drop(first);
        names.of(&notebook(0));
        names.of(&notebook(MAX_NOTEBOOKS));
        let kept: Vec<String> = names.lock().iter().map(|(id, _)| id.to_string()).collect();
        assert_eq!(kept.len(), MAX_NOTEBOOKS);
        assert_eq!((kept.contains(&"n0".to_owned()), kept.contains(&"n1".to_owned())), (true, false), "{kept:?}");
    }
}
