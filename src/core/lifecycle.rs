//! The notebook as a whole: its making, name, metadata, archive, named versions.

use crate::command::Command;
use crate::context::Context;
use crate::decision::Decision;
use crate::limits::Limits;
use crate::rejection::{Rejection, RejectionCode};
use notarium_record::{
    Actor, Document, ForkOrigin, NotebookArchived, NotebookCreated, NotebookMetadataSet, NotebookRenamed,
    NotebookUnarchived, NotebookVersionNamed, RawObject, Subject, Version,
};

pub(crate) fn decide(notebook: &Document, context: &Context, command: Command) -> Result<Decision, Rejection> {
    match command {
        Command::CreateNotebook { title, metadata, forked_from } => {
            decide_create(notebook, context, title, metadata, forked_from)
        }
        Command::RenameNotebook { title } => decide_rename(notebook, context, &title),
        Command::SetNotebookMetadata { metadata } => decide_metadata(notebook, context, metadata),
        Command::ArchiveNotebook {} if notebook.archived => Ok(Decision::nothing()),
        Command::ArchiveNotebook {} => Ok(Decision::one(NotebookArchived {})),
        Command::UnarchiveNotebook {} if notebook.archived => Ok(Decision::one(NotebookUnarchived {})),
        Command::UnarchiveNotebook {} => Ok(Decision::nothing()),
        Command::NameVersion { version, name } => decide_name(notebook, context, version, &name),
        _ => unreachable!("the dispatcher sends lifecycle commands only"),
    }
}

fn decide_create(
    notebook: &Document,
    context: &Context,
    title: String,
    metadata: RawObject,
    forked_from: Option<ForkOrigin>,
) -> Result<Decision, Rejection> {
    if notebook.exists() {
        let id = &notebook.notebook_id;
        return Err(Rejection::new(RejectionCode::NotebookExists, format!("notebook {id} exists: choose another id")));
    }
    let title = checked_title(&context.limits, &title)?;
    check_metadata(&context.limits, &metadata)?;
    let (Actor::User { id } | Actor::Assistant { for_user: id, .. }) = &context.actor else {
        return Err(Rejection::new(
            RejectionCode::Forbidden,
            "only a person with an account makes notebooks: sign in first",
        ));
    };
    let owner = Subject::User { id: id.clone() };
    Ok(Decision::one(NotebookCreated { title, metadata, owner, forked_from }))
}

fn decide_rename(notebook: &Document, context: &Context, title: &str) -> Result<Decision, Rejection> {
    check_not_archived(notebook)?;
    let title = checked_title(&context.limits, title)?;
    if title == notebook.title {
        return Ok(Decision::nothing());
    }
    Ok(Decision::one(NotebookRenamed { title, previous: notebook.title.clone() }))
}

fn decide_metadata(notebook: &Document, context: &Context, metadata: RawObject) -> Result<Decision, Rejection> {
    check_not_archived(notebook)?;
    check_metadata(&context.limits, &metadata)?;
    if metadata == notebook.metadata {
        return Ok(Decision::nothing());
    }
    Ok(Decision::one(NotebookMetadataSet { metadata, previous: notebook.metadata.clone() }))
}

fn decide_name(notebook: &Document, context: &Context, version: Version, name: &str) -> Result<Decision, Rejection> {
    if version == 0 || version > notebook.version {
        let message = format!("version {version} does not exist: the notebook is at {}", notebook.version);
        return Err(Rejection::new(RejectionCode::VersionInFuture, message));
    }
    let name = checked_title(&context.limits, name)?;
    let limit = context.limits.max_named_versions;
    if notebook.named_versions.len() >= limit && !notebook.named_versions.contains_key(&version) {
        let message = format!("a notebook has at most {limit} named versions: name one of them anew");
        return Err(Rejection::new(RejectionCode::LimitExceeded, message));
    }
    if notebook.named_versions.get(&version) == Some(&name) {
        return Ok(Decision::nothing());
    }
    Ok(Decision::one(NotebookVersionNamed { version, name }))
}

/// Trims, and refuses what no list or file system could show.
pub(crate) fn checked_title(limits: &Limits, title: &str) -> Result<String, Rejection> {
    let title = title.trim();
    if title.is_empty() {
        return Err(Rejection::new(RejectionCode::InvalidValue, "a name has at least one visible character"));
    }
    if title.chars().count() > limits.max_title_characters {
        let message = format!("a name has at most {} characters: shorten it", limits.max_title_characters);
        return Err(Rejection::new(RejectionCode::LimitExceeded, message));
    }
    if title.chars().any(char::is_control) {
        return Err(Rejection::new(RejectionCode::InvalidValue, "a name has no control characters or line breaks"));
    }
    Ok(title.to_owned())
}

pub(crate) fn check_metadata(limits: &Limits, metadata: &RawObject) -> Result<(), Rejection> {
    if metadata.get().len() > limits.max_metadata_bytes {
        let message = format!("metadata has at most {} bytes: put large data elsewhere", limits.max_metadata_bytes);
        return Err(Rejection::new(RejectionCode::LimitExceeded, message));
    }
    Ok(())
}

/// An archived notebook is read, exported and forked, not changed or run.
pub(crate) fn check_not_archived(notebook: &Document) -> Result<(), Rejection> {
    if notebook.archived {
        return Err(Rejection::new(RejectionCode::NotebookArchived, "the notebook is archived: unarchive it first"));
    }
    Ok(())
}
