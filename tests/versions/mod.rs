//! Tests with logs, servers and clients of different versions. In this process `CellSourceEdited` has an invented current schema 2, and
//! another schema 1. The built program knows only the real schema 1, so it acts as an older client.

use notarium_core::upcast::{PayloadFields, Upcaster, extend};
use notarium_core::{
    Append, Command, CommandRecord, Envelope, Head, InstanceId, NewEvent, NotebookId, RawJson, RejectionCode, Salt,
    Stored, Version,
};
use notarium_store::EventStore;
use notarium_store::sqlite::Sqlite;
use serde_json::{Value, json};
use tokio::io::AsyncBufReadExt;

use crate::support::{PATIENCE, Person, TestServer};

/// Schema 1 had the position and the inserted text; a current change also needs the length of the whole text.
const INVENTED: &[Upcaster] = &[Upcaster { event_type: "CellSourceEdited", schema: 1, upcast: insertion_to_change }];

fn insertion_to_change(fields: &mut PayloadFields) -> Result<(), serde_json::Error> {
    // The real schema 1, which other tests of this process receive from the built program.
    if fields.contains_key("change") {
        return Ok(());
    }
    let mut take = |name| fields.remove(name).map(|field| field.get().to_owned()).unwrap_or_default();
    let (at, insert, length) = (take("at"), take("insert"), take("length"));
    let (before, whole): (u64, u64) = (serde_json::from_str(&at)?, serde_json::from_str(&length)?);
    let mut change = vec![json!(before), json!([0, serde_json::from_str::<String>(&insert)?]), json!(whole - before)];
    change.retain(|section| *section != 0);
    fields.insert("change".to_owned(), RawJson::of(&change)?);
    Ok(())
}

/// Payload of schema 1 with its exact spaces, as the bytes are hashed. Later versions of that schema added a note.
const OLD_PAYLOAD: &str = r#"{"cell_id": "c", "at": 3, "insert": "def", "length": 3, "note": 1.50}"#;

fn command(body: Value) -> Command {
    serde_json::from_value(body).unwrap()
}

fn edit(base: Version, change: Value) -> Command {
    command(json!({"EditSource": {"cell_id": "c", "base": base, "change": change}}))
}

/// Starts a server whose notebook `n` has one cell, "abc", at version 2.
async fn with_notebook() -> (TestServer, Person) {
    extend(INVENTED);
    let server = TestServer::start().await;
    let ann = server.person("Ann").await;
    let mut client = server.connect(&ann).await;
    client.run("n", &command(json!({"CreateNotebook": {"title": "Notes", "metadata": {}}}))).await.unwrap();
    let insert = json!({"InsertCell": {"cell_id": "c", "cell_type": "code", "source": "abc"}});
    client.run("n", &command(insert)).await.unwrap();
    (server, ann)
}

/// Writes to the database of a stopped server as another server.
async fn written_by_another_server(server: &TestServer, events: &[(&str, u16, &str)]) -> Vec<Stored> {
    let store = Sqlite::open(server.folder()).await.unwrap();
    let id = NotebookId::new("n").unwrap();
    let epoch = store.take_lease(&id, &InstanceId::new("another").unwrap()).await.unwrap();
    let expected = store.head(&id).await.unwrap().unwrap();
    let last = store.read(&id, expected.version - 1, 1).await.unwrap().remove(0);
    let mut head = expected;
    let written: Vec<Stored> = events.iter().map(|event| following(&mut head, &last, *event)).collect();
    let new = |stored: &Stored| NewEvent { stored: stored.clone(), subject: Some("c".to_owned()) };
    let events = written.iter().map(new).collect();
    let answer = |stored: &Stored| CommandRecord {
        actor: stored.envelope.actor.key(),
        command_id: stored.envelope.command_id.clone(),
        digest: [7; 32],
        version: stored.envelope.version,
        outcome: RawJson::parse("{}").unwrap(),
    };
    let commands = written.iter().map(answer).collect();
    store.append(Append { notebook_id: id, epoch, expected, events, commands }).await.unwrap();
    store.close().await;
    written
}

fn following(head: &mut Head, last: &Stored, (event_type, schema, payload): (&str, u16, &str)) -> Stored {
    let version = head.version + 1;
    let envelope = Envelope {
        id: format!("another-{version}").parse().unwrap(),
        version,
        event_type: event_type.to_owned(),
        schema,
        command_id: format!("another-{version}").parse().unwrap(),
        ..last.envelope.clone()
    };
    Stored::seal(head, envelope, RawJson::parse(payload).unwrap(), Salt([7; 16]))
}

/// Returns the record, read as JSON Lines.
async fn record(server: &TestServer, ann: &Person) -> Vec<Stored> {
    let http = server.http(ann);
    let request = http.request(reqwest::Method::GET, "/api/notebooks/n/events");
    let lines = http.send(request.header("accept", "application/x-ndjson")).await;
    lines.text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn source(document: &Value) -> &str {
    document["cells"]["c"]["source"].as_str().unwrap()
}

#[tokio::test]
async fn an_event_of_an_old_schema_is_read_as_today_and_stays_in_the_log_as_it_was_hashed() {
    let (mut server, ann) = with_notebook().await;
    let mut follower = server.connect(&ann).await;
    follower.subscribe("n").await;
    server.stop().await;
    follower.until_closed().await;
    let old = written_by_another_server(&server, &[("CellSourceEdited", 1, OLD_PAYLOAD)]).await;
    server.start_again().await;

    // Frames: a follower gets the event in the current schema, with its unknown fields.
    follower.reconnect(server.address(), &ann.token).await;
    follower.until(|client| (client.state("n").version == 3).then_some(())).await;
    let came = follower.replica("n").events.last().unwrap();
    let payload: Value = serde_json::from_str(came.payload.get()).unwrap();
    assert_eq!((came.schema, payload), (2, json!({"cell_id": "c", "change": [3, [0, "def"]], "note": 1.5})));
    assert!(came.payload.get().contains("1.50"), "what is not upcast keeps its text: {}", came.payload.get());

    // Snapshots by socket and REST.
    let mut fresh = server.connect(&ann).await;
    fresh.subscribe("n").await;
    assert_eq!(serde_json::to_value(fresh.state("n")).unwrap()["cells"]["c"]["source"], "abcdef");

    // `decide` with history from memory: an older change is mapped over the event.
    fresh.run("n", &edit(2, json!([3, [0, "!"]]))).await.unwrap();
    assert_eq!(source(&server.http(&ann).get("/api/notebooks/n").await.ok()["notebook"]), "abcdef!");

    // `decide` with history from the store, behind a snapshot of the current state.
    server.stop().await;
    server.start_again().await;
    let mut client = server.connect(&ann).await;
    client.run("n", &edit(2, json!([[0, "X"], 3]))).await.unwrap();
    assert_eq!(source(&server.http(&ann).get("/api/notebooks/n").await.ok()["notebook"]), "Xabcdef!");
    assert_eq!(source(&server.http(&ann).get("/api/notebooks/n?at=3").await.ok()["notebook"]), "abcdef");

    // The record: raw and verified.
    let verified = server.http(&ann).get("/api/notebooks/n/verify").await.ok();
    assert!(verified["ok"] == true && verified["state_is_replayed"] == true, "{verified}");
    let page = server.http(&ann).get("/api/notebooks/n/events?after=2").await;
    assert!(page.text.contains(OLD_PAYLOAD), "the very bytes: {}", page.text);
    let page = page.ok();
    let schemas: Vec<&Value> = page["events"].as_array().unwrap().iter().map(|event| &event["schema"]).collect();
    assert_eq!(schemas, [1, 2, 2]);
    let lines = record(&server, &ann).await;
    assert_eq!((lines.len(), &lines[2]), (5, &old[0]));
    notarium_core::verify_chain(Head::START, &lines).unwrap();
}

#[tokio::test]
async fn a_server_older_than_its_log_shows_what_it_knows_and_refuses_to_write() {
    let (mut server, ann) = with_notebook().await;
    let http = server.http(&ann);
    let known = http.get("/api/notebooks/n").await.ok();
    server.stop().await;
    let renamed = r#"{"title":"Later","previous":"Notes"}"#;
    for newer in [("CellDreamt", 1, r#"{"cell_id":"c"}"#), ("CellSourceEdited", 3, "{}")] {
        written_by_another_server(&server, &[newer, ("NotebookRenamed", 1, renamed)]).await;
        server.start_again().await;
        let head = http.get("/api/notebooks/n/events").await.ok()["head"]["version"].clone();

        let mut client = server.connect(&ann).await;
        client.subscribe("n").await;
        assert_eq!((client.state("n").version, client.state("n").title.as_str()), (2, "Notes"), "{newer:?}");
        let read = http.get("/api/notebooks/n").await.ok();
        assert_eq!(
            (&read["read_only"], &read["notebook"], &read["head"]["version"]),
            (&json!(true), &known["notebook"], &head)
        );

        let rejected = client.run("n", &edit(2, json!([[0, "x"], 3]))).await.unwrap_err();
        assert_eq!(rejected.code, RejectionCode::ReadOnly);
        assert!(rejected.message.contains("update this server"), "{}", rejected.message);
        assert_eq!(http.patch("/api/notebooks/n", json!({"title": "x"})).await.refused(409), "read_only");

        let lines = record(&server, &ann).await;
        assert_eq!(json!(lines.last().unwrap().envelope.version), head, "the record is whole");
        notarium_core::verify_chain(Head::START, &lines).unwrap();
        let verified = http.get("/api/notebooks/n/verify").await.ok();
        assert_eq!(
            (&verified["ok"], &verified["version"], &verified["state_hash"]),
            (&json!(true), &head, &Value::Null)
        );
        assert!(http.get("/api/notebooks/n/export").await.text.contains("abc"));

        // A client of the newer server learns that this log lacks its events.
        let since = json!({"version": lines.len(), "event_id": lines.last().unwrap().envelope.id});
        let mut later = server.connect(&ann).await;
        later.subscribe_since("n", serde_json::from_value(since).unwrap()).await;
        let id = NotebookId::new("n").unwrap();
        later.until(|client| client.replicas.contains_key(&id).then_some(())).await;
        assert_eq!((later.state("n").version, later.replica("n").snapshots), (2, 1));
        server.stop().await;
    }
}

/// An unknown word and an unknown field of a later version, in schemas that this version knows.
const DREAMT: &str = r#"{"execution_id":"e","subject":{"kind":"scratch","source":"1","purpose":"x"},"cause":"dreamt","effects":"free","mood":1.50}"#;

#[tokio::test]
async fn what_a_later_version_adds_to_an_event_is_kept_as_it_came_and_everybody_agrees_on_the_state() {
    let (mut server, ann) = with_notebook().await;
    let mut follower = server.connect(&ann).await;
    follower.subscribe("n").await;
    server.stop().await;
    follower.until_closed().await;
    written_by_another_server(&server, &[("ExecutionRequested", 2, DREAMT)]).await;
    server.start_again().await;

    follower.reconnect(server.address(), &ann.token).await;
    follower.until(|client| (client.state("n").version == 3).then_some(())).await;
    assert_eq!(follower.replica("n").events.last().unwrap().payload.get(), DREAMT, "the frame");
    let mut fresh = server.connect(&ann).await;
    fresh.subscribe("n").await;
    let snapshot = serde_json::to_value(fresh.state("n")).unwrap();
    assert_eq!(
        (&snapshot["executions"]["e"]["cause"], &snapshot["executions"]["e"]["mood"]),
        (&json!("dreamt"), &Value::Null)
    );
    let digest = fresh.state("n").digest().unwrap();
    assert_eq!((fresh.replica("n").digest, follower.state("n").digest().unwrap()), (Some(digest), digest));
    assert!(server.http(&ann).get("/api/notebooks/n/events?after=2").await.text.contains(DREAMT), "the record");
    fresh.run("n", &edit(2, json!([3, [0, "!"]]))).await.expect("it goes on");
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_older_client_takes_the_state_where_it_does_not_know_an_event_and_goes_on() {
    let (server, ann) = with_notebook().await;
    let mut process = tokio::process::Command::new(env!("CARGO_BIN_EXE_notarium"));
    process.args(["--server", &server.url(), "--token", &ann.token, "watch", "n", "--since", "0"]);
    process.env("NOTARIUM_CONFIG", server.folder().join("config.json")).kill_on_drop(true);
    let mut watch = process.stdout(std::process::Stdio::piped()).spawn().unwrap();
    let mut lines = tokio::io::BufReader::new(watch.stdout.take().unwrap()).lines();
    let mut told = Vec::new();
    let mut client = server.connect(&ann).await;
    let rename = |title: &str| command(json!({"RenameNotebook": {"title": title}}));
    for title in ["First", "Second"] {
        client.run("n", &edit(2, json!([[0, "x"], 3]))).await.unwrap();
        client.run("n", &rename(title)).await.unwrap();
        let reading = async {
            while !told.last().is_some_and(|line: &String| line.contains(title)) {
                told.push(lines.next_line().await.unwrap().expect("it goes on"));
            }
        };
        tokio::time::timeout(PATIENCE, reading).await.unwrap_or_else(|_| panic!("not told: {told:?}"));
    }
    // Drops the other lines, which show presence.
    told.retain(|line| line.trim_start().starts_with(|first: char| first.is_ascii_digit()));
    let versions: Vec<&str> = told.iter().filter_map(|line| line.split_whitespace().next()).collect();
    assert_eq!(versions, ["1", "2", "3", "4", "5", "6"], "each once, in order: {told:#?}");
    assert!(told[2].contains("too old to know") && told[4].contains("too old to know"), "{told:#?}");
}
