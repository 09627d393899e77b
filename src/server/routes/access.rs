//! Who may do what in a notebook: list, grant, revoke, hand over.

use axum::Json;
use axum::extract::State;
use notarium_core::{AccessEntry, Actor, Command, Millis, NotebookId, Operation, Role, Subject, UserId, Version};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::routes;

use super::answers::{Answer, execute};
use crate::app::App;
use crate::auth::Authenticated;
use crate::extract::{Conditions, JsonBody, Params};
use crate::guard::{Guard, GuardedRouter};
use crate::problem::Problem;

pub fn routes(router: GuardedRouter<App>) -> GuardedRouter<App> {
    router
        .routes(Guard::Notebook(Operation::Read), routes!(list_access))
        .routes(Guard::Notebook(Operation::Share), routes!(grant_access))
        .routes(Guard::Notebook(Operation::Share), routes!(revoke_access))
        .routes(Guard::Notebook(Operation::Share), routes!(hand_over))
}

#[derive(Debug, Serialize, ToSchema)]
struct Access {
    version: Version,
    /// Yours, now.
    #[schema(value_type = String)]
    role: Role,
    #[schema(value_type = Vec<Object>)]
    access: Vec<AccessEntry>,
}

/// The notebook's access list.
#[utoipa::path(get, path = "/api/notebooks/{notebook}/access", tag = "access",
    params(("notebook" = String, Path)),
    responses((status = 200, body = Access), (status = "default", body = Problem)))]
async fn list_access(
    State(app): State<App>,
    authenticated: Authenticated,
    Params(notebook): Params<NotebookId>,
) -> Result<Json<Access>, Problem> {
    let state = app.read(&authenticated, &notebook).await?;
    let (version, access) = (state.notebook.version, state.notebook.access.clone());
    Ok(Json(Access { version, role: state.role, access }))
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct NewGrant {
    /// `{"kind": "user", "id": "…"}`, or of the kind `share_link`, `workspace` or `agent`.
    #[schema(value_type = Object)]
    subject: Subject,
    /// `viewer`, `commenter`, `runner`, `author`, `editor`, `owner`; `agent` for runtime agents.
    #[schema(value_type = String)]
    role: Role,
    /// Milliseconds since 1970; absent: until it is revoked.
    expires_at: Option<Millis>,
}

/// Gives somebody a role, or another one.
#[utoipa::path(put, path = "/api/notebooks/{notebook}/access", tag = "access", request_body = NewGrant,
    params(("notebook" = String, Path)),
    responses((status = 200, body = Answer), (status = "default", body = Problem)))]
async fn grant_access(
    State(app): State<App>,
    authenticated: Authenticated,
    Params(notebook): Params<NotebookId>,
    conditions: Conditions,
    JsonBody(grant): JsonBody<NewGrant>,
) -> Result<Answer, Problem> {
    let NewGrant { subject, role, expires_at } = grant;
    execute(&app, &authenticated, &notebook, conditions, &Command::GrantAccess { subject, role, expires_at }).await
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct EndedGrant {
    #[schema(value_type = Object)]
    subject: Subject,
}

/// Takes somebody's role away; live connections hear of it at once.
#[utoipa::path(delete, path = "/api/notebooks/{notebook}/access", tag = "access", request_body = EndedGrant,
    params(("notebook" = String, Path)),
    responses((status = 200, body = Answer), (status = "default", body = Problem)))]
async fn revoke_access(
    State(app): State<App>,
    authenticated: Authenticated,
    Params(notebook): Params<NotebookId>,
    conditions: Conditions,
    JsonBody(ended): JsonBody<EndedGrant>,
) -> Result<Answer, Problem> {
    let command = Command::RevokeAccess { subject: ended.subject };
    execute(&app, &authenticated, &notebook, conditions, &command).await
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct NewOwner {
    #[schema(value_type = String)]
    user: UserId,
}

/// Makes somebody else the owner; you stay as an editor.
#[utoipa::path(post, path = "/api/notebooks/{notebook}/owner", tag = "access", request_body = NewOwner,
    params(("notebook" = String, Path)),
    responses((status = 200, body = Answer), (status = "default", body = Problem)))]
async fn hand_over(
    State(app): State<App>,
    authenticated: Authenticated,
    Params(notebook): Params<NotebookId>,
    conditions: Conditions,
    JsonBody(new): JsonBody<NewOwner>,
) -> Result<Answer, Problem> {
    let grant = |id: UserId, role| Command::GrantAccess { subject: Subject::User { id }, role, expires_at: None };
    let mut commands = vec![grant(new.user.clone(), Role::Owner)];
    if let Actor::User { id } = &authenticated.actor
        && *id != new.user
    {
        commands.push(grant(id.clone(), Role::Editor));
    }
    execute(&app, &authenticated, &notebook, conditions, &Command::Batch { commands }).await
}
