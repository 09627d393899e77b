//! Routes for kernels: list, launch, interrupt, restart, shut down, stop, ask; and functions that kernels have registered.

use axum::Json;
use axum::extract::State;
use http::Method;
use notarium_core::tools::{defining_cell, find};
use notarium_core::{Command, ExecutionTarget, KernelSessionId, NotebookId, Operation, RequestExecution};
use notarium_wire::rest::{
    AskColumn, AskCompletion, AskInspection, AskTable, DescribeConnection, FunctionArguments, Functions, Kernels,
    Launch, NotebookFunction, OfKernel,
};
use notarium_wire::{
    AskKernelMessage, ColumnSummary, Completion, ConnectionSchema, Inspection, KernelAnswer, QuestionKind,
    QuestionRefusal, TablePage, VariableList,
};

use super::answers::NotebookReader;
use crate::agents::kernel_questions::KernelAsker;
use crate::app::App;
use crate::auth::Authenticated;
use crate::http::extract::{JsonBody, NoBody, OptionalJson, Params, QueryOf};
use crate::http::guard::{Guard, GuardedRouter};
use crate::http::problem::Problem;
use crate::rooms::identity;

type KernelPath = (NotebookId, KernelSessionId);

pub fn routes(router: GuardedRouter<App>) -> GuardedRouter<App> {
    let control = Guard::Notebook(Operation::ControlKernel);
    router
        .group("kernels", "/api/notebooks/{notebook}")
        .says("The notebook's kernels, and what could be launched.")
        .on(Guard::Notebook(Operation::Read), Method::GET, "/kernels", list_kernels)
        .says("Asks for a kernel: a runtime agent that offers it launches it, now or when one comes.")
        .creating(
            Guard::Notebook(Operation::Run),
            Method::POST,
            "/kernels",
            |_: NotebookId, OptionalJson(Launch { kernelspec })| Ok(Command::LaunchKernel { kernelspec }),
        )
        .says("Interrupts what the kernel runs.")
        .command(control, Method::POST, "/kernels/{kernel}/interrupt", |(_, kernel_session): KernelPath, _: NoBody| {
            Ok(Command::InterruptKernel { kernel_session })
        })
        .says("Restarts a kernel: a new session, nothing in its memory. What waits is cancelled.")
        .command(control, Method::POST, "/kernels/{kernel}/restart", |(_, kernel_session): KernelPath, _: NoBody| {
            Ok(Command::RestartKernel { kernel_session })
        })
        .says("Shuts a kernel down.")
        .command(control, Method::DELETE, "/kernels/{kernel}", |(_, kernel_session): KernelPath, _: NoBody| {
            Ok(Command::ShutDownKernel { kernel_session })
        })
        .says("What could stand at a place in code that is being written. Nothing of it is recorded.")
        .on(Guard::Notebook(Operation::Run), Method::POST, "/kernels/{kernel}/complete", complete)
        .says("What the name at a place in code is; behind an open bracket, what is called. Nothing of it is recorded.")
        .on(Guard::Notebook(Operation::Run), Method::POST, "/kernels/{kernel}/inspect", inspect)
        .says(
            "The tables and columns of a connection that SQL cells can name, as the kernel reaches it, and never a row. Answered also \
             while the kernel runs something. Nothing of it is recorded.",
        )
        .on(Guard::Notebook(Operation::Run), Method::GET, "/schema", describe)
        .says("The variables of a kernel: names, types, sizes, and the beginning of what they hold. Nothing of it is recorded.")
        .on(Guard::Notebook(Operation::Run), Method::GET, "/variables", variables)
        .says("Rows of a table that an output shows or a variable holds, sorted and filtered. Nothing of it is recorded.")
        .on(Guard::Notebook(Operation::Run), Method::POST, "/table", read_table)
        .says("What a column of such a table holds. Nothing of it is recorded.")
        .on(Guard::Notebook(Operation::Run), Method::POST, "/table/summary", summarize_column)
        .says("Cancels everything that waits and interrupts what runs.")
        .command(control, Method::POST, "/stop", |_: NotebookId, _: NoBody| Ok(Command::StopAll {}))
}

async fn list_kernels(NotebookReader { app, notebook, now, .. }: NotebookReader) -> Json<Kernels> {
    Json(Kernels {
        kernels: now.notebook.kernels.clone(),
        status: now.kernels,
        notice: now.notebook.kernel_notice.clone(),
        kernelspecs: app.agents.kernelspecs(&notebook),
        connections: app.agents.connections(&notebook),
    })
}

async fn complete(
    State(app): State<App>,
    who: Authenticated,
    Params((notebook, kernel)): Params<KernelPath>,
    JsonBody(AskCompletion { code, cursor }): JsonBody<AskCompletion>,
) -> Result<Json<Completion>, Problem> {
    match ask(&app, &who, (notebook, Some(kernel)), code, cursor, QuestionKind::Complete {}).await {
        KernelAnswer::Completed(completion) => Ok(Json(completion)),
        other => Err(no_answer(other)),
    }
}

async fn inspect(
    State(app): State<App>,
    who: Authenticated,
    Params((notebook, kernel)): Params<KernelPath>,
    JsonBody(AskInspection { code, cursor, detail }): JsonBody<AskInspection>,
) -> Result<Json<Inspection>, Problem> {
    match ask(&app, &who, (notebook, Some(kernel)), code, cursor, QuestionKind::Inspect { detail }).await {
        KernelAnswer::Inspected(inspection) => Ok(Json(inspection)),
        other => Err(no_answer(other)),
    }
}

async fn describe(
    State(app): State<App>,
    who: Authenticated,
    Params(notebook): Params<NotebookId>,
    QueryOf(DescribeConnection { connection, matching, kernel }): QueryOf<DescribeConnection>,
) -> Result<Json<ConnectionSchema>, Problem> {
    let kind = QuestionKind::Describe { connection, matching };
    match ask(&app, &who, (notebook, kernel), String::new(), 0, kind).await {
        KernelAnswer::Described(schema) => Ok(Json(schema)),
        other => Err(no_answer(other)),
    }
}

async fn variables(
    State(app): State<App>,
    who: Authenticated,
    Params(notebook): Params<NotebookId>,
    QueryOf(OfKernel { kernel }): QueryOf<OfKernel>,
) -> Result<Json<VariableList>, Problem> {
    match ask(&app, &who, (notebook, kernel), String::new(), 0, QuestionKind::Variables {}).await {
        KernelAnswer::Variables(list) => Ok(Json(list)),
        other => Err(no_answer(other)),
    }
}

async fn read_table(
    State(app): State<App>,
    who: Authenticated,
    Params(notebook): Params<NotebookId>,
    JsonBody(AskTable { read, kernel }): JsonBody<AskTable>,
) -> Result<Json<TablePage>, Problem> {
    match ask(&app, &who, (notebook, kernel), String::new(), 0, QuestionKind::ReadTable(read)).await {
        KernelAnswer::TableRead(page) => Ok(Json(*page)),
        other => Err(no_answer(other)),
    }
}

async fn summarize_column(
    State(app): State<App>,
    who: Authenticated,
    Params(notebook): Params<NotebookId>,
    JsonBody(AskColumn { summarize, kernel }): JsonBody<AskColumn>,
) -> Result<Json<ColumnSummary>, Problem> {
    match ask(&app, &who, (notebook, kernel), String::new(), 0, QuestionKind::SummarizeColumn(summarize)).await {
        KernelAnswer::ColumnSummarized(summary) => Ok(Json(*summary)),
        other => Err(no_answer(other)),
    }
}

/// Asks a kernel. Each request is a separate asker, so it cancels no other.
async fn ask(
    app: &App,
    who: &Authenticated,
    (notebook, kernel_session): (NotebookId, Option<KernelSessionId>),
    code: String,
    cursor: u32,
    kind: QuestionKind,
) -> KernelAnswer {
    let number = match app.kernel_questions.number(&who.token_id) {
        Ok(number) => number,
        Err(refused) => return refused,
    };
    let room = match app.room(who, &notebook) {
        Ok(room) => room,
        Err(rejection) => return QuestionRefusal::UnknownNotebook.because(rejection.message),
    };
    let asker = KernelAsker { identity: identity(who, &notebook, ""), room, name: format!("r{number}"), number };
    asker
        .ask(
            app.kernel_ask_service(),
            AskKernelMessage { id: 0, notebook, cell_id: None, kernel_session, code, cursor, kind },
        )
        .await
}

/// Problem of a refusal. An answer to another kind of question counts as a failure.
fn no_answer(answer: KernelAnswer) -> Problem {
    match answer {
        KernelAnswer::Refused { code, message, details } => Problem::unanswered(code, message).with(details),
        _ => Problem::unanswered(QuestionRefusal::KernelFailed, "the kernel answered something else: ask again"),
    }
}

pub fn function_routes(router: GuardedRouter<App>) -> GuardedRouter<App> {
    router
        .group("functions", "/api/notebooks/{notebook}/functions")
        .says("Functions that the notebook's kernels have registered (`@notarium.tool` in Python).")
        .on(Guard::Notebook(Operation::Read), Method::GET, "", list_functions)
        .says("Calls a function on the kernel that has it: a run like any other. `outcome.executions` is its id.")
        .creating(
            Guard::Notebook(Operation::Run),
            Method::POST,
            "/{function}/calls",
            |(_, name): (NotebookId, String), JsonBody(call): JsonBody<FunctionArguments>| {
                let FunctionArguments { arguments, confirmed, timeout_ms } = call;
                let target = ExecutionTarget::Function { name, arguments, confirmed };
                Ok(Command::RequestExecution(RequestExecution { timeout_ms, ..RequestExecution::new(target) }))
            },
        )
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
