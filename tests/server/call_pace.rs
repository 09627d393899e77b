//! Tests of the rate limit of tool calls per token, over all notebooks.

use notarium_assistant::host::NotebookHost;
use notarium_core::{Command, RawObject, RejectionCode, RequestToolCall, Scope};
use notarium_server::Clock;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::revoked::{Scene, id_of};
use crate::support::TestServer;

fn look(token: &str) -> Command {
    Command::RequestToolCall(RequestToolCall {
        call_id: None,
        turn_id: None,
        function: "get_notebook_state".to_owned(),
        arguments: RawObject::default(),
        after: None,
        conversation_title: None,
        token: Some(id_of(token)),
    })
}

#[tokio::test]
async fn another_notebook_is_no_way_round_the_rate_limit_of_tool_calls() {
    let clock = Arc::new(AtomicU64::new(Clock::system().now()));
    let server = TestServer::with(|config| {
        config.clock = Clock::manual(clock.clone());
        config.rooms.room.limits.max_token_calls_per_minute = 3;
    });
    let scene = Scene::of(server.await).await;
    let (other, _) = scene.server.http(&scene.ann).notebook("y = 2").await;
    let tokens = [scene.server.api_token(&scene.ann, &[Scope::Read]).await, scene.ann.token.clone()];
    let host = scene.server.running().assistant_host();
    let ask = async |notebook: &str, token: &str| {
        host.execute(&scene.assistant(), &notebook.parse().unwrap(), &look(token)).await.map(drop)
    };
    for _ in 0..2 {
        ask(&scene.notebook, &tokens[0]).await.unwrap();
    }
    let unknown = ask("no-notebook", &tokens[0]).await.unwrap_err();
    assert_ne!(unknown.code, RejectionCode::RateLimited, "what is refused does not count");
    ask(&other, &tokens[0]).await.unwrap();
    let refused = ask(&other, &tokens[0]).await.unwrap_err();
    assert_eq!(refused.code, RejectionCode::RateLimited);
    assert!(refused.message.contains("over all notebooks: wait 60 s"), "{refused}");
    ask(&other, &tokens[1]).await.unwrap();
    clock.fetch_add(60_000, Ordering::SeqCst);
    ask(&other, &tokens[0]).await.unwrap();
}
