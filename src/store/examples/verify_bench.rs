//! Measures how many events of a record are read and verified in a second, step by step, on one thread.
//!
//!     cargo run --release -p notarium-store --example verify_bench -- FOLDER [events]
//!
//! Makes the record in the folder if there is none: edits of ten people in 200 cells.

use std::path::Path;
use std::time::{Duration, Instant};

use notarium_core::{
    AccountStatus, AccountStatuses, Actor, Append, Authority, Command, CommandId, CommandRecord, Context, Head,
    History, IdSource, Limits, NewEvent, Notebook, NotebookId, RawJson, RecordCheck, Stored, UserId, decide,
    required_account_status, seal, verify_chain,
};
use notarium_store::{EventStore, Sqlite};

const CELLS: u64 = 200;
const PEOPLE: u64 = 10;
const PAGE: usize = 2_000;

fn command(number: u64, notebook: &Notebook) -> Command {
    let text = match number {
        0 => {
            let cells = (0..CELLS).map(|cell| {
                format!(r#",{{"InsertCell":{{"cell_id":"cell-{cell}","cell_type":"code","source":"x = 1"}}}}"#)
            });
            format!(r#"{{"Batch":{{"commands":[{{"CreateNotebook":{{"title":"T"}}}}{}]}}}}"#, cells.collect::<String>())
        }
        1..PEOPLE => {
            format!(r#"{{"GrantAccess":{{"subject":{{"kind":"user","id":"person-{number}"}},"role":"editor"}}}}"#)
        }
        _ => {
            let cell = format!("cell-{}", number.wrapping_mul(2_654_435_761) % CELLS);
            let length = notebook.cells[&cell.parse().expect("an id")].content.source.len();
            let base = notebook.version;
            // A cell grows to some hundred characters, and begins anew.
            match length > 400 {
                true => {
                    format!(r#"{{"EditSource":{{"cell_id":"{cell}","base":{base},"change":[5,[{}]]}}}}"#, length - 5)
                }
                false => format!(
                    r#"{{"EditSource":{{"cell_id":"{cell}","base":{base},"change":[{length},[0,"total = rows.mean()"]]}}}}"#
                ),
            }
        }
    };
    serde_json::from_str(&text).expect("a command")
}

fn context(number: u64, command: &Command) -> Context {
    let id = format!("c{number}");
    let who = if number < PEOPLE { 0 } else { number % PEOPLE };
    let active = required_account_status(command).into_iter().map(|it| (it.clone(), AccountStatus::Active));
    Context {
        instance: "instance".parse().expect("an id"),
        now: 1_700_000_000_000 + number,
        actor: Actor::User { id: UserId::new(format!("person-{who}")).expect("an id") },
        authority: Authority::session(),
        command_id: CommandId::new(&id).expect("an id"),
        correlation_id: id.parse().expect("an id"),
        causation_id: None,
        expected_version: None,
        ids: IdSource::new(number, [7; 32]),
        history: History::default(),
        past: None,
        account_status: AccountStatuses::new(active),
        away: Default::default(),
        unreachable: Default::default(),
        holding_kernelspecs: Default::default(),
        agent_labels: Default::default(),
        run_effects: None,
        unposted: Default::default(),
        limits: Limits::default(),
    }
}

async fn make(store: &Sqlite, id: &NotebookId, count: u64) {
    let (mut notebook, mut head, mut number) = (Notebook::new(id.clone()), Head::START, 0);
    while head.version < count {
        let mut append =
            Append { notebook_id: id.clone(), epoch: 0, expected: head, events: Vec::new(), commands: Vec::new() };
        while append.events.len() < 1_000 {
            let command = command(number, &notebook);
            let mut context = context(number, &command);
            let decision = decide(&notebook, &mut context, command).expect("accepted");
            for stored in seal(&mut head, id, &mut context, &decision.events).expect("JSON") {
                let recorded = stored.typed().expect("known");
                notebook.apply(&recorded);
                append.events.push(NewEvent::new(stored, &recorded.event));
            }
            append.commands.push(CommandRecord {
                actor: context.actor.key(),
                command_id: context.command_id,
                digest: [7; 32],
                version: head.version,
                outcome: RawJson::of(&decision.outcome).expect("JSON"),
            });
            number += 1;
        }
        store.append(append).await.expect("written");
    }
}

#[derive(Default)]
struct Spent {
    read: Duration,
    chain: Duration,
    typed: Duration,
    checked: Duration,
    written: Duration,
    parsed: Duration,
}

#[tokio::main]
async fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let folder = arguments.get(1).expect("name a folder");
    let count = arguments.get(2).map_or(200_000, |count| count.parse().expect("a number"));
    let store = Sqlite::open(Path::new(folder)).await.expect("a store");
    let id = NotebookId::new("record").expect("an id");
    if store.head(&id).await.expect("read").is_none() {
        make(&store, &id, count).await;
    }
    let mut spent = Spent::default();
    let (mut head, mut check, mut bytes) = (Head::START, RecordCheck::new(id.clone()), 0);
    loop {
        let start = Instant::now();
        let page = store.read(&id, head.version, PAGE).await.expect("read");
        spent.read += start.elapsed();
        if page.is_empty() {
            break;
        }
        let start = Instant::now();
        head = verify_chain(head, &page).expect("whole");
        spent.chain += start.elapsed();
        let start = Instant::now();
        page.iter().for_each(|stored| drop(std::hint::black_box(stored.typed())));
        spent.typed += start.elapsed();
        let start = Instant::now();
        page.iter().for_each(|stored| drop(check.follow(stored)));
        spent.checked += start.elapsed();
        let start = Instant::now();
        let lines: Vec<String> = page.iter().map(|stored| serde_json::to_string(stored).expect("JSON")).collect();
        spent.written += start.elapsed();
        bytes += lines.iter().map(String::len).sum::<usize>();
        let start = Instant::now();
        lines.iter().for_each(|line| drop(std::hint::black_box(serde_json::from_str::<Stored>(line))));
        spent.parsed += start.elapsed();
    }
    assert_eq!(check.broken, None);
    println!("{} events, {bytes} bytes as lines", head.version);
    let events = head.version as f64;
    for (what, time) in [
        ("read from SQLite", spent.read),
        ("chain of hashes", spent.chain),
        ("typed", spent.typed),
        ("chain, authority and state", spent.checked),
        ("written as lines", spent.written),
        ("parsed from lines", spent.parsed),
    ] {
        println!("{what}: {:.0} events/s", events / time.as_secs_f64());
    }
    store.close().await;
}
