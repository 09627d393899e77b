//! Questions to a kernel about code that is being written, beside its runs. Pure: time comes in.
//!
//! A kernel answers on the channel on which it takes runs, one after the other. So a question is sent only while the kernel runs
//! nothing and has no other question. It delays only a run that comes while it is being answered. A question that is
//! cancelled in time never reaches the kernel.
//!
//! Python answers some questions in the kernel: variables, table rows, formatted cells. Each is an expression whose value comes
//! with the reply to a silent execution, so that it is neither an output nor in the history.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::time::Instant;

use jupyter_protocol::{CompleteRequest, ExecuteRequest, InspectRequest, JupyterMessage};
use notarium_core::kernel_tools::RESULT_MIME;
use notarium_wire::{
    Completion, CompletionMatch, Inspection, KernelAnswer, QuestionKind, QuestionRefusal, ReadTable, SummarizeColumn,
    TableName, characters_before, kernel_tools, utf16_after,
};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokio::sync::oneshot;

use super::messages::KernelMessage;

/// Most queued questions for one kernel.
pub(super) const MAX_WAITING_QUESTIONS: usize = 16;
/// Most requests of questions whose outputs are recognised.
const MAX_REMEMBERED: usize = 64;

/// A question, and the channel for its answer.
#[derive(Debug)]
pub struct InputQuestion {
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

impl InputQuestion {
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
pub(super) struct InputQuestions {
    waiting: VecDeque<InputQuestion>,
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
    question: Option<InputQuestion>,
}

impl InputQuestions {
    /// Queues a question; [`next`](Self::next) sends it.
    pub fn ask(&mut self, question: InputQuestion) {
        self.cancel(&question.asker);
        if self.waiting.len() >= MAX_WAITING_QUESTIONS {
            return question
                .refuse(QuestionRefusal::KernelBusy, "the kernel has too many questions: ask again in a moment");
        }
        self.waiting.push_back(question);
    }

    fn cancel(&mut self, asker: &str) {
        let is_theirs = |question: &InputQuestion| question.asker == asker;
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
    pub fn is_of_question(&self, message: &KernelMessage) -> bool {
        message.parent_id.as_ref().is_some_and(|parent| self.remembered.contains(parent))
    }

    /// Handles a message of a question on shell.
    pub fn shell(&mut self, message: &KernelMessage) {
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

fn request(question: &InputQuestion, cursor_pos: usize) -> JupyterMessage {
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
                user_expressions: Some(HashMap::from([(EXPRESSION_NAME.to_owned(), expression(&question.kind))])),
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

fn answer(question: &InputQuestion, message: &KernelMessage) -> KernelAnswer {
    let read = match (&question.kind, message.header.msg_type.as_str()) {
        _ if message.content::<Status>().is_ok_and(|it| it.status == "error" || it.status == "aborted") => None,
        (QuestionKind::Complete {}, "complete_reply") => {
            message.content().ok().map(|reply| KernelAnswer::Completed(completion(&question.code, reply)))
        }
        (QuestionKind::Inspect { .. }, "inspect_reply") => {
            message.content().ok().map(|reply| KernelAnswer::Inspected(inspection(reply)))
        }
        (kind, "execute_reply") if kind.runs_python() => message.content().ok().map(|reply| python_answer(kind, reply)),
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

/// The expression's name in the request.
const EXPRESSION_NAME: &str = "notarium";

/// The Python expression whose value is the answer.
pub(super) fn expression(kind: &QuestionKind) -> String {
    let (TableName { table, variable }, mut asked) = match kind {
        QuestionKind::ReadTable(ReadTable { of, first, count, sort, filters, search }) => {
            (of, json!({"first": first, "count": count, "sort": sort, "filters": filters, "search": search}))
        }
        QuestionKind::Format(cells) => return kernel_tools::format_expression(cells),
        QuestionKind::SummarizeColumn(SummarizeColumn { of, column }) => (of, json!({"summarize": column})),
        _ => return kernel_tools::variables_expression(),
    };
    asked["table"] = json!(table);
    asked["variable"] = json!(variable);
    kernel_tools::table_expression(&asked)
}

/// The content of an `execute_reply`, as far as it is used here.
#[derive(Deserialize)]
pub(super) struct PythonReply {
    #[serde(default)]
    user_expressions: Expressions,
}

#[derive(Default, Deserialize)]
struct Expressions {
    notarium: Option<Expression>,
}

#[derive(Deserialize)]
struct Expression {
    #[serde(default)]
    data: Value,
    /// Set for an expression that failed.
    #[serde(default)]
    ename: String,
    #[serde(default)]
    evalue: String,
}

#[derive(Deserialize)]
struct RefusedExpression {
    kind: String,
    message: String,
}

pub(super) fn python_answer(kind: &QuestionKind, reply: PythonReply) -> KernelAnswer {
    let Some(Expression { data, ename, evalue }) = reply.user_expressions.notarium else { return unreadable() };
    let result = &data[RESULT_MIME];
    if let Ok(RefusedExpression { kind, message }) = RefusedExpression::deserialize(&result["refused"]) {
        return code_of(&kind).because(message);
    }
    let read = match kind {
        QuestionKind::ReadTable(_) => read(&result["ok"]).map(KernelAnswer::TableRead),
        QuestionKind::SummarizeColumn(_) => read(&result["ok"]).map(KernelAnswer::ColumnSummarized),
        QuestionKind::Format(_) => read(&result["ok"]).map(KernelAnswer::Formatted),
        _ => read(&result["ok"]).map(KernelAnswer::Variables),
    };
    match read {
        Some(answer) => answer,
        None if ename == "KeyboardInterrupt" => QuestionRefusal::Cancelled.because("It was interrupted. Ask again."),
        None if ename.is_empty() => unreadable(),
        None => QuestionRefusal::KernelFailed.because(format!(
            "The kernel can't answer: {ename}: {evalue}. Its Python may have an older package notarium: upgrade or remove it."
        )),
    }
}

fn read<T: DeserializeOwned>(value: &Value) -> Option<T> {
    T::deserialize(value).ok()
}

fn code_of(kind: &str) -> QuestionRefusal {
    match kind {
        "gone" => QuestionRefusal::UnknownTable,
        "invalid" => QuestionRefusal::InvalidValue,
        "slow" => QuestionRefusal::Timeout,
        _ => QuestionRefusal::KernelFailed,
    }
}

fn unreadable() -> KernelAnswer {
    QuestionRefusal::KernelFailed.because("The kernel's answer can't be read. Restart the kernel and ask again.")
}
