//! Moves events of notebooks that nobody has changed for long from the database to objects beside the blobs, and reads them as before.

use std::sync::Arc;

use notarium_core::Millis;
use notarium_store::StoreError;

use super::Notebooks;
use crate::limits::clock::millis;

/// Level of the first release that reads events in objects.
const LEVEL_WITH_OBJECTS: u32 = 2;

/// Notebooks that one query finds.
const PAGE: usize = 100;

/// Moves them regularly until the server stops.
pub async fn follow(notebooks: Arc<Notebooks>) {
    let Some(cold_after) = notebooks.limits.cold_after else { return };
    while notebooks.stopping.run_until_cancelled(tokio::time::sleep(notebooks.limits.sweep_interval)).await.is_some() {
        // The release before does not look for events in objects.
        if notebooks.upgrade.check(LEVEL_WITH_OBJECTS).is_err() {
            continue;
        }
        let unchanged_since = notebooks.clock.now().saturating_sub(millis(cold_after));
        match notebooks.stopping.run_until_cancelled(freeze(&notebooks, unchanged_since)).await {
            Some(Ok(events)) => tracing::info!(events, "old events were moved beside the blobs"),
            Some(Err(error)) => tracing::warn!(%error, "moving old events broke off: the next goes on"),
            None => {}
        }
    }
}

/// Moves events of this node's notebooks that are not open; returns their number.
async fn freeze(notebooks: &Notebooks, unchanged_since: Millis) -> Result<u64, StoreError> {
    let (mut events, mut after) = (0, None);
    loop {
        let found = notebooks.store.cold_candidates(unchanged_since, after.as_ref(), PAGE).await?;
        let Some(last) = found.last() else { return Ok(events) };
        after = Some(last.clone());
        for notebook in notebooks.cluster.owned(found).await? {
            // The answer for the page may be minutes old.
            if !notebooks.rooms.is_open(&notebook) && notebooks.cluster.owns(&notebook).await? {
                events += notebooks.store.freeze(&notebook).await?;
            }
        }
    }
}
