//! Sign-in, and people.

use super::*;

// --- signing in ---

fn as_owner(token: &str) -> Value {
    json!({"token": token, "name": "Ann", "login": "ann", "password": PASSWORD})
}

/// A session ends, so the first sign-in has to set a login and a password for the next.
#[tokio::test]
async fn the_first_sign_in_makes_login_and_password_and_says_so_before() {
    let server = Server::new().await;
    let printed = server.accounts.first_start().await.unwrap().unwrap().text.reveal();
    let ask =
        async |token: &str| server.call(Method::POST, "/api/session/one-time", None, json!({"token": token})).await;
    let asked = ask(&printed).await.made().body;
    assert_eq!(
        asked,
        json!({"kind": "owner", "name": "Owner", "login": null, "needs_login": true, "needs_password": true})
    );
    server.sign_in(json!({"token": printed})).await.refused(400, "invalid_value");
    server.sign_in(json!({"token": printed, "name": "Ann", "login": "ann"})).await.refused(400, "invalid_value");
    server.sign_in(json!({"token": printed, "password": PASSWORD})).await.refused(400, "invalid_value");
    let owner = server.sign_in(as_owner(&printed)).await.made().text("token");
    ask(&printed).await.refused(401, "token_revoked");
    server.delete("/api/session", &owner).await.made();
    let owner = server.sign_in(json!({"login": "ann", "password": PASSWORD})).await.made().text("token");

    let made = server.post("/api/users", &owner, json!({"name": "Bob", "login": "bob"})).await.made();
    let asked = ask(made.body["invitation"]["token"].as_str().unwrap()).await.made().body;
    assert_eq!(
        asked,
        json!({"kind": "reset", "name": "Bob", "login": "bob", "needs_login": false, "needs_password": true})
    );
    ask(&owner).await.refused(401, "unauthenticated");
}

#[tokio::test]
async fn the_owner_token_signs_in_once() {
    let server = Server::new().await;
    let printed = server.accounts.first_start().await.unwrap().unwrap().text.reveal();
    assert!(printed.starts_with("nt_owner_"), "{printed}");
    server.get("/api/me", &printed).await.refused(401, "one_time_token");
    let body = as_owner(&printed);
    let session = server.sign_in(body.clone()).await.made();
    assert_eq!(session.body["user"]["is_admin"], true);
    server.sign_in(body).await.refused(401, "token_revoked");
    let me = server.get("/api/me", &session.text("token")).await.made();
    assert_eq!((me.text("name"), me.text("kind")), ("Ann".to_owned(), "session".to_owned()));
    let scopes = ["read", "edit", "run", "confirm", "manage", "admin"];
    assert_eq!(me.body["scopes"], json!(scopes));
    assert!(server.accounts.first_start().await.unwrap().is_none(), "claimed: nothing is printed again");
}

#[tokio::test]
async fn an_owner_who_never_came_gets_a_new_token_at_the_next_start() {
    let server = Server::new().await;
    let first = server.accounts.first_start().await.unwrap().unwrap().text.reveal();
    let second = server.accounts.first_start().await.unwrap().unwrap().text.reveal();
    server.sign_in(as_owner(&first)).await.refused(401, "token_revoked");
    server.advance(2 * DAY);
    server.sign_in(as_owner(&second)).await.refused(401, "token_expired");
    let third = crate::auth::issue_owner_token(server.accounts.store(), START + 2 * DAY).await.unwrap();
    server.sign_in(as_owner(&third.text.reveal())).await.made();
}

#[tokio::test]
async fn two_who_exchange_the_owner_token_at_once_are_one() {
    let server = Server::new().await;
    let printed = server.accounts.first_start().await.unwrap().unwrap().text.reveal();
    let body = as_owner(&printed);
    let (one, other) = tokio::join!(server.sign_in(body.clone()), server.sign_in(body));
    let statuses: BTreeSet<u16> = [one.status.as_u16(), other.status.as_u16()].into();
    assert_eq!(statuses, [201, 401].into());
}

#[tokio::test]
async fn a_password_signs_in_and_a_wrong_one_does_not() {
    let server = Server::new().await;
    server.owner().await;
    server.sign_in(json!({"login": " ANN", "password": PASSWORD})).await.made();
    server.sign_in(json!({"login": "ann", "password": "wrong password"})).await.refused(401, "wrong_password");
    server.sign_in(json!({"login": "nobody", "password": PASSWORD})).await.refused(401, "wrong_password");
    server.sign_in(json!({"login": "ann"})).await.refused(400, "invalid_value");
    server.sign_in(json!({"login": "ann", "password": PASSWORD, "admin": true})).await.refused(400, "malformed");
}

#[tokio::test]
async fn attempts_are_throttled_per_login() {
    let server = Server::new().await;
    server.owner().await;
    for _ in 0..10 {
        server.sign_in(json!({"login": "ann", "password": "wrong password"})).await.refused(401, "wrong_password");
    }
    let answer = server.sign_in(json!({"login": "Ann", "password": PASSWORD})).await;
    answer.refused(429, "too_many_attempts");
    let seconds: u64 = answer.headers[header::RETRY_AFTER].to_str().unwrap().parse().unwrap();
    assert!((1..=6).contains(&seconds), "{seconds}");
    assert_eq!(answer.body["retry_after"], seconds);
    server.sign_in(json!({"login": "bob", "password": PASSWORD})).await.refused(401, "wrong_password");
}

#[tokio::test]
async fn attempts_are_throttled_per_address() {
    let server = Server::new().await;
    let attempt = async |address: &str, number: usize| {
        let address: std::net::SocketAddr = address.parse().unwrap();
        let body = json!({"login": format!("user{number}"), "password": "wrong password"}).to_string();
        let request = Request::post("/api/session").header(header::CONTENT_TYPE, "application/json");
        server.send(request.extension(ConnectInfo(address)).body(Body::from(body)).unwrap()).await
    };
    for number in 0..40 {
        attempt("[2001:db8::1]:1000", number).await.refused(401, "wrong_password");
    }
    attempt("[2001:db8::ffff]:9", 41).await.refused(429, "too_many_attempts");
    attempt("[2001:db9::1]:9", 42).await.refused(401, "wrong_password");
}

#[tokio::test]
async fn strangers_do_not_lock_a_person_out() {
    let server = Server::new().await;
    server.owner().await;
    let attempt = async |network: usize, password: &str| {
        let address: std::net::SocketAddr = format!("198.51.{network}.1:1000").parse().unwrap();
        let body = json!({"login": "ann", "password": password}).to_string();
        let request = Request::post("/api/session").header(header::CONTENT_TYPE, "application/json");
        server.send(request.extension(ConnectInfo(address)).body(Body::from(body)).unwrap()).await
    };
    for number in 0..20 {
        attempt(number % 2, "wrong password").await.refused(401, "wrong_password");
    }
    attempt(0, "wrong password").await.refused(429, "too_many_attempts");
    // The attempt is delayed, and succeeds.
    attempt(2, PASSWORD).await.made();
}

#[tokio::test]
async fn a_session_expires_and_can_be_left() {
    let server = Server::new().await;
    let owner = server.owner().await;
    let session = server.sign_in(json!({"login": "ann", "password": PASSWORD})).await.made();
    assert_eq!(session.body["expires_at"], START + 30 * DAY);
    server.delete("/api/session", &owner).await.made();
    server.get("/api/me", &owner).await.refused(401, "token_revoked");
    let token = session.text("token");
    server.get("/api/me", &token).await.made();
    server.advance(30 * DAY);
    server.get("/api/me", &token).await.refused(401, "token_expired");
}

#[tokio::test]
async fn a_password_change_needs_the_current_one_and_ends_other_sessions() {
    let server = Server::new().await;
    let owner = server.owner().await;
    let other = server.sign_in(json!({"login": "ann", "password": PASSWORD})).await.made().text("token");
    let change = |current: &str| json!({"current": current, "password": "a new password"});
    server.put("/api/me/password", &owner, change("wrong")).await.refused(401, "wrong_password");
    let short = json!({"current": PASSWORD, "password": "short"});
    server.put("/api/me/password", &owner, short).await.refused(400, "invalid_value");
    server.put("/api/me/password", &owner, change(PASSWORD)).await.made();
    server.get("/api/me", &owner).await.made();
    server.get("/api/me", &other).await.refused(401, "token_revoked");
    server.sign_in(json!({"login": "ann", "password": PASSWORD})).await.refused(401, "wrong_password");
    server.sign_in(json!({"login": "ann", "password": "a new password"})).await.made();
}

// --- people ---

#[tokio::test]
async fn a_reset_is_used_once_and_ends_the_sessions() {
    let server = Server::new().await;
    let owner = server.owner().await;
    let (bob, bob_id) = server.person(&owner, "bob").await;
    let path = format!("/api/users/{bob_id}/reset");
    let void = server.post(&path, &owner, Value::Null).await.made().text("token");
    let reset = server.post(&path, &owner, Value::Null).await.made().text("token");
    let with = |token: &str| json!({"token": token, "password": "another password"});
    server.sign_in(with(&void)).await.refused(401, "token_revoked");
    server.sign_in(json!({"token": reset})).await.refused(400, "invalid_value");
    server.sign_in(with(&reset)).await.made();
    server.sign_in(with(&reset)).await.refused(401, "token_revoked");
    server.get("/api/me", &bob).await.refused(401, "token_revoked");
    server.sign_in(json!({"login": "bob", "password": PASSWORD})).await.refused(401, "wrong_password");
    server.sign_in(json!({"login": "bob", "password": "another password"})).await.made();
}

#[tokio::test]
async fn deactivation_ends_everything_at_once_and_the_last_admin_stays() {
    let server = Server::new().await;
    let owner = server.owner().await;
    let owner_id = server.get("/api/me", &owner).await.body["user"]["id"].as_str().unwrap().to_owned();
    let (bob, bob_id) = server.person(&owner, "bob").await;
    server.notebooks.give("n1", Subject::User { id: bob_id.clone() }, Role::Owner);
    let covers = json!({"name": "GPU", "covers": {"notebooks": ["n1"]}});
    let agent = server.post("/api/agents", &bob, covers).await.made().text("token");
    let link = server.post("/api/notebooks/n1/share-links", &bob, json!({"role": "viewer"})).await.made().text("token");
    let who = server.accounts.authenticate(&agent).await.unwrap();
    let mut followed = server.accounts.follow(&who).await.unwrap();
    server.post(&format!("/api/users/{owner_id}/deactivate"), &owner, Value::Null).await.refused(409, "last_admin");
    let demote = json!({"is_admin": false});
    server.put(&format!("/api/users/{owner_id}/admin"), &owner, demote).await.refused(409, "last_admin");
    server.post(&format!("/api/users/{bob_id}/deactivate"), &owner, Value::Null).await.made();
    assert_eq!(followed.changed().await.unwrap_err(), AuthError::Deactivated);
    for token in [&bob, &agent, &link] {
        server.get("/api/me", token).await.refused(401, "account_deactivated");
    }
    server.sign_in(json!({"login": "bob", "password": PASSWORD})).await.refused(401, "account_deactivated");
    server.post(&format!("/api/users/{bob_id}/reactivate"), &owner, Value::Null).await.made();
    server.get("/api/me", &bob).await.refused(401, "token_revoked");
    server.sign_in(json!({"login": "bob", "password": PASSWORD})).await.made();
}

#[tokio::test]
async fn no_administrator_any_more_is_none_at_once() {
    let server = Server::new().await;
    let owner = server.owner().await;
    let (bob, bob_id) = server.person(&owner, "bob").await;
    server.get("/api/users", &bob).await.refused(403, "forbidden");
    let path = format!("/api/users/{bob_id}/admin");
    server.put(&path, &owner, json!({"is_admin": true})).await.made();
    assert_eq!(server.get("/api/users", &bob).await.made().body.as_array().unwrap().len(), 2);
    server.put(&path, &owner, json!({"is_admin": false})).await.made();
    server.get("/api/users", &bob).await.refused(403, "forbidden");
}

#[tokio::test]
async fn names_are_told_and_what_was_done_is_on_record() {
    let server = Server::new().await;
    let owner = server.owner().await;
    let (bob, bob_id) = server.person(&owner, "bob").await;
    assert_eq!(server.get("/api/people?login=BOB", &owner).await.made().body, json!({"id": bob_id, "name": "bob"}));
    server.get("/api/people/nobody", &bob).await.refused(404, "not_found");
    server.get("/api/people?login=x&token=nt_y", &bob).await.refused(400, "invalid_value");
    let taken = json!({"name": "Bob", "login": "BOB "});
    server.post("/api/users", &owner, taken).await.refused(409, "taken");
    server.put("/api/me", &bob, json!({"name": "Robert", "login": "rob"})).await.made();
    assert_eq!(server.get("/api/me", &bob).await.text("name"), "Robert", "the session knows the new name");
    let audit = server.get("/api/audit", &owner).await.made();
    let newest = &audit.body[0];
    assert_eq!((&newest["action"], &newest["actor"]), (&json!("user.profile"), &json!(format!("user:{bob_id}"))));
    let actions: Vec<&str> =
        audit.body.as_array().unwrap().iter().map(|entry| entry["action"].as_str().unwrap()).collect();
    for action in ["user.create", "user.reset", "user.owner_token", "session.exchange"] {
        assert!(actions.contains(&action), "{action}: {actions:?}");
    }
}
