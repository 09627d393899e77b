//! Tools that a notebook has now: the rows of the table, and the functions that its living kernels have registered.

use serde_json::Value;

use super::{Arguments, CallFunction, Executor, TOOLS, Tool};
use crate::authority::Operation;
use crate::functions::schema::{ArgumentMistake, check_arguments};
use crate::values::TargetChange;
use crate::values::decision::{RejectionCode, Result};
use notarium_record::{
    Cell, CellId, CellType, Document, KernelSession, KernelSessionId, RawObject, Risk, UserFunction, Version,
};

/// A tool that this notebook has.
#[derive(Debug, Clone, Copy)]
pub enum NotebookTool<'a> {
    /// A row of the table.
    Tool(&'static Tool),
    /// A function, and the living kernel that registered it.
    Function(&'a UserFunction, &'a KernelSessionId),
}

/// A tool as a model gets it.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolOffer {
    /// Name by which the tool is called.
    pub name: String,
    /// Description for people.
    pub summary: String,
    /// Description for a model: what the tool does and when to use it.
    pub description: String,
    /// JSON Schema of the arguments, of type object.
    pub schema: Value,
    /// Minimum risk; targets and code of a call can raise it.
    pub risk: Risk,
    /// Operation that requester and decider need.
    pub operation: Operation,
    /// Part that executes a call.
    pub executor: Executor,
    /// Version of a registered function; `None` for a tool of the table.
    pub version: Option<String>,
}

/// Every tool that can be called in this notebook now: the table's, then the functions of its kernels, by name.
pub fn offered(notebook: &Document) -> Vec<ToolOffer> {
    let available = notebook.functions.keys().filter_map(|name| available(notebook, name).ok());
    TOOLS.iter().map(NotebookTool::Tool).chain(available).map(NotebookTool::offered).collect()
}

/// Finds a tool by its name; the refusal says why it is missing now.
pub fn find<'a>(notebook: &'a Document, name: &str) -> Result<NotebookTool<'a>> {
    Tool::find(name).map_or_else(|| available(notebook, name), |tool| Ok(NotebookTool::Tool(tool)))
}

fn available<'a>(notebook: &'a Document, name: &str) -> Result<NotebookTool<'a>> {
    let refused = |message: String| Err(RejectionCode::UnknownTool.because(message));
    let Some(known) = notebook.functions.get(name) else {
        let names: Vec<String> = offered(notebook).into_iter().map(|tool| tool.name).collect();
        return refused(format!("there is no tool '{name}': there are {}", names.join(", ")));
    };
    match known.kernel_session.as_ref().filter(|id| notebook.kernels.get(*id).is_some_and(KernelSession::is_usable)) {
        Some(id) => Ok(NotebookTool::Function(&known.function, id)),
        None => refused(match defining_cell(notebook, name) {
            Some(cell) => format!("the kernel that had {name} has ended: run cell {cell}, which registers it again"),
            None => format!("the kernel that had {name} has ended: run the cell that registers it again"),
        }),
    }
}

/// The first code cell whose text defines a function of that name.
pub fn defining_cell<'a>(notebook: &'a Document, name: &str) -> Option<&'a CellId> {
    let defines = |cell: &Cell| cell.content.cell_type == CellType::Code && is_defined_in(&cell.content.source, name);
    notebook.ordered_cells().find(|(_, cell)| defines(cell)).map(|(id, _)| id)
}

/// Checks that a text has `def name(`, at any indentation.
pub(crate) fn is_defined_in(source: &str, name: &str) -> bool {
    let is_rest = |line: &str| {
        let rest = line.trim_start().trim_start_matches("async ").trim_start().strip_prefix("def ");
        rest.and_then(|rest| rest.trim_start().strip_prefix(name))
            .is_some_and(|rest| rest.trim_start().starts_with(['(', '[']))
    };
    source.lines().any(is_rest)
}

/// Returns why a function is not the one of that version; `None`: it is.
pub(crate) fn change(notebook: &Document, name: &str, registered_version: Version) -> Option<TargetChange> {
    let name = name.to_owned();
    match notebook.functions.get(&name) {
        Some(known) if known.registered_version != registered_version => Some(TargetChange::FunctionChanged { name }),
        _ => {
            let detail = available(notebook, &name).err()?.message;
            Some(TargetChange::FunctionGone { name, detail })
        }
    }
}

/// Operation that a call needs. Functions outside the table run in a kernel.
pub(crate) fn operation_of(function: &str) -> Operation {
    Tool::find(function).map_or(Operation::Run, |tool| tool.operation)
}

impl NotebookTool<'_> {
    pub(crate) fn risk(self) -> Risk {
        match self {
            NotebookTool::Tool(tool) => tool.risk,
            NotebookTool::Function(function, _) => function.risk.judged(),
        }
    }

    pub(crate) fn operation(self) -> Operation {
        match self {
            NotebookTool::Tool(tool) => tool.operation,
            NotebookTool::Function(..) => Operation::Run,
        }
    }

    /// Parses the arguments; the refusal says what is missing, unknown or wrong.
    pub fn arguments(self, given: &RawObject) -> Result<Arguments> {
        let (function, kernel_session) = match self {
            NotebookTool::Tool(tool) => return tool.arguments(given),
            NotebookTool::Function(function, kernel_session) => (function, kernel_session),
        };
        let refused = |message: String| RejectionCode::InvalidArguments.because(message);
        let values: Value =
            serde_json::from_str(given.get()).map_err(|error| refused(format!("{}: {error}", function.name)))?;
        let schema: Value = serde_json::from_str(function.schema.get()).unwrap_or_default();
        check_arguments(&function.name, &schema, values.as_object().unwrap_or(&serde_json::Map::new()))
            .map_err(ArgumentMistake::refusal)?;
        Ok(Arguments::CallFunction(CallFunction {
            name: function.name.clone(),
            arguments: given.clone(),
            kernel_session: kernel_session.clone(),
        }))
    }

    /// Description in one line, for people.
    pub fn summary(self) -> String {
        let function = match self {
            NotebookTool::Tool(tool) => return tool.summary.to_owned(),
            NotebookTool::Function(function, _) => function,
        };
        let first = function.description.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
        format!("Call the function {} of this notebook: {first}", function.name)
    }

    fn offered(self) -> ToolOffer {
        let (name, description, schema, executor, version) = match self {
            NotebookTool::Tool(tool) => (tool.name, tool.description, tool.schema(), tool.executor, None),
            NotebookTool::Function(function, _) => {
                let UserFunction { name, description, schema, version, .. } = function;
                let schema = serde_json::from_str(schema.get()).unwrap_or_default();
                (name.as_str(), description.as_str(), schema, Executor::Agent, Some(version.clone()))
            }
        };
        let (name, description) = (name.to_owned(), description.to_owned());
        let (risk, operation, summary) = (self.risk(), self.operation(), self.summary());
        ToolOffer { name, summary, description, schema, risk, operation, executor, version }
    }
}
