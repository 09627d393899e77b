//! Kernels: what there is, launch, interrupt, restart, shut down, stop.

use axum::Json;
use axum::extract::State;
use http::Method;
use notarium_core::{Command, KernelSessionId, NotebookId, Operation};
use notarium_wire::rest::{Kernels, Launch};

use crate::app::App;
use crate::auth::Authenticated;
use crate::extract::{NoBody, OptionalJson, Params};
use crate::guard::{Guard, GuardedRouter};
use crate::problem::Problem;

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
        .says("Cancels everything that waits and interrupts what runs.")
        .command(control, Method::POST, "/stop", |_: NotebookId, _: NoBody| Ok(Command::StopAll {}))
}

async fn list_kernels(
    State(app): State<App>,
    who: Authenticated,
    Params(notebook): Params<NotebookId>,
) -> Result<Json<Kernels>, Problem> {
    let state = app.read(&who, &notebook).await?;
    Ok(Json(Kernels {
        kernels: state.notebook.kernels.clone(),
        status: state.kernels,
        notice: state.notebook.kernel_notice.clone(),
        kernelspecs: app.agents.kernelspecs(&notebook),
    }))
}
