//! Sign-in with OpenID Connect, and the identities linked to accounts.

use notarium_core::Millis;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Ways to sign in to this server, besides login and password and tokens.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct SignInOptions {
    /// The OpenID Connect provider; absent: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub oidc: Option<OidcOption>,
}

/// An OpenID Connect provider.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct OidcOption {
    /// Name for the button, as in "Example University".
    pub name: String,
    /// Origin of the page, as in `https://notes.example.org`: the provider redirects the browser to it.
    pub origin: String,
}

/// Begins a sign-in of a browser with the provider.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OidcBegin {
    /// Public key, as in `SignIn.key`: the session is bound to it, and the same browser must finish the sign-in.
    pub key: String,
    /// True: confirms your identity again, for a session of 15 minutes as with `SignIn.fresh`. The provider asks again, and no key is bound
    /// to that session.
    #[serde(default)]
    pub fresh: bool,
}

/// Begins to link an identity at the provider to your account.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct IdentityBegin {
    /// Public key, as in `SignIn.key`.
    pub key: String,
    /// Your password, if you have one.
    pub current: Option<String>,
}

/// Redirect to the provider.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct OidcBegun {
    /// URL at the provider; navigate to it.
    pub url: String,
    /// State, which returns in the query of `/oidc/callback`: store the key under it until then.
    pub state: String,
    /// Milliseconds since 1970: ten minutes from now.
    pub expires_at: Millis,
}

/// Finishes a sign-in with the values in the query of `/oidc/callback`.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OidcFinish {
    /// The `state` of the begin; valid once.
    pub state: String,
    /// The `code` from the provider.
    pub code: String,
    /// The public point sent at the begin.
    pub key: String,
    /// ECDSA with SHA-256 of the text `notarium-oidc\n<state>\n<code>`, 64 bytes in base64url without padding.
    pub signature: String,
    /// Label in the list of your sessions, as in "laptop".
    #[serde(default)]
    pub label: String,
    /// The `fresh` of the begin.
    #[serde(default)]
    pub fresh: bool,
}

/// An identity at a provider, linked to an account.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Identity {
    /// Id, for unlinking it.
    pub id: String,
    /// URL of the provider.
    pub issuer: String,
    /// The person's id at the provider.
    pub subject: String,
    /// Address that the provider had verified when it was linked. For display only: accounts are not searched by it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub email: Option<String>,
    /// Milliseconds since 1970.
    pub created_at: Millis,
}
