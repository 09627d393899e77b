//! Tests of two people over sockets: text, order, undo, presence, retries, slow readers.

use notarium_core::text::ChangeSet;
use notarium_core::{
    CellFlagChanges, CellId, CellType, Command, CommandId, EditSource, InsertCell, LimitName, Place, RawObject,
    RejectionCode,
};
use notarium_wire::{ClientMessage, PresenceState};

use crate::support::TestServer;

pub fn insert(cell_id: &str, source: &str) -> Command {
    Command::InsertCell(InsertCell {
        cell_id: Some(CellId::new(cell_id).unwrap()),
        cell_type: CellType::Code,
        source: source.to_owned(),
        place: Place::End,
        metadata: RawObject::default(),
        attachments: None,
        flags: CellFlagChanges::default(),
        reply: None,
    })
}

pub fn create(title: &str) -> Command {
    Command::CreateNotebook { title: title.to_owned(), metadata: RawObject::default(), forked_from: None }
}

pub fn edit(cell_id: &str, base: u64, change: &str) -> Command {
    let change: ChangeSet = serde_json::from_str(change).unwrap();
    let cell_id = CellId::new(cell_id).unwrap();
    Command::EditSource(EditSource { cell_id, base, change, undoes: None, redoes: None })
}

fn source_of(client: &crate::support::TestClient, cell: &str) -> String {
    client.state("n").cells[&CellId::new(cell).unwrap()].content.source.clone()
}

#[tokio::test]
async fn two_people_type_in_one_cell_and_both_keep_their_characters() {
    let server = TestServer::start().await;
    let (ann, bob) = (server.person("Ann").await, server.person("Bob").await);
    let mut first = server.connect(&ann).await;
    first.run("n", &create("Notes")).await.unwrap();
    first.run("n", &insert("c", "abc")).await.unwrap();
    let subject = serde_json::json!({"kind": "user", "id": bob.id.as_str()});
    server
        .http(&ann)
        .put("/api/notebooks/n/access", serde_json::json!({"subject": subject, "role": "editor"}))
        .await
        .ok();
    let mut second = server.connect(&bob).await;
    first.subscribe("n").await;
    second.subscribe("n").await;
    let base = first.state("n").version;
    assert_eq!(second.state("n").version, base);
    let one = first.command("n", &edit("c", base, r#"[1,[0,"XX"],2]"#)).await;
    let other = second.command("n", &edit("c", base, r#"[3,[0,"!"]]"#)).await;
    first.answer(&one).await.unwrap();
    second.answer(&other).await.unwrap();
    for client in [&mut first, &mut second] {
        client.until(|client| (client.state("n").version == base + 2).then_some(())).await;
        assert_eq!(source_of(client, "c"), "aXXbc!");
    }
    assert_eq!(first.state("n"), second.state("n"));
    let actors: Vec<String> = first.replica("n").events.iter().map(|event| event.actor.key()).collect();
    assert!(actors.contains(&format!("user:{}", bob.id)), "{actors:?}");
}

#[tokio::test]
async fn a_client_learns_the_limits_and_the_facts_of_a_refusal() {
    let server = TestServer::start().await;
    let mut ann = server.connect(&server.person("Ann").await).await;
    ann.run("n", &create("Notes")).await.unwrap();
    let max = ann.welcome.as_ref().unwrap().limits.unwrap().max_source_bytes;
    let long = "x".repeat(usize::try_from(max).unwrap() + 1);
    let refused = ann.run("n", &insert("c", &long)).await.unwrap_err();
    assert_eq!(refused.details.as_deref(), Some(&LimitName::Source.details(max)));
    ann.run("n", &insert("c", &long[1..])).await.unwrap();
}

#[tokio::test]
async fn a_repeated_command_is_applied_once_and_another_body_is_refused() {
    let server = TestServer::start().await;
    let mut ann = server.connect(&server.person("Ann").await).await;
    ann.run("n", &create("Notes")).await.unwrap();
    let command_id = CommandId::new("once").unwrap();
    ann.command_as(&command_id, "n", None, &insert("c", "1")).await;
    let first = ann.answer(&command_id).await.unwrap();
    ann.acks.clear();
    ann.command_as(&command_id, "n", None, &insert("c", "1")).await;
    assert_eq!(ann.answer(&command_id).await.unwrap(), first);
    ann.acks.clear();
    ann.command_as(&command_id, "n", None, &insert("c", "2")).await;
    assert_eq!(ann.answer(&command_id).await.unwrap_err().code, RejectionCode::CommandIdReused);
    ann.subscribe("n").await;
    assert_eq!(ann.state("n").version, first.version);
}

#[tokio::test]
async fn what_was_done_is_undone_and_redone_over_the_wire() {
    let server = TestServer::start().await;
    let mut ann = server.connect(&server.person("Ann").await).await;
    ann.run("n", &create("Notes")).await.unwrap();
    ann.run("n", &insert("c", "abc")).await.unwrap();
    ann.subscribe("n").await;
    ann.run("n", &Command::DeleteCell { cell_id: CellId::new("c").unwrap(), cell_version: None }).await.unwrap();
    assert!(ann.state("n").cells.is_empty());
    ann.run("n", &Command::Undo { steps: 1, correlation_id: None, turn_id: None, cell_id: None }).await.unwrap();
    assert_eq!(source_of(&ann, "c"), "abc");
    ann.run("n", &Command::Redo { steps: 1, cell_id: None }).await.unwrap();
    assert!(ann.state("n").cells.is_empty());
    ann.run("n", &Command::Undo { steps: 1, correlation_id: None, turn_id: None, cell_id: None }).await.unwrap();
    assert!(ann.replica("n").events.iter().any(|event| event.undoes.is_some()));
    ann.run("n", &Command::Redo { steps: 9, cell_id: None }).await.unwrap();
    assert_eq!(
        ann.run("n", &Command::Redo { steps: 1, cell_id: None }).await.unwrap_err().code,
        RejectionCode::NothingToUndo
    );
}

#[tokio::test]
async fn an_expected_version_that_moved_is_a_conflict_naming_both() {
    let server = TestServer::start().await;
    let mut ann = server.connect(&server.person("Ann").await).await;
    ann.run("n", &create("Notes")).await.unwrap();
    ann.run("n", &insert("c", "")).await.unwrap();
    let command_id = CommandId::new("late").unwrap();
    ann.command_as(&command_id, "n", Some(1), &insert("d", "")).await;
    let refused = ann.answer(&command_id).await.unwrap_err();
    assert_eq!(refused.code, RejectionCode::Conflict);
    assert_eq!((refused.expected_version, refused.actual_version), (Some(1), Some(2)));
}

#[tokio::test]
async fn five_writers_make_fifty_versions() {
    let server = TestServer::start().await;
    let ann = server.person("Ann").await;
    let mut maker = server.connect(&ann).await;
    maker.run("n", &create("Notes")).await.unwrap();
    let before = maker.run("n", &insert("c", "")).await.unwrap().version;
    let mut writers = Vec::new();
    for writer in 0..5 {
        let mut client = server.connect(&ann).await;
        writers.push(tokio::spawn(async move {
            for number in 0..10 {
                client.run("n", &insert(&format!("w{writer}-{number}"), "")).await.unwrap();
            }
        }));
    }
    for writer in writers {
        writer.await.unwrap();
    }
    maker.subscribe("n").await;
    assert_eq!(maker.state("n").version, before + 50);
    assert_eq!(maker.state("n").cells.len(), 51);
}

#[tokio::test]
async fn people_see_each_other_come_move_and_go() {
    let server = TestServer::start().await;
    let ann = server.person("Ann").await;
    let mut one = server.connect(&ann).await;
    one.run("n", &create("Notes")).await.unwrap();
    one.subscribe("n").await;
    let mut other = server.connect(&ann).await;
    other.subscribe("n").await;
    let name = other.welcome.as_ref().unwrap().connection.clone();
    let state = PresenceState { cell_id: None, selection: Some([1, 4]), typing: true };
    let notebook = "n".parse().unwrap();
    other.send(&ClientMessage::Presence { notebook, state: state.clone() }).await;
    let peer = one.until(|one| one.replica("n").peers.get(&name).filter(|peer| peer.state == state).cloned()).await;
    assert_eq!(peer.name, "Ann");
    drop(other);
    one.until(|one| (!one.replica("n").peers.contains_key(&name)).then_some(())).await;
}

#[tokio::test]
async fn a_reader_that_stalls_is_caught_up_and_harms_nobody() {
    let server = TestServer::with(|config| config.limits.max_queued_frames = 8).await;
    let ann = server.person("Ann").await;
    let mut writer = server.connect(&ann).await;
    writer.run("n", &create("Notes")).await.unwrap();
    writer.run("n", &insert("c", "")).await.unwrap();
    writer.subscribe("n").await;
    let mut stalled = server.connect(&ann).await;
    stalled.subscribe("n").await;
    let mut prompt = server.connect(&ann).await;
    prompt.subscribe("n").await;
    // More than the system's socket buffers hold.
    let text = "x".repeat(200_000);
    for number in 0..60 {
        writer.run("n", &insert(&format!("big{number}"), &text)).await.unwrap();
        let version = writer.state("n").version;
        prompt.until(|prompt| (prompt.state("n").version == version).then_some(())).await;
    }
    let version = writer.state("n").version;
    stalled.until(|stalled| (stalled.state("n").version == version).then_some(())).await;
    assert!(stalled.replica("n").resyncs >= 1, "it fell behind and was told");
    assert_eq!(stalled.state("n"), writer.state("n"));
    assert_eq!(prompt.replica("n").resyncs, 0);
}

#[tokio::test]
async fn the_token_may_come_as_a_subprotocol() {
    let server = TestServer::start().await;
    let ann = server.person("Ann").await;
    let protocols = format!("notarium, notarium.bearer.{}", ann.token);
    let headers = [("sec-websocket-protocol", protocols.as_str())];
    let mut client = crate::support::TestClient::open(server.address(), &headers).await.unwrap();
    client.hello(None).await;
    client.until(|client| client.welcome.is_some().then_some(())).await;
}

#[tokio::test]
async fn a_token_is_renewed_without_reconnecting() {
    let server = TestServer::start().await;
    let (ann, bob) = (server.person("Ann").await, server.person("Bob").await);
    let mut client = server.connect(&ann).await;
    client.run("n", &create("Notes")).await.unwrap();
    let read_only = server.api_token(&ann, &[notarium_core::Scope::Read]).await;
    client.send(&ClientMessage::Refresh { token: read_only }).await;
    let refused = client.run("n", &insert("c", "")).await.unwrap_err();
    assert_eq!(refused.code, RejectionCode::Forbidden);
    client.send(&ClientMessage::Refresh { token: bob.token }).await;
    let error = client.error("another account's token").await;
    assert!(!error.fatal && error.message.contains("another account"), "{error:?}");
    client.send(&ClientMessage::Refresh { token: ann.token.clone() }).await;
    client.run("n", &insert("c", "")).await.unwrap();
    // The first token has expired: the connection depends on the new one.
    client.subscribe("n").await;
}

/// Both ends of a thousand connections are in this process: more open files than many systems allow by default.
#[cfg(unix)]
fn allow_many_files() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let limit = getrlimit(Resource::Nofile);
    let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit });
}

#[tokio::test]
async fn a_thousand_idle_clients_harm_nobody() {
    #[cfg(unix)]
    allow_many_files();
    // Ten notebooks, as presence of all clients in one would dominate the test.
    const NOTEBOOKS: [&str; 10] = ["n0", "n1", "n2", "n3", "n4", "n5", "n6", "n7", "n8", "n9"];
    let server = TestServer::start().await;
    let ann = server.person("Ann").await;
    let mut maker = server.connect(&ann).await;
    for notebook in NOTEBOOKS {
        maker.run(notebook, &create("Notes")).await.unwrap();
    }
    let mut idle = Vec::new();
    for (_, notebook) in (0..1_000).zip(NOTEBOOKS.iter().cycle()) {
        let mut client = server.connect(&ann).await;
        client.subscribe(notebook).await;
        idle.push((client, notebook));
    }
    let mut version = 0;
    for notebook in NOTEBOOKS {
        version = maker.run(notebook, &insert("c", "x")).await.unwrap().version;
    }
    for (client, notebook) in &mut idle {
        client.until(|client| (client.state(notebook).version == version).then_some(())).await;
    }
}
