//! A notebook as the server holds it: the document, which all replicas have, and the ledger, which only the server has.

pub mod lifecycle;
pub mod seal;

use crate::ledger::Ledger;
use notarium_record::{Document, NotebookId, Recorded};
use serde::{Deserialize, Serialize};
use std::ops::Deref;
use std::sync::Arc;

/// Document and ledger of a notebook. Dereferences to the document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Notebook {
    /// State that every client shows and reproduces.
    pub document: Arc<Document>,
    /// State that only `decide` needs.
    pub ledger: Ledger,
}

impl Notebook {
    /// A notebook before its first event.
    pub fn new(notebook_id: NotebookId) -> Self {
        Self { document: Arc::new(Document::new(notebook_id)), ledger: Ledger::default() }
    }

    /// Folds one event into both. A version that was applied already changes nothing.
    pub fn apply(&mut self, recorded: &Recorded) {
        if recorded.envelope.version > self.document.version {
            Arc::make_mut(&mut self.document).apply(recorded);
            self.ledger.apply(&self.document, recorded);
        }
    }
}

impl Deref for Notebook {
    type Target = Document;

    fn deref(&self) -> &Document {
        &self.document
    }
}
