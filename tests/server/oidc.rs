//! Tests of sign-in with an independent OpenID Connect provider.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use notarium_server::Clock;
use notarium_server::{GroupSettings, OidcSettings, Server, ServerConfig};
use notarium_store::accounts::AccountChange;
use serde_json::{Value, json};

use super::provider::{Back, Browser, Provider};
use crate::support::{Http, TestServer};

const PASSWORD: &str = "correct horse battery";

pub fn settings(issuer: &str, allow: &[&str]) -> OidcSettings {
    OidcSettings {
        issuer: issuer.to_owned(),
        client_id: "notarium".to_owned(),
        client_secret: Some("a secret of the server".into()),
        name: Some("Example University".to_owned()),
        allow: allow.iter().map(|who| (*who).to_owned()).collect(),
        scopes: Vec::new(),
        groups: GroupSettings::default(),
    }
}

async fn server(provider: &Provider, allow: &[&str]) -> TestServer {
    TestServer::with(|config| config.oidc = Some(settings(&provider.issuer, allow))).await
}

fn anybody(server: &TestServer) -> Http {
    Http::new(server.url(), None)
}

fn ann() -> Value {
    json!({"name": "Ann Miller", "email": "Ann@example.org", "email_verified": true})
}

pub fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value[name].as_str().unwrap_or_else(|| panic!("no {name} in {value}"))
}

async fn actions(server: &TestServer) -> Vec<String> {
    let records = server.running().app().accounts.store().audit(None, 100).await.unwrap();
    records.into_iter().map(|record| record.entry.action).collect()
}

#[tokio::test]
async fn somebody_of_the_domain_gets_an_account_and_is_the_same_person_the_next_time() {
    let provider = Provider::start().await;
    provider.knows("17", ann()).await;
    let server = server(&provider, &["example.org"]).await;
    let http = anybody(&server);
    let options = http.get("/api/session/options").await.ok();
    assert_eq!(options, json!({"oidc": {"name": "Example University", "origin": server.url()}}));

    let browser = Browser::at(&http);
    let first = browser.sign_in("17").await.ok();
    let me = server.http_as(text(&first, "token")).get("/api/me").await.ok();
    assert_eq!((text(&me, "name"), text(&me["user"], "login")), ("Ann Miller", "ann@example.org"));
    assert_eq!((&me["user"]["is_admin"], &me["user"]["has_password"]), (&json!(false), &json!(false)));
    assert!(!me["scopes"].as_array().unwrap().contains(&json!("admin")), "{me}");
    // The session is bound to this browser.
    browser.resume(text(&first, "session")).await.ok();
    assert_eq!(Browser::at(&http).resume(text(&first, "session")).await.refused(401), "unauthenticated");

    // Later claims of the provider change no account: subject and issuer are the identity.
    provider.knows("17", json!({"name": "Somebody", "email": "other@elsewhere.org", "email_verified": false})).await;
    let second = Browser::at(&http).sign_in("17").await.ok();
    assert_eq!(second["user"]["id"], first["user"]["id"]);
    assert_ne!(second["session"], first["session"]);
    assert_eq!(actions(&server).await[..3], ["session.oidc", "session.oidc", "user.join"]);
    provider.knows("18", json!({"name": "Ann Miller", "email": "ann.2@example.org", "email_verified": true})).await;
    let other = Browser::at(&http).sign_in("18").await.ok();
    assert_ne!(other["user"]["id"], first["user"]["id"]);
}

#[tokio::test]
async fn a_state_is_good_once_and_a_code_for_its_own_state_alone() {
    let provider = Provider::start().await;
    provider.knows("17", ann()).await;
    let server = server(&provider, &["*"]).await;
    let browser = Browser::at(&anybody(&server));
    let begun = browser.begin().await.ok();
    let back = browser.allow(text(&begun, "url"), "17").await;
    browser.finish(&back).await.ok();
    assert_eq!(browser.finish(&back).await.refused(401), "sign_in_ended");
    // Replays the code of the first sign-in under another state: the provider has revoked it.
    let state = text(&browser.begin().await.ok(), "state").to_owned();
    let replayed = Back { state, ..back };
    assert_eq!(browser.finish(&replayed).await.refused(401), "provider_refused");
    let unknown = Back { state: "nobody began this".to_owned(), ..replayed };
    assert_eq!(browser.finish(&unknown).await.refused(401), "sign_in_ended");
}

#[tokio::test]
async fn another_browser_finishes_nothing_and_uses_nothing_up() {
    let provider = Provider::start().await;
    provider.knows("17", ann()).await;
    let server = server(&provider, &["*"]).await;
    let (browser, thief) = (Browser::at(&anybody(&server)), Browser::at(&anybody(&server)));
    let begun = browser.begin().await.ok();
    let back = browser.allow(text(&begun, "url"), "17").await;
    assert_eq!(thief.finish(&back).await.refused(401), "sign_in_ended");
    // The other browser's key, with a signature by a different key.
    let code = back.code.clone().unwrap();
    let mut forged = thief.proof(&back.state, &code);
    forged["key"] = browser.key().into();
    assert_eq!(anybody(&server).post("/api/session/oidc", forged).await.refused(401), "sign_in_ended");
    // A signature over another code.
    let mut other = browser.proof(&back.state, "another");
    other["code"] = code.into();
    assert_eq!(anybody(&server).post("/api/session/oidc", other).await.refused(401), "sign_in_ended");
    browser.finish(&back).await.ok();
}

#[tokio::test]
async fn what_the_provider_says_belongs_to_the_sign_in_that_was_begun() {
    let provider = Provider::start().await;
    provider.knows("17", ann()).await;
    let server = server(&provider, &["*"]).await;
    let browser = Browser::at(&anybody(&server));
    let begun = browser.begin().await.ok();
    let url = text(&begun, "url");
    let nonce = url.split('&').find(|part| part.starts_with("nonce=")).unwrap();
    let back = browser.allow(&url.replace(nonce, "nonce=of-another"), "17").await;
    let answer = browser.finish(&back).await;
    assert_eq!(answer.refused(401), "provider_refused");
    assert!(answer.text.contains("belongs to another sign-in"), "{}", answer.text);
    // For another client the provider issues no tokens.
    let begun = browser.begin().await.ok();
    let back = browser.allow(&text(&begun, "url").replace("client_id=notarium", "client_id=other"), "17").await;
    assert_eq!(browser.finish(&back).await.refused(401), "provider_refused");
}

#[tokio::test]
async fn somebody_who_takes_too_long_begins_again() {
    let provider = Provider::start().await;
    provider.knows("17", ann()).await;
    let now = Arc::new(AtomicU64::new(Clock::system().now()));
    let server = TestServer::with(|config| {
        config.oidc = Some(settings(&provider.issuer, &["*"]));
        config.clock = Clock::manual(now.clone());
        config.limits.max_begun_sign_ins = 2;
    })
    .await;
    let browser = Browser::at(&anybody(&server));
    let begun = browser.begin().await.ok();
    let back = browser.allow(text(&begun, "url"), "17").await;
    browser.begin().await.ok();
    let full = browser.begin().await;
    assert_eq!((full.refused(429).as_str(), full.header("retry-after")), ("too_many_attempts", "60"));
    now.fetch_add(10 * 60 * 1000 + 1, Ordering::SeqCst);
    assert_eq!(browser.finish(&back).await.refused(401), "sign_in_ended");
    // Expired sign-ins no longer count against the limit.
    browser.begin().await.ok();
    browser.begin().await.ok();
    assert_eq!(browser.begin().await.refused(429), "too_many_attempts");
}

#[tokio::test]
async fn who_says_no_at_the_provider_comes_back_without_a_code() {
    let provider = Provider::start().await;
    let server = server(&provider, &["*"]).await;
    let browser = Browser::at(&anybody(&server));
    let begun = browser.begin().await.ok();
    let back = browser.deny(text(&begun, "url")).await;
    assert_eq!((back.error.as_deref(), &back.code), (Some("access_denied"), &None));
    let back = Back { state: text(&begun, "state").to_owned(), ..back };
    assert_eq!(browser.finish(&back).await.refused(401), "provider_refused");
}

#[tokio::test]
async fn without_its_provider_the_server_goes_on() {
    let mut provider = Provider::start().await;
    provider.knows("17", ann()).await;
    let mut server = server(&provider, &["*"]).await;
    let browser = Browser::at(&anybody(&server));
    let begun = browser.begin().await.ok();
    let back = browser.allow(text(&begun, "url"), "17").await;
    provider.stop().await;
    let answer = browser.finish(&back).await;
    assert_eq!(answer.refused(503), "provider_unavailable");
    assert!(answer.text.contains("Example University") && !answer.text.contains("127.0.0.1"), "{}", answer.text);
    // The server starts without the provider, and reports this to people who sign in.
    server.stop().await;
    server.start_again().await;
    assert_eq!(browser.begin().await.refused(503), "provider_unavailable");
    anybody(&server).get("/healthz").await.ok();

    let server = TestServer::start().await;
    assert_eq!(anybody(&server).get("/api/session/options").await.ok(), json!({}));
    assert_eq!(Browser::at(&anybody(&server)).begin().await.refused(404), "not_found");
}

#[tokio::test]
async fn an_id_token_that_has_expired_signs_nobody_in() {
    let provider = Provider::start().await;
    provider.knows("17", ann()).await;
    // The provider's tokens are valid for an hour.
    let later = Arc::new(AtomicU64::new(Clock::system().now() + 2 * 60 * 60 * 1000));
    let server = TestServer::with(|config| {
        config.oidc = Some(settings(&provider.issuer, &["*"]));
        config.clock = Clock::manual(later);
    })
    .await;
    let answer = Browser::at(&anybody(&server)).sign_in("17").await;
    assert_eq!(answer.refused(401), "provider_refused");
    assert!(answer.text.contains("expired"), "{}", answer.text);
}

#[tokio::test]
async fn only_whom_the_operator_names_gets_an_account() {
    let provider = Provider::start().await;
    let with = |email: &str, verified: bool| json!({"email": email, "email_verified": verified});
    provider.knows("good", with("bob@example.org", true)).await;
    provider.knows("unverified", with("eve@example.org", false)).await;
    provider.knows("silent", json!({"email": "eve@example.org"})).await;
    provider.knows("other", with("eve@evil-example.org", true)).await;
    provider.knows("below", with("eve@sub.example.org", true)).await;
    provider.knows("odd", with("bob@example.org@evil.org", true)).await;
    provider.knows("nameless", json!({})).await;
    let named = server(&provider, &["Example.org", "cy@other.org"]).await;
    let http = anybody(&named);
    for who in ["unverified", "silent", "other", "below", "odd", "nameless"] {
        let answer = Browser::at(&http).sign_in(who).await;
        assert_eq!(answer.refused(403), "forbidden", "{who}");
        assert!(answer.text.contains("ask an administrator"), "{}", answer.text);
    }
    assert_eq!(actions(&named).await.iter().filter(|action| *action == "user.join").count(), 0);
    Browser::at(&http).sign_in("good").await.ok();
    provider.knows("cy", with("CY@other.org", true)).await;
    Browser::at(&http).sign_in("cy").await.ok();

    let nobody = server(&provider, &[]).await;
    let answer = Browser::at(&anybody(&nobody)).sign_in("good").await;
    assert_eq!(answer.refused(403), "forbidden");
    assert!(answer.text.contains("signing in makes none"), "{}", answer.text);

    let everybody = server(&provider, &["*"]).await;
    let nameless = Browser::at(&anybody(&everybody)).sign_in("nameless").await.ok();
    assert_eq!((text(&nameless["user"], "name"), &nameless["user"]["login"]), ("Somebody", &Value::Null));
    // A name chosen at the provider gives no right to an address or an existing login.
    provider.knows("f1", json!({"preferred_username": "ann@example.org"})).await;
    provider.knows("f2", json!({"preferred_username": "Ann"})).await;
    for (who, login) in [("f1", "ann"), ("f2", "ann-2")] {
        let signed_in = Browser::at(&anybody(&everybody)).sign_in(who).await.ok();
        assert_eq!(text(&signed_in["user"], "login"), login);
    }
}

#[tokio::test]
async fn a_deactivated_person_does_not_come_in() {
    let provider = Provider::start().await;
    provider.knows("17", ann()).await;
    let server = server(&provider, &["*"]).await;
    let first = Browser::at(&anybody(&server)).sign_in("17").await.ok();
    let user = text(&first["user"], "id").parse().unwrap();
    server.apply(AccountChange::DeactivateUser { user, at: Clock::system().now() }).await;
    let answer = Browser::at(&anybody(&server)).sign_in("17").await;
    assert_eq!(answer.refused(401), "account_deactivated");
    assert_eq!(server.http_as(text(&first, "token")).get("/api/me").await.refused(401), "account_deactivated");
}

/// Signs in the owner with a password; returns a client with the administrator's session.
pub async fn owner(server: &TestServer) -> Http {
    let owner = server.running().owner_token.clone().unwrap();
    let body = json!({"token": owner, "login": "ann@example.org", "name": "Ann", "password": PASSWORD});
    let session = anybody(server).post("/api/session", body).await.ok();
    server.http_as(text(&session, "token"))
}

#[tokio::test]
async fn an_account_that_is_there_is_linked_by_its_person_alone() {
    let provider = Provider::start().await;
    provider.knows("17", ann()).await;
    let server = server(&provider, &["example.org"]).await;
    let owner = owner(&server).await;
    // The same verified address is no proof, as the account has a password that was not entered.
    let answer = Browser::at(&anybody(&server)).sign_in("17").await;
    assert_eq!(answer.refused(403), "forbidden");
    assert!(answer.text.contains("link this sign-in"), "{}", answer.text);

    let browser = Browser::at(&owner);
    let begin = async |http: &Http, current: &str| {
        http.post("/api/me/identities/begin", json!({"key": browser.key(), "current": current})).await
    };
    assert_eq!(begin(&owner, "not it").await.refused(401), "wrong_password");
    let program = owner.post("/api/tokens", json!({"scopes": ["read", "manage"]})).await.ok();
    let program = server.http_as(text(&program, "token"));
    assert_eq!(begin(&program, PASSWORD).await.refused(403), "forbidden");
    let begun = begin(&owner, PASSWORD).await.ok();
    let back = browser.allow(text(&begun, "url"), "17").await;
    // A link flow signs nobody in, and cannot link another account.
    assert_eq!(browser.finish(&back).await.refused(401), "sign_in_ended");
    let proof = browser.proof(&back.state, back.code.as_deref().unwrap());
    let bob = server.http(&server.person("Bob").await);
    assert_eq!(bob.post("/api/me/identities", proof.clone()).await.refused(401), "sign_in_ended");
    let linked = owner.post("/api/me/identities", proof).await.ok();
    assert_eq!((text(&linked, "subject"), text(&linked, "email")), ("17", "Ann@example.org"));
    assert_eq!(owner.get("/api/me/identities").await.ok(), json!([linked]));

    let signed_in = Browser::at(&anybody(&server)).sign_in("17").await.ok();
    let me = owner.get("/api/me").await.ok();
    assert_eq!(signed_in["user"]["id"], me["user"]["id"]);
    assert_eq!(signed_in["user"]["is_admin"], true);
    let unlinked = owner.delete(&format!("/api/me/identities/{}", text(&linked, "id"))).await;
    assert_eq!(unlinked.status, 204, "{}", unlinked.text);
    assert_eq!(Browser::at(&anybody(&server)).sign_in("17").await.refused(403), "forbidden");
    let said = actions(&server).await;
    assert!(said.contains(&"identity.link".to_owned()) && said.contains(&"identity.unlink".to_owned()), "{said:?}");
}

#[tokio::test]
async fn the_last_way_in_stays_unless_an_administrator_takes_it() {
    let provider = Provider::start().await;
    provider.knows("17", json!({"email": "bob@example.org", "email_verified": true})).await;
    let server = server(&provider, &["example.org"]).await;
    let owner = owner(&server).await;
    let bob = Browser::at(&anybody(&server)).sign_in("17").await.ok();
    let http = server.http_as(text(&bob, "token"));
    let own = http.get("/api/me/identities").await.ok();
    let (user, identity) = (text(&bob["user"], "id"), text(&own[0], "id"));
    assert_eq!(http.delete(&format!("/api/me/identities/{identity}")).await.refused(400), "invalid_value");
    // A second account cannot take the identity over.
    let browser = Browser::at(&owner);
    let begun = owner.post("/api/me/identities/begin", json!({"key": browser.key(), "current": PASSWORD})).await.ok();
    let back = browser.allow(text(&begun, "url"), "17").await;
    let proof = browser.proof(&back.state, back.code.as_deref().unwrap());
    assert_eq!(owner.post("/api/me/identities", proof).await.refused(403), "forbidden");

    let path = format!("/api/users/{user}/identities");
    assert_eq!(http.get(&path).await.refused(403), "forbidden");
    assert_eq!(owner.get(&path).await.ok(), own);
    assert_eq!(owner.delete(&format!("{path}/{identity}")).await.status, 204);
    assert_eq!(owner.delete(&format!("{path}/{identity}")).await.refused(404), "not_found");
    assert_eq!(Browser::at(&anybody(&server)).sign_in("17").await.refused(403), "forbidden");
}

#[tokio::test]
async fn unlinking_ends_the_sessions_that_came_by_it_and_no_others() {
    let provider = Provider::start().await;
    provider.knows("17", ann()).await;
    let server = server(&provider, &["example.org"]).await;
    let owner = owner(&server).await;
    let browser = Browser::at(&owner);
    let begun = owner.post("/api/me/identities/begin", json!({"key": browser.key(), "current": PASSWORD})).await.ok();
    let back = browser.allow(text(&begun, "url"), "17").await;
    let proof = browser.proof(&back.state, back.code.as_deref().unwrap());
    let linked = owner.post("/api/me/identities", proof).await.ok();
    let came = browser.sign_in("17").await.ok();
    let by_it = server.http_as(text(&came, "token"));
    // A browser opened by a link of that session depends on the identity too.
    let link = by_it.post("/api/session/link", Value::Null).await.ok();
    let beside = anybody(&server).post("/api/session", json!({"token": link["token"]})).await.ok();
    let beside = server.http_as(text(&beside, "token"));
    for http in [&by_it, &beside] {
        http.get("/api/me").await.ok();
    }
    let unlinked = owner.delete(&format!("/api/me/identities/{}", text(&linked, "id"))).await;
    assert_eq!(unlinked.status, 204, "{}", unlinked.text);
    for http in [&by_it, &beside] {
        assert_eq!(http.get("/api/me").await.refused(401), "token_revoked");
    }
    assert_eq!(browser.resume(text(&came, "session")).await.refused(401), "token_revoked");
    owner.get("/api/me").await.ok();
}

#[tokio::test]
async fn who_has_no_password_confirms_after_a_fresh_sign_in_with_the_provider() {
    let provider = Provider::start().await;
    provider.knows("17", json!({"name": "Bea", "email": "bea@example.org", "email_verified": true})).await;
    let server = TestServer::with(|config| {
        config.oidc = Some(settings(&provider.issuer, &["example.org"]));
        config.auth.asks_again = true;
    })
    .await;
    let browser = Browser::at(&anybody(&server));
    let kept = browser.sign_in("17").await.ok();
    let me = server.http_as(text(&kept, "token")).get("/api/me").await.ok();
    assert_eq!((&me["asks_again"], &me["user"]["has_password"]), (&json!(true), &json!(false)));
    let scopes = |me: &Value, scope: &str| me["scopes"].as_array().unwrap().contains(&json!(scope));
    assert!(!scopes(&me, "confirm") && !scopes(&me, "manage"), "{me}");

    let begun = browser.begin_afresh().await.ok();
    let back = browser.allow(text(&begun, "url"), "17").await;
    assert_eq!(browser.finish(&back).await.refused(401), "sign_in_ended", "it is for a fresh session alone");
    let fresh = browser.finish_afresh(&back).await.ok();
    assert_eq!(fresh["user"]["id"], kept["user"]["id"]);
    let http = server.http_as(text(&fresh, "token"));
    let me = http.get("/api/me").await.ok();
    assert!(scopes(&me, "confirm") && scopes(&me, "manage"), "{me}");
    let life = fresh["expires_at"].as_u64().unwrap().saturating_sub(Clock::system().now());
    assert!(life <= 15 * 60 * 1000, "{life}");
    // The session is not persistent: no key resumes it.
    assert_eq!(browser.resume(text(&fresh, "session")).await.refused(401), "unauthenticated");
    // Such a session can also set a password.
    let password = http.put("/api/me/password", json!({"password": PASSWORD})).await;
    assert_eq!(password.status, 204, "{}", password.text);

    // The provider signs in a person without an account here.
    provider.knows("18", json!({"email": "eve@elsewhere.org", "email_verified": true})).await;
    let begun = browser.begin_afresh().await.ok();
    let back = browser.allow(text(&begun, "url"), "18").await;
    assert_eq!(browser.finish_afresh(&back).await.refused(403), "forbidden");
}

#[tokio::test]
async fn a_server_that_nobody_could_sign_in_to_safely_does_not_start() {
    let refused = async |issuer: &str, public: &str, allow: &str, client: &str| {
        let folder = tempfile::tempdir().unwrap();
        let mut config = ServerConfig::in_folder(folder.path());
        config.oidc = Some(OidcSettings { client_id: client.to_owned(), ..settings(issuer, &[allow]) });
        config.public_url = Some(public.to_owned());
        match Server::start(config).await {
            Ok(_) => panic!("it starts: {issuer} {public} {allow}"),
            Err(error) => error.to_string(),
        }
    };
    let (issuer, public) = ("https://id.example.org", "https://notes.example.org");
    for (issuer, public, allow, client, named) in [
        ("http://id.example.org", public, "*", "c", "--oidc-issuer"),
        ("id.example.org", public, "*", "c", "--oidc-issuer"),
        ("https://id.example.org/?a=b", public, "*", "c", "--oidc-issuer"),
        (issuer, "http://notes.example.org", "*", "c", "--public-url"),
        (issuer, "http://0.0.0.0:8787", "*", "c", "--public-url"),
        (issuer, public, "@example.org", "c", "--oidc-allow"),
        (issuer, public, "*.example.org", "c", "--oidc-allow"),
        (issuer, public, "", "c", "--oidc-allow"),
        (issuer, public, "*", " ", "--oidc-client-id"),
    ] {
        let error = refused(issuer, public, allow, client).await;
        assert!(error.contains(named), "{error}");
    }
}
