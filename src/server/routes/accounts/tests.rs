//! Routes for accounts, called as a client does.

mod browsers;
mod invitations;
mod names;
mod people;
mod tokens;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::ConnectInfo;
use http::{HeaderMap, Method, Request, StatusCode, header};
use notarium_core::{
    Actor, Command, Millis, NotebookId, Operation, Rejection, RejectionCode, Role, Scope, Subject, UserId,
};
use notarium_store::Sqlite;
use notarium_store::accounts::AccountStore;
use serde_json::{Value, json};
use tower::ServiceExt;

use crate::auth::{Accounts, AuthError, AuthOptions, Authenticated, PasswordCost};
use crate::http::guard::{Guard, GuardServices, GuardedRouter, NotebookRights, Route};
use crate::limits::clock::Clock;

const START: Millis = 1_700_000_000_000;
const DAY: Millis = 24 * 60 * 60 * 1000;
const PASSWORD: &str = "correct horse battery";

/// Access lists, in place of the rooms.
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
        if roles.iter().any(|role| operation.is_open_to(*role)) && authority.scopes.contains(&operation.scope()) {
            return Ok(());
        }
        Err(Rejection::new(RejectionCode::Forbidden, "forbidden"))
    }

    async fn execute(&self, _: &Authenticated, notebook: &NotebookId, command: Command) -> Result<(), Rejection> {
        match command {
            Command::GrantAccess { role, .. } if self.refuses_grants.load(Ordering::SeqCst) || role == Role::Owner => {
                return Err(Rejection::new(RejectionCode::InvalidValue, "refused"));
            }
            Command::GrantAccess { subject, role, .. } => self.give(notebook.as_str(), subject, role),
            Command::RevokeAccess { subject } => _ = self.access.lock().unwrap().remove(&(notebook.clone(), subject)),
            other => panic!("{other:?} is not about the access list"),
        }
        Ok(())
    }
}

/// A server with the account routes alone, and a manual clock.
struct Server {
    app: Router,
    routes: Vec<Route>,
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
        Self::with_store(crate::server::scratch::accounts().await).await
    }

    async fn with_store(store: Arc<dyn AccountStore>) -> Self {
        let clock = Arc::new(AtomicU64::new(START));
        let options =
            AuthOptions { password_cost: PasswordCost { memory_kib: 8, passes: 1 }, ..AuthOptions::default() };
        let accounts = Accounts::open(store, Clock::manual(clock.clone()), &options).await.unwrap();
        let notebooks = Arc::new(Notebooks::default());
        let gate = GuardServices {
            accounts: accounts.clone(),
            rights: notebooks.clone(),
            cluster: None,
            metrics: Arc::default(),
        };
        let router: GuardedRouter<()> = super::routes(gate, "https://notes.example.org/", None);
        let (app, _, routes) = router.into_parts();
        Self { app, routes, accounts, notebooks, clock }
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

    /// Signs in the owner; returns the session's token.
    async fn owner(&self) -> String {
        let token = self.accounts.first_start().await.unwrap().unwrap().text.reveal();
        let profile = json!({"token": token, "name": "Ann", "login": "Ann", "password": PASSWORD});
        self.sign_in(profile).await.made().text("token")
    }

    /// Creates and signs in another person; returns the session's token and the person's id.
    async fn person(&self, owner: &str, login: &str) -> (String, UserId) {
        let created = self.post("/api/users", owner, json!({"name": login, "login": login})).await.made();
        let invitation = created.body["invitation"]["token"].clone();
        let url = created.body["invitation"]["url"].as_str().unwrap();
        assert!(url.ends_with(&format!("/#token={}", invitation.as_str().unwrap())), "{url}");
        let session = self.sign_in(json!({"token": invitation, "password": PASSWORD})).await.made();
        (session.text("token"), UserId::new(session.body["user"]["id"].as_str().unwrap()).unwrap())
    }

    fn advance(&self, millis: Millis) {
        self.clock.fetch_add(millis, Ordering::SeqCst);
    }
}

// --- every route ---

fn path_of(route: &Route) -> String {
    let segments = route.path.split('/').map(|segment| if segment.starts_with('{') { "some-id" } else { segment });
    segments.collect::<Vec<_>>().join("/")
}

#[tokio::test]
async fn every_route_but_signing_in_refuses_who_has_no_token() {
    let server = Server::new().await;
    let public: Vec<&str> =
        server.routes.iter().filter(|route| route.guard == Guard::Public).map(|route| route.path).collect();
    let expected = [
        "/api/session",
        "/api/session/one-time",
        "/api/session/challenge",
        "/api/session/resume",
        "/api/session/options",
        "/api/session/oidc/begin",
        "/api/session/oidc",
    ];
    assert_eq!(public, expected);
    assert!(server.routes.len() > 25, "{}", server.routes.len());
    for route in server.routes.iter().filter(|route| route.guard != Guard::Public) {
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
    for route in &server.routes {
        let (token, status) = match route.guard {
            Guard::Public | Guard::Socket | Guard::Node | Guard::Authenticated | Guard::Scope(_) => continue,
            Guard::User(Scope::Read) => (&agent, 403),
            Guard::User(_) => (&weak, 403),
            // A session can confirm, so it is refused for assistants.
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
    let gate = GuardServices {
        accounts: server.accounts.clone(),
        rights: server.notebooks.clone(),
        cluster: None,
        metrics: Arc::default(),
    };
    let router: GuardedRouter<()> = super::routes(gate, "", None);
    let (_, document, _) = router.into_parts();
    let document = document.finish();
    assert_eq!(document["paths"]["/api/me"]["get"]["security"], json!([{"bearer": []}]));
    assert_eq!(document["paths"]["/api/session"]["post"]["security"], json!([]));
    assert_eq!(document["components"]["securitySchemes"]["bearer"]["scheme"], "bearer");
}
