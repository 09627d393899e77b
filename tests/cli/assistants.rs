//! Tests of assistants' calls on the command line: list, decide, undo.

use notarium_assistant::host::NotebookHost;
use notarium_core::{Actor, Command, ConversationId, NotebookId, RawObject, RequestToolCall, ToolCallId, UserId};
use serde_json::json;

#[cfg(unix)]
use super::chat::type_in;
use super::support::{Lines, Words, World};
use notarium_server::{Server, ServerConfig};

/// Assistant of the signed-in user.
struct Assistant {
    actor: Actor,
    notebook: NotebookId,
}

impl Assistant {
    async fn of(world: &World, notebook: &str) -> Self {
        let who = world.run(&["whoami", "--json"]).await.json();
        let id = who["id"].as_str().or_else(|| who["actor"]["id"].as_str());
        let for_user = UserId::new(id.unwrap_or_else(|| panic!("{who}"))).unwrap();
        let conversation = ConversationId::new("talk").unwrap();
        Self { actor: Actor::Assistant { for_user, conversation }, notebook: notebook.parse().unwrap() }
    }

    async fn does(&self, world: &World, command: &Command) {
        let host = world.server.as_ref().unwrap().assistant_host();
        host.execute(&self.actor, &self.notebook, command).await.unwrap();
    }

    async fn asks(&self, world: &World, id: &str, function: &str, arguments: serde_json::Value) {
        let command = Command::RequestToolCall(RequestToolCall {
            call_id: Some(ToolCallId::new(id).unwrap()),
            turn_id: None,
            function: function.to_owned(),
            arguments: RawObject::parse(&arguments.to_string()).unwrap(),
            after: None,
            conversation_title: None,
            token: None,
        });
        self.does(world, &command).await;
    }

    async fn starts(&self, world: &World, id: &str) {
        self.does(world, &Command::StartToolCall { call_id: ToolCallId::new(id).unwrap() }).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn calls_are_shown_in_full_confirmed_denied_listed_and_undone() {
    let world = World::start().await;
    let (notebook, cell) = world.notebook("Work", "precious = 1").await;
    let nb = notebook.as_str();
    let assistant = Assistant::of(&world, nb).await;
    let state = world.run(&["show", nb, "--json"]).await.json();
    let version = state["notebook"]["cells"][&cell]["cell_version"].clone();
    let delete = json!({"cell_id": cell, "cell_version": version});
    assert_eq!(world.run(&["confirm", nb]).await.err, "nothing waits for you\n");

    assistant.asks(&world, "no", "delete_cell", delete.clone()).await;
    assistant.asks(&world, "yes", "delete_cell", delete).await;
    let shown = world.run(&["confirm", nb]).await;
    assert!(shown.err.contains("this is no terminal"), "without a terminal nothing is decided: {}", shown.err);
    for part in ["delete_cell", "the assistant of Ann", "precious = 1", "destructive", "waits until", &cell] {
        assert!(shown.out.contains(part), "{part}: {}", shown.out);
    }
    let listed = world.run(&["confirm", nb, "--json"]).await.json();
    assert_eq!(listed.as_array().unwrap().len(), 2);

    world.run(&["confirm", nb, "--deny", "no", "--reason", "I need it"]).await.ok();
    let refused = world.run(&["confirm", nb, "--yes", "yes"]).await.fails(2);
    assert!(refused.contains("at a terminal") && refused.contains("on the page"), "{refused}");
    assert_eq!(world.run(&["confirm", nb, "--json"]).await.json().as_array().unwrap().len(), 1, "it still waits");
    world.run_at_terminal(&["confirm", nb, "--yes", "yes"]).await.ok();
    let again = world.run_at_terminal(&["confirm", nb, "--yes", "yes"]).await;
    assert!(again.code == 1 && again.out.contains("you have confirmed call yes already"), "{again:?}");
    assistant.starts(&world, "yes").await;
    let cells = async || world.run(&["show", nb, "--json"]).await.json()["notebook"]["order"].as_array().unwrap().len();
    assert_eq!(cells().await, 0);

    let calls = world.run(&["calls", nb]).await.ok();
    for part in ["I need it", "denied", "succeeded", "Ann at a terminal (session \"notarium login\")"] {
        assert!(calls.contains(part), "{part}: {calls}");
    }
    let as_json = world.run(&["calls", nb, "--function", "delete_cell", "--since", "1h", "--json"]).await.json();
    assert_eq!(as_json[0]["arguments"]["cell_id"], cell.as_str());
    let means = json!({"door": "terminal", "credential": "session", "label": "notarium login"});
    assert_eq!((&as_json[0]["by_means"], &as_json[1]["by_means"]), (&means, &means));
    assert_eq!(world.run(&["calls", nb, "--state", "expired", "--json"]).await.json(), json!([]));
    let log = world.run(&["log", nb]).await.ok();
    assert!(log.contains("Ann confirmed delete_cell (call yes)") && log.contains("which waits for a person"), "{log}");
    world.run(&["undo", nb, "--call", "yes"]).await.ok();
    assert_eq!(cells().await, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_waits_everywhere_is_shown_with_its_diff_and_hides_nothing() {
    let world = World::start().await;
    let (first, cell) = world.notebook("First", "x = 1\ny = 2").await;
    let (second, other) = world.notebook("Second", "z = 3").await;
    for (nb, cell, id, source) in [(&first, &cell, "one", "x = 1\ny = 5"), (&second, &other, "two", "\u{1b}[8mz = 4")] {
        world.run(&["policy", nb, "ask-for-every-edit"]).await.ok();
        let assistant = Assistant::of(&world, nb).await;
        let version =
            world.run(&["show", nb, "--json"]).await.json()["notebook"]["cells"][cell]["cell_version"].clone();
        let change = json!({"cell_id": cell, "cell_version": version, "source": source});
        assistant.asks(&world, id, "modify_cell", change).await;
    }
    let shown = world.run(&["confirm"]).await.out;
    for part in ["\"First\"", "-y = 2", "+y = 5", "\"Second\"", "-z = 3", "+␛[8mz = 4"] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    world.run_at_terminal(&["confirm", "--yes", "one"]).await.ok();
    world.run(&["confirm", "--deny", "two", "--reason", "no"]).await.ok();
    assert_eq!(world.run(&["confirm"]).await.err, "nothing waits for you\n");
    let gone = world.run_at_terminal(&["confirm", "--yes", "one"]).await;
    assert!(gone.code == 1 && gone.out.contains("name its notebook"), "{gone:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn policy_and_grants_are_set_and_shown() {
    let world = World::start().await;
    let (notebook, _) = world.notebook("Work", "x").await;
    let nb = notebook.as_str();
    let assistant = Assistant::of(&world, nb).await;
    assert_eq!(world.run(&["policy", nb]).await.ok(), "guarded");
    world.run(&["policy", nb, "ask-for-every-edit"]).await.ok();
    assert_eq!(world.run(&["policy", nb]).await.ok(), "ask-for-every-edit");
    let wrong = world.run(&["policy", nb, "yolo"]).await.fails(2);
    assert!(wrong.contains("ask-for-every-edit, trusted"), "{wrong}");

    let cell = json!({"source": "y"});
    assistant.asks(&world, "first", "create_cell", cell.clone()).await;
    let states = async || {
        let calls = world.run(&["calls", nb, "--json"]).await.json();
        let states = calls.as_array().unwrap().iter().map(|call| call["state"].as_str().unwrap().to_owned());
        states.collect::<Vec<_>>()
    };
    assert_eq!(states().await, ["waiting"]);
    world.run(&["grant", nb, "talk", "--function", "create_cell", "--expires", "1h"]).await.ok();
    assistant.asks(&world, "second", "create_cell", cell.clone()).await;
    assert_eq!(states().await, ["waiting", "succeeded"]);
    let grants = world.run(&["grant", nb, "--json"]).await.json();
    let id = grants.as_object().unwrap().keys().next().unwrap().clone();
    assert!(world.run(&["grant", nb]).await.ok().contains("create_cell"));
    world.run(&["grant", nb, "--revoke", &id]).await.ok();
    assistant.asks(&world, "third", "create_cell", cell).await;
    assert_eq!(states().await, ["waiting", "waiting", "succeeded"]);
    let refused = world.run(&["grant", nb, "talk", "--function", "delete_cell"]).await.fails(1);
    assert!(refused.contains("always asks"), "{refused}");
}

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn a_confirmation_before_a_kill_still_counts() {
    let data = tempfile::tempdir().unwrap();
    let mut world = World::start_with(data.path()).await;
    let (notebook, cell) = world.notebook("Work", "precious = 1").await;
    let nb = notebook.as_str();
    let assistant = Assistant::of(&world, nb).await;
    let state = world.run(&["show", nb, "--json"]).await.json();
    let version = state["notebook"]["cells"][&cell]["cell_version"].clone();
    assistant.asks(&world, "d", "delete_cell", json!({"cell_id": cell, "cell_version": version})).await;
    let token = world.token();
    world.server.take().unwrap().shut_down().await;

    let folder = data.path().to_str().unwrap();
    let mut process = world.spawn(&["serve", "--data", folder, "--listen", "127.0.0.1:0"]);
    let ready = Lines::of(process.stdout.take().unwrap()).until("http://").await;
    let url = format!("http://{}", ready.rsplit("http://").next().unwrap().trim());
    world.run_at_terminal(&["confirm", nb, "--yes", "d", "--server", &url, "--token", &token]).await.ok();
    process.kill().await.unwrap();

    world.server = Some(Server::start(ServerConfig::in_folder(data.path())).await.unwrap());
    let url = world.url();
    let calls = ["calls", nb, "--json", "--server", &url, "--token", &token];
    let state = world.run(&calls).await.json()[0]["state"].clone();
    // The killed server executes confirmed calls, and may have been faster than the kill.
    if state != "succeeded" {
        assert_eq!(state, "confirmed");
        assistant.starts(&world, "d").await;
        assert_eq!(world.run(&calls).await.json()[0]["state"], "succeeded");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_prompt_is_shown_with_its_reply() {
    let world = World::start().await;
    let reply =
        json!({"status": "failed", "cause": "wrong_key", "detail": "no key", "prompt": "Why?", "text": "Because\nso."});
    let cells = json!([{"id": "ask", "cell_type": "markdown", "source": "Why, then?",
        "metadata": {"notarium": {"cell_type": "prompt", "reply": reply}}}]);
    let file = json!({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": cells});
    std::fs::write(world.folder.path().join("asked.ipynb"), file.to_string()).unwrap();
    world.run(&["import", "asked.ipynb"]).await.ok();
    let shown = world.run(&["show", "asked"]).await.ok();
    for part in ["prompt", "answer failed (no key)", "changed since it was answered", "│ Because", "│ so."] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
}

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn where_nothing_that_is_stored_confirms_the_password_is_asked_once_per_terminal() {
    let world = World::asking_again().await;
    let (notebook, cell) = world.notebook("Work", "precious = 1").await;
    let nb = notebook.as_str();
    let assistant = Assistant::of(&world, nb).await;
    let state = world.run(&["show", nb, "--json"]).await.json();
    let version = state["notebook"]["cells"][&cell]["cell_version"].clone();
    for id in ["one", "two"] {
        let delete = json!({"cell_id": cell, "cell_version": version});
        assistant.asks(&world, id, "delete_cell", delete).await;
    }
    let hash = world.run(&["confirm", nb, "--json"]).await.json()[0]["arguments_hash"].clone();
    let confirm = format!("{}/api/notebooks/{nb}/calls/one/confirm", world.url());
    let request = crate::support::client().post(confirm).bearer_auth(world.token());
    let stolen = request.json(&json!({"arguments_hash": hash})).send().await.unwrap();
    assert_eq!(stolen.status(), 403, "{}", stolen.text().await.unwrap());
    let elsewhere = world.run(&["confirm", nb, "--deny", "one"]).await.fails(1);
    assert!(elsewhere.contains("password: do it at a terminal"), "{elsewhere}");

    let mut child = world.spawn_at_terminal(&["confirm", nb]);
    let mut words = Words::of(child.stdout.take().unwrap());
    words.until("[q]uit: ").await;
    type_in(&mut child, "y\n").await;
    words.until("password: ").await;
    type_in(&mut child, "a wrong one\n").await;
    words.until("login or password is wrong").await;
    words.until("password: ").await;
    type_in(&mut child, "correct horse\n").await;
    let second = words.until("[q]uit: ").await;
    type_in(&mut child, "n\n").await;
    words.until("why not?").await;
    type_in(&mut child, "once is enough\n").await;
    assert!(!second.contains("password"), "{second}");
    assert!(child.wait().await.unwrap().success());
    let calls = world.run(&["calls", nb, "--json"]).await.json();
    let states: Vec<_> = calls.as_array().unwrap().iter().map(|call| call["state"].as_str().unwrap()).collect();
    assert_eq!(states, ["denied", "confirmed"], "{calls}");
    assert_eq!(calls[0]["by_means"]["label"], "notarium, password asked");
    assert!(!std::fs::read_to_string(world.config_file()).unwrap().contains("password"), "it is kept nowhere");
}
