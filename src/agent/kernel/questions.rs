//! Questions to a kernel about code that is being written, beside its runs. Pure: time comes in.
//!
//! A kernel answers on the channel on which it takes runs, one after the other. So a question is sent only while the kernel runs
//! nothing and has no other question. It delays only a run that comes while it is being answered. A question that is
//! cancelled in time never reaches the kernel.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::time::Instant;

use jupyter_protocol::{CompleteRequest, ExecuteRequest, InspectRequest, JupyterMessage};
use notarium_wire::{
    Completion, CompletionMatch, Inspection, KernelAnswer, QuestionKind, QuestionRefusal, characters_before,
    utf16_after,
};
use serde::Deserialize;
use serde_json::Value;
use tokio::sync::oneshot;

use super::memory;
use super::messages::Message;

/// Most queued questions for one kernel.
pub(super) const MAX_WAITING_QUESTIONS: usize = 16;
/// Most requests of questions whose outputs are recognised.
const MAX_REMEMBERED: usize = 64;

/// A question, and the channel for its answer.
#[derive(Debug)]
pub struct Question {
    /// The next question of the same asker replaces this one.
    pub asker: String,
    pub code: String,
    /// Position in UTF-16 code units.
    pub cursor: u32,
    pub kind: QuestionKind,
    pub deadline: Instant,
    /// Dropped without an answer when the kernel ends.
    pub answer: oneshot::Sender<KernelAnswer>,
}

impl Question {
    pub(super) fn refuse(self, code: QuestionRefusal, message: &str) {
        self.reply(code.because(message));
    }

    /// Sends the answer; the asker may have dropped the receiver.
    fn reply(self, answer: KernelAnswer) {
        let _ = self.answer.send(answer.bounded());
    }
}

/// The questions of one kernel session.
#[derive(Debug, Default)]
pub(super) struct Questions {
    waiting: VecDeque<Question>,
    asked: Option<SentQuestion>,
    /// `msg_id`s of the requests, oldest first.
    remembered: VecDeque<String>,
}

/// The question that the kernel has and has not answered.
#[derive(Debug)]
struct SentQuestion {
    msg_id: String,
    deadline: Instant,
    /// Absent: cancelled.
    question: Option<Question>,
}

impl Questions {
    /// Queues a question; [`next`](Self::next) sends it.
    pub fn ask(&mut self, question: Question) {
        self.cancel(&question.asker);
        if self.waiting.len() >= MAX_WAITING_QUESTIONS {
            return question
                .refuse(QuestionRefusal::KernelBusy, "the kernel has too many questions: ask again in a moment");
        }
        self.waiting.push_back(question);
    }

    fn cancel(&mut self, asker: &str) {
        let is_theirs = |question: &Question| question.asker == asker;
        let asked = self.asked.as_mut().and_then(|asked| asked.question.take_if(|question| is_theirs(question)));
        let waiting = self.waiting.iter().position(is_theirs).and_then(|at| self.waiting.remove(at));
        for question in asked.into_iter().chain(waiting) {
            question.refuse(QuestionRefusal::Cancelled, "a later question took its place");
        }
    }

    /// The request to send now, if any.
    pub fn next(&mut self, is_busy: bool) -> Option<JupyterMessage> {
        if is_busy || self.asked.is_some() {
            return None;
        }
        let question = self.waiting.pop_front()?;
        let Some(cursor_pos) = characters_before(&question.code, question.cursor) else {
            question.refuse(QuestionRefusal::InvalidValue, "the cursor is not a place in the code");
            return self.next(is_busy);
        };
        let message = request(&question, cursor_pos);
        self.remember(&message.header.msg_id);
        let (msg_id, deadline) = (message.header.msg_id.clone(), question.deadline);
        self.asked = Some(SentQuestion { msg_id, deadline, question: Some(question) });
        Some(message)
    }

    fn remember(&mut self, msg_id: &str) {
        self.remembered.push_back(msg_id.to_owned());
        if self.remembered.len() > MAX_REMEMBERED {
            self.remembered.pop_front();
        }
    }

    /// True if a message belongs to a question. Output of code that a question made run belongs to no execution.
    pub fn is_of_question(&self, message: &Message) -> bool {
        message.parent_id.as_ref().is_some_and(|parent| self.remembered.contains(parent))
    }

    /// Handles a message of a question on shell.
    pub fn shell(&mut self, message: &Message) {
        let is_answer = |asked: &mut SentQuestion| message.parent_id.as_ref() == Some(&asked.msg_id);
        if let Some(question) = self.asked.take_if(is_answer).and_then(|asked| asked.question) {
            let answer = answer(&question, message);
            question.reply(answer);
        }
    }

    /// Time of the next [`expire`](Self::expire).
    pub fn deadline(&self) -> Option<Instant> {
        let asked = self.asked.as_ref().map(|asked| asked.deadline);
        self.waiting.iter().map(|question| question.deadline).chain(asked).min()
    }

    /// Refuses questions whose deadline has passed.
    pub fn expire(&mut self, now: Instant) {
        let late = self.asked.take_if(|asked| asked.deadline <= now).and_then(|asked| asked.question);
        if let Some(question) = late {
            question.refuse(QuestionRefusal::Timeout, "the kernel did not answer in time: ask again");
        }
        let (late, waiting): (VecDeque<_>, VecDeque<_>) =
            std::mem::take(&mut self.waiting).into_iter().partition(|question| question.deadline <= now);
        self.waiting = waiting;
        for question in late {
            question
                .refuse(QuestionRefusal::KernelBusy, "the kernel is executing something: ask again when it is done");
        }
    }
}

fn request(question: &Question, cursor_pos: usize) -> JupyterMessage {
    let code = question.code.clone();
    match &question.kind {
        QuestionKind::Inspect { detail } => {
            JupyterMessage::new(InspectRequest { code, cursor_pos, detail_level: Some((*detail).into()) }, None)
        }
        // `Describe` is answered elsewhere: see `connections::schemas`.
        QuestionKind::Complete {} | QuestionKind::Describe { .. } => {
            JupyterMessage::new(CompleteRequest { code, cursor_pos }, None)
        }
        // Silent and not in the history: the value comes with the reply.
        _ => JupyterMessage::new(
            ExecuteRequest {
                code: String::new(),
                silent: true,
                store_history: false,
                user_expressions: Some(HashMap::from([(memory::NAME.to_owned(), memory::expression(&question.kind))])),
                allow_stdin: false,
                stop_on_error: false,
            },
            None,
        ),
    }
}

/// The content of a `complete_reply`, as far as kernels agree about it.
#[derive(Default, Deserialize)]
#[serde(default)]
struct CompleteReply {
    matches: Vec<String>,
    cursor_start: usize,
    cursor_end: Option<usize>,
    metadata: Option<CompleteMetadata>,
}

#[derive(Default, Deserialize)]
struct CompleteMetadata {
    /// From ipykernel: the type and signature of each match.
    #[serde(rename = "_jupyter_types_experimental", default)]
    types: Value,
}

/// The content of an `inspect_reply`.
#[derive(Deserialize)]
struct InspectReply {
    #[serde(default)]
    found: bool,
    data: Option<BTreeMap<String, Value>>,
}

#[derive(Deserialize)]
struct Status {
    #[serde(default)]
    status: String,
}

fn answer(question: &Question, message: &Message) -> KernelAnswer {
    let read = match (&question.kind, message.header.msg_type.as_str()) {
        _ if message.content::<Status>().is_ok_and(|it| it.status == "error" || it.status == "aborted") => None,
        (QuestionKind::Complete {}, "complete_reply") => {
            message.content().ok().map(|reply| KernelAnswer::Completed(completion(&question.code, reply)))
        }
        (QuestionKind::Inspect { .. }, "inspect_reply") => {
            message.content().ok().map(|reply| KernelAnswer::Inspected(inspection(reply)))
        }
        (kind, "execute_reply") if kind.runs_python() => {
            message.content().ok().map(|reply| memory::answer(kind, reply))
        }
        _ => None,
    };
    read.unwrap_or_else(|| QuestionRefusal::KernelFailed.because("the kernel cannot answer this: go on without"))
}

fn completion(code: &str, reply: CompleteReply) -> Completion {
    let CompleteReply { matches, cursor_start, cursor_end, metadata } = reply;
    let types = metadata.unwrap_or_default().types;
    let matches = matches.into_iter().enumerate().map(|(index, text)| {
        // Kernels list both in one order; if they do not, the match has no type.
        let about = types.get(index).filter(|about| about["text"] == *text);
        CompletionMatch { match_type: known(about, "type"), signature: known(about, "signature"), text }
    });
    let end = cursor_end.unwrap_or(cursor_start).max(cursor_start);
    Completion {
        from: utf16_after(code, cursor_start),
        to: utf16_after(code, end),
        matches: matches.collect(),
        is_cut: false,
    }
}

/// A field of a match's type; ipykernel writes `<unknown>` for missing values.
fn known(about: Option<&Value>, field: &str) -> Option<String> {
    let word = about?[field].as_str()?;
    (!word.is_empty() && word != "<unknown>").then(|| word.to_owned())
}

fn inspection(reply: InspectReply) -> Inspection {
    let texts = reply.data.unwrap_or_default().into_iter().filter_map(|(mime, value)| match value {
        Value::String(text) => Some((mime, text)),
        _ => None,
    });
    Inspection { found: reply.found, data: texts.collect(), is_cut: false }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use serde_json::json;

    use super::super::messages::MessageHeader;
    use super::*;

    const PATIENCE: Duration = Duration::from_secs(3);

    fn question(asker: &str, now: Instant) -> (Question, oneshot::Receiver<KernelAnswer>) {
        let (answer, answered) = oneshot::channel();
        let (asker, code, kind) = (asker.to_owned(), "é😀.x".to_owned(), QuestionKind::Complete {});
        (Question { asker, code, cursor: 5, kind, deadline: now + PATIENCE, answer }, answered)
    }

    fn reply(msg_type: &str, parent: &str, content: &Value) -> Message {
        let header = MessageHeader { msg_type: msg_type.to_owned(), json: "{}".to_owned() };
        Message { header, parent_id: Some(parent.to_owned()), content: content.to_string(), buffers: Vec::new() }
    }

    fn code(answered: &mut oneshot::Receiver<KernelAnswer>) -> QuestionRefusal {
        match answered.try_recv() {
            Ok(KernelAnswer::Refused { code, .. }) => code,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_question_waits_while_the_kernel_runs_something_and_is_answered_in_the_code_s_units() {
        let mut questions = Questions::default();
        let (one, mut answered) = question("a", Instant::now());
        questions.ask(one);
        assert!(questions.next(true).is_none());
        let sent = questions.next(false).unwrap();
        let types = json!([{"text": "xa", "type": "function", "signature": "()"}, {"text": "other", "type": "class"}]);
        let content = json!({
            "status": "ok", "matches": ["xa", "xb"], "cursor_start": 3, "cursor_end": 4,
            "metadata": {"_jupyter_types_experimental": types},
        });
        let answer = reply("complete_reply", &sent.header.msg_id, &content);
        assert!(questions.is_of_question(&answer));
        questions.shell(&answer);
        let Ok(KernelAnswer::Completed(completion)) = answered.try_recv() else { panic!() };
        assert_eq!((completion.from, completion.to), (4, 5));
        let [first, second] = &*completion.matches else { panic!("{completion:?}") };
        assert_eq!((first.match_type.as_deref(), first.signature.as_deref()), (Some("function"), Some("()")));
        assert_eq!((second.text.as_str(), &second.match_type), ("xb", &None));
    }

    #[test]
    fn the_next_question_of_one_asker_cancels_the_former_and_those_of_others_stay() {
        let (mut questions, now) = (Questions::default(), Instant::now());
        let (asked, mut asked_answer) = question("a", now);
        questions.ask(asked);
        let sent = questions.next(false).unwrap();
        let (other, mut other_answer) = question("b", now);
        questions.ask(other);
        let (waiting, mut waiting_answer) = question("a", now);
        questions.ask(waiting);
        assert_eq!(code(&mut asked_answer), QuestionRefusal::Cancelled);
        let (last, mut last_answer) = question("a", now);
        questions.ask(last);
        assert_eq!(code(&mut waiting_answer), QuestionRefusal::Cancelled);
        assert!(questions.next(false).is_none(), "the kernel has a question still");
        let none = json!({"status": "ok", "matches": [], "cursor_start": 0, "cursor_end": 0, "metadata": {}});
        questions.shell(&reply("complete_reply", &sent.header.msg_id, &none));
        for answer in [&mut other_answer, &mut last_answer] {
            let sent = questions.next(false).unwrap();
            questions.shell(&reply("complete_reply", &sent.header.msg_id, &none));
            assert!(matches!(answer.try_recv(), Ok(KernelAnswer::Completed(_))));
        }
    }

    #[test]
    fn who_waits_too_long_is_told_why() {
        let (mut questions, now) = (Questions::default(), Instant::now());
        let (slow, mut slow_answer) = question("a", now);
        let (waiting, mut waiting_answer) = question("b", now + Duration::from_secs(1));
        questions.ask(slow);
        questions.next(false).unwrap();
        questions.ask(waiting);
        assert_eq!(questions.deadline(), Some(now + PATIENCE));
        questions.expire(now + PATIENCE);
        assert_eq!(code(&mut slow_answer), QuestionRefusal::Timeout);
        assert!(waiting_answer.try_recv().is_err());
        questions.expire(now + PATIENCE * 2);
        assert_eq!(code(&mut waiting_answer), QuestionRefusal::KernelBusy);
        assert_eq!(questions.deadline(), None);
    }

    #[test]
    fn what_no_kernel_should_say_is_a_failure() {
        let (mut questions, now) = (Questions::default(), Instant::now());
        for (msg_type, content) in [
            ("complete_reply", json!({"status": "error", "ename": "E"})),
            ("complete_reply", json!({"matches": 7})),
            ("inspect_reply", json!({"found": true})),
        ] {
            let (one, mut answered) = question("a", now);
            questions.ask(one);
            let sent = questions.next(false).unwrap();
            questions.shell(&reply(msg_type, &sent.header.msg_id, &content));
            assert_eq!(code(&mut answered), QuestionRefusal::KernelFailed, "{content}");
        }
        let (mut wrong, mut answered) = question("a", now);
        wrong.cursor = 2;
        questions.ask(wrong);
        assert!(questions.next(false).is_none());
        assert_eq!(code(&mut answered), QuestionRefusal::InvalidValue);
    }

    #[test]
    fn a_kernel_has_a_bounded_number_of_questions() {
        let (mut questions, now) = (Questions::default(), Instant::now());
        let mut answers: Vec<_> = (0..=MAX_WAITING_QUESTIONS)
            .map(|number| {
                let (one, answered) = question(&number.to_string(), now);
                questions.ask(one);
                answered
            })
            .collect();
        assert_eq!(code(answers.last_mut().unwrap()), QuestionRefusal::KernelBusy);
        assert!(answers[0].try_recv().is_err());
    }
}
