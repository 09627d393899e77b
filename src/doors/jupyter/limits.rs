//! Limits of the door.

use std::time::Duration;

/// Limits of the door. Each has its unit in its name.
#[derive(Debug, Clone)]
pub struct JupyterLimits {
    /// One update of a client, and one message of a kernel's socket.
    pub max_update_bytes: usize,
    /// Updates of one session of a notebook; a new session follows, with a new document.
    pub max_document_growth_bytes: usize,
    /// Cells of the staging document.
    pub max_cells: u32,
    /// One awareness message (cursors and names).
    pub max_awareness_bytes: usize,
    /// Frames that wait for one client; a slower client is disconnected.
    pub max_queued_frames: usize,
    /// Bytes of one value that outputs keep in a blob, and of all that a session keeps.
    pub max_blob_bytes: u64,
    pub max_blobs_bytes: usize,
    /// WebSockets of the door.
    pub max_sockets: usize,
    /// Notebooks whose documents are kept after their last client has left.
    pub max_idle_rooms: usize,
    /// Documents on disk, for clients that come back, and their bytes.
    pub max_kept_documents: usize,
    pub max_kept_bytes: u64,
    /// Files in memory that programs make beside their own, and the bytes of all of them.
    pub max_backing_files: usize,
    pub max_backing_bytes: usize,
    /// Time that a command may take.
    pub command_timeout: Duration,
    /// Body of a REST request, except for notebooks and files.
    pub max_body_bytes: usize,
    /// Body of a notebook or a file.
    pub max_file_bytes: usize,
}

impl Default for JupyterLimits {
    fn default() -> Self {
        Self {
            max_update_bytes: 16 << 20,
            max_document_growth_bytes: 128 << 20,
            max_cells: 20_000,
            max_awareness_bytes: 64 << 10,
            max_queued_frames: 2_048,
            max_blob_bytes: 4 << 20,
            max_blobs_bytes: 64 << 20,
            max_sockets: 1_000,
            max_idle_rooms: 64,
            max_kept_documents: 256,
            max_kept_bytes: 512 << 20,
            max_backing_files: 500,
            max_backing_bytes: 64 << 20,
            command_timeout: Duration::from_secs(20),
            max_body_bytes: 1 << 20,
            max_file_bytes: 64 << 20,
        }
    }
}
