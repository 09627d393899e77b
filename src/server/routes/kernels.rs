//! Routes for kernels: list, launch, interrupt, restart, shut down, stop, ask; and functions that kernels have registered.

use axum::Json;
use notarium_core::tools::{defining_cell, find};
use notarium_core::{
    Command, ExecutionTarget, KernelSessionId, KernelSettings, LaunchKernel, NotebookId, Operation, RequestExecution,
    RestartKernel, SetKernelSettings,
};
use notarium_wire::rest::{
    AskColumn, AskCompletion, AskInspection, AskTable, DescribeConnection, FunctionArguments, Functions,
    KernelSettingChanges, Kernels, Launch, NotebookFunction, OfKernel, Restart,
};
use notarium_wire::{
    AskKernelMessage, ColumnSummary, Completion, ConnectionSchema, Inspection, KernelAnswer, QuestionKind,
    QuestionRefusal, TablePage, VariableList,
};

use super::answers::{NotebookCaller, NotebookReader, command, creating};
use crate::agents::kernel_questions::KernelAsker;
use crate::agents::machines::waiting;
use crate::app::App;
use crate::http::extract::{JsonBody, NoBody, OptionalJson, Params, QueryOf};
use crate::http::guard::{Guard, GuardedRouter, route_table};
use crate::http::problem::Problem;
use crate::rooms::identity;

type KernelPath = (NotebookId, KernelSessionId);

pub fn routes(router: GuardedRouter<App>) -> GuardedRouter<App> {
    let (read, run) = (Guard::Notebook(Operation::Read), Guard::Notebook(Operation::Run));
    let control = Guard::Notebook(Operation::ControlKernel);
    route_table!(router; "kernels" "/api/notebooks/{notebook}" {
        /// The notebook's kernels, and what could be launched.
        GET "/kernels", read => list_kernels;
        /// Asks for a kernel: a runtime agent that offers it launches it, now or when one comes.
        POST "/kernels", run =>
            creating(|_: NotebookId, OptionalJson(Launch { kernelspec, agent, labels })|
                Command::LaunchKernel(LaunchKernel { kernelspec, agent, labels }));
        /// Interrupts what the kernel runs.
        POST "/kernels/{kernel}/interrupt", control =>
            command(|(_, kernel_session): KernelPath, _: NoBody| Command::InterruptKernel { kernel_session });
        /// Restarts a kernel: a new session, nothing in its memory. What waits is cancelled. It stays on its agent unless
        /// the body names another agent or labels.
        POST "/kernels/{kernel}/restart", control =>
            command(|(_, kernel_session): KernelPath, OptionalJson(Restart { agent, labels })|
                Command::RestartKernel(RestartKernel { kernel_session, agent, labels }));
        /// Shuts a kernel down.
        DELETE "/kernels/{kernel}", control =>
            command(|(_, kernel_session): KernelPath, _: NoBody| Command::ShutDownKernel { kernel_session });
        /// Completions at a place in code that is being written. Nothing of it is recorded.
        POST "/kernels/{kernel}/complete", run => complete;
        /// Documentation of the name at a place in code; behind an open bracket, of the function that is called.
        /// Nothing of it is recorded.
        POST "/kernels/{kernel}/inspect", run => inspect;
        /// The tables and columns of a connection that SQL cells can name, as the kernel reaches it, and never a row.
        /// Answered also while the kernel runs something. Nothing of it is recorded.
        GET "/schema", run => describe;
        /// The variables of a kernel: names, types, sizes, and the beginning of what they hold. Nothing of it is
        /// recorded.
        GET "/variables", run => variables;
        /// Rows of a table that an output shows or a variable holds, sorted and filtered. Nothing of it is recorded.
        POST "/table", run => read_table;
        /// A summary of a column of such a table. Nothing of it is recorded.
        POST "/table/summary", run => summarize_column;
        /// The settings of the notebook's kernels: labels that launches ask for, and what happens to a kernel with
        /// variables if its agent is gone.
        GET "/kernel-settings", read => read_settings;
        /// Changes some of these settings. For editors and owners.
        PUT "/kernel-settings", Guard::Notebook(Operation::Organise) =>
            command(|_: NotebookId, JsonBody(KernelSettingChanges { replacement, labels })|
                Command::SetKernelSettings(SetKernelSettings { replacement, labels }));
        /// Cancels everything that waits and interrupts what runs.
        POST "/stop", control => command(|_: NotebookId, _: NoBody| Command::StopAll {});
    } "functions" "/api/notebooks/{notebook}/functions" {
        /// Functions that the notebook's kernels have registered (`@notarium.tool` in Python).
        GET "", read => list_functions;
        /// Calls a function on the kernel that has it: a run like any other. `outcome.executions` is its id.
        POST "/{function}/calls", run =>
            creating(|(_, name): (NotebookId, String), JsonBody(arguments)| call_function(name, arguments));
    })
}

async fn read_settings(NotebookReader { now, .. }: NotebookReader) -> Json<KernelSettings> {
    Json(now.notebook.kernel_settings.clone())
}

async fn list_kernels(NotebookReader { app, notebook, now, .. }: NotebookReader) -> Json<Kernels> {
    let agents = app.agents.machines(&now.notebook, &app.accounts).await;
    Json(Kernels {
        waiting: waiting(&now.notebook, &agents),
        settings: now.notebook.kernel_settings.clone(),
        agents,
        kernels: now.notebook.kernels.clone(),
        status: now.kernels,
        notice: now.notebook.kernel_notice.clone(),
        kernelspecs: app.agents.kernelspecs(&notebook),
        connections: app.agents.connections(&notebook),
    })
}

async fn complete(
    caller: NotebookCaller,
    Params((_, kernel)): Params<KernelPath>,
    JsonBody(AskCompletion { code, cursor }): JsonBody<AskCompletion>,
) -> Result<Json<Completion>, Problem> {
    match ask(caller, Some(kernel), (code, cursor), QuestionKind::Complete {}).await {
        KernelAnswer::Completed(completion) => Ok(Json(completion)),
        other => Err(no_answer(other)),
    }
}

async fn inspect(
    caller: NotebookCaller,
    Params((_, kernel)): Params<KernelPath>,
    JsonBody(AskInspection { code, cursor, detail }): JsonBody<AskInspection>,
) -> Result<Json<Inspection>, Problem> {
    match ask(caller, Some(kernel), (code, cursor), QuestionKind::Inspect { detail }).await {
        KernelAnswer::Inspected(inspection) => Ok(Json(inspection)),
        other => Err(no_answer(other)),
    }
}

async fn describe(
    caller: NotebookCaller,
    QueryOf(DescribeConnection { connection, matching, kernel }): QueryOf<DescribeConnection>,
) -> Result<Json<ConnectionSchema>, Problem> {
    match ask(caller, kernel, NO_CODE, QuestionKind::Describe { connection, matching }).await {
        KernelAnswer::Described(schema) => Ok(Json(schema)),
        other => Err(no_answer(other)),
    }
}

async fn variables(caller: NotebookCaller, QueryOf(of): QueryOf<OfKernel>) -> Result<Json<VariableList>, Problem> {
    match ask(caller, of.kernel, NO_CODE, QuestionKind::Variables {}).await {
        KernelAnswer::Variables(list) => Ok(Json(list)),
        other => Err(no_answer(other)),
    }
}

async fn read_table(caller: NotebookCaller, JsonBody(of): JsonBody<AskTable>) -> Result<Json<TablePage>, Problem> {
    match ask(caller, of.kernel, NO_CODE, QuestionKind::ReadTable(of.read)).await {
        KernelAnswer::TableRead(page) => Ok(Json(*page)),
        other => Err(no_answer(other)),
    }
}

async fn summarize_column(
    caller: NotebookCaller,
    JsonBody(of): JsonBody<AskColumn>,
) -> Result<Json<ColumnSummary>, Problem> {
    match ask(caller, of.kernel, NO_CODE, QuestionKind::SummarizeColumn(of.summarize)).await {
        KernelAnswer::ColumnSummarized(summary) => Ok(Json(*summary)),
        other => Err(no_answer(other)),
    }
}

/// Code and cursor of a question that is not about code.
const NO_CODE: (String, u32) = (String::new(), 0);

/// Asks a kernel. Each request is a separate asker, so it cancels no other.
async fn ask(
    NotebookCaller { app, who, notebook }: NotebookCaller,
    kernel_session: Option<KernelSessionId>,
    (code, cursor): (String, u32),
    kind: QuestionKind,
) -> KernelAnswer {
    let number = match app.kernel_questions.number(&who.token_id) {
        Ok(number) => number,
        Err(refused) => return refused,
    };
    let room = match app.room(&who, &notebook) {
        Ok(room) => room,
        Err(rejection) => return QuestionRefusal::UnknownNotebook.because(rejection.message),
    };
    let asker = KernelAsker { identity: identity(&who, &notebook, ""), room, name: format!("r{number}"), number };
    let question = AskKernelMessage { id: 0, notebook, cell_id: None, kernel_session, code, cursor, kind };
    asker.ask(app.kernel_ask_service(), question).await
}

/// Problem of a refusal. An answer to another kind of question counts as a failure.
fn no_answer(answer: KernelAnswer) -> Problem {
    match answer {
        KernelAnswer::Refused { code, message, details } => Problem::unanswered(code, message).with(details),
        _ => Problem::unanswered(QuestionRefusal::KernelFailed, "the kernel answered something else: ask again"),
    }
}

// --- functions ---

fn call_function(name: String, call: FunctionArguments) -> Command {
    let FunctionArguments { arguments, confirmed, timeout_ms } = call;
    let target = ExecutionTarget::Function { name, arguments, confirmed };
    Command::RequestExecution(RequestExecution { timeout_ms, ..RequestExecution::new(target) })
}

async fn list_functions(NotebookReader { now, .. }: NotebookReader) -> Json<Functions> {
    let state = now.notebook;
    let functions = state.functions.iter().map(|(name, known)| NotebookFunction {
        name: name.clone(),
        version: known.function.version.clone(),
        description: known.function.description.clone(),
        schema: known.function.schema.clone(),
        risk: known.function.risk.clone(),
        kernel_session: known.kernel_session.clone(),
        cell_id: defining_cell(&state, name).cloned(),
        problem: find(&state, name).err().map(|rejection| rejection.message),
    });
    Json(Functions { functions: functions.collect() })
}
