//! People: their names for everybody, their accounts for administrators.

use axum::Json;
use axum::extract::State;
use http::StatusCode;
use notarium_core::{Scope, UserId};
use notarium_store::accounts::{AccountChange, AccountError, User};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::routes;

use super::AccountRoutes;
use super::shapes::{OneTimeShape, UserShape};
use crate::auth::Authenticated;
use crate::extract::{JsonBody, Params, QueryOf};
use crate::guard::{Guard, GuardedRouter};
use crate::problem::Problem;

pub fn routes(router: GuardedRouter<AccountRoutes>) -> GuardedRouter<AccountRoutes> {
    router
        .routes(Guard::User(Scope::Manage), routes!(find_person))
        .routes(Guard::User(Scope::Read), routes!(read_person))
        .routes(Guard::Admin, routes!(list_users))
        .routes(Guard::Admin, routes!(create_user))
        .routes(Guard::Admin, routes!(deactivate_user))
        .routes(Guard::Admin, routes!(reactivate_user))
        .routes(Guard::Admin, routes!(reset_user))
        .routes(Guard::Admin, routes!(set_admin))
        .routes(Guard::Admin, routes!(read_audit))
}

/// What everybody with an account may know of somebody whose id or login they have.
#[derive(Debug, Serialize, ToSchema)]
struct Person {
    #[schema(value_type = String)]
    id: UserId,
    name: String,
}

impl From<User> for Person {
    fn from(user: User) -> Self {
        Self { id: user.id, name: user.name }
    }
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct PersonQuery {
    /// The whole login: there is no search.
    login: String,
}

fn unknown_user() -> Problem {
    AccountError::Unknown { what: "user" }.into()
}

/// The person with a login: to share a notebook.
#[utoipa::path(get, path = "/api/people", tag = "accounts", params(PersonQuery),
    responses((status = 200, body = Person), (status = "default", body = Problem)))]
async fn find_person(
    State(shared): State<AccountRoutes>,
    QueryOf(query): QueryOf<PersonQuery>,
) -> Result<Json<Person>, Problem> {
    let user = shared.accounts.store().user_by_login(&query.login).await?;
    user.map(|user| Json(user.into())).ok_or_else(unknown_user)
}

/// The name behind an id: events have ids alone.
#[utoipa::path(get, path = "/api/people/{user}", tag = "accounts", params(("user" = String, Path)),
    responses((status = 200, body = Person), (status = "default", body = Problem)))]
async fn read_person(State(shared): State<AccountRoutes>, Params(id): Params<UserId>) -> Result<Json<Person>, Problem> {
    Ok(Json(user(&shared, &id).await?.into()))
}

async fn user(shared: &AccountRoutes, id: &UserId) -> Result<User, Problem> {
    shared.accounts.store().user(id).await?.ok_or_else(unknown_user)
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct Page {
    /// The id of the last user of the page before.
    #[param(value_type = Option<String>)]
    after: Option<UserId>,
    /// 1 to 1,000; absent: 100.
    limit: Option<usize>,
}

/// The accounts, by id.
#[utoipa::path(get, path = "/api/users", tag = "accounts", params(Page),
    responses((status = 200, body = Vec<UserShape>), (status = "default", body = Problem)))]
async fn list_users(
    State(shared): State<AccountRoutes>,
    QueryOf(page): QueryOf<Page>,
) -> Result<Json<Vec<UserShape>>, Problem> {
    let limit = page.limit.unwrap_or(100).max(1);
    let users = shared.accounts.store().users(page.after.as_ref(), limit).await?;
    Ok(Json(users.into_iter().map(UserShape::from).collect()))
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct NewUser {
    name: String,
    login: String,
    #[serde(default)]
    is_admin: bool,
}

#[derive(Debug, Serialize, ToSchema)]
struct CreatedUser {
    user: UserShape,
    /// Hand it to the person, who sends it to `POST /api/session` with a password.
    invitation: OneTimeShape,
}

/// A new account. The person chooses the password.
#[utoipa::path(post, path = "/api/users", tag = "accounts", request_body = NewUser,
    responses((status = 201, body = CreatedUser), (status = "default", body = Problem)))]
async fn create_user(
    State(shared): State<AccountRoutes>,
    who: Authenticated,
    JsonBody(new): JsonBody<NewUser>,
) -> Result<(StatusCode, Json<CreatedUser>), Problem> {
    let (user, invitation) = shared.accounts.create_user(&who, &new.name, &new.login, new.is_admin).await?;
    Ok((StatusCode::CREATED, Json(CreatedUser { user: user.into(), invitation: invitation.into() })))
}

/// Ends an account's tokens and connections, and the agents and links that it made. Its notebooks stay.
#[utoipa::path(post, path = "/api/users/{user}/deactivate", tag = "accounts", params(("user" = String, Path)),
    responses((status = 204), (status = "default", body = Problem)))]
async fn deactivate_user(
    State(shared): State<AccountRoutes>,
    who: Authenticated,
    Params(user): Params<UserId>,
) -> Result<StatusCode, Problem> {
    let change = AccountChange::DeactivateUser { user, at: shared.accounts.now() };
    shared.accounts.administer(&who, change, "user.deactivate").await?;
    Ok(StatusCode::NO_CONTENT)
}

/// The person may sign in again; tokens that were revoked stay so.
#[utoipa::path(post, path = "/api/users/{user}/reactivate", tag = "accounts", params(("user" = String, Path)),
    responses((status = 204), (status = "default", body = Problem)))]
async fn reactivate_user(
    State(shared): State<AccountRoutes>,
    who: Authenticated,
    Params(user): Params<UserId>,
) -> Result<StatusCode, Problem> {
    let change = AccountChange::ReactivateUser { user };
    shared.accounts.administer(&who, change, "user.reactivate").await?;
    Ok(StatusCode::NO_CONTENT)
}

/// A one-time token with which the person sets a new password.
#[utoipa::path(post, path = "/api/users/{user}/reset", tag = "accounts", params(("user" = String, Path)),
    responses((status = 201, body = OneTimeShape), (status = "default", body = Problem)))]
async fn reset_user(
    State(shared): State<AccountRoutes>,
    who: Authenticated,
    Params(id): Params<UserId>,
) -> Result<(StatusCode, Json<OneTimeShape>), Problem> {
    let user = user(&shared, &id).await?;
    Ok((StatusCode::CREATED, Json(shared.accounts.reset_password(&who, &user).await?.into())))
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct AdminChange {
    is_admin: bool,
}

/// Makes an administrator, or no administrator. The last one stays.
#[utoipa::path(put, path = "/api/users/{user}/admin", tag = "accounts", request_body = AdminChange,
    params(("user" = String, Path)), responses((status = 204), (status = "default", body = Problem)))]
async fn set_admin(
    State(shared): State<AccountRoutes>,
    who: Authenticated,
    Params(user): Params<UserId>,
    JsonBody(AdminChange { is_admin }): JsonBody<AdminChange>,
) -> Result<StatusCode, Problem> {
    let change = AccountChange::SetAdmin { user, is_admin };
    shared.accounts.administer(&who, change, "user.admin").await?;
    Ok(StatusCode::NO_CONTENT)
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct AuditPage {
    /// The number of the last entry of the page before.
    before: Option<u64>,
    /// 1 to 1,000; absent: 100.
    limit: Option<usize>,
}

#[derive(Debug, Serialize, ToSchema)]
struct AuditShape {
    number: u64,
    /// Milliseconds since 1970.
    at: u64,
    /// As in `user:01J…`.
    actor: String,
    /// As in `user.deactivate`.
    action: String,
    subject: String,
}

/// Who changed the accounts, newest first.
#[utoipa::path(get, path = "/api/audit", tag = "accounts", params(AuditPage),
    responses((status = 200, body = Vec<AuditShape>), (status = "default", body = Problem)))]
async fn read_audit(
    State(shared): State<AccountRoutes>,
    QueryOf(page): QueryOf<AuditPage>,
) -> Result<Json<Vec<AuditShape>>, Problem> {
    let records = shared.accounts.store().audit(page.before, page.limit.unwrap_or(100).max(1)).await?;
    let shapes = records.into_iter().map(|record| AuditShape {
        number: record.number,
        at: record.entry.at,
        actor: record.entry.actor,
        action: record.entry.action,
        subject: record.entry.subject,
    });
    Ok(Json(shapes.collect()))
}
