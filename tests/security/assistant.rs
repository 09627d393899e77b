//! Tests of the attacks as code of an assistant: requested over MCP, and confirmed by a person who did not read it.

use notarium_core::{Actor, Command, Document, Event};
use serde_json::{Value, json};

use super::Machine;

/// An external assistant.
struct Outside {
    http: reqwest::Client,
    address: String,
    token: String,
    session: Option<String>,
}

impl Outside {
    async fn enter(url: &str, person: &str) -> Self {
        let http = crate::support::client();
        let new = json!({"label": "outside", "scopes": ["read", "edit", "run"]});
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

impl Machine {
    /// Has an assistant run the code in a cell. Returns true if it waited for the person's confirmation.
    pub async fn run_as_assistant(&mut self, code: &str) -> bool {
        let outside = Outside::enter(&self.url, &self.token).await;
        let arguments = json!({"notebook": self.ada.notebook(), "run": true, "cells": [{"source": code}]});
        let asking = tokio::spawn(async move {
            outside.send(&request("tools/call", &json!({"name": "create_cells", "arguments": arguments}))).await;
        });
        let waits = |state: &Document| state.tool_calls.values().any(|call| call.gate.waits());
        self.ada.until("a call that waits", waits).await;
        let (call_id, call) = self.ada.state().tool_calls.iter().next().unwrap();
        let confirm = Command::ConfirmToolCall { call_id: call_id.clone(), arguments_hash: call.arguments_hash };
        let nobodys_run = |event: &Event| matches!(event, Event::ExecutionRequested(_));
        let runs = self.ada.events().iter().filter(|recorded| nobodys_run(&recorded.event));
        let is_assistants = |actor: &Actor| matches!(actor, Actor::Assistant { .. });
        let waited = !runs.clone().any(|recorded| is_assistants(&recorded.envelope.actor));
        self.ada.command(confirm).await;
        let has_run = |state: &Document| {
            let of_assistants = state.executions.values().filter(|run| is_assistants(&run.requested_by));
            of_assistants.clone().count() > 0 && of_assistants.into_iter().all(|run| run.ended_at.is_some())
        };
        self.ada.until("the end of the assistant's run", has_run).await;
        asking.await.unwrap();
        waited
    }
}
