//! Work in the rooms that are open, summed up at each scrape. A room tells its own at its load, and whenever its row in the list of
//! notebooks is written: some moments after a change.

use dashmap::DashMap;
use notarium_core::{Document, ExecutionStatus, KernelPhase, NotebookId, ToolCallPhase};

/// Work of one notebook, or of all together.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RoomWork {
    /// Runs that wait for a kernel or for other runs.
    pub queued_runs: usize,
    pub running_runs: usize,
    /// Kernels that are requested or starting.
    pub starting_kernels: usize,
    pub running_kernels: usize,
    pub turns: usize,
    /// Tool calls that wait for a person.
    pub waiting_calls: usize,
}

impl From<&Document> for RoomWork {
    fn from(notebook: &Document) -> Self {
        let mut work = Self { turns: notebook.turns.len(), ..Self::default() };
        for run in notebook.executions.values() {
            match run.status {
                ExecutionStatus::Queued | ExecutionStatus::Assigned => work.queued_runs += 1,
                ExecutionStatus::Running => work.running_runs += 1,
                _ => {}
            }
        }
        for kernel in notebook.kernels.values() {
            match kernel.phase {
                KernelPhase::Requested | KernelPhase::Claimed => work.starting_kernels += 1,
                KernelPhase::Started | KernelPhase::Ending => work.running_kernels += 1,
            }
        }
        let calls = notebook.tool_calls.values();
        work.waiting_calls = calls.filter(|call| matches!(call.phase, ToolCallPhase::Waiting)).count();
        work
    }
}

impl RoomWork {
    fn add(&mut self, other: &Self) {
        self.queued_runs += other.queued_runs;
        self.running_runs += other.running_runs;
        self.starting_kernels += other.starting_kernels;
        self.running_kernels += other.running_kernels;
        self.turns += other.turns;
        self.waiting_calls += other.waiting_calls;
    }
}

#[derive(Debug, Default)]
struct OpenRoom {
    work: RoomWork,
    has_lease: bool,
}

/// The rooms that are open and loaded.
#[derive(Debug, Default)]
pub struct OpenRooms(DashMap<NotebookId, OpenRoom>);

impl OpenRooms {
    /// Notes a room that was loaded. Without the lease it takes no commands.
    pub fn loaded(&self, notebook: &NotebookId, work: RoomWork, has_lease: bool) {
        self.0.insert(notebook.clone(), OpenRoom { work, has_lease });
    }

    /// Notes the work of a room, if it is still open.
    pub fn changed(&self, notebook: &NotebookId, work: RoomWork) {
        if let Some(mut room) = self.0.get_mut(notebook) {
            room.work = work;
        }
    }

    pub fn closed(&self, notebook: &NotebookId) {
        self.0.remove(notebook);
    }

    /// Work of all, and the number of rooms with a lease.
    pub fn sum(&self) -> (RoomWork, usize) {
        let (mut work, mut leases) = (RoomWork::default(), 0);
        for room in &self.0 {
            work.add(&room.work);
            leases += usize::from(room.has_lease);
        }
        (work, leases)
    }

    /// Number of rooms that are read-only, because their lease could not be taken.
    pub fn without_lease(&self) -> usize {
        self.0.iter().filter(|room| !room.has_lease).count()
    }
}
