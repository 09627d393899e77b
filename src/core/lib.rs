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
//!
//! Files, from below (a file may name those before it, and all in its own folder):
//! - `values` (values of commands), `values/`: `decision` (the answer to a command: events or a rejection), `details` (facts
//!   of a rejection), `code_names`
//!   (names that cells read and leave), `kernel_commands`, `schedules`, `mask` (keys in texts)
//! - `redaction` (what it changes), `redaction/`: `texts` (of cells, with their origins), `scan` (two passes over a record)
//! - `command`, `authority` (operations, roles, scopes), `account_status`, `context` (sender, time, ids, limits, answers
//!   to queries)
//! - `ledger` (with the tokens of turns and calls), `ledger/`: `undo_stacks`, `runs` (use of kernels, bytes of runs),
//!   `bound_names`, `registrations`
//! - `checks`, `access` (authorises commands), `notebook` (document and ledger, seal, commands about the whole)
//! - `functions` (registered by users, called by people), `functions/`: `tools` (the table), `schema`
//! - `runs` (executions, queues), `runs/`: `expected_effects` (of people), `kernels`, `launches` (machines of kernels), `reports`, `refusals`, `function_restores`, `widgets`
//! - `reactive` (plans), `reactive/`: `graph`, `staleness`
//! - `schedules` (set by people, claimed and ended by the server)
//! - `cells`, `cells/`: `comments`, `redact_content`, `restore_notebook`, `undo`, `undo_text`
//! - `assistants` (conversations and turns), `assistants/`: `attachments`, `call_effects`, `call_risk`, `gate` (which calls wait; grants),
//!   `calls` (decided and ended), `kernel_tools`
//! - `audit` (of a record: who might), `record_check` (its hashes too), `traced_commands` (what its events show of
//!   commands)
//! - `decide` (dispatches commands), `decide/`: `tool_calls` (requested and started)

#![warn(missing_docs)]

mod access;
mod account_status;
mod assistants;
mod audit;
mod authority;
mod cells;
mod checks;
mod command;
mod context;
mod decide;
mod functions;
mod ledger;
mod levels;
mod notebook;
pub mod reactive;
mod record_check;
mod redaction;
mod runs;
mod schedules;
mod traced_commands;
mod values;

pub use access::{granted_role, lacks_scope, may, not_open, role_of};
pub use account_status::{AccountStatus, AccountStatuses, required_account_status};
pub use assistants::call_effects::effects_in_words;
pub use assistants::call_risk::required_judgement;
pub use assistants::calls::{CallAnswer, CallResults, may_decide, missing_results, sweep_due};
pub use assistants::gate::{arguments_hash, target_change};
pub use assistants::{MAX_MODEL_CALLS, attachments, kernel_tools};
pub use audit::{AuditBreak, RecordAudit};
pub use authority::{Authority, DelegatedAuthority, Operation, operation};
pub use cells::MAX_REPLY_UNITS;
pub use cells::restore_notebook::required_past;
pub use checks::{day, erased};
pub use command::Command;
pub use context::{
    BUSY_CONVERSATIONS_PER_TOKEN, Context, EXPIRY_MS, History, IdSource, Judgement, JudgementQuery, Limits,
    MAX_CALLS_PER_MINUTE, RecordedChange,
};
pub use decide::{decide, required_history};
pub use functions::tools;
pub use ledger::undo_stacks::{NextStep, NextSteps, UndoGroup, UndoStacks};
pub use ledger::{KernelVariables, Ledger};
pub use levels::{LEVEL, required_level};
pub use notarium_record::*;
pub use notebook::{Notebook, seal};
pub use record_check::RecordCheck;
pub use redaction::{MAX_REDACTED_EVENTS, RedactionPlan, RedactionSearch, RedactionTarget};
pub use runs::kernels::{default_session, is_python, session_of};
pub use runs::launches::{checked_labels, is_kept_for_its_agent, is_replaced_for_waiting_runs};
pub use traced_commands::{CommandTracer, TracedCommand, import_id, import_row};
pub use values::decision::{Decided, Decision, Outcome, Rejection, RejectionCode, wire_word, word};
pub use values::details::{LimitName, LimitUnit, RejectionDetails, if_known};
pub use values::erasure::{EraseNotebook, RedactContent};
pub use values::kernel_commands::{LaunchKernel, RestartKernel, SetKernelSettings};
pub use values::schedules::{EndScheduledRun, RemoveSchedule, RunSchedule, SetSchedule, StartScheduledRun};
pub use values::{
    AddComment, CellFlagChanges, Closed, CommentPlace, CommentTarget, EditComment, EditSource, ExecutionReport,
    ExecutionTarget, FlagMessage, InsertCell, MoveOutputs, NextInput, Place, RefusalReport, RequestExecution,
    RequestToolCall, RequestedEffects, RestoreNotebook, Revoked, StartTurn, TargetChange, TurnEnd, mask,
};
