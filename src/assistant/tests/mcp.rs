//! The MCP endpoint, message by message: access of tokens, and answers to clients.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use http::{Request, StatusCode};
use http_body_util::{BodyExt, Full};
use notarium_assistant::assistants::{Called, ToolCaller, WantedCall};
use notarium_assistant::host::{ChangeNotice, CommittedEvents, DocumentInEpoch, ListedNotebook, NotebookHost};
use notarium_assistant::mcp::{McpService, TokenOwner, service};
use notarium_core::{
    Actor, CellId, Command, CommandId, Document, Epoch, Execution, ExecutionId, InstanceId, Millis, NotebookId,
    Outcome, Rejection, RejectionCode, Risk, Scope, Stored, ToolCallId, Version,
};
use notarium_wire::{AckMessage, ConnectionSchema, OfferedConnection, TurnActivity};
use serde_json::{Value, json};

/// Two notebooks with the title "Twins", and one "Losses", visible to every actor. Makes others, and notes how.
#[derive(Default)]
struct FakeHost {
    made: Arc<Mutex<Vec<String>>>,
}

fn rejected(code: RejectionCode) -> Rejection {
    Rejection::new(code, "not here")
}

#[async_trait]
impl NotebookHost for FakeHost {
    async fn execute_as(
        &self,
        id: CommandId,
        actor: &Actor,
        notebook: &NotebookId,
        command: &Command,
    ) -> Result<AckMessage, Rejection> {
        let (Command::CreateNotebook { title, .. }, Actor::Assistant { for_user, .. }) = (command, actor) else {
            return Err(rejected(RejectionCode::Forbidden));
        };
        self.made.lock().unwrap().push(format!("{for_user} {notebook} {title}"));
        let notebook = notebook.clone();
        Ok(AckMessage { id, notebook, version: 1, outcome: Outcome::default(), undo: None })
    }

    async fn execute_in_epoch(
        &self,
        _: Epoch,
        _: &Actor,
        _: &NotebookId,
        _: &Command,
    ) -> Result<AckMessage, Rejection> {
        Err(rejected(RejectionCode::Forbidden))
    }

    async fn read(&self, _: &NotebookId) -> Result<DocumentInEpoch, Rejection> {
        Err(rejected(RejectionCode::UnknownNotebook))
    }

    async fn read_as(&self, _: &Actor, notebook: &NotebookId) -> Result<Arc<Document>, Rejection> {
        let listed = all_notebooks().into_iter().find(|listed| listed.notebook_id == *notebook);
        let listed = listed.ok_or_else(|| rejected(RejectionCode::UnknownNotebook))?;
        let mut state = Document::new(listed.notebook_id);
        state.title = listed.title;
        Ok(Arc::new(state))
    }

    async fn stale_cells(&self, _: &NotebookId) -> BTreeMap<CellId, String> {
        BTreeMap::new()
    }

    async fn events(&self, _: &NotebookId, _: Version, _: usize) -> Result<Vec<Stored>, Rejection> {
        Ok(Vec::new())
    }

    fn follow(&self, _: &NotebookId) -> CommittedEvents {
        CommittedEvents::new(Vec::new)
    }

    async fn events_of_subjects(&self, _: &NotebookId, _: &[String]) -> Result<Vec<Stored>, Rejection> {
        Ok(Vec::new())
    }

    async fn execution(&self, _: &NotebookId, _: &ExecutionId) -> Result<Option<Execution>, Rejection> {
        Ok(None)
    }

    async fn blob(&self, _: &NotebookId, _: &str, _: usize) -> Option<Bytes> {
        None
    }

    async fn notebooks(&self, _: &Actor, query: Option<&str>, _: usize) -> Result<Vec<ListedNotebook>, Rejection> {
        let is_meant = |listed: &ListedNotebook| query.is_none_or(|query| listed.title.contains(query));
        Ok(all_notebooks().into_iter().filter(is_meant).collect())
    }

    async fn connections(&self, _: &Actor, _: &NotebookId) -> Result<Vec<OfferedConnection>, Rejection> {
        Ok(Vec::new())
    }

    async fn describe(&self, _: &Actor, _: &NotebookId, _: String, _: String) -> Result<ConnectionSchema, String> {
        Err("not here".to_owned())
    }

    async fn next_notice(&self) -> Option<ChangeNotice> {
        None
    }

    fn publish(&self, _: &NotebookId, _: TurnActivity) {}

    fn instance(&self) -> &InstanceId {
        unreachable!("no call is executed here")
    }

    fn now(&self) -> Millis {
        1_700_000_000_000
    }
}

fn all_notebooks() -> Vec<ListedNotebook> {
    [("n", "Losses"), ("a", "Twins"), ("b", "Twins")]
        .map(|(id, title)| ListedNotebook {
            notebook_id: id.parse().unwrap(),
            title: title.to_owned(),
            cells: 0,
            updated_at: 1,
        })
        .into()
}

/// Returns prepared answers, and records requests.
#[derive(Default)]
struct FakeCaller {
    answers: Mutex<VecDeque<Called>>,
    asked: Mutex<Vec<String>>,
}

#[async_trait]
impl ToolCaller for FakeCaller {
    async fn call(
        &self,
        actor: &Actor,
        notebook: &NotebookId,
        wanted: WantedCall,
        _: Duration,
    ) -> Result<Called, Rejection> {
        let WantedCall { function, arguments, title, token } = wanted;
        assert!(token.is_some(), "whose calls they are is recorded");
        assert_ne!(function, "restart_kernel", "a planted fault");
        if function == "vanished" {
            return Err(Rejection::new(RejectionCode::UnknownTool, "no such tool"));
        }
        let Actor::Assistant { for_user, conversation } = actor else { panic!("{actor:?} is no assistant") };
        let kind = if conversation.as_str() == "mcp-token-of-ann" { "token" } else { "session" };
        let title = title.unwrap_or_default();
        let asked = format!("{for_user} {kind} {title}: {notebook} {function} {}", arguments.get());
        self.asked.lock().unwrap().push(asked);
        Ok(self.answers.lock().unwrap().pop_front().unwrap_or_else(|| done("done")))
    }

    async fn await_call(
        &self,
        _: &Actor,
        _: &NotebookId,
        _: &ToolCallId,
        patience: Duration,
    ) -> Result<Called, Rejection> {
        self.asked.lock().unwrap().push(format!("await {}", patience.as_secs()));
        Ok(self.answers.lock().unwrap().pop_front().unwrap_or_else(|| done("confirmed and done")))
    }
}

fn done(text: &str) -> Called {
    Called::Ended { call_id: "k1".parse().unwrap(), text: text.to_owned(), is_error: false, image: None }
}

fn waiting() -> Called {
    Called::Waiting {
        call_id: "k1".parse().unwrap(),
        risk: Risk::Destructive,
        reasons: vec!["it deletes a cell".to_owned()],
        expires_at: Some(9),
    }
}

struct Scene {
    caller: Arc<FakeCaller>,
    made: Arc<Mutex<Vec<String>>>,
    service: McpService,
    person: TokenOwner,
    url: &'static str,
    session: Option<String>,
}

/// A response: status and message.
struct Answer {
    status: StatusCode,
    session: Option<String>,
    message: Value,
}

impl Answer {
    fn text(&self) -> &str {
        self.message["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{}", self.message))
    }

    #[track_caller]
    fn error(&self) -> &str {
        assert_eq!(self.message["result"]["isError"], true, "{}", self.message);
        self.text()
    }
}

impl Scene {
    fn new() -> Self {
        let caller = Arc::new(FakeCaller::default());
        let made = Arc::default();
        let service = service(caller.clone(), Arc::new(FakeHost { made: Arc::clone(&made) }));
        let person = TokenOwner {
            user_id: "ann".parse().unwrap(),
            token_id: "token-of-ann".parse().unwrap(),
            scopes: [Scope::Read, Scope::Edit, Scope::Run].into(),
            covers: Arc::new(|_| true),
        };
        Self { caller, made, service, person, url: "/mcp", session: None }
    }

    /// Limits the token to some notebooks.
    fn covering(mut self, ids: &'static [&'static str]) -> Self {
        self.person.covers = Arc::new(|notebook| ids.contains(&notebook.as_str()));
        self
    }

    async fn in_session(mut self) -> Self {
        let params = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "claude-code", "title": "Claude Code", "version": "1"}});
        let answer = self.send("initialize", params, &[]).await;
        assert_eq!(answer.message["result"]["serverInfo"]["name"], "notarium", "{}", answer.message);
        self.session = Some(answer.session.expect("a session"));
        let body = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        assert_eq!(self.post(&body, &[]).await.status, StatusCode::ACCEPTED);
        self
    }

    async fn post(&self, body: &Value, headers: &[(&str, &str)]) -> Answer {
        let mut request = Request::post(self.url)
            .header("host", "notes.example.org")
            .header("content-type", "application/json")
            .header("accept", "application/json, text/event-stream");
        for (name, value) in headers.iter().copied().chain(self.session.as_deref().map(|id| ("mcp-session-id", id))) {
            request = request.header(name, value);
        }
        let request = request.body(Full::<bytes::Bytes>::from(body.to_string())).unwrap();
        let response = self.service.answer(self.person.clone(), request).await;
        let (status, headers) = (response.status(), response.headers().clone());
        let session = headers.get("mcp-session-id").map(|id| id.to_str().unwrap().to_owned());
        let text = String::from_utf8(response.into_body().collect().await.unwrap().to_bytes().to_vec()).unwrap();
        // An event stream ends with the answer.
        let data = text.lines().filter_map(|line| line.strip_prefix("data: ")).next_back().unwrap_or(&text);
        Answer { status, session, message: serde_json::from_str(data).unwrap_or_else(|_| json!(text)) }
    }

    async fn send(&self, method: &str, params: Value, headers: &[(&str, &str)]) -> Answer {
        self.post(&json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}), headers).await
    }

    async fn call(&self, name: &str, arguments: Value) -> Answer {
        self.send("tools/call", json!({"name": name, "arguments": arguments}), &[]).await
    }

    /// Protocol version 2026-07-28: no session, all data in each request.
    async fn stateless(&self, method: &str, name: Option<&str>, mut params: Value, capabilities: Value) -> Answer {
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": {"name": "new-client", "version": "2"},
            "io.modelcontextprotocol/clientCapabilities": capabilities,
        });
        let headers = [("mcp-protocol-version", "2026-07-28"), ("mcp-method", method)];
        let headers: Vec<_> = headers.into_iter().chain(name.map(|name| ("mcp-name", name))).collect();
        self.send(method, params, &headers).await
    }

    fn answers(&self, called: Called) {
        self.caller.answers.lock().unwrap().push_back(called);
    }

    fn made(&self) -> Vec<String> {
        std::mem::take(&mut self.made.lock().unwrap())
    }

    fn asked(&self) -> Vec<String> {
        std::mem::take(&mut self.caller.asked.lock().unwrap())
    }
}

#[tokio::test]
async fn a_call_goes_to_the_notebook_that_is_named_by_an_assistant_of_the_person() {
    let scene = Scene::new().in_session().await;
    assert_eq!(scene.call("create_cell", json!({"source": "1", "notebook": "n"})).await.text(), "done");
    assert_eq!(scene.call("create_cell", json!({"source": "2", "notebook": "Losses"})).await.text(), "done");
    let expected = [
        "ann session Claude Code (MCP): n create_cell {\"source\":\"1\"}",
        "ann session Claude Code (MCP): n create_cell {\"source\":\"2\"}",
    ];
    assert_eq!(scene.asked(), expected);
    let which = scene.call("create_cell", json!({"source": "3"})).await;
    assert!(which.error().starts_with("Missing required parameters: notebook"));
    let twins = scene.call("create_cell", json!({"source": "3", "notebook": "Twins"})).await;
    assert!(twins.error().contains("2 notebooks have this title"), "{}", twins.message);
    assert!(
        scene.call("create_cell", json!({"source": "3", "notebook": "Secret"})).await.error().contains("no notebook")
    );
    assert!(scene.call("create_cell", json!({"source": "3", "notebook": 3})).await.error().contains("is a text"));
    assert_eq!(scene.call("vanished", json!({"notebook": "n"})).await.message["error"]["code"], -32602);
    assert_eq!(scene.call("vanished", json!({})).await.message["error"]["code"], -32602);
    assert_eq!(scene.asked(), [""; 0]);
}

#[tokio::test]
async fn a_notebook_is_made_where_none_can_have_the_record() {
    let mut scene = Scene::new().in_session().await;
    let made = scene.call("create_notebook", json!({"title": "First"})).await.message["result"].clone();
    let id = made["structuredContent"]["notebook_id"].as_str().unwrap_or_else(|| panic!("{made}")).to_owned();
    assert_eq!(made["structuredContent"], json!({"notebook_id": id, "title": "First", "cells": []}));
    assert_eq!((scene.made(), scene.asked()), (vec![format!("ann {id} First")], vec![]));

    let with_cells =
        json!({"title": "Second", "notebook_id": "second", "notebook": null, "run": true, "cells": [{"source": "1"}]});
    scene.answers(done("{\"cells\":[{\"cell_id\":\"c1\",\"cell_version\":2}]}\n✓ All 1 cells"));
    let filled = scene.call("create_notebook", with_cells.clone()).await;
    assert_eq!(filled.text(), "{\"notebook_id\":\"second\",\"title\":\"Second\",\"cells\":[\"c1\"]}\n✓ All 1 cells");
    assert_eq!(scene.made(), ["ann second Second"]);
    let asked = "ann session Claude Code (MCP): second create_cells {\"cells\":[{\"source\":\"1\"}],\"run\":true}";
    assert_eq!(scene.asked(), [asked]);
    scene.answers(waiting());
    let gated = scene.call("create_notebook", with_cells).await;
    assert!(gated.text().starts_with("The notebook second was made."), "{}", gated.message);
    assert_eq!(gated.message["result"]["structuredContent"]["call_id"], "k1");
    scene.made();
    scene.asked();

    scene.call("create_notebook", json!({"title": "Recorded", "notebook": "n"})).await;
    assert!(scene.made().is_empty() && scene.asked()[0].contains(": n create_notebook"));
    assert!(scene.call("create_notebook", json!({})).await.error().contains("title"));
    scene.person.scopes = [Scope::Read].into();
    assert!(scene.call("create_notebook", json!({"title": "x"})).await.error().contains("lacks the scope edit"));
    let scene = Scene::new().covering(&["n"]).in_session().await;
    assert!(scene.call("create_notebook", json!({"title": "x"})).await.error().contains("makes no others"));
    assert!(scene.made().is_empty() && scene.asked().is_empty());
}

#[tokio::test]
async fn a_connection_for_one_notebook_reaches_no_other() {
    let mut scene = Scene::new();
    scene.url = "/mcp?notebook=n";
    let scene = scene.in_session().await;
    assert_eq!(scene.call("run_all", json!({})).await.text(), "done");
    assert_eq!(scene.call("run_all", json!({"notebook": "Losses"})).await.text(), "done");
    assert!(scene.call("run_all", json!({"notebook": "a"})).await.error().contains("is for the notebook n alone"));
    assert!(scene.call("create_notebook", json!({"title": "x"})).await.error().contains("makes no others"));
    assert_eq!(scene.asked().len(), 2);
    let listed = scene.call("list_notebooks", json!({})).await;
    assert_eq!(listed.message["result"]["structuredContent"]["notebooks"].as_array().unwrap().len(), 1);
    let other = scene.send("resources/read", json!({"uri": "notarium://notebooks/a"}), &[]).await;
    assert_eq!(other.message["error"]["code"], -32002, "{}", other.message);
}

#[tokio::test]
async fn a_token_reaches_what_it_covers_and_does_what_its_scopes_allow() {
    let mut scene = Scene::new().covering(&["n"]).in_session().await;
    let listed = scene.call("list_notebooks", json!({})).await.message["result"]["structuredContent"].clone();
    assert_eq!(listed, json!({"notebooks": [{"notebook_id": "n", "title": "Losses", "cells": 0, "updated_at": 1}]}));
    for function in ["run_all", "get_notebook_state", "await_confirmation"] {
        let refused = scene.call(function, json!({"notebook": "a", "call_id": "k1"})).await;
        assert!(refused.error().contains("no notebook"), "{function}");
    }
    assert!(
        scene.call("create_notebook", json!({"title": "x", "notebook": "n"})).await.error().contains("makes no others")
    );
    let resource = |id: &str| json!({"uri": format!("notarium://notebooks/{id}")});
    assert_eq!(scene.send("resources/read", resource("a"), &[]).await.message["error"]["code"], -32002);
    let own = scene.send("resources/read", resource("n"), &[]).await;
    let text = own.message["result"]["contents"][0]["text"].as_str().unwrap_or_else(|| panic!("{}", own.message));
    assert_eq!(serde_json::from_str::<Value>(text).unwrap()["title"], "Losses");
    let resources = scene.send("resources/list", json!({}), &[]).await.message["result"]["resources"].clone();
    assert_eq!(resources.as_array().unwrap().len(), 2, "{resources}");

    scene.person.scopes = [Scope::Read].into();
    assert!(scene.call("run_all", json!({"notebook": "n"})).await.error().contains("lacks the scope run"));
    assert!(
        scene
            .call("create_cell", json!({"notebook": "n", "source": ""}))
            .await
            .error()
            .contains("lacks the scope edit")
    );
    assert_eq!(scene.asked(), [""; 0], "nothing of this reached the log");
    let tools = scene.send("tools/list", json!({}), &[]).await.message["result"]["tools"].clone();
    let read_only = tools.as_array().unwrap().iter().all(|tool| tool["annotations"]["readOnlyHint"] == true);
    assert!(read_only && tools.to_string().contains("get_notebook_state"), "{tools}");
}

#[tokio::test]
async fn a_gated_call_returns_at_once_and_can_be_awaited() {
    let scene = Scene::new().in_session().await;
    scene.answers(waiting());
    let gated = scene.call("delete_cell", json!({"notebook": "n", "cell_id": "c", "cell_version": 3})).await;
    assert!(gated.text().starts_with("Waiting for confirmation by a person: call k1"));
    let result = &gated.message["result"];
    assert_eq!(
        (&result["isError"], &result["structuredContent"]["status"]),
        (&json!(false), &json!("waiting_for_confirmation"))
    );
    scene.answers(waiting());
    let still = scene.call("await_confirmation", json!({"notebook": "n", "call_id": "k1", "seconds": 0})).await;
    assert_eq!(still.message["result"]["structuredContent"]["call_id"], "k1");
    let over = scene.call("await_confirmation", json!({"notebook": "n", "call_id": "k1", "seconds": 6000})).await;
    assert_eq!(over.text(), "confirmed and done");
    assert_eq!(scene.asked()[1..], ["await 0", "await 60"]);
    for wrong in [
        json!({"notebook": "n"}),
        json!({"notebook": "n", "call_id": "../x"}),
        json!({"notebook": "n", "call_id": "k", "seconds": -1}),
    ] {
        scene.call("await_confirmation", wrong).await.error();
    }
    assert_eq!(scene.asked(), [""; 0]);
}

#[tokio::test]
async fn a_session_answers_to_the_token_that_began_it_alone() {
    let mut scene = Scene::new().in_session().await;
    scene.person.token_id = "token-of-eve".parse().unwrap();
    assert_eq!(scene.call("run_all", json!({"notebook": "n"})).await.status, StatusCode::NOT_FOUND);
    let request = |method: &str| {
        let session = scene.session.clone().unwrap();
        let request =
            Request::builder().method(method).uri("/mcp").header("host", "h").header("mcp-session-id", session);
        request.header("accept", "text/event-stream").body(Full::<bytes::Bytes>::default()).unwrap()
    };
    for method in ["GET", "DELETE"] {
        let response = scene.service.answer(scene.person.clone(), request(method)).await;
        assert_eq!(response.status(), StatusCode::NOT_FOUND, "{method}");
    }
    scene.person.token_id = "token-of-ann".parse().unwrap();
    assert_eq!(scene.call("run_all", json!({"notebook": "n"})).await.text(), "done");
    let ended = scene.service.answer(scene.person.clone(), request("DELETE")).await;
    assert_eq!(ended.status(), StatusCode::NO_CONTENT);
    assert_eq!(scene.call("run_all", json!({"notebook": "n"})).await.status, StatusCode::NOT_FOUND);
    assert_eq!(scene.asked().len(), 1);
}

#[tokio::test]
async fn without_sessions_a_token_has_one_conversation_and_a_client_with_tasks_gets_one() {
    let scene = Scene::new();
    let found = scene.stateless("server/discover", None, json!({}), json!({})).await;
    assert!(
        found.message["result"]["instructions"].as_str().is_some_and(|it| it.contains("await_confirmation")),
        "{}",
        found.message
    );
    let arguments = json!({"notebook": "n", "cell_id": "c", "cell_version": 3});
    let params = json!({"name": "delete_cell", "arguments": arguments});
    scene.answers(waiting());
    let plain = scene.stateless("tools/call", Some("delete_cell"), params.clone(), json!({})).await;
    assert_eq!(plain.message["result"]["structuredContent"]["status"], "waiting_for_confirmation");
    assert!(scene.asked()[0].starts_with("ann token new-client (MCP): n delete_cell"));

    let tasks = json!({"extensions": {"io.modelcontextprotocol/tasks": {}}});
    scene.answers(waiting());
    let task =
        scene.stateless("tools/call", Some("delete_cell"), params, tasks.clone()).await.message["result"].clone();
    assert_eq!(
        (&task["resultType"], &task["status"], &task["taskId"]),
        (&json!("task"), &json!("working"), &json!("n.k1"))
    );
    let over = scene.stateless("tasks/get", Some("n.k1"), json!({"taskId": "n.k1"}), tasks.clone()).await;
    assert_eq!(over.message["result"]["status"], "completed", "{}", over.message);
    assert_eq!(over.message["result"]["result"]["content"][0]["text"], "confirmed and done");
    let foreign = scene.stateless("tasks/get", Some("secret.k1"), json!({"taskId": "secret.k1"}), tasks).await;
    assert_eq!(foreign.message["error"]["code"], -32602);
}

#[tokio::test]
async fn a_fault_in_one_answer_is_told_and_the_session_goes_on() {
    let scene = Scene::new().in_session().await;
    let broken = scene.call("restart_kernel", json!({"notebook": "n"})).await.message;
    assert_eq!(broken["error"]["code"], -32603, "{broken}");
    assert!(!broken.to_string().contains("planted"), "what broke is for the log: {broken}");
    assert_eq!(scene.call("create_cell", json!({"source": "1", "notebook": "n"})).await.text(), "done");
}
