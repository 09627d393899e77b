//! A turn against the real core, with a list of replies as the model: to its end, and with a restart before every single step.

use notarium_core::{ExplainedCause, TurnFailure};
use std::collections::BTreeMap;

use notarium_assistant::turn::{Live, Record, Step, ToolRequest, next};
use notarium_core::*;
use serde_json::{Value, json};

type Replies = Vec<Vec<MessageBlock>>;

/// A log, the process that runs the turn, and a person who confirms waiting calls.
struct World {
    notebook: Notebook,
    recorded: Vec<Recorded>,
    head: Head,
    now: Millis,
    live: Live,
    replies: Replies,
    steps: usize,
    /// True: executions fail.
    fails: bool,
    /// Result of executions.
    result: String,
    log: Vec<Stored>,
}

fn who(kind: &str) -> (Actor, Authority) {
    let ann: UserId = "ann".parse().unwrap();
    let person = Actor::User { id: ann.clone() };
    match kind {
        "ann" => (person, Authority::session()),
        _ => {
            let delegated = DelegatedAuthority(vec![(person, Authority::session())]);
            let authority = Authority { reactor: Some(delegated), ..Authority::session() };
            (Actor::Assistant { for_user: ann, conversation: "talk".parse().unwrap() }, authority)
        }
    }
}

fn turn_id() -> TurnId {
    "turn".parse().unwrap()
}

impl World {
    fn new(replies: Replies) -> World {
        let id: NotebookId = "nb".parse().unwrap();
        let mut world = World {
            notebook: Notebook::new(id),
            recorded: Vec::new(),
            head: Head::START,
            now: 1_000_000,
            live: Live::new("instance".parse().unwrap()),
            replies,
            steps: 0,
            fails: false,
            result: "done".to_owned(),
            log: Vec::new(),
        };
        world.person(json!({"CreateNotebook": {"title": "First"}}));
        world.person(json!({"InsertCell": {"cell_id": "a", "cell_type": "code", "source": "x = 1"}}));
        world.person(json!({"StartTurn": {"conversation_id": "talk", "turn_id": "turn", "text": "Tidy up"}}));
        world
    }

    fn submit(&mut self, kind: &str, command: Command) -> Result<(), Rejection> {
        self.now += 1;
        let (actor, authority) = who(kind);
        let id = format!("command-{}", self.now);
        let mut seed = [7; 32];
        seed[..8].copy_from_slice(&self.now.to_be_bytes());
        let judgement = required_judgement(&self.notebook, &command).map(Judgement::of);
        let mut context = Context {
            now: self.now,
            instance: self.live.instance.clone(),
            actor,
            authority,
            command_id: id.parse().unwrap(),
            correlation_id: id.parse().unwrap(),
            causation_id: None,
            expected_version: None,
            head_hash: notarium_core::Head::START.hash,
            ids: IdSource::new(self.now, seed),
            history: History { judgement, ..History::of(self.recorded.clone()) },
            past: None,
            redaction: None,
            account_status: Default::default(),
            away: Default::default(),
            unreachable: Default::default(),
            holding_kernelspecs: ["python3".to_owned()].into(),
            agent_labels: Default::default(),
            run_effects: None,
            unposted: Default::default(),
            limits: Limits::default(),
        };
        let decision = decide(&self.notebook, &mut context, command)?;
        for stored in seal(&mut self.head, &self.notebook.notebook_id, &mut context, &decision.events).unwrap() {
            let recorded = stored.typed().unwrap();
            self.notebook.apply(&recorded);
            self.recorded.push(recorded);
            self.log.push(stored);
        }
        Ok(())
    }

    fn person(&mut self, command: Value) {
        self.submit("ann", serde_json::from_value(command).unwrap()).unwrap();
    }

    fn reactor(&mut self, command: Command) {
        self.submit("it", command).unwrap();
    }

    fn record(&self) -> Record {
        let mut record = Record::default();
        self.recorded.iter().for_each(|recorded| record.see(&turn_id(), recorded));
        record
    }

    /// Does the next step. False: the turn is over.
    fn step(&mut self) -> bool {
        self.steps += 1;
        assert!(self.steps < 500, "the turn goes round in circles");
        let turn_id = turn_id();
        match next(&turn_id, &self.notebook, &self.record(), &self.live) {
            Step::Done => return false,
            Step::Wait => self.others_act(),
            Step::CallModel => {
                if self.notebook.turns[&turn_id].model_call_claimant.is_none() {
                    let (provider, model) = ("scripted".to_owned(), "small".to_owned());
                    self.reactor(Command::StartModelCall { turn_id, provider, model });
                }
                self.live.is_calling_model = true;
            }
            Step::LoseModelCall => {
                let failure = Some(TurnFailure::ServerStopped);
                self.reactor(Command::ReportModelCall { turn_id, failure, detail: None, usage: Usage::default() });
            }
            Step::Request(ToolRequest { call_id, function, arguments, after }) => {
                let request = Command::RequestToolCall(RequestToolCall {
                    call_id: Some(call_id.clone()),
                    turn_id: Some(turn_id),
                    function,
                    arguments,
                    after,
                    conversation_title: None,
                    token: None,
                });
                if let Err(rejection) = self.submit("it", request) {
                    self.live.refused.insert(call_id, rejection.message);
                }
            }
            Step::Start(call_id) => {
                self.reactor(Command::StartToolCall { call_id: call_id.clone() });
                if self.notebook.tool_calls.contains_key(&call_id) {
                    self.live.executing.insert(call_id);
                }
            }
            Step::Resume(call_id) => _ = self.live.executing.insert(call_id),
            Step::Lose(call_id) => self.report(call_id, ToolCallEnd::OutcomeUnknown),
            Step::PostResults(blocks) => {
                self.reactor(Command::PostReply { turn_id, role: MessageRole::Tool, blocks });
            }
            Step::End(end) => self.reactor(Command::EndTurn { turn_id, end }),
        }
        true
    }

    fn report(&mut self, call_id: ToolCallId, end: ToolCallEnd) {
        self.live.executing.remove(&call_id);
        let result = self.result.clone();
        self.reactor(Command::ReportToolCall { call_id, end, result });
    }

    /// Acts for the awaited party: the model answers, an executor reports, or a person confirms.
    fn others_act(&mut self) {
        if self.live.is_calling_model {
            self.live.is_calling_model = false;
            let number = self.notebook.turns[&turn_id()].model_calls as usize;
            let reply = self.replies.get(number - 1).or(self.replies.last()).unwrap();
            let blocks = renamed(reply, number);
            let turn_id = turn_id();
            let usage = Usage::default();
            self.reactor(Command::ReportModelCall { turn_id: turn_id.clone(), failure: None, detail: None, usage });
            self.reactor(Command::PostReply { turn_id, role: MessageRole::Assistant, blocks });
            return;
        }
        if let Some(call_id) = self.live.executing.first().cloned() {
            let end = if self.fails { ToolCallEnd::Error } else { ToolCallEnd::Ok };
            return self.report(call_id, end);
        }
        let (id, hash) = self.notebook.tool_calls.iter().next().map(|(id, call)| (id, call.arguments_hash)).unwrap();
        self.person(json!({"ConfirmToolCall": {"call_id": id, "arguments_hash": hash}}));
    }

    /// Replaces the process: all state outside the log is lost.
    fn kill(&mut self) {
        self.live = Live::new(format!("instance-{}", self.steps).parse().unwrap());
    }

    fn types(&self) -> Vec<&'static str> {
        self.recorded.iter().map(|recorded| recorded.event.event_type()).collect()
    }

    /// Asserts that each call was started and ended once.
    fn check_once(&self) {
        let mut counts: BTreeMap<(&str, &ToolCallId), u32> = BTreeMap::new();
        for recorded in &self.recorded {
            let Some(call_id) = recorded.event.tool_call_id() else { continue };
            *counts.entry((recorded.event.event_type(), call_id)).or_default() += 1;
        }
        assert!(counts.values().all(|count| *count == 1), "{counts:?}");
    }

    /// The result in the event of a call's end.
    fn result_of(&self, call: &ToolCallId) -> String {
        let mut ends = self.recorded.iter().filter_map(|recorded| match &recorded.event {
            Event::ToolCallExecuted(event) if event.call_id == *call => Some(event.result.clone()),
            _ => None,
        });
        ends.next_back().unwrap()
    }

    fn results(&self) -> Vec<(String, bool)> {
        let results = self.recorded.iter().filter_map(|recorded| match &recorded.event {
            Event::MessagePosted(event) if event.role == MessageRole::Tool => Some(event.known_blocks()),
            _ => None,
        });
        let one = |block: &MessageBlock| match block {
            MessageBlock::ToolResult { text: Some(text), is_error, .. } => Some((text.clone(), *is_error)),
            MessageBlock::ToolResult { call_id, text: None, is_error, .. } => {
                Some((self.result_of(call_id), *is_error))
            }
            _ => None,
        };
        results.flatten().filter_map(one).collect()
    }
}

/// Gives the tool calls of each model call new ids.
fn renamed(reply: &[MessageBlock], number: usize) -> Vec<MessageBlock> {
    let mut blocks = reply.to_vec();
    for block in &mut blocks {
        if let MessageBlock::ToolCall { call_id, .. } = block {
            *call_id = format!("{call_id}-{number}").parse().unwrap();
        }
    }
    blocks
}

fn text(text: &str) -> MessageBlock {
    MessageBlock::Text { text: text.to_owned() }
}

fn call(id: &str, function: &str, arguments: &Value) -> MessageBlock {
    raw_call(id, function, &arguments.to_string())
}

fn raw_call(id: &str, function: &str, arguments: &str) -> MessageBlock {
    MessageBlock::ToolCall {
        provider_id: format!("p-{id}"),
        call_id: id.parse().unwrap(),
        function: function.to_owned(),
        arguments: arguments.to_owned(),
        extra: None,
    }
}

#[test]
fn a_large_result_stands_once_in_the_log_and_the_model_is_told_all_of_it() {
    let mut world =
        World::new(vec![vec![call("vars", "get_variables", &json!({}))], vec![text("I see."), text("That is all.")]]);
    world.result = "value ".repeat(17_000);
    run(&mut world);
    let size: usize = world.log.iter().map(|stored| stored.payload.get().len()).sum();
    assert!((102_000..110_000).contains(&size), "{size} bytes");
    let told = world.recorded.iter().find_map(|recorded| match &recorded.event {
        Event::MessagePosted(event) if event.role == MessageRole::Tool => Some(event.blocks.clone()),
        _ => None,
    });
    let mut told = told.unwrap();
    let missing: Vec<String> = missing_results(&told).collect();
    assert_eq!(missing, ["vars-1"]);
    CallResults::of(&world.log).fill(&mut told);
    let [Open::Known(MessageBlock::ToolResult { text: Some(text), is_error: false, .. })] = &told[..] else {
        panic!("{told:?}")
    };
    assert_eq!(*text, world.result);
}

/// Reads, writes, runs, uses the kernel, and deletes with a person's confirmation.
fn everything() -> Replies {
    let version = World::new(vec![vec![]]).notebook.cells.values().next().unwrap().cell_version;
    vec![
        vec![text("I look first."), call("read", "get_notebook_state", &json!({}))],
        vec![
            call("new", "create_cell", &json!({"source": "print('hello world')"})),
            call("run", "execute_cell", &json!({"cell_id": "a", "cell_version": version})),
            call("vars", "get_variables", &json!({})),
        ],
        vec![call("gone", "delete_cell", &json!({"cell_id": "a", "cell_version": version}))],
        vec![text("Done.")],
    ]
}

fn run(world: &mut World) {
    while world.step() {}
}

#[test]
fn a_turn_goes_from_model_to_tools_and_back_until_the_model_stops() {
    let mut world = World::new(everything());
    run(&mut world);
    world.check_once();
    assert_eq!(world.types().last(), Some(&"TurnFinished"));
    assert_eq!(world.types().iter().filter(|name| **name == "TurnModelCallStarted").count(), 4);
    assert!(!world.notebook.cells.contains_key(&"a".parse::<CellId>().unwrap()), "confirmed, and deleted");
    assert_eq!(world.results().len(), 5);
    assert!(world.results().iter().all(|(_, is_error)| !is_error), "{:?}", world.results());
}

#[test]
fn killed_before_any_step_it_goes_on_and_nothing_happens_twice() {
    let mut whole = World::new(everything());
    run(&mut whole);
    let mut outcomes = BTreeMap::new();
    for killed_at in 0..whole.steps {
        let mut world = World::new(everything());
        let mut is_going = true;
        while is_going {
            if world.steps == killed_at {
                world.kill();
            }
            is_going = world.step();
        }
        world.check_once();
        assert_eq!(world.types().last(), Some(&"TurnFinished"), "killed before step {killed_at}");
        let unknown = world.results().iter().filter(|(text, _)| text.starts_with("Nobody knows")).count();
        *outcomes.entry(unknown).or_insert(0) += 1;
        assert!(!world.notebook.cells.contains_key(&"a".parse::<CellId>().unwrap()), "killed before step {killed_at}");
    }
    // Reading calls are repeated, and runs are found again in the log.
    assert_eq!(outcomes.keys().max(), Some(&0), "{outcomes:?}");
}

#[test]
fn a_model_that_never_stops_is_stopped_after_ten_calls() {
    let mut world = World::new(vec![vec![call("read", "get_notebook_state", &json!({}))]]);
    run(&mut world);
    let ends: Vec<&Event> = world.recorded.iter().map(|recorded| &recorded.event).collect();
    let Some(Event::TurnFinished(end)) = ends.last() else { panic!("{:?}", world.types()) };
    assert_eq!(end.stop_reason, StopReason::MaxTurns);
    assert_eq!(world.types().iter().filter(|name| **name == "TurnModelCallStarted").count(), 10);
}

#[test]
fn what_cannot_be_done_is_told_to_the_model_and_the_turn_goes_on() {
    let replies = vec![
        vec![
            call("a1", "fly", &json!({})),
            call("a2", "delete_cell", &json!({})),
            raw_call("a3", "create_cell", "{\"source\": "),
            call("a4", "delete_cell", &json!({"cell_id": "a", "cell_version": 1})),
        ],
        vec![text("I see.")],
    ];
    let mut world = World::new(replies);
    run(&mut world);
    let results = world.results();
    assert!(results.iter().all(|(_, is_error)| *is_error) && results.len() == 4, "{results:?}");
    assert!(results[0].0.starts_with("there is no tool 'fly'"), "{results:?}");
    assert_eq!(results[1].0, "Missing required parameters: cell_id, cell_version");
    assert!(results[2].0.starts_with("The arguments are not a JSON object"), "{results:?}");
    assert!(results[3].0.contains("not 1: read it again"), "{results:?}");
    assert_eq!(world.types().last(), Some(&"TurnFinished"));
}

#[test]
fn what_waits_for_a_person_is_put_to_them_at_once_and_done_in_order() {
    let mut world = World::new(vec![vec![]]);
    for id in ["b", "c"] {
        world.person(json!({"InsertCell": {"cell_id": id, "cell_type": "code", "source": "x"}}));
    }
    let delete = |id: &str| {
        let version = world.notebook.cells[&id.parse::<CellId>().unwrap()].cell_version;
        call(&format!("d{id}"), "delete_cell", &json!({"cell_id": id, "cell_version": version}))
    };
    let mut calls = vec![delete("a"), delete("b"), delete("c")];
    calls.insert(1, call("new", "create_cell", &json!({"source": "y"})));
    world.replies = vec![calls, vec![text("Done.")]];
    while world.notebook.tool_calls.len() < 4 {
        assert!(world.step(), "{:?}", world.types());
    }
    let cells = |world: &World| world.notebook.cells.len();
    assert_eq!(cells(&world), 3, "the new cell waits for its turn");
    let mut waiting: Vec<_> = world.notebook.tool_calls.iter().map(|(id, call)| (id.clone(), call.clone())).collect();
    waiting.retain(|(_, call)| call.phase == ToolCallPhase::Waiting);
    assert_eq!(waiting.len(), 3);
    // Confirmed in reverse order: the calls keep their places.
    for (id, call) in waiting.iter().rev() {
        world.person(json!({"ConfirmToolCall": {"call_id": id, "arguments_hash": call.arguments_hash}}));
    }
    run(&mut world);
    world.check_once();
    let ended: Vec<String> = world
        .recorded
        .iter()
        .filter_map(|recorded| match &recorded.event {
            Event::ToolCallExecuted(event) => Some(event.call_id.to_string()),
            _ => None,
        })
        .collect();
    assert_eq!(ended, ["da-1", "new-1", "db-1", "dc-1"]);
    assert_eq!(cells(&world), 1);
}

#[test]
fn after_two_tries_to_mend_a_run_it_must_be_reported() {
    let replies = vec![vec![call("run", "run_all", &json!({})), call("new", "create_cell", &json!({"source": "y"}))]];
    let mut world = World::new(replies);
    world.fails = true;
    run(&mut world);
    let runs: Vec<_> = world.types().into_iter().filter(|name| *name == "ExecutionRequested").collect();
    assert!(runs.len() >= 3, "{:?}", world.types());
    let refused =
        world.results().iter().filter(|(text, _)| text.starts_with("Not done: what you run has failed")).count();
    let tried = world.results().iter().filter(|(text, is_error)| *is_error && text == "done").count();
    assert_eq!((tried, refused), (3, 6), "ten model calls, the last of which is not answered");
}

#[test]
fn a_denial_is_told_and_a_stop_ends_the_turn_at_once() {
    let version = World::new(vec![vec![]]).notebook.cells.values().next().unwrap().cell_version;
    let delete = call("gone", "delete_cell", &json!({"cell_id": "a", "cell_version": version}));
    let to_the_gate = |replies: Replies| {
        let mut world = World::new(replies);
        while world.notebook.tool_calls.is_empty() {
            assert!(world.step());
        }
        world
    };
    let mut world = to_the_gate(vec![vec![delete.clone()], vec![text("All right.")]]);
    world.person(json!({"DenyToolCall": {"call_id": "gone-1", "detail": "I need it"}}));
    run(&mut world);
    assert_eq!(world.results(), [("A person said no: I need it".to_owned(), true)]);
    let mut world = to_the_gate(vec![vec![delete]]);
    world.person(json!({"CancelTurn": {"turn_id": "turn"}}));
    assert!(!world.step());
    assert!(world.notebook.tool_calls.is_empty() && world.notebook.turns.is_empty());
}

#[test]
fn a_model_that_cannot_be_reached_fails_the_turn_with_its_cause() {
    let mut world = World::new(vec![vec![]]);
    assert!(world.step());
    (world.live.is_calling_model, world.live.is_model_call_lost) = (false, true);
    world.live.model_failure = Some(ExplainedCause::new(TurnFailure::WrongKey, "the key for openai is wrong"));
    run(&mut world);
    let Some(Event::TurnFailed(end)) = world.recorded.last().map(|recorded| &recorded.event) else { panic!() };
    assert_eq!(end.cause, TurnFailure::WrongKey);
    assert_eq!(end.sentence(), "the key for openai is wrong");
    // Restarted at every model call, the turn fails in the end, with the reason.
    let mut world = World::new(vec![vec![]]);
    while world.step() {
        world.kill();
    }
    let Some(Event::TurnFailed(end)) = world.recorded.last().map(|recorded| &recorded.event) else { panic!() };
    assert!(end.sentence().contains("3 times"), "{}", end.sentence());
}
