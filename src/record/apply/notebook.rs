//! Applies events of the notebook as a whole: title, metadata, access, policy, reactivity, named versions.

use crate::access::{AccessEntry, Grant, Role, Subject};
use crate::document::Document;
use crate::envelope::Recorded;
use crate::event::{Event, NotebookCreated};

pub(super) fn apply(document: &mut Document, recorded: &Recorded) {
    match &recorded.event {
        Event::NotebookCreated(event) => create(document, recorded, event),
        Event::NotebookRenamed(event) => document.title.clone_from(&event.title),
        Event::NotebookMetadataSet(event) => document.metadata = event.metadata.clone(),
        Event::NotebookArchived(_) => document.archived = true,
        Event::NotebookUnarchived(_) => document.archived = false,
        Event::NotebookVersionNamed(event) => _ = document.named_versions.insert(event.version, event.name.clone()),
        Event::AccessGranted(event) => {
            grant(document, &event.subject, Grant { role: event.role, expires_at: event.expires_at });
        }
        Event::AccessRevoked(event) => document.access.retain(|entry| entry.subject != event.subject),
        Event::NotebookPolicyChanged(event) => document.policy = event.policy,
        Event::NotebookReactivitySet(event) => document.reactivity = event.reactivity,
        _ => {}
    }
}

fn create(document: &mut Document, recorded: &Recorded, event: &NotebookCreated) {
    document.title.clone_from(&event.title);
    document.metadata = event.metadata.clone();
    document.created_at = recorded.envelope.recorded_at;
    grant(document, &event.owner, Grant { role: Role::Owner, expires_at: None });
}

fn grant(document: &mut Document, subject: &Subject, grant: Grant) {
    let entry = AccessEntry { subject: subject.clone(), grant };
    match document.access.binary_search_by(|other| other.subject.cmp(subject)) {
        Ok(index) => document.access[index] = entry,
        Err(index) => document.access.insert(index, entry),
    }
}
