//! Unique name of a process: the system reuses process ids, and a zombie (an ended process that was not waited for) still has one.

use rustix::process::{Pid, test_kill_process};
use serde::{Deserialize, Serialize};

/// Id of a process, with what distinguishes it from others of the same id.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ProcessName {
    pub process: i32,
    /// Start time in the system's own format. Absent: written by an older version, or unknown to the system.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    started: Option<String>,
    /// Id of the machine's boot in which the process started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
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
