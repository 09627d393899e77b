//! The server's clock: the one place where time is read, so that tests can set it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use notarium_core::Millis;

/// Where the time comes from. Cheap to clone.
#[derive(Clone)]
pub struct Clock(Arc<dyn Fn() -> Millis + Send + Sync>);

impl Clock {
    /// The machine's clock.
    pub fn system() -> Self {
        Self(Arc::new(wall))
    }

    /// A clock that stands until somebody sets the number behind it.
    pub fn manual(millis: Arc<AtomicU64>) -> Self {
        Self(Arc::new(move || millis.load(Ordering::SeqCst)))
    }

    /// Milliseconds since 1970-01-01T00:00:00Z.
    pub fn now(&self) -> Millis {
        (self.0)()
    }
}

/// The machine's clock now.
pub(crate) fn wall() -> Millis {
    millis(SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default())
}

/// A span of time as messages and events have it.
pub(crate) fn millis(duration: Duration) -> Millis {
    Millis::try_from(duration.as_millis()).unwrap_or(Millis::MAX)
}
