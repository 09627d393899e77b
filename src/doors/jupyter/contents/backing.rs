//! Files that programs make beside their own, kept in memory and never as notebooks. VS Code asks for an untitled notebook, renames it to
//! `<name>-jvsc-<uuid>.ipynb`, and deletes it at the end.
//!
//! So an untitled notebook becomes a notebook when it is used under its first name, or after a moment. Files belong to a token; they are
//! gone after a restart.

use std::sync::Arc;
use std::time::Duration;

use hashlink::LinkedHashMap;
use http::Method;
use notarium_core::WorkspaceId;
use parking_lot::Mutex;
use serde_json::{Value, json};

use crate::api::{CallerToken, encoded};
use crate::door::JupyterDoor;
use crate::error::JupyterError;
use crate::limits::JupyterLimits;

/// Part of the name of VS Code's files.
const MARK: &str = "-jvsc-";
/// Time in which a client that makes an untitled notebook for a file of its own renames it.
const MOMENT: Duration = Duration::from_secs(2);

/// True for the name of a file that VS Code makes beside its own.
pub fn is_backing(path: &str) -> bool {
    file_name(path).contains(MARK)
}

/// Name of the file of VS Code to which a backing file belongs.
pub fn name_before_mark(path: &str) -> &str {
    let name = file_name(path);
    let name = name.split_once(MARK).map_or(name, |(name, _)| name);
    name.strip_suffix(".ipynb").unwrap_or(name)
}

fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or_default()
}

type FileKey = ([u8; 32], String);

enum HeldFile {
    /// A notebook that is made when it is used.
    Untitled {
        title: String,
        workspace: Option<WorkspaceId>,
    },
    Backing {
        content: Value,
        size_bytes: usize,
    },
}

impl HeldFile {
    fn size_bytes(&self) -> usize {
        match self {
            Self::Untitled { title, .. } => title.len(),
            Self::Backing { size_bytes, .. } => *size_bytes,
        }
    }
}

/// The files in memory, the oldest first. Cheap to clone.
#[derive(Clone)]
pub struct BackingFiles {
    files: Arc<Mutex<LinkedHashMap<FileKey, HeldFile>>>,
    /// One untitled notebook is made at a time, so that a request that needs it waits for it.
    making: Arc<tokio::sync::Mutex<()>>,
    max_files: usize,
    max_bytes: usize,
}

impl BackingFiles {
    pub fn new(limits: &JupyterLimits) -> Self {
        let (max_files, max_bytes) = (limits.max_backing_files, limits.max_backing_bytes);
        Self { files: Arc::default(), making: Arc::default(), max_files, max_bytes }
    }

    fn put(&self, token: &CallerToken, path: &str, file: HeldFile) {
        let mut files = self.files.lock();
        files.insert((token.digest(), path.to_owned()), file);
        let mut bytes: usize = files.values().map(HeldFile::size_bytes).sum();
        while files.len() > self.max_files || bytes > self.max_bytes {
            bytes -= files.pop_front().map_or(bytes, |(_, oldest)| oldest.size_bytes());
        }
    }

    /// Keeps the content of a backing file.
    pub fn save(&self, token: &CallerToken, path: &str, content: Value) -> Result<(), JupyterError> {
        let size_bytes = content.to_string().len();
        if size_bytes > self.max_bytes / 4 {
            return Err(JupyterError::invalid(
                "the file is too large: save it as a notebook, under a name of your own",
            ));
        }
        self.put(token, path, HeldFile::Backing { content, size_bytes });
        Ok(())
    }

    /// Renames an untitled notebook or a backing file to a backing file; false if there is none.
    pub fn rename(&self, token: &CallerToken, from: &str, to: &str) -> bool {
        if !is_backing(to) {
            return false;
        }
        let Some(file) = self.files.lock().remove(&(token.digest(), from.to_owned())) else { return false };
        let file = match file {
            HeldFile::Untitled { .. } => HeldFile::Backing { content: empty_notebook(), size_bytes: 0 },
            file => file,
        };
        self.put(token, to, file);
        true
    }

    pub fn remove(&self, token: &CallerToken, path: &str) -> bool {
        self.files.lock().remove(&(token.digest(), path.to_owned())).is_some()
    }

    /// Content of a backing file.
    pub fn content(&self, token: &CallerToken, path: &str) -> Option<Value> {
        match self.files.lock().get(&(token.digest(), path.to_owned()))? {
            HeldFile::Backing { content, .. } => Some(content.clone()),
            HeldFile::Untitled { .. } => None,
        }
    }

    fn take_untitled(&self, token: &CallerToken) -> Vec<(String, Option<WorkspaceId>)> {
        let mut taken = Vec::new();
        self.files.lock().retain(|(of, _), file| match file {
            HeldFile::Untitled { title, workspace } if *of == token.digest() => {
                taken.push((std::mem::take(title), workspace.take()));
                false
            }
            _ => true,
        });
        taken
    }
}

fn empty_notebook() -> Value {
    json!({"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5})
}

/// Holds an untitled notebook until it is used, for a moment at most.
pub fn hold_untitled(
    door: &JupyterDoor,
    token: &CallerToken,
    path: &str,
    title: String,
    workspace: Option<WorkspaceId>,
) {
    door.backing.put(token, path, HeldFile::Untitled { title, workspace });
    let (door, token) = (door.clone(), token.clone());
    tokio::spawn(async move {
        tokio::time::sleep(MOMENT).await;
        if let Err(error) = settle(&door, &token).await {
            tracing::debug!(%error, "an untitled notebook of a Jupyter client was not made");
        }
    });
}

/// Makes the caller's untitled notebooks.
pub async fn settle(door: &JupyterDoor, token: &CallerToken) -> Result<(), JupyterError> {
    let _one_at_a_time = door.backing.making.lock().await;
    for (title, workspace) in door.backing.take_untitled(token) {
        let made = json!({"title": title, "with_cell": true});
        let made = door.api.json(token, Method::POST, "/api/notebooks", Some(made)).await?;
        if let Some(workspace) = workspace {
            let id = encoded(made["notebook"].as_str().unwrap_or_default());
            let place = json!({"workspace": workspace});
            door.api.json(token, Method::PUT, &format!("/api/notebooks/{id}/workspace"), Some(place)).await?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn token(text: &str) -> CallerToken {
        let mut headers = http::HeaderMap::new();
        headers.insert(http::header::AUTHORIZATION, format!("token {text}").parse().unwrap());
        CallerToken::of(&headers).unwrap()
    }

    fn untitled() -> HeldFile {
        HeldFile::Untitled { title: "Untitled".to_owned(), workspace: None }
    }

    #[test]
    fn names_of_vs_code() {
        assert!(is_backing("a/plot-jvsc-12.ipynb") && !is_backing("-jvsc-/plot.ipynb"));
        assert_eq!(name_before_mark("a/plot-jvsc-12.ipynb"), "plot");
        assert_eq!(name_before_mark("plot.ipynb-jvsc-12.ipynb"), "plot");
    }

    #[test]
    fn an_untitled_notebook_becomes_a_backing_file_of_its_token_alone() {
        let files = BackingFiles::new(&JupyterLimits::default());
        let (ann, bob) = (token("a"), token("b"));
        files.put(&ann, "Untitled.ipynb", untitled());
        assert!(!files.rename(&bob, "Untitled.ipynb", "x-jvsc-1.ipynb"));
        assert!(!files.rename(&ann, "Untitled.ipynb", "x.ipynb"), "it becomes a notebook");
        assert!(files.rename(&ann, "Untitled.ipynb", "x-jvsc-1.ipynb"));
        assert!(files.take_untitled(&ann).is_empty());
        assert_eq!(files.content(&ann, "x-jvsc-1.ipynb").unwrap()["nbformat"], 4);
        assert!(files.remove(&ann, "x-jvsc-1.ipynb") && !files.remove(&ann, "x-jvsc-1.ipynb"));
    }

    #[test]
    fn memory_is_bounded() {
        let limits = JupyterLimits { max_backing_files: 3, max_backing_bytes: 1_000, ..JupyterLimits::default() };
        let (files, ann) = (BackingFiles::new(&limits), token("a"));
        for name in ["a", "b", "c", "d"] {
            files.save(&ann, name, json!("x")).unwrap();
        }
        assert_eq!(files.content(&ann, "a"), None);
        assert!(files.save(&ann, "large", json!("x".repeat(300))).is_err());
        for name in ["e", "f", "g", "h", "i"] {
            files.save(&ann, name, json!("x".repeat(240))).unwrap();
        }
        assert_eq!(files.files.lock().len(), 3);
        files.put(&ann, "u", untitled());
        assert_eq!(files.take_untitled(&ann), [("Untitled".to_owned(), None)]);
    }
}
