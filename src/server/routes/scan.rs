//! Looking through the record for what it holds here and there, so far and no farther.

use notarium_core::{NotebookId, Stored, Version};
use notarium_store::{EventStore, StoreError};

/// Events of one reading.
pub const SCAN_PAGE: usize = 2_000;

/// Shows events from the last one before `before` (`None`: from the end) backwards to `visit`, until that has enough
/// (it says true), the record begins, or about `max_events` were shown. Returns the `before` to go on with; `None`: the
/// record has begun.
pub async fn backwards(
    store: &dyn EventStore,
    notebook: &NotebookId,
    mut before: Option<Version>,
    max_events: usize,
    mut visit: impl FnMut(&Stored) -> bool,
) -> Result<Option<Version>, StoreError> {
    let mut scanned = 0;
    while scanned < max_events {
        let events = store.read_backwards(notebook, before, SCAN_PAGE).await?;
        for stored in &events {
            before = Some(stored.envelope.version);
            if visit(stored) {
                return Ok(before.filter(|version| *version > 1));
            }
        }
        if events.len() < SCAN_PAGE {
            return Ok(None);
        }
        scanned += events.len();
    }
    Ok(before)
}
