//! Functions that users register in a kernel as tools for assistants: kept with the notebook, called in the kernel that
//! has registered them. When that kernel ends they stay, and wait for a kernel that registers them again.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::access::Operation;
use crate::context::Context;
use crate::decision::{Decided, Decision, Outcome};
use crate::kernels;
use crate::rejection::{Rejection, RejectionCode};
use crate::schema::{check_arguments, check_schema};
use crate::tools::{Arguments, CallFunction, Executor, TOOLS, Tool};
use notarium_record::{
    Document, KernelFunctionsForgotten, KernelFunctionsRegistered, KernelPhase, KernelSessionId, RawObject, Risk,
    UserFunction, Version,
};

/// Functions that one kernel registers, at most.
pub const MAX_FUNCTIONS: usize = 64;
pub const MAX_SCHEMA_BYTES: usize = 16 << 10;
/// What MCP calls a tool and a parameter of its own, beside those of the notebook.
const MCP_TOOL: &str = "await_confirmation";
const MCP_PARAMETER: &str = "notebook";
const MAX_NAME_CHARACTERS: usize = 64;
const MAX_VERSION_CHARACTERS: usize = 100;
const MAX_DESCRIPTION_CHARACTERS: usize = 4_000;

// --- register ---

pub(crate) fn decide_register(
    notebook: &Document,
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
    let forgotten = forgotten(notebook, context.limits.max_functions, &functions);
    let registered = KernelFunctionsRegistered { kernel_session, functions };
    let events = forgotten.into_iter().map(Decided::from).chain([registered.into()]).collect();
    Ok(Decision { events, outcome: Outcome::default() })
}

/// Functions whose kernels have ended make room for new ones, the oldest first.
fn forgotten(notebook: &Document, limit: usize, new: &[UserFunction]) -> Option<KernelFunctionsForgotten> {
    let is_new = |name: &str| new.iter().any(|function| function.name == name);
    let kept = notebook.functions.iter().filter(|(name, _)| !is_new(name));
    let excess = (kept.clone().count() + new.len()).saturating_sub(limit);
    let mut unused: Vec<_> = kept.filter(|(_, known)| known.kernel_session.is_none()).collect();
    unused.sort_by_key(|(_, known)| known.registered_version);
    let names: Vec<String> = unused.into_iter().take(excess).map(|(name, _)| name.clone()).collect();
    (!names.is_empty()).then_some(KernelFunctionsForgotten { names })
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
pub fn offered(notebook: &Document) -> Vec<Offered> {
    let available = notebook.functions.keys().filter_map(|name| available(notebook, name).ok());
    TOOLS.iter().map(Found::Tool).chain(available).map(Found::offered).collect()
}

/// The tool of that name; the refusal says why there is none now.
pub fn find<'a>(notebook: &'a Document, name: &str) -> Result<Found<'a>, Rejection> {
    Tool::find(name).map_or_else(|| available(notebook, name), |tool| Ok(Found::Tool(tool)))
}

fn available<'a>(notebook: &'a Document, name: &str) -> Result<Found<'a>, Rejection> {
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
pub(crate) fn change(notebook: &Document, name: &str, registered_version: Version) -> Option<String> {
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
            Found::Function(function, _) => summary(function),
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

/// One line for people.
fn summary(function: &UserFunction) -> String {
    let first = function.description.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    format!("Call the function {} of this notebook: {first}", function.name)
}
