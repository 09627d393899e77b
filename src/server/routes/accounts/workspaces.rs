//! Workspaces: groups of people and notebooks.

use axum::Json;
use axum::extract::State;
use http::StatusCode;
use notarium_core::{NotebookId, Operation, Role, Scope, UserId, WorkspaceId};
use serde::Deserialize;
use utoipa::ToSchema;
use utoipa_axum::routes;

use super::AccountRoutes;
use super::shapes::{MemberShape, WorkspaceShape};
use crate::auth::Authenticated;
use crate::extract::{JsonBody, Params};
use crate::guard::{Guard, GuardedRouter};
use crate::problem::Problem;

pub fn routes(router: GuardedRouter<AccountRoutes>) -> GuardedRouter<AccountRoutes> {
    router
        .routes(Guard::User(Scope::Read), routes!(list_workspaces))
        .routes(Guard::User(Scope::Manage), routes!(create_workspace))
        .routes(Guard::User(Scope::Manage), routes!(rename_workspace))
        .routes(Guard::User(Scope::Read), routes!(list_members))
        .routes(Guard::User(Scope::Manage), routes!(set_member))
        .routes(Guard::User(Scope::Manage), routes!(remove_member))
        .routes(Guard::Notebook(Operation::Share), routes!(place_notebook))
}

/// Yours.
#[utoipa::path(get, path = "/api/workspaces", tag = "accounts",
    responses((status = 200, body = Vec<WorkspaceShape>), (status = "default", body = Problem)))]
async fn list_workspaces(
    State(shared): State<AccountRoutes>,
    who: Authenticated,
) -> Result<Json<Vec<WorkspaceShape>>, Problem> {
    let mut shapes = Vec::with_capacity(who.workspaces.len());
    for (id, role) in &who.workspaces {
        let workspace = shared.accounts.store().workspace(id).await?;
        shapes.extend(workspace.map(|workspace| WorkspaceShape::new(workspace, *role)));
    }
    Ok(Json(shapes))
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct WorkspaceName {
    name: String,
}

/// A new workspace, which you own.
#[utoipa::path(post, path = "/api/workspaces", tag = "accounts", request_body = WorkspaceName,
    responses((status = 201, body = WorkspaceShape), (status = "default", body = Problem)))]
async fn create_workspace(
    State(shared): State<AccountRoutes>,
    who: Authenticated,
    JsonBody(new): JsonBody<WorkspaceName>,
) -> Result<(StatusCode, Json<WorkspaceShape>), Problem> {
    let workspace = shared.accounts.create_workspace(&who, &new.name).await?;
    Ok((StatusCode::CREATED, Json(WorkspaceShape::new(workspace, Role::Owner))))
}

/// Another name. For its owners.
#[utoipa::path(put, path = "/api/workspaces/{workspace}", tag = "accounts", request_body = WorkspaceName,
    params(("workspace" = String, Path)), responses((status = 204), (status = "default", body = Problem)))]
async fn rename_workspace(
    State(shared): State<AccountRoutes>,
    who: Authenticated,
    Params(workspace): Params<WorkspaceId>,
    JsonBody(new): JsonBody<WorkspaceName>,
) -> Result<StatusCode, Problem> {
    shared.accounts.rename_workspace(&who, &workspace, &new.name).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// The members, for members.
#[utoipa::path(get, path = "/api/workspaces/{workspace}/members", tag = "accounts",
    params(("workspace" = String, Path)),
    responses((status = 200, body = Vec<MemberShape>), (status = "default", body = Problem)))]
async fn list_members(
    State(shared): State<AccountRoutes>,
    who: Authenticated,
    Params(workspace): Params<WorkspaceId>,
) -> Result<Json<Vec<MemberShape>>, Problem> {
    shared.accounts.role_in(&who, &workspace)?;
    let members = shared.accounts.store().members(&workspace).await?;
    Ok(Json(members.into_iter().map(MemberShape::from).collect()))
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct MemberRole {
    /// `viewer`, `commenter`, `runner`, `author`, `editor` or `owner`, in each of the workspace's notebooks.
    #[schema(value_type = String)]
    role: Role,
}

/// Makes a member, or gives another role. For owners; acts on open connections at once.
#[utoipa::path(put, path = "/api/workspaces/{workspace}/members/{user}", tag = "accounts", request_body = MemberRole,
    params(("workspace" = String, Path), ("user" = String, Path)),
    responses((status = 204), (status = "default", body = Problem)))]
async fn set_member(
    State(shared): State<AccountRoutes>,
    who: Authenticated,
    Params((workspace, user)): Params<(WorkspaceId, UserId)>,
    JsonBody(MemberRole { role }): JsonBody<MemberRole>,
) -> Result<StatusCode, Problem> {
    shared.accounts.set_member(&who, &workspace, &user, Some(role)).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Removes a member, or leaves. Acts on open connections at once.
#[utoipa::path(delete, path = "/api/workspaces/{workspace}/members/{user}", tag = "accounts",
    params(("workspace" = String, Path), ("user" = String, Path)),
    responses((status = 204), (status = "default", body = Problem)))]
async fn remove_member(
    State(shared): State<AccountRoutes>,
    who: Authenticated,
    Params((workspace, user)): Params<(WorkspaceId, UserId)>,
) -> Result<StatusCode, Problem> {
    shared.accounts.set_member(&who, &workspace, &user, None).await?;
    Ok(StatusCode::NO_CONTENT)
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct Placement {
    /// Null: in none.
    #[schema(value_type = Option<String>)]
    workspace: Option<WorkspaceId>,
}

/// Puts a notebook into a workspace, whose members then have their role in it.
#[utoipa::path(put, path = "/api/notebooks/{notebook}/workspace", tag = "accounts", request_body = Placement,
    params(("notebook" = String, Path)), responses((status = 204), (status = "default", body = Problem)))]
async fn place_notebook(
    State(shared): State<AccountRoutes>,
    who: Authenticated,
    Params(notebook): Params<NotebookId>,
    JsonBody(Placement { workspace }): JsonBody<Placement>,
) -> Result<StatusCode, Problem> {
    shared.accounts.place_notebook(&who, &notebook, workspace.as_ref()).await?;
    Ok(StatusCode::NO_CONTENT)
}
