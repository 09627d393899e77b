//! The store of events, heads, commands, and the projections derived from them.
//!
//! Purpose: [`EventStore`] is the trait that the server writes to; [`Sqlite`] is the backend of one machine, [`Postgres`] that of many. Tests
//! have another, `tests/support/memory.rs`.
//!
//! Every backend passes the one suite in `tests/contract`.
//!
//! Invariants:
//! - A successful append is on disk: a process killed right after it loses none of it.
//! - Events, head and command ids of an append are written atomically.
//! - Versions of a notebook are gapless: an append whose `expected` is not the head writes nothing.
//! - Payloads are read back byte for byte as written; unknown event types survive.
//! - A blob is on disk, and its bytes have the hash that names it, before the event that names it is appended.
//!
//! Files: `event_store` (the trait, the catalog's order), `store_error`, `sqlite/` and `postgres/` (its backends), `group_commit` (queue and plan
//! of appends) with `commit_metrics`, `transfer` with `transfer_tables` and `move_store` (from one backend to the other), `content_locks` (redactions against derived writes),
//! `snapshots`, `past_text` (lines that ever
//! stood in cells), `blame` (who wrote what), `blobs/` (in a folder or a bucket), `segments` (old events as objects beside the blobs),
//! `schema` (migrations, and the end of an upgrade), `nodes` (the trait `NodeStore`: nodes of a cluster, holders of leases), `accounts/` (the trait `AccountStore`: people, tokens, workspaces, links), `spending/` (the trait
//! `SpendingStore`: reserved and counted model calls, caps), `backup`. In `sqlite/`: `open`, `folder` (files and lock),
//! `writer` (group commit) with `transaction` and `rows`, `reader`, `projections` and `catalog`, `copy` (for backups), `health`, `error`.
//!
//! This crate must never read the clock (but to measure its own writes), decide the meaning of an event for a notebook, or know HTTP. Only it knows SQL.

pub mod accounts;
pub mod backup;
mod blame;
pub mod blobs;
mod commit_metrics;
mod content_locks;
mod event_store;
mod group_commit;
mod logged_head;
#[cfg(feature = "postgres")]
mod move_store;
mod nodes;
mod past_text;
#[cfg(feature = "postgres")]
pub mod postgres;
mod schema;
mod search_text;
mod segments;
mod snapshots;
pub mod spending;
pub mod sqlite;
mod store_error;
#[cfg(feature = "postgres")]
mod transfer;
#[cfg(feature = "postgres")]
mod transfer_tables;
mod tree_turn;

pub use blame::{Blame, BlameRun};
pub use blobs::{BlobError, BlobLocation, BlobLocationError, Blobs};
pub use commit_metrics::CommitMetrics;
pub use content_locks::{ContentLocks, ContentReading, ContentWriting};
pub use event_store::*;
pub use logged_head::LoggedHead;
#[cfg(feature = "postgres")]
pub use move_store::{StorePlace, copy_store, move_store};
pub use nodes::{Lease, LivingNodes, NODE_TIMEOUT, Node, NodeStore, SeenNode};
pub use past_text::{LineSpan, PastLine, PastText, Stretch, lower_case};
#[cfg(feature = "postgres")]
pub use postgres::Postgres;
pub use search_text::{MAX_SEARCH_TEXT_CHARS, bounded, words};
pub use segments::{SegmentError, SegmentId, Segments};
pub use snapshots::{MAX_SNAPSHOT_GAP, Snapshot, SnapshotError, superfluous, thinned_out, within_gap};
pub use sqlite::Sqlite;
pub use store_error::{AppendError, StoreError};
#[cfg(feature = "postgres")]
pub use transfer::{TransferError, TransferStep, Transferred};
pub use tree_turn::TreeTurn;
