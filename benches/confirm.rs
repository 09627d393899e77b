//! Benchmark of tool calls that wait for a person: time from confirmation to start, and cost of waiting calls.
//!
//! The server uses a scripted provider (`scripted`), so that the whole path is measured: turn, worker, gate, log.

use std::collections::VecDeque;
use std::io::Read;
use std::time::Instant;

use anyhow::{Result, bail};
use clap::Args;
use notarium_scripted::{Script, ScriptedServer};
use serde_json::{Value, json};

use crate::socket::{Socket, Target};

/// Turns per conversation: each requests two calls, and a conversation may request 20 per minute.
const TURNS_PER_CONVERSATION: usize = 8;
/// Calls per turn, for many waiting calls.
const CALLS_PER_TURN: usize = 10;

/// A model that deletes the first cell, and once more.
#[derive(Args)]
pub struct Scripted {}

impl Scripted {
    /// Prints the model's address, and runs until its input ends.
    pub async fn run(&self) -> Result<Value> {
        let server = ScriptedServer::start(Script::parse(&script().to_string())?).await?;
        println!("{}", json!({"base_url": server.base_url()}));
        tokio::task::spawn_blocking(|| std::io::stdin().read(&mut [0])).await??;
        Ok(json!({"requests": server.requests().len()}))
    }
}

fn script() -> Value {
    let read = json!({"calls": [{"name": "get_notebook_state", "arguments": {"include_outputs": false}}]});
    let delete = json!({"name": "delete_cell", "arguments": {
        "cell_id": "${get_notebook_state/cells/0/cell_id}", "cell_version": "${get_notebook_state/cells/0/version}"}});
    json!({"replies": [
        {"when": {"after_tool": "delete_cell"}, "reply": {"text": "Done."}},
        {"when": {"user": "many", "after_tool": "get_notebook_state"}, "reply": {"calls": vec![&delete; CALLS_PER_TURN]}},
        {"when": {"after_tool": "get_notebook_state"}, "reply": {"calls": [delete]}},
        {"when": {}, "reply": read},
    ]})
}

/// From a person's yes until another client sees that the call has started; beside it an edit, seen by the same client.
#[derive(Args)]
pub struct Confirm {
    #[arg(long, default_value_t = 200)]
    times: usize,
    /// Calls that wait in the same notebook meanwhile, in tens.
    #[arg(long, default_value_t = 0)]
    waiting: usize,
}

impl Confirm {
    pub async fn run(&self, target: &Target) -> Result<Value> {
        let notebook = format!("confirm-{}", std::process::id());
        let mut scene = Scene::make(target, &notebook, self.times + 2).await?;
        for number in 0..self.waiting / CALLS_PER_TURN {
            // Calls on the last cell are never confirmed and stay waiting, as other cells precede it by then.
            scene.ask(&format!("held{number}"), "many").await?;
            scene.until_requested(CALLS_PER_TURN).await?;
        }
        if self.waiting > 0 {
            // The target of these calls must not change, so from here on another cell is inserted before it.
            scene.put_first().await?;
        }
        let (mut edits, mut starts) = (Vec::new(), Vec::new());
        for number in 0..self.times {
            edits.push(scene.edit(number).await?);
            starts.push(scene.confirmed(&format!("talk{}", number / TURNS_PER_CONVERSATION)).await?);
            if self.waiting > 0 {
                scene.put_first().await?;
            }
        }
        let [edit, start] = [sorted(edits), sorted(starts)];
        let at = |times: &[f64], share: f64| times[((times.len() - 1) as f64 * share) as usize];
        Ok(json!({
            "edit_p50_ms": at(&edit, 0.5), "edit_p99_ms": at(&edit, 0.99),
            "start_p50_ms": at(&start, 0.5), "start_p99_ms": at(&start, 0.99),
        }))
    }
}

fn sorted(mut times: Vec<f64>) -> Vec<f64> {
    times.sort_by(f64::total_cmp);
    times
}

/// Notebooks with calls that wait; prints `ready` when all do and nobody is connected any more.
#[derive(Args)]
pub struct Waiting {
    #[arg(long, default_value_t = 1)]
    notebooks: usize,
    /// In each, in tens, or one.
    #[arg(long, default_value_t = 1)]
    calls: usize,
    #[arg(long, default_value_t = 10)]
    cells: usize,
}

impl Waiting {
    pub async fn run(&self, target: &Target) -> Result<Value> {
        for number in 0..self.notebooks {
            let notebook = format!("waiting-{}-{number}", std::process::id());
            let mut scene = Scene::make(target, &notebook, self.cells).await?;
            if self.calls == 1 {
                scene.ask("held", "one").await?;
                scene.until_requested(1).await?;
            }
            for turn in 0..self.calls / CALLS_PER_TURN {
                scene.ask(&format!("held{turn}"), "many").await?;
                scene.until_requested(CALLS_PER_TURN).await?;
            }
        }
        println!("ready");
        tokio::task::spawn_blocking(|| std::io::stdin().read(&mut [0])).await??;
        Ok(json!({"notebooks": self.notebooks, "calls": self.calls}))
    }
}

/// A person who acts, and another client that watches.
struct Scene {
    person: Socket,
    watcher: Socket,
    notebook: String,
    commands: usize,
    /// Events that the watcher received and the test has not used.
    events: VecDeque<Value>,
}

impl Scene {
    async fn make(target: &Target, notebook: &str, cells: usize) -> Result<Self> {
        let mut person = Socket::open(target).await?;
        let cells = (0..cells).map(|number| {
            json!({"InsertCell": {"cell_id": format!("c{number}"), "cell_type": "code", "source": "x = 1\n".repeat(20)}})
        });
        let commands: Vec<Value> = [json!({"CreateNotebook": {"title": "confirm"}})].into_iter().chain(cells).collect();
        person.command("make", notebook, json!({"Batch": {"commands": commands}})).await?;
        let mut watcher = Socket::open(target).await?;
        watcher.subscribe(notebook).await?;
        Ok(Self { person, watcher, notebook: notebook.to_owned(), commands: 0, events: VecDeque::new() })
    }

    async fn send(&mut self, body: Value) -> Result<()> {
        self.commands += 1;
        let id = format!("c-{}", self.commands);
        self.person.send(&json!({"command": {"id": id, "notebook": self.notebook, "body": body}})).await
    }

    /// Returns the milliseconds from a command until the watcher sees an event of that type.
    async fn seen(&mut self, body: Value, event_type: &str) -> Result<f64> {
        let start = Instant::now();
        self.send(body).await?;
        self.until(event_type).await?;
        let elapsed = start.elapsed().as_secs_f64() * 1e3;
        self.person.wait_for("ack").await?;
        Ok(elapsed)
    }

    /// Returns the next event of that type. Earlier ones are dropped, later ones stay queued, as one frame may have both.
    async fn until(&mut self, event_type: &str) -> Result<Value> {
        loop {
            while let Some(event) = self.events.pop_front() {
                if event["type"] == event_type {
                    return Ok(event);
                }
            }
            let text = self.watcher.next().await?;
            if text.starts_with(r#"{"events""#) {
                let mut message: Value = serde_json::from_str(&text)?;
                let Value::Array(events) = message["events"]["events"].take() else { bail!("no events: {text}") };
                self.events.extend(events);
            }
        }
    }

    async fn ask(&mut self, conversation: &str, text: &str) -> Result<()> {
        self.send(json!({"StartTurn": {"conversation_id": conversation, "text": text}})).await?;
        self.person.wait_for("ack").await.map(|_| ())
    }

    /// Waits for so many new calls; returns the payload of the last.
    async fn until_requested(&mut self, calls: usize) -> Result<Value> {
        let mut seen = 0;
        loop {
            let payload = self.until("ToolCallRequested").await?["payload"].take();
            seen += usize::from(payload["function"] == "delete_cell");
            if seen == calls {
                return Ok(payload);
            }
        }
    }

    async fn edit(&mut self, number: usize) -> Result<f64> {
        self.seen(json!({"RenameNotebook": {"title": format!("title {number}")}}), "NotebookRenamed").await
    }

    async fn confirmed(&mut self, conversation: &str) -> Result<f64> {
        self.ask(conversation, "one").await?;
        let call = self.until_requested(1).await?;
        let yes = json!({"ConfirmToolCall": {"call_id": call["call_id"], "arguments_hash": call["arguments_hash"]}});
        let elapsed = self.seen(yes, "ToolCallStarted").await?;
        self.until("TurnFinished").await?;
        Ok(elapsed)
    }

    async fn put_first(&mut self) -> Result<()> {
        let insert = json!({"InsertCell": {"cell_type": "code", "source": "x = 1", "place": "start"}});
        self.send(insert).await?;
        self.person.wait_for("ack").await.map(|_| ())
    }
}
