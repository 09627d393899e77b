//! Settings of rooms: limits and times in milliseconds.

use notarium_core::{InstanceId, Limits, Millis};

/// Settings that all rooms of a server share.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RoomConfig {
    /// Id of this run of the server.
    pub instance: InstanceId,
    /// Limits that `decide` enforces.
    pub limits: Limits,
    /// Maximum number of commands that are decided and appended together.
    pub max_batch_commands: usize,
    /// Payload bytes above which a batch takes no more commands.
    pub max_batch_bytes: usize,
    /// Number of missing events above which a subscriber gets a snapshot instead.
    pub max_tail_events: usize,
    /// Number of events of unconfirmed cells above which the text becomes a conflict copy.
    pub max_unconfirmed_events: usize,
    /// Recent events kept in memory: number and bytes while the notebook is busy, and bytes when it is idle.
    pub max_recent_events: usize,
    pub max_recent_bytes: usize,
    pub max_idle_recent_bytes: usize,
    /// The same limits after late edits needed older events, until the notebook is idle. Older events are read from the store, which blocks
    /// the whole room, so a flood of late edits must find its bases in memory.
    pub max_late_events: usize,
    pub max_late_bytes: usize,
    /// Number of answers to recent commands in memory; older ones are in the store.
    pub max_recent_answers: usize,
    /// Number of events between two snapshots.
    pub snapshot_events: u64,
    /// Maximum time that events are delayed to share a frame, on a busy notebook.
    pub max_frame_delay_ms: Millis,
    /// Minimum time between two presence frames.
    pub presence_delay_ms: Millis,
    /// Minimum time between two frames of assistants' activity.
    pub activity_delay_ms: Millis,
    /// Time after which a cursor without renewal is dropped.
    pub presence_ttl_ms: Millis,
    /// Time of silence after which an agent is shown as unreachable.
    pub unreachable_after_ms: Millis,
    /// Time of silence after which the agent's kernels are given up.
    pub lease_ms: Millis,
    /// Delay with which the catalog follows edits.
    pub catalog_delay_ms: Millis,
    /// Time without a command after which caches are freed.
    pub idle_ms: Millis,
    /// Time without clients and work after which a room ends.
    pub unload_after_ms: Millis,
    /// Delay before a failed load is repeated.
    pub retry_load_ms: Millis,
}

impl Default for RoomConfig {
    fn default() -> Self {
        Self {
            instance: InstanceId::new("instance").unwrap_or_else(|_| unreachable!("it has the shape of an id")),
            limits: Limits::default(),
            max_batch_commands: 512,
            max_batch_bytes: 1 << 20,
            max_tail_events: 2_000,
            max_unconfirmed_events: 2_000,
            max_recent_events: 1_024,
            max_recent_bytes: 256 << 10,
            max_idle_recent_bytes: 8 << 10,
            max_late_events: 4_096,
            max_late_bytes: 2 << 20,
            max_recent_answers: 128,
            snapshot_events: 1_000,
            max_frame_delay_ms: 20,
            presence_delay_ms: 50,
            activity_delay_ms: 30,
            presence_ttl_ms: 30_000,
            unreachable_after_ms: 3_000,
            lease_ms: 15 * 60_000,
            catalog_delay_ms: 5_000,
            idle_ms: 5_000,
            unload_after_ms: 60_000,
            retry_load_ms: 1_000,
        }
    }
}
