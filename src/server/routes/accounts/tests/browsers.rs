//! Sessions that are bound to a browser's key.

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair};

use super::*;

struct Browser(EcdsaKeyPair);

impl Browser {
    fn new() -> Self {
        let (random, kind) = (SystemRandom::new(), &ECDSA_P256_SHA256_FIXED_SIGNING);
        let pkcs8 = EcdsaKeyPair::generate_pkcs8(kind, &random).unwrap();
        Self(EcdsaKeyPair::from_pkcs8(kind, pkcs8.as_ref(), &random).unwrap())
    }

    fn key(&self) -> String {
        BASE64_URL_SAFE_NO_PAD.encode(self.0.public_key())
    }

    /// Resumes the session, as a page does when it opens.
    async fn resume(&self, server: &Server, session: &str) -> Answer {
        let asked = json!({"session": session});
        let challenge = server.call(Method::POST, "/api/session/challenge", None, asked).await.made().text("challenge");
        let text = format!("notarium-session\n{session}\n{challenge}");
        let signature = BASE64_URL_SAFE_NO_PAD.encode(self.0.sign(&SystemRandom::new(), text.as_bytes()).unwrap());
        let proof = json!({"session": session, "key": self.key(), "challenge": challenge, "signature": signature});
        server.call(Method::POST, "/api/session/resume", None, proof).await
    }

    /// Signs in, as a page does that was opened by such a link.
    async fn open(&self, server: &Server, link: &str) -> Answer {
        server.sign_in(json!({"token": link, "key": self.key(), "label": "browser"})).await
    }

    async fn sign_in(&self, server: &Server) -> Answer {
        server.sign_in(json!({"login": "ann", "password": PASSWORD, "key": self.key()})).await.made()
    }
}

#[tokio::test]
async fn a_page_that_opens_later_proves_the_key_and_all_end_together() {
    let store = crate::server::scratch::accounts().await;
    let server = Server::with_store(store.clone()).await;
    server.owner().await;
    let browser = Browser::new();
    let signed_in = browser.sign_in(&server).await;
    let (first, session) = (signed_in.text("token"), signed_in.text("session"));
    assert_eq!(server.get("/api/me", &first).await.made().text("token_id"), session);

    let second = browser.resume(&server, &session).await.made();
    assert_eq!((second.text("session"), &second.body["expires_at"]), (session.clone(), &signed_in.body["expires_at"]));
    let second = second.text("token");
    assert_ne!(second, first);
    for page in [&first, &second] {
        server.get("/api/me", page).await.made();
    }
    Browser::new().resume(&server, &session).await.refused(401, "unauthenticated");
    browser.resume(&server, "another").await.refused(401, "unauthenticated");

    // After a restart the server knows only the key.
    let server = Server::with_store(store).await;
    server.get("/api/me", &second).await.refused(401, "unauthenticated");
    let third = browser.resume(&server, &session).await.made().text("token");
    let fourth = browser.resume(&server, &session).await.made().text("token");
    server.delete("/api/session", &third).await.made();
    for page in [&third, &fourth] {
        assert_eq!(server.get("/api/me", page).await.status, 401);
    }
    browser.resume(&server, &session).await.refused(401, "token_revoked");
}

#[tokio::test]
async fn a_browser_that_was_opened_with_a_session_gets_one_of_its_own() {
    let server = Server::new().await;
    let owner = server.owner().await;
    let browser = Browser::new();
    let bind = json!({"key": browser.key(), "label": "browser"});
    let bound = server.post("/api/session/browser", &owner, bind.clone()).await.made();
    let me = server.get("/api/me", &bound.text("token")).await.made();
    let of_owner = server.get("/api/me", &owner).await.made();
    assert_eq!((&me.body["scopes"], &me.body["expires_at"]), (&of_owner.body["scopes"], &of_owner.body["expires_at"]));
    let page = browser.resume(&server, &bound.text("session")).await.made().text("token");
    server.delete("/api/session", &page).await.made();
    server.get("/api/me", &owner).await.made();

    let program = server.post("/api/tokens", &owner, json!({"scopes": ["read"]})).await.made().text("token");
    server.post("/api/session/browser", &program, bind.clone()).await.refused(403, "forbidden");
    let fresh = server.sign_in(json!({"login": "ann", "password": PASSWORD, "fresh": true})).await.made().text("token");
    server.post("/api/session/browser", &fresh, bind.clone()).await.refused(403, "forbidden");
    // The new session would last for minutes, and so count as a fresh one.
    server.advance(30 * DAY - 60_000);
    server.post("/api/session/browser", &owner, bind).await.refused(403, "forbidden");
}

async fn link_of(server: &Server, token: &str) -> String {
    server.post("/api/session/link", token, Value::Null).await.made().text("token")
}

#[tokio::test]
async fn a_link_opens_one_browser_once_and_the_newest_alone() {
    let server = Server::new().await;
    let owner = server.owner().await;
    let (first, second) = (Browser::new(), Browser::new());
    let link = link_of(&server, &owner).await;
    // A link is not a bearer token, and sets no password.
    server.get("/api/me", &link).await.refused(401, "one_time_token");
    let password = json!({"token": link, "password": PASSWORD});
    server.sign_in(password).await.refused(400, "invalid_value");

    let opened = first.open(&server, &link).await.made();
    let me = server.get("/api/me", &opened.text("token")).await.made();
    let of_owner = server.get("/api/me", &owner).await.made();
    assert_ne!(me.body["token_id"], of_owner.body["token_id"]);
    assert_eq!((&me.body["scopes"], &me.body["expires_at"]), (&of_owner.body["scopes"], &of_owner.body["expires_at"]));
    first.resume(&server, &opened.text("session")).await.made();
    let again = second.open(&server, &link).await;
    again.refused(401, "link_ended");
    assert!(again.text("detail").contains("opened before") && again.text("detail").contains("`notarium link`"));

    let (older, newer) = (link_of(&server, &owner).await, link_of(&server, &owner).await);
    let replaced = second.open(&server, &older).await;
    replaced.refused(401, "link_ended");
    assert!(replaced.text("detail").contains("a newer one was made"), "{}", replaced.body);
    // A refusal for another reason does not use up the link.
    server.sign_in(json!({"token": newer, "key": "no key"})).await.refused(400, "invalid_value");
    second.open(&server, &newer).await.made();
}

#[tokio::test]
async fn a_link_ends_with_its_hour_or_its_session_and_outlives_a_restart() {
    let store = crate::server::scratch::accounts().await;
    let server = Server::with_store(store.clone()).await;
    let owner = server.owner().await;
    let late = link_of(&server, &owner).await;
    server.advance(60 * 60 * 1000);
    let answer = Browser::new().open(&server, &late).await;
    answer.refused(401, "link_ended");
    assert!(answer.text("detail").contains("older than an hour"), "{}", answer.body);

    let of_signed_out = link_of(&server, &owner).await;
    server.delete("/api/session", &owner).await.made();
    Browser::new().open(&server, &of_signed_out).await.refused(401, "token_revoked");

    let signed_in = server.sign_in(json!({"login": "ann", "password": PASSWORD})).await.made().text("token");
    let before = link_of(&server, &signed_in).await;
    let started_again = Server::with_store(store).await;
    Browser::new().open(&started_again, &before).await.made();
    Browser::new().open(&started_again, &before).await.refused(401, "link_ended");
}

#[tokio::test]
async fn a_link_is_a_kept_session_s_and_allows_no_more() {
    let server = Server::new().await;
    let owner = server.owner().await;
    let program = server.post("/api/tokens", &owner, json!({"scopes": ["read"]})).await.made().text("token");
    server.post("/api/session/link", &program, Value::Null).await.refused(403, "forbidden");
    let fresh = server.sign_in(json!({"login": "ann", "password": PASSWORD, "fresh": true})).await.made().text("token");
    server.post("/api/session/link", &fresh, Value::Null).await.refused(403, "forbidden");

    // A session that others could read leads to none that confirms, now or later.
    server.accounts.set_asks_again(true);
    let weak = server.sign_in(json!({"login": "ann", "password": PASSWORD})).await.made().text("token");
    server.accounts.set_asks_again(false);
    let opened = Browser::new().open(&server, &link_of(&server, &weak).await).await.made();
    let me = server.get("/api/me", &opened.text("token")).await.made();
    assert_eq!(me.body["scopes"], json!(["read", "edit", "run"]));
    server.accounts.set_asks_again(true);
    let strong = link_of(&server, &owner).await;
    server.accounts.set_asks_again(false);
    let opened = Browser::new().open(&server, &strong).await.made();
    assert!(server.get("/api/me", &opened.text("token")).await.made().body["scopes"].as_array().unwrap().len() > 3);
}

#[tokio::test]
async fn a_session_of_a_browser_expires() {
    let server = Server::new().await;
    server.owner().await;
    let browser = Browser::new();
    let session = browser.sign_in(&server).await.text("session");
    server.advance(30 * DAY);
    browser.resume(&server, &session).await.refused(401, "token_expired");
}

#[tokio::test]
async fn a_key_is_a_point_and_no_fresh_session_has_one() {
    let server = Server::new().await;
    server.owner().await;
    let with = |key: &str, fresh: bool| json!({"login": "ann", "password": PASSWORD, "key": key, "fresh": fresh});
    server.sign_in(with("no key", false)).await.refused(400, "invalid_value");
    server.sign_in(with(&Browser::new().key(), true)).await.refused(400, "invalid_value");
    // A session with its own secret has no key to prove.
    let session = server.sign_in(json!({"login": "ann", "password": PASSWORD})).await.made().text("session");
    Browser::new().resume(&server, &session).await.refused(401, "unauthenticated");
}
