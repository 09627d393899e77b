//! Values of a tool call: risk, targets, gate, passage, end. Functions that users register in a kernel as tools for
//! assistants.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::access::Actor;
use crate::effects::Effect;
use crate::ids::{CellId, GrantId, KernelSessionId, Millis, Version};
use crate::json::{Open, RawObject};

/// Risk of a tool call, from harmless to irreversible.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Risk {
    /// The call changes nothing.
    Read,
    /// The call makes changes that can be undone, or runs held code.
    Edit,
    /// The call runs code that reaches outside the notebook and destroys nothing, or that nothing holds.
    Sensitive,
    /// The call deletes, clears, restarts or overwrites something, or runs code that might.
    Destructive,
}

/// Means of a person's decision, as the server saw them. Later versions may add fields.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Means {
    /// The kind of program, by its own account.
    pub door: Open<Door>,
    /// The kind of token: `session`, `api`, `share` …
    pub credential: String,
    /// The owner's name for that session or token. Absent: none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub label: String,
}

/// Kind of program with which a person uses the server.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Door {
    /// The notebook's page, or another page of an allowed origin.
    Page,
    /// The command line.
    Terminal,
    /// Another program that sends REST requests.
    #[default]
    Rest,
    /// Another program that uses a WebSocket.
    Socket,
}

impl Open<Risk> {
    /// Risk that counts; an unknown one counts as destructive.
    pub fn judged(&self) -> Risk {
        self.known().copied().unwrap_or(Risk::Destructive)
    }
}

/// Policy of a notebook: which tool calls need no confirmation. Destructive calls need one under every policy.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Policy {
    /// Calls that read, edit or run held code pass (risks `read` and `edit`).
    #[default]
    Guarded,
    /// Only calls that read pass (risk `read`).
    AskForEveryEdit,
    /// All calls but destructive ones pass.
    Trusted,
}

/// Target of a tool call, in the version that it had at the request. A change of the target makes the call void.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Target {
    /// A cell's source, type, place and existence.
    Cell {
        /// The cell.
        cell_id: CellId,
        /// The cell's `cell_version` at the request.
        cell_version: Version,
    },
    /// All code and SQL cells, by number and newest version. Each change, move, insertion or deletion of such a cell
    /// changes one of the two.
    Code {
        /// Number of these cells at the request.
        cells: u64,
        /// The highest `cell_version` of these cells.
        newest_version: Version,
    },
    /// A kernel with all its variables.
    Kernel {
        /// The kernel's session. A restart begins another session.
        kernel_session: KernelSessionId,
    },
    /// A registered function, in its form since a version.
    Function {
        /// The function's name.
        name: String,
        /// The version of the event that registered the function in its present form.
        registered_version: Version,
    },
    /// A file on the kernel's machine.
    File {
        /// The path in the call's arguments. A relative path begins at the kernel's working folder.
        path: String,
        /// SHA-256 of the file's content, in lower-case hex. Absent: the file must not exist yet.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        sha256: Option<String>,
    },
}

/// Decision at the request of a call: it passes, or waits for a person.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Gate {
    /// The call passes: the policy allows its risk, or a grant covers it.
    Passes,
    /// A person must confirm it first.
    WaitsForPerson {
        /// Time at which the call expires, in milliseconds since 1970.
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

/// Reason why a call may start.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Passed {
    /// The policy allows the call's risk without a confirmation.
    Policy,
    /// A grant covers the call.
    Grant {
        /// Named by GrantIssued.
        grant_id: GrantId,
    },
    /// A person has confirmed the call.
    Confirmation {
        /// The person who confirmed the call.
        by: Actor,
    },
}

/// End of a tool call that had started.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ToolCallEnd {
    /// The call succeeded, or did a part of its work that the result names.
    Ok,
    /// The call failed; the result says why.
    Error,
    /// The outcome is not known, for example because the executing server died. The call is not repeated.
    OutcomeUnknown,
}

// --- functions of users ---

/// A registered function, as its kernel describes it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct UserFunction {
    /// The function's name: 1 to 64 ASCII letters, digits and `_`, a letter first.
    pub name: String,
    /// A text that changes when the function changes; at most 100 characters.
    #[serde(default)]
    pub version: String,
    /// Description for the model and for people: what the function does and when to use it. At most 4,000 characters.
    #[serde(default)]
    pub description: String,
    /// JSON Schema of the arguments, of type object; at most 16 KiB.
    pub schema: RawObject,
    /// The minimum risk of a call; targets and code can raise it. Treat an unknown risk as `destructive`.
    pub risk: Open<Risk>,
    /// Kinds of effects that a call may have, if the risk is `sensitive` or `destructive`; calls of a lower risk have none.
    /// Absent: none.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub effects: Vec<Open<Effect>>,
}

/// Place in code of a registered function, as its kernel reports it.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FunctionPlace {
    /// The function's name.
    pub name: String,
    /// The cell whose run registered the function. Absent: code of no cell did, or the kernel does not report it.
    pub cell_id: Option<CellId>,
    /// The module that defines the function. Absent: the notebook's code defines it.
    pub module: Option<String>,
    /// The line in that cell or module, from 1. Absent: not known.
    pub line: Option<u64>,
}

/// Functions that a new kernel lacks and that are not registered again automatically.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MissingFunctions {
    /// Names of the functions.
    pub names: Vec<String>,
    /// The cell that registered the functions; a person can run it. Absent: the cell is in the trash, or no cell registered them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cell_id: Option<CellId>,
    /// The reason why the cell was not run automatically, for people.
    pub reason: String,
}
