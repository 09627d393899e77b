//! `chat`: asks an assistant, shows what it says and does as it comes, and asks back where it needs a person.

mod screen;
mod stream;

use std::collections::VecDeque;
use std::io::{IsTerminal, Read};
use std::time::Duration;

use clap::Args;
use notarium_core::tools::Tool;
use notarium_core::{CellId, ConversationId, NotebookId, Operation, ToolCallId};
use notarium_wire::rest::{Answer, Me, TurnPage, WaitingCall};
use reqwest::Method;
use serde::Serialize;
use serde_json::{Value, json};
use tokio::sync::mpsc;

use super::cells::outline;
use super::client::{Client, IDEMPOTENCY_KEY};
use super::confirm;
use super::people::People;
use super::print;
use super::{Context, Ended, Failure, find};
use screen::{End, Screen};
use stream::TurnStream;

/// So long nothing is typed before a question is asked: what comes sooner was typed before it could be read.
const QUIET: Duration = Duration::from_millis(200);

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  notarium chat analysis 'make a summary table of the losses and plot it'
  notarium chat analysis                    # asks you, again and again, in one conversation
  notarium chat analysis --conversation last 'and now per month'
  git diff | notarium chat analysis
  notarium chat analysis --cell 01J…        # a prompt cell: its answer is kept with it
Without --conversation each command begins a new conversation.
What it says goes to standard output, what it does to standard error. What destroys something waits for a yes or no: on a
terminal you are asked, elsewhere it waits for `notarium confirm`. Ctrl-C stops the assistant; a second Ctrl-C leaves it.
Exit code: 0 it has answered, 1 it failed, 130 it was stopped.")]
pub struct ChatArgs {
    /// Id or title.
    notebook: String,
    /// What you say. Absent: a line at a time from the terminal, or all of standard input.
    text: Option<String>,
    /// Instead: what a prompt cell says. The answer stays with the cell.
    #[arg(long, value_name = "CELL", conflicts_with = "text")]
    cell: Option<String>,
    /// Go on in this conversation: an id, `last` for your latest one in this notebook, `new` for a new one.
    #[arg(long, value_name = "ID", default_value = "new")]
    conversation: String,
    /// One of the models that the server has. Absent: its default.
    #[arg(long)]
    model: Option<String>,
    /// Every event as it comes, in JSON, one a line; nothing is asked.
    #[arg(long)]
    json: bool,
}

pub async fn chat(args: ChatArgs, context: &Context) -> Ended {
    let client = context.client()?;
    let notebook = find::notebook(&client, &args.notebook).await?;
    let conversation = conversation(&client, &notebook, &args.conversation).await?;
    let mut chat = Chat { conversation, model: args.model, ..Chat::new(client, notebook) };
    if args.json {
        (chat.as_json, chat.asks) = (true, false);
    }
    if let Some(name) = &args.cell {
        let cell_id = find::cell(&*outline(&chat.client, &chat.notebook).await?, name)?;
        return chat.ask(Asked::Cell { cell_id }).await;
    }
    match args.text {
        Some(text) => chat.ask(Asked::Text { text }).await,
        None if chat.asks => chat.converse().await,
        None => {
            let mut text = String::new();
            let unreadable = |error| Failure::usage(format!("standard input cannot be read: {error}"));
            std::io::stdin().read_to_string(&mut text).map_err(unreadable)?;
            chat.ask(Asked::Text { text }).await
        }
    }
}

/// The conversation to go on in; `None`: a new one.
async fn conversation(client: &Client, notebook: &NotebookId, wanted: &str) -> Result<Option<ConversationId>, Failure> {
    match wanted {
        "new" => Ok(None),
        "last" => {
            let me: Me = client.get("/api/me").await?;
            let page: TurnPage = client.get(&format!("/api/notebooks/{notebook}/turns?limit=200")).await?;
            let last =
                page.turns.into_iter().find(|turn| turn.requested_by == me.actor).map(|turn| turn.conversation_id);
            let none = "you have no conversation here yet: leave --conversation out to begin one";
            last.map(Some).ok_or_else(|| Failure::failed(none))
        }
        id => id.parse().map(Some).map_err(|error| Failure::usage(format!("--conversation: {error}"))),
    }
}

/// What the assistant is to answer.
#[derive(Serialize)]
#[serde(untagged)]
pub enum Asked {
    Text { text: String },
    Cell { cell_id: CellId },
}

/// A call that this user is asked about.
struct Question {
    waiting: WaitingCall,
    /// It was said no, and why is to be said.
    is_no: bool,
}

/// What waits for this user in a turn: one call is asked about, the others stand behind it in the order they came.
#[derive(Default)]
struct Questions {
    asked: Option<Question>,
    behind: VecDeque<ToolCallId>,
}

impl Questions {
    fn is_asked(&self, id: &str) -> bool {
        self.asked.as_ref().is_some_and(|question| question.waiting.call.id.as_str() == id)
    }

    fn add(&mut self, id: ToolCallId) {
        if !self.is_asked(id.as_str()) && !self.behind.contains(&id) {
            self.behind.push_back(id);
        }
    }

    /// Takes out a call that is decided; whether it was the one that is asked about.
    fn remove(&mut self, id: &str) -> bool {
        self.behind.retain(|behind| behind.as_str() != id);
        let was_asked = self.is_asked(id);
        if was_asked {
            self.asked = None;
        }
        was_asked
    }
}

pub struct Chat {
    client: Client,
    notebook: NotebookId,
    conversation: Option<ConversationId>,
    model: Option<String>,
    as_json: bool,
    /// There is somebody at a terminal.
    asks: bool,
    /// What is typed; from the first question on.
    lines: Option<mpsc::Receiver<String>>,
    people: People,
}

impl Chat {
    /// A new conversation, in words; whoever sits at the terminal is asked what needs a person.
    pub fn new(client: Client, notebook: NotebookId) -> Self {
        Self {
            client,
            notebook,
            conversation: None,
            model: None,
            as_json: false,
            asks: std::io::stdin().is_terminal(),
            lines: None,
            people: People::default(),
        }
    }

    /// Question after question, until the end of the input.
    pub async fn converse(&mut self) -> Ended {
        loop {
            eprint!("> ");
            let line = tokio::select! {
                line = typed(&mut self.lines) => line,
                _ = tokio::signal::ctrl_c() => None,
            };
            let Some(line) = line else {
                eprintln!();
                return Ok(());
            };
            if line.trim().is_empty() {
                continue;
            }
            if let Err(failure) = self.ask(Asked::Text { text: line }).await {
                failure.report();
            }
        }
    }

    /// One question, followed to its end.
    pub async fn ask(&mut self, asked: Asked) -> Ended {
        #[derive(Serialize)]
        struct Body<'a> {
            #[serde(flatten)]
            asked: Asked,
            #[serde(skip_serializing_if = "Option::is_none")]
            conversation: Option<&'a ConversationId>,
            #[serde(skip_serializing_if = "Option::is_none")]
            model: Option<&'a str>,
        }
        let body = Body { asked, conversation: self.conversation.as_ref(), model: self.model.as_deref() };
        let key = ulid::Ulid::generate().to_string();
        let request = self.client.request(Method::POST, &format!("/api/notebooks/{}/chat", self.notebook));
        let response = self.client.send(request.header(IDEMPOTENCY_KEY, key).json(&body)).await?;
        let stream = TurnStream::new(self.client.clone(), self.notebook.clone(), response);
        match self.follow(stream).await? {
            End::Done => Ok(()),
            End::Cancelled => Err(Failure::interrupted("the assistant was stopped; what it did stays")),
            End::Failed(cause) => Err(Failure::failed(cause)),
        }
    }

    async fn follow(&mut self, mut stream: TurnStream) -> Result<End, Failure> {
        let mut screen = Screen::new(self.as_json);
        let (mut questions, mut is_stopped, mut has_changed) = (Questions::default(), false, false);
        loop {
            tokio::select! {
                event = stream.next() => {
                    let Some(event) = event? else {
                        return Err(Failure::connection("the server told no end of the answer: see `notarium log`"));
                    };
                    let end = screen.show(&event)?;
                    self.take(&event, &mut questions, &mut screen).await?;
                    has_changed |= changes(&event);
                    if let Some(end) = end {
                        screen.end_line()?;
                        if has_changed && !self.as_json {
                            let undo = format!("undo all of it: notarium undo {} --turn {}", self.notebook, stream.turn());
                            print::note(print::styled(undo, print::Style::Dim));
                        }
                        return Ok(end);
                    }
                }
                line = typed(&mut self.lines), if questions.asked.is_some() => {
                    self.answered(&mut questions, line, &mut screen).await?;
                }
                _ = tokio::signal::ctrl_c() => {
                    screen.end_line()?;
                    if std::mem::replace(&mut is_stopped, true) || stream.turn().is_empty() {
                        return Err(Failure::interrupted("left; what the assistant still does is told by `notarium log`"));
                    }
                    self.stop(stream.turn()).await?;
                }
            }
        }
    }

    async fn stop(&self, turn: &str) -> Ended {
        let path = format!("/api/notebooks/{}/turns/{turn}/cancel", self.notebook);
        self.client.post::<Answer>(&path, &json!({})).await.map(|_| ())
    }

    /// What an event means for the conversation, and for what is being asked.
    async fn take(&mut self, event: &Value, questions: &mut Questions, screen: &mut Screen) -> Ended {
        match event["type"].as_str().unwrap_or_default() {
            "turn" => {
                let id = event["conversation_id"].as_str().and_then(|id| id.parse().ok());
                if let Some(id) = id.filter(|_| self.conversation.is_none()) {
                    if !self.as_json {
                        screen.note(&print::styled(format!("conversation {id}"), print::Style::Dim))?;
                    }
                    self.conversation = Some(id);
                }
            }
            "tool_confirmation" if !self.as_json => {
                let id = event["call"]["id"].as_str().and_then(|id| id.parse().ok());
                if let Some(id) = id {
                    questions.add(id);
                    self.ask_next(questions, screen).await?;
                }
            }
            "tool_decision" | "tool_result" => {
                let id = event["call_id"].as_str().unwrap_or_default();
                if questions.remove(id) {
                    screen.note("somebody else was faster: it is decided")?;
                    self.ask_next(questions, screen).await?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Goes on to the next call, once the one before it is decided.
    async fn ask_next(&mut self, questions: &mut Questions, screen: &mut Screen) -> Ended {
        while questions.asked.is_none()
            && let Some(id) = questions.behind.pop_front()
        {
            questions.asked = self.asked(&id, screen).await?;
        }
        Ok(())
    }

    /// Shows what waits for a person; asks, if this one may decide.
    async fn asked(&mut self, id: &ToolCallId, screen: &mut Screen) -> Result<Option<Question>, Failure> {
        let Some((waiting, may_decide)) = confirm::in_full(&self.client, &self.notebook, id).await? else {
            return Ok(None);
        };
        screen.end_line()?;
        let who = self.people.name(&self.client, &waiting.call.requested_by).await;
        confirm::show(&waiting, &who)?;
        if !may_decide {
            print::note("this waits for somebody who may decide on it");
            return Ok(None);
        }
        if !self.asks {
            let nb = &self.notebook;
            print::note(format!("this waits for a yes or no: notarium confirm {nb} --yes {id}   (or --deny {id})"));
            return Ok(None);
        }
        self.forget_typed().await;
        eprint!("confirm? [y]es, [n]o, [q]uit: ");
        Ok(Some(Question { waiting, is_no: false }))
    }

    /// What was typed before a question is no answer to it.
    async fn forget_typed(&mut self) {
        let mut is_any = false;
        while let Ok(Some(_)) = tokio::time::timeout(QUIET, typed(&mut self.lines)).await {
            is_any = true;
        }
        if is_any {
            print::note("(what was typed before is no answer to this)");
        }
    }

    /// What was typed is the answer to what is asked.
    async fn answered(&mut self, questions: &mut Questions, line: Option<String>, screen: &mut Screen) -> Ended {
        let Some(question) = &mut questions.asked else { return Ok(()) };
        let left = || Failure::failed("left: the call waits for `notarium confirm`, and the assistant for the call");
        let line = line.ok_or_else(left)?;
        let (notebook, call) = (&question.waiting.notebook, &question.waiting.call);
        let decided = match line.trim() {
            reason if question.is_no => confirm::say_no(&self.client, notebook, &call.id, reason).await,
            "y" | "yes" => confirm::say_yes(&self.client, notebook, &call.id, call.arguments_hash).await,
            "n" | "no" => {
                eprint!("why not? (the assistant is told) ");
                question.is_no = true;
                return Ok(());
            }
            "q" | "quit" => return Err(left()),
            _ => {
                eprint!("confirm? [y]es, [n]o, [q]uit: ");
                return Ok(());
            }
        };
        if let Err(failure) = decided {
            screen.note(&print::clean_block(&failure.message))?;
        }
        questions.asked = None;
        self.ask_next(questions, screen).await
    }
}

/// Whether the event tells that the assistant did something that can be undone.
fn changes(event: &Value) -> bool {
    let tool = || Tool::find(event["tool_name"].as_str().unwrap_or_default());
    event["type"] == "tool_result"
        && event["is_error"] != true
        && tool().is_some_and(|tool| tool.operation == Operation::Edit)
}

/// The next line that is typed; `None`: no more. What is typed ahead waits. Cancel safe.
async fn typed(lines: &mut Option<mpsc::Receiver<String>>) -> Option<String> {
    let lines = lines.get_or_insert_with(|| {
        let (sender, receiver) = mpsc::channel(16);
        // A thread of its own: the program does not wait for a line that nobody types.
        std::thread::spawn(move || {
            for line in std::io::stdin().lines() {
                if line.map(|line| sender.blocking_send(line)).is_err() {
                    return;
                }
            }
        });
        receiver
    });
    lines.recv().await
}
