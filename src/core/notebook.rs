//! A notebook as the server holds it: the document, which all replicas have, and the ledger, which only the server has.
//! Seals decided events into its hash chain, and decides the commands about the notebook as a whole: creation, title,
//! metadata, archive, policy, reactivity, named versions.

use std::ops::Deref;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::checks::{check_metadata, check_not_archived, checked_reason, checked_title};
use crate::context::Context;
use crate::ledger::Ledger;
use crate::values::decision::{Decided, Decision, RejectionCode, Result};
use crate::values::details::LimitName;
use notarium_record::{
    AccessEntry, Actor, Document, Envelope, EventId, ForkOrigin, Head, NotebookArchived, NotebookCreated,
    NotebookErased, NotebookId, NotebookMetadataSet, NotebookPolicyChanged, NotebookReactivitySet, NotebookRenamed,
    NotebookUnarchived, NotebookVersionNamed, Policy, RawObject, Reactivity, Recorded, Stored, Subject, Version,
};

/// Document and ledger of a notebook. Dereferences to the document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Notebook {
    /// State that every client shows and reproduces.
    pub document: Arc<Document>,
    /// State that only `decide` needs.
    pub ledger: Ledger,
}

impl Notebook {
    /// A notebook before its first event.
    pub fn new(notebook_id: NotebookId) -> Self {
        Self { document: Arc::new(Document::new(notebook_id)), ledger: Ledger::default() }
    }

    /// Folds one event into both. A version that was applied already changes nothing.
    pub fn apply(&mut self, recorded: &Recorded) {
        if recorded.envelope.version > self.document.version {
            Arc::make_mut(&mut self.document).apply(recorded);
            self.ledger.apply(&self.document, recorded);
        }
    }
}

impl Deref for Notebook {
    type Target = Document;

    fn deref(&self) -> &Document {
        &self.document
    }
}

// --- seal ---

/// Turns decided events into stored ones that continue the chain at `head`, and advances `head`.
pub fn seal(
    head: &mut Head,
    notebook_id: &NotebookId,
    context: &mut Context,
    events: &[Decided],
) -> Result<Vec<Stored>, serde_json::Error> {
    let mut next = *head;
    let mut sealed = Vec::with_capacity(events.len());
    for decided in events {
        let mut envelope = envelope(context.ids.ulid().into(), notebook_id, &next, context, decided);
        if let Some(leading) = leading(&sealed, decided) {
            envelope.causation_id = Some(leading.envelope.id.clone());
        }
        let salt = context.ids.salt();
        sealed.push(Stored::seal(&mut next, envelope, decided.event.payload()?, salt));
    }
    *head = next;
    Ok(sealed)
}

/// The event of the same command that led to this one.
fn leading<'a>(sealed: &'a [Stored], decided: &Decided) -> Option<&'a Stored> {
    sealed.get(sealed.len().checked_sub(decided.led_by?)?)
}

/// The event as it will be recorded, without id, cause and hash, on which no state depends.
pub(crate) fn provisional(notebook: &Notebook, context: &Context, decided: &Decided) -> Recorded {
    let head = Head { version: notebook.version, recorded_at: notebook.updated_at, ..Head::START };
    let envelope = envelope(ulid::Ulid::nil().into(), &notebook.notebook_id, &head, context, decided);
    Recorded { envelope, event: decided.event.clone() }
}

fn envelope(id: EventId, notebook_id: &NotebookId, head: &Head, context: &Context, decided: &Decided) -> Envelope {
    Envelope {
        id,
        notebook_id: notebook_id.clone(),
        version: head.version + 1,
        event_type: decided.event.event_type().to_owned(),
        schema: decided.event.schema(),
        actor: decided.actor.as_ref().unwrap_or(&context.actor).clone(),
        command_id: context.command_id.clone(),
        correlation_id: decided.correlation_id.clone().unwrap_or_else(|| context.correlation_id.clone()),
        causation_id: decided.caused_by.clone().or_else(|| context.causation_id.clone()),
        undoes: decided.undoes.clone(),
        recorded_at: context.now.max(head.recorded_at),
    }
}

// --- commands about the notebook as a whole ---

/// Erases the notebook. Links and runtime agents lose their access; people and workspaces keep theirs to the refusals that say so.
pub(crate) fn decide_erase(notebook: &Document, context: &Context, reason: &str) -> Result<Decision> {
    let reason = checked_reason(reason)?;
    let stays = |entry: &&AccessEntry| matches!(entry.subject, Subject::User { .. } | Subject::Workspace { .. });
    let access = notebook.access.iter().filter(stays).cloned().collect();
    Ok(Decision::one(NotebookErased { reason, version: notebook.version, hash: context.head_hash, access }))
}

pub(crate) fn decide_create(
    notebook: &Document,
    context: &Context,
    title: String,
    metadata: RawObject,
    forked_from: Option<ForkOrigin>,
) -> Result<Decision> {
    if notebook.exists() {
        let id = &notebook.notebook_id;
        return Err(RejectionCode::NotebookExists.because(format!("notebook {id} exists: choose another id")));
    }
    let title = checked_title(&context.limits, &title)?;
    check_metadata(&context.limits, &metadata)?;
    let (Actor::User { id } | Actor::Assistant { for_user: id, .. }) = &context.actor else {
        return Err(RejectionCode::Forbidden.because("only a person with an account makes notebooks: sign in first"));
    };
    let owner = Subject::User { id: id.clone() };
    Ok(Decision::one(NotebookCreated { title, metadata, owner, forked_from }))
}

pub(crate) fn decide_rename(notebook: &Document, context: &Context, title: &str) -> Result<Decision> {
    let title = checked_title(&context.limits, title)?;
    let previous = notebook.title.clone();
    Ok(Decision::unless(title == previous, NotebookRenamed { title, previous }))
}

pub(crate) fn decide_metadata(notebook: &Document, context: &Context, metadata: RawObject) -> Result<Decision> {
    check_metadata(&context.limits, &metadata)?;
    let previous = notebook.metadata.clone();
    Ok(Decision::unless(metadata == previous, NotebookMetadataSet { metadata, previous }))
}

pub(crate) fn decide_archive(notebook: &Document) -> Decision {
    Decision::unless(notebook.archived, NotebookArchived {})
}

pub(crate) fn decide_unarchive(notebook: &Document) -> Decision {
    Decision::unless(!notebook.archived, NotebookUnarchived {})
}

pub(crate) fn decide_policy(notebook: &Document, policy: Policy) -> Decision {
    let previous = notebook.policy;
    Decision::unless(policy == previous, NotebookPolicyChanged { policy, previous })
}

pub(crate) fn decide_reactivity(notebook: &Document, reactivity: Reactivity) -> Result<Decision> {
    check_not_archived(notebook)?;
    let previous = notebook.reactivity;
    Ok(Decision::unless(reactivity == previous, NotebookReactivitySet { reactivity, previous }))
}

pub(crate) fn decide_name(notebook: &Document, context: &Context, version: Version, name: &str) -> Result<Decision> {
    RejectionCode::VersionInFuture.when(version == 0 || version > notebook.version, || {
        format!("version {version} does not exist: the notebook is at {}", notebook.version)
    })?;
    let name = checked_title(&context.limits, name)?;
    let limit = context.limits.max_named_versions;
    if notebook.named_versions.len() >= limit && !notebook.named_versions.contains_key(&version) {
        let message = format!("a notebook has at most {limit} named versions: name one of them anew");
        return Err(LimitName::NamedVersions.refusal(limit as u64, message));
    }
    let is_so = notebook.named_versions.get(&version) == Some(&name);
    Ok(Decision::unless(is_so, NotebookVersionNamed { version, name }))
}
