//! Back-off after a fault of the program ended a notebook's room.

use std::time::{Duration, Instant};

use dashmap::DashMap;
use notarium_core::NotebookId;

const FIRST_PAUSE: Duration = Duration::from_millis(100);
/// Upper bound, because a server that stops waits for the pause.
const MAX_PAUSE: Duration = Duration::from_secs(5);
/// Time without a fault after which the pause is reset.
const FORGOTTEN_AFTER: Duration = Duration::from_secs(60);

/// The last fault of each notebook that had one, and the pause after it.
#[derive(Debug, Default)]
pub(super) struct Faults(DashMap<NotebookId, (Instant, Duration)>);

impl Faults {
    /// Notes a fault; returns the pause before the next room.
    pub(super) fn add(&self, notebook: &NotebookId) -> Duration {
        self.0.retain(|_, (at, _)| at.elapsed() < FORGOTTEN_AFTER);
        let before = self.0.get(notebook).map(|last| last.1);
        let pause = before.map_or(FIRST_PAUSE, |before| (before * 2).min(MAX_PAUSE));
        self.0.insert(notebook.clone(), (Instant::now(), pause));
        pause
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_fault_doubles_the_pause_up_to_a_bound() {
        let faults = Faults::default();
        let notebook: NotebookId = "nb".parse().unwrap();
        let pauses: Vec<u128> = (0..8).map(|_| faults.add(&notebook).as_millis()).collect();
        assert_eq!(pauses, [100, 200, 400, 800, 1600, 3200, 5000, 5000]);
        assert_eq!(faults.add(&"other".parse().unwrap()), FIRST_PAUSE);
    }
}
