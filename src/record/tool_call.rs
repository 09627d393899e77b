//! Values of a tool call: risk, targets, gate, passage, end.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::actor::Actor;
use crate::ids::{CellId, GrantId, KernelSessionId, Millis, Version};
use crate::open::Open;

/// What a tool call can do, from harmless to what cannot be taken back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Risk {
    /// Changes nothing.
    Read,
    /// Changes what can be undone; runs harmless code.
    Edit,
    /// Runs code that reaches outside the notebook, though it destroys nothing.
    Sensitive,
    /// Deletes, clears, restarts, overwrites, or runs code that might.
    Destructive,
}

/// How a person decided, as the server saw it. Later versions may add fields.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Means {
    /// Through which door, as the program presented itself.
    pub door: Open<Door>,
    /// The kind of what was shown there: `session`, `api`, `share` …
    pub credential: String,
    /// What its owner calls that session or token.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub label: String,
}

/// Where somebody comes in.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Door {
    /// The notebook's page, or another one of an allowed origin.
    Page,
    /// The command line.
    Terminal,
    /// A request of another program.
    #[default]
    Rest,
    /// A socket of another program.
    Socket,
}

impl Open<Risk> {
    /// Risk that counts; an unknown one counts as destructive.
    pub fn judged(&self) -> Risk {
        self.known().copied().unwrap_or(Risk::Destructive)
    }
}

/// How much an assistant may do unasked in a notebook. What destroys asks under every policy.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Policy {
    /// Reading, editing and running harmless code pass.
    #[default]
    Guarded,
    /// Only reading passes.
    AskForEveryEdit,
    /// All passes that destroys nothing.
    Trusted,
}

/// Something that a call touches, as it was when the call was requested. A change of it voids the call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Target {
    /// A cell's source, type, place and existence.
    Cell {
        /// The cell.
        cell_id: CellId,
        /// The `cell_version` that it had.
        cell_version: Version,
    },
    /// All code cells: how many, and the newest of their versions. Each change of one of them, of their order or of which
    /// there are changes one of the two.
    Code {
        /// How many there were.
        cells: u64,
        /// The highest `cell_version` among them.
        newest_version: Version,
    },
    /// A kernel and all that its code has made.
    Kernel {
        /// A restart begins another session.
        kernel_session: KernelSessionId,
    },
    /// A registered function, as it is since that version.
    Function {
        /// The function's name.
        name: String,
        /// The version of the event since which it is as it is.
        registered_version: Version,
    },
    /// A file where the kernel runs. `sha256`: of what it holds; absent: it must not exist yet.
    File {
        /// As the tool was given it: relative paths begin where the kernel runs.
        path: String,
        /// Lower-case hex.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        sha256: Option<String>,
    },
}

/// Whether anybody is asked before a call starts, as it was judged when the call was requested.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Gate {
    /// Its risk passes under the policy, or a grant covers it.
    Passes,
    /// A person must confirm it first.
    WaitsForPerson {
        /// Then it expires.
        until: Millis,
    },
}

impl Open<Gate> {
    /// Returns true unless the call passes; an unknown gate waits.
    pub fn waits(&self) -> bool {
        *self != Gate::Passes
    }

    /// Time at which a waiting call expires, in ms since 1970.
    pub fn until(&self) -> Option<Millis> {
        match self.known() {
            Some(Gate::WaitsForPerson { until }) => Some(*until),
            _ => None,
        }
    }
}

/// What let a call through.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Passed {
    /// Its risk asks nobody under the policy.
    Policy,
    /// A person's leave, given beforehand.
    Grant {
        /// Named by GrantIssued.
        grant_id: GrantId,
    },
    /// This person's confirmation.
    Confirmation {
        /// Who.
        by: Actor,
    },
}

/// How a call that started came to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ToolCallEnd {
    /// It did what it was to do, or a part that it says.
    Ok,
    /// It was tried and failed; the result says why.
    Error,
    /// Whoever executed it died meanwhile. It is not repeated.
    OutcomeUnknown,
}
