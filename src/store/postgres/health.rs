//! Problems of the store that the status shows.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::commit_metrics::CommitMetrics;
use crate::store_error::StoreError;

/// Health, shared by the store and its writer.
#[derive(Debug, Default)]
pub(super) struct WriteHealth {
    is_refusing: AtomicBool,
    /// Measurements of the writer.
    pub(super) commits: CommitMetrics,
}

impl WriteHealth {
    /// Notes the result of a write; `None`: success.
    pub(super) fn written(&self, error: Option<&StoreError>) {
        let is_refusing = matches!(error, Some(StoreError::Unavailable { .. } | StoreError::Unknown { .. }));
        self.is_refusing.store(is_refusing, Ordering::Relaxed);
    }

    /// Sentences without addresses: strangers may see them, and the log has the details.
    pub(super) fn troubles(&self) -> Vec<&'static str> {
        let refused = "the last write was refused, for instance because the database is away: what is open goes on when it is back";
        self.is_refusing.load(Ordering::Relaxed).then_some(refused).into_iter().collect()
    }
}
