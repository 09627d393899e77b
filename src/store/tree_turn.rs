//! Turn to append to a tree of heads: one process at a time has it, and it ends when it is dropped.

use async_trait::async_trait;

/// Lock of a database that nobody else gets while it is held.
#[async_trait]
pub(crate) trait TreeLock: Send {
    /// False if the connection that holds it has broken.
    async fn is_held(&mut self) -> bool;
}

/// Turn to append to a tree of heads.
#[derive(Default)]
pub struct TreeTurn(Option<Box<dyn TreeLock>>);

impl TreeTurn {
    /// Turn of a store that only one process opens.
    pub fn alone() -> Self {
        Self::default()
    }

    #[cfg(feature = "postgres")]
    pub(crate) fn held(lock: impl TreeLock + 'static) -> Self {
        Self(Some(Box::new(lock)))
    }

    /// False if another process may have the turn by now.
    pub async fn is_held(&mut self) -> bool {
        match &mut self.0 {
            Some(lock) => lock.is_held().await,
            None => true,
        }
    }
}
