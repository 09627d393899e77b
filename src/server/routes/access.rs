//! Access of a notebook: list, grant, revoke, hand over. Guards of routes ask the rooms for rights.

use async_trait::async_trait;
use axum::Json;
use axum::extract::State;
use http::Method;
use notarium_core::{Actor, Command, Millis, NotebookId, Operation, Rejection, Role, Subject, UserId, not_open};
use notarium_store::{CatalogEntry, CatalogQuery};
use notarium_wire::rest::{Access, AccessEnd, AccessGrant, NewOwner, OwnedNotebook, OwnedPage, OwnedQuery, TakeOver};

use super::answers::{Accepted, NotebookReader, Submit};
use super::notebooks::{parse_cursor, print_cursor};
use crate::app::App;
use crate::auth::Authenticated;
use crate::http::extract::{Conditions, JsonBody, Params, QueryOf};
use crate::http::guard::{Guard, GuardedRouter, NotebookRights};
use crate::http::problem::Problem;
use crate::notebooks::body_of;
use crate::rooms::DecodedCommand;
use crate::rooms::subject_key;

/// Notebooks per page of an owner's list.
const MAX_OWNED: usize = 1_000;

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
        .says(
            "Puts somebody in the place of an owner whose account is deactivated. For administrators.\n\nThe record tells all who \
             take part: who took over, from whom.",
        )
        .on(Guard::Admin, Method::POST, "/take-over", take_over)
        .group("accounts", "/api/users/{user}")
        .says("The notebooks that somebody owns, archived ones too, the last changed first. For administrators.")
        .on(Guard::Admin, Method::GET, "/notebooks", list_owned)
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
    let subject = subject_key(&Subject::User { id: user });
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

impl RoomRights {
    async fn execute(
        &self,
        authenticated: &Authenticated,
        notebook: &NotebookId,
        command: &Command,
    ) -> Result<(), Rejection> {
        let message = Conditions::default().message(notebook, body_of(command)?);
        self.0.execute_decoded(authenticated, DecodedCommand::of(message, command.clone())).await.map(drop)
    }
}

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

    async fn grant(
        &self,
        authenticated: &Authenticated,
        notebook: &NotebookId,
        subject: Subject,
        role: Role,
        expires_at: Option<Millis>,
    ) -> Result<(), Rejection> {
        self.execute(authenticated, notebook, &Command::GrantAccess { subject, role, expires_at }).await
    }

    async fn revoke(
        &self,
        authenticated: &Authenticated,
        notebook: &NotebookId,
        subject: Subject,
    ) -> Result<(), Rejection> {
        self.execute(authenticated, notebook, &Command::RevokeAccess { subject }).await
    }
}
