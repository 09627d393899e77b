//! Table of the tools that chat, prompt cells and MCP offer. Each row has a tool's arguments, risk, right and executor,
//! and its texts for people and models. A notebook has these tools, and the functions that its living kernels have
//! registered.

use schemars::{JsonSchema, SchemaGenerator};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::authority::Operation;
use crate::functions::schema::{ArgumentMistake, check_arguments, check_names};
use crate::values::TargetChange;
use crate::values::decision::{RejectionCode, Result};
use notarium_record::{
    Cell, CellId, CellType, Document, Effect, ExecutionId, KernelSession, KernelSessionId, NotebookId, RawObject, Risk,
    ToolCallId, TurnId, UserFunction, Version,
};

/// Part that executes a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Executor {
    /// The core: the call becomes commands, decided in the append that starts it.
    Core,
    /// The server: it reads, waits for runs, creates notebooks, and reports.
    Server,
    /// The runtime agent, in the notebook's kernel.
    Agent,
}

/// One row of the table.
pub struct Tool {
    /// Name by which the tool is called, in `snake_case`.
    pub name: &'static str,
    /// Description for a person who decides on a call.
    pub summary: &'static str,
    /// Description for a model: what the tool does and when to use it.
    pub description: &'static str,
    /// Minimum risk; targets and code of a call can raise it.
    pub risk: Risk,
    /// Operation that requester and decider need.
    pub operation: Operation,
    /// Part that executes a call.
    pub executor: Executor,
    schema: fn() -> Value,
    parse: fn(&str) -> Result<Arguments, serde_json::Error>,
}

impl std::fmt::Debug for Tool {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(self.name)
    }
}

impl Tool {
    /// JSON Schema of the arguments.
    pub fn schema(&self) -> Value {
        (self.schema)()
    }

    /// Finds a row by its name.
    pub fn find(name: &str) -> Option<&'static Tool> {
        TOOLS.iter().find(|tool| tool.name == name)
    }

    /// Parses the arguments; the refusal says what is missing, unknown or wrong.
    pub fn arguments(&self, arguments: &RawObject) -> Result<Arguments> {
        let refused = |message: String| RejectionCode::InvalidArguments.because(message);
        let given: Map<String, Value> = serde_json::from_str(arguments.get()).unwrap_or_default();
        check_names(self.name, &self.schema(), &given, |value| !value.is_null()).map_err(ArgumentMistake::refusal)?;
        (self.parse)(arguments.get()).map_err(|error| refused(format!("{}: {error}", self.name)))
    }
}

fn code() -> CellType {
    CellType::Code
}

macro_rules! tools {
    ($(
        $name:literal $type:ident ($risk:ident, $operation:ident, $executor:ident)
        $summary:literal
        $description:literal
        { $($(#[$meta:meta])* $field:ident : $field_type:ty),* $(,)? }
    )*) => {
        $(
            #[allow(missing_docs, reason = "the row says it, and what stands here is read by models")]
            #[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
            #[serde(deny_unknown_fields)]
            pub struct $type { $($(#[$meta])* pub $field: $field_type),* }
        )*

        /// A call's arguments, typed.
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub enum Arguments {
            $(
                #[doc = $summary]
                $type($type),
            )*
            /// Call of a function that a kernel has registered.
            CallFunction(CallFunction),
        }

        impl Arguments {
            /// The tool's name.
            pub fn name(&self) -> &str {
                match self {
                    $(Arguments::$type(_) => $name,)*
                    Arguments::CallFunction(call) => &call.name,
                }
            }
        }

        /// All tools, in the order in which they are offered.
        pub static TOOLS: &[Tool] = &[$(Tool {
            name: $name,
            summary: $summary,
            description: $description,
            risk: Risk::$risk,
            operation: Operation::$operation,
            executor: Executor::$executor,
            schema: || schema_of::<$type>(),
            parse: |text| serde_json::from_str(text).map(Arguments::$type),
        }),*];
    };
}

fn schema_of<T: JsonSchema>() -> Value {
    let mut settings = schemars::generate::SchemaSettings::draft07();
    settings.inline_subschemas = true;
    settings.meta_schema = None;
    let mut schema = SchemaGenerator::new(settings).into_root_schema_for::<T>().to_value();
    if let Some(fields) = schema.as_object_mut() {
        fields.remove("title");
        fields.entry("properties").or_insert_with(|| Value::Object(Map::new()));
    }
    schema
}

/// Call of a registered function, with arguments that fit its schema.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallFunction {
    /// The function's name.
    pub name: String,
    /// Arguments as a JSON object, checked by the function's schema.
    pub arguments: RawObject,
    /// The kernel that has it.
    pub kernel_session: KernelSessionId,
}

/// A cell to make.
#[allow(missing_docs, reason = "what stands here is read by models")]
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewCell {
    #[serde(default = "code")]
    pub cell_type: CellType,
    pub source: String,
}

tools! {
    // --- reading ---
    "get_notebook_state" GetNotebookState (Read, Read, Server)
    "Read the notebook"
    "The notebook as it is now: cells with id, version, kind, source, status and previews of their outputs, and what is running. Read it before you change anything; name cells by id, never by position."
    {
        /// Previews of outputs as well. Default true.
        #[serde(default)] include_outputs: Option<bool>,
        /// Only these cells.
        #[serde(default)] cell_ids: Option<Vec<CellId>>,
    }
    "get_cell_outputs" GetCellOutputs (Read, Read, Server)
    "Read a cell's outputs"
    "All outputs of a cell's latest run, errors in full."
    { cell_id: CellId }
    "get_cell_image" GetCellImage (Read, Read, Server)
    "Look at a cell's picture"
    "The first picture that a cell shows, as PNG."
    { cell_id: CellId }
    "get_run_status" GetRunStatus (Read, Read, Server)
    "Ask how a run is going"
    "The state of one execution, with its outputs so far."
    { execution_id: ExecutionId }
    "list_notebooks" ListNotebooks (Read, Read, Server)
    "List notebooks"
    "The notebooks that the person you act for can see."
    { #[serde(default)] query: Option<String> }

    "describe_connection" DescribeConnection (Read, Run, Server)
    "List a database's tables"
    "The tables of a database that SQL cells can name, with their columns and types, and no rows. Without connection: which databases there are. Look here before you write SQL."
    {
        /// As it stands behind @ in an SQL cell's first line; duckdb is the database in the kernel's memory, a path is a file.
        #[serde(default)] connection: Option<String>,
        /// Only tables with this in schema.name.
        #[serde(default)] matching: Option<String>,
    }

    // --- cells ---
    "create_cell" CreateCell (Edit, Edit, Core)
    "Add a cell"
    "Adds one cell, at the end unless you say after which cell. It does not run."
    {
        #[serde(default = "code")] cell_type: CellType,
        source: String,
        /// Put it after this cell.
        #[serde(default)] after: Option<CellId>,
        /// Put it before this cell.
        #[serde(default)] before: Option<CellId>,
    }
    "create_cells" CreateCells (Edit, Edit, Server)
    "Add several cells"
    "Adds several cells in order. With run they are executed one after the other, and the answer tells for each whether it worked."
    {
        cells: Vec<NewCell>,
        #[serde(default)] after: Option<CellId>,
        #[serde(default)] run: bool,
        /// With run: as of execute_cell, for all of the cells.
        #[serde(default)] effects: Option<Vec<Effect>>,
    }
    "modify_cell" ModifyCell (Edit, Edit, Core)
    "Change a cell's text"
    "Replaces the text of a cell. cell_version is the version that you read: if the cell has changed since, you are told, and read it again."
    { cell_id: CellId, cell_version: Version, source: String }
    "move_cell" MoveCell (Edit, Edit, Core)
    "Move a cell"
    "Moves a cell after or before another one."
    {
        cell_id: CellId,
        #[serde(default)] after: Option<CellId>,
        #[serde(default)] before: Option<CellId>,
    }
    "delete_cell" DeleteCell (Destructive, Edit, Core)
    "Delete a cell"
    "Deletes a cell. A person must confirm it."
    { cell_id: CellId, cell_version: Version }
    "restore_cell" RestoreCell (Edit, Edit, Core)
    "Bring a cell back from the trash"
    "Brings a cell in the trash back where it was."
    { cell_id: CellId }
    "undo" Undo (Edit, Edit, Core)
    "Undo the assistant's own work"
    "Undoes one of your own calls (call_id is in its result), or all calls of one of your turns. Without arguments: your latest change."
    {
        #[serde(default)] call_id: Option<ToolCallId>,
        #[serde(default)] turn_id: Option<TurnId>,
    }

    // --- runs and kernels ---
    "execute_cell" ExecuteCell (Edit, Run, Server)
    "Run a cell"
    "Runs a code cell and waits up to 30 s for it. After that the run goes on: ask with get_run_status."
    {
        cell_id: CellId,
        /// The version that you read: refused if the cell has changed since. Absent: what stands there now.
        #[serde(default)] cell_version: Option<Version>,
        /// Only what the code needs outside the kernel's memory, if it was refused or surely will be: create (new files in the working folder), write (over files), remove, network, signal, database, open (what the kernel holds open). A person is asked. Without, all of these are refused and the code goes on.
        #[serde(default)] effects: Option<Vec<Effect>>,
    }
    "execute_cell_async" ExecuteCellAsync (Edit, Run, Core)
    "Run a cell without waiting"
    "Runs a code cell and returns the execution's id at once."
    {
        cell_id: CellId,
        /// The version that you read: refused if the cell has changed since. Absent: what stands there now.
        #[serde(default)] cell_version: Option<Version>,
        /// Only what the code needs outside the kernel's memory, if it was refused or surely will be: create (new files in the working folder), write (over files), remove, network, signal, database, open (what the kernel holds open). A person is asked. Without, all of these are refused and the code goes on.
        #[serde(default)] effects: Option<Vec<Effect>>,
    }
    "run_all" RunAll (Edit, Run, Server)
    "Run all cells"
    "Runs all code cells in order, stops at the first error, waits up to 30 s, and tells which cells failed."
    {
        /// As of execute_cell, for all of the cells.
        #[serde(default)] effects: Option<Vec<Effect>>,
    }
    "interrupt" Interrupt (Edit, ControlKernel, Core)
    "Interrupt the kernel"
    "Interrupts what the notebook's kernel is running."
    {}
    "restart_kernel" RestartKernel (Destructive, ControlKernel, Core)
    "Restart the kernel: all variables are lost"
    "Restarts the kernel: all variables are lost. A person must confirm it."
    {}

    // --- in the kernel ---
    "get_variables" GetVariables (Read, Run, Agent)
    "List the kernel's variables"
    "Names, types and sizes of the kernel's variables."
    {}
    "inspect_variable" InspectVariable (Read, Run, Agent)
    "Look at a variable"
    "A preview of one variable: shape and columns of a table, the first characters of a text."
    { name: String }
    "list_files" ListFiles (Read, Run, Agent)
    "List files beside the notebook"
    "Files in the kernel's working folder, or in a folder below it."
    { #[serde(default)] path: Option<String> }
    "read_file" ReadFile (Read, Run, Agent)
    "Read a file beside the notebook"
    "The beginning of a text file below the kernel's working folder."
    { path: String }
    "save_data" SaveData (Edit, Run, Agent)
    "Write a file beside the notebook"
    "Writes a text file below the kernel's working folder. To replace a file give overwrite with the SHA-256 of what it holds now; a person must confirm that."
    {
        path: String,
        content: String,
        /// SHA-256 (hex) of the file that is to be replaced. Absent: the file must not exist.
        #[serde(default)] overwrite: Option<String>,
    }

    // --- other notebooks ---
    "create_notebook" CreateNotebook (Edit, Edit, Server)
    "Make a new notebook"
    "Makes a new notebook. Only when the person asks for one."
    {
        title: String,
        #[serde(default)] notebook_id: Option<NotebookId>,
        /// Its first cells.
        #[serde(default)] cells: Option<Vec<NewCell>>,
        #[serde(default)] run: bool,
    }
}

// --- tools of a notebook ---

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
