//! Long waits by the server's clock: a notice after five seconds, an end of the wait after thirty, a run that continues.

use notarium_core::{ExecutionOutcome, ExecutionReport, ExecutionStatus, Policy, TokenId};
use notarium_server::auth::TokenText;
use notarium_store::accounts::{Coverage, Token, TokenHolder, TokenKind, TokenScopes};
use serde_json::{Value, json};

use super::*;

impl Scene {
    /// Creates a session of Ann's.
    async fn session(&self) -> String {
        let text = TokenText::generate(TokenKind::Session, TokenId::from(ulid::Ulid::generate())).unwrap();
        let token = Token {
            id: text.id.clone(),
            holder: TokenHolder::User(ann()),
            created_by: ann(),
            secret_hash: text.secret_hash(),
            scopes: TokenScopes::all_of(TokenKind::Session),
            coverage: Coverage::All,
            label: "test".to_owned(),
            created_at: self.clock.now(),
            expires_at: None,
            last_used_at: None,
            revoked_at: None,
            identity: None,
        };
        let at = self.clock.now();
        let audit = AuditEntry { at, actor: "system".into(), action: "test".into(), subject: "ann".into() };
        self.server.app().accounts.change(&[AccountChange::CreateToken(token)], audit).await.unwrap();
        text.reveal()
    }

    /// Ends the notebook's only run, as its agent.
    async fn finish_run(&self) {
        let state = self.state().await;
        let (execution_id, run) = state.executions.iter().next().expect("a run");
        let fence = run.fence.expect("an assigned run");
        let report =
            ExecutionReport::Completed { outcome: ExecutionOutcome::Ok, execution_count: Some(1), notice: None };
        let command = Command::ReportExecution { execution_id: execution_id.clone(), fence, seq: 2, report };
        self.as_agent(&self.notebook, &command).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_long_run_is_told_of_once_and_waited_for_thirty_seconds_while_it_goes_on() {
    let rules = json!([
        {"when": {"user": "slow"}, "reply": {"calls": [
            {"name": "create_cells", "arguments": {"run": true, "cells": [{"source": "print('the end')"}]}}]}},
        {"when": {"user": "slow", "after_tool": "create_cells", "result": "still running"}, "reply": {"text": "It is still running."}},
    ]);
    let (scene, _model) = Scene::scripted(&rules).await;
    scene.as_ann(&Command::SetPolicy { policy: Policy::Trusted }).await;
    let address = format!("{}/api/notebooks/{}/chat", scene.server.url(), scene.notebook);
    let request = reqwest::Client::new().post(&address).bearer_auth(scene.session().await);
    let answer = request.json(&json!({"text": "slow"})).send().await.unwrap();
    scene.until_wanted(&scene.notebook).await;
    scene.kernel(&scene.notebook).await;
    let running_since = scene.clock.now();
    let told = scene.passing(answer.text()).await.unwrap();
    let waited = Duration::from_millis(scene.clock.now() - running_since);
    assert!(waited > Duration::from_secs(28), "{waited:?}");
    assert_eq!(told.matches("event: tool_update").count(), 1, "{told}");
    // The number of pieces may differ.
    let deltas = told.lines().filter(|line| line.contains(r#""type":"text_delta""#));
    let texts = deltas.filter_map(|line| serde_json::from_str::<Value>(line.strip_prefix("data: ")?).ok());
    let said: String = texts.filter_map(|delta| Some(delta["text"].as_str()?.to_owned())).collect();
    assert_eq!(said, "It is still running.", "{told}");
    // The wait has ended, the run continues.
    let status = async || scene.state().await.executions.values().next().expect("a run").status;
    assert_eq!(status().await, ExecutionStatus::Running);
    scene.finish_run().await;
    assert_eq!(status().await, ExecutionStatus::Ok);
    scene.stop().await;
}
