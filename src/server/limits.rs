//! What a server allows at most. Units are in the names.

use std::time::Duration;

use notarium_core::Actor;

/// What an account may use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Quota {
    /// Those that count for it.
    pub notebooks: u64,
    /// Of their records, with what an event costs beside its payload.
    pub log_bytes: u64,
    /// Of their large outputs.
    pub blob_bytes: u64,
}

/// What people and workspaces may use, and what a notebook may show.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Quotas {
    pub person: Quota,
    pub workspace: Quota,
    /// Of a notebook's state as JSON: what everybody who opens it is sent.
    pub state_bytes: u64,
}

impl Default for Quotas {
    fn default() -> Self {
        Self {
            person: Quota { notebooks: 10_000, log_bytes: 20 << 30, blob_bytes: 100 << 30 },
            workspace: Quota { notebooks: 50_000, log_bytes: 100 << 30, blob_bytes: 500 << 30 },
            state_bytes: 512 << 20,
        }
    }
}

/// Interval of a connection's pings, and the silence after which it is cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Heartbeat {
    pub ping: Duration,
    pub silence: Duration,
}

/// Limits of connections and requests; those of commands are the core's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerLimits {
    /// Of one WebSocket message. Larger ones are refused; twice as large ones end the connection.
    pub max_frame_bytes: usize,
    /// Of the body of a request, but for imports and blobs.
    pub max_request_bytes: usize,
    /// Of an imported file.
    pub max_import_bytes: usize,
    /// Files that are imported at a time.
    pub max_imports: usize,
    pub quotas: Quotas,
    /// Of one blob.
    pub max_blob_bytes: usize,
    /// Of all blobs that one export or one reading puts together.
    pub max_export_blob_bytes: u64,
    /// Of a file that goes to or comes from the folder of kernels.
    pub max_working_file_bytes: u64,
    /// How long a blob that no event names is kept.
    pub blob_grace: Duration,
    /// Between two searches for such blobs.
    pub sweep_interval: Duration,
    pub max_sockets: usize,
    /// What a connection may send before it is welcomed.
    pub max_hello_bytes: usize,
    /// Connections that have not said hello, in all and from one network.
    pub max_strangers: usize,
    pub max_strangers_per_network: usize,
    /// Sign-ins with a provider of OpenID Connect that were begun and not finished, in all and from one network.
    pub max_begun_sign_ins: usize,
    pub max_begun_sign_ins_per_network: usize,
    pub max_subscriptions_per_socket: usize,
    /// Of a runtime agent's large reports that are not stored yet, in all notebooks together: then nothing more is read from it.
    pub max_waiting_report_bytes: usize,
    /// What a runtime agent may have recorded in an hour, of all its runs: its reports and its large outputs.
    pub max_agent_output_bytes_per_hour: u64,
    /// Messages that a connection may get wrong in a minute.
    pub max_errors_per_minute: u32,
    /// Commands of one connection that wait for their answers; more are not read until half of them are answered.
    pub max_unanswered_commands: usize,
    /// Frames that wait for a connection before events are left out and it is caught up later.
    pub max_queued_frames: usize,
    /// … and bytes of them.
    pub max_queued_bytes: usize,
    /// Events that a check of the digest at an old version may have to replay.
    pub max_checked_events: u64,
    /// Requests and event streams that are open at a time; further ones wait. Sockets are counted apart.
    pub max_http_connections: usize,
    /// How long a connection may be open before its first byte comes.
    pub first_byte_timeout: Duration,
    /// How long the headers of a request may take, and how long a connection may wait for its next one.
    pub header_timeout: Duration,
    /// How long the body of a request may take beside the time that `min_bytes_per_second` gives it.
    pub body_timeout: Duration,
    pub hello_timeout: Duration,
    /// How long somebody who asks a kernel about code waits for its answer.
    pub kernel_question_timeout: Duration,
    /// How long somebody waits for the tables of a connection.
    pub connection_schema_timeout: Duration,
    /// Between two pings to a connection.
    pub heartbeat: Duration,
    /// The same for a runtime agent's: whoever waits for a run must learn soon that its agent hangs.
    pub agent_heartbeat: Duration,
    /// How long a connection may take none of the bytes that are sent to it.
    pub stall_timeout: Duration,
    /// What a connection must be able to take in a second, once it is behind, and what of a body must come in one.
    pub min_bytes_per_second: u64,
    /// How long stopping waits for connections and requests to end.
    pub drain_timeout: Duration,
}

impl Default for ServerLimits {
    fn default() -> Self {
        Self {
            max_frame_bytes: 8 << 20,
            max_request_bytes: 8 << 20,
            max_import_bytes: 256 << 20,
            max_imports: 4,
            quotas: Quotas::default(),
            max_blob_bytes: 256 << 20,
            max_export_blob_bytes: 512 << 20,
            max_working_file_bytes: 1 << 30,
            blob_grace: Duration::from_secs(24 * 60 * 60),
            sweep_interval: Duration::from_secs(6 * 60 * 60),
            max_sockets: 20_000,
            max_hello_bytes: 16 << 10,
            max_strangers: 4_096,
            max_strangers_per_network: 64,
            max_begun_sign_ins: 4_096,
            max_begun_sign_ins_per_network: 64,
            max_subscriptions_per_socket: 1_000,
            max_waiting_report_bytes: 16 << 20,
            max_agent_output_bytes_per_hour: 8 << 30,
            max_errors_per_minute: 60,
            max_unanswered_commands: 256,
            max_queued_frames: 1_024,
            max_queued_bytes: 8 << 20,
            max_checked_events: 10_000,
            max_http_connections: 10_000,
            first_byte_timeout: Duration::from_secs(5),
            header_timeout: Duration::from_secs(30),
            body_timeout: Duration::from_secs(20),
            hello_timeout: Duration::from_secs(10),
            kernel_question_timeout: Duration::from_secs(3),
            connection_schema_timeout: Duration::from_secs(10),
            heartbeat: Duration::from_secs(20),
            agent_heartbeat: Duration::from_secs(2),
            stall_timeout: Duration::from_secs(20),
            min_bytes_per_second: 64 << 10,
            drain_timeout: Duration::from_secs(10),
        }
    }
}

impl ServerLimits {
    /// The heartbeat of connections, but for runtime agents. Every ping is answered: silence for two and a half of them
    /// is death.
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

    /// No more connections than the system has files for: a quarter for requests, the rest for sockets.
    pub fn fit(&mut self, files: usize) {
        self.max_http_connections = self.max_http_connections.min(files / 4);
        self.max_sockets = self.max_sockets.min(files - files / 4);
    }
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
