//! Who may do what in a notebook: list, grant, revoke, hand over.

use axum::Json;
use axum::extract::State;
use http::Method;
use notarium_core::{Actor, Command, NotebookId, Operation, Role, Subject, UserId};
use notarium_wire::rest::{Access, AccessEnd, AccessGrant, NewOwner};

use super::answers::{Accepted, Submit};
use crate::app::App;
use crate::auth::Authenticated;
use crate::extract::{JsonBody, Params};
use crate::guard::{Guard, GuardedRouter};
use crate::problem::Problem;

pub fn routes(router: GuardedRouter<App>) -> GuardedRouter<App> {
    let share = Guard::Notebook(Operation::Share);
    router
        .group("access", "/api/notebooks/{notebook}")
        .says("The notebook's access list.")
        .on(Guard::Notebook(Operation::Read), Method::GET, "/access", list_access)
        .says("Gives somebody a role, or another one.")
        .command(share, Method::PUT, "/access", |_: NotebookId, JsonBody(grant)| {
            let AccessGrant { subject, role, expires_at } = grant;
            Ok(Command::GrantAccess { subject, role, expires_at })
        })
        .says("Takes somebody's role away; live connections hear of it at once.")
        .command(share, Method::DELETE, "/access", |_: NotebookId, JsonBody(AccessEnd { subject })| {
            Ok(Command::RevokeAccess { subject })
        })
        .says("Makes somebody else the owner; you stay as an editor.")
        .on(share, Method::POST, "/owner", hand_over)
}

async fn list_access(
    State(app): State<App>,
    who: Authenticated,
    Params(notebook): Params<NotebookId>,
) -> Result<Json<Access>, Problem> {
    let state = app.read(&who, &notebook).await?;
    let (version, access) = (state.notebook.version, state.notebook.access.clone());
    Ok(Json(Access { version, role: state.role, access }))
}

async fn hand_over(submit: Submit, JsonBody(new): JsonBody<NewOwner>) -> Result<Accepted, Problem> {
    let grant = |id: UserId, role| Command::GrantAccess { subject: Subject::User { id }, role, expires_at: None };
    let mut commands = vec![grant(new.user.clone(), Role::Owner)];
    if let Actor::User { id } = &submit.who.actor
        && *id != new.user
    {
        commands.push(grant(id.clone(), Role::Editor));
    }
    submit.command(&Command::Batch { commands }).await
}
