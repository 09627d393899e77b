//! Requests between nodes: the HTTP client, and the signature of what a node says in somebody's name.
//!
//! A node that forwards a request has authenticated its caller. It tells the next node who that is in a header, signed with
//! the cluster's secret. A user's token never leaves the node that got it.

use std::sync::Arc;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use http::{HeaderName, HeaderValue, Method};
use ring::hmac;
use secrecy::{ExposeSecret, SecretString};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::store_clock::StoreClock;
use crate::tls::NodeTls;

/// Header with the signed identity.
pub const IDENTITY: HeaderName = HeaderName::from_static("notarium-identity");
/// Header with the number of nodes that have forwarded the request: at most one.
pub const HOPS: HeaderName = HeaderName::from_static("notarium-hops");

/// Time for which a signature is valid, in seconds of the store's clock: those of the machines may be wrong.
const VALID_SECONDS: u64 = 30;
const CONNECT_TIMEOUT: Duration = Duration::from_secs(2);

/// Reason why a signed header is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PeerError {
    #[error("the header is not of the form that nodes send")]
    Malformed,
    #[error("the header is not signed with the secret of this cluster, or for another request")]
    Forged,
    #[error("the header was signed too long ago, or by a node whose clock is wrong")]
    Expired,
}

#[derive(Serialize, Deserialize)]
struct Claims<T> {
    /// Time of the signature, in seconds since 1970.
    at: u64,
    who: T,
}

/// Settings of HTTP clients to other nodes.
pub fn client_settings() -> reqwest::ClientBuilder {
    let client = reqwest::Client::builder().connect_timeout(CONNECT_TIMEOUT);
    client.redirect(reqwest::redirect::Policy::none()).no_proxy().tcp_nodelay(true)
}

/// Access to the other nodes.
pub struct Peers {
    key: hmac::Key,
    http: reqwest::Client,
    tls: Option<Arc<NodeTls>>,
    clock: Arc<StoreClock>,
}

impl Peers {
    /// `tls`: configuration with the node's certificate; absent: nodes show none.
    pub fn new(secret: &SecretString, tls: Option<Arc<NodeTls>>) -> Self {
        // Fails if a provider is installed already, which is then the same one.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let key = hmac::Key::new(hmac::HMAC_SHA256, secret.expose_secret().as_bytes());
        Self { key, http: client_settings().build().unwrap_or_default(), tls, clock: Arc::default() }
    }

    /// The same with a clock by which signatures are dated.
    pub fn by_clock(self, clock: Arc<StoreClock>) -> Self {
        Self { clock, ..self }
    }

    /// Client for requests to other nodes. It follows no redirects.
    pub fn http(&self) -> reqwest::Client {
        self.tls.as_ref().map_or_else(|| self.http.clone(), |tls| tls.current().http.clone())
    }

    /// Configuration of sockets to other nodes. `None`: the system's authorities vouch for nodes with `https://`.
    pub fn socket_tls(&self) -> Option<Arc<rustls::ClientConfig>> {
        self.tls.as_ref().map(|tls| tls.current().client.clone())
    }

    /// Certificates between nodes.
    pub const fn tls(&self) -> Option<&Arc<NodeTls>> {
        self.tls.as_ref()
    }

    /// Tag of a text that every node of the cluster can check; `purpose` keeps tags for one thing from counting for another.
    pub fn tag(&self, purpose: &str, text: &str) -> hmac::Tag {
        hmac::sign(&self.key, format!("{purpose}\n{text}").as_bytes())
    }

    /// Checks a tag of a text.
    pub fn has_tag(&self, purpose: &str, text: &str, tag: &[u8]) -> bool {
        hmac::verify(&self.key, format!("{purpose}\n{text}").as_bytes(), tag).is_ok()
    }

    /// Signs who sends a request of this method to this path (with its query).
    pub fn sign<T: Serialize>(&self, method: &Method, path: &str, who: &T) -> Option<HeaderValue> {
        self.sign_at(self.clock.seconds(), method, path, who)
    }

    fn sign_at<T: Serialize>(&self, at: u64, method: &Method, path: &str, who: &T) -> Option<HeaderValue> {
        let claims = URL_SAFE_NO_PAD.encode(serde_json::to_vec(&Claims { at, who }).ok()?);
        let signature = hmac::sign(&self.key, &signed_text(method, path, &claims));
        let mut value =
            HeaderValue::from_str(&format!("{claims}.{}", URL_SAFE_NO_PAD.encode(signature.as_ref()))).ok()?;
        value.set_sensitive(true);
        Some(value)
    }

    /// Checks the header of a request; returns who sends it.
    pub fn verify<T: DeserializeOwned>(
        &self,
        method: &Method,
        path: &str,
        header: &HeaderValue,
    ) -> Result<T, PeerError> {
        let text = header.to_str().map_err(|_| PeerError::Malformed)?;
        let (claims, signature) = text.split_once('.').ok_or(PeerError::Malformed)?;
        let signature = URL_SAFE_NO_PAD.decode(signature).map_err(|_| PeerError::Malformed)?;
        let signed = signed_text(method, path, claims);
        hmac::verify(&self.key, &signed, &signature).map_err(|_| PeerError::Forged)?;
        let claims = URL_SAFE_NO_PAD.decode(claims).map_err(|_| PeerError::Malformed)?;
        let Claims { at, who } = serde_json::from_slice(&claims).map_err(|_| PeerError::Malformed)?;
        if self.clock.seconds().abs_diff(at) > VALID_SECONDS {
            return Err(PeerError::Expired);
        }
        Ok(who)
    }

    /// The same for a request that anybody may send: a header that no node has signed counts for nothing. `Err`: a node's came too late,
    /// so that its caller can only ask again.
    pub fn verify_or_ignore<T: DeserializeOwned>(
        &self,
        method: &Method,
        path: &str,
        header: &HeaderValue,
    ) -> Result<Option<T>, PeerError> {
        match self.verify(method, path, header) {
            Ok(who) => Ok(Some(who)),
            Err(error) => {
                tracing::warn!(%error, path, "a signed identity was refused");
                if error == PeerError::Expired { Err(error) } else { Ok(None) }
            }
        }
    }
}

fn signed_text(method: &Method, path: &str, claims: &str) -> Vec<u8> {
    format!("{method}\n{path}\n{claims}").into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATH: &str = "/api/notebooks/n?at=3";

    #[test]
    fn signatures_are_dated_by_the_store_s_clock() {
        let secret = "the secret of a cluster".into();
        let ahead = |by| Peers::new(&secret, None).by_clock(Arc::new(StoreClock::of_machine_ahead(by)));
        // Two machines whose clocks are right by the store's, and one of an hour's difference.
        let [one, two, other] = [ahead(3_600_000), ahead(3_601_000), ahead(0)];
        let header = one.sign(&Method::GET, PATH, &"ann").unwrap();
        assert_eq!(two.verify::<String>(&Method::GET, PATH, &header).as_deref(), Ok("ann"));
        assert_eq!(other.verify::<String>(&Method::GET, PATH, &header), Err(PeerError::Expired));
        assert_eq!(other.verify_or_ignore::<String>(&Method::GET, PATH, &header), Err(PeerError::Expired));
        assert_eq!(other.verify_or_ignore::<String>(&Method::PUT, PATH, &header), Ok(None));
    }

    #[test]
    fn tags_count_for_their_purpose_and_cluster() {
        let [ours, same, other] = ["one", "one", "two"].map(|secret| Peers::new(&secret.into(), None));
        let tag = ours.tag("page", "text");
        assert!(same.has_tag("page", "text", tag.as_ref()));
        assert!(!same.has_tag("page", "texts", tag.as_ref()) && !same.has_tag("challenge", "text", tag.as_ref()));
        assert!(!other.has_tag("page", "text", tag.as_ref()));
    }

    #[test]
    fn a_header_counts_for_its_request_and_for_half_a_minute() {
        let peers = Peers::new(&"the secret of a cluster".into(), None);
        let other = Peers::new(&"another secret".into(), None);
        let header = peers.sign(&Method::GET, PATH, &"ann").unwrap();
        fn verify(peers: &Peers, method: Method, path: &str, header: &HeaderValue) -> Result<String, PeerError> {
            peers.verify(&method, path, header)
        }
        assert_eq!(verify(&peers, Method::GET, PATH, &header).as_deref(), Ok("ann"));
        assert_eq!(verify(&peers, Method::PUT, PATH, &header), Err(PeerError::Forged));
        assert_eq!(verify(&peers, Method::GET, "/api/notebooks/m?at=3", &header), Err(PeerError::Forged));
        assert_eq!(verify(&other, Method::GET, PATH, &header), Err(PeerError::Forged));
        let now = || peers.clock.seconds();
        for (at, expected) in [(now() - 29, Ok("ann".to_owned())), (now() - 31, Err(PeerError::Expired))] {
            let header = peers.sign_at(at, &Method::GET, PATH, &"ann").unwrap();
            assert_eq!(verify(&peers, Method::GET, PATH, &header), expected);
        }
        let early = peers.sign_at(now() + 3_600, &Method::GET, PATH, &"ann").unwrap();
        assert_eq!(verify(&peers, Method::GET, PATH, &early), Err(PeerError::Expired));
        for wrong in ["", "ann", "a.b", "!.!"] {
            assert!(verify(&peers, Method::GET, PATH, &HeaderValue::from_static(wrong)).is_err(), "{wrong}");
        }
    }
}
