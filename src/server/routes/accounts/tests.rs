//! Accounts as a client meets them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::ConnectInfo;
use http::{HeaderMap, Method, Request, StatusCode, header};
use notarium_core::{Actor, Millis, NotebookId, Operation, Rejection, RejectionCode, Role, Scope, Subject, UserId};
use notarium_store::Sqlite;
use notarium_store::accounts::{AccountStore, MemoryAccountStore, SqliteAccountStore};
use serde_json::{Value, json};
use tower::ServiceExt;

use crate::auth::{Accounts, AuthError, AuthOptions, Authenticated, PasswordCost};
use crate::clock::Clock;
use crate::guard::{Gate, Guard, GuardedRouter, NotebookRights, RouteGuard};

const START: Millis = 1_700_000_000_000;
const DAY: Millis = 24 * 60 * 60 * 1000;
const PASSWORD: &str = "correct horse battery";

/// Access lists as the rooms keep them.
#[derive(Default)]
struct Notebooks {
    access: Mutex<BTreeMap<(NotebookId, Subject), Role>>,
    refuses_grants: std::sync::atomic::AtomicBool,
}

impl Notebooks {
    fn give(&self, notebook: &str, subject: Subject, role: Role) {
        self.access.lock().unwrap().insert((NotebookId::new(notebook).unwrap(), subject), role);
    }

    fn role(&self, notebook: &str, subject: &Subject) -> Option<Role> {
        self.access.lock().unwrap().get(&(NotebookId::new(notebook).unwrap(), subject.clone())).copied()
    }
}

fn subject_of(actor: &Actor) -> Option<Subject> {
    match actor {
        Actor::User { id } => Some(Subject::User { id: id.clone() }),
        Actor::Guest { share_link } => Some(Subject::ShareLink { id: share_link.clone() }),
        _ => None,
    }
}

#[async_trait]
impl NotebookRights for Notebooks {
    async fn require(&self, who: &Authenticated, notebook: &NotebookId, operation: Operation) -> Result<(), Rejection> {
        let authority = who.authority_for(notebook);
        let own = subject_of(&who.actor).and_then(|subject| self.role(notebook.as_str(), &subject));
        let roles: Vec<Role> = own.into_iter().chain(authority.ambient_role).collect();
        if roles.is_empty() || !who.may_see(notebook) {
            return Err(Rejection::new(RejectionCode::UnknownNotebook, "unknown"));
        }
        if roles.iter().any(|role| role.may(operation)) && authority.scopes.contains(&operation.scope()) {
            return Ok(());
        }
        Err(Rejection::new(RejectionCode::Forbidden, "forbidden"))
    }

    async fn grant(
        &self,
        _: &Authenticated,
        notebook: &NotebookId,
        subject: Subject,
        role: Role,
        _: Option<Millis>,
    ) -> Result<(), Rejection> {
        if self.refuses_grants.load(Ordering::SeqCst) || role == Role::Owner {
            return Err(Rejection::new(RejectionCode::InvalidValue, "refused"));
        }
        self.give(notebook.as_str(), subject, role);
        Ok(())
    }

    async fn revoke(&self, _: &Authenticated, notebook: &NotebookId, subject: Subject) -> Result<(), Rejection> {
        self.access.lock().unwrap().remove(&(notebook.clone(), subject));
        Ok(())
    }
}

/// A server of accounts whose clock is set by hand.
struct Server {
    app: Router,
    guards: Vec<RouteGuard>,
    accounts: Accounts,
    notebooks: Arc<Notebooks>,
    clock: Arc<AtomicU64>,
}

struct Answer {
    status: StatusCode,
    headers: HeaderMap,
    body: Value,
}

impl Answer {
    fn code(&self) -> &str {
        self.body["code"].as_str().unwrap_or_default()
    }

    fn text(&self, name: &str) -> String {
        self.body[name].as_str().unwrap_or_else(|| panic!("no {name} in {}", self.body)).to_owned()
    }

    #[track_caller]
    fn refused(&self, status: u16, code: &str) {
        assert_eq!((self.status.as_u16(), self.code()), (status, code), "{}", self.body);
        assert_eq!(self.headers[header::CONTENT_TYPE], "application/problem+json");
        assert_eq!(self.body["status"], status);
        assert!(self.body["detail"].is_string() && self.body["title"].is_string() && self.body["type"].is_string());
    }

    #[track_caller]
    fn made(self) -> Self {
        assert!(self.status.is_success(), "{} {}", self.status, self.body);
        self
    }
}

impl Server {
    async fn new() -> Self {
        Self::with_store(Arc::new(MemoryAccountStore::new())).await
    }

    async fn with_store(store: Arc<dyn AccountStore>) -> Self {
        let clock = Arc::new(AtomicU64::new(START));
        let options = AuthOptions { password_cost: PasswordCost { memory_kib: 8, passes: 1 } };
        let accounts = Accounts::open_with(store, Clock::manual(clock.clone()), &options).await.unwrap();
        let notebooks = Arc::new(Notebooks::default());
        let gate = Gate { accounts: accounts.clone(), rights: notebooks.clone() };
        let router: GuardedRouter<()> = super::routes(&gate, "https://notes.example.org/");
        let parts = router.into_parts();
        Self { app: parts.router, guards: parts.guards, accounts, notebooks, clock }
    }

    async fn call(&self, method: Method, path: &str, token: Option<&str>, body: Value) -> Answer {
        let mut request = Request::builder().method(method).uri(path);
        if let Some(token) = token {
            request = request.header(header::AUTHORIZATION, format!("Bearer {token}"));
        }
        let body = match body {
            Value::Null => Body::empty(),
            body => {
                request = request.header(header::CONTENT_TYPE, "application/json");
                Body::from(body.to_string())
            }
        };
        self.send(request.body(body).unwrap()).await
    }

    async fn send(&self, request: Request<Body>) -> Answer {
        let response = self.app.clone().oneshot(request).await.unwrap();
        let (parts, body) = response.into_parts();
        let bytes = to_bytes(body, 1 << 20).await.unwrap();
        let body = if bytes.is_empty() { Value::Null } else { serde_json::from_slice(&bytes).unwrap() };
        Answer { status: parts.status, headers: parts.headers, body }
    }

    async fn get(&self, path: &str, token: &str) -> Answer {
        self.call(Method::GET, path, Some(token), Value::Null).await
    }

    async fn post(&self, path: &str, token: &str, body: Value) -> Answer {
        self.call(Method::POST, path, Some(token), body).await
    }

    async fn put(&self, path: &str, token: &str, body: Value) -> Answer {
        self.call(Method::PUT, path, Some(token), body).await
    }

    async fn delete(&self, path: &str, token: &str) -> Answer {
        self.call(Method::DELETE, path, Some(token), Value::Null).await
    }

    async fn sign_in(&self, body: Value) -> Answer {
        self.call(Method::POST, "/api/session", None, body).await
    }

    /// The owner's session.
    async fn owner(&self) -> String {
        let token = self.accounts.first_start().await.unwrap().unwrap().text.reveal();
        let profile = json!({"token": token, "name": "Ann", "login": "Ann", "password": PASSWORD});
        self.sign_in(profile).await.made().text("token")
    }

    /// Somebody else's session, and who that is.
    async fn person(&self, owner: &str, login: &str) -> (String, UserId) {
        let created = self.post("/api/users", owner, json!({"name": login, "login": login})).await.made();
        let invitation = created.body["invitation"]["token"].clone();
        let session = self.sign_in(json!({"token": invitation, "password": PASSWORD})).await.made();
        (session.text("token"), UserId::new(session.body["user"]["id"].as_str().unwrap()).unwrap())
    }

    fn advance(&self, millis: Millis) {
        self.clock.fetch_add(millis, Ordering::SeqCst);
    }
}

// --- every route ---

fn path_of(route: &RouteGuard) -> String {
    let segments = route.path.split('/').map(|segment| if segment.starts_with('{') { "some-id" } else { segment });
    segments.collect::<Vec<_>>().join("/")
}

#[tokio::test]
async fn every_route_but_signing_in_refuses_who_has_no_token() {
    let server = Server::new().await;
    let public: Vec<&str> =
        server.guards.iter().filter(|route| route.guard == Guard::Public).map(|route| route.path.as_str()).collect();
    assert_eq!(public, ["/api/session"]);
    assert!(server.guards.len() > 25, "{}", server.guards.len());
    for route in server.guards.iter().filter(|route| route.guard != Guard::Public) {
        let answer = server.call(route.method.clone(), &path_of(route), None, json!({})).await;
        assert_eq!((answer.status.as_u16(), answer.code()), (401, "unauthenticated"), "{route:?}");
        assert_eq!(answer.headers[header::WWW_AUTHENTICATE], "Bearer");
        let answer = server.call(route.method.clone(), &path_of(route), Some("nt_api_x_y"), json!({})).await;
        assert_eq!(answer.status, 401, "{route:?}");
    }
}

#[tokio::test]
async fn every_route_refuses_a_token_that_is_too_weak() {
    let server = Server::new().await;
    let owner = server.owner().await;
    let agent = server.post("/api/agents", &owner, json!({"name": "GPU"})).await.made().text("token");
    let weak = server.post("/api/tokens", &owner, json!({"scopes": ["read"]})).await.made().text("token");
    let (plain, _) = server.person(&owner, "bob").await;
    for route in &server.guards {
        let (token, status) = match route.guard {
            Guard::Public | Guard::Socket | Guard::Authenticated | Guard::Scope(_) => continue,
            Guard::User(Scope::Read) => (&agent, 403),
            Guard::User(_) => (&weak, 403),
            // A session can confirm: no assistant holds one.
            Guard::Assistant => (&owner, 403),
            Guard::Admin => (&plain, 403),
            Guard::Notebook(_) => (&owner, 404),
        };
        let answer = server.call(route.method.clone(), &path_of(route), Some(token), json!({})).await;
        assert_eq!(answer.status.as_u16(), status, "{route:?} {}", answer.body);
        if matches!(route.guard, Guard::User(_) | Guard::Admin) {
            let answer = server.call(route.method.clone(), &path_of(route), Some(&agent), json!({})).await;
            assert_eq!(answer.status, 403, "{route:?}");
        }
    }
}

#[tokio::test]
async fn the_openapi_document_says_where_a_token_is_needed() {
    let server = Server::new().await;
    let gate = Gate { accounts: server.accounts.clone(), rights: server.notebooks.clone() };
    let router: GuardedRouter<()> = super::routes(&gate, "");
    let document = router.into_parts().openapi;
    assert_eq!(document["paths"]["/api/me"]["get"]["security"], json!([{"bearer": []}]));
    assert_eq!(document["paths"]["/api/session"]["post"]["security"], json!([]));
    assert_eq!(document["components"]["securitySchemes"]["bearer"]["scheme"], "bearer");
}

// --- signing in ---

#[tokio::test]
async fn the_owner_token_signs_in_once() {
    let server = Server::new().await;
    let printed = server.accounts.first_start().await.unwrap().unwrap().text.reveal();
    assert!(printed.starts_with("nt_owner_"), "{printed}");
    server.get("/api/me", &printed).await.refused(401, "one_time_token");
    let body = json!({"token": printed, "name": "Ann", "login": "ann", "password": PASSWORD});
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
    server.sign_in(json!({"token": first})).await.refused(401, "token_revoked");
    server.advance(2 * DAY);
    server.sign_in(json!({"token": second})).await.refused(401, "token_expired");
    let third = crate::auth::issue_owner_token(server.accounts.store(), START + 2 * DAY).await.unwrap();
    server.sign_in(json!({"token": third.text.reveal()})).await.made();
}

#[tokio::test]
async fn two_who_exchange_the_owner_token_at_once_are_one() {
    let server = Server::new().await;
    let printed = server.accounts.first_start().await.unwrap().unwrap().text.reveal();
    let body = json!({"token": printed});
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

// --- tokens ---

#[tokio::test]
async fn confirm_is_for_persons_who_ask_for_it() {
    let server = Server::new().await;
    let owner = server.owner().await;
    let create = async |scopes: Value| server.post("/api/tokens", &owner, json!({"scopes": scopes})).await;
    let plain = create(json!(["read", "edit", "run", "manage"])).await.made();
    assert_eq!(plain.body["scopes"], json!(["read", "edit", "run", "manage"]), "nothing comes unasked");
    let with_confirm = create(json!(["read", "confirm"])).await.made();
    let me = server.get("/api/me", &with_confirm.text("token")).await.made();
    assert_eq!(me.body["scopes"], json!(["read", "confirm"]));
    create(json!(["read", "agent"])).await.refused(400, "invalid_value");
    create(json!(["edit"])).await.refused(400, "invalid_value");
    create(json!(["read", "everything"])).await.refused(400, "malformed");
    let by_token = json!({"scopes": ["read"]});
    server.post("/api/tokens", &plain.text("token"), by_token).await.refused(403, "forbidden");
    let asking = json!({"name": "GPU", "scopes": ["read", "agent", "confirm"]});
    server.post("/api/agents", &owner, asking).await.refused(400, "malformed");
    let agent = server.post("/api/agents", &owner, json!({"name": "GPU"})).await.made();
    assert_eq!(agent.body["scopes"], json!(["read", "agent"]));
    let (bob, _) = server.person(&owner, "bob").await;
    let asking = json!({"scopes": ["read", "admin"]});
    server.post("/api/tokens", &bob, asking).await.refused(403, "forbidden");
}

#[tokio::test]
async fn a_token_is_listed_and_revoked_by_who_made_it() {
    let server = Server::new().await;
    let owner = server.owner().await;
    let (bob, _) = server.person(&owner, "bob").await;
    // The list is by time, and signing in made a token too.
    server.advance(1);
    let new = json!({"label": "script", "scopes": ["read"], "expires_at": START + DAY});
    let token = server.post("/api/tokens", &bob, new).await.made();
    let (text, id) = (token.text("token"), token.text("id"));
    let listed = server.get("/api/tokens", &bob).await.made().body;
    assert_eq!((&listed[0]["label"], listed[0].get("token")), (&json!("script"), None));
    let (carl, _) = server.person(&owner, "carl").await;
    server.delete(&format!("/api/tokens/{id}"), &carl).await.refused(404, "not_found");
    server.get("/api/me", &text).await.made();
    let mut followed = server.accounts.follow(&server.accounts.authenticate(&text).await.unwrap()).await.unwrap();
    server.delete(&format!("/api/tokens/{id}"), &bob).await.made();
    assert_eq!(followed.changed().await.unwrap_err(), AuthError::Revoked);
    server.get("/api/me", &text).await.refused(401, "token_revoked");
    let past = json!({"scopes": ["read"], "expires_at": START});
    server.post("/api/tokens", &bob, past).await.refused(400, "invalid_value");
}

#[tokio::test]
async fn a_connection_hears_that_its_token_expired() {
    let server = Server::new().await;
    let owner = server.owner().await;
    let new = json!({"scopes": ["read"], "expires_at": START + 5});
    let token = server.post("/api/tokens", &owner, new).await.made().text("token");
    let who = server.accounts.authenticate(&token).await.unwrap();
    let mut followed = server.accounts.follow(&who).await.unwrap();
    server.advance(5);
    assert_eq!(followed.changed().await.unwrap_err(), AuthError::Expired);
    assert_eq!(server.accounts.follow(&who).await.err(), Some(AuthError::Expired));
    server.get("/api/me", &token).await.refused(401, "token_expired");
}

#[tokio::test]
async fn a_token_bound_to_notebooks_sees_no_other() {
    let server = Server::new().await;
    let owner = server.owner().await;
    let owner_id = server.get("/api/me", &owner).await.body["user"]["id"].as_str().unwrap().to_owned();
    for notebook in ["n1", "n2"] {
        server.notebooks.give(notebook, Subject::User { id: UserId::new(&owner_id).unwrap() }, Role::Owner);
    }
    let new = json!({"scopes": ["read", "manage"], "covers": {"notebooks": ["n1"]}});
    let token = server.post("/api/tokens", &owner, new).await.made().text("token");
    server.get("/api/notebooks/n1/share-links", &token).await.made();
    server.get("/api/notebooks/n2/share-links", &token).await.refused(404, "unknown_notebook");
    let who = server.accounts.authenticate(&token).await.unwrap();
    let (inside, outside) = (NotebookId::new("n1").unwrap(), NotebookId::new("n2").unwrap());
    assert_eq!(who.authority_for(&inside).scopes, [Scope::Read, Scope::Manage].into());
    assert_eq!(who.authority_for(&outside), notarium_core::Authority::default());
    server.post("/api/workspaces", &token, json!({"name": "Lab"})).await.refused(403, "forbidden");
    let both = json!({"scopes": ["read"], "covers": {"notebooks": ["n1"], "workspace": "w"}});
    server.post("/api/tokens", &owner, both).await.refused(400, "invalid_value");
    let none = json!({"scopes": ["read"], "covers": {"notebooks": []}});
    server.post("/api/tokens", &owner, none).await.refused(400, "invalid_value");
}

#[tokio::test]
async fn an_agent_is_let_in_by_who_may_share() {
    let server = Server::new().await;
    let owner = server.owner().await;
    let (bob, bob_id) = server.person(&owner, "bob").await;
    let subject = Subject::User { id: bob_id };
    server.notebooks.give("own", subject.clone(), Role::Owner);
    server.notebooks.give("shared", subject, Role::Editor);
    let create = async |covers: Value| server.post("/api/agents", &bob, json!({"name": "GPU", "covers": covers})).await;
    create(json!({"notebooks": ["shared"]})).await.refused(403, "forbidden");
    create(json!({"notebooks": ["own", "secret"]})).await.refused(404, "unknown_notebook");
    create(json!({"workspace": "elsewhere"})).await.refused(404, "not_found");
    create(json!({})).await.refused(403, "forbidden");
    let agent = create(json!({"notebooks": ["own"]})).await.made();
    let who = server.accounts.authenticate(&agent.text("token")).await.unwrap();
    assert!(matches!(&who.actor, Actor::Agent { id } if id.as_str() == agent.text("agent")));
    assert_eq!(who.authority_for(&NotebookId::new("own").unwrap()), notarium_core::Authority::agent());
    assert_eq!(who.authority_for(&NotebookId::new("shared").unwrap()), notarium_core::Authority::default());
    assert_eq!(server.get("/api/agents", &bob).await.made().body.as_array().unwrap().len(), 1);
    assert_eq!(server.get("/api/agents", &owner).await.made().body.as_array().unwrap().len(), 1, "an administrator's");
    server.delete(&format!("/api/agents/{}", agent.text("id")), &bob).await.made();
    assert_eq!(server.accounts.authenticate(&agent.text("token")).await.unwrap_err(), AuthError::Revoked);
}

// --- workspaces ---

#[tokio::test]
async fn a_workspace_gives_its_members_their_role_until_they_leave() {
    let server = Server::new().await;
    let owner = server.owner().await;
    let owner_id = UserId::new(server.get("/api/me", &owner).await.body["user"]["id"].as_str().unwrap()).unwrap();
    let (bob, bob_id) = server.person(&owner, "bob").await;
    server.notebooks.give("n1", Subject::User { id: owner_id.clone() }, Role::Owner);
    let lab = server.post("/api/workspaces", &owner, json!({"name": "Lab"})).await.made().text("id");
    let mut followed = server.accounts.follow(&server.accounts.authenticate(&bob).await.unwrap()).await.unwrap();
    let member = format!("/api/workspaces/{lab}/members/{bob_id}");
    server.put(&member, &bob, json!({"role": "owner"})).await.refused(404, "not_found");
    server.put(&member, &owner, json!({"role": "agent"})).await.refused(400, "invalid_value");
    server.put(&member, &owner, json!({"role": "editor"})).await.made();
    let notebook = NotebookId::new("n1").unwrap();
    assert_eq!(followed.changed().await.unwrap().authority_for(&notebook).ambient_role, None);
    server.put("/api/notebooks/n1/workspace", &owner, json!({"workspace": lab})).await.made();
    assert_eq!(followed.changed().await.unwrap().authority_for(&notebook).ambient_role, Some(Role::Editor));
    server.put(&member, &bob, json!({"role": "owner"})).await.refused(403, "forbidden");
    let rename = json!({"name": "Mine"});
    server.put(&format!("/api/workspaces/{lab}"), &bob, rename).await.refused(403, "forbidden");
    let listed = server.get("/api/workspaces", &bob).await.made().body;
    assert_eq!((&listed[0]["name"], &listed[0]["role"]), (&json!("Lab"), &json!("editor")));
    assert_eq!(
        server.get(&format!("/api/workspaces/{lab}/members"), &bob).await.made().body.as_array().unwrap().len(),
        2
    );
    server.delete(&member, &bob).await.made();
    assert_eq!(followed.changed().await.unwrap().authority_for(&notebook).ambient_role, None);
    let last = format!("/api/workspaces/{lab}/members/{owner_id}");
    server.delete(&last, &owner).await.refused(409, "last_owner");
}

#[tokio::test]
async fn an_agent_of_a_workspace_follows_its_notebooks() {
    let server = Server::new().await;
    let owner = server.owner().await;
    let owner_id = UserId::new(server.get("/api/me", &owner).await.body["user"]["id"].as_str().unwrap()).unwrap();
    server.notebooks.give("n1", Subject::User { id: owner_id }, Role::Owner);
    let lab = server.post("/api/workspaces", &owner, json!({"name": "Lab"})).await.made().text("id");
    let new = json!({"name": "GPU", "covers": {"workspace": lab}});
    let agent = server.post("/api/agents", &owner, new).await.made().text("token");
    let who = server.accounts.authenticate(&agent).await.unwrap();
    let mut followed = server.accounts.follow(&who).await.unwrap();
    let notebook = NotebookId::new("n1").unwrap();
    assert!(!who.may_see(&notebook));
    server.put("/api/notebooks/n1/workspace", &owner, json!({"workspace": lab})).await.made();
    assert_eq!(followed.changed().await.unwrap().authority_for(&notebook), notarium_core::Authority::agent());
    server.put("/api/notebooks/n1/workspace", &owner, json!({"workspace": null})).await.made();
    assert!(!followed.changed().await.unwrap().may_see(&notebook));
}

// --- share links ---

#[tokio::test]
async fn a_share_link_opens_one_notebook_until_it_is_revoked() {
    let server = Server::new().await;
    let owner = server.owner().await;
    let owner_id = UserId::new(server.get("/api/me", &owner).await.body["user"]["id"].as_str().unwrap()).unwrap();
    server.notebooks.give("n1", Subject::User { id: owner_id }, Role::Owner);
    let new = json!({"role": "commenter", "label": "Reviewer", "expires_at": START + DAY});
    let link = server.post("/api/notebooks/n1/share-links", &owner, new).await.made();
    let (token, id) = (link.text("token"), link.text("id"));
    assert_eq!(link.text("url"), format!("https://notes.example.org/notebooks/n1#token={token}"));
    let who = server.accounts.authenticate(&token).await.unwrap();
    let subject = subject_of(&who.actor).unwrap();
    assert_eq!(server.notebooks.role("n1", &subject), Some(Role::Commenter), "granted in the notebook");
    assert_eq!((who.name.as_str(), who.scopes.contains(&Scope::Confirm)), ("Reviewer", false));
    assert!(who.may_see(&NotebookId::new("n1").unwrap()) && !who.may_see(&NotebookId::new("n2").unwrap()));
    server.get("/api/notebooks/n1/share-links", &token).await.refused(403, "forbidden");
    let listed = server.get("/api/notebooks/n1/share-links", &owner).await.made().body;
    assert_eq!((&listed[0]["id"], listed[0].get("token")), (&json!(id), None));
    let mut followed = server.accounts.follow(&who).await.unwrap();
    server.notebooks.give(
        "n2",
        subject_of(&server.accounts.authenticate(&owner).await.unwrap().actor).unwrap(),
        Role::Owner,
    );
    server.delete(&format!("/api/notebooks/n2/share-links/{id}"), &owner).await.refused(404, "not_found");
    server.delete(&format!("/api/notebooks/n1/share-links/{id}"), &owner).await.made();
    assert_eq!(followed.changed().await.unwrap_err(), AuthError::Revoked);
    assert_eq!(server.notebooks.role("n1", &subject), None);
    server.get("/api/me", &token).await.refused(401, "token_revoked");
}

#[tokio::test]
async fn a_share_link_expires_and_one_that_the_notebook_refuses_is_no_link() {
    let server = Server::new().await;
    let owner = server.owner().await;
    let owner_id = UserId::new(server.get("/api/me", &owner).await.body["user"]["id"].as_str().unwrap()).unwrap();
    server.notebooks.give("n1", Subject::User { id: owner_id }, Role::Owner);
    let path = "/api/notebooks/n1/share-links";
    let new = json!({"role": "viewer", "expires_at": START + DAY});
    let token = server.post(path, &owner, new).await.made().text("token");
    server.get("/api/me", &token).await.made();
    server.advance(DAY);
    server.get("/api/me", &token).await.refused(401, "token_expired");
    server.notebooks.refuses_grants.store(true, Ordering::SeqCst);
    server.post(path, &owner, json!({"role": "viewer"})).await.refused(400, "invalid_value");
    let listed = server.get(path, &owner).await.made().body;
    assert_eq!(listed.as_array().unwrap().len(), 1, "{listed}");
}

// --- at rest ---

fn files_in(folder: &std::path::Path) -> Vec<u8> {
    let files = std::fs::read_dir(folder).unwrap().map(|entry| std::fs::read(entry.unwrap().path()).unwrap());
    files.flatten().collect()
}

#[tokio::test]
async fn no_secret_is_in_the_data_folder() {
    let folder = tempfile::tempdir().unwrap();
    let database = Arc::new(Sqlite::open(folder.path()).await.unwrap());
    let server = Server::with_store(Arc::new(SqliteAccountStore::new(database))).await;
    let printed = server.accounts.first_start().await.unwrap().unwrap().text.reveal();
    let profile = json!({"token": printed, "name": "Ann", "login": "ann-the-owner", "password": PASSWORD});
    let owner = server.sign_in(profile).await.made().text("token");
    let owner_id = UserId::new(server.get("/api/me", &owner).await.body["user"]["id"].as_str().unwrap()).unwrap();
    server.notebooks.give("n1", Subject::User { id: owner_id }, Role::Owner);
    let api = server.post("/api/tokens", &owner, json!({"scopes": ["read"]})).await.made().text("token");
    let agent = server.post("/api/agents", &owner, json!({"name": "GPU"})).await.made().text("token");
    let link = server.post("/api/notebooks/n1/share-links", &owner, json!({"role": "viewer"})).await.made();
    let invited = server.post("/api/users", &owner, json!({"name": "Bob", "login": "bob"})).await.made();
    let reset = invited.body["invitation"]["token"].as_str().unwrap().to_owned();
    let bytes = files_in(folder.path());
    let has = |needle: &[u8]| bytes.windows(needle.len()).any(|window| window == needle);
    assert!(has(b"ann-the-owner") && has(b"$argon2id$"), "the search finds what is there");
    for token in [printed, owner, api, agent, link.text("token"), reset] {
        let secret = token.rsplit('_').next().unwrap();
        assert_eq!(secret.len(), 64);
        assert!(!has(secret.as_bytes()), "{token} is in the data folder");
        assert!(!has(&hex::decode(secret).unwrap()), "{token} is in the data folder, as bytes");
    }
    assert!(!has(PASSWORD.as_bytes()));
}
