//! Sessions of browsers. A browser stores no token. It makes a key pair whose private key no script can read, and its
//! session is bound to the public key. A page that opens signs a challenge and gets a token, which it keeps in memory.
//! Decision 0014 says why this is not a cookie.
//!
//! Reads what the exchange of a one-time token needs, and makes a reset token in the data folder of a stopped server.

use std::collections::VecDeque;
use std::net::IpAddr;
use std::path::Path;

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use dashmap::DashMap;
use notarium_core::{Millis, TokenId};
use notarium_store::accounts::{AccountChange, AccountError, AccountStore, TokenKind, User};
use notarium_store::{Sqlite, StoreError};
use ring::{hmac, signature};
use sha2::{Digest, Sha256};

use super::sessions::{ONE_TIME_MS, first_admin, mint_for, needs_password, system_audit};
use super::{Accounts, AuthError, OneTimeToken, TokenText};
use crate::auth;
use crate::cluster::Peers;

/// Time that a page has to sign a challenge.
const CHALLENGE_MS: Millis = 60_000;
/// Open pages per session; an older one proves the key again with its next request.
const MAX_PAGES: usize = 32;
/// Sessions with open pages. At this number all are cleared, and prove their keys again.
const MAX_SESSIONS: usize = 20_000;
/// Hexadecimal digits of each half of a page's token in a cluster: 128 bits.
const PAGE_CHARS: usize = 32;
/// Length of an uncompressed point of the curve P-256.
const KEY_BYTES: usize = 65;

pub(super) struct BrowserKeys {
    /// HMAC key of this start of the server.
    challenges: hmac::Key,
    /// Hashes of the tokens that open pages hold.
    pages: DashMap<TokenId, VecDeque<[u8; 32]>>,
}

/// Proof that a page presents for its session.
#[derive(Debug, Clone, Copy)]
pub struct KeyProof<'a> {
    pub session: &'a TokenId,
    pub key: &'a str,
    pub challenge: &'a str,
    pub signature: &'a str,
}

impl BrowserKeys {
    pub fn new() -> Result<Self, AccountError> {
        let mut secret = [0; 32];
        getrandom::fill(&mut secret).map_err(|error| {
            AccountError::Store(StoreError::Unavailable { reason: format!("no randomness: {error}") })
        })?;
        Ok(Self { challenges: hmac::Key::new(hmac::HMAC_SHA256, &secret), pages: DashMap::new() })
    }

    /// Tag of a challenge. In a cluster every node can check it.
    fn tag(&self, peers: Option<&Peers>, text: &str) -> hmac::Tag {
        match peers {
            Some(peers) => peers.tag("challenge", text),
            None => hmac::sign(&self.challenges, text.as_bytes()),
        }
    }

    /// Challenge that a page of this session has to sign within a minute.
    pub fn challenge(&self, peers: Option<&Peers>, session: &TokenId, now: Millis) -> String {
        let tag = self.tag(peers, &challenged(session, now));
        BASE64_URL_SAFE_NO_PAD.encode([&now.to_be_bytes()[..], tag.as_ref()].concat())
    }

    /// Verifies that the session's key signed a challenge of this server; returns the key's hash, as stored.
    pub fn check(&self, peers: Option<&Peers>, proof: KeyProof<'_>, now: Millis) -> Result<[u8; 32], AuthError> {
        let asked = BASE64_URL_SAFE_NO_PAD.decode(proof.challenge).map_err(|_| AuthError::Invalid)?;
        let (at, tag) = asked.split_first_chunk().ok_or(AuthError::Invalid)?;
        let at = Millis::from_be_bytes(*at);
        let challenged = challenged(proof.session, at);
        let is_ours = match peers {
            Some(peers) => peers.has_tag("challenge", &challenged, tag),
            None => hmac::verify(&self.challenges, challenged.as_bytes(), tag).is_ok(),
        };
        if !is_ours {
            return Err(AuthError::Invalid);
        }
        if now.saturating_sub(at) > CHALLENGE_MS {
            return Err(AuthError::Expired);
        }
        let signed = format!("notarium-session\n{}\n{}", proof.session, proof.challenge);
        signed_by(proof.key, &signed, proof.signature)
    }

    /// Accepts this token for the session from now on.
    pub fn opened(&self, session: &TokenId, secret_hash: [u8; 32]) {
        if self.pages.len() >= MAX_SESSIONS {
            self.pages.clear();
        }
        let mut pages = self.pages.entry(session.clone()).or_default();
        pages.truncate(MAX_PAGES - 1);
        pages.push_front(secret_hash);
    }

    pub fn is_open(&self, session: &TokenId, secret_hash: &[u8; 32]) -> bool {
        self.pages.get(session).is_some_and(|pages| pages.contains(secret_hash))
    }

    pub fn ended(&self, session: &TokenId) {
        self.pages.remove(session);
    }
}

impl Accounts {
    /// A token for an open page of a session that is bound to a browser's key. In a cluster its second half is a tag of its
    /// first, so that every node accepts it as long as the session lasts; else this process remembers it.
    pub(super) fn page_token(&self, session: TokenId) -> Result<TokenText, AccountError> {
        let mut text = TokenText::generate(TokenKind::Session, session)?;
        match self.peers() {
            Some(peers) => {
                text.secret.truncate(PAGE_CHARS);
                text.secret += &page_tag(peers, &text.id, &text.secret);
            }
            None => self.shared.browser_keys.opened(&text.id, text.secret_hash()),
        }
        Ok(text)
    }
}

#[cfg(test)]
impl Accounts {
    /// The text of a token for an open page.
    pub fn page_token_of(&self, session: &TokenId) -> Result<String, AccountError> {
        Ok(self.page_token(session.clone())?.reveal())
    }
}

/// True if a node of the cluster gave this token to an open page.
pub(super) fn is_page_of(peers: &Peers, token: &TokenText) -> bool {
    let (random, tag) = token.secret.split_at(PAGE_CHARS);
    let expected = page_tag(peers, &token.id, random);
    // The hashes are compared, so the time of the comparison reveals nothing.
    token.kind == TokenKind::Session && Sha256::digest(expected) == Sha256::digest(tag)
}

fn page_tag(peers: &Peers, session: &TokenId, random: &str) -> String {
    let mut tag = hex::encode(peers.tag("page", &format!("{session}\n{random}")).as_ref());
    tag.truncate(PAGE_CHARS);
    tag
}

fn challenged(session: &TokenId, at: Millis) -> String {
    format!("{session}\n{at}")
}

/// Hash of a key, as the store keeps it. No secret has this hash: secrets are shorter than the hashed text.
pub fn hash_of_key(key: &str) -> Result<[u8; 32], AuthError> {
    point(key).map(|key| hash_of(&key))
}

/// Verifies that the key signed the text; returns the key's hash, as stored.
pub fn signed_by(key: &str, text: &str, signature: &str) -> Result<[u8; 32], AuthError> {
    let key = point(key).map_err(|_| AuthError::Invalid)?;
    let signature = BASE64_URL_SAFE_NO_PAD.decode(signature).map_err(|_| AuthError::Invalid)?;
    signature::UnparsedPublicKey::new(&signature::ECDSA_P256_SHA256_FIXED, &key)
        .verify(text.as_bytes(), &signature)
        .map_err(|_| AuthError::Invalid)?;
    Ok(hash_of(&key))
}

fn hash_of(key: &[u8; KEY_BYTES]) -> [u8; 32] {
    Sha256::digest([b"notarium browser key\n", &key[..]].concat()).into()
}

fn point(key: &str) -> Result<[u8; KEY_BYTES], AuthError> {
    let bytes = BASE64_URL_SAFE_NO_PAD.decode(key).ok().and_then(|bytes| <[u8; KEY_BYTES]>::try_from(bytes).ok());
    let refused = "key is the public point of a P-256 key, uncompressed, 65 bytes in base64url";
    bytes.filter(|bytes| bytes[0] == 4).ok_or_else(|| AuthError::invalid(refused))
}

/// Kind of a one-time token, and the fields that its exchange needs.
#[derive(Debug, Clone)]
pub struct OneTimeUse {
    pub kind: TokenKind,
    /// Holder of the token. `None` for a link, whose exchange needs no fields.
    pub user: Option<User>,
    /// True if the exchange has to send a name and a login too.
    pub needs_login: bool,
    pub needs_password: bool,
}

impl Accounts {
    /// Looks at a one-time token without using it up. Counted like an attempt to sign in.
    pub async fn one_time_use(&self, text: &str, address: Option<IpAddr>) -> Result<OneTimeUse, AuthError> {
        self.shared.throttle.attempt_from(address)?;
        if TokenText::parse(text).is_some_and(|text| text.kind == TokenKind::Link) {
            let kind = TokenKind::Link;
            return Ok(OneTimeUse { kind, user: None, needs_login: false, needs_password: false });
        }
        let (token, user) = self.one_time(text).await?;
        let (kind, needs_login) = (token.kind(), user.login.is_none());
        let needs_password = needs_password(kind, &user);
        Ok(OneTimeUse { kind, needs_login: needs_login && needs_password, needs_password, user: Some(user) })
    }
}

/// Makes a one-time token with which a person sets a new password, in a data folder. Without a login it is for the
/// first active administrator. Refused while a server uses the folder: administrators reset passwords over HTTP.
pub async fn reset_in(data: &Path, login: Option<&str>, now: Millis) -> Result<(OneTimeToken, User), AuthError> {
    let database = Sqlite::open(data).await.map_err(AccountError::from)?;
    let made = reset(&database, login, now).await;
    database.close().await;
    made
}

/// Makes such a token in the PostgreSQL database of a URL. Servers may use it: they learn of the change.
#[cfg(feature = "postgres")]
pub async fn reset_in_store(url: &str, login: Option<&str>, now: Millis) -> Result<(OneTimeToken, User), AuthError> {
    let database = notarium_store::Postgres::open(url, None).await.map_err(AccountError::from)?;
    let made = reset(&database, login, now).await;
    database.close().await;
    made
}

async fn reset(store: &dyn AccountStore, login: Option<&str>, now: Millis) -> Result<(OneTimeToken, User), AuthError> {
    let user = match login {
        Some(login) => {
            store.user_by_login(&auth::login(login)?).await?.ok_or(AccountError::Unknown { what: "user" })?
        }
        None => first_admin(store).await?,
    };
    if user.deactivated_at.is_some() {
        return Err(AuthError::Deactivated);
    }
    let minted = mint_for(&user, TokenKind::Reset, String::new(), now, ONE_TIME_MS)?;
    let one_time = OneTimeToken { text: minted.text, expires_at: minted.token.expires_at };
    let kinds = vec![TokenKind::Reset, TokenKind::Owner];
    let changes = [
        AccountChange::RevokeTokensOf { user: user.id.clone(), kinds, except: None, at: now },
        AccountChange::CreateToken(minted.token),
    ];
    store.apply(&changes, &system_audit("user.reset", &user, now)).await?;
    Ok((one_time, user))
}

#[cfg(test)]
mod tests {
    use ring::rand::SystemRandom;
    use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair};

    use super::*;

    fn pair() -> EcdsaKeyPair {
        let random = SystemRandom::new();
        let pkcs8 = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &random).unwrap();
        EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, pkcs8.as_ref(), &random).unwrap()
    }

    fn signed(pair: &EcdsaKeyPair, session: &TokenId, challenge: &str) -> String {
        let text = format!("notarium-session\n{session}\n{challenge}");
        BASE64_URL_SAFE_NO_PAD.encode(pair.sign(&SystemRandom::new(), text.as_bytes()).unwrap())
    }

    #[test]
    fn the_key_of_a_session_answers_a_challenge_of_this_server_within_a_minute() {
        let (keys, other_start) = (BrowserKeys::new().unwrap(), BrowserKeys::new().unwrap());
        let (pair, session) = (pair(), TokenId::new("s").unwrap());
        let key = BASE64_URL_SAFE_NO_PAD.encode(pair.public_key());
        let challenge = keys.challenge(None, &session, 1_000);
        let signature = signed(&pair, &session, &challenge);
        let proof = KeyProof { session: &session, key: &key, challenge: &challenge, signature: &signature };
        assert_eq!(keys.check(None, proof, 61_000), Ok(hash_of_key(&key).unwrap()));
        assert_eq!(keys.check(None, proof, 61_001), Err(AuthError::Expired));
        assert_eq!(other_start.check(None, proof, 1_000), Err(AuthError::Invalid));
        let other = TokenId::new("t").unwrap();
        let of_other = signed(&pair, &other, &challenge);
        let of_stranger = BASE64_URL_SAFE_NO_PAD.encode(self::pair().public_key());
        let wrong = [
            KeyProof { session: &other, ..proof },
            KeyProof { session: &other, signature: &of_other, ..proof },
            KeyProof { key: &of_stranger, ..proof },
            KeyProof { key: "", ..proof },
            KeyProof { signature: "", ..proof },
            KeyProof { challenge: "", ..proof },
        ];
        for proof in wrong {
            assert_eq!(keys.check(None, proof, 1_000), Err(AuthError::Invalid), "{proof:?}");
        }
    }

    #[test]
    fn so_many_pages_are_open_and_none_after_the_end() {
        let (keys, session) = (BrowserKeys::new().unwrap(), TokenId::new("s").unwrap());
        for page in 0..=MAX_PAGES {
            keys.opened(&session, [u8::try_from(page).unwrap(); 32]);
        }
        assert!(!keys.is_open(&session, &[0; 32]) && keys.is_open(&session, &[1; 32]));
        keys.ended(&session);
        assert!(!keys.is_open(&session, &[1; 32]));
    }
}
