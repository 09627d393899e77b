//! Functions that users register in a kernel as tools for assistants.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ids::CellId;
use crate::json::RawObject;
use crate::open::Open;
use crate::tool_call::Risk;

/// A function as its kernel describes it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct UserFunction {
    /// An identifier of ASCII letters, digits and `_`.
    pub name: String,
    /// Any text that changes when the function does.
    #[serde(default)]
    pub version: String,
    /// What it does and when to use it, for the model and for people.
    #[serde(default)]
    pub description: String,
    /// JSON Schema of its arguments, of type object.
    pub schema: RawObject,
    /// At least this; what else a call would do can raise it.
    pub risk: Open<Risk>,
}

/// Where a registered function stands, as its kernel says.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FunctionPlace {
    /// Of the function.
    pub name: String,
    /// The cell whose run registered it; absent: code of no cell did, or the kernel does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cell_id: Option<CellId>,
    /// The module that defines it; absent: the notebook does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub module: Option<String>,
    /// The line there, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
}

/// Functions that a new kernel does not have, and that nothing registers by itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MissingFunctions {
    /// By which they are called.
    pub names: Vec<String>,
    /// The cell that registered them: run it, if that is right. Absent: it is gone, or no cell did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cell_id: Option<CellId>,
    /// Why the cell was not run by itself, in a sentence for people.
    pub reason: String,
}
