//! The server: HTTP, sockets, accounts, one task per open notebook, read models.
//!
//! Purpose: [`Server::start`] opens the data, and serves REST, WebSocket and server-sent events. It brings waiting kernels
//! and runtime agents together, and resumes work that was under way. [`RunningServer::shut_down`] ends it in good order.
//!
//! Invariants:
//! - Every route has a guard: [`http::guard::GuardedRouter`] is the only way to add one. Every error is a problem, and every
//!   invalid message gets an answer that says what to do.
//! - A token is never read from a URL. Rights are checked at each operation; a revocation acts on live connections.
//! - Memory per connection is bounded. A slow reader is caught up from the log or disconnected, and does not slow others.
//! - A blob that an event names is on disk, under the notebook, with the hash that names it.
//!
//! Folders, from below; each may name those above it in this list:
//! - `tls/`: certificates from files, for the server's address and between nodes.
//! - `cluster`: port to the cluster: owner of a notebook, its lease, notices between nodes; its nodes over one store, and what they sign.
//! - `disks`: space of the disks that the server writes to.
//! - `upgrade`: the time in which the release before may still open the store.
//! - `limits/`: limits, quotas (`usage`), slots of anonymous connections, the clock.
//! - `metrics/`: metrics for Prometheus, as values that all others count in.
//! - `auth/`: accounts, tokens, sessions of browsers, sign-in with OpenID Connect, account status.
//! - `spending/`: usage of models by person, workspace, model and day; prices and caps.
//! - `rooms/`: one task per open notebook, its `handle` for all others; outboxes, the list of notebooks, snapshots, notices, reading of code.
//! - `http/`: serving, guards, problems, origins, the page, OpenAPI, bodies and streams.
//! - `blobs/`: blobs with their records, claims and checks; their sweep; large values of outputs.
//! - `timetable`: times of schedules, by cron and time zones.
//! - `signing`: the server's key for signed heads of records.
//! - `agents/`: runtime agents; their outputs, questions to kernels, files beside a notebook.
//! - `notebooks/`: reads and commands with their checks; lists, templates, history, files, output spill.
//! - `schedules/`: claims due runs of schedules, carries them out, reports their ends.
//! - `notices/`: notices to people from the log, their inbox, and the outbox for webhooks and mail.
//! - `assistants/`: the assistants' host, chat, tool calls, live activity, revocation.
//! - `app`: state shared by the handlers in `socket/` and `routes/`; `server` starts and stops all.
//!
//! This crate must never decide what a command does (the core does) or in which order things are shown (the rooms do).
//! Only this crate knows HTTP.

mod agents;
mod app;
mod assistants;
pub mod auth;
mod blobs;
mod cluster;
mod disks;
pub mod http;
mod limits;
pub mod metrics;
mod notebooks;
mod notices;
mod outage;
pub mod rooms;
pub mod routes;
mod schedules;
mod server;
mod signing;
mod socket;
pub mod spending;
mod timetable;
mod tls;
mod tree_log;
mod upgrade;

pub use crate::http::page::{PageFiles, install_page};
pub use crate::server::StartError;
pub use agents::Agents;
pub use app::App;
pub use assistants::AssistantHost;
pub use auth::oidc::{GroupSettings, InvalidOidc, OidcSettings};
pub use cluster::ClusterSettings;
pub use limits::clock::Clock;
pub use limits::{Quota, Quotas, RetentionAges, ServerLimits};
pub use notices::{InvalidMail, MailServer, NoticeOptions};
pub use server::{DoorContext, MountContext, RunningServer, Server, ServerConfig};
pub use tls::{CertificateFiles, NodeTlsFiles};
