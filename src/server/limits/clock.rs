//! The server's clock: the only place that reads the time, so that tests can set it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use notarium_core::Millis;

/// Source of the time. Cheap to clone.
#[derive(Clone)]
pub struct Clock(Arc<dyn Fn() -> Millis + Send + Sync>);

impl Clock {
    /// The machine's clock.
    pub fn system() -> Self {
        Self(Arc::new(wall))
    }

    /// A clock that shows the number in `millis`, until it is changed.
    pub fn manual(millis: Arc<AtomicU64>) -> Self {
        Self(Arc::new(move || millis.load(Ordering::SeqCst)))
    }

    /// Milliseconds since 1970-01-01T00:00:00Z.
    pub fn now(&self) -> Millis {
        (self.0)()
    }
}

/// The machine's time now.
pub(crate) fn wall() -> Millis {
    millis(SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default())
}

/// Duration as messages and events have it, in milliseconds.
pub(crate) fn millis(duration: Duration) -> Millis {
    Millis::try_from(duration.as_millis()).unwrap_or(Millis::MAX)
}
