//! Tests of chat with an assistant over HTTP. Test code acts as the assistant, through the same host.

use std::collections::BTreeMap;

use futures_util::StreamExt;
use notarium_assistant::host::NotebookHost;
use notarium_core::{
    Actor, Command, CommandId, ConversationId, MessageBlock, MessageRole, NotebookId, RawObject, RequestToolCall,
    StopReason, ToolCallId, TurnEnd, TurnId, Usage,
};
use notarium_server::AssistantHost;
use notarium_wire::{ActivityKind, ServerMessage, TurnActivity};
use reqwest::Method;
use serde_json::{Value, json};

use crate::support::{Http, PATIENCE, Person, TestServer};

/// A server that claims to have assistants, Ann's notebook with a code cell and a prompt cell, and her assistant.
struct Scene {
    server: TestServer,
    ann: Person,
    http: Http,
    host: AssistantHost,
    notebook: NotebookId,
    cell: String,
}

/// A turn that the test carries out.
struct Turn<'a> {
    scene: &'a Scene,
    actor: Actor,
    conversation: ConversationId,
    id: TurnId,
    model_call: u32,
}

fn text(text: &str) -> MessageBlock {
    MessageBlock::Text { text: text.to_owned() }
}

fn tool_call(id: &str, function: &str) -> MessageBlock {
    MessageBlock::ToolCall {
        provider_id: format!("p-{id}"),
        call_id: id.parse().unwrap(),
        function: function.to_owned(),
        arguments: "{}".to_owned(),
        extra: None,
    }
}

impl Scene {
    async fn new() -> Self {
        let server = TestServer::with(|config| config.assistants = true).await;
        let ann = server.person("Ann").await;
        let http = server.http(&ann);
        let (notebook, cell) = http.notebook("x = 1").await;
        let host = server.running().assistant_host();
        Self { server, ann, http, host, notebook: notebook.parse().unwrap(), cell }
    }

    fn path(&self, rest: &str) -> String {
        format!("/api/notebooks/{}/{rest}", self.notebook)
    }

    /// Asks as Ann; returns the stream and the turn.
    async fn ask(&self, words: &str) -> (Stream, Turn<'_>) {
        let mut stream = Stream::post(&self.http, &self.path("chat"), json!({"text": words})).await;
        let first = stream.next().await.unwrap();
        assert_eq!(first.name, "turn");
        let conversation: ConversationId = first.data["conversation_id"].as_str().unwrap().parse().unwrap();
        let actor = Actor::Assistant { for_user: self.ann.id.clone(), conversation: conversation.clone() };
        let id = first.data["turn_id"].as_str().unwrap().parse().unwrap();
        (stream, Turn { scene: self, actor, conversation, id, model_call: 0 })
    }

    async fn share(&self, with: &Person, role: &str) {
        let body = json!({"subject": {"kind": "user", "id": with.id.as_str()}, "role": role});
        self.http.put(&self.path("access"), body).await.ok();
    }
}

impl Turn<'_> {
    async fn act(&self, command: &Command) {
        let id: CommandId = ulid::Ulid::generate().into();
        self.scene.host.execute_as(id, &self.actor, &self.scene.notebook, command).await.unwrap();
    }

    async fn begin(&mut self) {
        self.model_call += 1;
        let (provider, model) = ("scripted".to_owned(), "one".to_owned());
        self.act(&Command::StartModelCall { turn_id: self.id.clone(), provider, model }).await;
    }

    fn publish(&self, what: ActivityKind) {
        let activity = TurnActivity {
            conversation_id: self.conversation.clone(),
            turn_id: self.id.clone(),
            model_call: self.model_call,
            attempt: 1,
            what,
        };
        self.scene.host.publish(&self.scene.notebook, activity);
    }

    fn write(&self, words: &str) {
        self.publish(ActivityKind::TextDelta { block: 0, text: words.to_owned() });
    }

    async fn reply(&self, role: MessageRole, blocks: &[MessageBlock]) {
        if role == MessageRole::Assistant {
            let usage = Usage { input_tokens: 10, output_tokens: 5, estimated: false, ..Usage::default() };
            self.act(&Command::ReportModelCall { turn_id: self.id.clone(), failure: None, detail: None, usage }).await;
        }
        self.act(&Command::PostReply { turn_id: self.id.clone(), role, blocks: blocks.to_vec() }).await;
    }

    async fn request(&self, id: &str, function: &str, arguments: &Value) {
        self.act(&Command::RequestToolCall(RequestToolCall {
            call_id: Some(id.parse().unwrap()),
            turn_id: Some(self.id.clone()),
            function: function.to_owned(),
            arguments: RawObject::parse(&arguments.to_string()).unwrap(),
            after: None,
            conversation_title: None,
            token: None,
        }))
        .await;
    }

    async fn end(&self) {
        let end = TurnEnd::Finished(StopReason::EndTurn);
        self.act(&Command::EndTurn { turn_id: self.id.clone(), end }).await;
    }

    fn stream(&self) -> String {
        self.scene.path(&format!("turns/{}/stream", self.id))
    }
}

/// A server-sent event.
#[derive(Debug, Clone, PartialEq)]
struct Sent {
    id: String,
    name: String,
    data: Value,
}

/// State of a simple consumer.
struct Stream {
    response: futures_util::stream::BoxStream<'static, reqwest::Result<bytes::Bytes>>,
    bytes: Vec<u8>,
}

impl Stream {
    async fn post(http: &Http, path: &str, body: Value) -> Self {
        Self::of(http.request(Method::POST, path).json(&body)).await
    }

    async fn join(http: &Http, path: &str, last_event_id: Option<&str>) -> Self {
        let request = http.request(Method::GET, path);
        Self::of(match last_event_id {
            Some(id) => request.header("last-event-id", id),
            None => request,
        })
        .await
    }

    async fn of(request: reqwest::RequestBuilder) -> Self {
        let response = request.send().await.unwrap();
        let status = response.status();
        assert_eq!(status, 200, "{}", response.text().await.unwrap());
        Self { response: response.bytes_stream().boxed(), bytes: Vec::new() }
    }

    /// Returns the next event; `None`: the stream has ended.
    async fn next(&mut self) -> Option<Sent> {
        loop {
            if let Some(end) = self.bytes.windows(2).position(|two| two == b"\n\n") {
                let event: Vec<u8> = self.bytes.drain(..end + 2).collect();
                let event = String::from_utf8(event).unwrap();
                let field = |name: &str| event.lines().find_map(|line| line.strip_prefix(name)).map(str::to_owned);
                let Some(data) = field("data: ") else { continue };
                let data: Value = serde_json::from_str(&data).unwrap();
                let (id, name) = (field("id: ").unwrap(), field("event: ").unwrap());
                assert_eq!(data["type"], name);
                return Some(Sent { id, name, data });
            }
            let piece = tokio::time::timeout(PATIENCE, self.response.next()).await.expect("something comes")?;
            self.bytes.extend_from_slice(&piece.ok()?);
        }
    }

    /// Reads until this whole text has arrived.
    async fn until_text(&mut self, words: &str) -> Vec<Sent> {
        let (mut events, mut seen) = (Vec::new(), String::new());
        while seen != words {
            let event = self.next().await.unwrap();
            seen.push_str(event.data["text"].as_str().unwrap_or_default());
            assert!(words.starts_with(&seen), "{seen}");
            events.push(event);
        }
        events
    }

    async fn rest(&mut self) -> Vec<Sent> {
        let mut events = Vec::new();
        while let Some(event) = self.next().await {
            events.push(event);
        }
        events
    }
}

/// Returns names of events, with the text of each run of deltas.
fn in_words(events: &[Sent]) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for event in events {
        match (event.name.as_str(), words.last_mut()) {
            ("text_delta", Some(last)) if last.starts_with("text ") => {
                last.push_str(event.data["text"].as_str().unwrap())
            }
            ("text_delta", _) => words.push(format!("text {}", event.data["text"].as_str().unwrap())),
            (name, _) => words.push(name.to_owned()),
        }
    }
    words
}

/// Plays a turn with text, a deletion that Ann confirms, and more text.
async fn tell(turn: &mut Turn<'_>, stream: &mut Stream) -> Vec<Sent> {
    let scene = turn.scene;
    turn.begin().await;
    turn.publish(ActivityKind::TextStart { block: 0 });
    turn.write("I delete ");
    let mut events = stream.until_text("I delete ").await;
    turn.write("it");
    events.extend(stream.until_text("it").await);
    turn.publish(ActivityKind::BlockStop { block: 0 });
    turn.publish(ActivityKind::ToolStart { block: 1, provider_id: "p-d".into(), function: "delete_cell".into() });
    turn.reply(MessageRole::Assistant, &[text("I delete it"), tool_call("d", "delete_cell")]).await;
    let state = scene.host.read(&scene.notebook).await.unwrap().document;
    let cell_version = state.cells[&scene.cell.parse().unwrap()].cell_version;
    turn.request("d", "delete_cell", &json!({"cell_id": scene.cell, "cell_version": cell_version})).await;
    loop {
        events.push(stream.next().await.unwrap());
        let Some(asked) = events.last().filter(|event| event.name == "tool_confirmation") else { continue };
        assert_eq!(asked.data["call"]["function"], "delete_cell");
        assert_eq!(asked.data["call"]["arguments"]["cell_id"], scene.cell.as_str());
        assert_eq!(asked.data["call"]["risk"], "destructive");
        assert_eq!(asked.data["confirmation"]["effects"][0]["source"], "x = 1");
        let body = json!({"arguments_hash": asked.data["call"]["arguments_hash"]});
        scene.http.post(&scene.path("calls/d/confirm"), body).await.ok();
        break;
    }
    turn.act(&Command::StartToolCall { call_id: "d".parse::<ToolCallId>().unwrap() }).await;
    let result = MessageBlock::ToolResult {
        provider_id: "p-d".to_owned(),
        call_id: "d".parse().unwrap(),
        // The event that ends the call has the text.
        text: None,
        is_error: false,
    };
    turn.reply(MessageRole::Tool, &[result]).await;
    turn.begin().await;
    turn.write("It is ");
    turn.reply(MessageRole::Assistant, &[text("It is gone")]).await;
    turn.end().await;
    events.extend(stream.rest().await);
    events
}

const TOLD: [&str; 14] = [
    "text_start",
    "text I delete it",
    "content_block_stop",
    "tool_start",
    "content_block_stop",
    "tool_confirmation",
    "tool_decision",
    "tool_execute",
    "tool_result",
    "turn_start",
    "text_start",
    "text It is gone",
    "content_block_stop",
    "done",
];

#[tokio::test]
async fn an_answer_is_streamed_and_who_comes_back_gets_exactly_the_rest() {
    let scene = Scene::new().await;
    let (mut stream, mut turn) = scene.ask("delete it").await;
    let events = tell(&mut turn, &mut stream).await;
    assert_eq!(in_words(&events), TOLD);
    assert_eq!(events.last().unwrap().data, json!({"type": "done", "stop_reason": "end_turn"}));
    let executed = events.iter().find(|event| event.name == "tool_execute").unwrap();
    assert_eq!(executed.data["tool_input"]["cell_id"], scene.cell.as_str());
    assert_eq!(executed.data["tool_id"], "p-d");
    for (index, left) in events.iter().enumerate().take(events.len() - 1) {
        let rest = Stream::join(&scene.http, &turn.stream(), Some(&left.id)).await.rest().await;
        let whole: Vec<Sent> = events[..=index].iter().cloned().chain(rest).collect();
        assert_eq!(in_words(&whole), TOLD, "left at {}", left.id);
    }
    let request = scene.http.request(Method::GET, &turn.stream()).header("last-event-id", &events.last().unwrap().id);
    assert_eq!(scene.http.send(request).await.status, 204, "there is no rest");
    let whole = Stream::join(&scene.http, &turn.stream(), None).await.rest().await;
    assert_eq!(in_words(&whole)[1..], TOLD);
}

#[tokio::test]
async fn who_joins_while_it_is_written_sees_it_from_the_beginning_and_a_slow_reader_holds_nobody_up() {
    let scene = Scene::new().await;
    let (mut stream, mut turn) = scene.ask("hello").await;
    let slow = Stream::join(&scene.http, &turn.stream(), None).await;
    turn.begin().await;
    let long = "lorem ipsum ".repeat(20_000);
    turn.write("Once ");
    stream.until_text("Once ").await;
    let viewer = scene.server.person("Vic").await;
    scene.share(&viewer, "viewer").await;
    let mut late = Stream::join(&scene.server.http(&viewer), &turn.stream(), None).await;
    late.until_text("Once ").await;
    turn.write(&long);
    let whole = format!("Once {long}");
    stream.until_text(&long).await;
    late.until_text(&long).await;
    turn.reply(MessageRole::Assistant, &[text(&whole)]).await;
    turn.end().await;
    for mut reader in [stream, late] {
        assert_eq!(in_words(&reader.rest().await), ["content_block_stop", "done"]);
    }
    let mut slow = slow;
    let words = in_words(&slow.rest().await);
    assert_eq!(
        words,
        ["turn".to_owned(), "text_start".into(), format!("text {whole}"), "content_block_stop".into(), "done".into()]
    );
}

#[tokio::test]
async fn a_turn_can_be_stopped_while_it_is_written_and_is_listed_with_its_end() {
    let scene = Scene::new().await;
    let (mut stream, mut turn) = scene.ask("talk for ever").await;
    turn.begin().await;
    turn.write("Well");
    stream.until_text("Well").await;
    let viewer = scene.server.person("Vic").await;
    scene.share(&viewer, "viewer").await;
    let cancel = scene.path(&format!("turns/{}/cancel", turn.id));
    assert_eq!(scene.server.http(&viewer).post(&cancel, json!({})).await.refused(403), "forbidden");
    scene.http.post(&cancel, json!({})).await.ok();
    let rest = stream.rest().await;
    assert_eq!(rest.last().unwrap().data, json!({"type": "done", "stop_reason": "cancelled"}));
    assert_eq!(scene.http.post(&cancel, json!({})).await.refused(409), "turn_state");

    let (mut stream, mut second) = scene.ask("again").await;
    tell(&mut second, &mut stream).await;
    let page = scene.server.http(&viewer).get(&scene.path("turns")).await.ok();
    let [latest, first] = &page["turns"].as_array().unwrap()[..] else { panic!("{page}") };
    assert_eq!((&latest["status"], &latest["stop_reason"]), (&json!("finished"), &json!("end_turn")));
    assert_eq!(latest["usage"], json!({"input_tokens": 20, "output_tokens": 10}));
    assert_eq!((&latest["model_calls"], &latest["model"]), (&json!(2), &json!("scripted/one")));
    assert_eq!(latest["requested_by"]["id"], scene.ann.id.as_str());
    assert_eq!((&first["status"], &first["cancelled_by"]["id"]), (&json!("cancelled"), &json!(scene.ann.id.as_str())));
    assert!(first["ended_at"].as_u64() >= first["started_at"].as_u64());
    let one = scene.http.get(&scene.path(&format!("turns?limit=1&conversation={}", turn.conversation))).await.ok();
    assert_eq!(one["turns"][0]["id"], turn.id.as_str());
    let older = scene.http.get(&scene.path(&format!("turns?limit=1&before={}", latest["version"]))).await.ok();
    assert_eq!(older["turns"][0]["id"], turn.id.as_str());
}

#[tokio::test]
async fn a_stream_ends_with_the_right_to_it() {
    let scene = Scene::new().await;
    let (mut stream, mut turn) = scene.ask("hello").await;
    let viewer = scene.server.person("Vic").await;
    scene.share(&viewer, "viewer").await;
    let mut followed = Stream::join(&scene.server.http(&viewer), &turn.stream(), None).await;
    assert_eq!(followed.next().await.unwrap().name, "turn");
    let subject = json!({"subject": {"kind": "user", "id": viewer.id.as_str()}});
    let request = scene.http.request(Method::DELETE, &scene.path("access")).json(&subject);
    scene.http.send(request).await.ok();
    turn.begin().await;
    turn.write("not for Vic");
    assert_eq!(followed.rest().await, []);
    stream.until_text("not for Vic").await;
    let again = scene.server.http(&viewer).get(&turn.stream()).await;
    assert_eq!(again.refused(404), "unknown_notebook");
}

#[tokio::test]
async fn who_may_not_ask_and_what_is_no_question_is_refused_with_words() {
    let scene = Scene::new().await;
    let viewer = scene.server.person("Vic").await;
    scene.share(&viewer, "viewer").await;
    let chat = scene.path("chat");
    let hello = json!({"text": "hello"});
    assert_eq!(scene.server.http(&viewer).post(&chat, hello.clone()).await.refused(403), "forbidden");
    let link = json!({"role": "editor"});
    let link = scene.http.post(&scene.path("share-links"), link).await.ok();
    let guest = scene.server.http_as(link["token"].as_str().unwrap());
    assert_eq!(guest.post(&chat, hello.clone()).await.refused(403), "forbidden");
    let code_cell = scene.cell.as_str();
    for (body, status, code) in [
        (json!({}), 400, "invalid_value"),
        (json!({"text": "a", "cell_id": code_cell}), 400, "invalid_value"),
        (json!({"text": "  \n"}), 400, "invalid_value"),
        (json!({"cell_id": "nowhere"}), 404, "unknown_cell"),
        (json!({"cell_id": code_cell}), 400, "not_runnable"),
        (json!({"text": "a", "loud": true}), 400, "malformed"),
        (json!({"text": "x".repeat(3 << 20)}), 413, "limit_exceeded"),
    ] {
        let answer = scene.http.post(&chat, body).await;
        assert_eq!(answer.refused(status), code, "{}", answer.text);
    }
    let unknown = scene.http.get(&scene.path("turns/never/stream")).await;
    assert_eq!(unknown.refused(404), "unknown_turn");
    let (_stream, turn) = scene.ask("hello").await;
    let request = scene.http.request(Method::GET, &turn.stream()).header("last-event-id", "yesterday");
    assert_eq!(scene.http.send(request).await.refused(400), "invalid_value");
    let busy = json!({"text": "and", "conversation": turn.conversation.as_str()});
    assert_eq!(scene.http.post(&chat, busy).await.refused(409), "turn_state");

    let without = TestServer::start().await;
    let http = without.http(&without.person("Ann").await);
    let (notebook, _) = http.notebook("x").await;
    let answer = http.post(&format!("/api/notebooks/{notebook}/chat"), hello).await;
    assert_eq!(answer.refused(503), "no_assistant");
    assert!(answer.text.contains("serve"), "it says what to do: {}", answer.text);
    let turns = http.get(&format!("/api/notebooks/{notebook}/turns")).await.ok();
    assert_eq!(turns["turns"], json!([]), "nothing waits for ever");
}

#[tokio::test]
async fn a_question_that_is_sent_twice_is_asked_once() {
    let scene = Scene::new().await;
    let ask = || {
        let request = scene.http.request(Method::POST, &scene.path("chat")).json(&json!({"text": "once"}));
        Stream::of(request.header("idempotency-key", "k1"))
    };
    let (mut first, mut second) = (ask().await, ask().await);
    assert_eq!(first.next().await, second.next().await);
    assert_eq!(scene.http.get(&scene.path("turns")).await.ok()["turns"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn others_who_follow_the_notebook_see_it_being_written_and_no_secret() {
    let scene = Scene::new().await;
    let bob = scene.server.person("Bob").await;
    scene.share(&bob, "viewer").await;
    let mut socket = scene.server.connect(&bob).await;
    socket.subscribe(scene.notebook.as_str()).await;
    assert_eq!(
        socket.welcome.as_ref().unwrap().features,
        [
            "assistants",
            "kernel_questions",
            "comms",
            "working_files",
            "working_file_changes",
            "connection_schemas",
            "kernel_tables",
            "kernel_format",
            "kernel_effects",
            "agent_machines",
            "kernel_environments"
        ]
    );
    let (mut stream, mut turn) = scene.ask("hello").await;
    turn.begin().await;
    for words in ["Good ", "morn", "ing"] {
        turn.write(words);
    }
    let mut written = String::new();
    while written != "Good morning" {
        let message = socket.next_other().await;
        let ServerMessage::Activity { activity, .. } = message else { panic!("{message:?}") };
        for TurnActivity { turn_id, what, .. } in activity {
            assert_eq!(turn_id, turn.id);
            let ActivityKind::TextDelta { text, .. } = what else { panic!("{what:?}") };
            written.push_str(&text);
        }
    }
    turn.reply(MessageRole::Assistant, &[text("Good morning")]).await;
    turn.end().await;
    let events = stream.rest().await;
    let everything: BTreeMap<String, String> =
        events.iter().map(|event| (event.id.clone(), event.data.to_string())).collect();
    let everything = format!("{everything:?}");
    let secret = scene.ann.token.rsplit('_').next().unwrap();
    assert!(!everything.contains(secret), "the token of who asked is told to nobody");
}
