//! Sessions of MCP and links for a browser, which begin at one node and go on at another.

use std::sync::Arc;

use async_trait::async_trait;
use axum::extract::Request;
use axum::response::{IntoResponse, Response};
use http::Method;
use notarium_core::{Scope, TokenId};
use notarium_store::accounts::Coverage;
use parking_lot::Mutex;
use serde_json::json;

use super::scene::{Scene, TestNode};
use super::support::Http;
use crate::assistants::McpHandler;
use crate::auth::{Authenticated, NewApiToken};
use crate::cluster::Cluster;

const SESSION: &str = "mcp-session-id";

/// Begins sessions, and answers in those that it has begun for the token.
#[derive(Default)]
struct Sessions(Mutex<Vec<(String, TokenId)>>);

#[async_trait]
impl McpHandler for Sessions {
    async fn answer(&self, who: Authenticated, request: Request) -> Response {
        let mut begun = self.0.lock();
        let Some(session) = request.headers().get(SESSION).map(|name| name.to_str().unwrap().to_owned()) else {
            let name = format!("6ba7b810-9dad-{}", begun.len());
            begun.push((name.clone(), who.token_id));
            return ([(SESSION, name)], "begun").into_response();
        };
        match begun.contains(&(session.clone(), who.token_id)) {
            true => ([(SESSION, session)], "known").into_response(),
            false => http::StatusCode::NOT_FOUND.into_response(),
        }
    }
}

/// A token of Ann for an outside assistant.
async fn assistant_token(scene: &Scene, node: &TestNode) -> String {
    let accounts = &node.running().app().accounts;
    let owner = accounts.authenticate(&scene.token).await.unwrap();
    let scopes = [Scope::Read, Scope::Edit, Scope::Run].into_iter().collect();
    let new = NewApiToken { label: String::new(), scopes, coverage: Coverage::All, expires_at: None };
    accounts.create_api_token(&owner, new).await.unwrap().text.reveal()
}

#[tokio::test]
async fn a_session_of_mcp_goes_on_through_any_node_while_its_own_lives() {
    let (scene, mut nodes) = Scene::of(3).await;
    let handlers = [0, 1, 2].map(|_| Arc::new(Sessions::default()));
    for (node, handler) in nodes.iter().zip(&handlers) {
        node.running().mount_mcp(handler.clone());
    }
    let token = assistant_token(&scene, &nodes[0]).await;
    let stranger = assistant_token(&scene, &nodes[0]).await;
    let ask = async |node: &TestNode, token: &str, method: Method, session: Option<&str>| {
        let http = Http::new(format!("http://{}", node.address), Some(token.to_owned()));
        let request = http.request(method, "/mcp");
        http.send(session.map_or(request.try_clone().unwrap(), |session| request.header(SESSION, session))).await
    };
    let begun = ask(&nodes[1], &token, Method::POST, None).await;
    let session = begun.header(SESSION);
    assert_eq!((begun.text.as_str(), session), ("begun", &*format!("{}-6ba7b810-9dad-0", nodes[1].cluster.instance())));
    for node in &nodes {
        for method in [Method::POST, Method::GET, Method::DELETE] {
            let answer = ask(node, &token, method, Some(session)).await;
            assert_eq!((answer.text.as_str(), answer.header(SESSION)), ("known", session));
        }
        assert_eq!(ask(node, &stranger, Method::POST, Some(session)).await.status, 404);
        for unknown in ["nobody-6ba7b810-9dad-0", "-", "", "0123456789abcdef"] {
            assert_eq!(ask(node, &token, Method::POST, Some(unknown)).await.status, 404, "{unknown}");
        }
    }
    assert_eq!(handlers.map(|handler| handler.0.lock().len()), [0, 1, 0]);
    nodes[1].kill();
    for node in [&nodes[0], &nodes[2]] {
        let answer = ask(node, &token, Method::POST, Some(session)).await;
        assert_eq!(answer.status, 404, "its client begins another one: {}", answer.text);
    }
}

#[tokio::test]
async fn a_link_of_one_node_opens_a_browser_at_another_once() {
    let (scene, nodes) = Scene::of(2).await;
    let [one, two] = [scene.http(&nodes[0]), scene.http(&nodes[1]).without_token()];
    let link = async || one.post("/api/session/link", json!({})).await.ok()["token"].as_str().unwrap().to_owned();
    let open = async |link: &str| two.post("/api/session", json!({"token": link})).await;
    let (first, second) = (link().await, link().await);
    assert_eq!(open(&first).await.refused(401), "link_ended");
    assert_eq!(open(&second).await.ok()["user"]["name"], "Ann");
    assert_eq!(open(&second).await.refused(401), "link_ended");
    let again = scene.http(&nodes[0]).without_token().post("/api/session", json!({"token": second})).await;
    assert_eq!(again.refused(401), "link_ended");
}
