//! A fake provider with answers that no real provider gives.

use std::sync::{Arc, Mutex};

use axum::extract::State;
use axum::routing::{get, post};
use axum::{Json, Router};
use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::*;

const KEY: [u8; 32] = [1; 32];
const SECRET: &str = "the client's secret";

/// Answers of the fake provider, and the requests that it received.
struct Liar {
    issuer: String,
    pair: Mutex<EcdsaKeyPair>,
    discovery: Mutex<Value>,
    /// ID token of its next answer.
    token: Mutex<String>,
    user_info: Mutex<Value>,
    told: Mutex<Vec<String>>,
    /// Store of the servers that ask it.
    store: Arc<dyn AccountStore>,
}

fn pair() -> EcdsaKeyPair {
    let random = SystemRandom::new();
    let pkcs8 = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &random).unwrap();
    EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, pkcs8.as_ref(), &random).unwrap()
}

fn encode(bytes: impl AsRef<[u8]>) -> String {
    BASE64_URL_SAFE_NO_PAD.encode(bytes)
}

fn keys(pair: &EcdsaKeyPair) -> Value {
    let point = pair.public_key().as_ref();
    let (x, y) = (encode(&point[1..33]), encode(&point[33..]));
    json!({"keys": [{"kty": "EC", "crv": "P-256", "use": "sig", "alg": "ES256", "kid": encode(Sha256::digest(point)), "x": x, "y": y}]})
}

fn signed(pair: &EcdsaKeyPair, claims: &Value) -> String {
    let kid = encode(Sha256::digest(pair.public_key()));
    let header = json!({"alg": "ES256", "kid": kid});
    let text = format!("{}.{}", encode(header.to_string()), encode(claims.to_string()));
    let signature = pair.sign(&SystemRandom::new(), text.as_bytes()).unwrap();
    format!("{text}.{}", encode(signature))
}

impl Liar {
    async fn start() -> Arc<Self> {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let issuer = format!("http://{}", listener.local_addr().unwrap());
        let discovery = json!({
            "issuer": issuer,
            "authorization_endpoint": format!("{issuer}/authorize"),
            "token_endpoint": format!("{issuer}/token"),
            "userinfo_endpoint": format!("{issuer}/userinfo"),
            "jwks_uri": format!("{issuer}/jwks"),
            "response_types_supported": ["code"],
            "subject_types_supported": ["public"],
            // Discovery leaves out ES256, and offers insecure algorithms.
            "id_token_signing_alg_values_supported": ["RS256", "HS256", "none"],
        });
        let liar = Arc::new(Self {
            issuer,
            pair: Mutex::new(pair()),
            discovery: Mutex::new(discovery),
            token: Mutex::default(),
            user_info: Mutex::new(Value::Null),
            told: Mutex::default(),
            store: crate::server::scratch::accounts().await,
        });
        let discovered = async |State(liar): State<Arc<Liar>>| Json(liar.discovery.lock().unwrap().clone());
        let jwks = async |State(liar): State<Arc<Liar>>| Json(keys(&liar.pair.lock().unwrap()));
        let tokens = async |State(liar): State<Arc<Liar>>, body: String| {
            liar.told.lock().unwrap().push(body);
            let token = liar.token.lock().unwrap().clone();
            Json(json!({"access_token": "access", "token_type": "Bearer", "id_token": token}))
        };
        let user_info = async |State(liar): State<Arc<Liar>>| Json(liar.user_info.lock().unwrap().clone());
        let router = Router::new()
            .route("/.well-known/openid-configuration", get(discovered))
            .route("/jwks", get(jwks))
            .route("/token", post(tokens))
            .route("/userinfo", get(user_info))
            .with_state(liar.clone());
        tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        liar
    }

    fn oidc(&self, clock: Clock) -> Oidc {
        self.oidc_with(clock, GroupSettings::default(), &[])
    }

    fn oidc_with(&self, clock: Clock, groups: GroupSettings, scopes: &[&str]) -> Oidc {
        let settings = OidcSettings {
            issuer: self.issuer.clone(),
            client_id: "notarium".to_owned(),
            client_secret: Some(SECRET.into()),
            name: None,
            allow: vec!["*".to_owned()],
            scopes: scopes.iter().map(|scope| (*scope).to_owned()).collect(),
            groups,
        };
        Oidc::new(
            settings,
            "https://notes.example.org",
            clock,
            self.store.clone(),
            crate::limits::connection_slots::ConnectionSlots::new(8, 8),
        )
        .unwrap()
    }

    /// Correct claims for this sign-in.
    fn claims(&self, started: &StartedSignIn) -> Value {
        let now = Clock::system().now() / 1000;
        let nonce = asked(&started.url, "nonce");
        json!({"iss": self.issuer, "sub": "17", "aud": "notarium", "exp": now + 300, "iat": now, "nonce": nonce})
    }

    fn says(&self, token: String) {
        *self.token.lock().unwrap() = token;
    }

    fn signs(&self, claims: &Value) {
        let token = signed(&self.pair.lock().unwrap(), claims);
        self.says(token);
    }
}

fn asked(url: &str, wanted: &str) -> String {
    let url: Url = url.parse().unwrap();
    url.query_pairs().find(|(name, _)| name == wanted).map(|(_, value)| value.into_owned()).unwrap()
}

async fn finish(oidc: &Oidc, started: &StartedSignIn) -> Result<ProvedIdentity, OidcError> {
    oidc.finish(&started.state, "code".to_owned(), KEY, &Purpose::SignIn).await
}

fn with(mut claims: Value, name: &str, value: Value) -> Value {
    claims[name] = value;
    claims
}

#[tokio::test]
async fn the_code_is_asked_for_and_exchanged_with_pkce_and_a_nonce() {
    let liar = Liar::start().await;
    let oidc = liar.oidc(Clock::system());
    let started = oidc.begin(KEY, Purpose::SignIn, None).await.unwrap();
    let ask = |name: &str| asked(&started.url, name);
    assert_eq!((ask("response_type").as_str(), ask("code_challenge_method").as_str()), ("code", "S256"));
    assert_eq!((ask("scope").as_str(), ask("state")), ("openid profile email", started.state.clone()));
    assert_eq!(ask("redirect_uri"), "https://notes.example.org/oidc/callback");
    let other = oidc.begin(KEY, Purpose::SignIn, None).await.unwrap();
    for name in ["state", "nonce", "code_challenge"] {
        assert!(ask(name).len() >= 22 && ask(name) != asked(&other.url, name), "{name}");
    }
    liar.signs(&liar.claims(&started));
    let proved = finish(&oidc, &started).await.unwrap();
    assert_eq!((proved.issuer, proved.subject.as_str()), (liar.issuer.clone(), "17"));
    let told = liar.told.lock().unwrap().pop().unwrap();
    let verifier = told.split('&').find_map(|part| part.strip_prefix("code_verifier=")).unwrap();
    assert_eq!(encode(Sha256::digest(verifier)), ask("code_challenge"));
    assert!(!told.contains("secret"), "the secret goes in the header: {told}");
}

#[tokio::test]
async fn no_token_is_believed_that_is_not_the_provider_s_for_us_and_for_now() {
    let liar = Liar::start().await;
    let oidc = liar.oidc(Clock::system());
    type Lie = fn(&Liar, Value) -> String;
    let sign = |liar: &Liar, claims: Value| signed(&liar.pair.lock().unwrap(), &claims);
    let lies: [(&str, Lie, &str); 9] = [
        (
            "audience",
            |liar, claims| signed(&liar.pair.lock().unwrap(), &with(claims, "aud", "other".into())),
            "somebody else",
        ),
        (
            "audiences",
            |liar, claims| signed(&liar.pair.lock().unwrap(), &with(claims, "aud", json!(["notarium", "other"]))),
            "somebody else",
        ),
        (
            "issuer",
            |liar, claims| signed(&liar.pair.lock().unwrap(), &with(claims, "iss", "https://id.example".into())),
            "from somebody else",
        ),
        (
            "nonce",
            |liar, claims| signed(&liar.pair.lock().unwrap(), &with(claims, "nonce", "n".into())),
            "another sign-in",
        ),
        (
            "no nonce",
            |liar, claims| signed(&liar.pair.lock().unwrap(), &with(claims, "nonce", Value::Null)),
            "another sign-in",
        ),
        ("expired", |liar, claims| signed(&liar.pair.lock().unwrap(), &with(claims, "exp", 1_000.into())), "expired"),
        ("key", |_, claims| signed(&pair(), &claims), "not signed"),
        ("none", |_, claims| format!("{}.{}.", encode(r#"{"alg":"none"}"#), encode(claims.to_string())), "not signed"),
        (
            "symmetric",
            |_, claims| {
                // Knowing the client's secret does not make an issuer the provider.
                let text = format!("{}.{}", encode(r#"{"alg":"HS256"}"#), encode(claims.to_string()));
                let key = ring::hmac::Key::new(ring::hmac::HMAC_SHA256, SECRET.as_bytes());
                format!("{text}.{}", encode(ring::hmac::sign(&key, text.as_bytes())))
            },
            "not signed",
        ),
    ];
    for (lie, token, reason) in lies {
        let started = oidc.begin(KEY, Purpose::SignIn, None).await.unwrap();
        liar.says(token(&liar, liar.claims(&started)));
        match finish(&oidc, &started).await {
            Err(OidcError::Refused { reason: said, .. }) => assert!(said.contains(reason), "{lie}: {said}"),
            other => panic!("{lie}: {other:?}"),
        }
        // Correct claims come too late: the sign-in was used up.
        liar.says(sign(&liar, liar.claims(&started)));
        assert_eq!(finish(&oidc, &started).await, Err(OidcError::Ended), "{lie}");
    }
    let started = oidc.begin(KEY, Purpose::SignIn, None).await.unwrap();
    liar.signs(&with(liar.claims(&started), "sub", "x".repeat(256).into()));
    assert!(matches!(finish(&oidc, &started).await, Err(OidcError::Refused { .. })));
}

#[tokio::test]
async fn who_is_to_prove_it_afresh_was_asked_anew_by_the_provider_s_own_word() {
    let liar = Liar::start().await;
    let oidc = liar.oidc(Clock::system());
    let afresh = async || oidc.begin(KEY, Purpose::Afresh, None).await.unwrap();
    let started = afresh().await;
    assert_eq!((asked(&started.url, "prompt").as_str(), asked(&started.url, "max_age").as_str()), ("login", "0"));
    let usual = oidc.begin(KEY, Purpose::SignIn, None).await.unwrap();
    assert!(!usual.url.contains("prompt=") && !usual.url.contains("max_age="), "{}", usual.url);

    let now = Clock::system().now() / 1000;
    let finish = async |started: &StartedSignIn, purpose: &Purpose| {
        oidc.finish(&started.state, "code".to_owned(), KEY, purpose).await
    };
    // Claims without a time of authentication, or with one before the sign-in began.
    for claims in [Value::Null, json!(now - 3_600)] {
        let started = afresh().await;
        liar.signs(&with(liar.claims(&started), "auth_time", claims));
        match finish(&started, &Purpose::Afresh).await {
            Err(OidcError::Refused { reason, .. }) => assert!(reason.contains("did not ask you anew"), "{reason}"),
            other => panic!("{other:?}"),
        }
    }
    liar.signs(&with(liar.claims(&started), "auth_time", now.into()));
    assert_eq!(finish(&started, &Purpose::SignIn).await, Err(OidcError::Ended), "it was begun for something else");
    finish(&started, &Purpose::Afresh).await.unwrap();
    // A usual sign-in cannot be finished as a fresh one.
    liar.signs(&liar.claims(&usual));
    assert_eq!(finish(&usual, &Purpose::Afresh).await, Err(OidcError::Ended));
    finish(&usual, &Purpose::SignIn).await.unwrap();
}

#[tokio::test]
async fn new_keys_of_the_provider_are_looked_for() {
    let liar = Liar::start().await;
    let now = Arc::new(std::sync::atomic::AtomicU64::new(Clock::system().now()));
    let oidc = liar.oidc(Clock::manual(now.clone()));
    let started = oidc.begin(KEY, Purpose::SignIn, None).await.unwrap();
    *liar.pair.lock().unwrap() = pair();
    now.fetch_add(60_000, std::sync::atomic::Ordering::SeqCst);
    liar.signs(&liar.claims(&started));
    finish(&oidc, &started).await.unwrap();
}

#[tokio::test]
async fn what_the_id_token_leaves_out_is_asked_for_of_the_same_person() {
    let liar = Liar::start().await;
    let oidc = liar.oidc(Clock::system());
    for (subject, expected) in [("17", Some("ann@example.org")), ("18", None)] {
        *liar.user_info.lock().unwrap() =
            json!({"sub": subject, "email": "ann@example.org", "email_verified": "true", "name": "Ann"});
        let started = oidc.begin(KEY, Purpose::SignIn, None).await.unwrap();
        liar.signs(&liar.claims(&started));
        let proved = finish(&oidc, &started).await.unwrap();
        assert_eq!((proved.subject.as_str(), proved.email.as_deref()), ("17", expected));
    }
}

#[tokio::test]
async fn a_discovery_that_leads_elsewhere_is_no_discovery() {
    let liar = Liar::start().await;
    let right = liar.discovery.lock().unwrap().clone();
    for (name, value) in [
        ("issuer", "https://id.example.org"),
        ("authorization_endpoint", "http://id.example.org/authorize"),
        ("token_endpoint", "http://id.example.org/token"),
        ("userinfo_endpoint", "http://id.example.org/userinfo"),
        ("jwks_uri", "no address"),
    ] {
        *liar.discovery.lock().unwrap() = with(right.clone(), name, value.into());
        let refused = liar.oidc(Clock::system()).begin(KEY, Purpose::SignIn, None).await.err();
        assert_eq!(refused, Some(OidcError::Unavailable { name: "127.0.0.1".to_owned() }), "{name}");
    }
    *liar.discovery.lock().unwrap() = json!("x".repeat(2 << 20));
    assert!(liar.oidc(Clock::system()).begin(KEY, Purpose::SignIn, None).await.is_err(), "too large");
}

#[tokio::test]
async fn groups_come_from_the_id_token_or_the_user_info_as_a_list_or_one_text() {
    let liar = Liar::start().await;
    let settings = |claim: Option<&str>| GroupSettings {
        claim: claim.map(str::to_owned),
        admins: vec!["root".to_owned()],
        workspaces: Vec::new(),
    };
    let proved = async |oidc: &Oidc, claims: &[(&str, Value)], user_info: Value| {
        let started = oidc.begin(KEY, Purpose::SignIn, None).await.unwrap();
        let claims = claims.iter().fold(liar.claims(&started), |all, (name, value)| with(all, name, value.clone()));
        *liar.user_info.lock().unwrap() = user_info;
        liar.signs(&claims);
        finish(oidc, &started).await.unwrap()
    };
    let groups = |names: &[&str]| Some(names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>());
    let oidc = liar.oidc_with(Clock::system(), settings(None), &["groups"]);
    assert_eq!(
        asked(&oidc.begin(KEY, Purpose::SignIn, None).await.unwrap().url, "scope"),
        "openid profile email groups"
    );
    let email = ("email", json!("ann@example.org"));
    let told = proved(&oidc, &[email.clone(), ("groups", json!(["staff", "root"]))], Value::Null).await;
    assert_eq!((told.groups, told.has_unverified_email), (groups(&["staff", "root"]), true));
    assert_eq!(proved(&oidc, &[("groups", json!("staff"))], Value::Null).await.groups, groups(&["staff"]));
    assert_eq!(proved(&oidc, &[("groups", json!([]))], Value::Null).await.groups, groups(&[]));
    let more = json!({"sub": "17", "groups": ["students"], "email": "other@example.org", "email_verified": true});
    let told = proved(&oidc, std::slice::from_ref(&email), more.clone()).await;
    assert_eq!((told.groups, told.email), (groups(&["students"]), None), "the ID token's address counts");
    assert_eq!(proved(&oidc, &[], json!({"sub": "18", "groups": ["root"]})).await.groups, None, "of somebody else");
    assert_eq!(proved(&oidc, std::slice::from_ref(&email), json!({"sub": "17"})).await.groups, None);
    assert_eq!(proved(&oidc, &[("groups", json!({"root": true}))], Value::Null).await.groups, None);

    let named = liar.oidc_with(Clock::system(), settings(Some("https://example.org/roles")), &[]);
    let claims = [("https://example.org/roles", json!(["root"])), ("groups", json!(["staff"]))];
    assert_eq!(proved(&named, &claims, Value::Null).await.groups, groups(&["root"]));
    let unread = liar.oidc(Clock::system());
    assert_eq!(proved(&unread, &[("groups", json!(["root"]))], Value::Null).await.groups, None);
}

#[tokio::test]
async fn a_sign_in_ends_at_another_node_once_for_the_browser_and_the_purpose_that_began_it() {
    let liar = Liar::start().await;
    let [one, two] = [liar.oidc(Clock::system()), liar.oidc(Clock::system())];
    let started = one.begin(KEY, Purpose::SignIn, None).await.unwrap();
    liar.signs(&liar.claims(&started));
    let at_two =
        async |key: [u8; 32], purpose: Purpose| two.finish(&started.state, "code".to_owned(), key, &purpose).await;
    assert_eq!(at_two([2; 32], Purpose::SignIn).await, Err(OidcError::Ended));
    assert_eq!(at_two(KEY, Purpose::Afresh).await, Err(OidcError::Ended));
    assert_eq!(at_two(KEY, Purpose::SignIn).await.unwrap().subject, "17");
    assert_eq!(at_two(KEY, Purpose::SignIn).await, Err(OidcError::Ended));
    assert_eq!(finish(&one, &started).await, Err(OidcError::Ended));
}
