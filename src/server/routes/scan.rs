//! Looking through the record for what it holds here and there, so far and no farther.

use notarium_core::{NotebookId, Recorded, Stored, Version};
use notarium_store::{EventStore, StoreError};

/// Events that one page of a list looks through.
pub const MAX_SCANNED_EVENTS: usize = 20_000;
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

/// The page of a list that is asked for.
pub struct Wanted {
    /// `next` of the page before.
    pub before: Option<Version>,
    pub limit: usize,
}

impl Wanted {
    /// 1 to 200; absent: 50.
    pub fn page(before: Option<Version>, limit: Option<usize>) -> Self {
        Self { before, limit: limit.unwrap_or(50).clamp(1, 200) }
    }
}

/// What `pick` takes of the events of one type, the latest first, and where to go on.
pub async fn latest<T>(
    store: &dyn EventStore,
    notebook: &NotebookId,
    event_type: &str,
    wanted: Wanted,
    mut pick: impl FnMut(Recorded) -> Option<T>,
) -> Result<(Vec<T>, Option<Version>), StoreError> {
    let mut found = Vec::new();
    let next = backwards(store, notebook, wanted.before, MAX_SCANNED_EVENTS, |stored| {
        if stored.envelope.event_type == event_type {
            found.extend(stored.typed().ok().and_then(&mut pick));
        }
        found.len() == wanted.limit
    });
    let next = next.await?;
    Ok((found, next))
}
