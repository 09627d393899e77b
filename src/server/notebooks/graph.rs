//! The dependency graph of a notebook, for people and assistants.

use std::sync::Arc;

use notarium_core::is_python;
use notarium_core::reactive::{KnownNames, NotebookGraph, notebook_graph};
use tokio::task::JoinError;

use crate::rooms::{ReadState, Rooms};

/// Graph of the notebook as it was read; texts whose names the room has not yet are read for it.
pub async fn graph_of(rooms: &Rooms, now: ReadState) -> Result<NotebookGraph, JoinError> {
    let notebook = now.notebook;
    let mut names = KnownNames::default();
    if is_python(&notebook) {
        names = KnownNames::clone(&now.names);
        let texts = names.refresh(&notebook);
        for (text, found) in rooms.names().read_all(texts).await {
            names.learn(&text.cell_id, text.source_version, found.as_ref());
        }
    }
    let kernel = now.kernel_variables;
    tokio::task::spawn_blocking(move || notebook_graph(&notebook, &kernel, Arc::new(names))).await
}
