//! Test scene: a server whose assistants use a scripted provider, a person in a notebook, and optionally an agent with a kernel.

use std::path::Path;

use notarium_core::{
    CellId, CellType, Command, Event, InsertCell, MessageBlock, MessageRole, Place, RawObject, StartTurn, StopReason,
    ToolCallId, TurnId,
};
use notarium_scripted::{Script, ScriptedServer};
use serde_json::{Value, json};

use super::gate::Gate;
use crate::processes::{Fixture, PATIENCE, Process, Visitor};

/// Provider key that must not appear anywhere.
pub const KEY: &str = "sk-planted-key-that-nobody-may-see";

pub struct Scene {
    pub model: ScriptedServer,
    pub fixture: Fixture,
    pub ada: Visitor,
    pub agent: Option<Process>,
    _settings: tempfile::TempDir,
}

/// Returns the script of the acceptance sentences, which is the demo's.
pub fn acceptance() -> Script {
    from_file("src/cli/serve/demo.json")
}

/// Returns the script that writes a failing cell, and fixes it.
pub fn mend() -> Script {
    from_file("tests/fixtures/scripts/mend.json")
}

fn from_file(path: &str) -> Script {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    Script::parse(&std::fs::read_to_string(path).unwrap()).unwrap()
}

pub fn script(replies: &Value) -> Script {
    Script::parse(&json!({ "key": KEY, "replies": replies }).to_string()).unwrap()
}

/// Returns code that imitates the Python module: registers a function for assistants. `body` returns its answer.
pub fn function(name: &str, parameter: Option<&str>, body: &str) -> String {
    let properties = parameter.map(|name| json!({name: {"type": "integer"}})).unwrap_or_else(|| json!({}));
    let schema = json!({"type": "object", "properties": properties, "required": Vec::from_iter(parameter)});
    let function = json!({"name": name, "version": "1", "description": format!("The function {name}"), "schema": schema, "risk": "read"});
    let body = body.replace('\n', "\n    ");
    format!(
        "import sys, types, comm, json\n\
         notarium = types.ModuleType('notarium')\n\
         def call_function(name, arguments):\n    {body}\n\
         notarium.call_function = call_function\n\
         sys.modules['notarium'] = notarium\n\
         comm.create_comm(target_name='notarium.functions', data={{'functions': [json.loads(r'{function}')]}})"
    )
}

/// Returns code that registers the function `pass_gate`.
pub fn gate_function(gate: &Gate) -> String {
    function("pass_gate", None, &format!("{}\nreturn 'passed'", gate.code()))
}

impl Scene {
    /// Starts without a kernel: runs are queued.
    pub async fn start(script: Script) -> Self {
        Self::asking(json!({"family": "anthropic"}), script, &[]).await
    }

    /// Starts with a provider of these settings, whose address and key are filled in, and with more arguments for the server. With `--log`
    /// the standard error of server and agents is collected.
    pub async fn asking(mut provider: Value, mut script: Script, arguments: &[&str]) -> Self {
        script.key = Some(KEY.to_owned());
        let model = ScriptedServer::start(script).await.unwrap();
        let settings = tempfile::tempdir().unwrap();
        let key = settings.path().join("key");
        write_privately(&key, KEY);
        let providers = settings.path().join("providers.json");
        provider["base_url"] = json!(model.base_url());
        provider["key_file"] = json!(key);
        std::fs::write(&providers, json!([provider]).to_string()).unwrap();
        let arguments = [&["--providers", providers.to_str().unwrap()][..], arguments].concat();
        let is_noted = arguments.contains(&"--log");
        let fixture =
            if is_noted { Fixture::start_noted(&arguments).await } else { Fixture::start_with(&arguments).await };
        let ada = fixture.person().await;
        Self { model, fixture, ada, agent: None, _settings: settings }
    }

    /// Starts with an agent that runs real kernels.
    pub async fn with_kernel(script: Script) -> Self {
        Self::start(script).await.and_kernel().await
    }

    pub async fn and_kernel(mut self) -> Self {
        self.agent = Some(self.fixture.agent().await);
        self.until_offered().await;
        self
    }

    /// Adds an agent whose kernels begin in this folder.
    pub async fn and_kernel_in(mut self, folder: &Path) -> Self {
        let mut agent = self.fixture.agent_of(&format!("http://{}", self.fixture.address()));
        agent.current_dir(folder);
        self.agent = Some(Process::start(agent));
        self.until_offered().await;
        self
    }

    /// Waits until the server knows the agent's kernels: before that an assistant's code asks.
    async fn until_offered(&self) {
        let path = format!("/api/notebooks/{}/kernels", self.ada.notebook());
        let offered = async { while self.get(&path).await["kernelspecs"].as_array().is_none_or(Vec::is_empty) {} };
        tokio::time::timeout(PATIENCE, offered).await.expect("the agent offers no kernel");
    }

    /// Runs code that registers functions, as the person, and waits for them.
    pub async fn register(&mut self, module: &str) {
        self.ada.run(module).await;
        let is_there = |state: &notarium_core::Document| {
            state.functions.values().any(|function| function.kernel_session.is_some())
        };
        self.ada.until("the function", is_there).await;
    }

    /// Kills the server with SIGKILL, and restarts it.
    pub async fn kill_and_restart(&mut self) {
        self.fixture.kill_server();
        self.fixture.restart_server().await;
        self.ada.until_connected().await;
    }

    /// Asks in the conversation `talk`.
    pub async fn ask(&mut self, text: &str) -> TurnId {
        self.ask_in("talk", text).await
    }

    pub async fn ask_in(&mut self, conversation: &str, text: &str) -> TurnId {
        let start = Command::StartTurn(StartTurn {
            conversation_id: conversation.parse().unwrap(),
            turn_id: None,
            text: Some(text.to_owned()),
            cell_id: None,
            model: None,
            attachments: Vec::new(),
        });
        self.ada.command(start).await.turn.unwrap()
    }

    /// Runs a prompt cell.
    pub async fn prompt(&mut self, cell: &CellId) -> TurnId {
        let start = Command::StartTurn(StartTurn {
            conversation_id: "prompts".parse().unwrap(),
            turn_id: None,
            text: None,
            cell_id: Some(cell.clone()),
            model: None,
            attachments: Vec::new(),
        });
        self.ada.command(start).await.turn.unwrap()
    }

    /// Asks, waits for the end, and returns the assistant's last message.
    pub async fn answered(&mut self, text: &str) -> String {
        let turn = self.ask(text).await;
        self.until_over(&turn).await;
        assert_eq!(self.end_of(&turn), Some(Ok(StopReason::EndTurn)), "{:#?}", self.story());
        self.said(&turn)
    }

    pub async fn until_over(&mut self, turn: &TurnId) {
        // The turn is in the state before its absence can mean its end.
        self.ada.until("the turn", |state| !state.conversations.is_empty()).await;
        while self.end_of(turn).is_none() {
            let version = self.ada.state().version;
            let news = self.ada.until("the turn's end", |state| state.version > version);
            let came = tokio::time::timeout(PATIENCE / 2, news).await;
            assert!(
                came.is_ok(),
                "the turn {turn} does not end: {:#?}\n{:#?}",
                self.story(),
                self.ada.state().tool_calls
            );
        }
    }

    /// Returns the end of the turn: its stop reason, or its failure.
    pub fn end_of(&self, turn: &TurnId) -> Option<Result<StopReason, String>> {
        self.ada.events().iter().find_map(|recorded| match &recorded.event {
            Event::TurnFinished(event) if event.turn_id == *turn => event.stop_reason.known().copied().map(Ok),
            Event::TurnFailed(event) if event.turn_id == *turn => Some(Err(event.sentence())),
            Event::TurnCancelled(event) if event.turn_id == *turn => Some(Err("cancelled".to_owned())),
            _ => None,
        })
    }

    /// Returns the text of the assistant's last message in the turn.
    pub fn said(&self, turn: &TurnId) -> String {
        let last = self.ada.events().iter().rev().find_map(|recorded| match &recorded.event {
            Event::MessagePosted(event)
                if event.turn_id.as_ref() == Some(turn) && event.role == MessageRole::Assistant =>
            {
                Some(event.known_blocks())
            }
            _ => None,
        });
        let texts = last.into_iter().flatten().filter_map(|block| match block {
            MessageBlock::Text { text } => Some(text.as_str()),
            _ => None,
        });
        texts.collect()
    }

    /// Returns the result in the event that ends a call.
    fn result_of(&self, call: &ToolCallId) -> String {
        let mut ends = self.ada.events().iter().filter_map(|recorded| match &recorded.event {
            Event::ToolCallExecuted(event) if event.call_id == *call => Some(event.result.clone()),
            _ => None,
        });
        ends.next_back().expect("a message that refers to a result comes after it")
    }

    /// Returns the results that tools gave the model, in order: text, and true for an error.
    pub fn results(&self) -> Vec<(String, bool)> {
        let blocks = self.ada.events().iter().filter_map(|recorded| match &recorded.event {
            Event::MessagePosted(event) if event.role == MessageRole::Tool => Some(event.known_blocks()),
            _ => None,
        });
        let results = blocks.flatten().filter_map(|block| match block {
            MessageBlock::ToolResult { call_id, text, is_error, .. } => {
                Some((text.clone().unwrap_or_else(|| self.result_of(call_id)), *is_error))
            }
            _ => None,
        });
        results.collect()
    }

    /// Returns the events' names, for messages of failing tests.
    pub fn story(&self) -> Vec<String> {
        let told = self.ada.events().iter().map(|recorded| match &recorded.event {
            Event::TurnFailed(event) => format!("TurnFailed: {}", event.sentence()),
            Event::ToolCallExecuted(event) => format!("ToolCallExecuted: {}", event.result),
            Event::TurnModelCallFinished(event) => format!("TurnModelCallFinished: {:?}", event.failure),
            event => event.event_type().to_owned(),
        });
        told.collect()
    }

    pub async fn cell(&mut self, source: &str) -> CellId {
        self.cell_of(CellType::Code, source).await
    }

    pub async fn cell_of(&mut self, cell_type: CellType, source: &str) -> CellId {
        let insert = Command::InsertCell(InsertCell {
            cell_id: None,
            cell_type,
            source: source.to_owned(),
            place: Place::End,
            metadata: RawObject::default(),
            attachments: None,
            flags: Default::default(),
            reply: None,
        });
        let id = self.ada.command(insert).await.cells[0].clone();
        self.ada.until("the cell", |state| state.cells.contains_key(&id)).await;
        id
    }

    /// Returns the call that waits for a person.
    pub async fn waiting(&mut self) -> ToolCallId {
        let waiting = |state: &notarium_core::Document| {
            state.tool_calls.iter().find(|(_, call)| call.gate.waits()).map(|(id, _)| id.clone())
        };
        self.ada.until("a call that waits", |state| waiting(state).is_some()).await;
        waiting(self.ada.state()).unwrap()
    }

    pub async fn confirm(&mut self, call_id: &ToolCallId) {
        let arguments_hash = self.ada.state().tool_calls[call_id].arguments_hash;
        self.ada.command(Command::ConfirmToolCall { call_id: call_id.clone(), arguments_hash }).await;
    }

    /// Returns the notebook's whole record, as text.
    pub async fn whole_record(&self) -> String {
        let request = self.request(reqwest::Method::GET, "events");
        request.header("accept", "application/x-ndjson").send().await.unwrap().text().await.unwrap()
    }

    /// Builds a REST request as the person; `path` is below the notebook, or absolute with `/`.
    pub fn request(&self, method: reqwest::Method, path: &str) -> reqwest::RequestBuilder {
        let address = match path.starts_with('/') {
            true => format!("http://{}{path}", self.fixture.address()),
            false => format!("http://{}/api/notebooks/{}/{path}", self.fixture.address(), self.ada.notebook()),
        };
        crate::support::client().request(method, address).bearer_auth(self.fixture.session())
    }

    /// Returns the JSON at this path.
    pub async fn get(&self, path: &str) -> Value {
        let answer = self.request(reqwest::Method::GET, path).send().await.unwrap();
        answer.error_for_status().unwrap().json().await.unwrap()
    }

    /// Returns the titles of all notebooks that the person can see.
    pub async fn titles(&self) -> Vec<String> {
        let listed = self.get("/api/notebooks").await;
        let listed = listed["notebooks"].as_array().unwrap_or_else(|| panic!("{listed}"));
        listed.iter().map(|notebook| notebook["title"].as_str().unwrap().to_owned()).collect()
    }

    /// Returns the notebook's calls in this state, over REST.
    pub async fn calls(&self, state: &str) -> Value {
        self.get(&format!("calls?state={state}")).await["calls"].clone()
    }
}

fn write_privately(path: &Path, text: &str) {
    use std::os::unix::fs::OpenOptionsExt;
    let mut options = std::fs::OpenOptions::new();
    let mut file = options.write(true).create_new(true).mode(0o600).open(path).unwrap();
    std::io::Write::write_all(&mut file, text.as_bytes()).unwrap();
}
