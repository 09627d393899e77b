//! Sign-in with an OpenID Connect provider: the authorization code flow with PKCE, bound to the key of a browser
//! (decision 0017).
//!
//! Invariants:
//! - A sign-in is finished once, within ten minutes, by the holder of the key that it was begun with.
//! - Issuer and subject of a signed ID token identify a person; an address never does.
//! - Codes, tokens and the client's secret reach no log, no answer and no disk.
//!
//! Allow-list of people who get an account at their first sign-in with the provider.

mod begun;
#[cfg(any(test, feature = "oidc"))]
mod claims;
mod groups;
#[cfg(feature = "oidc")]
mod provider;
#[cfg(all(test, feature = "oidc"))]
mod tests;

use std::net::IpAddr;
use std::sync::Arc;

use notarium_core::{Millis, UserId};
use notarium_store::accounts::{AccountError, AccountStore};
use reqwest::Url;
use secrecy::SecretString;
use serde::{Deserialize, Serialize};

use super::{AuthError, ProvedIdentity};
use crate::limits::clock::Clock;
use crate::limits::connection_slots::ConnectionSlots;
use begun::{BegunSignIn, BegunSignIns};
pub use groups::{GroupGrants, GroupMembership, GroupRules, GroupSettings};
use provider::{Provider, Secrets};

/// Time from the start of a sign-in to its end.
pub const BEGUN_MS: Millis = 10 * 60 * 1000;
/// Longer codes are refused: no provider issues them.
const MAX_CODE_BYTES: usize = 4_096;

/// Settings of the provider.
#[derive(Debug, Clone)]
pub struct OidcSettings {
    /// Issuer, exactly as in the provider's discovery document.
    pub issuer: String,
    pub client_id: String,
    /// Absent: a public client, which PKCE alone protects.
    pub client_secret: Option<SecretString>,
    /// Name for people; absent: the issuer's host.
    pub name: Option<String>,
    /// People who get an account at the first sign-in: domains, addresses, or `*`. Empty: none.
    pub allow: Vec<String>,
    /// Further scopes to ask for, besides `openid`, `profile` and `email`.
    pub scopes: Vec<String>,
    pub groups: GroupSettings,
}

/// Settings that allow no safe sign-in.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct InvalidOidc(String);

/// Reason why a sign-in failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OidcError {
    #[error("this server has no provider to sign in with: sign in with login and password, or with a token")]
    Absent,
    #[error(
        "{name} cannot be reached, or does not answer as a provider should: try again in a moment, or tell an administrator (the server's log says why)"
    )]
    Unavailable { name: String },
    #[error("this sign-in has expired, was used already, or was begun in another browser: begin it again")]
    Ended,
    #[error(
        "{name} did not confirm who you are ({reason}): begin again, or tell an administrator (the server's log says more)"
    )]
    Refused { name: String, reason: &'static str },
    #[error("too many people are signing in at this moment: try again in a minute")]
    TooMany,
    #[error(transparent)]
    Store(#[from] AccountError),
}

/// Failure of an exchange with the provider. Reasons are for people, details for the log.
#[cfg_attr(not(feature = "oidc"), expect(dead_code, reason = "no provider is asked"))]
enum ExchangeFailure {
    Unavailable(String),
    Refused { reason: &'static str, detail: String },
}

/// Address for the browser, and the state that the server keeps for it.
struct ProviderRequest {
    url: String,
    state: String,
    secrets: Secrets,
}

/// The provider, and the sign-ins that were begun.
pub struct Oidc {
    name: String,
    origin: String,
    provider: Provider,
    admission: Admission,
    groups: Option<GroupRules>,
    begun: BegunSignIns,
    clock: Clock,
}

/// A sign-in that was begun.
pub struct StartedSignIn {
    /// Address that the browser opens.
    pub url: String,
    /// Parameter that the browser brings back.
    pub state: String,
    pub expires_at: Millis,
}

impl Oidc {
    /// `store`: keeps the sign-ins that were begun; `places`: their limit. Refuses settings that would send codes or names over the network
    /// without TLS.
    pub fn new(
        settings: OidcSettings,
        public_url: &str,
        clock: Clock,
        store: Arc<dyn AccountStore>,
        places: ConnectionSlots,
    ) -> Result<Self, InvalidOidc> {
        let issuer = secure(&settings.issuer, "--oidc-issuer")?;
        let public = secure(public_url, "--public-url, which --oidc-issuer needs,")?;
        if settings.client_id.trim().is_empty() {
            return Err(InvalidOidc(
                "--oidc-client-id is empty: the provider gives it when you register Notarium there".into(),
            ));
        }
        let name = settings.name.clone().or_else(|| issuer.host_str().map(str::to_owned)).unwrap_or_default();
        let admission = Admission::of(&settings.allow)?;
        let groups = GroupRules::of(&settings.groups)?;
        let redirect = callback(&public)?;
        let origin = public.origin().ascii_serialization();
        let claim = groups.as_ref().map(|rules| rules.claim().to_owned());
        let provider = Provider::new(settings, redirect, (issuer.scheme() == "http", claim), clock.clone())?;
        Ok(Self { name, origin, provider, admission, groups, begun: BegunSignIns::new(store, places), clock })
    }

    /// Name of the provider, for people.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Origin at which the page has to be open: the provider sends the browser back there.
    pub fn origin(&self) -> &str {
        &self.origin
    }

    pub(crate) fn admission(&self) -> &Admission {
        &self.admission
    }

    /// Rights that groups of the provider give; `None`: none.
    pub(crate) fn groups(&self) -> Option<&GroupRules> {
        self.groups.as_ref()
    }

    /// Contacts the provider, so that the log shows an operator at the start if it cannot be used.
    pub async fn look(&self) {
        match self.provider.look().await {
            Ok(()) => tracing::info!(name = self.name, "people can sign in with OpenID Connect"),
            Err(reason) => tracing::warn!(name = self.name, reason, "nobody can sign in with OpenID Connect now"),
        }
    }

    /// Begins a sign-in for the browser with this key. The store keeps it, so that any node can finish it.
    pub async fn begin(
        &self,
        key_hash: [u8; 32],
        purpose: Purpose,
        address: Option<IpAddr>,
    ) -> Result<StartedSignIn, OidcError> {
        let place = self.begun.enter(address, self.clock.now()).ok_or(OidcError::TooMany)?;
        let asked = self.provider.ask(purpose == Purpose::Afresh).await.map_err(|reason| self.unavailable(&reason))?;
        let at = self.clock.now();
        let begun = BegunSignIn { key_hash, secrets: asked.secrets, purpose, at };
        self.begun.put(&asked.state, &begun, place).await?;
        Ok(StartedSignIn { url: asked.url, state: asked.state, expires_at: at + BEGUN_MS })
    }

    /// Finishes a sign-in; returns the person. `key_hash`: hash of the key that signed state and code.
    pub async fn finish(
        &self,
        state: &str,
        code: String,
        key_hash: [u8; 32],
        purpose: &Purpose,
    ) -> Result<ProvedIdentity, OidcError> {
        let begun = self.begun.take(state, (&key_hash, purpose), self.clock.now()).await?;
        let begun = begun.ok_or(OidcError::Ended)?;
        if code.is_empty() || code.len() > MAX_CODE_BYTES {
            return Err(self.refused("the code that it sent along is none"));
        }
        let since = (begun.purpose == Purpose::Afresh).then_some(begun.at);
        self.provider.exchange(code, begun.secrets, since).await.map_err(|failure| match failure {
            ExchangeFailure::Unavailable(reason) => self.unavailable(&reason),
            ExchangeFailure::Refused { reason, detail } => {
                tracing::warn!(name = self.name, reason, detail, "a sign-in with OpenID Connect was refused");
                self.refused(reason)
            }
        })
    }

    fn refused(&self, reason: &'static str) -> OidcError {
        OidcError::Refused { name: self.name.clone(), reason }
    }

    fn unavailable(&self, reason: &str) -> OidcError {
        tracing::warn!(name = self.name, reason, "the provider of OpenID Connect is of no use");
        OidcError::Unavailable { name: self.name.clone() }
    }
}

/// Parses an address to which codes and secrets may go: `https`, or this machine.
fn secure(text: &str, setting: &str) -> Result<Url, InvalidOidc> {
    let invalid = |what: &str| InvalidOidc(format!("{setting} is '{text}': {what}"));
    let url: Url = text.parse().map_err(|_| invalid("write an address, as in https://id.example.org"))?;
    if !is_secure(&url) {
        return Err(invalid("it must begin with https:// (http:// does on this machine alone)"));
    }
    if url.query().is_some() || url.fragment().is_some() || !url.username().is_empty() {
        return Err(invalid("write it without user, ? and #"));
    }
    Ok(url)
}

fn is_secure(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
    let is_here = host == "localhost" || host.parse().is_ok_and(|address: IpAddr| address.is_loopback());
    url.scheme() == "https" || (url.scheme() == "http" && is_here)
}

/// Address to which the provider sends browsers back: our page.
fn callback(public: &Url) -> Result<String, InvalidOidc> {
    let url = public.join("/oidc/callback");
    url.map(String::from).map_err(|error| InvalidOidc(format!("--public-url has no place for the way back: {error}")))
}

/// Allow-list of the operator.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Admission(Vec<AdmissionRule>);

#[derive(Debug, Clone, PartialEq, Eq)]
enum AdmissionRule {
    /// All people whom the provider signs in.
    Everybody,
    /// Exact domain of a verified address, after the @.
    Domain(String),
    Address(String),
}

impl Admission {
    /// Parses entries such as `*`, `example.org` and `ann@example.org`.
    pub fn of(allow: &[String]) -> Result<Self, InvalidOidc> {
        allow.iter().map(|who| allowed(who)).collect::<Result<_, _>>().map(Self)
    }

    /// Refuses an account to a person who is not on the list.
    pub fn check(&self, proved: &ProvedIdentity) -> Result<(), AuthError> {
        let address = proved.email.as_deref().map(str::to_lowercase);
        let is_named = |allowed: &AdmissionRule| match (allowed, address.as_deref()) {
            (AdmissionRule::Everybody, _) => true,
            (AdmissionRule::Domain(domain), Some(address)) => {
                address.rsplit_once('@').is_some_and(|(_, of)| of == domain)
            }
            (AdmissionRule::Address(named), Some(address)) => address == named,
            (_, None) => false,
        };
        if self.0.iter().any(is_named) {
            return Ok(());
        }
        let reason = match (self.0.is_empty(), address) {
            (true, _) => "you have no account here, and signing in makes none: ask an administrator for one, then link this sign-in to it".to_owned(),
            (false, Some(address)) => format!("{address} may not make an account here: ask an administrator"),
            (false, None) if proved.has_unverified_email => "your address is not verified there, so it does not count here: verify it there, or ask an administrator".to_owned(),
            (false, None) => "no address of yours was told to this server, so it cannot know you: ask an administrator".to_owned(),
        };
        Err(AuthError::forbidden(reason))
    }
}

fn allowed(text: &str) -> Result<AdmissionRule, InvalidOidc> {
    let who = text.trim().to_lowercase();
    let is_host = |host: &str| {
        let is_letter = |character: char| character.is_alphanumeric() || matches!(character, '-' | '.');
        !host.is_empty() && !host.starts_with('.') && host.chars().all(is_letter)
    };
    match who.rsplit_once('@') {
        None if who == "*" => Ok(AdmissionRule::Everybody),
        None if is_host(&who) => Ok(AdmissionRule::Domain(who)),
        Some((name, host)) if !name.is_empty() && is_host(host) => Ok(AdmissionRule::Address(who)),
        _ => Err(InvalidOidc(format!(
            "--oidc-allow '{text}' is neither a domain (example.org), nor an address (ann@example.org), nor *"
        ))),
    }
}

/// Purpose of a sign-in with the provider.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Purpose {
    SignIn,
    /// To authenticate again before a decision.
    Afresh,
    /// To link the provider to this account.
    Link(UserId),
}

/// Stand-in for the provider in a program built without OpenID Connect (the feature `oidc`): its types have no values.
#[cfg(not(feature = "oidc"))]
mod provider {
    use notarium_core::Millis;

    use super::{ExchangeFailure, InvalidOidc, OidcSettings, ProviderRequest};
    use crate::auth::ProvedIdentity;
    use crate::limits::clock::Clock;

    #[derive(serde::Serialize, serde::Deserialize)]
    pub enum Secrets {}

    pub enum Provider {}

    impl Provider {
        pub fn new(_: OidcSettings, _: String, _: (bool, Option<String>), _: Clock) -> Result<Self, InvalidOidc> {
            let message = "--oidc-issuer needs OpenID Connect, which this program was built without, as make run does: \
                           build it with cargo build --release";
            Err(InvalidOidc(message.to_owned()))
        }

        pub async fn look(&self) -> Result<(), String> {
            match *self {}
        }

        pub async fn ask(&self, _: bool) -> Result<ProviderRequest, String> {
            match *self {}
        }

        pub async fn exchange(
            &self,
            _: String,
            _: Secrets,
            _: Option<Millis>,
        ) -> Result<ProvedIdentity, ExchangeFailure> {
            match *self {}
        }
    }
}
