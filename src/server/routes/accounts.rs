//! Routes for accounts: tokens of programs and agents, share links, and the shapes of all responses about accounts; never
//! a hash, and a secret only in the response that creates it.

mod audit;
mod invitations;
mod people;
mod session;
#[cfg(test)]
mod tests;

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use axum::Json;
use axum::extract::{ConnectInfo, FromRequestParts, State};
use http::request::Parts;
use notarium_core::{Command, NotebookId, Operation, Role, Scope, ShareLinkId, Subject, TokenId};
use notarium_store::accounts::{Coverage, Membership, ShareLink, Token, TokenFilter, TokenHolder, User, Workspace};
use notarium_wire::rest::{self, CreatedShareLink};

use crate::auth::oidc::Oidc;
use crate::auth::{Accounts, AuthError, Authenticated, NewAgent, NewApiToken, NewShareLink, NewToken, OneTimeToken};
use crate::http::extract::{Created, JsonBody, NoContent, Params};
use crate::http::guard::{Guard, GuardServices, GuardedRouter, NotebookRights, route_table};
use crate::http::openapi::Taken;
use crate::http::problem::Problem;

/// State shared by the handlers of accounts. Cheap to clone.
#[derive(Clone)]
struct AccountRoutes {
    accounts: Accounts,
    rights: Arc<dyn NotebookRights>,
    public_url: Arc<str>,
    oidc: Option<Arc<Oidc>>,
}

/// All routes for accounts. `public_url` is the beginning of links, as in `https://notes.example.org`.
pub fn routes<S: Clone + Send + Sync + 'static>(
    gate: GuardServices,
    public_url: &str,
    oidc: Option<Arc<Oidc>>,
) -> GuardedRouter<S> {
    let shared = AccountRoutes {
        accounts: gate.accounts.clone(),
        rights: gate.rights.clone(),
        public_url: public_url.trim_end_matches('/').into(),
        oidc,
    };
    let router = GuardedRouter::new(gate);
    let router = session::routes(router);
    let router = people::routes(router);
    let router = invitations::routes(router);
    own_routes(router).with_state(shared)
}

impl AccountRoutes {
    fn one_time(&self, one_time: &OneTimeToken) -> rest::OneTimeToken {
        let token = one_time.text.reveal();
        let url = format!("{}/#token={token}", self.public_url);
        rest::OneTimeToken { token, url: Some(url), expires_at: one_time.expires_at }
    }
}

/// Caller of a route, and the state to answer from.
struct AccountCaller {
    shared: AccountRoutes,
    who: Authenticated,
}

impl FromRequestParts<AccountRoutes> for AccountCaller {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, shared: &AccountRoutes) -> Result<Self, Problem> {
        let who = Authenticated::from_request_parts(parts, shared).await?;
        Ok(Self { shared: shared.clone(), who })
    }
}

impl Taken for AccountCaller {}

impl Taken for ClientAddress {}

/// Address of the connection, for throttling; absent in tests without a socket. Behind a proxy that is not trusted it
/// is the proxy's address; attempts per login are still limited.
struct ClientAddress(Option<IpAddr>);

impl<S: Send + Sync> FromRequestParts<S> for ClientAddress {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        Ok(Self(parts.extensions.get::<ConnectInfo<SocketAddr>>().map(|info| info.0.ip())))
    }
}

pub fn user(user: User) -> rest::User {
    rest::User {
        id: user.id,
        name: user.name,
        login: user.login,
        is_admin: user.is_admin,
        has_password: user.password_hash.is_some(),
        created_at: user.created_at,
        deactivated_at: user.deactivated_at,
    }
}

pub fn covers(coverage: Coverage) -> rest::Covers {
    match coverage {
        Coverage::All => rest::Covers::default(),
        Coverage::Notebooks(notebooks) => rest::Covers { notebooks: Some(notebooks), workspace: None },
        Coverage::Workspace(workspace) => rest::Covers { notebooks: None, workspace: Some(workspace) },
    }
}

pub fn coverage(covers: rest::Covers) -> Result<Coverage, Problem> {
    match (covers.notebooks, covers.workspace) {
        (None, None) => Ok(Coverage::All),
        (Some(notebooks), None) => Ok(Coverage::Notebooks(notebooks)),
        (None, Some(workspace)) => Ok(Coverage::Workspace(workspace)),
        (Some(_), Some(_)) => Err(Problem::invalid("covers names notebooks or a workspace, not both")),
    }
}

pub fn token(token: Token) -> rest::Token {
    rest::Token {
        kind: token.kind().as_str().to_owned(),
        scopes: token.scopes.scopes().iter().copied().collect(),
        id: token.id,
        agent: match token.holder {
            TokenHolder::Agent(id) => Some(id),
            TokenHolder::User(_) => None,
        },
        label: token.label,
        covers: covers(token.coverage),
        created_by: token.created_by,
        created_at: token.created_at,
        expires_at: token.expires_at,
        last_used_at: token.last_used_at,
    }
}

pub fn issued(new: NewToken) -> rest::IssuedToken {
    rest::IssuedToken { token: new.text.reveal(), record: token(new.token) }
}

pub fn workspace(workspace: Workspace, role: Role) -> rest::Workspace {
    rest::Workspace { id: workspace.id, name: workspace.name, role, created_at: workspace.created_at }
}

pub fn member(membership: Membership) -> rest::Member {
    rest::Member { user: membership.user_id, role: membership.role, group: membership.from_group }
}

pub fn share_link(link: ShareLink) -> rest::ShareLink {
    rest::ShareLink {
        id: link.id,
        notebook: link.notebook_id,
        role: link.role,
        label: link.label,
        created_by: link.created_by,
        created_at: link.created_at,
        expires_at: link.expires_at,
    }
}

const LISTED: usize = 1_000;

fn own_routes(router: GuardedRouter<AccountRoutes>) -> GuardedRouter<AccountRoutes> {
    let (manage, share) = (Guard::User(Scope::Manage), Guard::Notebook(Operation::Share));
    route_table!(router; "accounts" "/api" {
        /// Your sessions and API tokens that were not revoked, newest first.
        GET "/tokens", manage => list_tokens;
        /// A token for a program that acts for you. Only in a session.
        POST "/tokens", manage => create_token;
        /// Ends a token that you hold or made, and its connections.
        DELETE "/tokens/{token}", manage => revoke_token;
        /// The agents' tokens that you made; an administrator sees all.
        GET "/agents", manage => list_agents;
        /// A token for a runtime agent: it reads the notebooks that it covers and reports what its kernels do, nothing
        /// else.
        POST "/agents", manage => create_agent;
        /// Ends an agent's token and its connections.
        DELETE "/agents/{token}", manage => revoke_token;
    } "access" "/api/notebooks/{notebook}/share-links" {
        /// The links that were not revoked, newest first.
        GET "", share => list_share_links;
        /// A new link.
        POST "", share => create_share_link;
        /// Ends a link and its connections.
        DELETE "/{link}", share => revoke_share_link;
    })
}

fn listed(tokens: Vec<Token>) -> Json<Vec<rest::Token>> {
    Json(tokens.into_iter().map(token).collect())
}

async fn list_tokens(AccountCaller { shared, who }: AccountCaller) -> Result<Json<Vec<rest::Token>>, Problem> {
    let user = who.user_id().ok_or(AuthError::Missing)?;
    Ok(listed(shared.accounts.store().tokens(&TokenFilter::OfUser(user.clone()), LISTED).await?))
}

async fn create_token(
    AccountCaller { shared, who }: AccountCaller,
    JsonBody(new): JsonBody<rest::NewApiToken>,
) -> Result<Created<Json<rest::IssuedToken>>, Problem> {
    let coverage = coverage(new.covers)?;
    let new = NewApiToken { label: new.label, scopes: new.scopes, coverage, expires_at: new.expires_at };
    Ok(Created(Json(issued(shared.accounts.create_api_token(&who, new).await?))))
}

async fn revoke_token(
    AccountCaller { shared, who }: AccountCaller,
    Params(token): Params<TokenId>,
) -> Result<NoContent, Problem> {
    shared.accounts.revoke_token(&who, &token).await?;
    Ok(NoContent)
}

async fn list_agents(AccountCaller { shared, who }: AccountCaller) -> Result<Json<Vec<rest::Token>>, Problem> {
    let user = who.user_id().ok_or(AuthError::Missing)?;
    let filter = if who.has(Scope::Admin) { TokenFilter::AllAgents } else { TokenFilter::AgentsBy(user.clone()) };
    Ok(listed(shared.accounts.store().tokens(&filter, LISTED).await?))
}

async fn create_agent(
    AccountCaller { shared, who }: AccountCaller,
    JsonBody(new): JsonBody<rest::NewAgent>,
) -> Result<Created<Json<rest::IssuedToken>>, Problem> {
    let coverage = coverage(new.covers)?;
    may_let_in(&shared, &who, &coverage).await?;
    let new = NewAgent { name: new.name, coverage, expires_at: new.expires_at };
    Ok(Created(Json(issued(shared.accounts.create_agent(&who, new).await?))))
}

/// Checks the right to share: an agent sees everything that its token covers.
async fn may_let_in(shared: &AccountRoutes, who: &Authenticated, coverage: &Coverage) -> Result<(), Problem> {
    match coverage {
        Coverage::All if who.has(Scope::Admin) => Ok(()),
        Coverage::All => Err(Problem::forbidden(
            "only an administrator lets an agent into every notebook: name notebooks or a workspace",
        )),
        Coverage::Workspace(workspace) => Ok(shared.accounts.check_manages(who, workspace)?),
        Coverage::Notebooks(notebooks) => {
            for notebook in notebooks {
                shared.rights.require(who, notebook, Operation::Share).await?;
            }
            Ok(())
        }
    }
}

const LISTED_LINKS: usize = 1_000;

// --- share links ---

async fn list_share_links(
    State(shared): State<AccountRoutes>,
    Params(notebook): Params<NotebookId>,
) -> Result<Json<Vec<rest::ShareLink>>, Problem> {
    let links = shared.accounts.store().share_links(&notebook, LISTED_LINKS).await?;
    Ok(Json(links.into_iter().map(share_link).collect()))
}

async fn create_share_link(
    AccountCaller { shared, who }: AccountCaller,
    Params(notebook): Params<NotebookId>,
    JsonBody(new): JsonBody<rest::NewShareLink>,
) -> Result<Created<Json<CreatedShareLink>>, Problem> {
    let (role, expires_at) = (new.role, new.expires_at);
    let new = NewShareLink { notebook: notebook.clone(), role, label: new.label, expires_at };
    let (text, link) = shared.accounts.create_share_link(&who, new).await?;
    let subject = Subject::ShareLink { id: link.id.clone() };
    let grant = Command::GrantAccess { subject, role, expires_at };
    if let Err(rejection) = shared.rights.execute(&who, &notebook, grant).await {
        shared.accounts.revoke_share_link(&who, &notebook, &link.id).await?;
        return Err(rejection.into());
    }
    let url = format!("{}/notebooks/{notebook}#token={}", shared.public_url, text.reveal());
    Ok(Created(Json(CreatedShareLink { url, token: text.reveal(), link: share_link(link) })))
}

async fn revoke_share_link(
    AccountCaller { shared, who }: AccountCaller,
    Params((notebook, link)): Params<(NotebookId, ShareLinkId)>,
) -> Result<NoContent, Problem> {
    // Revoke the token first: even if the next step fails, the link admits no caller.
    shared.accounts.revoke_share_link(&who, &notebook, &link).await?;
    let revoke = Command::RevokeAccess { subject: Subject::ShareLink { id: link } };
    shared.rights.execute(&who, &notebook, revoke).await?;
    Ok(NoContent)
}
