//! Functions that kernels have registered.

use notarium_core::{CellId, KernelSessionId, Millis, Open, RawObject, Risk};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The functions of a notebook, by name.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Functions {
    /// Those that can be called, and those that wait for a kernel.
    pub functions: Vec<NotebookFunction>,
}

/// A function that somebody has registered in a kernel.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct NotebookFunction {
    /// By which it is called.
    pub name: String,
    /// Of this very definition; it changes when the function does.
    pub version: String,
    /// What it does, for people and models.
    pub description: String,
    /// JSON Schema of its arguments, of type object.
    pub schema: RawObject,
    /// What a call can do at worst; a destructive one is called by who says that it is meant.
    pub risk: Open<Risk>,
    /// The kernel that has it. Absent: it ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kernel_session: Option<KernelSessionId>,
    /// A cell that defines it, to go by its text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cell_id: Option<CellId>,
    /// Why it cannot be called now, and what to do. Absent: it can.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

/// What a function is called with.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct FunctionArguments {
    /// As its schema says.
    pub arguments: RawObject,
    /// A destructive function is called only if this is true.
    pub confirmed: bool,
    /// The call is interrupted after so many milliseconds; absent: never.
    pub timeout_ms: Option<Millis>,
}
