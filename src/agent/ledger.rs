//! Which kernel sessions this process holds, in a file: if the process is killed, the next one on this machine tells the
//! server that they are gone, instead of leaving their runs to the lease.
//!
//! One file per process, so that agents that share a folder or an identity leave each other alone.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use notarium_core::{AgentId, KernelSessionId, NotebookId};
use rustix::process::{Pid, test_kill_process};
use serde::{Deserialize, Serialize};

/// Largest file that is read, in bytes.
const MAX_FILE_BYTES: u64 = 1 << 20;

#[derive(Debug, Serialize, Deserialize)]
struct Content {
    agent: AgentId,
    process: i32,
    sessions: BTreeMap<KernelSessionId, NotebookId>,
}

/// See the module's documentation. Removed with the last session.
#[derive(Debug)]
pub(crate) struct Ledger {
    path: PathBuf,
    content: Content,
}

/// What a process that is gone has held.
#[derive(Debug)]
pub(crate) struct Orphans {
    path: PathBuf,
    pub sessions: BTreeMap<KernelSessionId, NotebookId>,
}

impl Ledger {
    pub fn new(folder: &Path, agent: AgentId) -> Self {
        let process = i32::try_from(std::process::id()).unwrap_or_default();
        let path = folder.join(format!("agent-{agent}-{process}.json"));
        Self { path, content: Content { agent, process, sessions: BTreeMap::new() } }
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

    /// A ledger that cannot be written costs only the early word: the server's lease ends what is gone.
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

    /// What earlier processes of this agent have left in the folder.
    pub fn orphans(&self) -> Vec<Orphans> {
        let Some(entries) = self.path.parent().and_then(|folder| std::fs::read_dir(folder).ok()) else {
            return Vec::new();
        };
        let begins = format!("agent-{}-", self.content.agent);
        let paths = entries.filter_map(|entry| entry.ok().map(|entry| entry.path()));
        let ours =
            paths.filter(|path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(&begins)));
        ours.filter_map(|path| read_orphans(path, self.content.process)).collect()
    }
}

impl Orphans {
    /// Their end has been told.
    pub fn forget(self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

fn read_orphans(path: PathBuf, own_process: i32) -> Option<Orphans> {
    path.metadata().ok().filter(|metadata| metadata.len() <= MAX_FILE_BYTES)?;
    let content: Content = serde_json::from_slice(&std::fs::read(&path).ok()?).ok()?;
    let is_alive = Pid::from_raw(content.process).is_some_and(|process| test_kill_process(process).is_ok());
    (content.process == own_process || !is_alive).then_some(Orphans { path, sessions: content.sessions })
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

    fn ledger(folder: &Path, agent: &str, process: i32) -> Ledger {
        let agent: AgentId = agent.parse().unwrap();
        let path = folder.join(format!("agent-{agent}-{process}.json"));
        Ledger { path, content: Content { agent, process, sessions: BTreeMap::new() } }
    }

    #[test]
    fn what_a_dead_process_held_is_found_once_and_what_a_live_one_holds_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let mut dead = std::process::Command::new("true").spawn().unwrap();
        dead.wait().unwrap();
        let dead = i32::try_from(dead.id()).unwrap();
        let parent = i32::try_from(std::os::unix::process::parent_id()).unwrap();
        for (agent, process) in [("a", dead), ("a", parent), ("b", dead)] {
            ledger(folder.path(), agent, process).add(format!("k{process}").parse().unwrap(), "n".parse().unwrap());
        }
        let mine = Ledger::new(folder.path(), "a".parse().unwrap());
        let mut found = mine.orphans();
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].sessions.keys().next().unwrap().as_str(), format!("k{dead}"));
        found.remove(0).forget();
        assert!(mine.orphans().is_empty());
    }

    #[test]
    fn the_last_session_takes_the_file_with_it() {
        let folder = tempfile::tempdir().unwrap();
        let mut ledger = Ledger::new(folder.path(), "a".parse().unwrap());
        ledger.add("k".parse().unwrap(), "n".parse().unwrap());
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
        ledger.remove(&"k".parse().unwrap());
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
