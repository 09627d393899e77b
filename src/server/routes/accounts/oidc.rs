//! Sign-in with an OpenID Connect provider, and identities linked to accounts.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use http::Method;
use notarium_core::{Scope, UserId};
use notarium_wire::rest::{
    Identity, IdentityBegin, OidcBegin, OidcBegun, OidcFinish, OidcOption, SignInOptions, SignedIn,
};

use super::session::told;
use super::{AccountRoutes, Caller, ClientAddress};
use crate::auth::oidc::{Oidc, OidcError, Purpose, Started};
use crate::auth::{AuthError, ClientInfo, ProvedIdentity, hash_of_key, signed_by};
use crate::http::extract::{Created, JsonBody, NoContent, Params};
use crate::http::guard::{Guard, GuardedRouter};
use crate::http::problem::Problem;

pub fn routes(router: GuardedRouter<AccountRoutes>) -> GuardedRouter<AccountRoutes> {
    router
        .group("accounts", "/api")
        .says("How people sign in to this server.")
        .on(Guard::Public, Method::GET, "/session/options", options)
        .says("A browser begins to sign in with the provider: it is told where to go.")
        .on(Guard::Public, Method::POST, "/session/oidc/begin", begin)
        .says("Sign in with what the provider sent the browser back with.")
        .on(Guard::Public, Method::POST, "/session/oidc", finish)
        .says("The sign-ins with providers that are linked to your account.")
        .on(Guard::User(Scope::Read), Method::GET, "/me/identities", list_own)
        .says("You begin to link a sign-in with the provider to your account: a session does, with the password where there is one.")
        .on(Guard::User(Scope::Manage), Method::POST, "/me/identities/begin", begin_link)
        .says("Links the sign-in that the provider sent the browser back with.")
        .on(Guard::User(Scope::Read), Method::POST, "/me/identities", finish_link)
        .says("You do not sign in so any more, and the sessions that came by it end. The last way into an account stays.")
        .on(Guard::User(Scope::Manage), Method::DELETE, "/me/identities/{identity}", unlink_own)
        .says("The sign-ins with providers that are linked to an account.")
        .on(Guard::Admin, Method::GET, "/users/{user}/identities", list)
        .says("The person does not sign in so any more, and the sessions that came by it end.")
        .on(Guard::Admin, Method::DELETE, "/users/{user}/identities/{identity}", unlink)
}

impl AccountRoutes {
    fn oidc(&self) -> Result<&Arc<Oidc>, Problem> {
        self.oidc.as_ref().ok_or_else(|| OidcError::Absent.into())
    }

    /// Finishes a sign-in for the browser whose key has signed state and code; returns the person.
    async fn proved(&self, finish: OidcFinish, purpose: &Purpose) -> Result<ProvedIdentity, Problem> {
        let OidcFinish { state, code, key, signature, label: _, fresh: _ } = finish;
        let signed = format!("notarium-oidc\n{state}\n{code}");
        let key_hash = signed_by(&key, &signed, &signature).map_err(|_| OidcError::Ended)?;
        Ok(self.oidc()?.finish(&state, code, key_hash, purpose).await?)
    }
}

fn shape(identity: notarium_store::accounts::Identity) -> Identity {
    let notarium_store::accounts::Identity { id, issuer, subject, email, created_at, user_id: _ } = identity;
    Identity { id, issuer, subject, email, created_at }
}

fn begun(Started { url, state, expires_at }: Started) -> Created<Json<OidcBegun>> {
    Created(Json(OidcBegun { url, state, expires_at }))
}

fn purpose(fresh: bool) -> Purpose {
    if fresh { Purpose::Afresh } else { Purpose::SignIn }
}

async fn options(State(shared): State<AccountRoutes>) -> Json<SignInOptions> {
    let option = |oidc: &Arc<Oidc>| OidcOption { name: oidc.name().to_owned(), origin: oidc.origin().to_owned() };
    Json(SignInOptions { oidc: shared.oidc.as_ref().map(option) })
}

async fn begin(
    State(shared): State<AccountRoutes>,
    ClientAddress(address): ClientAddress,
    JsonBody(OidcBegin { key, fresh }): JsonBody<OidcBegin>,
) -> Result<Created<Json<OidcBegun>>, Problem> {
    let oidc = shared.oidc()?;
    shared.accounts.count_attempt(address)?;
    Ok(begun(oidc.begin(hash_of_key(&key)?, purpose(fresh), address).await?))
}

async fn finish(
    State(shared): State<AccountRoutes>,
    ClientAddress(address): ClientAddress,
    JsonBody(finish): JsonBody<OidcFinish>,
) -> Result<Created<Json<SignedIn>>, Problem> {
    let oidc = shared.oidc()?;
    shared.accounts.count_attempt(address)?;
    let (key, label, fresh) = (finish.key.clone(), finish.label.clone(), finish.fresh);
    let proved = shared.proved(finish, &purpose(fresh)).await?;
    if fresh {
        // A fresh session is not stored: the key only bound this sign-in.
        let client = ClientInfo { address, label: &label, key: None };
        let signed_in = shared.accounts.sign_in_afresh_with_identity(&proved, client).await?;
        return Ok(Created(Json(told(signed_in))));
    }
    let client = ClientInfo { address, label: &label, key: Some(&key) };
    if let Some(signed_in) = shared.accounts.sign_in_with_identity(&proved, client).await? {
        return Ok(Created(Json(told(signed_in))));
    }
    oidc.admission().check(&proved)?;
    Ok(Created(Json(told(shared.accounts.join_with_identity(&proved, client).await?))))
}

async fn list_own(Caller { shared, who }: Caller) -> Result<Json<Vec<Identity>>, Problem> {
    let user = who.user_id().ok_or(AuthError::Missing)?;
    list(State(shared), Params(user.clone())).await
}

async fn begin_link(
    Caller { shared, who }: Caller,
    ClientAddress(address): ClientAddress,
    JsonBody(IdentityBegin { key, current }): JsonBody<IdentityBegin>,
) -> Result<Created<Json<OidcBegun>>, Problem> {
    let oidc = shared.oidc()?;
    shared.accounts.count_attempt(address)?;
    let user = shared.accounts.check_may_link(&who, current, address).await?;
    Ok(begun(oidc.begin(hash_of_key(&key)?, Purpose::Link(user), address).await?))
}

async fn finish_link(
    Caller { shared, who }: Caller,
    JsonBody(finish): JsonBody<OidcFinish>,
) -> Result<Created<Json<Identity>>, Problem> {
    if finish.fresh {
        return Err(Problem::invalid("fresh goes with signing in, not with linking"));
    }
    let user = who.user_id().ok_or(AuthError::Missing)?;
    let proved = shared.proved(finish, &Purpose::Link(user.clone())).await?;
    Ok(Created(Json(shape(shared.accounts.link_identity(&who, &proved).await?))))
}

async fn unlink_own(Caller { shared, who }: Caller, Params(identity): Params<String>) -> Result<NoContent, Problem> {
    shared.accounts.unlink_own_identity(&who, &identity).await?;
    Ok(NoContent)
}

async fn list(
    State(shared): State<AccountRoutes>,
    Params(user): Params<UserId>,
) -> Result<Json<Vec<Identity>>, Problem> {
    Ok(Json(shared.accounts.identities_of(&user).await?.into_iter().map(shape).collect()))
}

async fn unlink(
    Caller { shared, who }: Caller,
    Params((user, identity)): Params<(UserId, String)>,
) -> Result<NoContent, Problem> {
    shared.accounts.unlink_identity(&who, &user, &identity).await?;
    Ok(NoContent)
}
