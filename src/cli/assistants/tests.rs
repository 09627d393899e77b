//! Where everything waits for people nobody sits, and no notebook is kept in memory; who answers is heard nonetheless.

mod lost_runs;

use std::time::Duration;

use notarium_assistant::assistants::Called;
use notarium_assistant::mcp::Caller;
use notarium_core::{Authority, CellFlagChanges, CellType, Place, RawJson, RawObject, ToolCallId, UserId};
use notarium_server::rooms::Identity;
use notarium_server::{Server, ServerConfig};
use notarium_store::accounts::{AccountChange, AuditEntry, User};
use notarium_wire::CommandMessage;

use super::*;

const PATIENCE: Duration = Duration::from_secs(30);

struct Scene {
    server: RunningServer,
    assistants: Arc<Assistants>,
    notebook: NotebookId,
    _folder: tempfile::TempDir,
}

impl Scene {
    async fn start(expiry: Millis) -> Self {
        Self::start_with(expiry, PATIENCE).await
    }

    /// Nobody stays anywhere: desks leave and rooms end as soon as they may.
    async fn start_with(expiry: Millis, run_wait: Duration) -> Self {
        notarium_agent::connection::install_tls_provider();
        let folder = tempfile::tempdir().unwrap();
        let mut config = ServerConfig::in_folder(folder.path());
        config.assistants = true;
        config.rooms.room.unload_after_ms = 20;
        config.rooms.room.limits.tool_call_expiry_ms = expiry;
        let server = Server::start(config).await.unwrap();
        let now = server.reactor().now();
        let ann = User {
            id: ann(),
            name: "Ann".into(),
            login: None,
            password_hash: None,
            is_admin: false,
            created_at: now,
            deactivated_at: None,
        };
        let audit = AuditEntry { at: now, actor: "system".into(), action: "test".into(), subject: "ann".into() };
        server.app().accounts.change(&[AccountChange::CreateUser(ann)], audit).await.unwrap();
        let config = AssistantsConfig { stay: Duration::ZERO, run_wait, ..AssistantsConfig::new(Models::default()) };
        let assistants = start_with(&server, config);
        let scene = Self { server, assistants, notebook: "n".parse().unwrap(), _folder: folder };
        let create = Command::CreateNotebook { title: "Held".into(), metadata: RawObject::default() };
        scene.as_ann(&create).await;
        scene.as_ann(&cell()).await;
        scene
    }

    async fn as_ann(&self, command: &Command) -> AckMessage {
        let identity = Identity {
            actor: Actor::User { id: ann() },
            authority: Authority::session(),
            name: "Ann".into(),
            connection: String::new(),
        };
        self.execute(&self.notebook, identity, command).await
    }

    async fn execute(&self, notebook: &NotebookId, identity: Identity, command: &Command) -> AckMessage {
        let message = CommandMessage {
            id: ulid::Ulid::generate().into(),
            notebook: notebook.clone(),
            expected_version: None,
            correlation_id: None,
            body: RawJson::of(command).unwrap(),
        };
        self.server.app().rooms.open(notebook).execute(Arc::new(identity), message).await.unwrap()
    }

    fn assistant() -> Actor {
        Actor::Assistant { for_user: ann(), conversation: "outside".parse().unwrap() }
    }

    async fn state(&self) -> Arc<Notebook> {
        self.server.reactor().read(&self.notebook).await.unwrap().notebook
    }

    /// Asks to delete the cell, and leaves the notebook to itself.
    async fn held(&self) -> ToolCallId {
        let state = self.state().await;
        let arguments =
            format!(r#"{{"cell_id":"c","cell_version":{}}}"#, state.cells.values().next().unwrap().cell_version);
        let arguments = RawObject::parse(&arguments).unwrap();
        let actor = Self::assistant();
        let called = self.assistants.call(&actor, &self.notebook, "delete_cell", arguments, None, PATIENCE).await;
        drop(state);
        let Called::Waiting { call_id, .. } = called.unwrap() else { panic!("it does not wait") };
        self.until_left().await;
        call_id
    }

    async fn until_left(&self) {
        let left = async {
            while self.assistants.desks() > 0 || self.server.app().rooms.open_count() > 0 {
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(PATIENCE, left).await.expect("nobody keeps the notebook in memory");
    }

    /// What the record says of the call at last; the notebook is not opened to look.
    async fn until_recorded(&self, call_id: &ToolCallId, event_type: &str) {
        let reactor = self.server.reactor();
        let recorded = async {
            loop {
                let events = reactor.about(&self.notebook, call_id.as_str()).await.unwrap();
                if events.iter().any(|stored| stored.envelope.event_type == event_type) {
                    break;
                }
                tokio::task::yield_now().await;
            }
        };
        let told = format!("{event_type} is recorded");
        tokio::time::timeout(PATIENCE, recorded).await.expect(&told);
    }

    async fn stop(self) {
        self.assistants.stop().await;
        drop(self.assistants);
        self.server.shut_down().await;
    }
}

fn ann() -> UserId {
    UserId::new("ann").unwrap()
}

fn cell() -> Command {
    Command::InsertCell {
        cell_id: Some("c".parse().unwrap()),
        cell_type: CellType::Code,
        source: "x = 1".into(),
        place: Place::End,
        metadata: RawObject::default(),
        attachments: None,
        flags: CellFlagChanges::default(),
        reply: None,
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_yes_to_a_call_that_everybody_left_is_carried_out() {
    let scene = Scene::start(24 * 3_600_000).await;
    let call_id = scene.held().await;
    let arguments_hash = scene.state().await.tool_calls[&call_id].arguments_hash;
    scene.until_left().await;
    scene.as_ann(&Command::ConfirmToolCall { call_id: call_id.clone(), arguments_hash }).await;
    // The one who confirms does not start it: that is for the desk, which was called back.
    scene.until_recorded(&call_id, "ToolCallExecuted").await;
    assert!(scene.state().await.cells.is_empty());
    scene.until_left().await;
    scene.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn who_awaits_a_call_that_everybody_left_hears_a_no() {
    let scene = Scene::start(24 * 3_600_000).await;
    let call_id = scene.held().await;
    let actor = Scene::assistant();
    let awaiting = scene.assistants.await_call(&actor, &scene.notebook, &call_id, PATIENCE);
    let denying = async {
        scene.as_ann(&Command::DenyToolCall { call_id: call_id.clone(), reason: "keep it".into() }).await;
    };
    let (heard, ()) = tokio::join!(awaiting, denying);
    let Called::Ended { text, is_error: true, .. } = heard.unwrap() else { panic!("it goes on") };
    assert_eq!(text, "A person said no: keep it");
    scene.until_left().await;
    scene.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn who_awaits_a_call_that_everybody_left_hears_that_it_expired() {
    let scene = Scene::start(3_000).await;
    let call_id = scene.held().await;
    let heard = scene.assistants.await_call(&Scene::assistant(), &scene.notebook, &call_id, PATIENCE).await;
    let Called::Ended { text, is_error: true, .. } = heard.unwrap() else { panic!("it goes on") };
    assert_eq!(text, "Nobody answered in time. Ask again if it is still wanted.");
    assert!(!scene.state().await.cells.is_empty());
    scene.stop().await;
}
