//! Contract tests of byte-for-byte exactness.

use super::*;

/// Creates an event whose type this build does not know.
fn foreign(author: &Author, payload: &str) -> Stored {
    let envelope = Envelope {
        id: EventId::new("event").unwrap(),
        notebook_id: author.notebook_id.clone(),
        version: author.head.version + 1,
        event_type: "FromTheFuture".to_owned(),
        schema: u16::MAX,
        actor: Actor::System,
        command_id: CommandId::new("command").unwrap(),
        correlation_id: "correlation".parse().unwrap(),
        causation_id: Some("cause".parse().unwrap()),
        undoes: Some("undone".parse().unwrap()),
        recorded_at: (1 << 53) - 1,
    };
    let payload = RawJson::parse(payload).unwrap();
    Stored { envelope, payload, salt: Some(Salt([255; 16])), payload_digest: Hash([1; 32]), hash: Hash([2; 32]) }
}

fn append_of(author: &Author, stored: Stored) -> Append {
    let events = vec![NewEvent { stored, subject: Some("subject".to_owned()) }];
    Append {
        notebook_id: author.notebook_id.clone(),
        epoch: 0,
        expected: author.head,
        events,
        commands: Vec::new(),
        removal: Default::default(),
    }
}

async fn comes_back(store: &Store, name: &str, change: impl FnOnce(&mut Stored)) {
    let author = Author::new(name);
    let mut stored = foreign(&author, "{}");
    change(&mut stored);
    let expected = written(store, append_of(&author, stored)).await;
    let found = all(store, &author.notebook_id).await;
    assert_eq!(found, expected);
    assert_eq!(found[0].payload.get(), expected[0].payload.get());
}

pub async fn payloads_come_back_byte_for_byte(store: Store) {
    let payloads = [
        r#"{"z":1,"a":2,"z":3}"#,
        r#"{ "big" : 123456789012345678901234567890 , "e":1.0E+2}"#,
        r#""\u00e9 é 👩‍🔬 \ud800 \u0000 \/""#,
        "null",
        "[\n\t{} ]",
    ];
    for (index, payload) in payloads.into_iter().enumerate() {
        comes_back(&store, &format!("nb{index}"), |stored| stored.payload = RawJson::parse(payload).unwrap()).await;
    }
    let large = format!("\"{}\"", "x\\n".repeat(1 << 20));
    comes_back(&store, "large", |stored| stored.payload = RawJson::parse(&large).unwrap()).await;
}

pub async fn every_field_of_an_envelope_comes_back(store: Store) {
    comes_back(&store, "all", |_| {}).await;
    comes_back(&store, "none", |stored| {
        stored.envelope.causation_id = None;
        stored.envelope.undoes = None;
        stored.envelope.recorded_at = 0;
    })
    .await;
    comes_back(&store, "same", |stored| stored.envelope.correlation_id = "command".parse().unwrap()).await;
}

pub async fn every_kind_of_actor_comes_back(store: Store) {
    for (index, key) in ["user:u", "guest:link", "assistant:u:talk", "agent:a", "system"].into_iter().enumerate() {
        let actor = Actor::from_key(key).unwrap();
        comes_back(&store, &format!("nb{index}"), |stored| stored.envelope.actor = actor).await;
    }
}

pub async fn events_of_unknown_types_come_back(store: Store) {
    comes_back(&store, "future", |stored| stored.envelope.event_type = "Ünknown \" ' type".to_owned()).await;
}

pub async fn a_redacted_event_comes_back(store: Store) {
    comes_back(&store, "redacted", |stored| stored.salt = None).await;
}

/// Events of a notebook whose first title was removed, in a store that had derived rows from it, with the blob that went.
async fn removed(store: &Store) -> (Author, Vec<Stored>, RawJson, Hash) {
    let mut author = Author::new("nb");
    let mut before = written(store, author.rename("secret")).await;
    before.extend(written(store, author.rename("harmless")).await);
    let id = author.notebook_id.clone();
    let snapshot = Snapshot::compress(1, before[0].head(), b"secret").unwrap();
    store.put_snapshot(&id, snapshot).await.unwrap();
    let line =
        PastLine { cell_id: CellId::new("a").unwrap(), text: "secret".to_owned(), spans: Vec::new(), last: None };
    let written_lines = PastLinesWritten { version: 2, next: 1 };
    store.put_past_lines(&id, 0, written_lines, [(0, line)].into()).await.unwrap();
    let blob = Hash([7; 32]);
    let payload = RawJson::parse(r#"{"title":"██████","previous":"before"}"#).unwrap();
    let mut append = author.rename("redacted");
    append.removal =
        ContentRemoval { stand_ins: vec![StandIn { version: 1, payload: payload.clone() }], blobs: vec![blob] };
    store.append(append).await.unwrap();
    (author, before, payload, blob)
}

pub async fn removed_content_is_replaced_with_what_was_derived(store: Store) {
    let (author, before, payload, _) = removed(&store).await;
    let id = &author.notebook_id;
    let events = all(&store, id).await;
    assert_eq!((&events[0].payload, events[0].salt, events[0].hash), (&payload, None, before[0].hash));
    assert_eq!(events[1], before[1]);
    assert_eq!(verify_chain(Head::START, &events).unwrap(), author.head);
    assert_eq!(store.snapshot(id, None).await.unwrap(), None);
    assert_eq!(store.past_lines_written(id).await.unwrap(), PastLinesWritten::default());
    assert_eq!(store.past_lines(id, "secret").await.unwrap().lines, []);
}

pub async fn blobs_and_digests_of_removed_content_go(store: Store) {
    let (author, _, _, blob) = removed(&store).await;
    let id = &author.notebook_id;
    let events = all(&store, id).await;
    let digest = async |command: &str| {
        let command = CommandId::new(command).unwrap();
        store.command(id, "user:ann", &command).await.unwrap().unwrap().digest
    };
    assert_eq!(digest("c1").await, [0; 32], "a short text could be guessed from it");
    assert_ne!(digest("c2").await, [0; 32], "a command that was not redacted can still be repeated");
    assert_eq!(store.blobs_to_purge().await.unwrap(), [(id.clone(), blob)]);
    store.blob_purged(id, &blob).await.unwrap();
    assert_eq!(store.blobs_to_purge().await.unwrap(), []);
    store.purge().await.unwrap();
    assert_eq!(all(&store, id).await, events);
}

pub async fn one_append_of_many_events(store: Store) {
    let mut author = Author::new("nb");
    let expected = written(&store, author.append(&vec![("NotebookArchived", "{}"); 1_700])).await;
    assert_eq!(all(&store, &author.notebook_id).await, expected);
}
