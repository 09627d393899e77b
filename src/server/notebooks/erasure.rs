//! Deletes everything of erased notebooks: rows, blobs, share links, usage. The event that says so is on disk before.

use std::sync::Arc;
use std::time::Duration;

use notarium_core::NotebookId;
use notarium_store::{BlobError, StoreError};

use super::Notebooks;

/// Pause after a failed deletion.
const RETRY: Duration = Duration::from_secs(60);

/// Reason why a deletion is not complete.
#[derive(Debug, thiserror::Error)]
pub enum ErasureError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Blobs(#[from] BlobError),
}

/// Finishes the erasures that earlier lives of the server began.
pub async fn resume(notebooks: &Notebooks) -> Result<(), StoreError> {
    for notebook in notebooks.store.unfinished_erasures().await? {
        tracing::info!(%notebook, "the erasure of a notebook goes on");
        if let Err(error) = finish(notebooks, &notebook).await {
            tracing::error!(%notebook, %error, "an erased notebook was not deleted completely: it is tried again");
            notebooks.rooms.erased.put(notebook, 0);
        }
    }
    Ok(())
}

/// Deletes what erased notebooks leave, one after the other, until the server stops.
pub async fn follow(notebooks: Arc<Notebooks>) {
    loop {
        let erased = tokio::select! {
            () = notebooks.stopping.cancelled() => return,
            erased = notebooks.rooms.erased.take() => erased.notebook,
        };
        let deleted = notebooks.stopping.run_until_cancelled(finish(&notebooks, &erased)).await;
        if let Some(Err(error)) = deleted {
            tracing::error!(notebook = %erased, %error, "an erased notebook was not deleted completely: it is tried again");
            let _ = notebooks.stopping.run_until_cancelled(tokio::time::sleep(RETRY)).await;
            notebooks.rooms.erased.put(erased, 0);
        }
    }
}

/// Deletes everything of an erased notebook. Repeats and concurrent calls change nothing.
pub async fn finish(notebooks: &Notebooks, notebook: &NotebookId) -> Result<(), ErasureError> {
    let _turn = notebooks.erasing.lock().await;
    notebooks.blobs.delete_all(notebook).await?;
    if notebooks.store.erase(notebook).await? {
        notebooks.usage.erased(notebook);
        tracing::info!(%notebook, "a notebook was erased");
    }
    Ok(())
}
