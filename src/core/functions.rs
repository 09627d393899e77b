//! Functions that users register in a kernel as tools for assistants: kept with the notebook, called in the kernel that
//! has registered them. When that kernel ends they stay, and wait for a kernel that registers them again.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::access::Operation;
use crate::context::Context;
use crate::decide::Decision;
use crate::event::FunctionsRegistered;
use crate::gate::Risk;
use crate::ids::{KernelSessionId, Version};
use crate::json::RawObject;
use crate::kernels;
use crate::notebook::{KernelPhase, Notebook};
use crate::rejection::{Rejection, RejectionCode};
use crate::schema::{check_arguments, check_schema};
use crate::tools::{Arguments, CallFunction, Executor, TOOLS, Tool};

/// Functions that one kernel registers, at most.
pub const MAX_FUNCTIONS: usize = 64;
/// Functions that a notebook keeps, at most; of those whose kernel has ended the oldest go.
const MAX_KEPT: usize = 128;
pub const MAX_SCHEMA_BYTES: usize = 16 << 10;
/// What MCP calls a tool and a parameter of its own, beside those of the notebook.
const MCP_TOOL: &str = "await_confirmation";
const MCP_PARAMETER: &str = "notebook";
const MAX_NAME_CHARACTERS: usize = 64;
const MAX_VERSION_CHARACTERS: usize = 100;
const MAX_DESCRIPTION_CHARACTERS: usize = 4_000;

/// A function as its kernel describes it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
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
    pub risk: Risk,
}

/// A function that the notebook knows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RegisteredFunction {
    pub function: UserFunction,
    /// Version of the event since which it is as it is.
    pub registered_version: Version,
    /// The kernel that runs it. Absent: it ended, and the function cannot be called until a kernel registers it again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kernel_session: Option<KernelSessionId>,
}

// --- register ---

pub(crate) fn decide_register(
    notebook: &Notebook,
    context: &Context,
    kernel_session: KernelSessionId,
    fence: Version,
    functions: Vec<UserFunction>,
) -> Result<Decision, Rejection> {
    let session = kernels::owned(notebook, context, &kernel_session)?;
    if session.fence != Some(fence) || session.phase != KernelPhase::Started {
        let message = "this kernel session is over or not yours: register nothing more for it";
        return Err(Rejection { actual_version: session.fence, ..Rejection::new(RejectionCode::StaleFence, message) });
    }
    check(&functions)?;
    let known = notebook.functions.values().filter(|known| known.kernel_session.as_ref() == Some(&kernel_session));
    let known: Vec<&UserFunction> = known.map(|known| &known.function).collect();
    let is_same = known.len() == functions.len() && functions.iter().all(|function| known.contains(&function));
    if is_same {
        return Ok(Decision::nothing());
    }
    Ok(Decision::one(FunctionsRegistered { kernel_session, functions }))
}

/// All or none: an assistant must not meet half of what somebody wrote.
fn check(functions: &[UserFunction]) -> Result<(), Rejection> {
    if functions.len() > MAX_FUNCTIONS {
        let message = format!("a kernel registers at most {MAX_FUNCTIONS} functions, not {}", functions.len());
        return Err(Rejection::new(RejectionCode::LimitExceeded, message));
    }
    let mut names = BTreeSet::new();
    for function in functions {
        check_one(function)?;
        if !names.insert(&function.name) {
            let message = format!("two functions are called {}: rename one", function.name);
            return Err(Rejection::new(RejectionCode::InvalidValue, message));
        }
    }
    Ok(())
}

fn check_one(function: &UserFunction) -> Result<(), Rejection> {
    let UserFunction { name, version, description, schema, .. } = function;
    let invalid = |message: String| Err(Rejection::new(RejectionCode::InvalidValue, message));
    let is_part = |character: char| character.is_ascii_alphanumeric() || character == '_';
    let is_identifier = name.len() <= MAX_NAME_CHARACTERS
        && name.starts_with(|first: char| first.is_ascii_alphabetic())
        && name.chars().all(is_part);
    if !is_identifier {
        let shown: String = name.chars().take(MAX_NAME_CHARACTERS).collect();
        return invalid(format!(
            "'{shown}' cannot be a function's name: it takes ASCII letters, digits and _, begins with a letter, and has at most {MAX_NAME_CHARACTERS} characters"
        ));
    }
    if Tool::find(name).is_some() || name == MCP_TOOL {
        return invalid(format!("{name} is the name of a tool that every notebook has: rename the function"));
    }
    let is_long = |text: &str, limit: usize| text.chars().count() > limit;
    if is_long(version, MAX_VERSION_CHARACTERS) || is_long(description, MAX_DESCRIPTION_CHARACTERS) {
        let message = format!(
            "{name}: a version has at most {MAX_VERSION_CHARACTERS} characters, a description {MAX_DESCRIPTION_CHARACTERS}"
        );
        return Err(Rejection::new(RejectionCode::LimitExceeded, message));
    }
    if schema.get().len() > MAX_SCHEMA_BYTES {
        let message =
            format!("{name}: its schema has more than {} KiB: simplify its parameters", MAX_SCHEMA_BYTES >> 10);
        return Err(Rejection::new(RejectionCode::LimitExceeded, message));
    }
    let parsed: Value = serde_json::from_str(schema.get()).unwrap_or_default();
    if parsed["properties"].get(MCP_PARAMETER).is_some() {
        return invalid(format!(
            "{name}: outside assistants say by '{MCP_PARAMETER}' which notebook they mean: rename the parameter"
        ));
    }
    check_schema(&parsed).or_else(|why| invalid(format!("{name}: its schema is no schema of arguments: {why}")))
}

/// The session's set is replaced. What is registered again as it was stays what it was.
pub(crate) fn apply_registered(notebook: &mut Notebook, event: &FunctionsRegistered, version: Version) {
    let id = &event.kernel_session;
    let is_new = |name: &String| event.functions.iter().any(|function| function.name == *name);
    notebook.functions.retain(|name, known| is_new(name) || known.kernel_session.as_ref() != Some(id));
    for function in &event.functions {
        let known = notebook.functions.get(&function.name).filter(|known| known.function == *function);
        let registered_version = known.map_or(version, |known| known.registered_version);
        let registered =
            RegisteredFunction { function: function.clone(), registered_version, kernel_session: Some(id.clone()) };
        notebook.functions.insert(function.name.clone(), registered);
    }
    forget_oldest(notebook);
}

fn forget_oldest(notebook: &mut Notebook) {
    while notebook.functions.len() > MAX_KEPT {
        let gone = notebook.functions.iter().filter(|(_, known)| known.kernel_session.is_none());
        let oldest = gone.min_by_key(|(_, known)| known.registered_version).map(|(name, _)| name.clone());
        let Some(name) = oldest else { return };
        notebook.functions.remove(&name);
    }
}

/// The kernel is no more: its functions cannot be called.
pub(crate) fn apply_kernel_ended(notebook: &mut Notebook, id: &KernelSessionId) {
    for known in notebook.functions.values_mut().filter(|known| known.kernel_session.as_ref() == Some(id)) {
        known.kernel_session = None;
    }
    forget_oldest(notebook);
}

// --- find ---

/// A tool that this notebook has.
#[derive(Debug, Clone, Copy)]
pub enum Found<'a> {
    Tool(&'static Tool),
    /// Of a kernel that lives.
    Function(&'a UserFunction, &'a KernelSessionId),
}

/// A tool as it is offered to a model.
#[derive(Debug, Clone, PartialEq)]
pub struct Offered {
    pub name: String,
    /// What it does, for people.
    pub summary: String,
    /// What it does and when to use it, for a model.
    pub description: String,
    /// JSON Schema of the arguments, of type object.
    pub schema: Value,
    pub risk: Risk,
    pub operation: Operation,
    pub executor: Executor,
    /// Of a registered function.
    pub version: Option<String>,
}

/// Every tool that can be called in this notebook now: the table's, then the functions of its kernels, by name.
pub fn offered(notebook: &Notebook) -> Vec<Offered> {
    let available = notebook.functions.keys().filter_map(|name| available(notebook, name).ok());
    TOOLS.iter().map(Found::Tool).chain(available).map(Found::offered).collect()
}

/// The tool of that name; the refusal says why there is none now.
pub fn find<'a>(notebook: &'a Notebook, name: &str) -> Result<Found<'a>, Rejection> {
    Tool::find(name).map_or_else(|| available(notebook, name), |tool| Ok(Found::Tool(tool)))
}

fn available<'a>(notebook: &'a Notebook, name: &str) -> Result<Found<'a>, Rejection> {
    let refused = |message: String| Err(Rejection::new(RejectionCode::UnknownTool, message));
    let Some(known) = notebook.functions.get(name) else {
        let names: Vec<String> = offered(notebook).into_iter().map(|tool| tool.name).collect();
        return refused(format!("there is no tool '{name}': there are {}", names.join(", ")));
    };
    match known.kernel_session.as_ref().filter(|id| kernels::usable(notebook, id).is_ok()) {
        Some(id) => Ok(Found::Function(&known.function, id)),
        None => refused(format!("the kernel that had {name} has ended: run the cell that registers it again")),
    }
}

/// Why a function is not what it was at that version; `None`: it is.
pub(crate) fn change(notebook: &Notebook, name: &str, registered_version: Version) -> Option<String> {
    match notebook.functions.get(name) {
        Some(known) if known.registered_version != registered_version => {
            Some(format!("{name} was registered anew, and is not what it was"))
        }
        _ => available(notebook, name).err().map(|rejection| rejection.message),
    }
}

/// The right that a call of it needs. What is not in the table runs in a kernel.
pub fn operation_of(function: &str) -> Operation {
    Tool::find(function).map_or(Operation::Run, |tool| tool.operation)
}

impl Found<'_> {
    pub fn risk(self) -> Risk {
        match self {
            Found::Tool(tool) => tool.risk,
            Found::Function(function, _) => function.risk,
        }
    }

    pub fn operation(self) -> Operation {
        match self {
            Found::Tool(tool) => tool.operation,
            Found::Function(..) => Operation::Run,
        }
    }

    /// Types the arguments; the refusal says what is missing, unknown or wrong.
    pub fn arguments(self, given: &RawObject) -> Result<Arguments, Rejection> {
        let (function, kernel_session) = match self {
            Found::Tool(tool) => return tool.arguments(given),
            Found::Function(function, kernel_session) => (function, kernel_session),
        };
        let refused = |message: String| Rejection::new(RejectionCode::InvalidArguments, message);
        let values: Value =
            serde_json::from_str(given.get()).map_err(|error| refused(format!("{}: {error}", function.name)))?;
        let schema: Value = serde_json::from_str(function.schema.get()).unwrap_or_default();
        check_arguments(&function.name, &schema, values.as_object().unwrap_or(&serde_json::Map::new()))
            .map_err(refused)?;
        Ok(Arguments::CallFunction(CallFunction {
            name: function.name.clone(),
            arguments: given.clone(),
            kernel_session: kernel_session.clone(),
        }))
    }

    /// One line for people.
    pub fn summary(self) -> String {
        match self {
            Found::Tool(tool) => tool.summary.to_owned(),
            Found::Function(function, _) => function.summary(),
        }
    }

    fn offered(self) -> Offered {
        let (risk, operation, summary) = (self.risk(), self.operation(), self.summary());
        match self {
            Found::Tool(tool) => Offered {
                name: tool.name.to_owned(),
                summary,
                description: tool.description.to_owned(),
                schema: tool.schema(),
                executor: tool.executor,
                version: None,
                risk,
                operation,
            },
            Found::Function(function, _) => Offered {
                name: function.name.clone(),
                summary,
                description: function.description.clone(),
                schema: serde_json::from_str(function.schema.get()).unwrap_or_default(),
                executor: Executor::Agent,
                version: Some(function.version.clone()),
                risk,
                operation,
            },
        }
    }
}

impl UserFunction {
    /// One line for people.
    pub fn summary(&self) -> String {
        let first = self.description.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
        format!("Call the function {} of this notebook: {first}", self.name)
    }
}
