//! Proof of a record: its chain of hashes, the state that it leads to, and whether every author might do what is recorded.

use notarium_core::stand_in::stand_in_digest;
use notarium_core::{Head, NotebookId, RecordAudit, Stored, Version, verify_chain};
use notarium_store::{EventStore, StoreError};

use crate::http::problem::Problem;

/// Events per read.
const PAGE: usize = 2_000;

/// Progress of a proof.
pub struct RecordProof {
    /// Last head that is proven.
    pub head: Head,
    /// Place and kind of the first break.
    pub broken: Option<String>,
    /// State and rights; `None`: there is an event that this server does not know.
    pub audit: Option<RecordAudit>,
}

/// Proves the record up to a version, with memory for one page and the state.
pub async fn of(store: &dyn EventStore, notebook: &NotebookId, to: Version) -> Result<RecordProof, Problem> {
    let mut proof = RecordProof { head: Head::START, broken: None, audit: Some(RecordAudit::new(notebook.clone())) };
    while proof.head.version < to && proof.broken.is_none() {
        let events = match store.read(notebook, proof.head.version, PAGE).await {
            Err(error @ StoreError::UnreadableEvent { .. }) => {
                proof.broken = Some(error.to_string());
                break;
            }
            events => events?,
        };
        if events.is_empty() {
            proof.broken = Some(format!("the record ends at version {}, not {to}", proof.head.version));
            break;
        }
        let followed = tokio::task::spawn_blocking(move || {
            let until = events.iter().take_while(|stored| stored.envelope.version <= to);
            until.for_each(|stored| proof.follow(stored));
            proof
        });
        proof = followed.await.map_err(|error| Problem::invalid(format!("the record was not proven: {error}")))?;
    }
    let unredacted = proof.audit.as_ref().and_then(RecordAudit::unredacted);
    if let Some(version) = unredacted.filter(|_| proof.broken.is_none()) {
        proof.broken =
            Some(format!("version {version} has lost its content, and no redaction up to version {to} says so"));
    }
    Ok(proof)
}

impl RecordProof {
    fn follow(&mut self, stored: &Stored) {
        if self.broken.is_some() {
            return;
        }
        match verify_chain(self.head, [stored]) {
            Ok(head) => self.head = head,
            Err(error) => return self.broken = Some(error.to_string()),
        }
        let Some(mut audit) = self.audit.take() else { return };
        // After an unknown event neither the state nor anybody's right follows.
        let Ok(recorded) = stored.typed() else { return };
        if stored.salt.is_none() {
            audit.note_stand_in(stored.envelope.version, stand_in_digest(&stored.payload));
        }
        if let Err(found) = audit.see(&recorded) {
            self.broken = Some(format!("nobody might have written this: {found}"));
        }
        self.audit = Some(audit);
    }
}
