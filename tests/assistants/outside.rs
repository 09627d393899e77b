//! An assistant from outside, over MCP, with the rights of a person.

use serde_json::{Value, json};

pub struct Outside {
    http: reqwest::Client,
    address: String,
    token: String,
    session: Option<String>,
}

impl Outside {
    pub async fn enter(url: &str, person: &str) -> Self {
        Self::enter_with(url, person, &["read", "edit", "run"]).await
    }

    /// Enters with a token of these scopes.
    pub async fn enter_with(url: &str, person: &str, scopes: &[&str]) -> Self {
        let http = crate::support::client();
        let new = json!({"label": "outside", "scopes": scopes});
        let made = http.post(format!("{url}/api/tokens")).bearer_auth(person).json(&new).send().await.unwrap();
        let made: Value = made.error_for_status().unwrap().json().await.unwrap();
        let token = made["token"].as_str().unwrap().to_owned();
        let mut outside = Self { http, address: format!("{url}/mcp"), token, session: None };
        let client = json!({"name": "check", "version": "1"});
        let hello = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client});
        let answer = outside.send(&request("initialize", &hello)).await;
        outside.session = Some(answer.headers()["mcp-session-id"].to_str().unwrap().to_owned());
        outside.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await;
        outside
    }

    /// Calls a tool; returns the result, or what the server says against the call.
    pub async fn call(&self, tool: &str, arguments: &Value) -> Value {
        let answer = self.send(&request("tools/call", &json!({"name": tool, "arguments": arguments}))).await;
        let text = answer.text().await.unwrap();
        // An answer is JSON, or a stream of events whose last one is it.
        let last = text.lines().filter_map(|line| line.strip_prefix("data:")).next_back().unwrap_or(&text);
        let answer: Value = serde_json::from_str(last).unwrap_or_else(|error| panic!("{error}: {text}"));
        answer.get("result").unwrap_or(&answer["error"]).clone()
    }

    async fn send(&self, message: &Value) -> reqwest::Response {
        let request = self.http.post(&self.address).bearer_auth(&self.token).json(message);
        let request = request.header("accept", "application/json, text/event-stream");
        let request = self.session.iter().fold(request, |request, session| request.header("mcp-session-id", session));
        request.send().await.unwrap().error_for_status().unwrap()
    }
}

fn request(method: &str, params: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
}
