//! People (names for all callers, accounts for administrators) and workspaces, their groups.

use axum::Json;
use axum::extract::State;
use notarium_core::{NotebookId, Operation, Role, Scope, ShareLinkId, UserId, WorkspaceId};
use notarium_store::accounts::{AccountChange, AccountError, User};
use notarium_wire::rest::{
    self, AdminChange, CreatedUser, FoundPerson, Guest, MemberRole, NewUser, PeopleQuery, Person, PersonQuery,
    Placement, UsersQuery, WorkspaceName,
};

use super::{AccountCaller, AccountRoutes, audit};
use crate::http::extract::{Created, JsonBody, NoContent, Params, QueryOf};
use crate::http::guard::{Guard, GuardedRouter, route_table};
use crate::http::problem::Problem;
use crate::routes::accounts;

pub fn routes(router: GuardedRouter<AccountRoutes>) -> GuardedRouter<AccountRoutes> {
    let (read, manage) = (Guard::User(Scope::Read), Guard::User(Scope::Manage));
    route_table!(router; "accounts" "/api" {
        /// The person with a login: to share a notebook.
        GET "/people", manage => find_person;
        /// People by a part of their name or login, at most 10: members of your workspaces; for administrators
        /// everybody.
        GET "/people/matching", read => match_people;
        /// The name behind an id: events have ids alone.
        GET "/people/{user}", Guard::Authenticated => read_person;
        /// The name of a guest, by the id of the link.
        GET "/guests/{link}", Guard::Authenticated => read_guest;
        /// The accounts, by id.
        GET "/users", Guard::Admin => list_users;
        /// A new account. The person chooses the password.
        POST "/users", Guard::Admin => create_user;
        /// Ends an account's tokens and connections, and the agents and links that it made. Its notebooks stay.
        POST "/users/{user}/deactivate", Guard::Admin => deactivate_user;
        /// The person may sign in again; tokens that were revoked stay so.
        POST "/users/{user}/reactivate", Guard::Admin => reactivate_user;
        /// A one-time token with which the person sets a new password.
        POST "/users/{user}/reset", Guard::Admin => reset_user;
        /// Makes an administrator, or no administrator. The last one stays.
        PUT "/users/{user}/admin", Guard::Admin => set_admin;
        /// Changes of accounts with their authors, newest first.
        GET "/audit", Guard::Admin => audit::read_audit;
    } "accounts" "/api" {
        /// Yours.
        GET "/workspaces", read => list_workspaces;
        /// A new workspace, which you own.
        POST "/workspaces", manage => create_workspace;
        /// Another name. For its owners.
        PUT "/workspaces/{workspace}", manage => rename_workspace;
        /// The members, for members.
        GET "/workspaces/{workspace}/members", read => list_members;
        /// Makes a member, or gives another role. For owners; acts on open connections at once.
        PUT "/workspaces/{workspace}/members/{user}", manage => set_member;
        /// Removes a member, or leaves. Acts on open connections at once.
        DELETE "/workspaces/{workspace}/members/{user}", manage => remove_member;
        /// Puts a notebook into a workspace, whose members then have their role in it.
        PUT "/notebooks/{notebook}/workspace", Guard::Notebook(Operation::Share) => place_notebook;
    })
}

fn person(user: User) -> Json<Person> {
    Json(Person { id: user.id, name: user.name })
}

fn unknown_user() -> Problem {
    AccountError::Unknown { what: "user" }.into()
}

async fn find_person(
    State(shared): State<AccountRoutes>,
    QueryOf(query): QueryOf<PersonQuery>,
) -> Result<Json<Person>, Problem> {
    let user = shared.accounts.store().user_by_login(&query.login).await?;
    user.map(person).ok_or_else(unknown_user)
}

async fn read_person(State(shared): State<AccountRoutes>, Params(id): Params<UserId>) -> Result<Json<Person>, Problem> {
    Ok(person(user(&shared, &id).await?))
}

/// Searches for people; only administrators can find every login.
async fn match_people(
    AccountCaller { shared, who }: AccountCaller,
    QueryOf(query): QueryOf<PeopleQuery>,
) -> Result<Json<Vec<FoundPerson>>, Problem> {
    let found = shared.accounts.people_matching(&who, &query.text).await?;
    let shape = |User { id, name, login, .. }: User| FoundPerson { id, name, login };
    Ok(Json(found.into_iter().map(shape).collect()))
}

async fn read_guest(
    State(shared): State<AccountRoutes>,
    Params(id): Params<ShareLinkId>,
) -> Result<Json<Guest>, Problem> {
    let name = shared.accounts.guest_name(&id).await?.ok_or(AccountError::Unknown { what: "share link" })?;
    Ok(Json(Guest { id, name }))
}

async fn user(shared: &AccountRoutes, id: &UserId) -> Result<User, Problem> {
    shared.accounts.store().user(id).await?.ok_or_else(unknown_user)
}

async fn list_users(
    State(shared): State<AccountRoutes>,
    QueryOf(page): QueryOf<UsersQuery>,
) -> Result<Json<Vec<rest::User>>, Problem> {
    let limit = page.limit.unwrap_or(100).max(1);
    let users = shared.accounts.store().users(page.after.as_ref(), limit).await?;
    Ok(Json(users.into_iter().map(accounts::user).collect()))
}

async fn create_user(
    AccountCaller { shared, who }: AccountCaller,
    JsonBody(new): JsonBody<NewUser>,
) -> Result<Created<Json<CreatedUser>>, Problem> {
    let (user, invitation) = shared.accounts.create_user(&who, &new.name, &new.login, new.is_admin).await?;
    Ok(Created(Json(CreatedUser { user: accounts::user(user), invitation: shared.one_time(&invitation) })))
}

async fn deactivate_user(
    AccountCaller { shared, who }: AccountCaller,
    Params(user): Params<UserId>,
) -> Result<NoContent, Problem> {
    let change = AccountChange::DeactivateUser { user, at: shared.accounts.now() };
    shared.accounts.administer(&who, change, "user.deactivate").await?;
    Ok(NoContent)
}

async fn reactivate_user(
    AccountCaller { shared, who }: AccountCaller,
    Params(user): Params<UserId>,
) -> Result<NoContent, Problem> {
    let change = AccountChange::ReactivateUser { user };
    shared.accounts.administer(&who, change, "user.reactivate").await?;
    Ok(NoContent)
}

async fn reset_user(
    AccountCaller { shared, who }: AccountCaller,
    Params(id): Params<UserId>,
) -> Result<Created<Json<rest::OneTimeToken>>, Problem> {
    let user = user(&shared, &id).await?;
    Ok(Created(Json(shared.one_time(&shared.accounts.reset_password(&who, &user).await?))))
}

async fn set_admin(
    AccountCaller { shared, who }: AccountCaller,
    Params(user): Params<UserId>,
    JsonBody(AdminChange { is_admin }): JsonBody<AdminChange>,
) -> Result<NoContent, Problem> {
    let change = AccountChange::SetAdmin { user, is_admin };
    shared.accounts.administer(&who, change, "user.admin").await?;
    Ok(NoContent)
}

// --- workspaces ---

async fn list_workspaces(AccountCaller { shared, who }: AccountCaller) -> Result<Json<Vec<rest::Workspace>>, Problem> {
    let mut mine = Vec::with_capacity(who.workspaces.len());
    for (id, role) in &who.workspaces {
        let workspace = shared.accounts.store().workspace(id).await?;
        mine.extend(workspace.map(|workspace| accounts::workspace(workspace, *role)));
    }
    Ok(Json(mine))
}

async fn create_workspace(
    AccountCaller { shared, who }: AccountCaller,
    JsonBody(new): JsonBody<WorkspaceName>,
) -> Result<Created<Json<rest::Workspace>>, Problem> {
    let workspace = shared.accounts.create_workspace(&who, &new.name).await?;
    Ok(Created(Json(accounts::workspace(workspace, Role::Owner))))
}

async fn rename_workspace(
    AccountCaller { shared, who }: AccountCaller,
    Params(workspace): Params<WorkspaceId>,
    JsonBody(new): JsonBody<WorkspaceName>,
) -> Result<NoContent, Problem> {
    shared.accounts.rename_workspace(&who, &workspace, &new.name).await?;
    Ok(NoContent)
}

async fn list_members(
    AccountCaller { shared, who }: AccountCaller,
    Params(workspace): Params<WorkspaceId>,
) -> Result<Json<Vec<rest::Member>>, Problem> {
    shared.accounts.role_in(&who, &workspace)?;
    let members = shared.accounts.store().members(&workspace).await?;
    Ok(Json(members.into_iter().map(accounts::member).collect()))
}

async fn set_member(
    AccountCaller { shared, who }: AccountCaller,
    Params((workspace, user)): Params<(WorkspaceId, UserId)>,
    JsonBody(MemberRole { role }): JsonBody<MemberRole>,
) -> Result<NoContent, Problem> {
    shared.accounts.set_member(&who, &workspace, &user, Some(role)).await?;
    Ok(NoContent)
}

async fn remove_member(
    AccountCaller { shared, who }: AccountCaller,
    Params((workspace, user)): Params<(WorkspaceId, UserId)>,
) -> Result<NoContent, Problem> {
    shared.accounts.set_member(&who, &workspace, &user, None).await?;
    Ok(NoContent)
}

async fn place_notebook(
    AccountCaller { shared, who }: AccountCaller,
    Params(notebook): Params<NotebookId>,
    JsonBody(Placement { workspace }): JsonBody<Placement>,
) -> Result<NoContent, Problem> {
    shared.accounts.place_notebook(&who, &notebook, workspace.as_ref()).await?;
    Ok(NoContent)
}
