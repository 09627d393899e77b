//! Measures the events per second that the stores append, with every ack after the sync: SQLite, and PostgreSQL if there is one, in turns.
//!
//!     scripts/with-postgresql cargo run --release -p notarium-store --features postgres --example append_bench -- \
//!         [producers] [seconds] [events per append] [turns]
//!
//! Each producer has its own notebook and one append in flight; events have 300 bytes of payload.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use notarium_record::{
    Actor, Append, CommandId, CommandRecord, Envelope, Hash, Head, NewEvent, NotebookId, RawJson, Salt, Stored, UserId,
};
use notarium_store::{EventStore, Sqlite};

struct Producer {
    notebook_id: NotebookId,
    head: Head,
    actor: Actor,
    payload: RawJson,
}

impl Producer {
    fn new(number: usize) -> Self {
        let change = "x".repeat(300 - 46);
        let payload = format!(r#"{{"cell_id":"cell-{number:05}","change":[[0,"{change}"]]}}"#);
        Self {
            notebook_id: NotebookId::new(format!("01JB0000000000000000{number:06}")).expect("an id"),
            head: Head::START,
            actor: Actor::User { id: UserId::new(format!("01JA0000000000000000{number:06}")).expect("an id") },
            payload: RawJson::parse(&payload).expect("JSON"),
        }
    }

    fn event(&mut self, command_id: &CommandId) -> NewEvent {
        let version = self.head.version + 1;
        let envelope = Envelope {
            id: format!("{}-{version}", self.notebook_id).parse().expect("an id"),
            notebook_id: self.notebook_id.clone(),
            version,
            event_type: "CellSourceEdited".to_owned(),
            schema: 1,
            actor: self.actor.clone(),
            command_id: command_id.clone(),
            correlation_id: command_id.as_str().parse().expect("an id"),
            causation_id: None,
            undoes: None,
            recorded_at: version,
        };
        self.head = Head { version, hash: Hash([u8::try_from(version % 251).unwrap_or(0); 32]), recorded_at: version };
        let (payload, digest) = (self.payload.clone(), Hash([5; 32]));
        let stored =
            Stored { envelope, payload, salt: Some(Salt([4; 16])), payload_digest: digest, hash: self.head.hash };
        NewEvent { stored, subject: Some("01JC0000000000000000000001".to_owned()) }
    }

    fn append(&mut self, events: u64) -> Append {
        let expected = self.head;
        let command_id: CommandId = format!("01JD{:022}", expected.version).parse().expect("an id");
        let events = (0..events).map(|_| self.event(&command_id)).collect();
        let actor = self.actor.key();
        let outcome = RawJson::parse("{}").expect("JSON");
        let record = CommandRecord { actor, command_id, digest: [1; 32], version: self.head.version, outcome };
        Append {
            notebook_id: self.notebook_id.clone(),
            epoch: 0,
            expected,
            events,
            commands: vec![record],
            removal: Default::default(),
        }
    }
}

/// Appends until `stop`; returns the time until each ack.
async fn produce(store: Arc<dyn EventStore>, number: usize, events: u64, stop: Arc<AtomicBool>) -> Vec<Duration> {
    let mut producer = Producer::new(number);
    let mut acks = Vec::new();
    while !stop.load(Ordering::Relaxed) {
        let append = producer.append(events);
        let start = Instant::now();
        store.append(append).await.expect("an append");
        acks.push(start.elapsed());
    }
    acks
}

/// Lets the producers append for a time, and prints what came of it.
async fn measure(name: &str, store: Arc<dyn EventStore>, producers: u64, seconds: u64, events: u64) {
    let stop = Arc::new(AtomicBool::new(false));
    let start = Instant::now();
    let tasks: Vec<_> = (0..usize::try_from(producers).unwrap_or(1))
        .map(|number| tokio::spawn(produce(store.clone(), number, events, stop.clone())))
        .collect();
    tokio::time::sleep(Duration::from_secs(seconds)).await;
    stop.store(true, Ordering::Relaxed);
    let mut acks = Vec::new();
    for task in tasks {
        acks.extend(task.await.expect("a producer"));
    }
    let elapsed = start.elapsed().as_secs_f64();
    acks.sort();
    let at = |share: usize| acks.get(acks.len() * share / 1_000).copied().unwrap_or_default();
    let total = acks.len() as u64 * events;
    println!(
        "{name}: {producers} producers, {events} events an append: {:.0} events/s, ack p50 {:.1?} p99 {:.1?} p99.9 {:.1?}; {total} events",
        total as f64 / elapsed,
        at(500),
        at(990),
        at(999),
    );
}

/// Opens a store in a new database.
#[cfg(feature = "postgres")]
async fn postgresql(turn: u64) -> Option<Arc<dyn EventStore>> {
    use sqlx::{AssertSqlSafe, ConnectOptions};
    let server = std::env::var("NOTARIUM_TEST_POSTGRESQL").ok()?;
    let options: sqlx::postgres::PgConnectOptions = server.parse().expect("a URL");
    let mut connection = options.connect().await.expect("a connection");
    let sql = AssertSqlSafe(format!("CREATE DATABASE bench_{turn}"));
    sqlx::query(sql).execute(&mut connection).await.expect("a database");
    let url = server.replacen("/postgres?", &format!("/bench_{turn}?"), 1);
    Some(Arc::new(notarium_store::Postgres::open(&url, None).await.expect("a store")))
}

#[cfg(not(feature = "postgres"))]
async fn postgresql(_: u64) -> Option<Arc<dyn EventStore>> {
    None
}

#[tokio::main]
async fn main() {
    let arguments: Vec<u64> = std::env::args().skip(1).filter_map(|argument| argument.parse().ok()).collect();
    let argument = |index: usize, default: u64| arguments.get(index).copied().unwrap_or(default);
    let (producers, seconds, events, turns) = (argument(0, 200), argument(1, 5), argument(2, 1), argument(3, 1));
    for turn in 0..turns {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let store = Arc::new(Sqlite::open(folder.path()).await.expect("a store"));
        measure("SQLite", store, producers, seconds, events).await;
        if let Some(store) = postgresql(turn).await {
            measure("PostgreSQL", store, producers, seconds, events).await;
        }
    }
}
