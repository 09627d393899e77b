//! Turns to append to a tree of heads: the lock of a row in a transaction without writes. A process that stops keeps it, and one whose
//! connection breaks loses it.

use std::time::Duration;

use async_trait::async_trait;
use sqlx::Transaction;
use tokio::time::Instant;

use super::{Postgres, unreadable};
use crate::store_error::StoreError;
use crate::tree_turn::{TreeLock, TreeTurn};

/// Time to wait for a turn, and the pause between attempts.
const PATIENCE: Duration = Duration::from_secs(10);
const PAUSE: Duration = Duration::from_millis(50);

struct LockedRow(Transaction<'static, sqlx::Postgres>);

#[async_trait]
impl TreeLock for LockedRow {
    async fn is_held(&mut self) -> bool {
        sqlx::query("SELECT 1").execute(&mut *self.0).await.is_ok()
    }
}

/// Waits for the turn of the tree that this signing key signs.
pub(super) async fn take(store: &Postgres, key: &str) -> Result<TreeTurn, StoreError> {
    let until = Instant::now() + PATIENCE;
    loop {
        let mut transaction = store.pool().begin().await.map_err(unreadable)?;
        let sql = "SELECT 1 FROM signing_keys WHERE name = $1 FOR UPDATE SKIP LOCKED";
        let row = sqlx::query(sql).bind(key).fetch_optional(&mut *transaction).await.map_err(unreadable)?;
        if row.is_some() {
            return Ok(TreeTurn::held(LockedRow(transaction)));
        }
        drop(transaction);
        if Instant::now() > until {
            let reason = "another server appends to the tree of heads, or its signing key is not listed";
            return Err(StoreError::Unavailable { reason: reason.to_owned() });
        }
        tokio::time::sleep(PAUSE).await;
    }
}
