//! Tests of the recorded means of a decision: the interface, and kind and label of the session or token.

use notarium_core::{Command, Scope};
use reqwest::Method;
use serde_json::{Value, json};

use super::calls::{Scene, call_id};
use crate::support::TestClient;

impl Scene {
    async fn means(&self, id: &str) -> Value {
        self.call(id).await["call"]["by_means"].clone()
    }

    /// Opens a socket as a browser does from the page, with this session.
    async fn page(&self, token: &str) -> TestClient {
        let origin = self.server.url();
        let mut page = TestClient::open(self.server.address(), &[("origin", &origin)]).await.unwrap();
        page.hello(Some(token)).await;
        page.until(|page| page.welcome.is_some().then_some(())).await;
        page
    }

    async fn confirmation(&self, id: &str) -> Command {
        let arguments_hash = serde_json::from_value(self.hash(id).await).unwrap();
        Command::ConfirmToolCall { call_id: call_id(id), arguments_hash }
    }

    /// Returns the session of a browser that opened a link of Ann's.
    async fn browser(&self) -> String {
        let link = self.server.http(&self.ann).post("/api/session/link", Value::Null).await.ok();
        let opening = json!({"token": link["token"], "label": "browser"});
        self.server.http_as("").without_token().post("/api/session", opening).await.ok()["token"]
            .as_str()
            .unwrap()
            .into()
    }
}

#[tokio::test]
async fn what_is_decided_on_the_page_says_so_over_its_socket_and_over_rest() {
    let scene = Scene::new().await;
    let browser = scene.browser().await;
    let mut page = scene.page(&browser).await;
    scene.ask("yes").await;
    page.run("n", &scene.confirmation("yes").await).await.unwrap();
    scene.ask("no").await;
    page.run("n", &Command::DenyToolCall { call_id: call_id("no"), detail: None }).await.unwrap();
    scene.ask("rest").await;
    let http = scene.server.http_as(&browser);
    let body = json!({"arguments_hash": scene.hash("rest").await});
    let confirm = http.request(Method::POST, "/api/notebooks/n/calls/rest/confirm").json(&body);
    http.send(confirm.header("origin", scene.server.url())).await.ok();
    let means = json!({"door": "page", "credential": "session", "label": "browser"});
    for id in ["yes", "no", "rest"] {
        assert_eq!(scene.means(id).await, means, "{id}");
    }
    // A page of another origin is refused everywhere, so that none can pass for ours.
    scene.ask("foreign").await;
    let body = json!({"arguments_hash": scene.hash("foreign").await});
    let confirm = http.request(Method::POST, "/api/notebooks/n/calls/foreign/confirm").json(&body);
    assert_eq!(http.send(confirm.header("origin", "http://127.0.0.1:9")).await.refused(403), "wrong_origin");
    assert_eq!(scene.state_of("foreign").await, "waiting");
}

#[tokio::test]
async fn what_a_program_decides_names_its_token() {
    let scene = Scene::new().await;
    let new = json!({"label": "nightly job", "scopes": ["read", "edit", "run", "confirm"]});
    let made = scene.server.http(&scene.ann).post("/api/tokens", new).await.ok();
    let program = made["token"].as_str().unwrap();
    scene.ask("rest").await;
    scene.confirm_with(program, "rest").await.ok();
    let means = |door: &str| json!({"door": door, "credential": "api", "label": "nightly job"});
    assert_eq!(scene.means("rest").await, means("rest"));
    scene.ask("denied").await;
    scene.server.http_as(program).post("/api/notebooks/n/calls/denied/deny", json!({})).await.ok();
    assert_eq!(scene.means("denied").await, means("rest"));
    scene.ask("socket").await;
    let mut socket = scene.server.connect_as(program).await;
    socket.run("n", &scene.confirmation("socket").await).await.unwrap();
    assert_eq!(scene.means("socket").await, means("socket"));
    let listed = scene.server.http(&scene.ann).get("/api/notebooks/n/calls").await.ok();
    let listed: Vec<&Value> =
        listed["calls"].as_array().unwrap().iter().map(|call| &call["by_means"]["label"]).collect();
    assert_eq!(listed, ["nightly job"; 3], "the list shows it too");
    let without = scene.server.api_token(&scene.ann, &[Scope::Read]).await;
    scene.ask("waits").await;
    scene.confirm_with(&without, "waits").await.refused(403);
    assert_eq!(scene.means("waits").await, Value::Null, "nobody has decided");
}
