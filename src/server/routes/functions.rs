//! Routes for functions that kernels have registered: list, and call by a person.

use axum::Json;
use http::Method;
use notarium_core::tools::{defining_cell, find};
use notarium_core::{Command, ExecutionTarget, NotebookId, Operation, RequestExecution};
use notarium_wire::rest::{FunctionArguments, Functions, NotebookFunction};

use super::answers::Reading;
use crate::app::App;
use crate::http::extract::JsonBody;
use crate::http::guard::{Guard, GuardedRouter};

pub fn routes(router: GuardedRouter<App>) -> GuardedRouter<App> {
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
                Ok(Command::RequestExecution(RequestExecution {
                    execution_id: None,
                    target: ExecutionTarget::Function { name, arguments, confirmed },
                    kernel_session: None,
                    timeout_ms,
                    stop_on_error: false,
                }))
            },
        )
}

async fn list_functions(Reading { now, .. }: Reading) -> Json<Functions> {
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
