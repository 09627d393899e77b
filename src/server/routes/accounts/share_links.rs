//! Share links, by which people without an account take part in one notebook.
//!
//! The token identifies the link. Its role is a grant in the notebook's access list: the log says who shared, and
//! revoking the grant there takes effect immediately.

use axum::Json;
use axum::extract::State;
use http::Method;
use notarium_core::{NotebookId, Operation, ShareLinkId, Subject};
use notarium_wire::rest::{self, CreatedShareLink};

use super::{AccountRoutes, Caller, shapes};
use crate::auth::NewShareLink;
use crate::http::extract::{Created, JsonBody, NoContent, Params};
use crate::http::guard::{Guard, GuardedRouter};
use crate::http::problem::Problem;

const LISTED: usize = 1_000;

pub fn routes(router: GuardedRouter<AccountRoutes>) -> GuardedRouter<AccountRoutes> {
    router
        .group("access", "/api/notebooks/{notebook}/share-links")
        .says("The links that were not revoked, newest first.")
        .on(Guard::Notebook(Operation::Share), Method::GET, "", list_share_links)
        .says("A new link.")
        .on(Guard::Notebook(Operation::Share), Method::POST, "", create_share_link)
        .says("Ends a link and its connections.")
        .on(Guard::Notebook(Operation::Share), Method::DELETE, "/{link}", revoke_share_link)
}

async fn list_share_links(
    State(shared): State<AccountRoutes>,
    Params(notebook): Params<NotebookId>,
) -> Result<Json<Vec<rest::ShareLink>>, Problem> {
    let links = shared.accounts.store().share_links(&notebook, LISTED).await?;
    Ok(Json(links.into_iter().map(shapes::share_link).collect()))
}

async fn create_share_link(
    Caller { shared, who }: Caller,
    Params(notebook): Params<NotebookId>,
    JsonBody(new): JsonBody<rest::NewShareLink>,
) -> Result<Created<Json<CreatedShareLink>>, Problem> {
    let (role, expires_at) = (new.role, new.expires_at);
    let new = NewShareLink { notebook: notebook.clone(), role, label: new.label, expires_at };
    let (text, link) = shared.accounts.create_share_link(&who, new).await?;
    let subject = Subject::ShareLink { id: link.id.clone() };
    if let Err(rejection) = shared.rights.grant(&who, &notebook, subject, role, expires_at).await {
        shared.accounts.revoke_share_link(&who, &notebook, &link.id).await?;
        return Err(rejection.into());
    }
    let url = format!("{}/notebooks/{notebook}#token={}", shared.public_url, text.reveal());
    Ok(Created(Json(CreatedShareLink { url, token: text.reveal(), link: shapes::share_link(link) })))
}

async fn revoke_share_link(
    Caller { shared, who }: Caller,
    Params((notebook, link)): Params<(NotebookId, ShareLinkId)>,
) -> Result<NoContent, Problem> {
    // Revoke the token first: even if the next step fails, the link admits no caller.
    shared.accounts.revoke_share_link(&who, &notebook, &link).await?;
    shared.rights.revoke(&who, &notebook, Subject::ShareLink { id: link }).await?;
    Ok(NoContent)
}
