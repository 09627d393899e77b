//! A function that users register in a kernel as a tool for assistants.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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
