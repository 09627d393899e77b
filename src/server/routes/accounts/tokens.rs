//! Tokens of programs and of runtime agents.

use axum::Json;
use axum::extract::State;
use http::StatusCode;
use notarium_core::{Millis, Operation, Scope, Scopes, TokenId};
use notarium_store::accounts::{Coverage, Token, TokenFilter};
use serde::Deserialize;
use utoipa::ToSchema;
use utoipa_axum::routes;

use super::AccountRoutes;
use super::shapes::{CoverageShape, NewTokenShape, TokenShape};
use crate::auth::{AuthError, Authenticated, NewAgent, NewApiToken};
use crate::extract::{JsonBody, Params};
use crate::guard::{Guard, GuardedRouter};
use crate::problem::Problem;

const LISTED: usize = 1_000;

pub fn routes(router: GuardedRouter<AccountRoutes>) -> GuardedRouter<AccountRoutes> {
    router
        .routes(Guard::User(Scope::Manage), routes!(list_tokens))
        .routes(Guard::User(Scope::Manage), routes!(create_token))
        .routes(Guard::User(Scope::Manage), routes!(revoke_token))
        .routes(Guard::User(Scope::Manage), routes!(list_agents))
        .routes(Guard::User(Scope::Manage), routes!(create_agent))
        .routes(Guard::User(Scope::Manage), routes!(revoke_agent))
}

fn shapes(tokens: Vec<Token>) -> Json<Vec<TokenShape>> {
    Json(tokens.into_iter().map(TokenShape::from).collect())
}

fn coverage_of(covers: CoverageShape) -> Result<Coverage, Problem> {
    covers.coverage().ok_or_else(|| Problem::invalid("covers names notebooks or a workspace, not both"))
}

/// Your sessions and API tokens that were not revoked, newest first.
#[utoipa::path(get, path = "/api/tokens", tag = "accounts",
    responses((status = 200, body = Vec<TokenShape>), (status = "default", body = Problem)))]
async fn list_tokens(
    State(shared): State<AccountRoutes>,
    who: Authenticated,
) -> Result<Json<Vec<TokenShape>>, Problem> {
    let user = who.user_id().ok_or(AuthError::Missing)?;
    Ok(shapes(shared.accounts.store().tokens(&TokenFilter::OfUser(user.clone()), LISTED).await?))
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct NewApiTokenShape {
    /// For you to know it by.
    #[serde(default)]
    label: String,
    /// Of `read`, `edit`, `run`, `confirm`, `manage`, `admin`; `read` always. `confirm` lets a program decide on tool
    /// calls in your name.
    #[schema(value_type = Vec<String>)]
    scopes: Scopes,
    #[serde(default)]
    covers: CoverageShape,
    /// Milliseconds since 1970; absent: until it is revoked.
    expires_at: Option<Millis>,
}

/// A token for a program that acts for you. Only in a session.
#[utoipa::path(post, path = "/api/tokens", tag = "accounts", request_body = NewApiTokenShape,
    responses((status = 201, body = NewTokenShape), (status = "default", body = Problem)))]
async fn create_token(
    State(shared): State<AccountRoutes>,
    who: Authenticated,
    JsonBody(new): JsonBody<NewApiTokenShape>,
) -> Result<(StatusCode, Json<NewTokenShape>), Problem> {
    let coverage = coverage_of(new.covers)?;
    let new = NewApiToken { label: new.label, scopes: new.scopes, coverage, expires_at: new.expires_at };
    Ok((StatusCode::CREATED, Json(shared.accounts.create_api_token(&who, new).await?.into())))
}

/// Ends a token that you hold or made, and its connections.
#[utoipa::path(delete, path = "/api/tokens/{token}", tag = "accounts", params(("token" = String, Path)),
    responses((status = 204), (status = "default", body = Problem)))]
async fn revoke_token(
    State(shared): State<AccountRoutes>,
    who: Authenticated,
    Params(token): Params<TokenId>,
) -> Result<StatusCode, Problem> {
    shared.accounts.revoke_token(&who, &token).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// The agents' tokens that you made; an administrator sees all.
#[utoipa::path(get, path = "/api/agents", tag = "accounts",
    responses((status = 200, body = Vec<TokenShape>), (status = "default", body = Problem)))]
async fn list_agents(
    State(shared): State<AccountRoutes>,
    who: Authenticated,
) -> Result<Json<Vec<TokenShape>>, Problem> {
    let user = who.user_id().ok_or(AuthError::Missing)?;
    let filter = if who.has(Scope::Admin) { TokenFilter::AllAgents } else { TokenFilter::AgentsBy(user.clone()) };
    Ok(shapes(shared.accounts.store().tokens(&filter, LISTED).await?))
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct NewAgentShape {
    /// What people see in the list of agents, as in "GPU machine".
    name: String,
    /// Notebooks that you may share, or a workspace that you own. Without either, every notebook of the server, which
    /// only an administrator can give.
    #[serde(default)]
    covers: CoverageShape,
    /// Milliseconds since 1970; absent: until it is revoked.
    expires_at: Option<Millis>,
}

/// A token for a runtime agent: it reads the notebooks that it covers and reports what its kernels do, nothing else.
#[utoipa::path(post, path = "/api/agents", tag = "accounts", request_body = NewAgentShape,
    responses((status = 201, body = NewTokenShape), (status = "default", body = Problem)))]
async fn create_agent(
    State(shared): State<AccountRoutes>,
    who: Authenticated,
    JsonBody(new): JsonBody<NewAgentShape>,
) -> Result<(StatusCode, Json<NewTokenShape>), Problem> {
    let coverage = coverage_of(new.covers)?;
    may_let_in(&shared, &who, &coverage).await?;
    let new = NewAgent { name: new.name, coverage, expires_at: new.expires_at };
    Ok((StatusCode::CREATED, Json(shared.accounts.create_agent(&who, new).await?.into())))
}

/// An agent sees all that it covers: letting it in is sharing.
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

/// Ends an agent's token and its connections.
#[utoipa::path(delete, path = "/api/agents/{token}", tag = "accounts", params(("token" = String, Path)),
    responses((status = 204), (status = "default", body = Problem)))]
async fn revoke_agent(
    State(shared): State<AccountRoutes>,
    who: Authenticated,
    Params(token): Params<TokenId>,
) -> Result<StatusCode, Problem> {
    shared.accounts.revoke_token(&who, &token).await?;
    Ok(StatusCode::NO_CONTENT)
}
