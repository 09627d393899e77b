//! Access of a notebook: list, grant, revoke, hand over. Guards of routes ask the rooms for rights.

use async_trait::async_trait;
use axum::Json;
use axum::extract::State;
use notarium_core::{Actor, Command, NotebookId, Operation, Rejection, Role, Subject, UserId, not_open};
use notarium_store::{CatalogEntry, CatalogQuery};
use notarium_wire::rest::{Access, AccessEnd, AccessGrant, NewOwner, OwnedNotebook, OwnedPage, OwnedQuery, TakeOver};

use super::answers::{Accepted, NotebookReader, Submit, command};
use super::notebooks::{parse_cursor, print_cursor};
use crate::app::App;
use crate::auth::Authenticated;
use crate::http::extract::{Conditions, JsonBody, Params, QueryOf};
use crate::http::guard::{Guard, GuardedRouter, NotebookRights, route_table};
use crate::http::problem::Problem;
use crate::notebooks::body_of;
use crate::rooms::DecodedCommand;

/// Notebooks per page of an owner's list.
const MAX_OWNED: usize = 1_000;

pub fn routes(router: GuardedRouter<App>) -> GuardedRouter<App> {
    let share = Guard::Notebook(Operation::Share);
    route_table!(router; "access" "/api/notebooks/{notebook}" {
        /// The notebook's access list.
        GET "/access", Guard::Notebook(Operation::Read) => list_access;
        /// Gives somebody a role, or another one.
        PUT "/access", share =>
            command(|_: NotebookId, JsonBody(AccessGrant { subject, role, expires_at })|
                Command::GrantAccess { subject, role, expires_at });
        /// Takes somebody's role away; live connections hear of it at once.
        DELETE "/access", share =>
            command(|_: NotebookId, JsonBody(AccessEnd { subject })| Command::RevokeAccess { subject });
        /// Makes somebody else the owner; you stay as an editor.
        POST "/owner", share => hand_over;
        /// Puts somebody in the place of an owner whose account is deactivated. For administrators.
        ///
        /// The record tells all who take part: who took over, from whom.
        POST "/take-over", Guard::Admin => take_over;
    } "accounts" "/api/users/{user}" {
        /// The notebooks that somebody owns, archived ones too, the last changed first. For administrators.
        GET "/notebooks", Guard::Admin => list_owned;
    })
}

async fn list_access(NotebookReader { now, .. }: NotebookReader) -> Json<Access> {
    let (version, access) = (now.notebook.version, now.notebook.access.clone());
    Json(Access { version, role: now.role, access })
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

async fn take_over(submit: Submit, JsonBody(over): JsonBody<TakeOver>) -> Result<Accepted, Problem> {
    let own = submit.who.user_id().cloned();
    let to = over.to.or(own).ok_or_else(|| Problem::invalid("say who is to be the owner: to"))?;
    submit.command(&Command::TakeOverNotebook { from: over.from, to }).await
}

async fn list_owned(
    State(app): State<App>,
    who: Authenticated,
    Params(user): Params<UserId>,
    QueryOf(query): QueryOf<OwnedQuery>,
) -> Result<Json<OwnedPage>, Problem> {
    app.rooms.list_changes_of(&who.actor).await;
    app.rooms.list_changes_of(&Actor::User { id: user.clone() }).await;
    let subject = Subject::User { id: user }.key();
    let owns = |entry: &CatalogEntry| entry.access.contains(&(subject.clone(), "owner".to_owned()));
    let catalog = CatalogQuery {
        subjects: Some(vec![subject.clone()]),
        after: query.cursor.as_deref().map(parse_cursor).transpose()?,
        limit: query.limit.unwrap_or(100).clamp(1, MAX_OWNED),
        ..CatalogQuery::default()
    };
    let page = app.store.catalog(catalog).await?;
    let notebooks = page.entries.into_iter().filter(owns).map(|entry| OwnedNotebook {
        id: entry.notebook_id,
        title: entry.title,
        archived: entry.archived,
    });
    Ok(Json(OwnedPage { notebooks: notebooks.collect(), next: page.next.as_ref().map(print_cursor) }))
}

/// Implementation of [`NotebookRights`] by the rooms.
pub struct RoomRights(pub App);

#[async_trait]
impl NotebookRights for RoomRights {
    async fn require(
        &self,
        authenticated: &Authenticated,
        notebook: &NotebookId,
        operation: Operation,
    ) -> Result<(), Rejection> {
        let state = self.0.read(authenticated, notebook).await?;
        if !operation.is_open_to(state.role) {
            return Err(not_open(state.role, operation));
        }
        let scope = operation.scope();
        if !authenticated.has(scope) {
            return Err(authenticated.lacks(scope));
        }
        Ok(())
    }

    async fn execute(
        &self,
        authenticated: &Authenticated,
        notebook: &NotebookId,
        command: Command,
    ) -> Result<(), Rejection> {
        let message = Conditions::default().message(notebook, body_of(&command)?);
        self.0.execute_decoded(authenticated, DecodedCommand::of(message, command)).await.map(drop)
    }
}
