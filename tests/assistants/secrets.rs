//! Tests that no secret leaks into the record, REST, streams, models, MCP, kernels or logs.

use notarium_core::Command;
use reqwest::Method;
use serde_json::{Value, json};

use super::chat::Told;
use super::scene::{KEY, Scene, script};

/// Log filter with all messages of the program, and the most that anybody would enable of its libraries.
const LOG: &str = "debug,notarium=trace,notarium_server=trace,notarium_assistant=trace,notarium_agent=trace";

/// A provider that repeats the key in every message that people may see.
fn leaky() -> Value {
    let said = json!({"error": {"message": format!("bad key {KEY}"), "type": "authentication_error"}});
    let event = format!("data: {{\"type\":\"error\",\"error\":{{\"type\":\"api_error\",\"message\":\"{KEY}\"}}}}\n\n");
    json!([
        {"when": {"user": "look"}, "reply": {"calls": [
            {"name": "get_variables", "arguments": {}},
            {"name": "get_cell_outputs", "arguments": {"cell_id": "first"}},
            {"name": "get_cell_outputs", "arguments": {"cell_id": "no such cell"}}]}},
        {"when": {"user": "look", "after_tool": "*"}, "reply": {"text": "I have looked."}},
        {"when": {"user": "status 401"}, "reply": {"status": 401, "body": said}},
        {"when": {"user": "status 500"}, "times": 1, "reply": {"status": 500, "body": said}},
        {"when": {"user": "status 500"}, "reply": {"text": "After all."}},
        {"when": {"user": "not json"}, "reply": {"raw": format!("data: {{not json {KEY}\n\n")}},
        {"when": {"user": "error event"}, "reply": {"raw": event}},
    ])
}

/// An external assistant, over HTTP.
struct Outside<'a> {
    scene: &'a Scene,
    token: String,
    session: String,
}

impl<'a> Outside<'a> {
    async fn enter(scene: &'a Scene) -> Self {
        let new = json!({"label": "outside", "scopes": ["read", "edit", "run"]});
        let made = scene.request(Method::POST, "/api/tokens").json(&new).send().await.unwrap();
        let made: Value = made.error_for_status().unwrap().json().await.unwrap();
        let token = made["token"].as_str().unwrap().to_owned();
        let client = json!({"name": "check", "version": "1"});
        let hello = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client});
        let mut outside = Self { scene, token, session: String::new() };
        let answer = outside.send(&request("initialize", &hello)).await.error_for_status().unwrap();
        answer.headers()["mcp-session-id"].to_str().unwrap().clone_into(&mut outside.session);
        outside.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await;
        outside
    }

    async fn send(&self, message: &Value) -> reqwest::Response {
        let address = format!("http://{}/mcp", self.scene.fixture.address());
        let mut request = crate::support::client().post(address).bearer_auth(&self.token).json(message);
        request = request.header("accept", "application/json, text/event-stream");
        if !self.session.is_empty() {
            request = request.header("mcp-session-id", &self.session);
        }
        request.send().await.unwrap()
    }

    async fn ask(&self, method: &str, params: &Value) -> String {
        self.send(&request(method, params)).await.error_for_status().unwrap().text().await.unwrap()
    }

    async fn call(&self, tool: &str, mut arguments: Value) -> String {
        arguments["notebook"] = json!(self.scene.ada.notebook());
        self.ask("tools/call", &json!({"name": tool, "arguments": arguments})).await
    }
}

fn request(method: &str, params: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
}

/// Runs a cell that prints the kernel's whole environment.
async fn show_environment(scene: &mut Scene) {
    let source = "import os\nmark = 'the environment'\nprint(dict(os.environ))";
    let insert = json!({"InsertCell": {"cell_id": "first", "cell_type": "code", "source": source}});
    scene.ada.command(serde_json::from_value(insert).unwrap()).await;
    let run: Command =
        serde_json::from_value(json!({"RequestExecution": {"target": {"cell": {"cell_id": "first"}}}})).unwrap();
    let run = scene.ada.command(run).await.executions[0].clone();
    scene.ada.until("the run", |state| state.executions.get(&run).is_some_and(|run| run.ended_at.is_some())).await;
}

/// Output of one channel, and a text that it must contain, to prove that the channel is not empty.
struct Way {
    name: &'static str,
    told: String,
    holds: &'static str,
}

fn way(name: &'static str, told: String, holds: &'static str) -> Way {
    Way { name, told, holds }
}

/// Collects the channels of a person who asks, follows and reads.
async fn ways_of_the_person(scene: &mut Scene) -> Vec<Way> {
    let mut streams = String::new();
    for (text, end) in [
        ("look", "done"),
        ("status 401", "error"),
        ("status 500", "done"),
        ("not json", "error"),
        ("error event", "error"),
    ] {
        let mut stream = Told::of(scene, text).await;
        stream.until(end).await;
        streams.push_str(&json!(stream.events).to_string());
    }
    let mut rest = String::new();
    for path in [
        &format!("/api/notebooks/{}", scene.ada.notebook()),
        "calls",
        "turns",
        "conversations",
        "runs",
        "/api/me",
        "/api/tokens",
        "/api/agents",
    ] {
        rest.push_str(&scene.get(path).await.to_string());
    }
    let bodies: Vec<String> = scene.model.requests().into_iter().map(|request| request.body).collect();
    vec![
        way("server-sent events", streams, "does not accept the key"),
        way("REST", rest, "does not accept the key"),
        way("the record", scene.whole_record().await, "the environment"),
        way("requests to the model", bodies.concat(), "the environment"),
    ]
}

async fn way_of_an_outside_assistant(scene: &Scene) -> (String, Way) {
    let outside = Outside::enter(scene).await;
    let uri = format!("notarium://notebooks/{}", scene.ada.notebook());
    let told = [
        outside.ask("tools/list", &json!({})).await,
        outside.ask("resources/list", &json!({})).await,
        outside.ask("resources/read", &json!({"uri": uri})).await,
        outside.ask("resources/read", &json!({"uri": format!("{uri}/cells/first")})).await,
        outside.call("get_notebook_state", json!({})).await,
        outside.call("get_cell_outputs", json!({"cell_id": "no such cell"})).await,
        outside.call("get_variables", json!({})).await,
    ];
    (outside.token.clone(), way("MCP", told.concat(), "the environment"))
}

/// Returns the whole token, and its secret part: the rest may be its id.
fn secrets(token: &str) -> [String; 2] {
    [token.to_owned(), token.rsplit('_').next().unwrap().to_owned()]
}

#[tokio::test(flavor = "multi_thread")]
async fn keys_and_tokens_are_told_nowhere() {
    let provider = json!({"family": "anthropic"});
    let mut scene = Scene::asking(provider, script(&leaky()), &["--log", LOG]).await.and_kernel().await;
    show_environment(&mut scene).await;
    let mut ways = ways_of_the_person(&mut scene).await;
    let (token, told) = way_of_an_outside_assistant(&scene).await;
    ways.push(told);
    ways.push(way("the logs", scene.fixture.notes(), "model call failed"));
    let tokens = [scene.fixture.session(), scene.fixture.agent_token(), &token];
    let secrets: Vec<String> = tokens.into_iter().flat_map(secrets).chain([KEY.to_owned()]).collect();
    for Way { name, told, holds } in ways {
        assert!(told.contains(holds), "nothing of what is looked for came out by {name}: {told}");
        for secret in &secrets {
            let line = told.lines().find(|line| line.contains(secret));
            assert_eq!(line, None, "{name} tells {secret}");
        }
    }
}
