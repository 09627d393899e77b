//! Routes for accounts: sessions, people, tokens, agents, workspaces, share links, the audit log.

mod oidc;
mod people;
mod session;
mod shapes;
mod share_links;
#[cfg(test)]
mod tests;
mod tokens;
mod workspaces;

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use axum::extract::{ConnectInfo, FromRequestParts};
use http::request::Parts;

use crate::auth::oidc::Oidc;
use crate::auth::{Accounts, Authenticated};
use crate::http::guard::{Gate, GuardedRouter, NotebookRights};
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

/// All routes for accounts. `public_url` is the beginning of share links, as in `https://notes.example.org`.
pub fn routes<S: Clone + Send + Sync + 'static>(
    gate: &Gate,
    public_url: &str,
    oidc: Option<Arc<Oidc>>,
) -> GuardedRouter<S> {
    let shared = AccountRoutes {
        accounts: gate.accounts.clone(),
        rights: gate.rights.clone(),
        public_url: public_url.trim_end_matches('/').into(),
        oidc,
    };
    let router = GuardedRouter::new(gate.clone());
    let router = session::routes(router);
    let router = oidc::routes(router);
    let router = people::routes(router);
    let router = tokens::routes(router);
    let router = workspaces::routes(router);
    share_links::routes(router).with_state(shared)
}

/// Caller of a route, and the state to answer from.
struct Caller {
    shared: AccountRoutes,
    who: Authenticated,
}

impl FromRequestParts<AccountRoutes> for Caller {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, shared: &AccountRoutes) -> Result<Self, Problem> {
        let who = Authenticated::from_request_parts(parts, shared).await?;
        Ok(Self { shared: shared.clone(), who })
    }
}

impl Taken for Caller {}

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
