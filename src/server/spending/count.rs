//! Counts ended model calls from the record, by the node that owns their notebook.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use notarium_core::{NotebookId, Recorded, TurnId};
use notarium_store::StoreError;
use tokio_util::sync::CancellationToken;

use super::Spending;
use super::turns::{ModelCallEnd, call_end};
use crate::outage::Outage;

/// Interval at which reserved calls are looked for whose node has died.
const LOOK_EVERY: Duration = Duration::from_secs(10);

/// Noted notebooks above which those without a reserved call are forgotten.
const MAX_OPEN: usize = 10_000;

impl Spending {
    /// Notes that a notebook's record may have the end of a call.
    pub fn changed(&self, notebook: &NotebookId) {
        if self.open.lock().contains(notebook) {
            self.due.lock().insert(notebook.clone());
            self.came.notify_one();
        }
    }

    pub(super) fn note_open(&self, notebook: &NotebookId) {
        self.open.lock().insert(notebook.clone());
    }

    /// Counts the notebook's calls that have ended. Safe at any time and on any node: a call counts once.
    pub async fn count(&self, notebook: &NotebookId) -> Result<(), StoreError> {
        if !self.open.lock().contains(notebook) {
            return Ok(());
        }
        let calls = self.store.reserved(Some(notebook)).await?;
        if calls.is_empty() {
            return Ok(());
        }
        let turns: Vec<String> = calls.iter().map(|call| call.key.turn_id.to_string()).collect();
        let mut events: BTreeMap<TurnId, Vec<Recorded>> = BTreeMap::new();
        for stored in self.events.events_of_subject(notebook, &turns).await? {
            // An event that this build does not know leaves the call open.
            let Ok(recorded) = stored.typed() else { continue };
            if let Some(turn_id) = recorded.event.turn_id().cloned() {
                events.entry(turn_id).or_default().push(recorded);
            }
        }
        for call in calls {
            let of_turn = events.get(&call.key.turn_id).map(Vec::as_slice).unwrap_or_default();
            if let ModelCallEnd::Ended(settled) = call_end(&call, of_turn) {
                self.store.settle(&call, settled).await?;
            }
        }
        Ok(())
    }

    /// Counts ended calls of notebooks that this node owns; also of those whose node has died.
    async fn look(&self) -> Result<(), StoreError> {
        let reserved = self.store.reserved(None).await?;
        let notebooks: BTreeSet<NotebookId> = reserved.into_iter().map(|call| call.key.notebook_id).collect();
        self.forget_others(&notebooks);
        // A notebook that cannot be counted holds up no other.
        let mut looked = Ok(());
        for notebook in notebooks {
            if self.cluster.owns(&notebook).await? {
                self.note_open(&notebook);
                looked = looked.and(self.count(&notebook).await);
            }
        }
        looked
    }

    /// Bounds the set of noted notebooks. One whose call is being reserved just now is noted again by the next look.
    fn forget_others(&self, notebooks: &BTreeSet<NotebookId>) {
        let mut open = self.open.lock();
        if open.len() > MAX_OPEN {
            open.retain(|notebook| notebooks.contains(notebook));
        }
    }

    async fn next_due(&self) -> NotebookId {
        loop {
            let came = self.came.notified();
            if let Some(notebook) = self.due.lock().pop_first() {
                return notebook;
            }
            came.await;
        }
    }
}

/// Counts model calls until the server stops.
pub async fn follow(spending: Arc<Spending>, stopping: CancellationToken) {
    let mut ticks = tokio::time::interval(LOOK_EVERY);
    let mut outage =
        Outage::new("reserved model calls were not looked for", "reserved model calls are looked for again");
    let work = async {
        loop {
            tokio::select! {
                _ = ticks.tick() => outage.log(spending.look().await),
                notebook = spending.next_due() => {
                    if let Err(error) = spending.count(&notebook).await {
                        tracing::warn!(%notebook, %error, "model calls were not counted: they are soon");
                    }
                }
            }
        }
    };
    stopping.run_until_cancelled(work).await;
}
