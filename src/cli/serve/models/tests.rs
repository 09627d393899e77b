//! Notebooks that only wait for people have no worker and are not kept in memory; a person's answer starts one.

mod lost_runs;
mod waits;

use std::pin::pin;
use std::time::Duration;

use notarium_assistant::assistants::{Called, ToolCaller, WantedCall};
use notarium_assistant::host::NotebookHost;
use notarium_core::{
    Actor, Authority, CellFlagChanges, CellType, Command, Document, Event, InsertCell, MessageBlock, Millis,
    NotebookId, Place, RawJson, RawObject, StartTurn, ToolCallId, UserId,
};
use notarium_scripted::{Script, ScriptedServer};
use notarium_server::rooms::DecodedCommand;
use notarium_server::rooms::Identity;
use notarium_server::{Clock, Server, ServerConfig};
use notarium_store::accounts::{AccountChange, AuditEntry, User};
use notarium_wire::{AckMessage, CommandMessage};
use serde_json::json;

use super::*;

const PATIENCE: Duration = Duration::from_secs(30);
/// Lifetime of a call that waits for a person.
const DAY: Duration = Duration::from_secs(24 * 3_600);

struct Scene {
    server: RunningServer,
    assistants: Arc<Assistants>,
    clock: Clock,
    notebook: NotebookId,
    _folder: tempfile::TempDir,
}

impl Scene {
    async fn start() -> Self {
        Self::start_with(ModelProviders::default()).await
    }

    /// Starts with a model that follows these rules.
    async fn scripted(rules: &serde_json::Value) -> (Self, ScriptedServer) {
        let script = Script::parse(&json!({"replies": rules}).to_string()).unwrap();
        let model = ScriptedServer::start(script).await.unwrap();
        let settings = ProviderSettings {
            base_url: Some(model.base_url()),
            model: Some("scripted".to_owned()),
            ..ProviderSettings::new(Family::Compatible)
        };
        (Self::start_with(ModelProviders::new(vec![connect(&settings).unwrap()])).await, model)
    }

    /// A server whose workers leave and whose rooms close as soon as they may. The test sets its clock forward.
    async fn start_with(models: ModelProviders) -> Self {
        notarium_agent::connection::install_tls_provider();
        let folder = tempfile::tempdir().unwrap();
        let mut config = ServerConfig::in_folder(folder.path());
        config.assistants = true;
        config.rooms.room.unload_after_ms = 20;
        config.rooms.room.limits.tool_call_expiry_ms = DAY.as_millis() as Millis;
        config.clock = Clock::adjustable();
        let clock = config.clock.clone();
        let server = Server::start(config).await.unwrap();
        let now = server.assistant_host().now();
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
        let assistants = AssistantsConfig { stay: Duration::ZERO, ..AssistantsConfig::new(models) };
        let assistants = super::start(&server, assistants);
        let scene = Self { server, assistants, clock, notebook: "n".parse().unwrap(), _folder: folder };
        let create =
            Command::CreateNotebook { title: "Held".into(), metadata: RawObject::default(), forked_from: None };
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
        let decoded = DecodedCommand::of(message, command.clone());
        self.server.app().rooms.open(notebook).execute(Arc::new(identity), decoded, Default::default()).await.unwrap()
    }

    fn assistant() -> Actor {
        Actor::Assistant { for_user: ann(), conversation: "outside".parse().unwrap() }
    }

    async fn state(&self) -> Arc<Document> {
        self.server.assistant_host().read(&self.notebook).await.unwrap().document
    }

    /// Requests the deletion of the cell, and drops the notebook's state.
    async fn held(&self) -> ToolCallId {
        let state = self.state().await;
        let arguments =
            format!(r#"{{"cell_id":"c","cell_version":{}}}"#, state.cells.values().next().unwrap().cell_version);
        let arguments = RawObject::parse(&arguments).unwrap();
        let actor = Self::assistant();
        let wanted = WantedCall { function: "delete_cell".to_owned(), arguments, title: None, token: None };
        let called = self.assistants.call(&actor, &self.notebook, wanted, PATIENCE).await;
        drop(state);
        let Called::Waiting { call_id, .. } = called.unwrap() else { panic!("it does not wait") };
        self.until_left().await;
        call_id
    }

    async fn until_left(&self) {
        let left = async {
            while self.assistants.workers() > 0 || self.server.app().rooms.open_count() > 0 {
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(PATIENCE, left).await.expect("nobody keeps the notebook in memory");
    }

    /// The whole record, read without opening the notebook.
    async fn record(&self) -> Vec<Event> {
        let stored = self.server.assistant_host().events(&self.notebook, 0, 2_000).await.unwrap();
        stored.iter().map(|stored| stored.typed().unwrap().event).collect()
    }

    async fn until(&self, what: &str, is_meant: impl Fn(&Event) -> bool) {
        let recorded = async {
            while !self.record().await.iter().any(&is_meant) {
                tokio::task::yield_now().await;
            }
        };
        assert!(tokio::time::timeout(PATIENCE, recorded).await.is_ok(), "{what} is not recorded");
    }

    async fn until_recorded(&self, call_id: &ToolCallId, event_type: &str) {
        let is_meant = |event: &Event| event.tool_call_id() == Some(call_id) && event.event_type() == event_type;
        self.until(event_type, is_meant).await;
    }

    /// Sets the clock forward by a second again and again, until the future is ready.
    async fn passing<T>(&self, future: impl Future<Output = T>) -> T {
        let mut future = pin!(future);
        loop {
            // Between two steps the server does what is due.
            match tokio::time::timeout(Duration::from_millis(5), &mut future).await {
                Ok(ready) => return ready,
                Err(_) => self.clock.advance(Duration::from_secs(1)),
            }
        }
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
    Command::InsertCell(InsertCell {
        cell_id: Some("c".parse().unwrap()),
        cell_type: CellType::Code,
        source: "x = 1".into(),
        place: Place::End,
        metadata: RawObject::default(),
        attachments: None,
        flags: CellFlagChanges::default(),
        reply: None,
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn a_yes_to_a_call_that_everybody_left_is_carried_out() {
    let scene = Scene::start().await;
    let call_id = scene.held().await;
    let arguments_hash = scene.state().await.tool_calls[&call_id].arguments_hash;
    scene.until_left().await;
    scene.as_ann(&Command::ConfirmToolCall { call_id: call_id.clone(), arguments_hash }).await;
    // Confirming does not start the call: a new worker does.
    scene.until_recorded(&call_id, "ToolCallExecuted").await;
    assert!(scene.state().await.cells.is_empty());
    scene.until_left().await;
    scene.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn who_awaits_a_call_that_everybody_left_hears_a_no() {
    let scene = Scene::start().await;
    let call_id = scene.held().await;
    let actor = Scene::assistant();
    let awaiting = scene.assistants.await_call(&actor, &scene.notebook, &call_id, PATIENCE);
    let denying = async {
        scene.as_ann(&Command::DenyToolCall { call_id: call_id.clone(), detail: Some("keep it".into()) }).await;
    };
    let (heard, ()) = tokio::join!(awaiting, denying);
    let Called::Ended { text, is_error: true, .. } = heard.unwrap() else { panic!("it goes on") };
    assert_eq!(text, "A person said no: keep it");
    scene.until_left().await;
    scene.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn who_awaits_a_call_that_everybody_left_hears_that_it_expired() {
    let scene = Scene::start().await;
    let call_id = scene.held().await;
    let actor = Scene::assistant();
    let awaiting = scene.assistants.await_call(&actor, &scene.notebook, &call_id, PATIENCE);
    let (heard, ()) = tokio::join!(awaiting, async { scene.clock.advance(DAY) });
    let Called::Ended { text, is_error: true, .. } = heard.unwrap() else { panic!("it goes on") };
    assert_eq!(text, "Nobody answered in time. Ask again if it is still wanted.");
    assert!(!scene.state().await.cells.is_empty());
    scene.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_turn_that_everybody_left_goes_on_when_its_call_expires_and_the_model_hears_why() {
    let delete = json!({"name": "delete_cell", "arguments": {"cell_id": "c", "cell_version": 2}});
    let rules = json!([
        {"when": {"user": "tidy"}, "reply": {"calls": [delete]}},
        {"when": {"user": "tidy", "after_tool": "delete_cell", "result": "Nobody answered in time"},
         "reply": {"text": "Then it stays."}},
    ]);
    let (scene, model) = Scene::scripted(&rules).await;
    let start = Command::StartTurn(StartTurn {
        conversation_id: "talk".parse().unwrap(),
        turn_id: None,
        text: Some("Tidy up".to_owned()),
        cell_id: None,
        model: None,
        attachments: Vec::new(),
    });
    scene.as_ann(&start).await;
    scene.until("the call", |event| matches!(event, Event::ToolCallRequested(_))).await;
    // No worker stays while only a person can act.
    scene.until_left().await;
    scene.clock.advance(DAY);
    scene.until("the end", |event| matches!(event, Event::TurnFinished(_))).await;
    let events = scene.record().await;
    let place = |is_meant: fn(&Event) -> bool| events.iter().position(is_meant);
    let expired = place(|event| matches!(event, Event::ToolCallExpired(_))).expect("it expires");
    assert!(Some(expired) < place(|event| matches!(event, Event::TurnFinished(_))), "{events:#?}");
    assert_eq!(place(|event| matches!(event, Event::ToolCallStarted(_))), None, "{events:#?}");
    let last = events.iter().rev().find_map(|event| match event {
        Event::MessagePosted(event) => Some(event.blocks.clone()),
        _ => None,
    });
    assert_eq!(last, Some(vec![MessageBlock::Text { text: "Then it stays.".to_owned() }.into()]));
    assert_eq!((model.requests().len(), scene.state().await.cells.len()), (2, 1));
    scene.until_left().await;
    scene.stop().await;
}
