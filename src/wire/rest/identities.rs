//! Signing in with a provider of OpenID Connect, and the identities that are linked to accounts.

use notarium_core::Millis;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How people sign in to this server, beside login and password and tokens.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct SignInOptions {
    /// Absent: there is no provider.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub oidc: Option<OidcOption>,
}

/// A provider of OpenID Connect.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct OidcOption {
    /// For the button, as in "Example University".
    pub name: String,
    /// Where the page must be open, as in `https://notes.example.org`: the provider sends the browser back to there.
    pub origin: String,
}

/// A browser begins to sign in with the provider.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OidcBegin {
    /// As in signing in: the session will be bound to it, and the same browser must finish.
    pub key: String,
    /// To prove once more who you are, for a session of 15 minutes as in signing in with `fresh`: the provider asks anew, and no key is
    /// bound to that session.
    #[serde(default)]
    pub fresh: bool,
}

/// You begin to link a sign-in with the provider to your account.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct IdentityBegin {
    /// As in signing in.
    pub key: String,
    /// Your password, where you have one.
    pub current: Option<String>,
}

/// Where the browser goes now.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct OidcBegun {
    /// Of the provider; to be navigated to.
    pub url: String,
    /// Comes back with the browser, in the query of `/oidc/callback`: keep the key under it until then.
    pub state: String,
    /// Milliseconds since 1970: ten minutes from now.
    pub expires_at: Millis,
}

/// The browser is back from the provider, with what stands in the query of `/oidc/callback`.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OidcFinish {
    /// As it began. Good once.
    pub state: String,
    /// Of the provider.
    pub code: String,
    /// The public point that it was begun with.
    pub key: String,
    /// ECDSA with SHA-256 of the text `notarium-oidc\n<state>\n<code>`, 64 bytes in base64url without padding.
    pub signature: String,
    /// For the list of your sessions, as in "laptop".
    #[serde(default)]
    pub label: String,
    /// As it began.
    #[serde(default)]
    pub fresh: bool,
}

/// A sign-in with a provider that is linked to an account.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Identity {
    /// Names it where it is unlinked.
    pub id: String,
    /// The provider.
    pub issuer: String,
    /// Who the person is there.
    pub subject: String,
    /// As the provider had verified it when it was linked; for people to read, nobody is found by it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub email: Option<String>,
    /// Milliseconds since 1970.
    pub created_at: Millis,
}
