//! Looking through the record for events of one type, so far and no farther.

use notarium_core::{NotebookId, Recorded, Version};
use notarium_store::{EventStore, StoreError};

/// Events of one reading.
pub const SCAN_PAGE: usize = 2_000;
/// Events of the type that one page of a list looks through.
const MAX_SCANNED_EVENTS: usize = 20_000;
/// Events of the type in one reading: a page is seldom longer.
const TYPE_PAGE: usize = 200;

/// Shows events of the type, from the last one before `before` (`None`: from the end) backwards, to `visit`, until that has
/// enough (it says true) or many were shown. Returns the `before` to go on with; `None`: there are no more.
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
            // What this build cannot read it cannot list.
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
    let next = backwards(store, notebook, event_type, wanted.before, |recorded| {
        found.extend(pick(recorded));
        found.len() == wanted.limit
    });
    let next = next.await?;
    Ok((found, next))
}
