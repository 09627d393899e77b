//! Functions that users have registered in kernels, for calls.

use notarium_core::{CellId, KernelSessionId, Millis, Open, RawObject, Risk};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Functions of a notebook.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Functions {
    /// Functions by name: callable ones, and those without a running kernel.
    pub functions: Vec<NotebookFunction>,
}

/// A function that a user has registered in a kernel.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct NotebookFunction {
    /// Name for calls.
    pub name: String,
    /// Version of this definition; it changes with the function.
    pub version: String,
    /// Description for people and models.
    pub description: String,
    /// JSON Schema of its arguments, of type object.
    pub schema: RawObject,
    /// Highest risk of a call; a destructive function needs `confirmed`.
    pub risk: Open<Risk>,
    /// Kernel that has the function. Absent: the kernel ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kernel_session: Option<KernelSessionId>,
    /// Cell that probably defines it, found by its text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cell_id: Option<CellId>,
    /// Reason why it cannot be called now, and what to do. Absent: it can be called.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

/// Arguments and options of a call.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct FunctionArguments {
    /// Arguments that match the function's schema.
    pub arguments: RawObject,
    /// Confirmation; a destructive function is called only if this is true.
    pub confirmed: bool,
    /// Timeout in milliseconds, after which the call is interrupted; absent: none.
    pub timeout_ms: Option<Millis>,
}
