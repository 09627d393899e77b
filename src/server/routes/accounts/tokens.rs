//! Routes for tokens of programs and of runtime agents.

use axum::Json;
use http::Method;
use notarium_core::{Operation, Scope, TokenId};
use notarium_store::accounts::{Coverage, Token, TokenFilter};
use notarium_wire::rest;

use super::{AccountRoutes, Caller, shapes};
use crate::auth::{AuthError, Authenticated, NewAgent, NewApiToken};
use crate::http::extract::{Created, JsonBody, NoContent, Params};
use crate::http::guard::{Guard, GuardedRouter};
use crate::http::problem::Problem;

const LISTED: usize = 1_000;

pub fn routes(router: GuardedRouter<AccountRoutes>) -> GuardedRouter<AccountRoutes> {
    router
        .group("accounts", "/api")
        .says("Your sessions and API tokens that were not revoked, newest first.")
        .on(Guard::User(Scope::Manage), Method::GET, "/tokens", list_tokens)
        .says("A token for a program that acts for you. Only in a session.")
        .on(Guard::User(Scope::Manage), Method::POST, "/tokens", create_token)
        .says("Ends a token that you hold or made, and its connections.")
        .on(Guard::User(Scope::Manage), Method::DELETE, "/tokens/{token}", revoke_token)
        .says("The agents' tokens that you made; an administrator sees all.")
        .on(Guard::User(Scope::Manage), Method::GET, "/agents", list_agents)
        .says("A token for a runtime agent: it reads the notebooks that it covers and reports what its kernels do, nothing else.")
        .on(Guard::User(Scope::Manage), Method::POST, "/agents", create_agent)
        .says("Ends an agent's token and its connections.")
        .on(Guard::User(Scope::Manage), Method::DELETE, "/agents/{token}", revoke_token)
}

fn listed(tokens: Vec<Token>) -> Json<Vec<rest::Token>> {
    Json(tokens.into_iter().map(shapes::token).collect())
}

async fn list_tokens(Caller { shared, who }: Caller) -> Result<Json<Vec<rest::Token>>, Problem> {
    let user = who.user_id().ok_or(AuthError::Missing)?;
    Ok(listed(shared.accounts.store().tokens(&TokenFilter::OfUser(user.clone()), LISTED).await?))
}

async fn create_token(
    Caller { shared, who }: Caller,
    JsonBody(new): JsonBody<rest::NewApiToken>,
) -> Result<Created<Json<rest::IssuedToken>>, Problem> {
    let coverage = shapes::coverage(new.covers)?;
    let new = NewApiToken { label: new.label, scopes: new.scopes, coverage, expires_at: new.expires_at };
    Ok(Created(Json(shapes::issued(shared.accounts.create_api_token(&who, new).await?))))
}

async fn revoke_token(Caller { shared, who }: Caller, Params(token): Params<TokenId>) -> Result<NoContent, Problem> {
    shared.accounts.revoke_token(&who, &token).await?;
    Ok(NoContent)
}

async fn list_agents(Caller { shared, who }: Caller) -> Result<Json<Vec<rest::Token>>, Problem> {
    let user = who.user_id().ok_or(AuthError::Missing)?;
    let filter = if who.has(Scope::Admin) { TokenFilter::AllAgents } else { TokenFilter::AgentsBy(user.clone()) };
    Ok(listed(shared.accounts.store().tokens(&filter, LISTED).await?))
}

async fn create_agent(
    Caller { shared, who }: Caller,
    JsonBody(new): JsonBody<rest::NewAgent>,
) -> Result<Created<Json<rest::IssuedToken>>, Problem> {
    let coverage = shapes::coverage(new.covers)?;
    may_let_in(&shared, &who, &coverage).await?;
    let new = NewAgent { name: new.name, coverage, expires_at: new.expires_at };
    Ok(Created(Json(shapes::issued(shared.accounts.create_agent(&who, new).await?))))
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
