//! Tests of tool calls over REST: requests of assistants, decisions of people.

use notarium_assistant::host::NotebookHost;
use notarium_core::{
    Actor, Command, ConversationId, RawObject, RejectionCode, RequestToolCall, Role, Scope, StartTurn, ToolCallId,
    UserId, WorkspaceId,
};
use notarium_server::AssistantHost;
use notarium_store::accounts::{AccountChange, Workspace};
use serde_json::{Value, json};

use super::socket::{create, edit, insert};
use crate::support::{Answer, Person, TestClient, TestServer};

/// A server with Ann's notebook `n`, its cell `c`, and the assistant that acts for her.
pub struct Scene {
    pub server: TestServer,
    pub ann: Person,
    owner: TestClient,
    host: AssistantHost,
}

fn assistant(person: &Person) -> Actor {
    Actor::Assistant { for_user: person.id.clone(), conversation: ConversationId::new("talk").unwrap() }
}

pub fn call_id(text: &str) -> ToolCallId {
    ToolCallId::new(text).unwrap()
}

fn request(id: &str, function: &str, arguments: &Value) -> Command {
    Command::RequestToolCall(RequestToolCall {
        call_id: Some(call_id(id)),
        turn_id: None,
        function: function.to_owned(),
        arguments: RawObject::parse(&arguments.to_string()).unwrap(),
        after: None,
        conversation_title: None,
        token: None,
    })
}

fn start(id: &str) -> Command {
    Command::StartToolCall { call_id: call_id(id) }
}

impl Scene {
    pub async fn new() -> Self {
        Self::of(TestServer::start().await).await
    }

    pub async fn of(server: TestServer) -> Self {
        let ann = server.person("Ann").await;
        let mut owner = server.connect(&ann).await;
        owner.run("n", &create("Notes")).await.unwrap();
        owner.run("n", &insert("c", "x = 1")).await.unwrap();
        let host = server.running().assistant_host();
        Self { server, ann, owner, host }
    }

    pub async fn share(&self, with: &Person, role: &str) {
        let body = json!({"subject": {"kind": "user", "id": with.id.as_str()}, "role": role});
        self.server.http(&self.ann).put("/api/notebooks/n/access", body).await.ok();
    }

    /// Executes a command of Ann's assistant in `n`.
    async fn act(&self, command: &Command) -> Result<Vec<String>, RejectionCode> {
        let done = self.host.execute(&assistant(&self.ann), &"n".parse().unwrap(), command).await;
        done.map(|ack| ack.outcome.notices).map_err(|rejection| rejection.code)
    }

    async fn cell_version(&self, cell: &str) -> u64 {
        let state = self.host.read(&"n".parse().unwrap()).await.unwrap().document;
        state.cells[&cell.parse().unwrap()].cell_version
    }

    /// Requests, as Ann's assistant, to delete the cell `c`.
    pub async fn ask(&self, id: &str) {
        let arguments = json!({"cell_id": "c", "cell_version": self.cell_version("c").await});
        self.act(&request(id, "delete_cell", &arguments)).await.unwrap();
    }

    pub async fn call(&self, id: &str) -> Value {
        self.server.http(&self.ann).get(&format!("/api/notebooks/n/calls/{id}")).await.ok()
    }

    pub async fn state_of(&self, id: &str) -> String {
        self.call(id).await["call"]["state"].as_str().unwrap().to_owned()
    }

    /// Returns the hash for a confirmation of the call.
    pub async fn hash(&self, id: &str) -> Value {
        self.call(id).await["call"]["arguments_hash"].clone()
    }

    pub async fn confirm_with(&self, token: &str, id: &str) -> Answer {
        let body = json!({"arguments_hash": self.hash(id).await});
        self.server.http_as(token).post(&format!("/api/notebooks/n/calls/{id}/confirm"), body).await
    }

    async fn has_cell(&self) -> bool {
        let state = self.host.read(&"n".parse().unwrap()).await.unwrap().document;
        state.cells.contains_key(&"c".parse().unwrap())
    }
}

#[tokio::test]
async fn a_deletion_waits_until_a_permitted_person_says_yes() {
    let scene = Scene::new().await;
    scene.ask("d").await;
    assert_eq!(scene.act(&start("d")).await, Err(RejectionCode::ToolCallState), "it waits");
    let shown = scene.call("d").await;
    assert_eq!(shown["call"]["state"], "waiting");
    assert_eq!(shown["call"]["arguments"]["cell_id"], "c");
    assert_eq!(shown["may_decide"], true);
    let effect = json!({"kind": "deletes", "cell": "c", "source": "x = 1", "has_outputs": false});
    assert_eq!(shown["confirmation"]["effects"], json!([effect]));
    assert!(shown["confirmation"]["risk"].as_str().unwrap().contains("Deletes"));

    let viewer = scene.server.person("Vic").await;
    scene.share(&viewer, "viewer").await;
    let author = scene.server.person("Aut").await;
    scene.share(&author, "author").await;
    let stranger = scene.server.person("Sam").await;
    let without = scene.server.api_token(&scene.ann, &[Scope::Read, Scope::Edit, Scope::Run]).await;
    let agent = scene.server.agent_token(&scene.ann, "gpu").await;
    for (who, token, status, code) in [
        ("a viewer", &viewer.token, 403, "forbidden"),
        ("an author, of what destroys", &author.token, 403, "forbidden"),
        ("a token without confirm", &without, 403, "forbidden"),
        ("an agent", &agent, 403, "forbidden"),
        ("a stranger", &stranger.token, 404, "unknown_notebook"),
    ] {
        assert_eq!(scene.confirm_with(token, "d").await.refused(status), code, "{who}");
        let denied = scene.server.http_as(token).post("/api/notebooks/n/calls/d/deny", json!({})).await;
        assert_eq!(denied.refused(status), code, "{who}");
    }
    let by_itself = Command::ConfirmToolCall {
        call_id: call_id("d"),
        arguments_hash: serde_json::from_value(scene.hash("d").await).unwrap(),
    };
    assert_eq!(scene.act(&by_itself).await, Err(RejectionCode::Forbidden), "the assistant itself");
    let by_server = scene.host.execute(&Actor::System, &"n".parse().unwrap(), &by_itself).await;
    assert_eq!(by_server.unwrap_err().code, RejectionCode::Forbidden, "the server itself");
    let as_person = Actor::User { id: scene.ann.id.clone() };
    let forged = scene.host.execute(&as_person, &"n".parse().unwrap(), &by_itself).await;
    assert_eq!(forged.unwrap_err().code, RejectionCode::Forbidden, "a person through the assistants' host");
    assert_eq!(scene.state_of("d").await, "waiting");

    let editor = scene.server.person("Edi").await;
    scene.share(&editor, "editor").await;
    let wrong = json!({"arguments_hash": "0".repeat(64)});
    let wrong = scene.server.http(&editor).post("/api/notebooks/n/calls/d/confirm", wrong).await;
    assert_eq!(wrong.refused(409), "conflict", "other arguments than those that wait");
    scene.confirm_with(&editor.token, "d").await.ok();
    assert_eq!(scene.state_of("d").await, "confirmed");
    assert!(scene.has_cell().await, "a confirmation starts nothing by itself");
    let second = scene.confirm_with(&scene.ann.token, "d").await;
    assert!(second.text.contains("Edi has confirmed call d already"), "{}", second.text);
    assert_eq!(second.refused(409), "tool_call_state");
    scene.act(&start("d")).await.unwrap();
    assert!(!scene.has_cell().await);
    assert!(scene.act(&start("d")).await.is_err(), "it runs once");

    let done = scene.call("d").await["call"].clone();
    assert_eq!(
        (done["state"].as_str(), done["decided_by"]["id"].as_str()),
        (Some("succeeded"), Some(editor.id.as_str()))
    );
    assert_eq!(done["passed_by"]["kind"], "confirmation");
    scene.server.http(&editor).post("/api/notebooks/n/calls/d/undo", json!({})).await.ok();
    assert!(scene.has_cell().await, "anybody who may edit takes it back");
}

#[tokio::test]
async fn a_call_is_denied_withdrawn_or_void() {
    let mut scene = Scene::new().await;
    let http = scene.server.http(&scene.ann);
    scene.ask("denied").await;
    http.post("/api/notebooks/n/calls/denied/deny", json!({"reason": "I need it"})).await.ok();
    let denied = scene.call("denied").await["call"].clone();
    assert_eq!((denied["state"].as_str(), denied["reason"].as_str()), (Some("denied"), Some("I need it")));
    assert_eq!(scene.confirm_with(&scene.ann.token, "denied").await.refused(409), "tool_call_state");

    scene.ask("withdrawn").await;
    let withdraw = "/api/notebooks/n/calls/withdrawn/withdraw";
    let viewer = scene.server.person("Vic").await;
    scene.share(&viewer, "viewer").await;
    assert_eq!(scene.server.http(&viewer).post(withdraw, json!({})).await.refused(403), "forbidden");
    http.post(withdraw, json!({})).await.ok();
    assert_eq!(scene.state_of("withdrawn").await, "withdrawn");

    // An edit of its target closes a waiting call; a confirmed call becomes void at its start.
    scene.ask("void").await;
    let base = scene.cell_version("c").await;
    scene.owner.run("n", &edit("c", base, r#"[5,[0,"0"]]"#)).await.unwrap();
    let shown = http.until("/api/notebooks/n/calls/void", |shown| shown["call"]["state"] == "voided").await;
    assert!(shown["call"]["reason"].as_str().unwrap().contains("cell c is at version"), "{shown}");
    scene.ask("late").await;
    scene.confirm_with(&scene.ann.token, "late").await.ok();
    let base = scene.cell_version("c").await;
    scene.owner.run("n", &edit("c", base, r#"[6,[0,"0"]]"#)).await.unwrap();
    assert_eq!(scene.act(&start("late")).await.unwrap().len(), 1, "it says that it is void");
    assert_eq!(scene.state_of("late").await, "voided");
    assert!(scene.has_cell().await);

    let states = |page: &Value| -> Vec<String> {
        page["calls"].as_array().unwrap().iter().map(|call| call["id"].as_str().unwrap().to_owned()).collect()
    };
    scene.ask("open").await;
    let all = http.get("/api/notebooks/n/calls").await.ok();
    assert_eq!(states(&all), ["open", "late", "void", "withdrawn", "denied"]);
    let page = http.get("/api/notebooks/n/calls?limit=2").await.ok();
    assert_eq!(states(&page), ["open", "late", "void"], "what waits comes on top of the page");
    let next = http.get(&format!("/api/notebooks/n/calls?limit=2&before={}", page["next"])).await.ok();
    assert_eq!(states(&next), ["withdrawn", "denied"]);
    assert_eq!(states(&http.get("/api/notebooks/n/calls?state=voided").await.ok()), ["late", "void"]);
    assert_eq!(states(&http.get("/api/notebooks/n/calls?function=create_cell").await.ok()).len(), 0);
    let future = scene.host.now() + 60_000;
    assert_eq!(states(&http.get(&format!("/api/notebooks/n/calls?since={future}")).await.ok()).len(), 0);
}

#[tokio::test]
async fn a_call_expires_also_when_its_notebook_is_unloaded() {
    let server = TestServer::with(|config| {
        config.rooms.room.limits.tool_call_expiry_ms = 1_500;
        config.rooms.room.unload_after_ms = 20;
    });
    let mut scene = Scene::of(server.await).await;
    scene.ask("d").await;
    scene.owner.subscribe("n").await;
    drop(scene.owner);
    let unloading = async {
        while scene.server.running().app().rooms.open_count() > 0 {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(crate::support::PATIENCE, unloading).await.expect("nobody keeps it open");
    // The notebook stays closed meanwhile: the test reads only the store.
    let has_expired = async || {
        let events = scene.host.events_of_subject(&"n".parse().unwrap(), call_id("d").as_str()).await.unwrap();
        events.iter().any(|stored| stored.envelope.event_type == "ToolCallExpired")
    };
    let waiting = async {
        while !has_expired().await {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(crate::support::PATIENCE, waiting).await.expect("it expires by itself");
    scene.owner = scene.server.connect(&scene.ann).await;
    assert_eq!(scene.confirm_with(&scene.ann.token, "d").await.refused(409), "tool_call_state");
    assert!(scene.has_cell().await);
}

#[tokio::test]
async fn a_look_at_what_waits_opens_no_notebook() {
    let server = TestServer::with(|config| config.rooms.room.unload_after_ms = 20);
    let mut scene = Scene::of(server.await).await;
    scene.ask("d").await;
    drop(scene.owner);
    let unloading = async {
        while scene.server.running().app().rooms.open_count() > 0 {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(crate::support::PATIENCE, unloading).await.expect("nobody keeps it open");
    let http = scene.server.http(&scene.ann);
    // The room writes the list when it ends.
    let found = http.until("/api/confirmations", |found| found["calls"].as_array().unwrap().len() == 1).await;
    assert_eq!((&found["calls"][0]["notebook"], &found["calls"][0]["call"]["id"]), (&json!("n"), &json!("d")));
    assert_eq!(scene.server.running().app().rooms.open_count(), 0);
    let stranger = scene.server.person("Sam").await;
    assert_eq!(scene.server.http(&stranger).get("/api/confirmations").await.ok()["calls"], json!([]));
    scene.owner = scene.server.connect(&scene.ann).await;
    scene.confirm_with(&scene.ann.token, "d").await.ok();
    assert_eq!(http.get("/api/confirmations").await.ok()["calls"], json!([]), "decided calls wait no longer");
}

#[tokio::test]
async fn rights_are_those_of_the_start() {
    let scene = Scene::new().await;
    let bob = scene.server.person("Bob").await;
    scene.share(&bob, "editor").await;
    for (id, loses) in [("role", true), ("account", false)] {
        scene.ask(id).await;
        scene.confirm_with(&bob.token, id).await.ok();
        if loses {
            scene.share(&bob, "viewer").await;
        } else {
            let at = scene.host.now();
            scene.server.apply(AccountChange::DeactivateUser { user: bob.id.clone(), at }).await;
        }
        assert_eq!(scene.act(&start(id)).await.unwrap().len(), 1);
        assert_eq!(scene.state_of(id).await, "voided", "{id}");
        if loses {
            scene.share(&bob, "editor").await;
        }
    }
    assert!(scene.has_cell().await);
    // The same applies to the person for whom the assistant acts.
    let at = scene.host.now();
    scene.server.apply(AccountChange::DeactivateUser { user: bob.id.clone(), at }).await;
    let n = "n".parse().unwrap();
    let of_bob = scene.host.execute(&assistant(&bob), &n, &request("x", "create_cell", &json!({"source": ""}))).await;
    assert_eq!(of_bob.unwrap_err().code, RejectionCode::Forbidden);
    let nobody = Actor::Assistant { for_user: UserId::new("nobody").unwrap(), conversation: "t".parse().unwrap() };
    assert!(scene.host.execute(&nobody, &n, &start("x")).await.is_err());
}

#[tokio::test]
async fn who_confirms_by_a_workspace_has_its_rights() {
    let scene = Scene::new().await;
    let bob = scene.server.person("Bob").await;
    let workspace = WorkspaceId::new("team").unwrap();
    let made = Workspace { id: workspace.clone(), name: "Team".into(), created_at: scene.host.now() };
    scene.server.apply(AccountChange::CreateWorkspace(made)).await;
    let member = |user: &Person, role| AccountChange::SetMember {
        workspace: workspace.clone(),
        user: user.id.clone(),
        role: Some(role),
    };
    scene.server.apply(member(&scene.ann, Role::Owner)).await;
    scene.server.apply(member(&bob, Role::Editor)).await;
    let place = AccountChange::PlaceNotebook { notebook: "n".parse().unwrap(), workspace: Some(workspace.clone()) };
    scene.server.apply(place).await;
    scene.ask("d").await;
    let path = "/api/confirmations";
    let waiting = scene.server.http(&bob).until(path, |found| found["calls"].as_array().unwrap().len() == 1).await;
    assert_eq!((&waiting["calls"][0]["notebook"], &waiting["calls"][0]["call"]["id"]), (&json!("n"), &json!("d")));
    let stranger = scene.server.person("Sam").await;
    assert_eq!(scene.server.http(&stranger).get(path).await.ok()["calls"], json!([]));
    scene.confirm_with(&bob.token, "d").await.ok();
    scene.act(&start("d")).await.unwrap();
    assert!(!scene.has_cell().await);
}

#[tokio::test]
async fn a_confirmation_still_counts_after_a_restart_and_the_assistants_host_is_notified() {
    let mut scene = Scene::new().await;
    scene.ask("d").await;
    let notice = scene.host.next_notice().await.unwrap();
    assert_eq!(notice.notebook.as_str(), "n");
    scene.confirm_with(&scene.ann.token, "d").await.ok();
    assert!(scene.host.next_notice().await.unwrap().version > notice.version);
    drop(scene.host);
    scene.server.stop().await;
    scene.server.start_again().await;
    scene.host = scene.server.running().assistant_host();
    let again = scene.host.next_notice().await.unwrap();
    assert_eq!(again.notebook.as_str(), "n", "a restart opens what is unfinished");
    assert_eq!(scene.state_of("d").await, "confirmed");
    scene.act(&start("d")).await.unwrap();
    assert!(!scene.has_cell().await);
}

#[tokio::test]
async fn policies_and_grants_let_pass_what_destroys_nothing() {
    let scene = Scene::new().await;
    let http = scene.server.http(&scene.ann);
    let editor = scene.server.person("Edi").await;
    scene.share(&editor, "editor").await;
    assert_eq!(http.get("/api/notebooks/n/policy").await.ok(), json!({"policy": "guarded"}));
    let careful = json!({"policy": "ask_for_every_edit"});
    let refused = scene.server.http(&editor).put("/api/notebooks/n/policy", careful.clone()).await;
    assert_eq!(refused.refused(403), "forbidden", "for owners");
    http.put("/api/notebooks/n/policy", careful).await.ok();
    let new_cell = json!({"source": "y = 2"});
    scene.act(&request("first", "create_cell", &new_cell)).await.unwrap();
    let shown = scene.call("first").await;
    assert_eq!(shown["call"]["state"], "waiting");
    assert_eq!(shown["confirmation"]["effects"][0], json!({"kind": "creates", "cell_type": "code", "source": "y = 2"}));

    let grant = json!({"conversation": "talk", "expires_at": scene.host.now() + 3_600_000});
    let issued = http.post("/api/notebooks/n/grants", grant.clone()).await.ok();
    scene.act(&request("second", "create_cell", &new_cell)).await.unwrap();
    let passed = scene.call("second").await["call"].clone();
    assert_eq!((&passed["state"], &passed["passed_by"]["kind"]), (&json!("succeeded"), &json!("grant")));
    scene.ask("delete").await;
    assert_eq!(scene.state_of("delete").await, "waiting", "no grant covers what destroys");
    let id = issued["id"].as_str().unwrap();
    assert!(http.get("/api/notebooks/n/grants").await.ok()["grants"].get(id).is_some());
    http.delete(&format!("/api/notebooks/n/grants/{id}")).await.ok();
    assert_eq!(http.get("/api/notebooks/n/grants").await.ok()["grants"], json!({}));
    scene.act(&request("third", "create_cell", &new_cell)).await.unwrap();
    assert_eq!(scene.state_of("third").await, "waiting");
    let viewer = scene.server.person("Vic").await;
    scene.share(&viewer, "viewer").await;
    assert_eq!(scene.server.http(&viewer).post("/api/notebooks/n/grants", grant).await.refused(403), "forbidden");

    // A grant ends with its issuer's right to confirm, here by the deactivation of the account.
    let edis = json!({"conversation": "talk", "expires_at": scene.host.now() + 3_600_000});
    scene.server.http(&editor).post("/api/notebooks/n/grants", edis).await.ok();
    scene.act(&request("granted", "create_cell", &new_cell)).await.unwrap();
    assert_eq!(scene.state_of("granted").await, "succeeded");
    let at = scene.host.now();
    scene.server.apply(AccountChange::DeactivateUser { user: editor.id.clone(), at }).await;
    scene.act(&request("ungranted", "create_cell", &new_cell)).await.unwrap();
    assert_eq!(scene.state_of("ungranted").await, "waiting");
}

#[tokio::test]
async fn conversations_are_read_by_all_who_read_the_notebook() {
    let scene = Scene::new().await;
    let mut owner = scene.server.connect(&scene.ann).await;
    let ask = Command::StartTurn(StartTurn {
        conversation_id: "talk".parse().unwrap(),
        turn_id: Some("t".parse().unwrap()),
        text: Some("What is here?".into()),
        cell_id: None,
        model: None,
        attachments: Vec::new(),
    });
    owner.run("n", &ask).await.unwrap();
    let viewer = scene.server.person("Vic").await;
    scene.share(&viewer, "viewer").await;
    let http = scene.server.http(&viewer);
    let list = http.get("/api/notebooks/n/conversations").await.ok();
    assert_eq!(list["conversations"]["talk"]["title"], "What is here?");
    assert_eq!(list["turns"]["t"]["conversation_id"], "talk");
    let messages = http.get("/api/notebooks/n/conversations/talk/messages").await.ok();
    assert_eq!(messages["messages"][0]["blocks"][0]["text"]["text"], "What is here?");
    assert_eq!(http.get("/api/notebooks/n/conversations/none/messages").await.ok()["messages"], json!([]));

    // People with the right to edit set which messages are always or never in the assistant's context.
    let message = messages["messages"][0]["id"].as_str().unwrap();
    let flags = format!("/api/notebooks/n/conversations/talk/messages/{message}/flags");
    let ann = scene.server.http(&scene.ann);
    assert_eq!(http.put(&flags, json!({"pinned": true})).await.refused(403), "forbidden");
    ann.put(&flags, json!({"pinned": true})).await.ok();
    assert_eq!(ann.put(&flags, json!({"skipped": true})).await.refused(400), "invalid_value");
    let pinned = http.get("/api/notebooks/n/conversations/talk/messages").await.ok();
    assert_eq!((&pinned["messages"][0]["pinned"], &pinned["messages"][0]["skipped"]), (&json!(true), &json!(false)));
    let nowhere = "/api/notebooks/n/conversations/talk/messages/none/flags";
    assert_eq!(ann.put(nowhere, json!({"pinned": true})).await.refused(404), "unknown_message");

    // Changes of the assistant in one turn are undone together.
    let create = Command::RequestToolCall(RequestToolCall {
        call_id: Some(call_id("made")),
        turn_id: Some("t".parse().unwrap()),
        function: "create_cell".into(),
        arguments: RawObject::parse(r#"{"source":"y"}"#).unwrap(),
        after: None,
        conversation_title: None,
        token: None,
    });
    scene.act(&create).await.unwrap();
    let cells = async || scene.host.read(&"n".parse().unwrap()).await.unwrap().document.cells.len();
    assert_eq!(cells().await, 2);
    assert_eq!(http.post("/api/notebooks/n/turns/t/undo", json!({})).await.refused(403), "forbidden");
    scene.server.http(&scene.ann).post("/api/notebooks/n/turns/t/undo", json!({})).await.ok();
    assert_eq!(cells().await, 1);
}

#[tokio::test]
async fn who_decides_sees_everything_that_a_call_would_do() {
    let scene = Scene::new().await;
    let careful = json!({"policy": "ask_for_every_edit"});
    scene.server.http(&scene.ann).put("/api/notebooks/n/policy", careful).await.ok();
    let version = scene.cell_version("c").await;
    let hash = "0".repeat(64);
    let end = "\\ No newline at end of file\n";
    let diff = format!("@@ -1 +1 @@\n-x = 1\n{end}+x = 2\n{end}");
    let code = |source: &str| json!({"cells": [{"source": source}], "run": true});
    let runs = |source: &str| json!({"kind": "runs", "source": source});
    let creates = |source: &str| json!({"kind": "creates", "cell_type": "code", "source": source});
    let does = |what: &str| json!([{"kind": "does", "what": what}]);
    for (number, (function, arguments, effects)) in [
        ("create_cell", json!({"source": "y"}), json!([creates("y")])),
        ("create_cells", code("y"), json!([creates("y"), runs("y")])),
        (
            "modify_cell",
            json!({"cell_id": "c", "cell_version": version, "source": "x = 2"}),
            json!([{"kind": "changes", "cell": "c", "diff": diff}]),
        ),
        ("move_cell", json!({"cell_id": "c", "before": "c"}), json!([{"kind": "moves", "cell": "c"}])),
        ("execute_cell", json!({"cell_id": "c"}), json!([{"kind": "runs", "cell": "c", "source": "x = 1"}])),
        ("run_all", json!({}), json!([{"kind": "runs", "cell": "c", "source": "x = 1"}])),
        (
            "save_data",
            json!({"path": "a.csv", "content": "1", "overwrite": hash}),
            json!([{"kind": "writes", "path": "a.csv", "content": "1", "replaces": hash}]),
        ),
        ("interrupt", json!({}), does("Interrupt the kernel")),
        (
            "create_notebook",
            json!({"title": "New", "cells": [{"source": "y"}]}),
            json!([{"kind": "does", "what": "makes a notebook with the title \"New\""}, creates("y")]),
        ),
    ]
    .into_iter()
    .enumerate()
    {
        let id = format!("call-{number}");
        scene.act(&request(&id, function, &arguments)).await.unwrap_or_else(|code| panic!("{function}: {code:?}"));
        assert_eq!(scene.call(&id).await["confirmation"]["effects"], effects, "{function}");
    }
}
