//! Tests of invalid messages: each gets a typed answer that says what to do, and does no harm.

use notarium_core::{CellId, CellType, Command, CommandId, ExecutionTarget, Place, RejectionCode, RequestExecution};
use notarium_wire::{ErrorCode, ErrorMessage, PROTOCOLS, ProtocolRange};
use serde_json::json;
use tokio_tungstenite::tungstenite::Message;

use super::socket::{create, edit, insert};
use crate::support::{TestClient, TestServer};

async fn with_notebook() -> (TestServer, TestClient) {
    let server = TestServer::start().await;
    let ann = server.person("Ann").await;
    let mut client = server.connect(&ann).await;
    client.run("n", &create("Notes")).await.unwrap();
    client.run("n", &insert("c", "a😀b")).await.unwrap();
    (server, client)
}

#[tokio::test]
async fn wrong_messages_are_answered_and_the_connection_stays() {
    let (_server, mut client) = with_notebook().await;
    let cases = [
        ("{", ErrorCode::Malformed, "one key"),
        ("null", ErrorCode::Malformed, "one key"),
        (r#"{"subscribe":{},"command":{}}"#, ErrorCode::Malformed, "one key"),
        (r#"{"sudo":{}}"#, ErrorCode::UnknownMessage, "use one of"),
        (r#"{"subscribe":{"notebook":"n","colour":1}}"#, ErrorCode::Malformed, "colour"),
        (r#"{"subscribe":{"notebook":"../etc"}}"#, ErrorCode::Malformed, "not an id"),
        (r#"{"subscribe":{"notebook":"n","since":{"version":1}}}"#, ErrorCode::Malformed, "event_id"),
        (r#"{"subscribe":{"notebook":"nowhere"}}"#, ErrorCode::UnknownNotebook, ""),
        (r#"{"hello":{"protocols":{"min":1,"max":1},"client":"x"}}"#, ErrorCode::Malformed, "once"),
        (r#"{"presence":{"notebook":"other","state":{}}}"#, ErrorCode::UnknownNotebook, "subscribe first"),
        (r#"{"offer":{"kernelspecs":[]}}"#, ErrorCode::Forbidden, "agent"),
        (r#"{"kernel_status":{"notebook":"n","kernel_session":"k","busy":true}}"#, ErrorCode::Forbidden, "agent"),
        (
            r#"{"kernel_use":{"notebook":"n","kernel_session":"k","usage":{"memory_bytes":1}}}"#,
            ErrorCode::Forbidden,
            "agent",
        ),
        (r#"{"refresh":{"token":"nt_x"}}"#, ErrorCode::Unauthenticated, "token"),
    ];
    for (text, code, words) in cases {
        client.send_text(text).await;
        let error = client.error(text).await;
        assert_eq!(error.code, code, "{text}: {error:?}");
        assert!(!error.fatal && error.message.contains(words), "{text}: {error:?}");
    }
    client.send_message(Message::binary(vec![0, 159])).await;
    assert_eq!(client.error("").await.code, ErrorCode::Malformed);
    client.run("n", &insert("d", "still here")).await.unwrap();
}

#[tokio::test]
async fn wrong_commands_are_rejected_with_their_code() {
    let (_server, mut client) = with_notebook().await;
    let cell = |text: &str| CellId::new(text).unwrap();
    let markdown = Command::ChangeCellType { cell_id: cell("m"), cell_type: CellType::Markdown, cell_version: None };
    client.run("n", &insert("m", "# words")).await.unwrap();
    client.run("n", &markdown).await.unwrap();
    client.run("n", &insert("gone", "")).await.unwrap();
    client.run("n", &Command::DeleteCell { cell_id: cell("gone"), cell_version: None }).await.unwrap();
    let run = |cell_id: &str| {
        let target = ExecutionTarget::Cell { cell_id: cell(cell_id), cell_version: None };
        Command::RequestExecution(RequestExecution::new(target))
    };
    let replace = |cell_id: &str, cell_version| Command::ReplaceSource {
        cell_id: cell(cell_id),
        cell_version,
        source: "new".to_owned(),
    };
    use RejectionCode as R;
    let cases = [
        (edit("c", 2, r#"[9,[0,"x"]]"#), R::InvalidChange),
        (edit("c", 2, r#"[2,[0,"x"],2]"#), R::InvalidChange),
        (edit("c", 999, r#"[4,[0,"x"]]"#), R::VersionInFuture),
        (edit("gone", 2, r#"[0,[0,"x"]]"#), R::CellDeleted),
        (edit("nobody", 2, r#"[0,[0,"x"]]"#), R::UnknownCell),
        (insert("c", "again"), R::CellExists),
        (insert("big", &"x".repeat((1 << 20) + 1)), R::LimitExceeded),
        (replace("c", 1), R::Conflict),
        (Command::MoveCell { cell_id: cell("c"), place: Place::After(cell("c")), cell_version: None }, R::InvalidPlace),
        (Command::RestoreCell { cell_id: cell("c") }, R::CellNotDeleted),
        (run("m"), R::NotRunnable),
        (Command::RenameNotebook { title: "\u{7}".to_owned() }, R::InvalidValue),
        (create("again"), R::NotebookExists),
        (Command::NameVersion { version: 999, name: "x".to_owned() }, R::VersionInFuture),
    ];
    client.subscribe("n").await;
    let before = client.state("n").clone();
    for (command, code) in cases {
        let refused = client.run("n", &command).await.unwrap_err();
        assert_eq!(refused.code, code, "{command:?}: {}", refused.message);
        assert!(!refused.message.is_empty());
    }
    let refused = client.run("elsewhere", &insert("x", "")).await.unwrap_err();
    assert_eq!(refused.code, R::UnknownNotebook);
    let text = r#"{"command":{"id":"cr","notebook":"n","body":{"EditSource":{"cell_id":"c","base":2,"change":[4,[0,"a\r"]]}}}}"#;
    client.send_text(text).await;
    let refused = client.answer(&CommandId::new("cr").unwrap()).await.unwrap_err();
    assert!(refused.message.contains("carriage return"), "{refused:?}");
    assert_eq!(*client.state("n"), before, "a rejected command leaves no trace");
}

#[tokio::test]
async fn a_forged_actor_or_time_is_an_unknown_field() {
    let (_server, mut client) = with_notebook().await;
    for forged in [r#""actor":{"kind":"system"}"#, r#""recorded_at":1"#, r#""version":7"#] {
        let text = format!(
            r#"{{"command":{{"id":"forged","notebook":"n","body":{{"InsertCell":{{"cell_type":"code",{forged}}}}}}}}}"#
        );
        client.send_text(text).await;
        let refused = client.answer(&CommandId::new("forged").unwrap()).await.unwrap_err();
        assert_eq!(refused.code, RejectionCode::InvalidValue, "{refused:?}");
        client.rejects.clear();
        let text = format!(r#"{{"command":{{"id":"forged","notebook":"n",{forged},"body":{{"StopAll":{{}}}}}}}}"#);
        client.send_text(text).await;
        assert_eq!(client.error("").await.code, ErrorCode::Malformed);
    }
}

/// Unknown fields are allowed in the record, and refused in commands from every interface.
#[tokio::test]
async fn an_unknown_field_or_word_comes_in_by_no_door() {
    let (server, mut client) = with_notebook().await;
    let reply = |field: &str, value: &str| {
        let mut reply = json!({"status": "finished", "prompt": "x", "text": "y"});
        reply[field] = json!(value);
        json!({"InsertCell": {"cell_type": "prompt", "reply": reply}})
    };
    let output = json!({"content": {"output_type": "stream"}, "mood": "good"});
    let commands = [
        reply("mood", "good"),
        reply("status", "dreaming"),
        reply("cause", "dreamt"),
        json!({"RecordExecution": {"cell_id": "c", "outputs": [output]}}),
        json!({"GrantAccess": {"subject": {"kind": "user", "id": "bob", "mood": 1}, "role": "viewer"}}),
        json!({"GrantAccess": {"subject": {"kind": "user", "id": "bob"}, "role": "emperor"}}),
    ];
    for body in commands.iter().cloned().chain(commands.iter().map(|one| json!({"Batch": {"commands": [one]}}))) {
        let message = json!({"command": {"id": "closed", "notebook": "n", "body": body}});
        client.send_text(message.to_string()).await;
        let refused = client.answer(&CommandId::new("closed").unwrap()).await.unwrap_err();
        assert_eq!(refused.code, RejectionCode::InvalidValue, "{body}: {refused:?}");
        client.rejects.clear();
    }
    let http = server.http(&server.person("Bob").await);
    http.post("/api/notebooks", json!({"id": "bobs", "title": "Bob's"})).await.ok();
    let cells = "/api/notebooks/bobs/cells";
    let cell = |value| http.post(cells, value);
    assert_eq!(cell(json!({"cell_type": "code", "mood": 1})).await.refused(400), "malformed");
    assert_eq!(cell(json!({"cell_type": "code", "flags": {"mood": true}})).await.refused(400), "malformed");
    assert_eq!(cell(json!({"cell_type": "poem"})).await.refused(400), "malformed");
    cell(json!({"cell_type": "code"})).await.ok();
}

#[tokio::test]
async fn frames_that_are_too_large_are_refused_and_far_too_large_ones_end_the_connection() {
    let server = TestServer::with(|config| config.limits.max_frame_bytes = 100_000).await;
    let ann = server.person("Ann").await;
    let mut client = server.connect(&ann).await;
    assert_eq!(client.welcome.as_ref().unwrap().max_frame_bytes, 100_000);
    client.send_text("x".repeat(100_001)).await;
    let error = client.error("").await;
    assert_eq!((error.code, error.fatal), (ErrorCode::FrameTooLarge, false));
    client.run("n", &create("Notes")).await.unwrap();
    client.send_text("x".repeat(200_001)).await;
    let error = client.error("").await;
    assert_eq!((error.code, error.fatal), (ErrorCode::FrameTooLarge, true));
    client.until_closed().await;
    server.connect(&ann).await.subscribe("n").await;
}

#[tokio::test]
async fn a_flood_of_errors_ends_the_connection() {
    let server = TestServer::with(|config| config.limits.max_errors_per_minute = 3).await;
    let mut client = server.connect(&server.person("Ann").await).await;
    for _ in 0..4 {
        client.send_text("{").await;
    }
    client.until_closed().await;
    let codes: Vec<ErrorCode> = client.errors.iter().map(|error| error.code).collect();
    let malformed = ErrorCode::Malformed;
    assert_eq!(codes, [malformed, malformed, malformed, ErrorCode::TooManyRequests]);
}

async fn greeted_with(text: &str) -> ErrorMessage {
    let server = TestServer::start().await;
    let mut client = TestClient::open(server.address(), &[]).await.unwrap();
    client.send_text(text).await;
    client.until_closed().await;
    let [error] = client.errors.as_slice() else { panic!("{:?}", client.errors) };
    assert!(error.fatal);
    error.clone()
}

#[tokio::test]
async fn who_does_not_greet_properly_is_told_why_and_closed() {
    let cases = [
        (r#"{"hello":{"protocols":{"min":1,"max":1},"client":"x"}}"#, ErrorCode::Unauthenticated),
        (r#"{"hello":{"protocols":{"min":1,"max":1},"token":"nt_wrong","client":"x"}}"#, ErrorCode::Unauthenticated),
        (r#"{"subscribe":{"notebook":"n"}}"#, ErrorCode::Unauthenticated),
        ("hello", ErrorCode::Malformed),
    ];
    for (text, code) in cases {
        assert_eq!(greeted_with(text).await.code, code, "{text}");
    }
}

#[tokio::test]
async fn who_speaks_no_protocol_of_the_server_is_told_both_ranges() {
    let hello = r#"{"hello":{"protocols":{"min":2,"max":3},"token":"x","client":"x","new":{"field":1}}}"#;
    let error = greeted_with(hello).await;
    assert_eq!(error.code, ErrorCode::UnsupportedProtocol);
    let ranges = error.protocols.unwrap();
    assert_eq!((ranges.client, ranges.server), (ProtocolRange { min: 2, max: 3 }, PROTOCOLS));
    assert!(error.message.contains("1 to 1") && error.message.contains("2 to 3"), "{}", error.message);
}

#[tokio::test]
async fn the_server_says_which_of_the_offered_protocols_is_spoken() {
    let server = TestServer::start().await;
    let ann = server.person("Ann").await;
    let mut client = TestClient::open(server.address(), &[]).await.unwrap();
    let hello = json!({"hello": {"protocols": {"min": 1, "max": 7}, "token": ann.token, "client": "newer/1"}});
    client.send_text(hello.to_string()).await;
    client.until(|client| client.welcome.is_some().then_some(())).await;
    assert_eq!(client.welcome.unwrap().protocol, PROTOCOLS.max);
}

#[tokio::test]
async fn who_says_nothing_is_closed_after_the_time() {
    let server = TestServer::with(|config| config.limits.hello_timeout = std::time::Duration::from_millis(200)).await;
    let mut client = TestClient::open(server.address(), &[]).await.unwrap();
    client.until_closed().await;
    assert_eq!(client.errors[0].code, ErrorCode::HelloTimeout);
}

#[tokio::test]
async fn a_stranger_is_not_read_beyond_its_hello() {
    let long = json!({"hello": {"protocols": {"min": 1, "max": 1}, "token": "x".repeat(1 << 20), "client": "x"}});
    let error = greeted_with(&long.to_string()).await;
    assert_eq!(error.code, ErrorCode::FrameTooLarge);
    assert!(error.message.contains("16384"), "{}", error.message);
}

#[tokio::test]
async fn what_is_sent_before_the_welcome_came_is_read_after_it() {
    let server = TestServer::start().await;
    let ann = server.person("Ann").await;
    let mut client = TestClient::open(server.address(), &[]).await.unwrap();
    let hello = json!({"hello": {"protocols": {"min": 1, "max": 1}, "token": ann.token, "client": "eager/1"}});
    client.send_text(hello.to_string()).await;
    client.send_text("x".repeat(1 << 20)).await;
    client.until(|client| (!client.errors.is_empty()).then_some(())).await;
    assert!(client.welcome.is_some());
    assert_eq!(client.errors[0].code, ErrorCode::Malformed);
}

#[tokio::test]
async fn strangers_have_places_of_their_own() {
    let server = TestServer::with(|config| config.limits.max_strangers = 2).await;
    let ann = server.person("Ann").await;
    let _known = server.connect(&ann).await;
    let _first = TestClient::open(server.address(), &[]).await.unwrap();
    let second = TestClient::open(server.address(), &[]).await.unwrap();
    assert_eq!(TestClient::open(server.address(), &[]).await.err(), Some(503));
    drop(second);
    let mut again = TestClient::open(server.address(), &[]).await;
    while again.is_err() {
        again = TestClient::open(server.address(), &[]).await;
    }
}

#[tokio::test]
async fn a_connection_that_sends_no_byte_is_closed() {
    use tokio::io::AsyncReadExt;
    let first_byte = std::time::Duration::from_millis(100);
    let server = TestServer::with(|config| config.limits.first_byte_timeout = first_byte).await;
    let mut silent = tokio::net::TcpStream::connect(server.address()).await.unwrap();
    assert_eq!(silent.read(&mut [0; 1]).await.unwrap(), 0);
}

#[tokio::test]
async fn dead_peers_are_noticed() {
    // Long enough for a healthy client to answer in time, even on a busy machine.
    let server = TestServer::with(|config| config.limits.heartbeat = std::time::Duration::from_secs(1)).await;
    let ann = server.person("Ann").await;
    let mut alive = server.connect(&ann).await;
    alive.run("n", &create("Notes")).await.unwrap();
    alive.subscribe("n").await;
    let mut dead = server.connect(&ann).await;
    dead.subscribe("n").await;
    let name = dead.welcome.as_ref().unwrap().connection.clone();
    alive.until(|alive| alive.replica("n").peers.contains_key(&name).then_some(())).await;
    // The test does not read `dead`, so it answers no ping.
    alive.until(|alive| (!alive.replica("n").peers.contains_key(&name)).then_some(())).await;
}

#[tokio::test]
async fn foreign_pages_and_names_are_refused_before_the_upgrade() {
    let server = TestServer::start().await;
    let refused = |headers: &'static [(&'static str, &'static str)]| TestClient::open(server.address(), headers);
    assert_eq!(refused(&[("origin", "https://evil.example")]).await.err(), Some(403));
    assert_eq!(refused(&[("origin", "null")]).await.err(), Some(403));
    assert_eq!(refused(&[("host", "evil.example")]).await.err(), Some(403));
    let own = format!("http://{}", server.address());
    assert!(TestClient::open(server.address(), &[("origin", &own)]).await.is_ok());
    let http = server.http(&server.person("Ann").await);
    let foreign = http.request(reqwest::Method::GET, "/api/notebooks").header("origin", "https://evil.example");
    assert_eq!(http.send(foreign).await.refused(403), "wrong_origin");
    let renamed = http.request(reqwest::Method::GET, "/api/notebooks").header("host", "evil.example");
    assert_eq!(http.send(renamed).await.refused(403), "wrong_host");
}

#[tokio::test]
async fn a_revoked_token_ends_its_connections_at_once() {
    let server = TestServer::start().await;
    let ann = server.person("Ann").await;
    let token = server.api_token(&ann, &[notarium_core::Scope::Read]).await;
    let mut client = server.connect_as(&token).await;
    server.revoke(&token).await;
    client.until_closed().await;
    assert_eq!(client.errors[0].code, ErrorCode::Unauthenticated);
    assert!(client.errors[0].fatal);
    assert_eq!(server.http_as(&token).get("/api/notebooks").await.refused(401), "token_revoked");
}

#[tokio::test]
async fn wrong_requests_are_problems() {
    let (server, _client) = with_notebook().await;
    let ann = server.person("Bob").await;
    let http = server.http(&ann);
    assert_eq!(http.get("/api/nowhere").await.refused(404), "not_found");
    assert_eq!(http.get("/nowhere").await.refused(404), "not_found");
    assert_eq!(http.delete("/api/notebooks").await.refused(405), "method_not_allowed");
    assert_eq!(http.without_token().get("/api/notebooks").await.refused(401), "unauthenticated");
    assert_eq!(server.http_as("nt_wrong").get("/api/notebooks").await.refused(401), "unauthenticated");
    assert_eq!(http.get("/api/notebooks/n").await.refused(404), "unknown_notebook");
    assert_eq!(http.get("/api/notebooks/n%20n").await.refused(400), "invalid_value");
    assert_eq!(http.get("/api/notebooks?limit=many").await.refused(400), "invalid_value");
    assert_eq!(http.get("/api/notebooks?colour=red").await.refused(400), "invalid_value");
    assert_eq!(http.get("/api/notebooks?token=nt_x").await.refused(400), "invalid_value");
    assert_eq!(http.post("/api/notebooks", json!({"title": ""})).await.refused(400), "invalid_value");
    assert_eq!(http.post("/api/notebooks", json!({"name": "x"})).await.refused(400), "malformed");
    assert_eq!(http.post("/api/notebooks", json!([null, "x"])).await.refused(400), "malformed", "a list is no object");
    let text = http.request(reqwest::Method::POST, "/api/notebooks").body("title=x");
    assert_eq!(http.send(text).await.refused(415), "unsupported_media_type");
    let broken = http.request(reqwest::Method::POST, "/api/notebooks").header("content-type", "application/json");
    assert_eq!(http.send(broken.body("{")).await.refused(400), "malformed");
    let large = http.request(reqwest::Method::POST, "/api/notebooks").header("content-type", "application/json");
    // One byte too many: the sender of much more may find the connection closed before it reads the answer.
    assert_eq!(http.send(large.body(vec![b' '; (8 << 20) + 1])).await.refused(413), "limit_exceeded");
    let plain = http.get("/api/socket").await;
    assert!(plain.status.is_client_error(), "{}", plain.text);
    assert_eq!(plain.header("content-type"), "application/problem+json");
}

/// JSON has many ways to write a key: a check that reads the text of a command would miss these.
#[tokio::test]
async fn an_escaped_key_walks_round_no_check() {
    let (_server, mut client) = with_notebook().await;
    let hash = "0".repeat(64);
    let content = r#"{"output_type":"stream","name":"stdout","text":""}"#;
    let bodies = [
        format!(
            r#"{{"RecordExecution":{{"cell_id":"c","outputs":[{{"content":{content},"blobs":[{{"pointer":"/text","sha25\u0036":"{hash}","size_bytes":3}}]}}]}}}}"#
        ),
        format!(
            r#"{{"Start\u0054urn":{{"conversation_id":"talk","text":"look","\u0061ttachments":[{{"name":"a.png","media_type":"image/png","sha25\u0036":"{hash}","size_bytes":3}}]}}}}"#
        ),
        r#"{"Grant\u0041ccess":{"subject":{"kind":"user","id":"nobody-here"},"role":"editor"}}"#.to_owned(),
    ];
    for (number, body) in bodies.iter().enumerate() {
        let id = format!("escaped{number}");
        client.send_text(format!(r#"{{"command":{{"id":"{id}","notebook":"n","body":{body}}}}}"#)).await;
        let refused = client.answer(&CommandId::new(id.as_str()).unwrap()).await.unwrap_err();
        let words = ["was not uploaded", "was not uploaded", "nobody-here"][number];
        assert!(refused.message.contains(words), "{body}: {refused:?}");
    }
}
