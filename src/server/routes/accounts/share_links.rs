//! Links by which people without an account take part in one notebook.
//!
//! The link's token says which link it is; its role is a grant in the notebook's own access list, so that the log
//! tells who shared, and a grant that is revoked there ends the right at once.

use axum::Json;
use axum::extract::State;
use http::StatusCode;
use notarium_core::{Millis, NotebookId, Operation, Role, ShareLinkId, Subject};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::routes;

use super::AccountRoutes;
use super::shapes::ShareLinkShape;
use crate::auth::{Authenticated, NewShareLink};
use crate::extract::{JsonBody, Params};
use crate::guard::{Guard, GuardedRouter};
use crate::problem::Problem;

const LISTED: usize = 1_000;

pub fn routes(router: GuardedRouter<AccountRoutes>) -> GuardedRouter<AccountRoutes> {
    router
        .routes(Guard::Notebook(Operation::Share), routes!(list_share_links))
        .routes(Guard::Notebook(Operation::Share), routes!(create_share_link))
        .routes(Guard::Notebook(Operation::Share), routes!(revoke_share_link))
}

/// The links that were not revoked, newest first.
#[utoipa::path(get, path = "/api/notebooks/{notebook}/share-links", tag = "access",
    params(("notebook" = String, Path)),
    responses((status = 200, body = Vec<ShareLinkShape>), (status = "default", body = Problem)))]
async fn list_share_links(
    State(shared): State<AccountRoutes>,
    Params(notebook): Params<NotebookId>,
) -> Result<Json<Vec<ShareLinkShape>>, Problem> {
    let links = shared.accounts.store().share_links(&notebook, LISTED).await?;
    Ok(Json(links.into_iter().map(ShareLinkShape::from).collect()))
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct NewShareLinkShape {
    /// `viewer`, `commenter`, `runner`, `author` or `editor`.
    #[schema(value_type = String)]
    role: Role,
    /// What others see instead of a name, as in "Reviewer".
    #[serde(default)]
    label: String,
    /// Milliseconds since 1970; absent: until it is revoked.
    expires_at: Option<Millis>,
}

#[derive(Debug, Serialize, ToSchema)]
struct CreatedShareLink {
    /// The token stands behind `#`, which browsers send to no server. In this answer and never again.
    url: String,
    /// The same token, for programs.
    token: String,
    #[serde(flatten)]
    link: ShareLinkShape,
}

/// A new link.
#[utoipa::path(post, path = "/api/notebooks/{notebook}/share-links", tag = "access",
    request_body = NewShareLinkShape, params(("notebook" = String, Path)),
    responses((status = 201, body = CreatedShareLink), (status = "default", body = Problem)))]
async fn create_share_link(
    State(shared): State<AccountRoutes>,
    who: Authenticated,
    Params(notebook): Params<NotebookId>,
    JsonBody(new): JsonBody<NewShareLinkShape>,
) -> Result<(StatusCode, Json<CreatedShareLink>), Problem> {
    let (role, expires_at) = (new.role, new.expires_at);
    let new = NewShareLink { notebook: notebook.clone(), role, label: new.label, expires_at };
    let (text, link) = shared.accounts.create_share_link(&who, new).await?;
    let subject = Subject::ShareLink { id: link.id.clone() };
    if let Err(rejection) = shared.rights.grant(&who, &notebook, subject, role, expires_at).await {
        shared.accounts.revoke_share_link(&who, &notebook, &link.id).await?;
        return Err(rejection.into());
    }
    let url = format!("{}/notebooks/{notebook}#token={}", shared.public_url, text.reveal());
    Ok((StatusCode::CREATED, Json(CreatedShareLink { url, token: text.reveal(), link: link.into() })))
}

/// Ends a link and its connections.
#[utoipa::path(delete, path = "/api/notebooks/{notebook}/share-links/{link}", tag = "access",
    params(("notebook" = String, Path), ("link" = String, Path)),
    responses((status = 204), (status = "default", body = Problem)))]
async fn revoke_share_link(
    State(shared): State<AccountRoutes>,
    who: Authenticated,
    Params((notebook, link)): Params<(NotebookId, ShareLinkId)>,
) -> Result<StatusCode, Problem> {
    // The token first: whatever happens then, nobody comes in by it.
    shared.accounts.revoke_share_link(&who, &notebook, &link).await?;
    shared.rights.revoke(&who, &notebook, Subject::ShareLink { id: link }).await?;
    Ok(StatusCode::NO_CONTENT)
}
