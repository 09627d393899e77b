//! Table of the tools that chat, prompt cells and MCP offer. Each row has a tool's arguments, risk, right and executor,
//! and its texts for people and models. A notebook has these tools, and the functions that its living kernels have
//! registered ([`offered`]).

mod offered;

use schemars::{JsonSchema, SchemaGenerator};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::authority::Operation;
use crate::functions::schema::{ArgumentMistake, check_names};
use crate::values::decision::{RejectionCode, Result};
use notarium_record::{
    CellId, CellType, Effect, ExecutionId, KernelSessionId, NotebookId, RawObject, Risk, ToolCallId, TurnId, Version,
};

pub use offered::{NotebookTool, ToolOffer, defining_cell, find, offered};
pub(crate) use offered::{change, is_defined_in, operation_of};

/// Name of the tool that begins a turn. Assistants in a turn do not have it.
pub const EXECUTE_PROMPT: &str = "execute_prompt";

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
        /// The name behind @ in an SQL cell's first line; duckdb is the database in the kernel's memory, a path is a file.
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
        /// Put it at this position: 0 is the first. Beyond the last cell: at the end. Prefer after or before: positions change.
        #[serde(default)] index: Option<usize>,
    }
    "create_cells" CreateCells (Edit, Edit, Server)
    "Add several cells"
    "Adds several cells in order. With run they are executed one after the other, and the answer tells for each whether it worked."
    {
        cells: Vec<NewCell>,
        /// Put them after this cell.
        #[serde(default)] after: Option<CellId>,
        /// Put them before this cell.
        #[serde(default)] before: Option<CellId>,
        /// Put the first of them at this position, as of create_cell.
        #[serde(default)] index: Option<usize>,
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
    "redo" Redo (Edit, Edit, Core)
    "Redo the assistant's own work"
    "Takes your latest undo back."
    {}
    "set_cell_flags" SetCellFlags (Edit, Edit, Core)
    "Mark a cell"
    "Sets marks of a cell (true) and clears them (false). What you leave out stays as it is."
    {
        cell_id: CellId,
        /// Always in the context of assistants.
        #[serde(default)] pinned: Option<bool>,
        /// Never in the context of assistants.
        #[serde(default)] skipped: Option<bool>,
        #[serde(default)] source_hidden: Option<bool>,
        #[serde(default)] outputs_hidden: Option<bool>,
        #[serde(default)] heading_collapsed: Option<bool>,
        #[serde(default)] exported: Option<bool>,
        /// 1 to 9; 0 removes the bookmark.
        #[serde(default)] bookmark: Option<u8>,
    }
    "clear_outputs" ClearOutputs (Destructive, Edit, Core)
    "Clear a cell's outputs"
    "Clears the outputs that a cell shows; its runs stay in the record. A person must confirm it."
    { cell_id: CellId }

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
    "execute_code" ExecuteCode (Edit, Run, Server)
    "Run code of no cell"
    "Runs code in the notebook's kernel that stands in no cell, and waits up to 30 s for it: to look something up, or to try something. The run is recorded. What should stay belongs in a cell."
    {
        source: String,
        /// Kinds of effects, as of execute_cell.
        #[serde(default)] effects: Option<Vec<Effect>>,
    }
    "execute_prompt" ExecutePrompt (Edit, Converse, Server)
    "Have a prompt cell answered"
    "Has the notebook's own assistant answer a prompt cell, as when a person runs it, and waits up to 30 s for the reply. After that the reply goes on: read it with get_cell_outputs. It does no more than you may, and what it must ask waits for a person."
    {
        cell_id: CellId,
        /// The version that you read: refused if the cell has changed since. Absent: what stands there now.
        #[serde(default)] cell_version: Option<Version>,
    }
    "run_all" RunAll (Edit, Run, Server)
    "Run all cells"
    "Runs all code cells in order, stops at the first error, waits up to 30 s, and tells which cells failed."
    {
        /// The same as of execute_cell, for all of the cells.
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
