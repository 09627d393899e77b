//! `notarium mcp`: a bridge whose input ends in each phase of the protocol.

use std::process::Stdio;

use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;

use crate::processes::{Fixture, PATIENCE};

const INITIALIZE: &str = r#"{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "check", "version": "1"}}}"#;
const INITIALIZED: &str = r#"{"jsonrpc": "2.0", "method": "notifications/initialized"}"#;

/// Passes the messages to a bridge, closes its input, and returns its answers at its end.
async fn answers(fixture: &Fixture, messages: &[&str]) -> Vec<Value> {
    let mut command = tokio::process::Command::from(fixture.owner_of(&format!("http://{}", fixture.address())));
    command.arg("mcp").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
    let mut bridge = command.spawn().expect("the bridge starts");
    let mut input = bridge.stdin.take().expect("its input");
    for message in messages {
        input.write_all(format!("{message}\n").as_bytes()).await.expect("it reads");
    }
    drop(input);
    let ended = tokio::time::timeout(PATIENCE, bridge.wait_with_output()).await.expect("it ends with its input");
    let ended = ended.expect("it ran");
    assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
    let lines = String::from_utf8(ended.stdout).expect("UTF-8");
    lines.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

/// Labels of the living tokens of programs.
async fn tokens(fixture: &Fixture) -> Vec<Value> {
    let request = crate::support::client().get(format!("http://{}/api/tokens", fixture.address()));
    let tokens: Value = request.bearer_auth(fixture.session()).send().await.unwrap().json().await.unwrap();
    tokens.as_array().unwrap().iter().map(|token| token["label"].clone()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bridge_ends_with_its_input_and_revokes_its_token() {
    let fixture = Fixture::start().await;
    assert!(answers(&fixture, &[]).await.is_empty());
    let greeted = answers(&fixture, &[INITIALIZE]).await;
    assert_eq!((greeted.len(), &greeted[0]["result"]["serverInfo"]["name"]), (1, &json!("notarium")), "{greeted:?}");
    let greeted = answers(&fixture, &[INITIALIZE, INITIALIZED]).await;
    assert_eq!(greeted.len(), 1, "{greeted:?}");
    assert!(!tokens(&fixture).await.contains(&json!("notarium mcp")));
}
