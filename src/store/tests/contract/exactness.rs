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
    Append { notebook_id: author.notebook_id.clone(), epoch: 0, expected: author.head, events, commands: Vec::new() }
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

pub async fn one_append_of_many_events(store: Store) {
    let mut author = Author::new("nb");
    let expected = written(&store, author.append(&vec![("NotebookArchived", "{}"); 1_700])).await;
    assert_eq!(all(&store, &author.notebook_id).await, expected);
}
