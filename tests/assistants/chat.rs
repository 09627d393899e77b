//! Tests of chat with real assistants and confirmations: over server-sent events, and with `notarium chat` at a terminal.

use reqwest::Method;
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;

use super::scene::{Scene, acceptance};
use crate::processes::PATIENCE;
use crate::support::terminal::{Words, at_terminal};

/// A follower of a turn's event stream.
pub struct Told {
    response: reqwest::Response,
    bytes: Vec<u8>,
    /// Text received so far.
    pub text: String,
    /// Events received so far.
    pub events: Vec<Value>,
}

impl Told {
    /// Asks a question, and follows the answer.
    pub async fn of(scene: &Scene, text: &str) -> Self {
        Self::on(scene.request(Method::POST, "chat").json(&json!({"text": text}))).await
    }

    /// Follows a turn from its beginning.
    pub async fn following(scene: &Scene, turn: &notarium_core::TurnId) -> Self {
        Self::on(scene.request(Method::GET, &format!("turns/{turn}/stream"))).await
    }

    async fn on(request: reqwest::RequestBuilder) -> Self {
        let response = request.send().await.unwrap();
        Self {
            response: response.error_for_status().unwrap(),
            bytes: Vec::new(),
            text: String::new(),
            events: Vec::new(),
        }
    }

    /// Returns the next event; `None`: the stream has ended.
    async fn next(&mut self) -> Option<Value> {
        loop {
            let end = self.bytes.windows(2).position(|two| two == b"\n\n");
            let Some(end) = end else {
                let piece = tokio::time::timeout(PATIENCE, self.response.chunk()).await.expect("something comes");
                self.bytes.extend_from_slice(&piece.unwrap()?);
                continue;
            };
            let event = String::from_utf8(self.bytes.drain(..end + 2).collect()).unwrap();
            if let Some(data) = event.lines().find_map(|line| line.strip_prefix("data: ")) {
                return Some(serde_json::from_str(data).unwrap());
            }
        }
    }

    /// Returns the next event of this type.
    pub async fn until(&mut self, wanted: &str) -> Value {
        while let Some(event) = self.next().await {
            self.text.push_str(event["text"].as_str().unwrap_or_default());
            self.events.push(event.clone());
            if event["type"] == wanted {
                return event;
            }
        }
        panic!("no '{wanted}' came: {:#?}", self.events);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_deletion_is_asked_about_on_the_stream_which_tells_what_came_of_the_answer() {
    let mut scene = Scene::start(acceptance()).await;
    let cell = scene.cell("keep = 1").await;
    for (answer, decision, is_error, said) in
        [("deny", "denied", true, "You said no, so it stays."), ("confirm", "confirmed", false, "It is gone.")]
    {
        let mut told = Told::of(&scene, "Delete the first cell").await;
        let asked = told.until("tool_confirmation").await;
        let (call, effects) = (&asked["call"], &asked["confirmation"]["effects"]);
        assert_eq!((&call["function"], &call["arguments"]["cell_id"]), (&json!("delete_cell"), &json!(cell)));
        assert_eq!(effects[0]["source"], "keep = 1", "{asked:#}");
        let path = format!("calls/{}/{answer}", call["id"].as_str().unwrap());
        let body = match answer {
            "deny" => json!({"reason": "I need it"}),
            _ => json!({"arguments_hash": call["arguments_hash"]}),
        };
        scene.request(Method::POST, &path).json(&body).send().await.unwrap().error_for_status().unwrap();
        let decided = told.until("tool_decision").await;
        assert_eq!((&decided["call_id"], &decided["decision"]), (&call["id"], &json!(decision)));
        let result = told.until("tool_result").await;
        assert_eq!((&result["call_id"], &result["is_error"]), (&call["id"], &json!(is_error)), "{result}");
        assert_eq!(told.until("done").await["stop_reason"], "end_turn");
        assert!(told.text.ends_with(said), "{}", told.text);
        scene.ada.until("the answer", |state| state.cells.contains_key(&cell) == is_error).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn notarium_chat_asks_at_the_terminal_and_the_assistant_goes_on() {
    let mut scene = Scene::start(acceptance()).await;
    let cell = scene.cell("keep = 1").await;
    let home = tempfile::tempdir().unwrap();
    for (typed, said) in [(&["n\n", "I need it\n"][..], "You said no, so it stays."), (&["y\n"], "It is gone.")] {
        let mut chat = at_terminal(&["chat", scene.ada.notebook().as_str(), "Delete the first cell"]);
        chat.current_dir(home.path()).env("NOTARIUM_CONFIG", home.path().join("config.json"));
        chat.env("NOTARIUM_SERVER", format!("http://{}", scene.fixture.address()));
        let mut chat = chat.env("NOTARIUM_TOKEN", scene.fixture.session()).spawn().unwrap();
        let mut words = Words::of(chat.stdout.take().unwrap());
        let mut keys = chat.stdin.take().unwrap();
        let shown = words.until("[q]uit: ").await;
        assert!(shown.contains("delete_cell") && shown.contains("keep = 1"), "{shown}");
        for line in typed {
            keys.write_all(line.as_bytes()).await.unwrap();
            if line.starts_with('n') {
                words.until("why not?").await;
            }
        }
        words.until(said).await;
        assert!(chat.wait().await.unwrap().success());
    }
    scene.ada.until("the deletion", |state| !state.cells.contains_key(&cell)).await;
    assert!(scene.whole_record().await.contains("I need it"), "the reason is on record");
}
