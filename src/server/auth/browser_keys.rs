//! Sessions of browsers. A browser stores no token. It makes a key pair whose private key no script can read, and its
//! session is bound to the public key. A page that opens signs a challenge and gets a token, which it keeps in memory.
//! Decision 0014 says why this is not a cookie.

use std::collections::VecDeque;

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use dashmap::DashMap;
use notarium_core::{Millis, TokenId};
use notarium_store::StoreError;
use notarium_store::accounts::AccountError;
use ring::{hmac, signature};
use sha2::{Digest, Sha256};

use super::AuthError;

/// Time that a page has to sign a challenge.
const CHALLENGE_MS: Millis = 60_000;
/// Open pages per session; an older one proves the key again with its next request.
const MAX_PAGES: usize = 32;
/// Sessions with open pages. At this number all are cleared, and prove their keys again.
const MAX_SESSIONS: usize = 20_000;
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
pub struct Proof<'a> {
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

    /// Challenge that a page of this session has to sign within a minute.
    pub fn challenge(&self, session: &TokenId, now: Millis) -> String {
        let tag = hmac::sign(&self.challenges, challenged(session, now).as_bytes());
        BASE64_URL_SAFE_NO_PAD.encode([&now.to_be_bytes()[..], tag.as_ref()].concat())
    }

    /// Verifies that the session's key signed a challenge of this server; returns the key's hash, as stored.
    pub fn check(&self, proof: Proof<'_>, now: Millis) -> Result<[u8; 32], AuthError> {
        let asked = BASE64_URL_SAFE_NO_PAD.decode(proof.challenge).map_err(|_| AuthError::Invalid)?;
        let (at, tag) = asked.split_first_chunk().ok_or(AuthError::Invalid)?;
        let at = Millis::from_be_bytes(*at);
        hmac::verify(&self.challenges, challenged(proof.session, at).as_bytes(), tag)
            .map_err(|_| AuthError::Invalid)?;
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
        let challenge = keys.challenge(&session, 1_000);
        let signature = signed(&pair, &session, &challenge);
        let proof = Proof { session: &session, key: &key, challenge: &challenge, signature: &signature };
        assert_eq!(keys.check(proof, 61_000), Ok(hash_of_key(&key).unwrap()));
        assert_eq!(keys.check(proof, 61_001), Err(AuthError::Expired));
        assert_eq!(other_start.check(proof, 1_000), Err(AuthError::Invalid));
        let other = TokenId::new("t").unwrap();
        let of_other = signed(&pair, &other, &challenge);
        let of_stranger = BASE64_URL_SAFE_NO_PAD.encode(self::pair().public_key());
        let wrong = [
            Proof { session: &other, ..proof },
            Proof { session: &other, signature: &of_other, ..proof },
            Proof { key: &of_stranger, ..proof },
            Proof { key: "", ..proof },
            Proof { signature: "", ..proof },
            Proof { challenge: "", ..proof },
        ];
        for proof in wrong {
            assert_eq!(keys.check(proof, 1_000), Err(AuthError::Invalid), "{proof:?}");
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
