//! Tests of the WebSocket protocol (RFC 6455): pings are answered, a close is echoed, frames are read whole.

use std::time::Duration;

use futures_util::{SinkExt, StreamExt};
use serde_json::json;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::CloseFrame;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async};

use crate::support::{PATIENCE, TestServer};

type Socket = WebSocketStream<MaybeTlsStream<TcpStream>>;

async fn connect(server: &TestServer) -> Socket {
    connect_async(format!("ws://{}/api/socket", server.address())).await.unwrap().0
}

async fn next(socket: &mut Socket) -> Option<Message> {
    timeout(PATIENCE, socket.next()).await.unwrap().map(Result::unwrap)
}

#[tokio::test]
async fn a_ping_is_answered_with_what_it_carries() {
    let server = TestServer::start().await;
    let mut socket = connect(&server).await;
    for payload in ["", "one", "two"] {
        socket.send(Message::Ping(payload.into())).await.unwrap();
        assert_eq!(next(&mut socket).await, Some(Message::Pong(payload.into())));
    }
}

#[tokio::test]
async fn a_close_is_echoed_with_its_code_and_ends_the_connection() {
    let server = TestServer::start().await;
    let mut socket = connect(&server).await;
    let close = CloseFrame { code: CloseCode::Away, reason: "".into() };
    socket.send(Message::Close(Some(close.clone()))).await.unwrap();
    assert_eq!(next(&mut socket).await, Some(Message::Close(Some(close))));
    assert_eq!(next(&mut socket).await, None);
}

#[tokio::test]
async fn who_is_refused_gets_the_reason_then_one_close() {
    let server = TestServer::start().await;
    let mut socket = connect(&server).await;
    socket.send(Message::text(r#"{"subscribe":{"notebook":"n"}}"#)).await.unwrap();
    let refused = next(&mut socket).await.unwrap().into_text().unwrap();
    assert!(refused.contains("the first message is hello"), "{refused}");
    assert_eq!(next(&mut socket).await, Some(Message::Close(None)));
    assert_eq!(next(&mut socket).await, None);
}

/// Builds a masked text frame of a client, with a zero mask.
fn frame(text: &str) -> Vec<u8> {
    let length = u8::try_from(text.len()).ok().filter(|length| *length < 126).expect("a short text");
    [&[0x81, 0x80 | length, 0, 0, 0, 0], text.as_bytes()].concat()
}

#[tokio::test]
async fn a_frame_that_takes_longer_than_silence_may_arrives() {
    let heartbeat = Duration::from_secs(1);
    let server = TestServer::with(|config| config.limits.agent_heartbeat = heartbeat).await;
    let ann = server.person("Ann").await;
    let token = server.agent_token(&ann, "slow").await;
    let mut socket = connect(&server).await;
    let hello = json!({"hello": {"protocols": {"min": 1, "max": 1}, "token": token, "client": "slow"}});
    socket.send(Message::text(hello.to_string())).await.unwrap();
    assert!(next(&mut socket).await.unwrap().into_text().unwrap().contains("welcome"));
    for piece in frame(r#"{"subscribe":{"notebook":"nowhere"}}"#).chunks(4) {
        // The frame takes four seconds, without a pong in between; three seconds of silence would end the connection.
        tokio::time::sleep(Duration::from_millis(400)).await;
        socket.get_mut().write_all(piece).await.unwrap();
    }
    loop {
        let message = next(&mut socket).await.expect("the connection stays");
        if let Message::Text(text) = message {
            assert!(text.contains("unknown_notebook"), "{text}");
            return;
        }
    }
}

#[tokio::test]
async fn who_closes_its_sending_side_gets_all_answers() {
    let server = TestServer::start().await;
    let ann = server.person("Ann").await;
    let mut socket = connect(&server).await;
    let hello = json!({"hello": {"protocols": {"min": 1, "max": 1}, "token": ann.token, "client": "half"}});
    socket.send(Message::text(hello.to_string())).await.unwrap();
    const COMMANDS: usize = 40;
    for number in 0..COMMANDS {
        let body = match number {
            0 => json!({"CreateNotebook": {"title": "0"}}),
            number => json!({"RenameNotebook": {"title": number.to_string()}}),
        };
        let command = json!({"command": {"id": format!("c{number}"), "notebook": "half", "body": body}});
        socket.send(Message::text(command.to_string())).await.unwrap();
    }
    socket.get_mut().shutdown().await.unwrap();
    let mut acks = 0;
    while let Some(Ok(message)) = timeout(PATIENCE, socket.next()).await.unwrap() {
        acks += usize::from(message.to_text().is_ok_and(|text| text.starts_with(r#"{"ack""#)));
    }
    assert_eq!(acks, COMMANDS);
}
