//! A file with the kernel sessions that this process holds. If the process is killed, the next one on this machine reports their
//! ends, so that their runs need not wait for the lease to expire.
//!
//! One file per process, so that agents that share a folder or an identity do not interfere.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use notarium_core::{AgentId, KernelSessionId, NotebookId};
use serde::{Deserialize, Serialize};

use super::process_name::ProcessName;

/// Largest file that is read, in bytes.
const MAX_FILE_BYTES: u64 = 1 << 20;

#[derive(Debug, Serialize, Deserialize)]
struct SessionFileContent {
    agent: AgentId,
    #[serde(flatten)]
    process: ProcessName,
    sessions: BTreeMap<KernelSessionId, NotebookId>,
}

/// See the module's documentation. The file is removed with the last session.
#[derive(Debug)]
pub(crate) struct SessionFile {
    path: PathBuf,
    content: SessionFileContent,
}

/// Sessions that a dead process held.
#[derive(Debug)]
pub(crate) struct OrphanedSessions {
    path: PathBuf,
    pub sessions: BTreeMap<KernelSessionId, NotebookId>,
}

impl SessionFile {
    pub fn new(folder: &Path, agent: AgentId) -> Self {
        let process = ProcessName::own();
        let path = folder.join(format!("agent-{agent}-{}.json", process.process));
        Self { path, content: SessionFileContent { agent, process, sessions: BTreeMap::new() } }
    }

    pub fn add(&mut self, session: KernelSessionId, notebook: NotebookId) {
        self.content.sessions.insert(session, notebook);
        self.write();
    }

    pub fn remove(&mut self, session: &KernelSessionId) {
        if self.content.sessions.remove(session).is_some() {
            self.write();
        }
    }

    /// Writes the file. Without it the ends are reported later, when the server's lease expires.
    fn write(&self) {
        let written = if self.content.sessions.is_empty() {
            std::fs::remove_file(&self.path)
        } else {
            write_whole(&self.path, &serde_json::to_vec(&self.content).unwrap_or_default())
        };
        if let Err(error) = written {
            tracing::warn!(%error, path = %self.path.display(), "the list of kernels cannot be kept");
        }
    }

    /// Sessions that earlier processes of this agent left in the folder.
    pub fn orphans(&self) -> Vec<OrphanedSessions> {
        let Some(entries) = self.path.parent().and_then(|folder| std::fs::read_dir(folder).ok()) else {
            return Vec::new();
        };
        let begins = format!("agent-{}-", self.content.agent);
        let paths = entries.filter_map(|entry| entry.ok().map(|entry| entry.path()));
        let ours =
            paths.filter(|path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(&begins)));
        ours.filter_map(|path| read_orphans(path, self.content.process.process)).collect()
    }
}

impl OrphanedSessions {
    /// Removes the file: the ends are reported.
    pub fn forget(self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

fn read_orphans(path: PathBuf, own_process: i32) -> Option<OrphanedSessions> {
    path.metadata().ok().filter(|metadata| metadata.len() <= MAX_FILE_BYTES)?;
    let content: SessionFileContent = serde_json::from_slice(&std::fs::read(&path).ok()?).ok()?;
    (content.process.process == own_process || !content.process.is_alive())
        .then_some(OrphanedSessions { path, sessions: content.sessions })
}

fn write_whole(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    let beside = path.with_extension("new");
    std::fs::write(&beside, bytes)?;
    std::fs::rename(&beside, path)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ledger(folder: &Path, agent: &str, process: &ProcessName) -> SessionFile {
        let agent: AgentId = agent.parse().unwrap();
        let path = folder.join(format!("agent-{agent}-{}.json", process.process));
        SessionFile { path, content: SessionFileContent { agent, process: process.clone(), sessions: BTreeMap::new() } }
    }

    #[test]
    fn what_a_dead_process_held_is_found_once_and_what_a_live_one_holds_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let mut child = std::process::Command::new("true").spawn().unwrap();
        let dead = ProcessName::of(i32::try_from(child.id()).unwrap());
        child.wait().unwrap();
        let parent = ProcessName::of(i32::try_from(std::os::unix::process::parent_id()).unwrap());
        for (agent, process) in [("a", &dead), ("a", &parent), ("b", &dead)] {
            let session = format!("k{}", process.process).parse().unwrap();
            ledger(folder.path(), agent, process).add(session, "n".parse().unwrap());
        }
        let mine = SessionFile::new(folder.path(), "a".parse().unwrap());
        let mut found = mine.orphans();
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].sessions.keys().next().unwrap().as_str(), format!("k{}", dead.process));
        found.remove(0).forget();
        assert!(mine.orphans().is_empty());
    }

    #[test]
    fn the_last_session_takes_the_file_with_it() {
        let folder = tempfile::tempdir().unwrap();
        let mut ledger = SessionFile::new(folder.path(), "a".parse().unwrap());
        ledger.add("k".parse().unwrap(), "n".parse().unwrap());
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
        ledger.remove(&"k".parse().unwrap());
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
