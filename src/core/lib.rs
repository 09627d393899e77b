//! The pure core of Notarium: commands in, events out.
//!
//! Purpose: [`decide`] turns a [`Command`] into [`Event`]s or a [`Rejection`]; [`Notebook::apply`] folds a recorded event
//! into a notebook. Everything that people see (the notebook, an `.ipynb`, the audit trail) is a fold of the same events.
//!
//! Invariants:
//! - No async, clock, environment, randomness, threads, I/O or hash-ordered maps. Time and new ids enter in [`Context`].
//! - `decide` authorises first and changes nothing; a rejected command leaves no trace.
//! - `apply` is total: it cannot fail, and an event that no longer fits is ignored rather than guessed at.
//! - Actor, time and version are never read from a command: the server stamps them.
//!
//! This crate must never know HTTP, SQL, JSON messages of the wire, or a kernel's protocol.

#![warn(missing_docs)]

mod access;
mod account_status;
mod assistants;
mod authority;
mod cells;
mod checks;
mod command;
mod context;
mod decide;
mod functions;
mod ledger;
mod notebook;
pub mod reactive;
mod runs;
mod values;

pub use access::{granted_role, not_open, role_of};
pub use account_status::{Standing, Standings, required_standings};
pub use assistants::call_answer::{CallAnswer, CallResults, missing_results};
pub use assistants::call_decisions::{may_decide, sweep_due};
pub use assistants::call_risk::required_judgement;
pub use assistants::gate::{arguments_hash, target_change};
pub use assistants::{MAX_MODEL_CALLS, attachments, kernel_tools};
pub use authority::{Authority, DelegatedAuthority, Operation, operation};
pub use cells::replies::MAX_REPLY_UNITS;
pub use command::Command;
pub use context::history::{History, Judgement, JudgementQuery};
pub use context::limits::{EXPIRY_MS, Limits, MAX_CALLS_PER_MINUTE};
pub use context::{Context, IdSource};
pub use decide::{decide, required_history};
pub use functions::{offered, tools};
pub use ledger::Ledger;
pub use ledger::undo_stacks::{NextStep, NextSteps, UndoGroup, UndoStacks};
pub use notarium_record::*;
pub use notebook::Notebook;
pub use notebook::seal::seal;
pub use runs::kernel_sessions::{default_session, is_python, session_of};
pub use values::closed::Closed;
pub use values::decision::{Decided, Decision, Outcome};
pub use values::rejection::{Rejection, RejectionCode};
pub use values::words::word;
pub use values::{
    AddComment, CellFlagChanges, CommentPlace, CommentTarget, EditComment, EditSource, ExecutionReport,
    ExecutionTarget, FlagMessage, InsertCell, MoveOutputs, Place, RequestExecution, RequestToolCall, Revoked,
    StartTurn, TurnEnd, mask,
};
