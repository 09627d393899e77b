//! One client of a kernel: its requests, and the runs that it waits for.

mod held;
mod widgets;

use std::collections::BTreeMap;

use axum::extract::ws::{Message, WebSocket};
use futures_util::stream::SplitSink;
use futures_util::{SinkExt, StreamExt};
use notarium_client::{CommandSender, Connection, ConnectionEvent};
use notarium_core::{
    CellId, Command, Document, Event, ExecutionId, ExecutionTarget, KernelPhase, KernelSession, NotebookId, Output,
    Recorded, RequestExecution, default_session,
};
use notarium_wire::{AskKernelMessage, ClientMessage, KernelAnswer, QuestionKind, ServerMessage};
use serde_json::{Value, json};
use tokio::sync::mpsc;

use crate::api::{CallerToken, encoded};
use crate::channels::frames::{ChannelMessage, FrameForm};
use crate::channels::{SUBPROTOCOL, replies};
use crate::document::cell_view::{BlobTexts, filled};
use crate::door::JupyterDoor;
use crate::kernels;
use crate::rooms::socket::{FollowedNotebook, NOT_ALLOWED, close, close_message, follow};
use held::HeldMessages;
use widgets::KernelWidgets;

/// Runs, questions and waiting requests of one client.
const MAX_PENDING: usize = 1_000;
/// Purpose of a run whose code belongs to no cell.
const PURPOSE: &str = "code of a Jupyter client";
/// Close codes for a message that cannot be read, or is too large.
const MALFORMED: u16 = 1007;
const TOO_LARGE: u16 = 1009;

/// Serves a client of a notebook's kernel until it leaves.
pub async fn serve(door: JupyterDoor, token: CallerToken, notebook: NotebookId, mut socket: WebSocket) {
    let is_v1 = socket.protocol().is_some_and(|protocol| protocol.as_bytes() == SUBPROTOCOL.as_bytes());
    let form = if is_v1 { FrameForm::V1 } else { FrameForm::Default };
    let followed = match follow(&door, &token, &notebook).await {
        Ok(followed) => followed,
        Err((code, reason)) => return close(&mut socket, code, &reason).await,
    };
    let FollowedNotebook { connection, name, .. } = followed;
    let (sink, mut stream) = socket.split();
    let (refusals, mut refused) = mpsc::channel(MAX_PENDING);
    let sender = connection.sender();
    let mut client = KernelClient {
        door,
        token,
        notebook,
        form,
        sink,
        connection,
        sender,
        refusals,
        runs: BTreeMap::new(),
        questions: BTreeMap::new(),
        waiting_for_info: Vec::new(),
        next_question: 1,
        name,
        widgets: KernelWidgets::default(),
        held: HeldMessages::default(),
    };
    client.widgets.is_first = client.started().is_some();
    client.follow_widgets();
    loop {
        let served = tokio::select! {
            received = stream.next() => match received {
                Some(Ok(Message::Close(_))) | None => return,
                Some(Err(_)) => client.close(TOO_LARGE, "a message is too large, or the connection was cut").await,
                Some(Ok(Message::Ping(_) | Message::Pong(_))) => Some(()),
                Some(Ok(message)) => match form.read(&message) {
                    Some(message) => client.request(message).await,
                    None => {
                        client.close(MALFORMED, "a message of the kernel protocol could not be read").await
                    }
                },
            },
            event = client.connection.next() => client.event(event).await,
            () = client.held.deadline() => client.release_all().await,
            Some((run, message)) = refused.recv() => client.refuse(&run, &message).await,
        };
        if served.is_none() {
            return;
        }
    }
}

/// A run that the client requested.
struct PendingRun {
    parent: Value,
    code: String,
    /// Content of the last error.
    error: Option<Value>,
    is_started: bool,
}

/// A question to the kernel.
struct PendingQuestion {
    parent: Value,
    code: String,
}

struct KernelClient {
    door: JupyterDoor,
    token: CallerToken,
    notebook: NotebookId,
    form: FrameForm,
    sink: SplitSink<WebSocket, Message>,
    connection: Connection,
    sender: CommandSender,
    refusals: mpsc::Sender<(ExecutionId, String)>,
    runs: BTreeMap<ExecutionId, PendingRun>,
    questions: BTreeMap<u32, PendingQuestion>,
    waiting_for_info: Vec<Value>,
    next_question: u32,
    /// Name of the connection, as answers of kernels have it.
    name: String,
    widgets: KernelWidgets,
    held: HeldMessages,
}

/// `None`: the client is gone.
type Served = Option<()>;

impl KernelClient {
    async fn send(&mut self, channel: &str, msg_type: &str, parent: &Value, content: Value) -> Served {
        let message = replies::message(&self.notebook, channel, msg_type, parent, content);
        self.put(message).await
    }

    async fn write(&mut self, message: &ChannelMessage) -> Served {
        self.sink.send(self.form.write(message)).await.ok()
    }

    async fn close(&mut self, code: u16, reason: &str) -> Served {
        let _ = self.sink.send(close_message(code, reason)).await;
        None
    }

    /// Sends a reply between the states busy and idle, as a kernel does for each request.
    async fn reply(&mut self, channel: &str, msg_type: &str, parent: &Value, content: Value) -> Served {
        self.send("iopub", "status", parent, json!({"execution_state": "busy"})).await?;
        self.send(channel, msg_type, parent, content).await?;
        self.send("iopub", "status", parent, json!({"execution_state": "idle"})).await
    }

    fn state(&self) -> Option<&Document> {
        self.connection.replica(&self.notebook)
    }

    /// The oldest kernel that has started.
    fn started(&self) -> Option<&KernelSession> {
        let kernels = self.state()?.kernels.values();
        kernels.filter(|kernel| kernel.phase == KernelPhase::Started).min_by_key(|kernel| kernel.requested_version)
    }

    // --- requests ---

    async fn request(&mut self, message: ChannelMessage) -> Served {
        let parent = message.header.clone();
        match message.msg_type() {
            "kernel_info_request" => self.info(parent).await,
            "execute_request" => self.execute(&message).await,
            "complete_request" | "inspect_request" => self.ask(&message),
            "is_complete_request" => {
                self.reply("shell", "is_complete_reply", &parent, json!({"status": "unknown"})).await
            }
            "history_request" => {
                self.reply("shell", "history_reply", &parent, json!({"status": "ok", "history": []})).await
            }
            "comm_info_request" | "comm_open" | "comm_msg" | "comm_close" => self.comm_request(&message).await,
            "input_reply" => self.input(&message),
            "interrupt_request" => self.act(&parent, http::Method::POST, "/interrupt", "interrupt_reply", false).await,
            "shutdown_request" => {
                let restart = message.content["restart"] == true;
                let (method, action) =
                    if restart { (http::Method::POST, "/restart") } else { (http::Method::DELETE, "") };
                self.act(&parent, method, action, "shutdown_reply", restart).await
            }
            // Unknown requests stay without an answer, as with a kernel that does not know them.
            _ => Some(()),
        }
    }

    async fn info(&mut self, parent: Value) -> Served {
        match self.started().map(replies::kernel_info) {
            Some(info) => self.reply("shell", "kernel_info_reply", &parent, info).await,
            None => {
                if self.waiting_for_info.len() < MAX_PENDING {
                    self.waiting_for_info.push(parent);
                }
                Some(())
            }
        }
    }

    async fn act(&mut self, parent: &Value, method: http::Method, action: &str, reply: &str, restart: bool) -> Served {
        let done = kernels::act(&self.door, &self.token, &self.notebook, method, action).await;
        let content = match done {
            Ok(()) => json!({"status": "ok", "restart": restart}),
            Err(error) => json!({"status": "error", "ename": "Refused", "evalue": error.message, "traceback": []}),
        };
        self.reply("control", reply, parent, content).await
    }

    async fn execute(&mut self, message: &ChannelMessage) -> Served {
        let code = message.content["code"].as_str().unwrap_or_default().to_owned();
        let parent = message.header.clone();
        if code.trim().is_empty() {
            let content = json!({"status": "ok", "execution_count": 0, "user_expressions": {}, "payload": []});
            return self.reply("shell", "execute_reply", &parent, content).await;
        }
        if self.runs.len() >= MAX_PENDING {
            let evalue = "too many runs wait: wait for some of them, or interrupt the kernel";
            let content = json!({"status": "error", "ename": "Refused", "evalue": evalue, "traceback": []});
            return self.reply("shell", "execute_reply", &parent, content).await;
        }
        // The client's last keystrokes come first: they are on their way over its WebSocket.
        let room = self.door.rooms.get(&self.notebook).filter(|room| room.members() > 0);
        if let Some(room) = &room {
            room.settle().await;
        }
        let cell = self.cell_of(message, &code, room.is_some());
        let target = match cell {
            Some(cell_id) => ExecutionTarget::Cell { cell_id, cell_version: None },
            None => ExecutionTarget::Scratch { source: code.clone(), purpose: PURPOSE.to_owned() },
        };
        let run: ExecutionId = ulid::Ulid::generate().into();
        let request = RequestExecution { execution_id: Some(run.clone()), ..RequestExecution::new(target) };
        self.runs.insert(run.clone(), PendingRun { parent, code, error: None, is_started: false });
        let (sender, notebook, refusals) = (self.sender.clone(), self.notebook.clone(), self.refusals.clone());
        tokio::spawn(async move {
            if let Err(error) = sender.command(&notebook, &Command::RequestExecution(request)).await {
                let _ = refusals.send((run, error.to_string())).await;
            }
        });
        Some(())
    }

    /// The cell whose source the code is: the one that the client names, or, if it names none while people edit the notebook with
    /// Jupyter's clients, the only one with that source.
    fn cell_of(&self, message: &ChannelMessage, code: &str, is_edited: bool) -> Option<CellId> {
        let document = self.state()?;
        let is_it = |id: &CellId| {
            document.cells.get(id).is_some_and(|cell| cell.content.cell_type.runs() && cell.content.source == code)
        };
        if let Some(named) = message.metadata["cellId"].as_str() {
            return named.parse().ok().filter(is_it);
        }
        let mut same = document.order.iter().filter(|id| is_edited && is_it(id));
        match (same.next(), same.next()) {
            (Some(only), None) => Some(only.clone()),
            _ => None,
        }
    }

    fn ask(&mut self, message: &ChannelMessage) -> Served {
        let code = message.content["code"].as_str().unwrap_or_default().to_owned();
        let cursor = replies::units(&code, message.content["cursor_pos"].as_u64().unwrap_or(u64::MAX));
        let kind = match message.msg_type() {
            "complete_request" => QuestionKind::Complete {},
            _ => QuestionKind::Inspect { detail: u8::from(message.content["detail_level"] == 1) },
        };
        let id = self.next_question;
        self.next_question = id.wrapping_add(1);
        if self.questions.len() >= MAX_PENDING {
            self.questions.pop_first();
        }
        self.questions.insert(id, PendingQuestion { parent: message.header.clone(), code: code.clone() });
        let (notebook, cell_id, kernel_session) = (self.notebook.clone(), None, None);
        let question = AskKernelMessage { id, notebook, cell_id, kernel_session, code, cursor, kind };
        self.sender.ephemeral(ClientMessage::AskKernel(question));
        Some(())
    }

    /// Answers the run of this client that waits for input.
    fn input(&mut self, message: &ChannelMessage) -> Served {
        let waits = |run: &&ExecutionId| {
            self.state().and_then(|state| state.executions.get(*run)).is_some_and(|run| run.pending_input.is_some())
        };
        if let Some(run) = self.runs.keys().find(waits) {
            let value = message.content["value"].as_str().unwrap_or_default().to_owned();
            let command = Command::AnswerInput { execution_id: run.clone(), value };
            if let Ok(message) = CommandSender::message(&self.notebook, &command) {
                drop(self.sender.submit(message));
            }
        }
        Some(())
    }

    // --- events ---

    async fn event(&mut self, event: ConnectionEvent) -> Served {
        match event {
            ConnectionEvent::Events { recorded, .. } => {
                for event in &recorded {
                    self.recorded(event).await?;
                }
                Some(())
            }
            ConnectionEvent::Message(ServerMessage::KernelAnswer(answer)) => {
                self.answered(answer.id, &answer.answer).await
            }
            ConnectionEvent::Message(ServerMessage::Access { role: None, .. }) => {
                self.close(NOT_ALLOWED, "you may no longer see this notebook").await
            }
            ConnectionEvent::Message(ServerMessage::Error(error)) => self.refused(&error.message).await,
            ConnectionEvent::Message(message) => self.comm_event(message).await,
            ConnectionEvent::Failed(error) => self.close(NOT_ALLOWED, &error.to_string()).await,
            ConnectionEvent::Connected(welcome) => {
                self.name = welcome.connection;
                Some(())
            }
            ConnectionEvent::Subscribed(_) => {
                self.follow_widgets();
                Some(())
            }
            ConnectionEvent::Disconnected { .. } => Some(()),
        }
    }

    /// A message without an answer of its own was refused, such as that of a viewer who moves a slider.
    async fn refused(&mut self, message: &str) -> Served {
        let content = json!({"name": "stderr", "text": format!("Refused: {message}\n")});
        self.send("iopub", "stream", &json!({}), content).await
    }

    /// Header of the request whose run is under way.
    fn running_parent(&self) -> Value {
        let running = self.runs.values().find(|run| run.is_started);
        running.map_or_else(|| json!({}), |run| run.parent.clone())
    }

    async fn answered(&mut self, id: u32, answer: &KernelAnswer) -> Served {
        let Some(PendingQuestion { parent, code }) = self.questions.remove(&id) else { return Some(()) };
        let content = match answer {
            KernelAnswer::Completed(completion) => replies::completed(&code, completion),
            KernelAnswer::Inspected(inspection) => replies::inspected(inspection),
            KernelAnswer::Refused { message, .. } => {
                json!({"status": "error", "ename": "Refused", "evalue": message, "traceback": []})
            }
            _ => return Some(()),
        };
        let is_completion = parent["msg_type"] == "complete_request";
        let msg_type = if is_completion { "complete_reply" } else { "inspect_reply" };
        self.reply("shell", msg_type, &parent, content).await
    }

    async fn recorded(&mut self, recorded: &Recorded) -> Served {
        match &recorded.event {
            Event::KernelSessionStarted(_) => {
                self.follow_widgets();
                for parent in std::mem::take(&mut self.waiting_for_info) {
                    self.info(parent).await?;
                }
                return Some(());
            }
            // After a restart, which clients have asked for themselves, there is a new session already.
            Event::KernelSessionEnded(_) if self.state().is_some_and(|state| default_session(state).is_none()) => {
                return self.send("iopub", "status", &json!({}), json!({"execution_state": "dead"})).await;
            }
            _ => {}
        }
        match recorded.event.execution_id().filter(|run| self.runs.contains_key(*run)).cloned() {
            Some(run) => self.of_run(&run, &recorded.event).await,
            None => Some(()),
        }
    }

    async fn of_run(&mut self, run: &ExecutionId, event: &Event) -> Served {
        let Some(parent) = self.runs.get(run).map(|pending| pending.parent.clone()) else { return Some(()) };
        match event {
            Event::ExecutionStarted(_) => self.begin(run).await,
            Event::ExecutionOutputAppended(event) => {
                for output in &event.outputs {
                    self.output(run, &parent, output, None).await?;
                }
                Some(())
            }
            Event::ExecutionOutputUpdated(event) => {
                self.output(run, &parent, &event.output, Some("update_display_data")).await
            }
            Event::ExecutionOutputsCleared(event) => {
                self.send("iopub", "clear_output", &parent, json!({"wait": event.wait})).await
            }
            Event::ExecutionInputRequested(event) => {
                let content = json!({"prompt": event.prompt, "password": event.password});
                self.send("stdin", "input_request", &parent, content).await
            }
            Event::ExecutionCompleted(event) => {
                let is_ok = event.outcome == notarium_core::ExecutionOutcome::Ok;
                self.end(run, event.execution_count, (!is_ok).then_some("the run failed")).await
            }
            Event::ExecutionCancelled(_) => self.end(run, None, Some("the run was cancelled")).await,
            Event::ExecutionBlocked(_) => self.end(run, None, Some("the run was skipped: one before it failed")).await,
            Event::ExecutionLost(_) => self.end(run, None, Some("the run was lost with its kernel")).await,
            _ => Some(()),
        }
    }

    async fn begin(&mut self, run: &ExecutionId) -> Served {
        let Some(pending) = self.runs.get_mut(run).filter(|pending| !pending.is_started) else { return Some(()) };
        pending.is_started = true;
        let (parent, code) = (pending.parent.clone(), pending.code.clone());
        let count = self.count_of(run);
        self.send("iopub", "status", &parent, json!({"execution_state": "busy"})).await?;
        self.send("iopub", "execute_input", &parent, json!({"code": code, "execution_count": count})).await
    }

    /// The kernel's number of the run, or the one that it should get.
    fn count_of(&self, run: &ExecutionId) -> u64 {
        let Some(state) = self.state() else { return 0 };
        let kernel = default_session(state);
        let of_kernel = state.executions.values().filter(|run| run.kernel_session.as_ref() == kernel);
        let own = state.executions.get(run).and_then(|run| run.execution_count);
        own.unwrap_or_else(|| of_kernel.filter_map(|run| run.execution_count).max().unwrap_or(0) + 1)
    }

    async fn output(&mut self, run: &ExecutionId, parent: &Value, output: &Output, as_type: Option<&str>) -> Served {
        let mut blobs = BlobTexts::new();
        for part in output.blobs.iter().filter(|part| part.size_bytes <= self.door.limits.max_blob_bytes) {
            let path = format!("/api/notebooks/{}/blobs/{}", encoded(self.notebook.as_str()), part.sha256);
            let answer = self.door.api.send(&self.token, http::Method::GET, &path, None).await;
            if let Some(text) = answer.ok().and_then(|answer| String::from_utf8(answer.into()).ok()) {
                blobs.insert(part.sha256.clone(), text);
            }
        }
        let (msg_type, content) = replies::output(filled(output, &blobs), output);
        if msg_type == "error"
            && let Some(pending) = self.runs.get_mut(run)
        {
            pending.error = Some(content.clone());
        }
        self.send("iopub", as_type.unwrap_or(&msg_type), parent, content).await
    }

    async fn end(&mut self, run: &ExecutionId, count: Option<u64>, failure: Option<&str>) -> Served {
        self.begin(run).await?;
        let Some(PendingRun { parent, code, error, .. }) = self.runs.remove(run) else { return Some(()) };
        let payload = replies::payload(&code);
        let mut content = json!({"status": "ok", "execution_count": count, "user_expressions": {}, "payload": payload});
        if let Some(failure) = failure {
            let error =
                error.unwrap_or_else(|| json!({"ename": "RunEnded", "evalue": failure, "traceback": [failure]}));
            content["status"] = json!("error");
            for key in ["ename", "evalue", "traceback"] {
                content[key] = error[key].clone();
            }
        }
        self.send("shell", "execute_reply", &parent, content).await?;
        self.send("iopub", "status", &parent, json!({"execution_state": "idle"})).await
    }

    /// The command was refused: the client gets the reason as the run's error.
    async fn refuse(&mut self, run: &ExecutionId, message: &str) -> Served {
        let Some(pending) = self.runs.get_mut(run) else { return Some(()) };
        let error = json!({"ename": "Refused", "evalue": message, "traceback": [message]});
        pending.error = Some(error.clone());
        let parent = pending.parent.clone();
        self.begin(run).await?;
        self.send("iopub", "error", &parent, error).await?;
        self.end(run, None, Some("the run was refused")).await
    }
}
