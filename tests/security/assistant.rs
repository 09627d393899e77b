//! Tests of the attacks as code of an assistant: requested over MCP, and confirmed by a person who did not read it.

use notarium_core::{Actor, Command, Document, Effect, Event};
use serde_json::json;

use super::Machine;
use crate::assistants::outside::Outside;

impl Machine {
    /// Has an assistant run the code in a cell. Returns true if it waited for the person's confirmation.
    pub async fn run_as_assistant(&mut self, code: &str) -> bool {
        let outside = Outside::enter(&self.url, &self.token).await;
        let effects = Effect::ALL;
        let arguments =
            json!({"notebook": self.ada.notebook(), "run": true, "cells": [{"source": code}], "effects": effects});
        let asking = tokio::spawn(async move {
            outside.call("create_cells", &arguments).await;
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
