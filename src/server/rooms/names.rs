//! Reads the names that cells use and define, off the rooms' tasks; cached by the hash of the text.

use std::sync::Arc;

use notarium_core::reactive::{CodeNames, CodeText};
use notarium_judge::{CellNames, cell_names, sql_cell_names};
use sha2::{Digest, Sha256};

use crate::rooms::memo::Memo;

type Key = [u8; 32];

/// Reads texts for all rooms. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct Names(Arc<Memo<Key, Option<Arc<CodeNames>>>>);

impl Names {
    /// Names of each text, in order. `None`: the text does not parse, or reading it failed.
    pub async fn read_all(self, texts: Vec<CodeText>) -> Vec<(CodeText, Option<CodeNames>)> {
        let unread: Vec<CodeText> = texts.clone();
        let read = tokio::task::spawn_blocking(move || texts.into_iter().map(|text| self.read(text)).collect());
        read.await.unwrap_or_else(|error| {
            tracing::error!(%error, "names could not be read: the cells count as texts that do not parse");
            unread.into_iter().map(|text| (text, None)).collect()
        })
    }

    fn read(&self, text: CodeText) -> (CodeText, Option<CodeNames>) {
        let key = Sha256::new().chain_update([u8::from(text.is_query)]).chain_update(&text.source).finalize().into();
        let names = self.0.get(&key).unwrap_or_else(|| {
            let names = if text.is_query { Some(sql_cell_names(&text.source)) } else { cell_names(&text.source) };
            let names = names.map(|names| Arc::new(of_core(names)));
            self.0.keep(key, names.clone());
            names
        });
        (text, names.map(|names| CodeNames::clone(&names)))
    }
}

fn of_core(names: CellNames) -> CodeNames {
    let CellNames { reads, leaves, imported, has_star, .. } = names;
    CodeNames { reads, leaves, imported, has_star }
}
