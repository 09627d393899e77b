//! Snapshots, compared with the states to which the events lead.

use std::collections::BTreeMap;

use notarium_core::{Hash, Head, Ledger, NotebookId, RecordCheck, Recorded, Version};
use notarium_store::{EventStore, StoreError};
use serde::Serialize;
use sha2::{Digest, Sha256};

use crate::rooms::snapshot::{self, StoredState};

/// Digests of a snapshot's parts, as this program writes them.
struct KeptState {
    head: Head,
    document: Hash,
    /// `None`: its form is that of another release.
    ledger: Option<Hash>,
}

/// Progress of the comparison: the snapshots that are not reached yet.
pub struct SnapshotComparison {
    kept: BTreeMap<Version, KeptState>,
    ledger: Ledger,
    agree: u64,
    contradiction: Option<String>,
}

impl SnapshotComparison {
    /// Reads the snapshots up to a version, one after the other; keeps their digests.
    pub async fn begin(store: &dyn EventStore, notebook: &NotebookId, to: Version) -> Result<Self, StoreError> {
        let damaged = snapshot::damaged_of(notebook);
        let contradiction = damaged.first().map(|version| {
            format!(
                "the snapshot of version {version} was changed on the disk: its checksum was not that of its bytes. It was removed, and the \
                 state is read from the events"
            )
        });
        let mut comparison = Self { kept: BTreeMap::new(), ledger: Ledger::default(), agree: 0, contradiction };
        let mut at_most = Some(to);
        while let Some(found) = store.snapshot(notebook, at_most).await? {
            let (version, head) = (found.version, found.head);
            match snapshot::stored_state(store, notebook, found).await {
                Ok(StoredState::OfAnotherRelease) => {}
                Ok(StoredState::Known { document, ledger }) => {
                    let hashed = tokio::task::spawn_blocking(move || KeptState {
                        head,
                        document: hash_of(&document),
                        ledger: ledger.as_ref().map(hash_of),
                    });
                    comparison.kept.extend(hashed.await.ok().map(|kept| (version, kept)));
                }
                Err(reason) => comparison.contradict(version, &reason),
            }
            at_most = version.checked_sub(1);
            if at_most.is_none() {
                break;
            }
        }
        Ok(comparison)
    }

    fn contradict(&mut self, version: Version, wrong: &str) {
        self.contradiction.get_or_insert_with(|| {
            format!(
                "the snapshot of version {version} is not what the events lead to: {wrong}. Stop the server and delete its row of the table \
                 snapshots: it is made anew from the events"
            )
        });
    }

    /// Folds the ledger as far as snapshots have it, and compares the snapshot of this version.
    pub fn follow(&mut self, check: &RecordCheck, recorded: Option<&Recorded>) {
        if self.kept.is_empty() {
            return;
        }
        let (Some(audit), Some(recorded)) = (&check.audit, recorded) else { return };
        self.ledger.apply(audit.document(), recorded);
        let version = check.head.version;
        let Some(kept) = self.kept.remove(&version) else { return };
        if kept.head != check.head {
            self.contradict(version, "it names another hash or time of its last event");
        } else if kept.document != hash_of(audit.document()) {
            self.contradict(version, "it holds another state of the notebook");
        } else if kept.ledger.is_some_and(|ledger| ledger != hash_of(&self.ledger)) {
            self.contradict(version, "it holds another state of what the server keeps for decisions");
        } else {
            self.agree += 1;
        }
    }

    /// Ends the comparison; returns the count of snapshots that agree, and the first contradiction.
    pub fn finish(self) -> (u64, Option<String>) {
        (self.agree, self.contradiction)
    }
}

fn hash_of(state: &impl Serialize) -> Hash {
    Hash(Sha256::digest(serde_json::to_vec(state).unwrap_or_default()).into())
}
