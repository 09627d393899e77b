//! Allow-list of people who get an account at their first sign-in with the provider.

use super::InvalidOidc;
use crate::auth::{AuthError, ProvedIdentity};

/// Allow-list of the operator.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Admission(Vec<Allowed>);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Allowed {
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
        let is_named = |allowed: &Allowed| match (allowed, address.as_deref()) {
            (Allowed::Everybody, _) => true,
            (Allowed::Domain(domain), Some(address)) => address.rsplit_once('@').is_some_and(|(_, of)| of == domain),
            (Allowed::Address(named), Some(address)) => address == named,
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

fn allowed(text: &str) -> Result<Allowed, InvalidOidc> {
    let who = text.trim().to_lowercase();
    let is_host = |host: &str| {
        let is_letter = |character: char| character.is_alphanumeric() || matches!(character, '-' | '.');
        !host.is_empty() && !host.starts_with('.') && host.chars().all(is_letter)
    };
    match who.rsplit_once('@') {
        None if who == "*" => Ok(Allowed::Everybody),
        None if is_host(&who) => Ok(Allowed::Domain(who)),
        Some((name, host)) if !name.is_empty() && is_host(host) => Ok(Allowed::Address(who)),
        _ => Err(InvalidOidc(format!(
            "--oidc-allow '{text}' is neither a domain (example.org), nor an address (ann@example.org), nor *"
        ))),
    }
}
