//! Difference between this machine's clock and the store's, as the last beat found it.

use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use notarium_store::{LivingNodes, Node, NodeStore, StoreError};

/// Stands for a difference that is not known yet.
const UNKNOWN: i64 = i64::MAX;

/// The store's clock, seen from this machine.
#[derive(Debug)]
pub struct StoreClock(AtomicI64);

impl Default for StoreClock {
    fn default() -> Self {
        Self(AtomicI64::new(UNKNOWN))
    }
}

impl StoreClock {
    /// Beats, and compares the clocks.
    pub async fn beat(&self, nodes: &dyn NodeStore, own: &Node) -> Result<LivingNodes, StoreError> {
        let before = wall();
        let living = nodes.beat(own).await?;
        // The store has read its clock between the two, at best in the middle.
        let middle = before + (wall() - before) / 2;
        self.0.store(middle - i64::try_from(living.now).unwrap_or_default(), Ordering::Relaxed);
        Ok(living)
    }

    /// The store's time in seconds since 1970; until it is known, this machine's.
    pub fn seconds(&self) -> u64 {
        u64::try_from((wall() - self.ahead().unwrap_or(0)) / 1_000).unwrap_or_default()
    }

    /// A clock of a machine that is ahead by so many milliseconds.
    #[cfg(test)]
    pub fn of_machine_ahead(by: i64) -> Self {
        Self(AtomicI64::new(by))
    }

    /// Milliseconds by which this machine's clock is ahead. `None`: not known yet.
    pub fn ahead(&self) -> Option<i64> {
        Some(self.0.load(Ordering::Relaxed)).filter(|ahead| *ahead != UNKNOWN)
    }
}

fn wall() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or_default()
}
