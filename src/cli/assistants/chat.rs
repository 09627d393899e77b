//! `chat`: asks an assistant, streams its answer and calls, and asks for confirmations.

mod question;
mod turn;

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use notarium_core::tools::Tool;
use notarium_core::{Attachment, CellId, ConversationId, Operation, ToolCallId};
use notarium_wire::rest::{Answer, Question, WaitingCall};
use serde_json::{Value, json};
use turn::{Screen, TurnResult, TurnStream};

use crate::cli::connection::client::NotebookClient;
use crate::cli::connection::find::People;
use crate::cli::terminal::input::{self, Interrupts, Typing};
use crate::cli::terminal::print::{self, style};
use crate::cli::{Ended, Failure, assistants};

/// Silence before a question is asked: input before it was typed without seeing the question.
const QUIET: Duration = Duration::from_millis(200);

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  notarium chat analysis 'make a summary table of the losses and plot it'
  notarium chat analysis                    # asks you, again and again, in one conversation
  notarium chat analysis --conversation last 'and now per month'
  git diff | notarium chat analysis
  notarium chat analysis --attach plot.png 'why does the loss rise here?'
  notarium chat analysis --cell 01J…        # a prompt cell: its answer is kept with it
  notarium chat analysis --again            # your last question, when its answer failed or was stopped
Without --conversation each command begins a new conversation.
What it says goes to standard output, what it does to standard error. What destroys something waits for a yes or no: on a
terminal you are asked, elsewhere it waits for `notarium confirm`. Ctrl-C stops the assistant; a second Ctrl-C leaves it.
Exit code: 0 it has answered, 1 it failed, 130 it was stopped.")]
pub struct ChatArgs {
    /// Message. Absent: a line at a time from the terminal, or all of standard input.
    text: Option<String>,
    /// Instead: what a prompt cell says. The answer stays with the cell.
    #[arg(long, value_name = "CELL", conflicts_with = "text")]
    cell: Option<String>,
    /// Instead: your last question once more, with what went with it, in its conversation. Its answer must have failed, or
    /// have been stopped.
    #[arg(long, conflicts_with_all = ["text", "cell", "attach"])]
    again: bool,
    /// Go on in this conversation: an id, `last` for your latest one in this notebook, `new` for a new one.
    #[arg(long, value_name = "ID", default_value = "new")]
    conversation: String,
    /// One of the models that the server has. Absent: its default.
    #[arg(long)]
    model: Option<String>,
    /// A picture (PNG, JPEG, GIF, WebP) or a file of text that goes with what you say first; may be repeated.
    #[arg(long, value_name = "FILE")]
    attach: Vec<PathBuf>,
    /// Every event as it comes, in JSON, one a line; nothing is asked.
    #[arg(long)]
    json: bool,
}

pub async fn chat(args: ChatArgs, notebook: NotebookClient) -> Ended {
    let conversation = conversation(&notebook, &args.conversation).await?;
    let mut chat = Chat { conversation, model: args.model, ..Chat::new(notebook) };
    if args.json {
        (chat.as_json, chat.asks) = (true, false);
    }
    for file in &args.attach {
        let attachment = question::upload(&chat.notebook, file).await?;
        chat.attachments.push(attachment);
    }
    if args.again {
        return chat.ask_again().await;
    }
    match (args.cell, args.text) {
        (Some(name), _) => {
            let cell_id = chat.notebook.cell(&name).await?;
            chat.ask(None, Some(cell_id)).await
        }
        (None, Some(text)) => chat.ask(Some(text), None).await,
        (None, None) if chat.asks => chat.converse().await,
        (None, None) => chat.ask(Some(input::text(Path::new("-")).await?), None).await,
    }
}

/// The conversation to continue; `None`: a new one.
async fn conversation(notebook: &NotebookClient, wanted: &str) -> Result<Option<ConversationId>, Failure> {
    match wanted {
        "new" => Ok(None),
        "last" => {
            let last = question::last_turn(notebook, None).await?;
            let none = "you have no conversation here yet: leave --conversation out to begin one";
            last.map(|turn| Some(turn.conversation_id)).ok_or_else(|| Failure::failed(none))
        }
        id => id.parse().map(Some).map_err(|error| Failure::usage(format!("--conversation: {error}"))),
    }
}

/// A call about which this user is asked.
struct AskedCall {
    waiting: WaitingCall,
    /// The user said no, and is asked for the reason.
    is_no: bool,
}

/// Calls of a turn that wait for this user: one is asked about, the others queue in order of arrival.
#[derive(Default)]
struct CallQuestions {
    asked: Option<AskedCall>,
    behind: VecDeque<ToolCallId>,
}

impl CallQuestions {
    fn is_asked(&self, id: &str) -> bool {
        self.asked.as_ref().is_some_and(|asked| asked.waiting.call.id.as_str() == id)
    }

    fn add(&mut self, id: ToolCallId) {
        if !self.is_asked(id.as_str()) && !self.behind.contains(&id) {
            self.behind.push_back(id);
        }
    }

    /// Removes a decided call; returns true if it was the one being asked about.
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
    notebook: NotebookClient,
    conversation: Option<ConversationId>,
    model: Option<String>,
    /// Attachments of the next question.
    attachments: Vec<Attachment>,
    as_json: bool,
    /// A person is at a terminal.
    asks: bool,
    /// Input of the terminal, read from the first question on.
    typing: Typing,
    people: People,
}

impl Chat {
    /// A new conversation in text; a person at the terminal is asked for confirmations.
    pub fn new(notebook: NotebookClient) -> Self {
        Self {
            people: People::new(&notebook.client),
            notebook,
            conversation: None,
            model: None,
            attachments: Vec::new(),
            as_json: false,
            asks: input::is_terminal(),
            typing: Typing::default(),
        }
    }

    /// Asks questions until the end of the input.
    pub async fn converse(&mut self) -> Ended {
        loop {
            eprint!("> ");
            let line = tokio::select! {
                line = self.typing.line() => line,
                _ = tokio::signal::ctrl_c() => None,
            };
            let Some(line) = line else {
                eprintln!();
                return Ok(());
            };
            if line.trim().is_empty() {
                continue;
            }
            if let Err(failure) = self.ask(Some(line), None).await {
                failure.report();
            }
        }
    }

    async fn ask_again(&mut self) -> Ended {
        let asked = question::last_question(&self.notebook, self.conversation.as_ref()).await?;
        self.conversation = Some(asked.conversation);
        self.attachments = asked.attachments;
        self.ask(asked.text, asked.cell_id).await
    }

    /// Asks a question or runs a prompt cell, and follows the answer to its end.
    pub async fn ask(&mut self, text: Option<String>, cell_id: Option<CellId>) -> Ended {
        let (conversation, model) = (self.conversation.clone(), self.model.clone());
        let attachments = std::mem::take(&mut self.attachments);
        let question = Question { text, cell_id, conversation, model, turn: None, attachments };
        let interrupts = Interrupts::listen();
        let request = self.notebook.client.change_once(&self.notebook.path("/chat")).json(&question);
        let stream = TurnStream::new(self.notebook.clone(), self.notebook.client.send(request).await?);
        match self.follow(stream, interrupts).await? {
            TurnResult::Done => Ok(()),
            TurnResult::Cancelled => Err(Failure::interrupted("the assistant was stopped; what it did stays")),
            TurnResult::Failed(cause) => Err(Failure::failed(cause)),
        }
    }

    async fn follow(&mut self, mut stream: TurnStream, mut interrupts: Interrupts) -> Result<TurnResult, Failure> {
        let mut screen = Screen::new(self.as_json);
        let (mut questions, mut is_stopped, mut has_changed) = (CallQuestions::default(), false, false);
        loop {
            tokio::select! {
                event = stream.next() => {
                    let Some(event) = event? else {
                        return Err(Failure::connection("the server sent no end of the answer: see `notarium log`"));
                    };
                    let end = screen.show(&event)?;
                    self.take(&event, &mut questions, &mut screen).await?;
                    has_changed |= changes(&event);
                    if let Some(end) = end {
                        screen.end_line()?;
                        if has_changed && !self.as_json {
                            let (nb, turn) = (&self.notebook.id, stream.turn());
                            print::note(style(format!("undo all of it: notarium undo {nb} --turn {turn}")).dim());
                        }
                        return Ok(end);
                    }
                }
                line = self.typing.line(), if questions.asked.is_some() => {
                    self.answered(&mut questions, line, &mut screen).await?;
                }
                () = interrupts.next() => {
                    screen.end_line()?;
                    if std::mem::replace(&mut is_stopped, true) || stream.turn().is_empty() {
                        return Err(Failure::interrupted("left; `notarium log` shows what the assistant still does"));
                    }
                    let cancel = format!("/turns/{}/cancel", stream.turn());
                    self.notebook.post::<Answer>(&cancel, &json!({})).await?;
                }
            }
        }
    }

    /// Updates the conversation and the open questions by an event.
    async fn take(&mut self, event: &Value, questions: &mut CallQuestions, screen: &mut Screen) -> Ended {
        match event["type"].as_str().unwrap_or_default() {
            "turn" => {
                let id = event["conversation_id"].as_str().and_then(|id| id.parse().ok());
                if let Some(id) = id.filter(|_| self.conversation.is_none()) {
                    if !self.as_json {
                        screen.note(&style(format!("conversation {id}")).dim().to_string())?;
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
                    let decider = serde_json::from_value(event["decided_by"].clone()).ok();
                    let who = match decider {
                        Some(actor) => self.people.name(&actor).await,
                        None => "somebody else".to_owned(),
                    };
                    screen.note(&format!("{who} was faster: it is decided"))?;
                    self.ask_next(questions, screen).await?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Asks about the next call once the previous one is decided.
    async fn ask_next(&mut self, questions: &mut CallQuestions, screen: &mut Screen) -> Ended {
        while questions.asked.is_none()
            && let Some(id) = questions.behind.pop_front()
        {
            questions.asked = self.asked(&id, screen).await?;
        }
        Ok(())
    }

    /// Shows a waiting call, and asks about it if this user may decide.
    async fn asked(&mut self, id: &ToolCallId, screen: &mut Screen) -> Result<Option<AskedCall>, Failure> {
        let Some((waiting, may_decide)) = assistants::in_full(&self.notebook, id).await? else {
            return Ok(None);
        };
        screen.end_line()?;
        let who = self.people.name(&waiting.call.requested_by).await;
        assistants::show_waiting(&waiting, &who)?;
        if !may_decide {
            print::note("this waits for somebody who may decide on it");
            return Ok(None);
        }
        if !self.asks {
            let nb = &self.notebook.id;
            print::note(format!("this waits for a yes or no: notarium confirm {nb} --yes {id}   (or --deny {id})"));
            return Ok(None);
        }
        self.forget_typed().await;
        eprint!("confirm? [y]es, [n]o, [q]uit: ");
        Ok(Some(AskedCall { waiting, is_no: false }))
    }

    /// Discards input from before a question.
    async fn forget_typed(&mut self) {
        let mut is_any = false;
        while let Ok(Some(_)) = tokio::time::timeout(QUIET, self.typing.line()).await {
            is_any = true;
        }
        if is_any {
            print::note("(what was typed before is no answer to this)");
        }
    }

    /// Takes a line as the answer to the open question.
    async fn answered(&mut self, questions: &mut CallQuestions, line: Option<String>, screen: &mut Screen) -> Ended {
        let Some(question) = &mut questions.asked else { return Ok(()) };
        let left = || Failure::failed("left: the call waits for `notarium confirm`, and the assistant for the call");
        let line = line.ok_or_else(left)?;
        let (notebook, call) = (&self.notebook, &question.waiting.call);
        let decided = match line.trim() {
            reason if question.is_no => assistants::say_no(notebook, &call.id, reason).await,
            "y" | "yes" => assistants::say_yes(notebook, &call.id, call.arguments_hash).await,
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

/// True if this event is the assistant's successful edit, which can be undone.
fn changes(event: &Value) -> bool {
    let tool = || Tool::find(event["tool_name"].as_str().unwrap_or_default());
    event["type"] == "tool_result"
        && event["is_error"] != true
        && tool().is_some_and(|tool| tool.operation == Operation::Edit)
}
