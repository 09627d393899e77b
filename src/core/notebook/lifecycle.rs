//! The notebook as a whole: creation, title, metadata, archive, policy, reactivity, named versions.

use crate::checks::{check_metadata, check_not_archived, checked_title};
use crate::context::Context;
use crate::values::decision::Decision;
use crate::values::rejection::{RejectionCode, Result};
use notarium_record::{
    Actor, Document, ForkOrigin, NotebookArchived, NotebookCreated, NotebookMetadataSet, NotebookPolicyChanged,
    NotebookReactivitySet, NotebookRenamed, NotebookUnarchived, NotebookVersionNamed, Policy, RawObject, Reactivity,
    Subject, Version,
};

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
        return Err(RejectionCode::LimitExceeded.because(message));
    }
    let is_so = notebook.named_versions.get(&version) == Some(&name);
    Ok(Decision::unless(is_so, NotebookVersionNamed { version, name }))
}
