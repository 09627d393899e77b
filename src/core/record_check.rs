//! Check of a record, event by event: its chain of hashes, and whether every author might do what is recorded.

use crate::audit::RecordAudit;
use notarium_record::stand_in::stand_in_digest;
use notarium_record::{Head, NotebookId, Recorded, Stored, verify_chain};

/// Progress of a check.
#[derive(Debug, Clone)]
pub struct RecordCheck {
    /// Last head that is proven.
    pub head: Head,
    /// Place and kind of the first break. Later events are not checked.
    pub broken: Option<String>,
    /// State and rights; `None`: there is an event that this build does not know.
    pub audit: Option<RecordAudit>,
}

impl RecordCheck {
    /// Check of a record that begins.
    pub fn new(notebook_id: NotebookId) -> Self {
        Self { head: Head::START, broken: None, audit: Some(RecordAudit::new(notebook_id)) }
    }

    /// Checks the next event. Returns it as this build knows it; `None` after a break or an unknown event.
    pub fn follow(&mut self, stored: &Stored) -> Option<Recorded> {
        if self.broken.is_some() {
            return None;
        }
        match verify_chain(self.head, [stored]) {
            Ok(head) => self.head = head,
            Err(error) => {
                self.broken = Some(error.to_string());
                return None;
            }
        }
        let mut audit = self.audit.take()?;
        // After an unknown event neither the state nor anybody's right follows.
        let recorded = stored.typed().ok()?;
        if stored.salt.is_none() {
            audit.note_stand_in(stored.envelope.version, stand_in_digest(&stored.payload));
        }
        if let Err(found) = audit.see(&recorded) {
            self.broken = Some(format!("nobody might have written this: {found}"));
        }
        self.audit = Some(audit);
        Some(recorded)
    }

    /// Ends the record: an event that lost its content must have been redacted.
    pub fn end(&mut self) {
        if let Some(version) = self.audit.as_ref().and_then(RecordAudit::unredacted) {
            self.break_off(format!(
                "version {version} has lost its content, and no later event says that it was redacted: the record was changed, or its end is \
                 missing"
            ));
        }
    }

    /// Records a break that others found, unless there is an earlier one.
    pub fn break_off(&mut self, problem: impl Into<String>) {
        self.broken.get_or_insert_with(|| problem.into());
    }
}
