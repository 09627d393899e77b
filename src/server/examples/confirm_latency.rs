//! How long it takes from a person's confirmation until the call has started, and what calls that wait cost the others.
//!
//! `cargo run --release -p notarium-server --example confirm_latency`. On disk (SQLite, synced): a plain command is timed
//! beside, so that what the disk takes can be told apart.

use std::sync::Arc;
use std::time::{Duration, Instant};

use notarium_core::{
    Actor, Authority, CellFlagChanges, CellType, Command, ConversationId, NotebookId, Place, RawJson, RawObject,
    ToolCallId, UserId,
};
use notarium_server::reactor::{Notices, Reactor};
use notarium_server::rooms::Identity;
use notarium_server::{RunningServer, Server, ServerConfig};
use notarium_store::accounts::{AccountChange, AuditEntry, User};
use notarium_wire::{AckMessage, CommandMessage};

const CALLS: usize = 200;
const WAITING: usize = 1_000;
/// A conversation asks for so many in a minute.
const CALLS_OF_A_CONVERSATION: usize = 20;

struct Bench {
    server: RunningServer,
    reactor: Reactor,
    notebook: NotebookId,
    ann: UserId,
}

#[tokio::main]
async fn main() {
    let folder = tempfile::tempdir().expect("a folder");
    let bench = Bench::start(folder.path()).await;
    let mut notices = bench.reactor.notices();
    let mut started = Vec::new();
    let mut plain = Vec::new();
    for number in 0..CALLS {
        plain.push(bench.rename(number).await);
        started.push(bench.confirm(number, &mut notices).await);
    }
    let (plain, started) = (median(plain), median(started));
    println!("a plain command, synced:      {plain:?} (median of {CALLS})");
    println!("confirm to started, 2 syncs:  {started:?}; beyond the syncs {:?}", started.saturating_sub(plain * 2));
    for number in CALLS..CALLS + WAITING {
        bench.ask(number).await;
    }
    let mut beside = Vec::new();
    for number in 0..CALLS {
        beside.push(bench.rename(CALLS + number).await);
    }
    println!("a plain command, with {WAITING} calls that wait: {:?}", median(beside));
    drop((notices, bench.reactor));
    bench.server.shut_down().await;
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}

impl Bench {
    async fn start(folder: &std::path::Path) -> Self {
        let server = Server::start(ServerConfig::in_folder(folder)).await.expect("it starts");
        let reactor = server.reactor();
        let ann = UserId::new("ann").expect("an id");
        let now = reactor.now();
        let user = User {
            id: ann.clone(),
            name: "Ann".into(),
            login: None,
            password_hash: None,
            is_admin: false,
            created_at: now,
            deactivated_at: None,
        };
        let audit = AuditEntry { at: now, actor: "system".into(), action: "bench".into(), subject: "ann".into() };
        server.app().accounts.change(&[AccountChange::CreateUser(user)], audit).await.expect("an account");
        let bench = Self { server, reactor, notebook: NotebookId::new("n").expect("an id"), ann };
        bench.do_it(&Command::CreateNotebook { title: "Bench".into(), metadata: RawObject::default() }).await;
        for number in 0..CALLS + WAITING {
            bench.do_it(&cell(number)).await;
        }
        bench
    }

    fn assistant(&self, number: usize) -> Actor {
        let conversation = format!("c{}", number / CALLS_OF_A_CONVERSATION);
        Actor::Assistant { for_user: self.ann.clone(), conversation: ConversationId::new(conversation).expect("an id") }
    }

    /// As Ann.
    async fn do_it(&self, command: &Command) -> AckMessage {
        let identity = Identity {
            actor: Actor::User { id: self.ann.clone() },
            authority: Authority::session(),
            name: "Ann".into(),
            connection: String::new(),
        };
        let message = CommandMessage {
            id: ulid::Ulid::generate().into(),
            notebook: self.notebook.clone(),
            expected_version: None,
            correlation_id: None,
            body: RawJson::of(command).expect("JSON"),
        };
        let room = self.server.app().rooms.open(&self.notebook);
        room.execute(Arc::new(identity), message).await.expect("accepted")
    }

    async fn rename(&self, number: usize) -> Duration {
        let began = Instant::now();
        self.do_it(&Command::RenameNotebook { title: format!("Title {number}") }).await;
        began.elapsed()
    }

    /// Asks to delete the cell of that number; it waits.
    async fn ask(&self, number: usize) -> ToolCallId {
        let state = self.reactor.read(&self.notebook).await.expect("readable").notebook;
        let (id, cell) = state.cells.iter().nth(number % state.cells.len()).expect("a cell");
        let arguments = format!(r#"{{"cell_id":"{id}","cell_version":{}}}"#, cell.cell_version);
        let request = Command::RequestToolCall {
            call_id: None,
            turn_id: None,
            function: "delete_cell".into(),
            arguments: RawObject::parse(&arguments).expect("an object"),
            wait_for: None,
            conversation_title: None,
        };
        let ack = self.reactor.execute(&self.assistant(number), &self.notebook, &request).await.expect("accepted");
        ack.outcome.tool_call.expect("a call")
    }

    /// From the confirmation until the start is on disk, by way of the notice.
    async fn confirm(&self, number: usize, notices: &mut Notices) -> Duration {
        let call_id = self.ask(number).await;
        let state = self.reactor.read(&self.notebook).await.expect("readable").notebook;
        let arguments_hash = state.tool_calls[&call_id].arguments_hash;
        let began = Instant::now();
        let confirmed = self.do_it(&Command::ConfirmToolCall { call_id: call_id.clone(), arguments_hash }).await;
        while notices.next().await.expect("the server runs").version < confirmed.version {}
        let start = Command::StartToolCall { call_id };
        self.reactor.execute(&self.assistant(number), &self.notebook, &start).await.expect("it starts");
        began.elapsed()
    }
}

fn cell(number: usize) -> Command {
    Command::InsertCell {
        cell_id: Some(format!("cell{number}").parse().expect("an id")),
        cell_type: CellType::Code,
        source: "x = 1".into(),
        place: Place::End,
        metadata: RawObject::default(),
        attachments: None,
        flags: CellFlagChanges::default(),
        reply: None,
    }
}
