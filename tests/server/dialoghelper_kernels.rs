//! Tests of requests of code in kernels to the door for dialoghelper: in whose name they act, and attacks.

use notarium_assistant::host::NotebookHost;
use notarium_core::{
    Actor, Command, Execution, ExecutionId, ExecutionOutcome, ExecutionReport, KernelSessionId, RawObject,
    RequestToolCall,
};
use notarium_dialoghelper_door::{DialoghelperDoor, DoorRouters};
use notarium_server::DoorContext;
use notarium_wire::{ClientMessage, KERNEL_REQUEST_ORIGIN, KernelCallers, KernelRequestOrigin, OfferMessage};
use serde_json::{Value, json};

use crate::support::{Answer, Http, Person, TestClient, TestServer};

type Fields<'a> = [(&'a str, &'a str)];

/// A server with a door, a notebook of Ann's with two cells, and a kernel of a runtime agent that does as it is told.
struct Scene {
    server: TestServer,
    ann: Person,
    agent: TestClient,
    agent_token: String,
    kernel: KernelSessionId,
    /// Requesters of runs so far.
    callers: KernelCallers,
}

impl Scene {
    async fn new() -> Self {
        let server = TestServer::start().await;
        let ann = server.person("Ann").await;
        let DoorContext { server: url, max_request_bytes, stopping } = server.running().door_context();
        let DoorRouters { kernels, .. } = DialoghelperDoor::routers(&url, max_request_bytes, stopping).unwrap();
        server.running().mount_kernel_door(kernels);
        let http = server.http(&ann);
        http.post("/api/notebooks", json!({"id": "n", "title": "nb/demo"})).await.ok();
        http.post("/api/notebooks", json!({"id": "other", "title": "other"})).await.ok();
        for cell in ["c", "d"] {
            let body = json!({"cell_id": cell, "cell_type": "code", "source": "1"});
            http.post("/api/notebooks/n/cells", body).await.ok();
        }
        let agent_token = server.agent_token(&ann, "gpu").await;
        let mut agent = TestClient::connect_agent(server.address(), &agent_token, "one").await;
        agent.send(&ClientMessage::Offer(OfferMessage::default())).await;
        agent.subscribe("n").await;
        let launched = http.post("/api/notebooks/n/kernels", json!({})).await.ok();
        let kernel: KernelSessionId = launched["outcome"]["kernel_session"].as_str().unwrap().parse().unwrap();
        let kernel_session = kernel.clone();
        agent.run("n", &Command::ClaimKernelLaunch { kernel_session: kernel_session.clone() }).await.unwrap();
        let (language_info, sandbox) = (RawObject::default(), RawObject::parse(r#"{"effects": "held"}"#).unwrap());
        let started = Command::ReportKernelStarted { kernel_session, language_info, sandbox, environment: None };
        agent.run("n", &started).await.unwrap();
        Self { server, ann, agent, agent_token, kernel, callers: KernelCallers::default() }
    }

    async fn add_editor(&self, role: &str) -> Person {
        let bob = self.server.person("Bob").await;
        let body = json!({"subject": {"kind": "user", "id": bob.id}, "role": role});
        self.server.http(&self.ann).put("/api/notebooks/n/access", body).await.ok();
        bob
    }

    /// A run of the cell `c` that has the kernel.
    async fn run_of(&mut self, person: &Person) -> ExecutionId {
        let asked = self.server.http(person).post("/api/notebooks/n/runs", json!({"cells": ["c"]})).await.ok();
        self.callers.note(&Actor::User { id: person.id.clone() });
        asked["outcome"]["executions"][0].as_str().unwrap().parse().unwrap()
    }

    /// The same, requested by an assistant of a person.
    async fn run_of_assistant(&mut self, person: &Person) -> ExecutionId {
        let actor = assistant_of(person);
        let call = RequestToolCall {
            call_id: None,
            turn_id: None,
            function: "execute_cell_async".to_owned(),
            arguments: RawObject::parse(r#"{"cell_id": "c"}"#).unwrap(),
            after: None,
            conversation_title: Some("Outside".to_owned()),
            token: None,
        };
        let host = self.server.running().assistant_host();
        let ack = host.execute(&actor, &"n".parse().unwrap(), &Command::RequestToolCall(call)).await.unwrap();
        self.callers.note(&actor);
        ack.outcome.executions[0].clone()
    }

    /// Reports the end of a run.
    async fn end(&mut self, run: &ExecutionId) {
        let id = run.clone();
        let fence = self.agent.until(|agent| fence(agent.state("n").executions.get(&id).map(|run| &**run))).await;
        let outcome = ExecutionOutcome::Ok;
        let reports =
            [ExecutionReport::Started {}, ExecutionReport::Completed { outcome, execution_count: None, notice: None }];
        for (seq, report) in (1..).zip(reports) {
            let execution_id = run.clone();
            self.agent.run("n", &Command::ReportExecution { execution_id, fence, seq, report }).await.unwrap();
        }
    }

    fn path(&self, endpoint: &str) -> String {
        format!("/api/notebooks/n/kernels/{}/dialog/{endpoint}", self.kernel)
    }

    /// Sends a request of code in the kernel, as its agent does.
    async fn send(&self, run: &ExecutionId, endpoint: &str, fields: &Fields<'_>) -> Answer {
        self.send_as(&self.server.http_as(&self.agent_token), run, endpoint, fields).await
    }

    async fn send_as(&self, http: &Http, run: &ExecutionId, endpoint: &str, fields: &Fields<'_>) -> Answer {
        let origin = KernelRequestOrigin { run: run.clone(), callers: self.callers.clone() };
        let body = form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish();
        let request = http.request(reqwest::Method::POST, &self.path(endpoint)).body(body);
        let request = request.header(KERNEL_REQUEST_ORIGIN, serde_json::to_string(&origin).unwrap());
        http.send(request.header("accept", "application/json").header("notarium-notebook", "other")).await
    }

    async fn error(&self, run: &ExecutionId, endpoint: &str, fields: &Fields<'_>) -> String {
        let answer = self.send(run, endpoint, fields).await;
        let sentence = answer.json()["error"].as_str().map(str::to_owned);
        sentence.unwrap_or_else(|| panic!("{endpoint} is no refusal: {}", answer.text))
    }

    async fn state(&self) -> Value {
        self.server.http(&self.ann).get("/api/notebooks/n").await.ok()["notebook"].clone()
    }

    async fn order(&self) -> Vec<String> {
        serde_json::from_value(self.state().await["order"].clone()).unwrap()
    }

    /// The author of the last event.
    async fn last_actor(&self) -> Value {
        let since = self.state().await["version"].as_u64().unwrap() - 1;
        let page =
            self.server.http(&self.ann).get(&format!("/api/notebooks/n/events?after={since}&limit=1")).await.ok();
        page["events"][0]["actor"].clone()
    }
}

fn assistant_of(person: &Person) -> Actor {
    Actor::Assistant { for_user: person.id.clone(), conversation: "talk".parse().unwrap() }
}

fn fence(run: Option<&Execution>) -> Option<u64> {
    run.and_then(|run| run.fence)
}

#[tokio::test]
async fn code_of_a_person_acts_as_that_person_in_its_notebook_alone() {
    let mut scene = Scene::new().await;
    let bob = scene.add_editor("editor").await;
    let run = scene.run_of(&bob).await;
    let dialog = scene.send(&run, "curr_dialog_", &[]).await.ok();
    assert_eq!(dialog, json!({"name": "nb/demo", "mode": "learning", "curr_msgid": "c"}));
    let added = scene.send(&run, "add_relative_", &[("dlg_name", "n"), ("content", "hi")]).await.ok();
    assert_eq!(scene.order().await, ["c", added["id"].as_str().unwrap(), "d"], "behind the executing cell");
    assert_eq!(scene.last_actor().await, json!({"kind": "user", "id": bob.id}));
    assert_eq!(scene.send(&run, "rm_msg_", &[("msid", "d")]).await.ok(), json!({"status": "success"}));
    for (endpoint, fields) in [
        ("curr_dialog_", &[("dlg_name", "other")][..]),
        ("add_relative_", &[("dlg_name", "/other"), ("content", "x"), ("placement", "at_end")]),
        ("create_dialog_", &[("name", "other")]),
        ("create_dialog_", &[("name", "new")]),
        ("rm_dialog_", &[("name", "other")]),
        ("load_dialog_", &[("dlg_name", "n"), ("src_dname", "other")]),
    ] {
        let said = scene.error(&run, endpoint, fields).await;
        assert!(said.contains("reaches its own notebook alone"), "{endpoint} {fields:?}: {said}");
    }
    assert_eq!(scene.send(&run, "list_dialogs_", &[("subpath", "nb")]).await.ok(), json!({"items": ["demo"]}));
    assert_eq!(
        scene.server.http(&scene.ann).get("/api/notebooks").await.ok()["notebooks"].as_array().unwrap().len(),
        2
    );
}

#[tokio::test]
async fn a_request_needs_the_agent_and_the_run_that_have_the_kernel() {
    let mut scene = Scene::new().await;
    let ann = scene.server.http(&scene.ann);
    let run = scene.run_of(&scene.ann.clone()).await;
    assert_eq!(scene.send_as(&ann, &run, "curr_dialog_", &[]).await.status, 403, "a person's token");
    let without = scene.server.http_as(&scene.agent_token).without_token();
    assert_eq!(scene.send_as(&without, &run, "curr_dialog_", &[]).await.status, 401);
    let other = scene.server.agent_token(&scene.ann, "other").await;
    let said = scene.send_as(&scene.server.http_as(&other), &run, "curr_dialog_", &[]).await.ok();
    assert!(said["error"].as_str().unwrap().contains("no run of this notebook has this kernel"), "{said}");
    let said = scene.error(&"01ABC".parse().unwrap(), "curr_dialog_", &[]).await;
    assert!(said.contains("no run of this notebook has this kernel"), "{said}");
    let http = scene.server.http_as(&scene.agent_token);
    for origin in ["", "{}", "null", r#"{"run": "x", "callers": {"people": [], "assistant": null}, "as": "ann"}"#] {
        let request = http.request(reqwest::Method::POST, &scene.path("curr_dialog_"));
        assert_eq!(http.send(request.header(KERNEL_REQUEST_ORIGIN, origin)).await.status, 400, "{origin}");
    }
    assert_eq!(http.post(&scene.path("curr_dialog_"), json!({})).await.status, 400);
    scene.end(&run).await;
    let said = scene.error(&run, "rm_msg_", &[("msid", "d")]).await;
    assert!(said.contains("no run of this notebook has this kernel"), "a thread that lives on: {said}");
    assert_eq!(scene.order().await, ["c", "d"]);
}

#[tokio::test]
async fn changes_of_an_assistants_code_are_tool_calls() {
    let mut scene = Scene::new().await;
    let ann = scene.ann.clone();
    let run = scene.run_of_assistant(&ann).await;
    assert_eq!(scene.send(&run, "read_msg_", &[("id_", "d"), ("n", "0")]).await.ok()["content"], "1");
    let fields = [("content", "hi"), ("pinned", "1"), ("msg_type", "note")];
    let added = scene.send(&run, "add_relative_", &fields).await.ok()["id"].as_str().unwrap().to_owned();
    assert_eq!(scene.order().await, ["c", &added, "d"]);
    assert_eq!(scene.state().await["cells"][&added]["flags"], json!({"pinned": true}));
    assert_eq!(scene.last_actor().await["kind"], "assistant");
    scene.send(&run, "update_msg_", &[("id_", "d"), ("content", "2")]).await.ok();
    assert_eq!(scene.state().await["cells"]["d"]["source"], "2");
    let refused = scene.send(&run, "rm_msg_", &[("msid", "d")]).await;
    assert_eq!(refused.status, 403);
    let said = refused.json()["error"].as_str().unwrap().to_owned();
    assert!(said.starts_with("delete_cell waits for a person"), "{said}");
    let calls = scene.state().await["tool_calls"].clone();
    let calls: Vec<&Value> = calls.as_object().unwrap().values().collect();
    assert_eq!((calls.len(), &calls[0]["function"]), (1, &json!("delete_cell")), "{calls:?}");
    for (endpoint, fields) in [
        ("rm_dialog_", &[("name", "n")][..]),
        ("stop_kernel_", &[("name", "n")]),
        ("add_relative_", &[("content", "x"), ("msg_type", "prompt"), ("run", "true")]),
        ("load_dialog_", &[("dlg_name", "n"), ("src_dname", "n")]),
    ] {
        let said = scene.error(&run, endpoint, fields).await;
        assert!(said.contains("ask a person to do this"), "{endpoint}: {said}");
    }
    assert_eq!(scene.order().await, ["c", &added, "d"], "nothing is done before it is confirmed");
}

#[tokio::test]
async fn code_that_an_assistant_left_in_the_kernel_gets_no_persons_rights() {
    let mut scene = Scene::new().await;
    let (ann, bob) = (scene.ann.clone(), scene.add_editor("editor").await);
    let run = scene.run_of_assistant(&ann).await;
    scene.end(&run).await;
    let run = scene.run_of(&ann).await;
    let refused = scene.send(&run, "rm_msg_", &[("msid", "d")]).await;
    assert!(refused.json()["error"].as_str().unwrap().contains("waits for a person"), "{}", refused.text);
    scene.end(&run).await;
    let run = scene.run_of(&bob).await;
    assert_eq!(scene.send(&run, "read_msg_", &[("id_", "d"), ("n", "0")]).await.ok()["content"], "1");
    for (endpoint, fields) in [
        ("rm_msg_", &[("msid", "d")][..]),
        ("add_relative_", &[("content", "x")]),
        ("add_runq_", &[("ids", "d")]),
        ("rm_dialog_", &[("name", "n")]),
    ] {
        let said = scene.error(&run, endpoint, fields).await;
        assert!(said.contains("an assistant of another person has run code in this kernel"), "{endpoint}: {said}");
    }
    assert!(scene.error(&run, "add_html_", &[("content", "<b>x</b>")]).await.contains("right to edit or run"));
    assert_eq!(scene.order().await, ["c", "d"]);
}

#[tokio::test]
async fn code_of_those_who_may_not_edit_gets_no_editors_rights() {
    let mut scene = Scene::new().await;
    let (ann, bob) = (scene.ann.clone(), scene.add_editor("runner").await);
    let run = scene.run_of(&bob).await;
    assert!(scene.error(&run, "add_relative_", &[("content", "x")]).await.contains("runner"));
    scene.end(&run).await;
    let run = scene.run_of(&ann).await;
    let said = scene.error(&run, "add_relative_", &[("content", "x")]).await;
    assert!(said.contains("somebody who may not edit this notebook"), "{said}");
    assert_eq!(scene.send(&run, "curr_dialog_", &[]).await.ok()["curr_msgid"], "c");
}

#[tokio::test]
async fn pages_get_what_code_pushes_while_they_may_read() {
    let mut scene = Scene::new().await;
    let bob = scene.add_editor("viewer").await;
    let run = scene.run_of(&scene.ann.clone()).await;
    let request = scene.server.http(&bob).request(reqwest::Method::GET, "/api/notebooks/n/pushes");
    let mut stream = request.send().await.unwrap();
    assert_eq!(stream.chunk().await.unwrap().unwrap(), ": open\n\n");
    let pushed = scene.send(&run, "add_html_", &[("content", "<b>1</b>\n\ndata: x")]).await.ok();
    assert_eq!(pushed["browsers"], 1);
    let event = String::from_utf8(stream.chunk().await.unwrap().unwrap().to_vec()).unwrap();
    assert_eq!(event, "event: html\ndata: {\"content\":\"<b>1</b>\\n\\ndata: x\"}\n\n");
    let access = json!({"subject": {"kind": "user", "id": bob.id}});
    scene
        .server
        .http(&scene.ann)
        .send(scene.server.http(&scene.ann).request(reqwest::Method::DELETE, "/api/notebooks/n/access").json(&access))
        .await
        .ok();
    scene.send(&run, "add_html_", &[("content", "secret")]).await.ok();
    assert_eq!(stream.chunk().await.unwrap(), None, "without the right nothing comes");
    let again = scene.server.http(&bob).get("/api/notebooks/n/pushes").await;
    assert_eq!(again.status, 404);
}
