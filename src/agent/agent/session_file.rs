//! A file with the kernel sessions that this process holds. If the process is killed, the next one on this machine reports their
//! ends, so that their runs need not wait for the lease to expire.
//!
//! One file per process, so that agents that share a folder or an identity do not interfere.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use notarium_core::{AgentId, KernelSessionId, NotebookId};
use rustix::process::{Pid, test_kill_process};
use serde::{Deserialize, Serialize};

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

/// Unique name of a process: the system reuses process ids, and a zombie (an ended process that was not waited for) still has one.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct ProcessName {
    pub process: i32,
    /// Start time in the system's own format. Absent: written by an older version, or unknown to the system.
    started: Option<String>,
    /// Id of the machine's boot in which the process started.
    boot: Option<String>,
}

impl ProcessName {
    /// Name of the process that has this id now.
    pub fn of(process: i32) -> Self {
        Self { process, started: start_of(process), boot: boot() }
    }

    /// Name of this process.
    pub fn own() -> Self {
        Self::of(i32::try_from(std::process::id()).unwrap_or_default())
    }

    /// True if this process still runs.
    pub fn is_alive(&self) -> bool {
        let is_there = Pid::from_raw(self.process).is_some_and(|process| test_kill_process(process).is_ok());
        let is_other = |then: &Option<String>, now: Option<String>| then.is_some() && *then != now;
        is_there
            && !is_zombie(self.process)
            && !is_other(&self.boot, boot())
            && !is_other(&self.started, start_of(self.process))
    }
}

#[cfg(target_os = "linux")]
fn boot() -> Option<String> {
    std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok().map(|id| id.trim().to_owned())
}

/// Other systems have no boot id; the start time distinguishes processes.
#[cfg(not(target_os = "linux"))]
fn boot() -> Option<String> {
    None
}

/// The fields of `/proc/N/stat` after the command name, which may hold any character. The first is the state.
#[cfg(target_os = "linux")]
fn stat(process: i32) -> Option<Vec<String>> {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    let (_, fields) = stat.rsplit_once(')')?;
    Some(fields.split_whitespace().map(str::to_owned).collect())
}

/// Field 22 of `/proc/N/stat`: clock ticks after the machine's start.
#[cfg(target_os = "linux")]
fn start_of(process: i32) -> Option<String> {
    stat(process)?.get(19).cloned()
}

#[cfg(target_os = "linux")]
fn is_zombie(process: i32) -> bool {
    stat(process).is_some_and(|fields| fields.first().is_some_and(|state| matches!(state.as_str(), "Z" | "X")))
}

#[cfg(not(target_os = "linux"))]
fn ps(process: i32, field: &str) -> Option<String> {
    let shown = std::process::Command::new("ps").args(["-o", field, "-p", &process.to_string()]).output().ok()?;
    Some(String::from_utf8_lossy(&shown.stdout).trim().to_owned()).filter(|text| !text.is_empty())
}

#[cfg(not(target_os = "linux"))]
fn start_of(process: i32) -> Option<String> {
    ps(process, "lstart=")
}

#[cfg(not(target_os = "linux"))]
fn is_zombie(process: i32) -> bool {
    ps(process, "stat=").is_some_and(|state| state.starts_with('Z'))
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

    fn number(child: &std::process::Child) -> i32 {
        i32::try_from(child.id()).unwrap()
    }

    #[test]
    fn a_process_is_alive_until_it_ends_and_what_is_left_of_it_is_not() {
        assert!(ProcessName::own().is_alive());
        let mut child = std::process::Command::new("cat").stdin(std::process::Stdio::piped()).spawn().unwrap();
        let name = ProcessName::of(number(&child));
        assert!(name.is_alive());
        child.kill().unwrap();
        // The child was not waited for: it is a zombie once it has ended.
        let zombie = rustix::process::WaitIdOptions::EXITED | rustix::process::WaitIdOptions::NOWAIT;
        let id = Pid::from_raw(number(&child)).unwrap();
        rustix::process::waitid(rustix::process::WaitId::Pid(id), zombie).unwrap();
        assert!(test_kill_process(id).is_ok(), "its number is still taken");
        assert!(!name.is_alive());
        child.wait().unwrap();
        assert!(!name.is_alive());
    }

    #[test]
    fn another_process_of_the_same_number_is_another() {
        let own = ProcessName::own();
        assert!(!ProcessName { started: Some("1".to_owned()), ..own.clone() }.is_alive());
        if own.boot.is_some() {
            assert!(!ProcessName { boot: Some("another".to_owned()), ..own.clone() }.is_alive());
        }
        let written = serde_json::to_string(&own).unwrap();
        assert_eq!(serde_json::from_str::<ProcessName>(&written).unwrap(), own);
        let older: ProcessName = serde_json::from_str(&format!(r#"{{"process":{}}}"#, own.process)).unwrap();
        assert!(older.is_alive(), "an older version did not say more");
    }
}
