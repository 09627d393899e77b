//! Scans the record backwards for events of one type, with a limit.

use notarium_core::{NotebookId, Recorded, Version};
use notarium_store::{EventStore, StoreError};

/// Events per read of the whole record.
pub const SCAN_PAGE: usize = 2_000;
/// Limit of events of the type that one page of a list scans.
const MAX_SCANNED_EVENTS: usize = 20_000;
/// Events of the type per read: pages are seldom longer.
const TYPE_PAGE: usize = 200;

/// Passes events of the type to `visit`, backwards from the last one before `before` (`None`: the end). Stops when
/// `visit` returns true, or at the limit. Returns the `before` to go on with; `None`: there are no more.
pub async fn backwards(
    store: &dyn EventStore,
    notebook: &NotebookId,
    event_type: &str,
    mut before: Option<Version>,
    mut visit: impl FnMut(Recorded) -> bool,
) -> Result<Option<Version>, StoreError> {
    for _ in 0..MAX_SCANNED_EVENTS / TYPE_PAGE {
        let events = store.events_of_type(notebook, event_type, before, TYPE_PAGE).await?;
        for stored in &events {
            before = Some(stored.envelope.version);
            // Events that this build cannot read are skipped.
            if stored.typed().is_ok_and(&mut visit) {
                return Ok(before.filter(|version| *version > 1));
            }
        }
        if events.len() < TYPE_PAGE {
            return Ok(None);
        }
    }
    Ok(before)
}

/// Requested page of a list.
pub struct Wanted {
    /// `next` of the page before.
    pub before: Option<Version>,
    pub limit: usize,
}

impl Wanted {
    /// Limit: 1 to 200; absent: 50.
    pub fn page(before: Option<Version>, limit: Option<usize>) -> Self {
        Self { before, limit: limit.unwrap_or(50).clamp(1, 200) }
    }
}

/// Values that `pick` returns for events of one type, latest first, and the `before` to go on with.
pub async fn latest<T>(
    store: &dyn EventStore,
    notebook: &NotebookId,
    event_type: &str,
    wanted: Wanted,
    mut pick: impl FnMut(Recorded) -> Option<T>,
) -> Result<(Vec<T>, Option<Version>), StoreError> {
    let mut found = Vec::new();
    let next = backwards(store, notebook, event_type, wanted.before, |recorded| {
        found.extend(pick(recorded));
        found.len() == wanted.limit
    });
    let next = next.await?;
    Ok((found, next))
}
