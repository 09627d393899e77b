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
pub mod attachments;
mod authority;
mod call_answer;
mod call_commands;
mod call_decisions;
mod call_rights;
mod call_risk;
mod causation;
mod cells;
mod checks;
mod closed;
mod code_links;
mod code_names;
mod command;
mod command_values;
mod comments;
mod context;
mod conversations;
mod decide;
mod decision;
mod dispatch;
mod executions;
mod function_calls;
mod function_restores;
mod functions;
mod gate;
mod grants;
mod history;
mod kernel_ends;
mod kernel_sessions;
pub mod kernel_tools;
mod kernel_uses;
mod kernels;
mod ledger;
mod left_behind;
mod lifecycle;
mod limits;
pub mod mask;
mod moved_outputs;
mod notebook;
pub mod offered;
mod planned;
mod queues;
pub mod reactivity;
mod registrations;
mod rejection;
mod replies;
mod reports;
mod requesters;
mod revocations;
mod schema;
mod seal;
mod standings;
mod tool_calls;
pub mod tools;
mod undo;
mod undo_stacks;
mod undo_text;
mod unposted;
mod widgets;
mod words;
mod written;

pub use access::{granted_role, not_open, role_of};
pub use authority::{Authority, DelegatedAuthority, Operation, operation};
pub use call_answer::{CallAnswer, CallResults, missing_results};
pub use call_decisions::{may_decide, sweep_due};
pub use call_risk::required_judgement;
pub use closed::Closed;
pub use command::Command;
pub use command_values::*;
pub use context::{Context, IdSource};
pub use conversations::MAX_MODEL_CALLS;
pub use decide::{decide, required_history};
pub use decision::{Decided, Decision, Outcome};
pub use gate::{arguments_hash, target_change};
pub use history::{History, Judgement, JudgementQuery};
pub use kernel_sessions::{default_session, is_python, session_of};
pub use ledger::Ledger;
pub use limits::{EXPIRY_MS, Limits, MAX_CALLS_PER_MINUTE};
pub use notarium_record::*;
pub use notebook::Notebook;
pub use rejection::{Rejection, RejectionCode};
pub use replies::MAX_REPLY_UNITS;
pub use seal::seal;
pub use standings::{Standing, Standings, required_standings};
pub use undo_stacks::{NextStep, NextSteps, UndoGroup, UndoStacks};
pub use words::word;
