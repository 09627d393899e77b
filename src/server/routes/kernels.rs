//! Kernels: what there is, launch, interrupt, restart, shut down, stop.

use std::collections::BTreeMap;

use axum::Json;
use axum::extract::State;
use axum::response::Response;
use notarium_core::{Command, KernelNotice, KernelSession, KernelSessionId, NotebookId, Operation};
use notarium_wire::{KernelStatus, OfferedKernelspec};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::routes;

use super::answers::{Answer, created, execute};
use crate::app::App;
use crate::auth::Authenticated;
use crate::extract::{Conditions, OptionalJson, Params};
use crate::guard::{Guard, GuardedRouter};
use crate::problem::Problem;

pub fn routes(router: GuardedRouter<App>) -> GuardedRouter<App> {
    router
        .routes(Guard::Notebook(Operation::Read), routes!(list_kernels))
        .routes(Guard::Notebook(Operation::Run), routes!(launch_kernel))
        .routes(Guard::Notebook(Operation::ControlKernel), routes!(interrupt_kernel))
        .routes(Guard::Notebook(Operation::ControlKernel), routes!(restart_kernel))
        .routes(Guard::Notebook(Operation::ControlKernel), routes!(shut_down_kernel))
        .routes(Guard::Notebook(Operation::ControlKernel), routes!(stop_all))
}

type OfKernel = Params<(NotebookId, KernelSessionId)>;

#[derive(Debug, Serialize, ToSchema)]
struct Kernels {
    /// By session: kernelspec, phase, agent.
    #[schema(value_type = Object)]
    kernels: BTreeMap<KernelSessionId, KernelSession>,
    /// Whether each can be reached and is busy.
    #[schema(value_type = Vec<Object>)]
    status: Vec<KernelStatus>,
    /// The last thing that went wrong.
    #[schema(value_type = Option<Object>)]
    #[serde(skip_serializing_if = "Option::is_none")]
    notice: Option<KernelNotice>,
    /// What the connected runtime agents can launch for this notebook.
    #[schema(value_type = Vec<Object>)]
    kernelspecs: Vec<OfferedKernelspec>,
}

/// The notebook's kernels, and what could be launched.
#[utoipa::path(get, path = "/api/notebooks/{notebook}/kernels", tag = "kernels",
    params(("notebook" = String, Path)),
    responses((status = 200, body = Kernels), (status = "default", body = Problem)))]
async fn list_kernels(
    State(app): State<App>,
    authenticated: Authenticated,
    Params(notebook): Params<NotebookId>,
) -> Result<Json<Kernels>, Problem> {
    let state = app.read(&authenticated, &notebook).await?;
    Ok(Json(Kernels {
        kernels: state.notebook.kernels.clone(),
        status: state.kernels,
        notice: state.notebook.kernel_notice.clone(),
        kernelspecs: app.agents.kernelspecs(&notebook),
    }))
}

#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
struct Launch {
    /// Absent: the notebook's own, else `python3`.
    kernelspec: Option<String>,
}

/// Asks for a kernel: a runtime agent that offers it launches it, now or when one comes.
#[utoipa::path(post, path = "/api/notebooks/{notebook}/kernels", tag = "kernels", request_body = Launch,
    params(("notebook" = String, Path)),
    responses((status = 201, body = Answer), (status = "default", body = Problem)))]
async fn launch_kernel(
    State(app): State<App>,
    authenticated: Authenticated,
    Params(notebook): Params<NotebookId>,
    conditions: Conditions,
    OptionalJson(launch): OptionalJson<Launch>,
) -> Result<Response, Problem> {
    let command = Command::LaunchKernel { kernelspec: launch.kernelspec };
    execute(&app, &authenticated, &notebook, conditions, &command).await.map(created)
}

/// Interrupts what the kernel runs.
#[utoipa::path(post, path = "/api/notebooks/{notebook}/kernels/{kernel}/interrupt", tag = "kernels",
    params(("notebook" = String, Path), ("kernel" = String, Path)),
    responses((status = 200, body = Answer), (status = "default", body = Problem)))]
async fn interrupt_kernel(
    State(app): State<App>,
    authenticated: Authenticated,
    Params((notebook, kernel_session)): OfKernel,
    conditions: Conditions,
) -> Result<Answer, Problem> {
    execute(&app, &authenticated, &notebook, conditions, &Command::InterruptKernel { kernel_session }).await
}

/// Restarts a kernel: a new session, nothing in its memory. What waits is cancelled.
#[utoipa::path(post, path = "/api/notebooks/{notebook}/kernels/{kernel}/restart", tag = "kernels",
    params(("notebook" = String, Path), ("kernel" = String, Path)),
    responses((status = 200, body = Answer), (status = "default", body = Problem)))]
async fn restart_kernel(
    State(app): State<App>,
    authenticated: Authenticated,
    Params((notebook, kernel_session)): OfKernel,
    conditions: Conditions,
) -> Result<Answer, Problem> {
    execute(&app, &authenticated, &notebook, conditions, &Command::RestartKernel { kernel_session }).await
}

/// Shuts a kernel down.
#[utoipa::path(delete, path = "/api/notebooks/{notebook}/kernels/{kernel}", tag = "kernels",
    params(("notebook" = String, Path), ("kernel" = String, Path)),
    responses((status = 200, body = Answer), (status = "default", body = Problem)))]
async fn shut_down_kernel(
    State(app): State<App>,
    authenticated: Authenticated,
    Params((notebook, kernel_session)): OfKernel,
    conditions: Conditions,
) -> Result<Answer, Problem> {
    execute(&app, &authenticated, &notebook, conditions, &Command::ShutDownKernel { kernel_session }).await
}

/// Cancels everything that waits and interrupts what runs.
#[utoipa::path(post, path = "/api/notebooks/{notebook}/stop", tag = "kernels",
    params(("notebook" = String, Path)),
    responses((status = 200, body = Answer), (status = "default", body = Problem)))]
async fn stop_all(
    State(app): State<App>,
    authenticated: Authenticated,
    Params(notebook): Params<NotebookId>,
    conditions: Conditions,
) -> Result<Answer, Problem> {
    execute(&app, &authenticated, &notebook, conditions, &Command::StopAll {}).await
}
