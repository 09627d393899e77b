//! Signing in and out, and who one is.

use axum::Json;
use axum::extract::State;
use http::StatusCode;
use notarium_core::{Actor, Millis, Role, Scope, TokenId, WorkspaceId};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::routes;

use super::shapes::{CoverageShape, UserShape};
use super::{AccountRoutes, ClientAddress};
use crate::auth::{Authenticated, NewProfile, SignedIn};
use crate::extract::JsonBody;
use crate::guard::{Guard, GuardedRouter};
use crate::problem::Problem;

pub fn routes(router: GuardedRouter<AccountRoutes>) -> GuardedRouter<AccountRoutes> {
    router
        .routes(Guard::Public, routes!(sign_in))
        .routes(Guard::User(Scope::Read), routes!(sign_out))
        .routes(Guard::Authenticated, routes!(read_me))
        .routes(Guard::User(Scope::Manage), routes!(change_me))
        .routes(Guard::User(Scope::Manage), routes!(change_password))
}

/// Either `login` and `password`, or a one-time `token` (the printed owner token, an invitation, a reset).
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct SignIn {
    login: Option<String>,
    /// With a reset or an invitation: the new one. At least 10 characters.
    password: Option<String>,
    token: Option<String>,
    /// With an owner token: what you are called. Goes with `login`.
    name: Option<String>,
    /// For the list of your sessions, as in "laptop".
    #[serde(default)]
    label: String,
}

/// A session: carry the token as `Authorization: Bearer <token>`.
#[derive(Debug, Serialize, ToSchema)]
struct Session {
    /// In this answer and never again.
    token: String,
    /// Milliseconds since 1970.
    #[serde(skip_serializing_if = "Option::is_none")]
    expires_at: Option<Millis>,
    user: UserShape,
}

impl From<SignedIn> for Session {
    fn from(signed_in: SignedIn) -> Self {
        Self { token: signed_in.text.reveal(), expires_at: signed_in.token.expires_at, user: signed_in.user.into() }
    }
}

/// Sign in.
#[utoipa::path(post, path = "/api/session", tag = "accounts", request_body = SignIn,
    responses((status = 201, body = Session), (status = "default", body = Problem)))]
async fn sign_in(
    State(shared): State<AccountRoutes>,
    ClientAddress(address): ClientAddress,
    JsonBody(request): JsonBody<SignIn>,
) -> Result<(StatusCode, Json<Session>), Problem> {
    let signed_in = match (request.token, request.login, request.password) {
        (Some(token), login, password) => {
            let profile = profile_of(request.name, login)?;
            shared.accounts.exchange(&token, profile, password, address, &request.label).await?
        }
        (None, Some(login), Some(password)) => {
            shared.accounts.sign_in(&login, password, address, &request.label).await?
        }
        _ => return Err(Problem::invalid("send login and password, or a one-time token")),
    };
    Ok((StatusCode::CREATED, Json(signed_in.into())))
}

fn profile_of(name: Option<String>, login: Option<String>) -> Result<Option<NewProfile>, Problem> {
    match (name, login) {
        (Some(name), Some(login)) => Ok(Some(NewProfile { name, login })),
        (None, None) => Ok(None),
        _ => Err(Problem::invalid("name and login go together")),
    }
}

/// Sign out: the token that is presented ends, and so do its connections.
#[utoipa::path(delete, path = "/api/session", tag = "accounts",
    responses((status = 204), (status = "default", body = Problem)))]
async fn sign_out(State(shared): State<AccountRoutes>, who: Authenticated) -> Result<StatusCode, Problem> {
    shared.accounts.sign_out(&who).await?;
    Ok(StatusCode::NO_CONTENT)
}

#[derive(Debug, Serialize, ToSchema)]
struct Me {
    #[schema(value_type = Object)]
    actor: Actor,
    name: String,
    /// `session`, `api`, `agent` or `share`.
    kind: &'static str,
    #[schema(value_type = String)]
    token_id: TokenId,
    #[schema(value_type = Vec<String>)]
    scopes: Vec<Scope>,
    covers: CoverageShape,
    workspaces: Vec<MyWorkspace>,
    #[serde(skip_serializing_if = "Option::is_none")]
    expires_at: Option<Millis>,
    /// Absent for agents and guests.
    #[serde(skip_serializing_if = "Option::is_none")]
    user: Option<UserShape>,
}

#[derive(Debug, Serialize, ToSchema)]
struct MyWorkspace {
    #[schema(value_type = String)]
    id: WorkspaceId,
    #[schema(value_type = String)]
    role: Role,
}

/// Who the token's holder is, and what it allows.
#[utoipa::path(get, path = "/api/me", tag = "accounts",
    responses((status = 200, body = Me), (status = "default", body = Problem)))]
async fn read_me(State(shared): State<AccountRoutes>, who: Authenticated) -> Result<Json<Me>, Problem> {
    let user = match who.user_id() {
        Some(id) => shared.accounts.store().user(id).await?.map(UserShape::from),
        None => None,
    };
    let workspaces = who.workspaces.into_iter().map(|(id, role)| MyWorkspace { id, role });
    Ok(Json(Me {
        actor: who.actor,
        name: who.name,
        kind: who.kind.as_str(),
        token_id: who.token_id,
        scopes: who.scopes.into_iter().collect(),
        covers: who.coverage.into(),
        workspaces: workspaces.collect(),
        expires_at: who.expires_at,
        user,
    }))
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct Profile {
    name: String,
    login: String,
}

/// Change your name and login.
#[utoipa::path(put, path = "/api/me", tag = "accounts", request_body = Profile,
    responses((status = 200, body = UserShape), (status = "default", body = Problem)))]
async fn change_me(
    State(shared): State<AccountRoutes>,
    who: Authenticated,
    JsonBody(profile): JsonBody<Profile>,
) -> Result<Json<UserShape>, Problem> {
    let profile = NewProfile { name: profile.name, login: profile.login };
    Ok(Json(shared.accounts.change_profile(&who, &profile).await?.into()))
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct PasswordChange {
    /// Needed where there is one.
    current: Option<String>,
    /// At least 10 characters.
    password: String,
}

/// Change your password; your other sessions end.
#[utoipa::path(put, path = "/api/me/password", tag = "accounts", request_body = PasswordChange,
    responses((status = 204), (status = "default", body = Problem)))]
async fn change_password(
    State(shared): State<AccountRoutes>,
    who: Authenticated,
    ClientAddress(address): ClientAddress,
    JsonBody(change): JsonBody<PasswordChange>,
) -> Result<StatusCode, Problem> {
    shared.accounts.change_password(&who, change.current, change.password, address).await?;
    Ok(StatusCode::NO_CONTENT)
}
