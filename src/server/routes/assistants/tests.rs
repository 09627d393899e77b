use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use axum::Router;
use axum::body::{Body, to_bytes};
use axum::response::{IntoResponse, Response};
use futures_util::{StreamExt, stream};
use http::{Request, StatusCode, header};
use notarium_core::{Scope, Scopes};
use notarium_store::accounts::Coverage;
use tower::ServiceExt;

use crate::assistants::McpHandler;
use crate::auth::{Authenticated, ClientInfo, NewAgent, NewApiToken, NewToken};
use crate::http::origin::AllowedOrigins;
use crate::{RunningServer, Server, ServerConfig, routes};

/// Timeout longer than any step here takes.
const PATIENCE: Duration = Duration::from_secs(60);

/// Answers with the caller's name and the length of the body; a GET with a stream that does not end by itself.
struct Echo;

#[async_trait]
impl McpHandler for Echo {
    async fn answer(&self, who: Authenticated, request: axum::extract::Request) -> Response {
        if request.method() == http::Method::GET {
            let first = stream::once(async { Ok::<_, std::io::Error>("data: here\n\n") });
            let body = Body::from_stream(first.chain(stream::pending()));
            return ([(header::CONTENT_TYPE, "text/event-stream")], body).into_response();
        }
        let bytes = to_bytes(request.into_body(), usize::MAX).await.unwrap();
        format!("{} {}", who.name, bytes.len()).into_response()
    }
}

struct Scene {
    server: RunningServer,
    router: Router,
    session: String,
    owner: Authenticated,
}

impl Scene {
    async fn new() -> Self {
        let server = Server::start(ServerConfig::in_folder(crate::server::scratch::folder())).await.unwrap();
        let router = routes::all(server.app(), AllowedOrigins::loopback(8787, false), "http://localhost:8787").router;
        let accounts = &server.app().accounts;
        let owner = server.owner_token.clone().unwrap();
        let session = accounts.exchange_locally(&owner, ClientInfo::default()).await.unwrap().text.reveal();
        let owner = accounts.authenticate(&session).await.unwrap();
        Self { router, session, owner, server }
    }

    async fn token(&self, scopes: &[Scope]) -> NewToken {
        let scopes: Scopes = scopes.iter().copied().collect();
        let new = NewApiToken { label: String::new(), scopes, coverage: Coverage::All, expires_at: None };
        self.server.app().accounts.create_api_token(&self.owner, new).await.unwrap()
    }

    async fn send(&self, method: &str, address: &str, token: &str, body: Body) -> Response {
        let request = Request::builder().method(method).uri(address).header(header::HOST, "localhost:8787");
        let request = request.header(header::AUTHORIZATION, format!("Bearer {token}")).body(body).unwrap();
        self.router.clone().oneshot(request).await.unwrap()
    }

    /// Sends a POST; returns status and text.
    async fn post(&self, address: &str, token: &str, body: impl Into<Body>) -> (u16, String) {
        let response = self.send("POST", address, token, body.into()).await;
        let status = response.status().as_u16();
        let bytes = to_bytes(response.into_body(), 100_000).await.unwrap();
        (status, String::from_utf8(bytes.to_vec()).unwrap())
    }
}

const ASSISTANT: [Scope; 3] = [Scope::Read, Scope::Edit, Scope::Run];

#[tokio::test]
async fn only_a_token_that_confirms_nothing_comes_in() {
    let scene = Scene::new().await;
    let token = scene.token(&ASSISTANT).await.text.reveal();
    assert_eq!(scene.post("/mcp", &token, "").await.0, 503, "nothing is mounted yet");
    scene.server.mount_mcp(Arc::new(Echo));
    assert_eq!(scene.post("/mcp", &token, "four").await, (200, "Owner 4".to_owned()));
    let reading = scene.token(&[Scope::Read]).await.text.reveal();
    assert_eq!(scene.post("/mcp", &reading, "").await.0, 200);

    let agent = NewAgent { name: "a".to_owned(), coverage: Coverage::All, expires_at: None };
    let agent = scene.server.app().accounts.create_agent(&scene.owner, agent).await.unwrap().text.reveal();
    let mut strong = vec![scene.session.clone(), agent];
    for scope in [Scope::Confirm, Scope::Manage, Scope::Admin] {
        strong.push(scene.token(&[Scope::Read, Scope::Edit, Scope::Run, scope]).await.text.reveal());
    }
    for token in strong {
        let (status, text) = scene.post("/mcp", &token, "").await;
        assert_eq!(status, 403, "{text}");
        assert!(text.contains("notarium token new"), "it says how to make one: {text}");
    }
    let nobody = scene.send("POST", "/mcp", "nt_api_x_0", Body::empty()).await;
    assert_eq!(
        (nobody.status(), &nobody.headers()[header::WWW_AUTHENTICATE]),
        (StatusCode::UNAUTHORIZED, &"Bearer".parse().unwrap())
    );
    scene.server.shut_down().await;
}

#[tokio::test]
async fn addresses_and_sizes_are_checked_before_the_door() {
    let scene = Scene::new().await;
    scene.server.mount_mcp(Arc::new(Echo));
    let token = scene.token(&ASSISTANT).await.text.reveal();
    let most = scene.server.app().limits.max_request_bytes;
    assert_eq!(scene.post("/mcp", &token, vec![b'x'; most]).await.0, 200);
    assert_eq!(scene.post("/mcp", &token, vec![b'x'; most + 1]).await.0, 413);
    assert_eq!(scene.post("/mcp?notebook=there-is-none", &token, "").await.0, 404);
    for wrong in ["/mcp?notebook=..", "/mcp?other=1", "/mcp?token=nt_api_x_0"] {
        assert_eq!(scene.post(wrong, &token, "").await.0, 400, "{wrong}");
    }
    assert_eq!(scene.send("PUT", "/mcp", &token, Body::empty()).await.status(), StatusCode::METHOD_NOT_ALLOWED);
    scene.server.shut_down().await;
}

/// A stream whose first event was read.
async fn stream_of(scene: &Scene, token: &str) -> axum::body::BodyDataStream {
    let mut stream = scene.send("GET", "/mcp", token, Body::empty()).await.into_body().into_data_stream();
    assert_eq!(&stream.next().await.unwrap().unwrap()[..], b"data: here\n\n");
    stream
}

#[tokio::test]
async fn a_stream_ends_with_its_token_and_with_the_server() {
    let scene = Scene::new().await;
    scene.server.mount_mcp(Arc::new(Echo));
    let (short, long) = (scene.token(&ASSISTANT).await, scene.token(&ASSISTANT).await);
    let mut ending = stream_of(&scene, &short.text.reveal()).await;
    let mut going_on = stream_of(&scene, &long.text.reveal()).await;
    scene.server.app().accounts.revoke_token(&scene.owner, &short.token.id).await.unwrap();
    let end = tokio::time::timeout(PATIENCE, ending.next()).await.expect("it ends");
    assert!(end.is_none());
    assert_eq!(scene.post("/mcp", &short.text.reveal(), "").await.0, 401);
    assert!(futures_util::poll!(going_on.next()).is_pending(), "the other token's stream goes on");
    let Scene { server, router, .. } = scene;
    server.app().stopping.cancel();
    assert!(tokio::time::timeout(PATIENCE, going_on.next()).await.expect("it ends").is_none());
    drop((ending, going_on, router));
    server.shut_down().await;
}
