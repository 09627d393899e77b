//! Measures the cost of an edit in the pure room, and the memory of an idle room:
//! `cargo run --release -p notarium-sync --example room_cost`.
//!
//! Prints the CPU nanoseconds per `EditSource`, from the command's JSON to the frames and acks, for one and for sixteen edits in flight.
//! The store answers immediately. Also prints the resident bytes of an idle room with ten cells and one subscriber.
#![expect(clippy::disallowed_methods, reason = "it measures: it reads the clock and its own memory")]

use std::hint::black_box;
use std::sync::Arc;

use notarium_core::{Actor, Authority, NotebookId, RawJson, UserId};
use notarium_sync::{
    ClientId, ClientInput, DecodedCommand, Identity, Input, Output, Replay, ReplyTo, Room, RoomConfig, Submission,
};
use notarium_wire::{CommandMessage, SubscribeMessage};

const EDITS: usize = 64_000;
const ROOMS: usize = 2_000;
const CELLS: usize = 16;
const CLIENT: ClientId = ClientId(1);

struct Bench {
    room: Room,
    id: NotebookId,
    identity: Arc<Identity>,
    now: u64,
    commands: usize,
}

impl Bench {
    fn new(number: usize, cells: usize) -> Self {
        let id: NotebookId = format!("nb{number}").parse().expect("an id");
        let identity = Arc::new(Identity {
            actor: Actor::User { id: UserId::new("anna").expect("an id") },
            authority: Authority::session(),
            name: "Anna".to_owned(),
            connection: "c1".to_owned(),
        });
        let (room, _) = Room::new(id.clone(), Arc::new(RoomConfig::default()), [7; 32]);
        let mut bench = Self { room, id: id.clone(), identity, now: 1_000, commands: 0 };
        bench.feed(vec![Input::Loaded { loaded: Box::new(Replay::new(id).finish(Vec::new())), lease: Ok(0) }]);
        let create = bench.command(r#"{"CreateNotebook":{"title":"bench","metadata":{}}}"#);
        bench.feed(vec![create]);
        for cell in 0..cells {
            let insert = bench.command(&format!(r#"{{"InsertCell":{{"cell_id":"cell{cell}","cell_type":"code"}}}}"#));
            bench.feed(vec![insert]);
        }
        let message = SubscribeMessage { notebook: bench.id.clone(), since: None, unconfirmed: Vec::new() };
        let identity = bench.identity.clone();
        bench.feed(vec![Input::Client(CLIENT, ClientInput::Subscribe { identity, message })]);
        bench
    }

    fn command(&mut self, body: &str) -> Input {
        self.commands += 1;
        let message = CommandMessage {
            id: format!("command-{:018}", self.commands).parse().expect("an id"),
            notebook: self.id.clone(),
            expected_version: None,
            correlation_id: None,
            body: RawJson::parse(body).expect("JSON"),
        };
        Input::Command(Submission::new(
            self.identity.clone(),
            DecodedCommand::decode(message).expect("a command"),
            ReplyTo::Client(CLIENT),
        ))
    }

    /// Inserts ten characters at the start of a cell.
    fn edit(&mut self, cell: usize, length: usize) -> Input {
        let base = self.room.version();
        let keep = if length == 0 { String::new() } else { format!(",{length}") };
        let change = format!(r#"[[0,"0123456789"]{keep}]"#);
        self.command(&format!(r#"{{"EditSource":{{"cell_id":"cell{cell}","base":{base},"change":{change}}}}}"#))
    }

    /// Handles inputs with a disk that answers immediately.
    fn feed(&mut self, inputs: Vec<Input>) {
        self.now += 1;
        let mut outputs = self.room.handle_all(self.now, inputs);
        while outputs.iter().any(|output| matches!(output, Output::Append(_))) {
            black_box(&outputs);
            outputs = self.room.handle(self.now, Input::Appended);
        }
        black_box(outputs);
    }
}

fn nanoseconds_per_edit(in_flight: usize) -> u64 {
    let mut bench = Bench::new(0, CELLS);
    let started = cpu_nanoseconds();
    for round in 0..EDITS / in_flight {
        // A new notebook every 100 rounds keeps texts short, as in real cells.
        if round % 100 == 0 {
            bench = Bench::new(round, CELLS);
        }
        let length = (round % 100) * 10;
        let inputs = (0..in_flight).map(|cell| bench.edit(cell, length)).collect();
        bench.feed(inputs);
    }
    (cpu_nanoseconds() - started) / EDITS as u64
}

/// CPU time, so that other processes do not count. Linux only.
fn cpu_nanoseconds() -> u64 {
    let schedstat = std::fs::read_to_string("/proc/self/schedstat").unwrap_or_default();
    schedstat.split_whitespace().next().and_then(|nanoseconds| nanoseconds.parse().ok()).unwrap_or(0)
}

fn resident_bytes() -> u64 {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages = statm.split_whitespace().nth(1).and_then(|pages| pages.parse::<u64>().ok());
    pages.unwrap_or(0) * 4_096
}

fn main() {
    for in_flight in [1, 16] {
        println!("{in_flight:>2} in flight: {} ns per edit", nanoseconds_per_edit(in_flight));
    }
    let before = resident_bytes();
    let mut rooms: Vec<Bench> = (0..ROOMS).map(|number| Bench::new(number, 10)).collect();
    for bench in &mut rooms {
        for round in 0..20 {
            let edit = bench.edit(0, round * 10);
            bench.feed(vec![edit]);
        }
        bench.now += 10_000;
        bench.feed(vec![Input::Tick]);
    }
    println!("an idle room: {} bytes resident", (resident_bytes() - before) / ROOMS as u64);
    drop(rooms);
}
