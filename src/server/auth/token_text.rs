//! Text form of a token: `nt_<kind>_<id>_<secret>`, recognisable by people and by secret scanners.

use std::fmt;

use notarium_core::TokenId;
use notarium_store::StoreError;
use notarium_store::accounts::{AccountError, TokenKind};
use sha2::{Digest, Sha256};

const SECRET_BYTES: usize = 32;
const MAX_TOKEN_CHARS: usize = 200;

/// A token as its holder has it. `Debug` and logs never show the secret.
#[derive(Clone, PartialEq, Eq)]
pub struct TokenText {
    pub kind: TokenKind,
    pub id: TokenId,
    /// 256 bits, in hex.
    secret: String,
}

impl TokenText {
    /// A new secret from the system's randomness.
    pub fn generate(kind: TokenKind, id: TokenId) -> Result<Self, AccountError> {
        let mut secret = [0; SECRET_BYTES];
        getrandom::fill(&mut secret).map_err(|error| {
            AccountError::Store(StoreError::Unavailable { reason: format!("no randomness: {error}") })
        })?;
        Ok(Self { kind, id, secret: hex::encode(secret) })
    }

    /// Parses a token; `None` for a text of any other form.
    pub fn parse(text: &str) -> Option<Self> {
        if text.len() > MAX_TOKEN_CHARS {
            return None;
        }
        let (kind, rest) = text.strip_prefix("nt_")?.split_once('_')?;
        let (id, secret) = rest.split_once('_')?;
        let is_secret = secret.len() == 2 * SECRET_BYTES && secret.bytes().all(|byte| byte.is_ascii_hexdigit());
        let (kind, id) = (TokenKind::parse(kind)?, TokenId::new(id).ok()?);
        is_secret.then(|| Self { kind, id, secret: secret.to_ascii_lowercase() })
    }

    /// Checks for a whole token among the words of a text. Names that only contain `nt_` (`patient_data`) do not match.
    pub fn stands_in(text: &str) -> bool {
        let is_separator = |character: char| !(character.is_alphanumeric() || matches!(character, '_' | '-'));
        text.split(is_separator).any(|word| Self::parse(word).is_some())
    }

    /// Hash of the secret, as the store keeps it.
    pub fn secret_hash(&self) -> [u8; 32] {
        Sha256::digest(self.secret.as_bytes()).into()
    }

    /// The whole token: for its holder, once.
    pub fn reveal(&self) -> String {
        format!("nt_{}_{}_{}", self.kind.as_str(), self.id, self.secret)
    }
}

impl fmt::Debug for TokenText {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "nt_{}_{}_…", self.kind.as_str(), self.id)
    }
}

/// The token of an `Authorization: Bearer <token>` header.
pub fn bearer(headers: &http::HeaderMap) -> Option<&str> {
    let value = headers.get(http::header::AUTHORIZATION)?.to_str().ok()?;
    let (scheme, token) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}
