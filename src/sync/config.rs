//! How a room behaves; all times in milliseconds.

use notarium_core::{InstanceId, Limits, Millis};

/// Settings that all rooms of a server share.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RoomConfig {
    /// This life of the server.
    pub instance: InstanceId,
    /// What `decide` enforces.
    pub limits: Limits,
    /// Commands that are decided, and appended, together at most.
    pub max_batch_commands: usize,
    /// Payload bytes after which a batch takes no more commands.
    pub max_batch_bytes: usize,
    /// Missing events above which a subscriber gets a snapshot instead.
    pub max_tail_events: usize,
    /// Events of unconfirmed cells above which the text becomes a conflict copy.
    pub max_unconfirmed_events: usize,
    /// Recent events in memory: their number and bytes while the notebook is busy, and bytes when it is idle.
    pub max_recent_events: usize,
    pub max_recent_bytes: usize,
    pub max_idle_recent_bytes: usize,
    /// The same once late edits needed older ones, until the notebook is idle. What is older is read from the store, which
    /// the whole room waits for: a flood of late edits must find its bases in memory.
    pub max_late_events: usize,
    pub max_late_bytes: usize,
    /// Answers to recent commands in memory; older ones are in the store.
    pub max_recent_answers: usize,
    /// Events between two snapshots.
    pub snapshot_events: u64,
    /// Longest time that events are held back to share a frame, on a busy notebook.
    pub max_frame_delay_ms: Millis,
    /// Shortest time between two presence frames.
    pub presence_delay_ms: Millis,
    /// Shortest time between two frames of what assistants are writing.
    pub activity_delay_ms: Millis,
    /// A cursor that is not renewed for so long is forgotten.
    pub presence_ttl_ms: Millis,
    /// An agent unheard of for so long is shown as unreachable.
    pub unreachable_after_ms: Millis,
    /// … and its kernels are given up after so long.
    pub lease_ms: Millis,
    /// The catalog follows edits with this delay.
    pub catalog_delay_ms: Millis,
    /// After so long without a command, memory that only speeds things up is given back.
    pub idle_ms: Millis,
    /// A room without clients and work ends after so long.
    pub unload_after_ms: Millis,
    /// A failed load is repeated after so long.
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
