//! Retention by age, as the operator sets it: large outputs and snapshots that are older are removed. Events never are.
//!
//! Invariants: a blob that the notebook shows now stays, whatever its age. What is removed is noted with its time before, so that readers are told
//! and nobody takes it for damage.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use futures_util::TryStreamExt;
use notarium_core::{Hash, Millis, NotebookId};
use notarium_store::blobs::{BlobEntry, named_in};

use super::Notebooks;
use crate::blobs::sweep::SweepError;
use crate::limits::RetentionAges;
use crate::limits::clock::millis;

/// Things that were removed, or would be.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RetentionCount {
    pub blobs: u64,
    pub blob_bytes: u64,
    pub snapshots: u64,
}

/// Removes regularly until the server stops.
pub async fn follow(notebooks: Arc<Notebooks>) {
    let ages = notebooks.limits.retention;
    if ages == RetentionAges::default() {
        return;
    }
    while notebooks.stopping.run_until_cancelled(tokio::time::sleep(notebooks.limits.sweep_interval)).await.is_some() {
        match notebooks.stopping.run_until_cancelled(retain(&notebooks, ages, false)).await {
            Some(Ok(RetentionCount { blobs, blob_bytes, snapshots })) => {
                tracing::info!(blobs, blob_bytes, snapshots, "old outputs and snapshots were removed");
            }
            Some(Err(error)) => tracing::warn!(%error, "the removal of old outputs broke off: the next goes on"),
            None => {}
        }
    }
}

/// Removes what is older than the ages allow; `is_dry`: counts it only.
pub async fn retain(notebooks: &Notebooks, ages: RetentionAges, is_dry: bool) -> Result<RetentionCount, SweepError> {
    let before = |age: Duration| notebooks.clock.now().saturating_sub(millis(age));
    let mut count = RetentionCount::default();
    if let Some(age) = ages.snapshots {
        count.snapshots = notebooks.store.retire_snapshots(before(age), is_dry).await?;
    }
    let Some(age) = ages.blobs else { return Ok(count) };
    for notebook in notebooks.blobs.notebooks().await? {
        if notebooks.cluster.owns(&notebook).await? {
            retain_blobs(notebooks, &notebook, before(age), is_dry, &mut count).await?;
        }
    }
    Ok(count)
}

async fn retain_blobs(
    notebooks: &Notebooks,
    notebook: &NotebookId,
    before: Millis,
    is_dry: bool,
    count: &mut RetentionCount,
) -> Result<(), SweepError> {
    let blobs = &notebooks.blobs;
    let listed = blobs.list(notebook).try_filter(|blob| std::future::ready(blob.stored_at < before));
    let old: Vec<BlobEntry> = listed.try_collect().await?;
    if old.is_empty() {
        return Ok(());
    }
    // A notebook that does not load keeps what it has.
    let Some(shown) = shown(notebooks, notebook).await else { return Ok(()) };
    for blob in old.into_iter().filter(|blob| !shown.contains(&blob.sha256)) {
        // Another node knows of claims that this one does not.
        notebooks.cluster.forget(notebook);
        if !notebooks.cluster.owns(notebook).await? {
            break;
        }
        if is_dry || remove(notebooks, notebook, &blob).await? {
            count.blobs += 1;
            count.blob_bytes += blob.size_bytes;
        }
    }
    Ok(())
}

/// Blobs that the notebook shows now.
async fn shown(notebooks: &Notebooks, notebook: &NotebookId) -> Option<BTreeSet<Hash>> {
    let state = notebooks.read_by_server(notebook).await.ok()?;
    let text = serde_json::to_string(&*state.notebook).ok()?;
    Some(named_in(&text).into_iter().collect())
}

/// Notes the removal, then removes; returns false if the blob was claimed or stored again meanwhile.
async fn remove(notebooks: &Notebooks, notebook: &NotebookId, blob: &BlobEntry) -> Result<bool, SweepError> {
    let (store, blobs) = (&notebooks.store, &notebooks.blobs);
    let record = store.blob_record(notebook, &blob.sha256).await?;
    store.retire_blob(notebook, &blob.sha256, notebooks.clock.now()).await?;
    if blobs.claims.remove(blobs, notebook, blob).await? {
        notebooks.usage.removed(notebook, blob.size_bytes);
        return Ok(true);
    }
    if let Some(record) = record {
        store.put_blob_record(record).await?;
    }
    Ok(false)
}
