//! The pure core of Notarium: commands in, events out.
//!
//! Purpose: [`decide`] turns a [`Command`] into [`Event`]s or a [`Rejection`]; [`apply`] folds a recorded event into a
//! [`Notebook`]. Everything that people see (the notebook, an `.ipynb`, the audit trail) is a fold of the same events.
//!
//! Invariants:
//! - No async, clock, environment, randomness, threads, I/O or hash-ordered maps. Time and new ids enter in [`Context`].
//! - `decide` authorises first and changes nothing; a rejected command leaves no trace.
//! - `apply` is total: it cannot fail, and an event that no longer fits is ignored rather than guessed at.
//! - Actor, time and version are never read from a command: the server stamps them.
//!
//! This crate must never know HTTP, SQL, JSON messages of the wire, or a kernel's protocol.

mod access;
mod actor;
mod append;
mod apply;
mod call_answer;
mod call_commands;
mod call_decisions;
mod call_rights;
mod call_risk;
mod cells;
mod command;
mod context;
mod conversations;
mod decide;
mod envelope;
mod event;
mod executions;
mod functions;
mod gate;
mod grants;
mod history;
mod ids;
mod json;
pub mod kernel_tools;
mod kernels;
mod lifecycle;
mod limits;
mod notebook;
mod order_key;
mod rejection;
mod replies;
mod reports;
mod schema;
pub mod text;
mod tool_calls;
pub mod tools;
mod undo;
mod undo_text;

pub use access::{
    ASSISTANT_SCOPES, Authority, DelegatedAuthority, Operation, Role, Scope, Scopes, Subject, assistant_scopes,
    granted_role, role_of,
};
pub use actor::Actor;
pub use append::{Append, CommandRecord, Epoch, NewEvent};
pub use apply::apply;
pub use call_answer::CallAnswer;
pub use call_decisions::{may_decide, sweep_due};
pub use call_risk::required_judgement;
pub use command::*;
pub use context::{Context, IdSource};
pub use conversations::*;
pub use decide::{Decided, Decision, Outcome, decide, operation, required_history};
pub use envelope::{ChainError, Envelope, Hash, Head, Recorded, Salt, Stored, seal, verify_chain};
pub use event::*;
pub use functions::{MAX_FUNCTIONS, MAX_SCHEMA_BYTES, RegisteredFunction, UserFunction};
pub use gate::{AssistantGrant, Passed, Policy, Risk, Target, arguments_hash};
pub use history::{History, HistoryQuery, Judgement, JudgementQuery, Logged, Selection, deleted_executions, in_order};
pub use ids::*;
pub use json::{RawJson, RawObject};
pub use kernels::{default_session, is_python};
pub use limits::Limits;
pub use notebook::*;
pub use order_key::OrderKey;
pub use rejection::{Rejection, RejectionCode};
pub use replies::{MAX_REPLY_BYTES, REPLY_CUT, Reply, ReplyStatus};
pub use tool_calls::{EXPIRY_MS, MAX_CALLS_PER_MINUTE, ToolCall, ToolCallEnd, ToolCallPhase};
