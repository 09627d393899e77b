//! Lock: one connection per runtime agent. Two processes with one token would each report the other's kernels as dead.
//!
//! The process that holds the lock keeps it, so a second process started by mistake ends no runs. The same process may
//! always reconnect, even if its old connection still looks alive after a network cut.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use dashmap::{DashMap, Entry};
use notarium_core::AgentId;
use tokio_util::sync::CancellationToken;

/// Locks of all connected agents. Cheap to clone.
#[derive(Clone, Default)]
pub struct AgentLocks(Arc<Locks>);

#[derive(Default)]
struct Locks {
    holders: DashMap<AgentId, Holder>,
    /// Number of the last lock.
    last: AtomicU64,
}

struct Holder {
    number: u64,
    /// `hello.instance`. Absent: a process that cannot be recognised.
    instance: Option<String>,
    taken_over: CancellationToken,
}

/// The right to speak as an agent, until it is dropped or taken over.
pub struct AgentLock {
    locks: AgentLocks,
    agent: AgentId,
    number: u64,
    taken_over: CancellationToken,
}

impl AgentLocks {
    /// Takes the agent's lock. `None`: another process has it.
    pub fn take(&self, agent: &AgentId, instance: Option<String>) -> Option<AgentLock> {
        let entry = self.0.holders.entry(agent.clone());
        if let Entry::Occupied(entry) = &entry {
            let holder = entry.get();
            if holder.instance.is_none() || holder.instance != instance {
                return None;
            }
            holder.taken_over.cancel();
        }
        let (number, taken_over) = (self.0.last.fetch_add(1, Ordering::Relaxed) + 1, CancellationToken::new());
        entry.insert(Holder { number, instance, taken_over: taken_over.clone() });
        Some(AgentLock { locks: self.clone(), agent: agent.clone(), number, taken_over })
    }
}

impl AgentLock {
    /// Waits until a newer connection of the same process has taken the lock.
    pub async fn taken_over(&self) {
        self.taken_over.cancelled().await;
    }
}

impl Drop for AgentLock {
    fn drop(&mut self) {
        self.locks.0.holders.remove_if(&self.agent, |_, holder| holder.number == self.number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn take(locks: &AgentLocks, agent: &str, instance: &str) -> Option<AgentLock> {
        locks.take(&agent.parse().unwrap(), Some(instance.to_owned()))
    }

    #[test]
    fn the_process_that_has_it_keeps_it_and_may_come_back() {
        let locks = AgentLocks::default();
        let old = take(&locks, "a", "one").unwrap();
        assert!(take(&locks, "a", "two").is_none());
        assert!(take(&locks, "b", "two").is_some(), "every agent has its own");
        let new = take(&locks, "a", "one").unwrap();
        assert!(old.taken_over.is_cancelled() && !new.taken_over.is_cancelled());
        drop(old);
        assert!(take(&locks, "a", "two").is_none(), "the old connection's end frees nothing");
        drop(new);
        assert!(take(&locks, "a", "two").is_some());
    }

    #[test]
    fn who_has_no_name_is_nobody_s_twin() {
        let locks = AgentLocks::default();
        let agent: AgentId = "a".parse().unwrap();
        let nameless = locks.take(&agent, None).unwrap();
        assert!(locks.take(&agent, None).is_none());
        drop(nameless);
        assert!(locks.take(&agent, None).is_some());
    }
}
