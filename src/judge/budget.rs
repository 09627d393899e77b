//! How much work one judgement may be: hostile code must not hold up the room that asks.

use std::cell::Cell;

/// Steps of following a name, and bytes of code in code: a notebook of 1 MiB stays below.
const MAX_STEPS: u64 = 8_000_000;

/// What all that takes part in a judgement has spent.
#[derive(Default)]
pub(crate) struct Budget(Cell<u64>);

impl Budget {
    /// False when nothing is left: what follows is not looked at, and the answer is that it was not.
    pub(crate) fn spend(&self, steps: usize) -> bool {
        self.0.set(self.0.get().saturating_add(steps as u64));
        !self.is_spent()
    }

    pub(crate) fn is_spent(&self) -> bool {
        self.0.get() >= MAX_STEPS
    }
}
