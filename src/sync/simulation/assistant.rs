//! Simulated assistants' host: reads the state and takes the next step of turns and calls. It loses its memory when the server dies. The
//! model's answers are random.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use notarium_core::{
    Actor, Authority, CellId, Command, ConversationId, DelegatedAuthority, Document, InstanceId, MessageBlock,
    MessageRole, Millis, RawObject, RequestToolCall, StopReason, ToolCall, ToolCallEnd, ToolCallId, ToolCallPhase,
    Turn, TurnEnd, TurnFailure, TurnId, Usage, UserId,
};

use super::chance::Chance;
use crate::io::Identity;

/// Maximum number of model calls in a turn.
const MODEL_CALLS: u32 = 3;

/// A command with its identity.
pub(crate) struct Step {
    pub identity: Arc<Identity>,
    pub command: Command,
}

/// Next piece of work.
pub(crate) enum Work {
    Send(Step),
    /// Executes a call outside of the log, after its start by this process is on disk.
    CarryOut(ToolCallId),
}

pub(crate) struct Assistant {
    /// Id of this run of the server.
    instance: InstanceId,
    /// Calls that this process executes, with their end times.
    executing: BTreeMap<ToolCallId, Millis>,
    /// Model calls of this process, with their end times.
    calling: BTreeMap<TurnId, Millis>,
    /// Answers of models that are not recorded yet.
    answers: BTreeMap<TurnId, VecDeque<Answer>>,
    /// Identities that were refused, with the time of their next attempt.
    resting: BTreeMap<String, Millis>,
    /// The unanswered command, with its identity.
    sent: Option<(String, Command)>,
}

/// One part of a model's answer.
enum Answer {
    Say,
    Call,
    End,
}

impl Assistant {
    pub(crate) fn new(instance: InstanceId) -> Self {
        Self {
            instance,
            executing: BTreeMap::new(),
            calling: BTreeMap::new(),
            answers: BTreeMap::new(),
            resting: BTreeMap::new(),
            sent: None,
        }
    }

    pub(crate) fn send(&mut self, actor: String, command: Command) {
        self.sent = Some((actor, command));
    }

    pub(crate) fn answered(&mut self, is_accepted: bool, now: Millis, chance: &mut Chance) {
        let Some((actor, command)) = self.sent.take() else { return };
        if !is_accepted {
            self.resting.insert(actor, now + 500);
            return;
        }
        match command {
            Command::StartModelCall { turn_id, .. } => drop(self.calling.insert(turn_id, now + chance.below(600))),
            Command::ReportModelCall { turn_id, failure: None, .. } if self.calling.remove(&turn_id).is_some() => {
                self.answers.insert(turn_id, some_answer(chance));
            }
            _ => {}
        }
    }

    /// Returns the time of the next timer.
    pub(crate) fn wake_at(&self, now: Millis) -> Option<Millis> {
        let due = self.executing.values().chain(self.calling.values()).chain(self.resting.values());
        due.min().map(|at| *at.max(&(now + 1)))
    }

    pub(crate) fn next(
        &mut self,
        notebook: &Document,
        people: &DelegatedAuthority,
        now: Millis,
        chance: &mut Chance,
    ) -> Option<Work> {
        self.forget_ended(notebook, now);
        let is_own = |call_id: &ToolCallId, call: &ToolCall| {
            matches!(&call.phase, ToolCallPhase::Started { claimant, .. } if *claimant == self.instance)
                && !self.executing.contains_key(call_id)
        };
        let mut calls = notebook.tool_calls.iter();
        if let Some((call_id, _)) = calls.find(|(call_id, call)| is_own(call_id, call)) {
            self.executing.insert(call_id.clone(), now + chance.below(1_500));
            return Some(Work::CarryOut(call_id.clone()));
        }
        let calls = notebook.tool_calls.iter().filter(|(_, call)| !self.rests(&call.requested_by));
        let mut steps = calls.filter_map(|(call_id, call)| {
            Some((call.requested_by.clone(), self.carry_on(notebook, call_id, call, now)?))
        });
        let (actor, command) = match steps.next() {
            Some(step) => step,
            None => self.next_of_turns(notebook, now, chance)?,
        };
        let authority = Authority { reactor: Some(people.clone()), ..Authority::session() };
        let identity = Identity { actor, authority, name: "assistant".to_owned(), connection: String::new() };
        Some(Work::Send(Step { identity: Arc::new(identity), command }))
    }

    fn forget_ended(&mut self, notebook: &Document, now: Millis) {
        self.executing.retain(|call_id, _| notebook.tool_calls.contains_key(call_id));
        self.calling.retain(|turn_id, _| notebook.turns.contains_key(turn_id));
        self.answers.retain(|turn_id, _| notebook.turns.contains_key(turn_id));
        self.resting.retain(|_, until| *until > now);
    }

    fn rests(&self, actor: &Actor) -> bool {
        self.resting.contains_key(&actor.key())
    }

    fn next_of_turns(&mut self, notebook: &Document, now: Millis, chance: &mut Chance) -> Option<(Actor, Command)> {
        notebook.turns.iter().find_map(|(turn_id, turn)| {
            let actor = assistant_of(turn).filter(|actor| !self.rests(actor))?;
            Some((actor, self.go_on(notebook, turn_id, turn, now, chance)?))
        })
    }

    fn carry_on(&self, notebook: &Document, call_id: &ToolCallId, call: &ToolCall, now: Millis) -> Option<Command> {
        let call_id = call_id.clone();
        match call.phase {
            ToolCallPhase::Waiting => None,
            ToolCallPhase::Passed | ToolCallPhase::Confirmed { .. } => {
                let is_held = call.after.as_ref().is_some_and(|other| notebook.tool_calls.contains_key(other));
                (!is_held).then_some(Command::StartToolCall { call_id })
            }
            ToolCallPhase::Started { .. } => {
                let (end, result) = match self.executing.get(&call_id) {
                    Some(at) if *at > now => return None,
                    Some(_) => (ToolCallEnd::Ok, "done".to_owned()),
                    None => (ToolCallEnd::OutcomeUnknown, "the server stopped".to_owned()),
                };
                Some(Command::ReportToolCall { call_id, end, result })
            }
        }
    }

    fn go_on(
        &mut self,
        notebook: &Document,
        turn_id: &TurnId,
        turn: &Turn,
        now: Millis,
        chance: &mut Chance,
    ) -> Option<Command> {
        let id = turn_id.clone();
        if let Some(claimant) = &turn.model_call_claimant {
            let is_own = *claimant == self.instance;
            let failure = match self.calling.get(turn_id) {
                Some(at) if *at > now => return None,
                Some(_) => None,
                None if is_own => {
                    self.calling.insert(id, now + chance.below(600));
                    return None;
                }
                None => Some(TurnFailure::ServerStopped),
            };
            return Some(Command::ReportModelCall { turn_id: id, failure, detail: None, usage: Usage::default() });
        }
        if notebook.tool_calls.values().any(|call| call.turn_id.as_ref() == Some(turn_id)) {
            return None;
        }
        match self.answers.get_mut(turn_id).and_then(VecDeque::pop_front) {
            Some(Answer::Say) => {
                let blocks = vec![MessageBlock::Text { text: "so".to_owned() }];
                Some(Command::PostReply { turn_id: id, role: MessageRole::Assistant, blocks })
            }
            Some(Answer::Call) => Some(some_call(notebook, id, chance)),
            Some(Answer::End) => Some(end(id)),
            None if turn.model_calls >= MODEL_CALLS => Some(end(id)),
            None => {
                let (provider, model) = ("chance".to_owned(), "chance".to_owned());
                Some(Command::StartModelCall { turn_id: id, provider, model })
            }
        }
    }
}

fn end(turn_id: TurnId) -> Command {
    Command::EndTurn { turn_id, end: TurnEnd::Finished(StopReason::EndTurn) }
}

pub(crate) fn conversation_of(user: &UserId) -> ConversationId {
    ConversationId::new(format!("talk-{user}")).expect("an id")
}

fn assistant_of(turn: &Turn) -> Option<Actor> {
    turn.requested_by.assistant_in(&turn.conversation_id)
}

/// Returns a random answer: a text and some tool calls, or a text and the end.
fn some_answer(chance: &mut Chance) -> VecDeque<Answer> {
    let mut answers = VecDeque::from([Answer::Say]);
    let calls = chance.below(4);
    answers.extend((0..calls).map(|_| Answer::Call));
    if calls == 0 {
        answers.push_back(Answer::End);
    }
    answers
}

fn some_call(notebook: &Document, turn_id: TurnId, chance: &mut Chance) -> Command {
    let cell_id = chance.pick(&notebook.order).cloned();
    let (function, arguments) = some_tool(notebook, cell_id.as_ref(), chance);
    Command::RequestToolCall(RequestToolCall {
        call_id: None,
        turn_id: Some(turn_id),
        function: function.to_owned(),
        arguments: RawObject::parse(&arguments).expect("an object"),
        after: None,
        conversation_title: None,
        token: None,
    })
}

fn some_tool(notebook: &Document, cell_id: Option<&CellId>, chance: &mut Chance) -> (&'static str, String) {
    let outside = || ("create_notebook", r#"{"title":"another"}"#.to_owned());
    let Some((cell_id, cell)) = cell_id.and_then(|id| Some((id, notebook.cells.get(id)?))) else { return outside() };
    let version = cell.cell_version;
    match chance.below(10) {
        0..3 => outside(),
        3 => ("create_cell", r#"{"source":"1"}"#.to_owned()),
        4 => ("modify_cell", format!(r#"{{"cell_id":"{cell_id}","cell_version":{version},"source":"by it"}}"#)),
        5 | 6 => ("delete_cell", format!(r#"{{"cell_id":"{cell_id}","cell_version":{version}}}"#)),
        7 => ("execute_cell", format!(r#"{{"cell_id":"{cell_id}"}}"#)),
        8 => ("restart_kernel", "{}".to_owned()),
        _ => ("undo", "{}".to_owned()),
    }
}
