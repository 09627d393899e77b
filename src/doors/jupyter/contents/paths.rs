//! Paths of Jupyter: `Title.ipynb` for notebooks outside of workspaces, `Workspace/Title.ipynb`, and `working files/Title/…`.
//!
//! Titles are not unique and may hold slashes; the name of a notebook is made from its title and, for all but the oldest of one title, the
//! end of its id. A path may also name a notebook by its id.

use std::collections::{BTreeMap, BTreeSet};

use notarium_core::{NotebookId, UserId, WorkspaceId};
use notarium_wire::rest::NotebookPage;
use serde_json::Value;

use crate::api::{Api, CallerToken, encoded};
use crate::contents::backing;
use crate::door::JupyterDoor;
use crate::error::JupyterError;

/// Folder of working files, with a folder for each notebook.
pub const WORKING_FILES: &str = "working files";
/// Pages of the list of notebooks that are read: 5,000 notebooks.
const MAX_PAGES: usize = 50;
const PAGE: usize = 100;

/// A notebook in the tree of paths.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotebookEntry {
    pub id: NotebookId,
    pub workspace: Option<WorkspaceId>,
    /// Name with its suffix, as in `Title.ipynb`.
    pub name: String,
    pub path: String,
    pub created_at: u64,
    pub updated_at: u64,
    pub owners: Vec<UserId>,
}

/// CellTarget of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ContentPlace {
    Root,
    Workspace {
        id: WorkspaceId,
        name: String,
    },
    Notebook(NotebookEntry),
    /// The folder with the working files of all notebooks.
    FileFolders,
    /// A file or folder beside a notebook; empty: the folder itself.
    File {
        notebook: NotebookEntry,
        file: String,
    },
}

/// All notebooks and workspaces that the caller sees.
pub struct Tree {
    pub workspaces: BTreeMap<WorkspaceId, String>,
    pub notebooks: Vec<NotebookEntry>,
}

impl Tree {
    pub async fn read(api: &Api, token: &CallerToken) -> Result<Self, JupyterError> {
        let workspaces = workspaces(api, token).await?;
        let mut lines = Vec::new();
        let mut cursor: Option<String> = None;
        for _ in 0..MAX_PAGES {
            let after = cursor.map_or_else(String::new, |cursor| format!("&cursor={}", encoded(&cursor)));
            let page = api.get(token, &format!("/api/notebooks?limit={PAGE}{after}")).await?;
            let page: NotebookPage = serde_json::from_value(page).map_err(|error| JupyterError::internal(&error))?;
            lines.extend(page.notebooks);
            cursor = page.next;
            if cursor.is_none() {
                break;
            }
        }
        lines.sort_by(|left, right| (left.created_at, &left.id).cmp(&(right.created_at, &right.id)));
        let mut taken = BTreeSet::new();
        let mut notebooks = Vec::with_capacity(lines.len());
        for line in lines {
            let folder = line.workspace.as_ref().and_then(|id| workspaces.get(id)).map(String::as_str);
            let title = segment(&line.title);
            let mut name = format!("{title}.ipynb");
            if !taken.insert(joined(folder, &name)) {
                let id = line.id.as_str();
                name = format!("{title} ({}).ipynb", &id[id.floor_char_boundary(id.len().saturating_sub(6))..]);
                taken.insert(joined(folder, &name));
            }
            notebooks.push(NotebookEntry {
                path: joined(folder, &name),
                workspace: folder.and(line.workspace),
                name,
                id: line.id,
                created_at: line.created_at,
                updated_at: line.updated_at,
                owners: line.owners,
            });
        }
        Ok(Self { workspaces, notebooks })
    }

    pub fn find(&self, path: &str) -> Result<ContentPlace, JupyterError> {
        let path = path.trim_matches('/');
        if path.is_empty() {
            return Ok(ContentPlace::Root);
        }
        if let Some(entry) = self.notebooks.iter().find(|entry| entry.path == path || is_id(path, &entry.id)) {
            return Ok(ContentPlace::Notebook(entry.clone()));
        }
        if let Some((id, name)) = self.workspaces.iter().find(|(_, name)| *name == path) {
            return Ok(ContentPlace::Workspace { id: id.clone(), name: name.clone() });
        }
        let Some(rest) = path.strip_prefix(WORKING_FILES) else { return Err(no_such(path)) };
        let rest = rest.trim_start_matches('/');
        if rest.is_empty() {
            return Ok(ContentPlace::FileFolders);
        }
        self.file(rest).ok_or_else(|| no_such(path))
    }

    fn file(&self, rest: &str) -> Option<ContentPlace> {
        self.notebooks.iter().find_map(|entry| {
            let folder = entry.path.strip_suffix(".ipynb")?;
            let file = rest.strip_prefix(folder).filter(|file| file.is_empty() || file.starts_with('/'))?;
            Some(ContentPlace::File { notebook: entry.clone(), file: file.trim_start_matches('/').to_owned() })
        })
    }

    /// The folder of a path whose last segment need not exist, and that segment.
    pub fn parent(&self, path: &str) -> Result<(ContentPlace, String), JupyterError> {
        let path = path.trim_matches('/');
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
        Ok((self.find(folder)?, name.to_owned()))
    }

    /// A name of the form `Untitled`, `Untitled1` … that is free in the folder.
    pub fn untitled(&self, workspace: Option<&WorkspaceId>) -> String {
        let folder = workspace.and_then(|id| self.workspaces.get(id)).map(String::as_str);
        let is_free =
            |title: &String| self.notebooks.iter().all(|entry| entry.path != joined(folder, &format!("{title}.ipynb")));
        let numbered = |number: usize| if number == 0 { "Untitled".to_owned() } else { format!("Untitled{number}") };
        (0..).map(numbered).find(is_free).unwrap_or_default()
    }
}

/// The target of a path.
pub async fn find(door: &JupyterDoor, token: &CallerToken, path: &str) -> Result<ContentPlace, JupyterError> {
    backing::settle(door, token).await?;
    Tree::read(&door.api, token).await?.find(path)
}

fn is_id(path: &str, id: &NotebookId) -> bool {
    path.strip_suffix(".ipynb").unwrap_or(path) == id.as_str()
}

pub fn no_such(path: &str) -> JupyterError {
    JupyterError::not_found(format!("no notebook, folder or file has the path '{path}', or you may not see it"))
}

fn joined(folder: Option<&str>, name: &str) -> String {
    folder.map_or_else(|| name.to_owned(), |folder| format!("{folder}/{name}"))
}

/// A title as a segment of a path.
pub fn segment(title: &str) -> String {
    let title = title.replace('/', "-");
    title.strip_suffix(".ipynb").unwrap_or(&title).to_owned()
}

/// Names of the caller's workspaces as folders, made unique.
async fn workspaces(api: &Api, token: &CallerToken) -> Result<BTreeMap<WorkspaceId, String>, JupyterError> {
    // Guests and agents have none, and may not ask.
    let listed = api.get(token, "/api/workspaces").await.unwrap_or_default();
    let mut taken = BTreeSet::from([WORKING_FILES.to_owned()]);
    let mut names = BTreeMap::new();
    for workspace in listed.as_array().into_iter().flatten() {
        let text = |key: &str| workspace.get(key).and_then(Value::as_str).unwrap_or_default();
        let Ok(id) = text("id").parse::<WorkspaceId>() else { continue };
        let mut name = segment(text("name"));
        if !taken.insert(name.clone()) {
            name = format!("{name} ({})", text("id"));
        }
        names.insert(id, name);
    }
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree() -> Tree {
        let entry = |id: &str, path: &str| NotebookEntry {
            id: id.parse().unwrap(),
            workspace: None,
            name: path.rsplit('/').next().unwrap().to_owned(),
            path: path.to_owned(),
            created_at: 0,
            updated_at: 0,
            owners: Vec::new(),
        };
        Tree {
            workspaces: BTreeMap::from([("w1".parse().unwrap(), "Team".to_owned())]),
            notebooks: vec![entry("n1", "Plot.ipynb"), entry("n2", "Team/Plot.ipynb"), entry("n3", "Untitled.ipynb")],
        }
    }

    #[test]
    fn paths_name_notebooks_folders_and_files() {
        let tree = tree();
        assert_eq!(tree.find("/").unwrap(), ContentPlace::Root);
        assert!(matches!(tree.find("Team").unwrap(), ContentPlace::Workspace { .. }));
        assert!(
            matches!(tree.find("Team/Plot.ipynb").unwrap(), ContentPlace::Notebook(entry) if entry.id.as_str() == "n2")
        );
        assert!(matches!(tree.find("n1.ipynb").unwrap(), ContentPlace::Notebook(entry) if entry.path == "Plot.ipynb"));
        let file = tree.find("working files/Team/Plot/data/a.csv").unwrap();
        assert!(
            matches!(file, ContentPlace::File { notebook, file } if notebook.id.as_str() == "n2" && file == "data/a.csv")
        );
        assert_eq!(tree.find("../etc/passwd").unwrap_err().status, 404);
        assert_eq!(tree.untitled(None), "Untitled1");
    }
}
