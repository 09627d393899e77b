//! Dialogs are notebooks: names, creation, archiving, lists, kernels.

use std::collections::BTreeSet;
use std::sync::Arc;

use notarium_core::{
    Command, Document, ExecutionTarget, LaunchKernel, NotebookId, RawObject, RequestExecution, RestartKernel, Role,
    default_session,
};
use notarium_wire::rest::NotebookLine;
use serde_json::json;

use crate::DialoghelperDoor;
use crate::call::{DialogCall, Reply};
use crate::changes::one;
use crate::error::DoorError;
use crate::find::FindQuery;
use crate::forms::Form;
use crate::session::Session;

/// Longest name, as of titles.
const MAX_NAME_CHARACTERS: usize = 255;
/// Deepest list of folders.
const MAX_DEPTH: usize = 32;
/// Candidates in the error for a name that several notebooks have.
const MAX_CANDIDATES: usize = 10;

/// A notebook, its state, and the caller's role in it.
#[derive(Debug, Clone)]
pub struct Dialog {
    pub id: NotebookId,
    pub document: Arc<Document>,
    pub role: Role,
}

/// The title for a path: without the leading slash and `.ipynb`. Paths outside are refused.
pub fn clean(name: &str) -> Result<String, DoorError> {
    let shown: String = name.chars().take(80).collect();
    let path = name.trim().trim_matches('/');
    let path = path.strip_suffix(".ipynb").unwrap_or(path);
    if path.split('/').any(|part| part == ".." || part == ".") || path.contains('\\') {
        return Err(DoorError::new(format!("'{shown}' leads outside: name a dialog by its path, without '..'")));
    }
    if path.chars().any(char::is_control) || path.chars().count() > MAX_NAME_CHARACTERS {
        let message =
            format!("a dialog's name has at most {MAX_NAME_CHARACTERS} characters on one line, unlike '{shown}'");
        return Err(DoorError::new(message));
    }
    Ok(path.to_owned())
}

fn named(name: &str) -> Result<String, DoorError> {
    let name = clean(name)?;
    if name.is_empty() {
        Err(DoorError::new("the dialog's name is empty: name one by its title or id"))
    } else {
        Ok(name)
    }
}

/// The notebook with this title or id.
pub async fn resolve(door: &DialoghelperDoor, session: &Session, name: &str) -> Result<Dialog, DoorError> {
    let name = named(name)?;
    found(door, session, &name).await?.ok_or_else(|| {
        DoorError::new(format!(
            "no dialog has the name '{name}', or you may not see it: create_or_run_dialog makes one"
        ))
    })
}

/// Like [`resolve`]; `None` if there is no such notebook.
async fn found(door: &DialoghelperDoor, session: &Session, name: &str) -> Result<Option<Dialog>, DoorError> {
    if let Some(code) = &session.code {
        return own(session, &code.notebook, name).await.map(Some);
    }
    let remembered = session.names.lock().get(name).cloned();
    if let Some(id) = remembered
        && let Ok(dialog) = open(session, id).await
        && !dialog.document.archived
        && (dialog.id.as_str() == name || title_of(&dialog.document.title) == name)
    {
        return Ok(Some(dialog));
    }
    session.names.lock().remove(name);
    let Some(id) = search(door, session, name).await? else { return Ok(None) };
    session.names.lock().insert(name.to_owned(), id.clone());
    open(session, id).await.map(Some)
}

async fn open(session: &Session, id: NotebookId) -> Result<Dialog, DoorError> {
    let seen = session.seen(&id).await?;
    Ok(Dialog { id, document: seen.document, role: seen.role })
}

/// The only dialog of code in a kernel.
async fn own(session: &Session, notebook: &NotebookId, name: &str) -> Result<Dialog, DoorError> {
    let dialog = open(session, notebook.clone()).await?;
    if dialog.id.as_str() == name || title_of(&dialog.document.title) == name {
        return Ok(dialog);
    }
    let shown: String = name.chars().take(80).collect();
    Err(DoorError::new(format!(
        "code in a kernel reaches its own notebook alone: for '{shown}' use dialoghelper outside of the kernel, with a token"
    )))
}

/// The title as clients name it.
fn title_of(title: &str) -> &str {
    let title = title.trim().trim_matches('/');
    title.strip_suffix(".ipynb").unwrap_or(title)
}

async fn search(door: &DialoghelperDoor, session: &Session, name: &str) -> Result<Option<NotebookId>, DoorError> {
    let has_title = |line: &NotebookLine| title_of(&line.title) == name;
    let mut lines = door.rest.notebooks(session, Some(name)).await?;
    lines.retain(has_title);
    if lines.is_empty() {
        // The search finds words; a title may have none, or be newer than the search index.
        lines = door.rest.notebooks(session, None).await?;
        lines.retain(has_title);
    }
    match lines.as_slice() {
        [only] => return Ok(Some(only.id.clone())),
        [] => {}
        several => {
            let ids: Vec<&str> = several.iter().take(MAX_CANDIDATES).map(|line| line.id.as_str()).collect();
            let message =
                format!("{} notebooks have the title '{name}': name one by its id ({})", several.len(), ids.join(", "));
            return Err(DoorError::new(message));
        }
    }
    match NotebookId::new(name) {
        Ok(id) if door.rest.is_readable(session, &id).await? => Ok(Some(id)),
        _ => Ok(None),
    }
}

/// `create_dialog_`: creates a notebook, or starts the kernel of an existing one.
pub async fn create(call: &DialogCall) -> Result<Reply, DoorError> {
    let name = named(call.form.required("name")?)?;
    // Two requests for one name must not make two notebooks.
    let _one = call.door.creating.lock().await;
    let dialog = match found(&call.door, &call.session, &name).await? {
        Some(dialog) => dialog,
        None => {
            let id = NotebookId::from(ulid::Ulid::generate());
            let create =
                Command::CreateNotebook { title: name.clone(), metadata: RawObject::default(), forked_from: None };
            call.session.create(&id, &create).await?;
            call.session.names.lock().insert(name.clone(), id.clone());
            open(&call.session, id).await?
        }
    };
    if dialog.document.kernels.is_empty() {
        call.session.change(&dialog.id, &Command::LaunchKernel(LaunchKernel::of(None))).await?;
    }
    Ok(success(format!("\"{name}\" is now running")))
}

/// `rm_dialog_`: archives the notebook, and ends its kernels.
pub async fn remove(call: &DialogCall) -> Result<Reply, DoorError> {
    let dialog = resolve(&call.door, &call.session, call.form.required("name")?).await?;
    let usable = dialog.document.kernels.iter().filter(|(_, kernel)| kernel.is_usable());
    let ends = usable.map(|(kernel, _)| Command::ShutDownKernel { kernel_session: kernel.clone() });
    let commands = ends.chain([Command::ArchiveNotebook {}]).collect();
    call.session.change(&dialog.id, &one(commands)).await?;
    call.session.names.lock().remove(title_of(&dialog.document.title));
    Ok(success(format!("deleted \"{}\"", title_of(&dialog.document.title))))
}

/// `list_dialogs_`: names below a folder; folders end with a slash.
pub async fn list(call: &DialogCall) -> Result<Reply, DoorError> {
    let folder = clean(call.form.sent("subpath").unwrap_or_default())?;
    let depth = call.form.count("depth")?.unwrap_or(1).clamp(1, MAX_DEPTH);
    let titles = match &call.session.code {
        Some(code) => vec![open(&call.session, code.notebook.clone()).await?.document.title.clone()],
        None => call.door.rest.notebooks(&call.session, None).await?.into_iter().map(|line| line.title).collect(),
    };
    Ok(Reply::Json(json!({ "items": below(titles.iter().map(|title| title_of(title)), &folder, depth) })))
}

/// Names and folders below a folder, down to a depth.
fn below<'a>(titles: impl Iterator<Item = &'a str>, folder: &str, depth: usize) -> BTreeSet<String> {
    let mut items = BTreeSet::new();
    for title in titles {
        let rest = if folder.is_empty() {
            Some(title)
        } else {
            title.strip_prefix(folder).and_then(|rest| rest.strip_prefix('/'))
        };
        let Some(rest) = rest.filter(|rest| !rest.is_empty()) else { continue };
        let parts: Vec<&str> = rest.split('/').collect();
        let folders = (1..parts.len()).take(depth).map(|length| format!("{}/", parts[..length].join("/")));
        items.extend(folders);
        if parts.len() <= depth {
            items.insert(rest.to_owned());
        }
    }
    items
}

/// `realpath_`: the path of a dialog in this server, which keeps no files of them.
pub fn real_path(form: &Form) -> Result<Reply, DoorError> {
    Ok(Reply::Text(format!("/{}", clean(form.sent("subpath").unwrap_or_default())?)))
}

/// `stop_kernel_`: ends the dialog's kernel.
pub async fn stop(call: &DialogCall) -> Result<Reply, DoorError> {
    let dialog = resolve(&call.door, &call.session, call.form.required("name")?).await?;
    if let Some(kernel) = default_session(&dialog.document) {
        let end = Command::ShutDownKernel { kernel_session: kernel.clone() };
        call.session.change(&dialog.id, &end).await?;
    }
    Ok(success("dialog stopped".to_owned()))
}

/// `restart_kernel_`: ends the dialog's kernel, and begins a new one.
pub async fn restart(call: &DialogCall) -> Result<Reply, DoorError> {
    let dialog = resolve(&call.door, &call.session, call.form.required("name")?).await?;
    let command = match default_session(&dialog.document) {
        Some(kernel) => Command::RestartKernel(RestartKernel::on_its_agent(kernel.clone())),
        None => Command::LaunchKernel(LaunchKernel::of(None)),
    };
    call.session.change(&dialog.id, &command).await?;
    Ok(success("kernel restarted".to_owned()))
}

/// `load_dialog_`: runs the code of one dialog in the kernel of another, and returns its content.
pub async fn load(call: &DialogCall) -> Result<Reply, DoorError> {
    let target = call.dialog().await?;
    let source = resolve(&call.door, &call.session, call.form.required("src_dname")?).await?;
    let cells = source.document.ordered_cells().map(|(_, cell)| &cell.content);
    let run = |text: String| {
        let purpose =
            format!("load_dialog {}", title_of(&source.document.title)).chars().take(MAX_NAME_CHARACTERS).collect();
        let run = RequestExecution::new(ExecutionTarget::Scratch { source: text, purpose });
        Command::RequestExecution(RequestExecution { stop_on_error: true, ..run })
    };
    let code =
        cells.filter(|content| content.cell_type.runs() && !content.flags.skipped && !content.source.trim().is_empty());
    let commands: Vec<Command> = code.map(|content| run(content.text_to_run().into_owned())).collect();
    if !commands.is_empty() {
        call.session.change(&target.id, &one(commands)).await?;
    }
    let query = FindQuery::parse(&Form::parse(b"as_xml=true&include_output=false")?)?;
    let blobs = crate::messages::LargeTexts::new();
    Ok(Reply::Text(query.render(&query.select(&source.document, &blobs)?, &blobs)))
}

fn success(sentence: String) -> Reply {
    Reply::Json(json!({ "success": sentence }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_paths_inside() {
        for (name, title) in [("/nb/00_core", "nb/00_core"), ("a.ipynb", "a"), ("/", ""), (" My notes ", "My notes")] {
            assert_eq!(clean(name).as_deref(), Ok(title), "{name}");
        }
        for outside in ["../x", "a/../../b", "..", "a\\..\\b", "a\nb", &"x".repeat(300)] {
            assert!(clean(outside).is_err(), "{outside}");
        }
    }

    #[test]
    fn lists_show_folders_down_to_a_depth() {
        let titles = ["a", "nb/b", "nb/deep/c", "nbx"];
        let of = |folder, depth| below(titles.into_iter(), folder, depth).into_iter().collect::<Vec<_>>();
        assert_eq!(of("", 1), ["a", "nb/", "nbx"]);
        assert_eq!(of("", 2), ["a", "nb/", "nb/b", "nb/deep/", "nbx"]);
        assert_eq!(of("nb", 1), ["b", "deep/"]);
    }
}
