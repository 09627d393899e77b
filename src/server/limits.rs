//! Limits of a server: units are in the names. The process's own limit of open files bounds its connections.

pub mod clock;
pub mod connection_slots;
pub mod usage;

use std::time::Duration;

use notarium_core::Actor;
use rustix::process::{Resource, getrlimit, setrlimit};

/// Quota of a person or a workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Quota {
    /// Notebooks that count for the account.
    pub notebooks: u64,
    /// Bytes of their records, including the overhead per event.
    pub log_bytes: u64,
    /// Bytes of their large outputs.
    pub blob_bytes: u64,
}

/// Largest ages; `None`: kept for ever.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RetentionAges {
    pub blobs: Option<Duration>,
    pub snapshots: Option<Duration>,
}

notarium_core::with_defaults! {
    /// Quotas of people and workspaces, and the limit of a notebook's state.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct Quotas {
        pub person: Quota = Quota { notebooks: 10_000, log_bytes: 20 << 30, blob_bytes: 100 << 30 },
        pub workspace: Quota = Quota { notebooks: 50_000, log_bytes: 100 << 30, blob_bytes: 500 << 30 },
        /// Limit of a notebook's state as JSON, which every client that opens it receives.
        pub state_bytes: u64 = 512 << 20,
    }
}

/// Interval of a connection's pings, and the silence after which it is closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Heartbeat {
    pub ping: Duration,
    pub silence: Duration,
}

notarium_core::with_defaults! {
    /// Limits of connections and requests; limits of commands are in the core.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct ServerLimits {
        /// Limit of one WebSocket message. Larger ones are refused; at twice the size the connection ends.
        pub max_frame_bytes: usize = 8 << 20,
        /// Limit of a request's body, except for imports and blobs.
        pub max_request_bytes: usize = 8 << 20,
        /// Limit of an imported file.
        pub max_import_bytes: usize = 256 << 20,
        /// Largest picture in the text of a Markdown cell, as its address; an import makes an attachment of a larger one.
        pub max_inline_picture_bytes: usize = 8 << 10,
        /// Concurrent imports.
        pub max_imports: usize = 4,
        pub quotas: Quotas = Quotas::default(),
        /// Free space of a disk below which `/readyz` reports it.
        pub min_free_disk_bytes: u64 = 256 << 20,
        /// Limit of one blob.
        pub max_blob_bytes: usize = 256 << 20,
        /// Size from which a download of a blob is redirected to the bucket; absent: all are sent by this server.
        pub redirect_blobs_from: Option<u64> = None,
        /// Limit of all blobs together in one export or one read.
        pub max_export_blob_bytes: u64 = 512 << 20,
        /// Limit of a file to or from the folder of kernels.
        pub max_working_file_bytes: u64 = 1 << 30,
        /// Retention of a blob that no event names.
        pub blob_grace: Duration = Duration::from_secs(24 * 60 * 60),
        /// Interval of sweeps for such blobs.
        pub sweep_interval: Duration = Duration::from_secs(6 * 60 * 60),
        /// Ages above which large outputs and snapshots are removed.
        pub retention: RetentionAges = RetentionAges::default(),
        /// Time without a change after which a notebook's old events move to objects beside the blobs, if the store is PostgreSQL.
        pub cold_after: Option<Duration> = None,
        /// Time between two appends to the tree of heads; `None`: only by request.
        pub tree_interval: Option<Duration> = Some(Duration::from_secs(10 * 60)),
        /// True: everybody may read the checkpoint and the tiles of the tree of heads, not only administrators.
        pub is_tree_public: bool = false,
        /// Time for a webhook to answer.
        pub webhook_timeout: Duration = Duration::from_secs(10),
        /// Time for the mail server to take a mail.
        pub mail_timeout: Duration = Duration::from_secs(30),
        /// Time for which the first notice of a digest waits for others.
        pub mail_wait: Duration = Duration::from_secs(2 * 60),
        /// Least time between two mails to one person.
        pub mail_interval: Duration = Duration::from_secs(10 * 60),
        pub max_sockets: usize = 20_000,
        /// Bytes that a connection may send before it is welcomed.
        pub max_hello_bytes: usize = 16 << 10,
        /// Connections that have not sent `hello`, in total and per network.
        pub max_strangers: usize = 4_096,
        pub max_strangers_per_network: usize = 64,
        /// Sign-ins with OpenID Connect that were begun and not finished, in total and per network.
        pub max_begun_sign_ins: usize = 4_096,
        pub max_begun_sign_ins_per_network: usize = 64,
        pub max_subscriptions_per_socket: usize = 1_000,
        /// Bytes of a runtime agent's large reports that are not stored yet, over all notebooks. Above it the agent's
        /// connection is not read.
        pub max_waiting_report_bytes: usize = 16 << 20,
        /// Bytes that a runtime agent may have recorded in an hour, over all its runs: reports and large outputs.
        pub max_agent_output_bytes_per_hour: u64 = 8 << 30,
        /// Invalid messages that a connection may send in a minute.
        pub max_errors_per_minute: u32 = 60,
        /// Commands of one connection without an answer. At the limit reading stops until half of them are answered.
        pub max_unanswered_commands: usize = 256,
        /// Frames in a connection's outbox. Above it events are left out, and the connection catches up later.
        pub max_queued_frames: usize = 1_024,
        /// Bytes of those frames.
        pub max_queued_bytes: usize = 8 << 20,
        /// Events that a digest check at an old version may replay.
        pub max_checked_events: u64 = 10_000,
        /// Open requests and event streams; further ones wait. Sockets are counted separately.
        pub max_http_connections: usize = 10_000,
        /// Time from the start of a connection to its first byte.
        pub first_byte_timeout: Duration = Duration::from_secs(5),
        /// Time for the handshake of a TLS connection, from its first byte on.
        pub tls_handshake_timeout: Duration = Duration::from_secs(10),
        /// Time for the headers of a request, and idle time of a connection until its next one.
        pub header_timeout: Duration = Duration::from_secs(30),
        /// Time for a request's body, in addition to the time that `min_bytes_per_second` gives it.
        pub body_timeout: Duration = Duration::from_secs(20),
        pub hello_timeout: Duration = Duration::from_secs(10),
        /// Timeout of completions and inspections by a kernel.
        pub kernel_question_timeout: Duration = Duration::from_secs(3),
        /// Timeout of all other kernel questions: connections, tables, variables, formatting.
        pub connection_schema_timeout: Duration = Duration::from_secs(10),
        /// Interval of pings to a connection.
        pub heartbeat: Duration = Duration::from_secs(20),
        /// Interval of pings to a runtime agent, short because runs have to show soon that their agent hangs.
        pub agent_heartbeat: Duration = Duration::from_secs(2),
        /// Time in which a connection may accept no bytes before it is closed.
        pub stall_timeout: Duration = Duration::from_secs(20),
        /// Lowest rate at which a connection that lags accepts bytes, and at which a request's body arrives.
        pub min_bytes_per_second: u64 = 64 << 10,
        /// Time that a shutdown waits for connections and requests to end.
        pub drain_timeout: Duration = Duration::from_secs(10),
    }
}

impl ServerLimits {
    /// Heartbeat of all connections except runtime agents'. Every ping is answered, so silence for two and a half pings
    /// means that the connection is dead.
    pub fn usual_heartbeat(&self) -> Heartbeat {
        Heartbeat { ping: self.heartbeat, silence: self.heartbeat.mul_f32(2.5) }
    }

    /// The heartbeat of an actor's connections.
    pub fn heartbeat_of(&self, actor: &Actor) -> Heartbeat {
        match actor {
            Actor::Agent { .. } => Heartbeat { ping: self.agent_heartbeat, silence: self.agent_heartbeat * 3 },
            _ => self.usual_heartbeat(),
        }
    }

    /// Fits the limits of connections to the system's limit of open files: a quarter for requests, the rest for
    /// sockets.
    pub fn fit(&mut self, files: usize) {
        self.max_http_connections = self.max_http_connections.min(files / 4);
        self.max_sockets = self.max_sockets.min(files - files / 4);
    }
}

/// Files reserved for the data, its blobs, and the kernels of an agent in this process.
const RESERVED: u64 = 320;
/// Lower bound, even if the system allows fewer.
const LEAST: u64 = 64;

/// Raises the process's limit as far as the system allows; returns the share for connections. `None`: no limit.
pub fn files_for_connections() -> Option<usize> {
    let mut limit = getrlimit(Resource::Nofile);
    let allowed = limit.maximum;
    if limit.current != allowed {
        let before = std::mem::replace(&mut limit.current, allowed);
        if let Err(error) = setrlimit(Resource::Nofile, limit) {
            tracing::debug!(%error, "the limit of open files stays");
            limit.current = before;
        }
    }
    let files = limit.current?.saturating_sub(RESERVED).max(LEAST);
    Some(usize::try_from(files).unwrap_or(usize::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_connections_together_have_files() {
        for files in [64, 701, 1_000_000] {
            let mut limits = ServerLimits::default();
            let allowed = limits.max_http_connections + limits.max_sockets;
            limits.fit(files);
            assert!(limits.max_http_connections > 0);
            assert_eq!(limits.max_http_connections + limits.max_sockets, files.min(allowed), "{files}");
        }
    }
}
