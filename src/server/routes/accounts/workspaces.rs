//! Workspaces: groups of people and notebooks.

use axum::Json;
use http::Method;
use notarium_core::{NotebookId, Operation, Role, Scope, UserId, WorkspaceId};
use notarium_wire::rest::{self, MemberRole, Placement, WorkspaceName};

use super::{AccountRoutes, Caller, shapes};
use crate::http::extract::{Created, JsonBody, NoContent, Params};
use crate::http::guard::{Guard, GuardedRouter};
use crate::http::problem::Problem;

pub fn routes(router: GuardedRouter<AccountRoutes>) -> GuardedRouter<AccountRoutes> {
    router
        .group("accounts", "/api")
        .says("Yours.")
        .on(Guard::User(Scope::Read), Method::GET, "/workspaces", list_workspaces)
        .says("A new workspace, which you own.")
        .on(Guard::User(Scope::Manage), Method::POST, "/workspaces", create_workspace)
        .says("Another name. For its owners.")
        .on(Guard::User(Scope::Manage), Method::PUT, "/workspaces/{workspace}", rename_workspace)
        .says("The members, for members.")
        .on(Guard::User(Scope::Read), Method::GET, "/workspaces/{workspace}/members", list_members)
        .says("Makes a member, or gives another role. For owners; acts on open connections at once.")
        .on(Guard::User(Scope::Manage), Method::PUT, "/workspaces/{workspace}/members/{user}", set_member)
        .says("Removes a member, or leaves. Acts on open connections at once.")
        .on(Guard::User(Scope::Manage), Method::DELETE, "/workspaces/{workspace}/members/{user}", remove_member)
        .says("Puts a notebook into a workspace, whose members then have their role in it.")
        .on(Guard::Notebook(Operation::Share), Method::PUT, "/notebooks/{notebook}/workspace", place_notebook)
}

async fn list_workspaces(Caller { shared, who }: Caller) -> Result<Json<Vec<rest::Workspace>>, Problem> {
    let mut mine = Vec::with_capacity(who.workspaces.len());
    for (id, role) in &who.workspaces {
        let workspace = shared.accounts.store().workspace(id).await?;
        mine.extend(workspace.map(|workspace| shapes::workspace(workspace, *role)));
    }
    Ok(Json(mine))
}

async fn create_workspace(
    Caller { shared, who }: Caller,
    JsonBody(new): JsonBody<WorkspaceName>,
) -> Result<Created<Json<rest::Workspace>>, Problem> {
    let workspace = shared.accounts.create_workspace(&who, &new.name).await?;
    Ok(Created(Json(shapes::workspace(workspace, Role::Owner))))
}

async fn rename_workspace(
    Caller { shared, who }: Caller,
    Params(workspace): Params<WorkspaceId>,
    JsonBody(new): JsonBody<WorkspaceName>,
) -> Result<NoContent, Problem> {
    shared.accounts.rename_workspace(&who, &workspace, &new.name).await?;
    Ok(NoContent)
}

async fn list_members(
    Caller { shared, who }: Caller,
    Params(workspace): Params<WorkspaceId>,
) -> Result<Json<Vec<rest::Member>>, Problem> {
    shared.accounts.role_in(&who, &workspace)?;
    let members = shared.accounts.store().members(&workspace).await?;
    Ok(Json(members.into_iter().map(shapes::member).collect()))
}

async fn set_member(
    Caller { shared, who }: Caller,
    Params((workspace, user)): Params<(WorkspaceId, UserId)>,
    JsonBody(MemberRole { role }): JsonBody<MemberRole>,
) -> Result<NoContent, Problem> {
    shared.accounts.set_member(&who, &workspace, &user, Some(role)).await?;
    Ok(NoContent)
}

async fn remove_member(
    Caller { shared, who }: Caller,
    Params((workspace, user)): Params<(WorkspaceId, UserId)>,
) -> Result<NoContent, Problem> {
    shared.accounts.set_member(&who, &workspace, &user, None).await?;
    Ok(NoContent)
}

async fn place_notebook(
    Caller { shared, who }: Caller,
    Params(notebook): Params<NotebookId>,
    JsonBody(Placement { workspace }): JsonBody<Placement>,
) -> Result<NoContent, Problem> {
    shared.accounts.place_notebook(&who, &notebook, workspace.as_ref()).await?;
    Ok(NoContent)
}
