//! Work of a start: the list of notebooks catches up, notebooks with work open, and usage from before is counted.

use std::sync::atomic::Ordering;

use notarium_store::{CatalogEntry, CatalogQuery, StoreError};

use crate::app::App;
use crate::notebooks::erasure;
use crate::rooms::owners;

/// Notebooks with work that are opened per page at a start.
const RESUME_PAGE: usize = 500;

/// Counts usage from before the start, in the background.
pub async fn count(app: App) {
    let counted = async {
        let note = |entry: CatalogEntry| {
            app.usage.owned(&entry.notebook_id, owners(&entry));
            app.usage.placed(&entry.notebook_id, app.accounts.workspace_of(&entry.notebook_id));
        };
        app.each_listed(CatalogQuery::default(), note).await?;
        app.usage.begin_count();
        app.store.sizes().await
    };
    match counted.await {
        Ok(sizes) => sizes.into_iter().for_each(|size| app.usage.found(size)),
        Err(error) => {
            tracing::error!(%error, "what is used could not be counted: limits hold for what comes from now on")
        }
    }
}

/// Brings the list of notebooks up to date with the log, then opens notebooks with work that this node owns. Their
/// launches are offered again, and leases of runs start anew.
pub async fn resume(app: &App) -> Result<(), StoreError> {
    erasure::resume(&app.notebooks).await?;
    let caught_up = app.rooms.catch_up_catalog().await?;
    let resumed = open_with_work(app).await?;
    app.is_ready.store(true, Ordering::SeqCst);
    tracing::info!(caught_up, resumed, "what was under way is watched again");
    Ok(())
}

/// Opens notebooks with work that this node owns, as the list has them; returns their number.
pub async fn open_with_work(app: &App) -> Result<usize, StoreError> {
    let with_work = CatalogQuery { has_work: Some(true), limit: RESUME_PAGE, ..CatalogQuery::default() };
    let mut listed = Vec::new();
    app.each_listed(with_work, |entry| listed.push(entry.notebook_id)).await?;
    let owned = app.cluster.owned(listed).await?;
    for notebook in &owned {
        app.rooms.open(notebook);
    }
    Ok(owned.len())
}
