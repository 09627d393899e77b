//! Accounts over HTTP: sessions, people, tokens, agents, workspaces, share links, the audit.

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

use crate::auth::{Accounts, Authenticated};
use crate::guard::{Gate, GuardedRouter, NotebookRights};
use crate::oidc::Oidc;
use crate::openapi::Taken;
use crate::problem::Problem;

/// What the handlers here share. Cheap to clone.
#[derive(Clone)]
struct AccountRoutes {
    accounts: Accounts,
    rights: Arc<dyn NotebookRights>,
    public_url: Arc<str>,
    oidc: Option<Arc<Oidc>>,
}

/// All routes of accounts. `public_url` is what links begin with, as in `https://notes.example.org`.
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

/// Who asks, and what answers.
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

/// Where the connection comes from, for throttling; nowhere in tests without a socket. Behind a proxy it is the
/// proxy's: attempts per login still count.
struct ClientAddress(Option<IpAddr>);

impl<S: Send + Sync> FromRequestParts<S> for ClientAddress {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        Ok(Self(parts.extensions.get::<ConnectInfo<SocketAddr>>().map(|info| info.0.ip())))
    }
}
