//! Rooms and their tasks against the in-memory store.

mod damage;
mod faults;
#[path = "../../store/tests/support/memory.rs"]
mod memory;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use notarium_core::{Actor, Authority, NotebookId, RawJson, UserId};
use notarium_store::{EventStore, Snapshot};
use notarium_sync::RoomConfig;
use notarium_wire::{AckMessage, CommandMessage, ServerMessage, SubscribeMessage};
use tokio::sync::mpsc;

use super::*;
use crate::cluster::SingleNode;
use memory::Memory;

struct Bench {
    store: Arc<Memory>,
    rooms: Arc<Rooms>,
    work: mpsc::UnboundedReceiver<WorkNotice>,
}

/// Rooms of a server process of its own.
fn new_rooms(store: Arc<dyn EventStore>, config: RoomsConfig, work: mpsc::UnboundedSender<WorkNotice>) -> Arc<Rooms> {
    let (node, _) = SingleNode::new(store.clone(), None);
    Rooms::new(store, node, config, work, Arc::default())
}

fn bench(room: RoomConfig) -> Bench {
    let store = Arc::new(Memory::default());
    let (sender, work) = mpsc::unbounded_channel();
    let config = RoomsConfig { room, ..RoomsConfig::default() };
    Bench { rooms: new_rooms(store.clone(), config, sender), store, work }
}

fn id() -> NotebookId {
    "nb".parse().unwrap()
}

fn anna() -> Arc<Identity> {
    let actor = Actor::User { id: UserId::new("anna").unwrap() };
    Arc::new(Identity { actor, authority: Authority::session(), name: "Anna".into(), connection: "c1".into() })
}

impl RoomHandle {
    /// Executes a command as Anna.
    async fn run(&self, message: CommandMessage) -> Result<AckMessage, Rejection> {
        self.execute(anna(), decoded(message), OutsideFacts::default()).await
    }
}

fn command(id_: &str, body: &str) -> CommandMessage {
    CommandMessage::new(id_.parse().unwrap(), id(), RawJson::parse(body).unwrap())
}

const CREATE: &str = r#"{"CreateNotebook":{"title":"T","metadata":{}}}"#;
const INSERT: &str = r#"{"InsertCell":{"cell_id":"a","cell_type":"code"}}"#;

async fn messages(receiver: &mut OutboxReceiver) -> Vec<ServerMessage> {
    let mut frames = Vec::new();
    let received = tokio::time::timeout(Duration::from_secs(60), receiver.recv_many(&mut frames)).await;
    assert!(received.expect("a frame comes within a minute"));
    frames.iter().map(|frame| serde_json::from_str(&frame.to_string()).unwrap()).collect()
}

fn subscribe() -> ClientInput {
    let message = SubscribeMessage { notebook: id(), since: None, unconfirmed: vec![] };
    ClientInput::Subscribe { identity: anna(), message }
}

fn decoded(message: CommandMessage) -> DecodedCommand {
    DecodedCommand::decode(message).unwrap()
}

fn submission(client: &ClientRegistration, message: CommandMessage) -> Submission {
    Submission::new(anna(), decoded(message), ReplyTo::Client(client.id))
}

/// Reads messages until `wanted` returns a value.
async fn until<T>(receiver: &mut OutboxReceiver, mut wanted: impl FnMut(&ServerMessage) -> Option<T>) -> T {
    loop {
        if let Some(found) = messages(receiver).await.iter().find_map(&mut wanted) {
            return found;
        }
    }
}

fn is_ack(message: &ServerMessage) -> Option<u64> {
    match message {
        ServerMessage::Ack(ack) => Some(ack.version),
        ServerMessage::Reject(reject) => panic!("{reject:?}"),
        _ => None,
    }
}

#[tokio::test]
async fn a_notebook_is_made_edited_followed_and_read() {
    let bench = bench(RoomConfig::default());
    let room = bench.rooms.open(&id());
    let (outbox, mut receiver) = Outbox::new(100, 1 << 20);
    let client = bench.rooms.connect(outbox);
    room.submit(submission(&client, command("1", CREATE))).await;
    room.send(client.id, subscribe());
    let version = until(&mut receiver, |message| match message {
        ServerMessage::Subscribed(subscribed) => Some(subscribed.version),
        _ => None,
    });
    assert_eq!(version.await, 1);
    room.submit(submission(&client, command("2", INSERT))).await;
    assert_eq!(until(&mut receiver, is_ack).await, 2);
    let state = room.read(anna()).await.unwrap();
    assert_eq!((state.head.version, state.notebook.cells.len()), (2, 1));
    bench.rooms.shut_down().await;
    assert_eq!(bench.rooms.open_count(), 0);
    assert_eq!(bench.store.snapshot(&id(), None).await.unwrap().unwrap().version, 2);
    assert_eq!(bench.store.catalog(Default::default()).await.unwrap().entries[0].cells, 1);
}

#[tokio::test]
async fn a_room_is_unloaded_and_opened_again_behind_the_same_handle() {
    let mut bench = bench(RoomConfig { unload_after_ms: 1, snapshot_events: 1_000_000, ..RoomConfig::default() });
    let room = bench.rooms.open(&id());
    room.run(command("1", CREATE)).await.unwrap();
    let launch = r#"{"LaunchKernel":{}}"#;
    room.run(command("2", launch)).await.unwrap();
    assert!(matches!(bench.work.recv().await, Some(WorkNotice::Wanted { .. })));
    while bench.rooms.open_count() > 0 {
        tokio::task::yield_now().await;
    }
    assert_eq!(room.run(command("3", INSERT)).await.unwrap().version, 3);
    // The unclaimed launch is offered again.
    assert!(matches!(bench.work.recv().await, Some(WorkNotice::Wanted { .. })));
    // A retry after the unload gets the same answer, from the store.
    assert_eq!(room.run(command("1", CREATE)).await.unwrap().version, 1);
    assert_eq!(room.run(command("3", INSERT)).await.unwrap().version, 3);
    bench.rooms.shut_down().await;
    let refused = room.run(command("4", INSERT)).await.unwrap_err();
    assert_eq!(refused.code, RejectionCode::Unavailable);
}

#[tokio::test]
async fn a_reader_that_stalls_is_caught_up_and_harms_nobody() {
    let bench = bench(RoomConfig::default());
    let room = bench.rooms.open(&id());
    room.run(command("create", CREATE)).await.unwrap();
    room.run(command("insert", INSERT)).await.unwrap();
    let (slow, mut slow_receiver) = Outbox::new(2, 1 << 20);
    let slow = bench.rooms.connect(slow);
    room.send(slow.id, subscribe());
    room.read(anna()).await.unwrap();
    for number in 0..200 {
        let keep = if number == 0 { String::new() } else { format!("{number},") };
        let base = number + 2;
        let body = format!(r#"{{"EditSource":{{"cell_id":"a","base":{base},"change":[{keep}[0,"x"]]}}}}"#);
        room.run(command(&format!("edit{number}"), &body)).await.unwrap();
    }
    // The reader resumes: it gets the queued frames, then a resync without gaps.
    let (mut version, mut resyncs) = (0, 0);
    while version < 202 {
        for message in messages(&mut slow_receiver).await {
            match message {
                ServerMessage::Subscribed(subscribed) => version = subscribed.version,
                ServerMessage::Resync { .. } => resyncs += 1,
                ServerMessage::Events(events) => {
                    assert_eq!(events.from, version + 1);
                    version += events.events.len() as u64;
                }
                _ => {}
            }
        }
    }
    assert_eq!(resyncs, 1);
    bench.rooms.shut_down().await;
}

#[tokio::test]
async fn the_list_of_notebooks_is_caught_up_after_a_crash() {
    let bench = bench(RoomConfig::default());
    let room = bench.rooms.open(&id());
    room.run(command("1", CREATE)).await.unwrap();
    bench.rooms.shut_down().await;
    let fresh = Arc::new(Memory::default());
    for stored in bench.store.read(&id(), 0, 10).await.unwrap() {
        let append = notarium_core::Append {
            notebook_id: id(),
            epoch: 0,
            expected: notarium_core::Head::START,
            events: vec![notarium_core::NewEvent { stored, subject: None }],
            commands: vec![],
            removal: Default::default(),
        };
        fresh.append(append).await.unwrap();
    }
    let rooms = new_rooms(fresh.clone(), RoomsConfig::default(), mpsc::unbounded_channel().0);
    assert_eq!(rooms.catch_up_catalog().await.unwrap(), 1);
    assert_eq!(fresh.catalog(Default::default()).await.unwrap().entries[0].title, "T");
    assert_eq!(rooms.catch_up_catalog().await.unwrap(), 0);
}

#[tokio::test]
async fn a_full_inbox_makes_senders_wait_and_loses_nothing() {
    let (sender, _work) = mpsc::unbounded_channel();
    let config = RoomsConfig { max_inbox_bytes: 1, ..RoomsConfig::default() };
    let rooms = new_rooms(Arc::new(Memory::default()), config, sender);
    let room = rooms.open(&id());
    room.run(command("create", CREATE)).await.unwrap();
    let (outbox, mut receiver) = Outbox::new(1_000, 1 << 20);
    let clients: Vec<Arc<ClientRegistration>> = (0..4).map(|_| Arc::new(rooms.connect(outbox.clone()))).collect();
    let floods = clients.iter().map(|client| {
        let (room, client) = (room.clone(), client.clone());
        tokio::spawn(async move {
            for number in 0..50 {
                let insert = r#"{"InsertCell":{"cell_type":"code"}}"#;
                let command = command(&format!("c{}-{number}", client.id.0), insert);
                room.submit(submission(&client, command)).await;
            }
        })
    });
    let floods: Vec<_> = floods.collect();
    // A cancellation does not wait behind them.
    room.run(command("stop", r#"{"StopAll":{}}"#)).await.unwrap();
    for flood in floods {
        flood.await.unwrap();
    }
    let mut acks = 0;
    while acks < 200 {
        acks += messages(&mut receiver).await.iter().filter_map(is_ack).count();
    }
    assert_eq!(room.read(anna()).await.unwrap().notebook.cells.len(), 200);
    rooms.shut_down().await;
}

#[tokio::test]
async fn the_list_says_which_notebooks_a_restart_must_open() {
    let bench = bench(RoomConfig::default());
    let room = bench.rooms.open(&id());
    room.run(command("1", CREATE)).await.unwrap();
    room.run(command("2", r#"{"LaunchKernel":{}}"#)).await.unwrap();
    let idle: NotebookId = "idle".parse().unwrap();
    let create = CommandMessage { notebook: idle.clone(), ..command("3", CREATE) };
    bench.rooms.open(&idle).run(create).await.unwrap();
    bench.rooms.shut_down().await;
    let (sender, mut work) = mpsc::unbounded_channel();
    let rooms = new_rooms(bench.store.clone(), RoomsConfig::default(), sender);
    assert_eq!(rooms.catch_up_catalog().await.unwrap(), 0);
    let with_work = notarium_store::CatalogQuery { has_work: Some(true), ..Default::default() };
    let entries = bench.store.catalog(with_work).await.unwrap().entries;
    assert_eq!(entries.len(), 1);
    rooms.open(&entries[0].notebook_id);
    assert!(matches!(work.recv().await, Some(WorkNotice::Wanted { notebook, .. }) if notebook == id()));
}

/// Two servers share one store. The last one to open the notebook writes; the other's room ends, and is opened again.
#[tokio::test]
async fn a_server_that_lost_the_lease_is_refused_and_takes_it_back_when_asked_again() {
    let bench = bench(RoomConfig::default());
    let (sender, _work) = mpsc::unbounded_channel();
    let others = new_rooms(bench.store.clone(), RoomsConfig::default(), sender);
    assert_ne!(others.instance(), bench.rooms.instance());
    let ours = bench.rooms.open(&id());
    ours.run(command("1", CREATE)).await.unwrap();
    let theirs = others.open(&id());
    assert_eq!(theirs.run(command("2", INSERT)).await.unwrap().version, 2);
    let another = || command("3", r#"{"InsertCell":{"cell_id":"b","cell_type":"code"}}"#);
    let refused = ours.run(another()).await.unwrap_err();
    assert_eq!(refused.code, RejectionCode::Unavailable);
    // The same command again reaches a new room, which has read the other server's events.
    assert_eq!(ours.run(another()).await.unwrap().version, 3);
    let state = ours.read(anna()).await.unwrap().notebook;
    assert_eq!(state.order.len(), 2);
    let third = command("4", r#"{"InsertCell":{"cell_id":"c","cell_type":"code"}}"#);
    assert_eq!(theirs.run(third).await.unwrap_err().code, RejectionCode::Unavailable);
    assert_eq!(bench.store.head(&id()).await.unwrap().unwrap().version, 3);
}

/// Anna's assistant, as the assistants' host acts for it.
fn assistant() -> Arc<Identity> {
    let actor = Actor::Assistant { for_user: UserId::new("anna").unwrap(), conversation: "talk".parse().unwrap() };
    let authority = Authority { reactor: Some(Default::default()), ..Authority::session() };
    Arc::new(Identity { actor, authority, ..(*anna()).clone() })
}

#[tokio::test(flavor = "multi_thread")]
async fn a_slow_judge_delays_its_call_and_no_keystroke() {
    let (asked, mut is_asked) = mpsc::unbounded_channel();
    let (release, released) = std::sync::mpsc::channel::<()>();
    let released = Mutex::new(released);
    let judge = Judge::new(move |query| {
        asked.send(query.codes.clone()).unwrap();
        released.lock().unwrap().recv().unwrap();
        (notarium_core::Risk::Destructive, Vec::new(), vec!["the planted judge says so".to_owned()])
    });
    let (sender, _work) = mpsc::unbounded_channel();
    let config = RoomsConfig { judge, ..RoomsConfig::default() };
    let room = new_rooms(Arc::new(Memory::default()), config, sender).open(&id());
    room.run(command("create", CREATE)).await.unwrap();
    room.run(command("insert", r#"{"InsertCell":{"cell_id":"a","cell_type":"markdown"}}"#)).await.unwrap();
    let run = r#"{"RequestToolCall":{"call_id":"run","function":"create_cells","arguments":{"cells":[{"source":"x = 1"}],"run":true}}}"#;
    let (caller, message) = (room.clone(), command("run", run));
    let holds = OutsideFacts { holding_kernelspecs: ["python3".to_owned()].into(), ..OutsideFacts::default() };
    let call = tokio::spawn(async move { caller.execute(assistant(), decoded(message), holds).await });
    assert_eq!(is_asked.recv().await.unwrap(), ["x = 1"]);

    let key = r#"{"EditSource":{"cell_id":"a","base":2,"change":[[0,"k"]]}}"#;
    let ack = room.run(command("key", key)).await.unwrap();
    assert_eq!(ack.version, 3, "the keystroke is on disk while the judge sits");
    assert!(!call.is_finished());
    release.send(()).unwrap();
    call.await.unwrap().unwrap();
    let state = room.read(anna()).await.unwrap().notebook;
    let asked = &state.tool_calls[&"run".parse().unwrap()];
    assert_eq!(asked.reasons, ["the planted judge says so"]);
}

fn unpacked(snapshot: &Snapshot) -> Vec<u8> {
    snapshot.decompress(1 << 30).expect("it unpacks")
}

/// The same snapshot with another format of one part, as a newer server would write it.
fn of_another_format(snapshot: &Snapshot, part: &str, format: u32) -> Snapshot {
    let mut parts: serde_json::Value = serde_json::from_slice(&unpacked(snapshot)).expect("it is JSON");
    parts[part]["format"] = format.into();
    Snapshot::compress(snapshot.format, snapshot.head, parts.to_string().as_bytes()).expect("it compresses")
}

#[tokio::test]
async fn a_part_of_a_snapshot_in_another_format_costs_a_replay_and_nothing_else() {
    let bench = bench(RoomConfig::default());
    let room = bench.rooms.open(&id());
    room.run(command("1", CREATE)).await.unwrap();
    room.run(command("2", INSERT)).await.unwrap();
    let before = room.read(anna()).await.unwrap().notebook;
    bench.rooms.shut_down().await;
    let written = bench.store.snapshot(&id(), None).await.unwrap().unwrap();
    let whole = snapshot::unpack(&unpacked(&written)).unwrap();
    assert_eq!(whole.document, before);
    // Ledgers of format 3 have no log of the kernel's runs.
    for (part, format) in [("document", 99), ("ledger", 99), ("ledger", 3)] {
        let strange = of_another_format(&written, part, format);
        assert!(snapshot::unpack(&unpacked(&strange)).unwrap_err().contains(part));
        assert_eq!(snapshot::unpack_document(&unpacked(&strange)).is_ok(), part == "ledger");
        bench.store.put_snapshot(&id(), strange).await.unwrap();
        let (sender, _work) = mpsc::unbounded_channel();
        let rooms = new_rooms(bench.store.clone(), RoomsConfig::default(), sender);
        assert_eq!(rooms.open(&id()).read(anna()).await.unwrap().notebook, before);
        rooms.shut_down().await;
        let left = stored::load(&*bench.store, &id(), Version::MAX, MAX_SNAPSHOT_GAP).await.unwrap();
        assert_eq!(*left.notebook, whole, "the ledger too");
    }
}

#[test]
fn each_fault_doubles_the_pause_up_to_a_bound() {
    let faults = Faults::default();
    let notebook: NotebookId = "nb".parse().unwrap();
    let pauses: Vec<u128> = (0..8).map(|_| faults.add(&notebook).as_millis()).collect();
    assert_eq!(pauses, [100, 200, 400, 800, 1600, 3200, 5000, 5000]);
    assert_eq!(faults.add(&"other".parse().unwrap()), FIRST_PAUSE);
}
