//! Functions that users register in a kernel as tools for assistants.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ids::CellId;
use crate::json::RawObject;
use crate::open::Open;
use crate::tool_call::Risk;

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
}

/// Place in code of a registered function, as its kernel reports it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FunctionPlace {
    /// The function's name.
    pub name: String,
    /// The cell whose run registered the function. Absent: code of no cell did, or the kernel does not report it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cell_id: Option<CellId>,
    /// The module that defines the function. Absent: the notebook's code defines it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub module: Option<String>,
    /// The line in that cell or module, from 1. Absent: not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
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
