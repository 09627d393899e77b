//! Notebooks that keep the record of runs which belong to no shared notebook: those of VS Code's files, of consoles, and of programs that
//! start a kernel without a notebook. A caller has one for each name; its next kernel goes on in it, and of two at once each has its own.

use http::Method;
use notarium_core::NotebookId;
use serde_json::json;

use crate::api::CallerToken;
use crate::contents::{Tree, is_backing, name_before_mark, segment};
use crate::door::JupyterDoor;
use crate::error::JupyterError;
use crate::kernels::{self, default_kernel};

/// Title for kernels of programs that name nothing.
pub const OF_PROGRAMS: &str = "Runs of a Jupyter client";
/// Characters of a client's name that a title has.
const MAX_NAME: usize = 100;

/// Title of the notebook with the runs of a file or a console that is no notebook here.
pub fn title_of(path: &str, name: &str) -> String {
    let shorten = |text: &str| text.chars().filter(|c| !c.is_control()).take(MAX_NAME).collect::<String>();
    if is_backing(path) {
        return format!("Runs of {} in VS Code", shorten(name_before_mark(path)));
    }
    let name = if name.is_empty() { path.rsplit('/').next().unwrap_or_default() } else { name };
    if name.is_empty() { OF_PROGRAMS.to_owned() } else { format!("Runs of {}", shorten(name)) }
}

/// The caller's notebook of that title without a kernel, or a new one, with a kernel now.
pub async fn started(
    door: &JupyterDoor,
    token: &CallerToken,
    title: &str,
    kernelspec: Option<&str>,
) -> Result<(NotebookId, kernels::DefaultKernel), JupyterError> {
    // Two kernels that start at once must not find the same notebook.
    let _one_at_a_time = door.kernels.starting.lock().await;
    let notebook = match idle(door, token, title).await? {
        Some(notebook) => notebook,
        None => {
            let made = door.api.json(token, Method::POST, "/api/notebooks", Some(json!({"title": title}))).await?;
            let id = made["notebook"].as_str().unwrap_or_default();
            id.parse()
                .map_err(|_| JupyterError::not_found("the notebook of the kernel could not be made: try again"))?
        }
    };
    let kernel = kernels::started(door, token, &notebook, kernelspec).await?;
    Ok((notebook, kernel))
}

async fn idle(door: &JupyterDoor, token: &CallerToken, title: &str) -> Result<Option<NotebookId>, JupyterError> {
    let me = door.api.get(token, "/api/me").await?;
    let me = me["actor"]["id"].as_str().unwrap_or_default().to_owned();
    let tree = Tree::read(&door.api, token).await?;
    // Names of further notebooks of one title end with a part of their id.
    let (first, others) = (format!("{}.ipynb", segment(title)), format!("{} (", segment(title)));
    let is_it = |name: &str| name == first || name.starts_with(&others);
    let own = tree.notebooks.into_iter().rev().filter(|entry| {
        entry.workspace.is_none() && is_it(&entry.name) && entry.owners.iter().all(|owner| owner.as_str() == me)
    });
    for entry in own.filter(|entry| !entry.owners.is_empty()) {
        if default_kernel(door, token, &entry.id).await?.is_none() {
            return Ok(Some(entry.id));
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn titles_name_what_people_know() {
        assert_eq!(title_of("plot-jvsc-12.ipynb", "plot-34.ipynb"), "Runs of plot in VS Code");
        assert_eq!(title_of("a/console-1-x", "Console 1"), "Runs of Console 1");
        assert_eq!(title_of("a/b.py", ""), "Runs of b.py");
        assert_eq!(title_of("", ""), OF_PROGRAMS);
        assert_eq!(title_of("", &"x".repeat(300)).len(), 108);
    }
}
