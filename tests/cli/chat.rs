//! Tests of `notarium chat` and `notarium confirm`, at a terminal and elsewhere. The test carries out the turns.

use notarium_assistant::host::NotebookHost;
use notarium_core::{
    Actor, Command, ConversationId, MessageBlock, MessageRole, NotebookId, RawObject, RequestToolCall, StopReason,
    ToolCallId, ToolCallPhase, TurnEnd, TurnFailure, TurnId, Usage,
};
use notarium_server::AssistantHost;
use notarium_wire::{ActivityKind, TurnActivity};
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;

use super::support::{Lines, Words, World, ended, interrupt};

/// Behaviour of the assistant.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Does {
    Talk,
    TalkForEver,
    /// Deletes every cell, with calls of one message that start one after the other.
    Delete,
    Fail,
}

/// Carries out the turns of anybody who asks, one after the other.
pub struct Driver {
    host: AssistantHost,
    notebook: NotebookId,
    does: Does,
}

/// The current turn.
struct Turn {
    id: TurnId,
    conversation: ConversationId,
    actor: Actor,
    model_call: u32,
}

impl Driver {
    pub fn start(world: &World, notebook: &str, does: Does) -> tokio::task::JoinHandle<()> {
        let host = world.server.as_ref().unwrap().assistant_host();
        let mut driver = Self { host, notebook: notebook.parse().unwrap(), does };
        tokio::spawn(async move {
            loop {
                if let Some(turn) = driver.unanswered().await {
                    driver.answer(turn).await;
                }
                if driver.host.next_notice().await.is_none() {
                    return;
                }
            }
        })
    }

    async fn unanswered(&self) -> Option<Turn> {
        let state = self.host.read(&self.notebook).await.ok()?.document;
        let (id, turn) = state.turns.iter().find(|(_, turn)| turn.model_calls == 0)?;
        let Actor::User { id: person } = &turn.requested_by else { return None };
        let conversation = turn.conversation_id.clone();
        let actor = Actor::Assistant { for_user: person.clone(), conversation: conversation.clone() };
        Some(Turn { id: id.clone(), conversation, actor, model_call: 0 })
    }

    async fn act(&self, turn: &Turn, command: Command) {
        self.host.execute(&turn.actor, &self.notebook, &command).await.unwrap();
    }

    async fn say(&self, turn: &mut Turn, words: &[&str]) {
        turn.model_call += 1;
        let (provider, model) = ("scripted".to_owned(), "one".to_owned());
        self.act(turn, Command::StartModelCall { turn_id: turn.id.clone(), provider, model }).await;
        for word in words {
            let activity = TurnActivity {
                conversation_id: turn.conversation.clone(),
                turn_id: turn.id.clone(),
                model_call: turn.model_call,
                attempt: 1,
                what: ActivityKind::TextDelta { block: 0, text: (*word).to_owned() },
            };
            self.host.publish(&self.notebook, activity);
        }
    }

    async fn post(&self, turn: &Turn, role: MessageRole, blocks: Vec<MessageBlock>) {
        if role == MessageRole::Assistant {
            let usage = Usage { input_tokens: 7, output_tokens: 3, estimated: false, ..Usage::default() };
            self.act(turn, Command::ReportModelCall { turn_id: turn.id.clone(), failure: None, detail: None, usage })
                .await;
        }
        self.act(turn, Command::PostReply { turn_id: turn.id.clone(), role, blocks }).await;
    }

    async fn answer(&mut self, mut turn: Turn) {
        match self.does {
            Does::Talk => {
                self.say(&mut turn, &["Hello ", "world"]).await;
                self.post(&turn, MessageRole::Assistant, vec![text("Hello world")]).await;
            }
            Does::TalkForEver => return self.say(&mut turn, &["begun\n"]).await,
            Does::Delete => self.delete(&mut turn).await,
            Does::Fail => {
                let end =
                    TurnEnd::Failed { cause: TurnFailure::WrongKey, detail: Some("the key was refused".to_owned()) };
                return self.act(&turn, Command::EndTurn { turn_id: turn.id.clone(), end }).await;
            }
        }
        let end = TurnEnd::Finished(StopReason::EndTurn);
        self.act(&turn, Command::EndTurn { turn_id: turn.id.clone(), end }).await;
    }

    async fn delete(&mut self, turn: &mut Turn) {
        self.say(turn, &["I delete it"]).await;
        let state = self.host.read(&self.notebook).await.unwrap().document;
        let calls: Vec<ToolCallId> = state.order.iter().map(|_| ulid::Ulid::generate().into()).collect();
        let blocks = calls.iter().map(|call_id| MessageBlock::ToolCall {
            provider_id: call_id.to_string(),
            call_id: call_id.clone(),
            function: "delete_cell".to_owned(),
            arguments: "{}".to_owned(),
            extra: None,
        });
        let blocks = std::iter::once(text("I delete it")).chain(blocks).collect();
        self.post(turn, MessageRole::Assistant, blocks).await;
        let mut before = None;
        for (cell, call_id) in state.order.iter().zip(&calls) {
            let arguments = json!({"cell_id": cell, "cell_version": state.cells[cell].cell_version});
            let request = Command::RequestToolCall(RequestToolCall {
                call_id: Some(call_id.clone()),
                turn_id: Some(turn.id.clone()),
                function: "delete_cell".to_owned(),
                arguments: RawObject::parse(&arguments.to_string()).unwrap(),
                after: before.replace(call_id.clone()),
                conversation_title: None,
                token: None,
            });
            self.act(turn, request).await;
        }
        let (mut results, mut is_any) = (Vec::new(), false);
        for call_id in calls {
            let is_confirmed = self.decided(&call_id).await;
            if is_confirmed {
                self.act(turn, Command::StartToolCall { call_id: call_id.clone() }).await;
            }
            is_any |= is_confirmed;
            let (provider_id, text) = (call_id.to_string(), Some("over".to_owned()));
            results.push(MessageBlock::ToolResult { provider_id, call_id, text, is_error: !is_confirmed });
        }
        self.post(turn, MessageRole::Tool, results).await;
        let words = if is_any { "It is gone" } else { "I leave it" };
        self.say(turn, &[words]).await;
        self.post(turn, MessageRole::Assistant, vec![text(words)]).await;
    }

    async fn decided(&mut self, call_id: &ToolCallId) -> bool {
        loop {
            let state = self.host.read(&self.notebook).await.unwrap().document;
            match state.tool_calls.get(call_id).map(|call| &call.phase) {
                Some(ToolCallPhase::Confirmed { .. }) => return true,
                None => return false,
                Some(_) => _ = self.host.next_notice().await,
            }
        }
    }
}

fn text(text: &str) -> MessageBlock {
    MessageBlock::Text { text: text.to_owned() }
}

pub async fn type_in(child: &mut tokio::process::Child, words: &str) {
    child.stdin.as_mut().unwrap().write_all(words.as_bytes()).await.unwrap();
}

async fn cells(world: &World, nb: &str) -> usize {
    world.run(&["show", nb, "--json"]).await.json()["notebook"]["cells"].as_object().unwrap().len()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_goes_to_standard_output_and_a_conversation_goes_on() {
    let world = World::with_assistants().await;
    let (nb, _) = world.notebook("Work", "x").await;
    let _driver = Driver::start(&world, &nb, Does::Talk);
    let first = world.run(&["chat", &nb, "hi"]).await;
    assert_eq!(first.out, "Hello world\n", "{first:?}");
    assert!(first.err.contains("conversation "), "{}", first.err);
    let piped = world.run_with(&["chat", &nb, "--conversation", "last"], "and now?\n").await;
    assert_eq!(piped.ok(), "Hello world");
    let raw = world.run(&["chat", &nb, "hi", "--json", "--model", "one"]).await.ok();
    let events: Vec<Value> = raw.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((&events[0]["type"], &events[0]["model"]), (&json!("turn"), &json!("one")));
    assert_eq!(events.last().unwrap()["stop_reason"], "end_turn");
    let conversations = world.run(&["chat", &nb, "hi", "--conversation", "a b"]).await.fails(2);
    assert!(conversations.contains("--conversation"), "{conversations}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_log_of_a_turn_has_what_the_turn_did_and_nothing_else() {
    let world = World::with_assistants().await;
    let (nb, _) = world.notebook("Work", "x").await;
    let _driver = Driver::start(&world, &nb, Does::Talk);
    world.run(&["chat", &nb, "hi"]).await.ok();
    world.run(&["chat", &nb, "again"]).await.ok();
    let events =
        |text: String| -> Vec<Value> { text.lines().map(|line| serde_json::from_str(line).unwrap()).collect() };
    let whole = events(world.run(&["log", &nb, "--json"]).await.ok());
    let turns: Vec<&str> = whole
        .iter()
        .filter(|event| event["type"] == "TurnStarted")
        .filter_map(|event| event["payload"]["turn_id"].as_str())
        .collect();
    let [first, second] = turns[..] else { panic!("{whole:#?}") };
    let of_turn = events(world.run(&["log", &nb, "--turn", first, "--json"]).await.ok());
    let types: Vec<&str> = of_turn.iter().filter_map(|event| event["type"].as_str()).collect();
    for name in ["TurnStarted", "TurnModelCallStarted", "MessagePosted", "TurnFinished"] {
        assert!(types.contains(&name), "{name}: {types:?}");
    }
    assert!(of_turn.iter().all(|event| !event.to_string().contains(second)), "{of_turn:#?}");
    let both = events(world.run(&["log", &nb, "--turn", second, "--type", "TurnFinished", "--json"]).await.ok());
    assert_eq!(both.len(), 1, "{both:#?}");
    let none = world.run(&["log", &nb, "--turn", "01M8JBKVFMHGFSWQX4JM8EPXKZ"]).await;
    assert!(none.err.contains("--turn 01M8JBKVFMHGFSWQX4JM8EPXKZ"), "it says what found nothing: {none:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn failures_and_servers_without_assistants_say_what_is_wrong() {
    let world = World::with_assistants().await;
    let (nb, _) = world.notebook("Work", "x").await;
    let _driver = Driver::start(&world, &nb, Does::Fail);
    let failed = world.run(&["chat", &nb, "hi"]).await.fails(1);
    assert!(failed.contains("the key was refused"), "{failed}");
    let none = world.run(&["chat", &nb, "hi", "--conversation", "last"]).await;
    assert_eq!(none.code, 1);
    let without = World::start().await;
    let (nb, _) = without.notebook("Work", "x").await;
    let refused = without.run(&["chat", &nb, "hi"]).await.fails(1);
    assert!(refused.contains("no assistant is set up"), "{refused}");
    let last = without.run(&["chat", &nb, "hi", "--conversation", "last"]).await.fails(1);
    assert!(last.contains("no conversation here yet"), "{last}");
}

#[tokio::test(flavor = "multi_thread")]
async fn ctrl_c_stops_the_assistant() {
    let world = World::with_assistants().await;
    let (nb, _) = world.notebook("Work", "x").await;
    let _driver = Driver::start(&world, &nb, Does::TalkForEver);
    let mut child = world.spawn(&["chat", &nb, "talk"]);
    let mut lines = Lines::of(child.stdout.take().unwrap());
    lines.until("begun").await;
    interrupt(&child);
    let stopped = ended(child).await;
    assert_eq!(stopped.code, 130);
    assert!(stopped.err.contains("(stopped)"), "{}", stopped.err);
    let turns = world.server.as_ref().unwrap().assistant_host().read(&nb.parse().unwrap()).await.unwrap().document;
    assert!(turns.turns.is_empty(), "it was stopped");
    let log = world.run(&["log", &nb]).await.ok();
    assert!(log.contains("posted a message (assistant, stopped before its end)"), "{log}");
}

/// Returns the texts of a conversation's messages, oldest first, and true for partial ones.
async fn talk(world: &World, nb: &str) -> Vec<(String, bool)> {
    let record = world.run(&["log", nb, "--json"]).await.ok();
    let posted = record.lines().filter_map(|line| {
        let event: Value = serde_json::from_str(line).unwrap();
        let payload = &event["payload"];
        let text = payload["blocks"][0]["text"]["text"].as_str()?.to_owned();
        (event["type"] == "MessagePosted").then_some((text, payload["is_partial"] == true))
    });
    posted.collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_whose_answer_failed_or_was_stopped_is_asked_again() {
    let world = World::with_assistants().await;
    let (nb, _) = world.notebook("Work", "x").await;
    let nothing = world.run(&["chat", &nb, "--again"]).await.fails(1);
    assert!(nothing.contains("you have asked nothing here yet"), "{nothing}");
    let driver = Driver::start(&world, &nb, Does::TalkForEver);
    let mut child = world.spawn(&["chat", &nb, "what is x?"]);
    Lines::of(child.stdout.take().unwrap()).until("begun").await;
    let busy = world.run(&["chat", &nb, "--again"]).await.fails(1);
    assert!(busy.contains("still at work"), "{busy}");
    interrupt(&child);
    assert_eq!(ended(child).await.code, 130);
    driver.abort();
    let failing = Driver::start(&world, &nb, Does::Fail);
    world.run(&["chat", &nb, "--again"]).await.fails(1);
    failing.abort();
    let _driver = Driver::start(&world, &nb, Does::Talk);
    assert_eq!(world.run(&["chat", &nb, "--again"]).await.ok(), "Hello world");
    let question = || ("what is x?".to_owned(), false);
    let said = [question(), ("begun\n".to_owned(), true), question(), question(), ("Hello world".to_owned(), false)];
    assert_eq!(talk(&world, &nb).await, said);
    let answered = world.run(&["chat", &nb, "--again"]).await.fails(1);
    assert!(answered.contains("was answered"), "{answered}");
    let conversations = world.run(&["log", &nb]).await.ok();
    assert_eq!(conversations.matches("began the conversation").count(), 1, "{conversations}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_deletion_is_asked_about_at_the_terminal() {
    for (answers, said, left) in [(&["y\n"][..], "It is gone", 0), (&["n\n", "I need it\n"][..], "I leave it", 1)] {
        let world = World::with_assistants().await;
        let (nb, _) = world.notebook("Work", "precious = 1").await;
        let _driver = Driver::start(&world, &nb, Does::Delete);
        let mut child = world.spawn_at_terminal(&["chat", &nb, "delete it"]);
        let mut words = Words::of(child.stdout.take().unwrap());
        let shown = words.until("[q]uit: ").await;
        for part in ["I delete it", "delete_cell", "destructive", "precious = 1"] {
            assert!(shown.contains(part), "{part}: {shown}");
        }
        type_in(&mut child, answers[0]).await;
        for answer in &answers[1..] {
            words.until("why not?").await;
            type_in(&mut child, answer).await;
        }
        words.until(said).await;
        let undo = (left == 0).then_some("undo all of it: notarium undo ");
        let hint = match undo {
            Some(hint) => words.until(hint).await + &words.until("\n").await,
            None => String::new(),
        };
        assert!(child.wait().await.unwrap().success());
        assert_eq!(cells(&world, &nb).await, left);
        let listed = world.run(&["calls", &nb]).await.ok();
        assert!(listed.contains("7 + 3"), "the tokens of the model call: {listed}");
        if let Some((_, turn)) = hint.trim().rsplit_once("--turn ") {
            let turn: String = turn.chars().take_while(char::is_ascii_alphanumeric).collect();
            assert!(listed.contains(&turn), "{turn}: {listed}");
            world.run(&["undo", &nb, "--turn", &turn]).await.ok();
            assert_eq!(sources(&world, &nb).await, ["precious = 1"]);
        } else {
            assert_eq!(left, 1, "what changed something can be undone: {hint}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_prompt_cell_is_answered_and_keeps_its_reply() {
    let world = World::with_assistants().await;
    let (nb, _) = world.notebook("Work", "x").await;
    let _driver = Driver::start(&world, &nb, Does::Talk);
    let cell = world.run(&["cell", "add", &nb, "--type", "prompt", "--source", "Say hello"]).await.ok();
    let cell = cell.split_whitespace().last().unwrap().to_owned();
    assert_eq!(world.run(&["chat", &nb, "--cell", &cell]).await.ok(), "Hello world");
    let shown = world.run(&["show", &nb]).await.ok();
    assert!(shown.contains("│ Hello world"), "{shown}");
    let both = world.run(&["chat", &nb, "hi", "--cell", &cell]).await.fails(2);
    assert!(both.contains("--cell"), "{both}");
    let none = world.run(&["chat", &nb, "--cell", "nowhere"]).await;
    assert_ne!(none.code, 0);
}

/// Returns the remaining sources, in order.
async fn sources(world: &World, nb: &str) -> Vec<String> {
    let state = world.run(&["show", nb, "--json"]).await.json()["notebook"].clone();
    let order = state["order"].as_array().unwrap().iter();
    order.map(|id| state["cells"][id.as_str().unwrap()]["source"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn calls_of_one_message_are_asked_about_one_after_the_other() {
    let world = World::with_assistants().await;
    let (nb, _) = world.notebook("Work", "first = 1").await;
    world.run(&["cell", "add", &nb, "--source", "second = 2"]).await.ok();
    let _driver = Driver::start(&world, &nb, Does::Delete);
    let mut child = world.spawn_at_terminal(&["chat", &nb, "delete them"]);
    let mut words = Words::of(child.stdout.take().unwrap());
    let shown = words.until("[q]uit: ").await;
    assert!(shown.contains("first = 1") && !shown.contains("second = 2"), "{shown}");
    type_in(&mut child, "n\n").await;
    let shown = words.until("why not?").await;
    assert!(!shown.contains("second = 2"), "{shown}");
    type_in(&mut child, "I need it\n").await;
    let shown = words.until("[q]uit: ").await;
    assert!(shown.contains("second = 2") && !shown.contains("first = 1"), "{shown}");
    type_in(&mut child, "y\n").await;
    words.until("It is gone").await;
    assert!(child.wait().await.unwrap().success());
    assert_eq!(sources(&world, &nb).await, ["first = 1"]);
    let log = world.run(&["log", &nb, "--since", "0", "--json"]).await.ok();
    assert_eq!(log.matches("I need it").count(), 1, "the reason is kept: {log}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_typed_before_a_question_does_not_answer_it() {
    let world = World::with_assistants().await;
    let (nb, _) = world.notebook("Work", "first = 1").await;
    world.run(&["cell", "add", &nb, "--source", "second = 2"]).await.ok();
    let mut child = world.spawn_at_terminal(&["chat", &nb, "delete them"]);
    let mut words = Words::of(child.stdout.take().unwrap());
    words.until("conversation ").await;
    type_in(&mut child, "yes\n").await;
    words.until("yes\r\n").await;
    let _driver = Driver::start(&world, &nb, Does::Delete);
    let shown = words.until("[q]uit: ").await;
    assert!(shown.contains("first = 1") && shown.contains("no answer to this"), "{shown}");
    type_in(&mut child, "y\ny\n").await;
    let shown = words.until("[q]uit: ").await;
    assert!(shown.contains("second = 2") && shown.contains("no answer to this"), "{shown}");
    type_in(&mut child, "n\n").await;
    words.until("why not?").await;
    type_in(&mut child, "one is enough\n").await;
    words.until("It is gone").await;
    assert!(child.wait().await.unwrap().success());
    assert_eq!(sources(&world, &nb).await, ["second = 2"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn elsewhere_it_waits_for_the_confirm_command_which_asks_at_a_terminal() {
    let world = World::with_assistants().await;
    let (nb, _) = world.notebook("Work", "precious = 1").await;
    let _driver = Driver::start(&world, &nb, Does::Delete);
    let mut chat = world.spawn(&["chat", &nb, "delete it"]);
    let hint = Lines::of(chat.stderr.take().unwrap()).until("notarium confirm").await;
    assert!(hint.contains("--yes"), "{hint}");
    let mut confirm = world.spawn_at_terminal(&["confirm", &nb]);
    let mut words = Words::of(confirm.stdout.take().unwrap());
    let shown = words.until("[q]uit: ").await;
    assert!(shown.contains("precious = 1"), "{shown}");
    type_in(&mut confirm, "y\n").await;
    assert!(confirm.wait().await.unwrap().success());
    let chat = ended(chat).await;
    assert!(chat.ok().ends_with("It is gone"));
    assert_eq!(cells(&world, &nb).await, 0);
}
