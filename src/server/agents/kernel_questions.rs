//! Open questions to kernels: cancellation, limits, and matching of answers. In memory alone.
//!
//! Asks a kernel about code that is being written, or about tables and variables: rights, limits, the way to the
//! runtime agent.
//!
//! Questions and answers do not enter the log, and no kernel is started for one. Asking needs the right to run, because
//! kernels may run code to answer (a property, a `__dir__`).

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::Duration;

use notarium_core::{
    AgentId, CellType, Document, KernelPhase, KernelSessionId, NotebookId, Operation, RejectionCode, RejectionDetails,
    TokenId, default_session, lacks_scope, not_open,
};
use notarium_wire::{
    AskKernelMessage, FormatCells, KernelAnswer, KernelAnswerMessage, KernelQuestionMessage, KernelStatus,
    MAX_ASKED_BYTES, MAX_FORMATTED_BYTES, MAX_FORMATTED_CELLS, MAX_TABLE_FILTERS, MAX_TABLE_ROWS, MAX_TABLE_TEXT_BYTES,
    QuestionKind, QuestionRefusal, ReadTable, ServerMessage, TableName, characters_before,
};
use parking_lot::Mutex;
use tokio::sync::oneshot;

use super::{Agents, Reachable, first_number, frame};
use crate::limits::ServerLimits;
use crate::limits::clock::{Window, millis};
use crate::rooms::{ClientId, Identity, Offered, ReadState, RoomHandle};

/// Open questions per runtime agent.
const MAX_PER_AGENT: usize = 64;
/// Questions of one token per window.
const MAX_PER_WINDOW: u32 = 100;
const WINDOW: Duration = Duration::from_secs(10);
/// Number of remembered tokens above which those with an expired window are removed.
const MAX_REMEMBERED_TOKENS: usize = 1_024;

/// Open questions to kernels.
#[derive(Default)]
pub struct KernelQuestions {
    state: Mutex<QuestionState>,
}

struct QuestionState {
    /// Number of the last question. Numbers follow the order in which questions arrived.
    last: u64,
    waiting: BTreeMap<u64, OpenQuestion>,
    asked: HashMap<TokenId, Window>,
}

impl Default for QuestionState {
    fn default() -> Self {
        Self { last: first_number(), waiting: BTreeMap::new(), asked: HashMap::new() }
    }
}

/// A question that waits for its answer.
pub struct OpenQuestion {
    /// Connection of the asker: its next question to the kernel cancels this one.
    pub asker: String,
    pub kernel_session: KernelSessionId,
    /// Connection of the kernel's runtime agent.
    pub agent: ClientId,
    pub answer: oneshot::Sender<KernelAnswer>,
}

impl KernelQuestions {
    /// Gives a question a number. Refuses it if the token is over its rate limit.
    pub fn number(&self, token: &TokenId) -> Result<u64, KernelAnswer> {
        let mut state = self.state.lock();
        if state.asked.len() >= MAX_REMEMBERED_TOKENS {
            state.asked.retain(|_, window| window.left().is_some());
        }
        let window = state.asked.entry(token.clone()).or_insert_with(|| Window::new(WINDOW));
        window.take(MAX_PER_WINDOW).map_err(|left| {
            let (within, left) = (WINDOW.as_secs(), left.as_secs() + 1);
            let message = format!("more than {MAX_PER_WINDOW} questions within {within} s: wait {left} s");
            let details = Some(Box::new(RejectionDetails::RetryAfter { seconds: left }));
            KernelAnswer::Refused { code: QuestionRefusal::RateLimited, message, details }
        })?;
        state.last += 1;
        Ok(state.last)
    }

    /// Gives a number to a question with another rate limit.
    pub fn next_number(&self) -> u64 {
        let mut state = self.state.lock();
        state.last += 1;
        state.last
    }

    /// Passes on an answer, if it comes from the agent's connection that was asked.
    pub fn answer(&self, agent: ClientId, number: u64, answer: KernelAnswer) {
        let mut state = self.state.lock();
        if state.waiting.get(&number).is_some_and(|waiting| waiting.agent == agent) {
            state.settle(number, answer);
        }
    }

    /// Answers all questions to an agent whose connection has ended.
    pub fn agent_left(&self, agent: ClientId) {
        let mut state = self.state.lock();
        let lost: Vec<u64> =
            state.waiting.iter().filter(|(_, waiting)| waiting.agent == agent).map(|(number, _)| *number).collect();
        for number in lost {
            state.settle(number, unreachable());
        }
    }

    /// Registers a question under its number. It cancels an earlier one of the same asker to the same kernel, and is
    /// cancelled by a later one. The returned place keeps it registered until it is dropped.
    pub fn wait(&self, number: u64, waiting: OpenQuestion) -> Result<QuestionSlot<'_>, KernelAnswer> {
        let mut state = self.state.lock();
        let is_same = |it: &OpenQuestion| it.asker == waiting.asker && it.kernel_session == waiting.kernel_session;
        let other = state.waiting.iter().find(|(_, it)| is_same(it)).map(|(number, _)| *number);
        match other {
            Some(later) if later > number => return Err(cancelled()),
            Some(earlier) => state.settle(earlier, cancelled()),
            None => {}
        }
        if state.waiting.values().filter(|it| it.agent == waiting.agent).count() >= MAX_PER_AGENT {
            return Err(too_many());
        }
        state.waiting.insert(number, waiting);
        Ok(QuestionSlot { questions: self, number })
    }
}

impl QuestionState {
    /// The asker may have left, so a failed send is ignored.
    fn settle(&mut self, number: u64, answer: KernelAnswer) {
        if let Some(waiting) = self.waiting.remove(&number) {
            let _ = waiting.answer.send(answer);
        }
    }
}

/// Removes its question when dropped, however the question ends.
pub struct QuestionSlot<'a> {
    questions: &'a KernelQuestions,
    number: u64,
}

impl Drop for QuestionSlot<'_> {
    fn drop(&mut self) {
        self.questions.state.lock().waiting.remove(&self.number);
    }
}

pub fn unreachable() -> KernelAnswer {
    QuestionRefusal::AgentUnreachable.because("the kernel's runtime agent cannot be reached: wait until it is back")
}

pub fn cancelled() -> KernelAnswer {
    QuestionRefusal::Cancelled.because("a later question took its place")
}

pub fn too_many() -> KernelAnswer {
    QuestionRefusal::KernelBusy.because("the kernel's runtime agent has too many questions: ask again in a moment")
}

/// Longest code of a question.
const MAX_CODE_BYTES: usize = 256 << 10;
/// Time that the server waits beyond the agent's own timeout, so that the agent's error arrives.
const GRACE: Duration = Duration::from_secs(1);

/// Parts of the server that a question goes through.
#[derive(Clone, Copy)]
pub struct KernelAskService<'a> {
    pub agents: &'a Agents,
    pub questions: &'a KernelQuestions,
    pub limits: &'a ServerLimits,
}

/// Caller of a kernel question, and the room that it goes through.
pub struct KernelAsker {
    pub identity: Arc<Identity>,
    pub room: RoomHandle,
    /// Connection id. Its next question about code to a kernel cancels the one before.
    pub name: String,
    /// [`KernelQuestions::number`], taken when the question arrived.
    pub number: u64,
}

impl KernelAsker {
    /// Asks the kernel, within the server's time limit. A refusal is an answer too.
    pub async fn ask(self, service: KernelAskService<'_>, question: AskKernelMessage) -> KernelAnswer {
        self.try_ask(service, question).await.unwrap_or_else(|refused| refused).bounded()
    }

    async fn try_ask(
        self,
        service: KernelAskService<'_>,
        question: AskKernelMessage,
    ) -> Result<KernelAnswer, KernelAnswer> {
        check_code(&question)?;
        check_names(&question.kind)?;
        check_table(&question.kind)?;
        check_format(&question.kind)?;
        let state = self.room.read(self.identity.clone()).await.map_err(|rejection| {
            let is_unavailable = rejection.code == RejectionCode::Unavailable;
            let code = if is_unavailable { QuestionRefusal::Unavailable } else { QuestionRefusal::UnknownNotebook };
            code.because(rejection.message)
        })?;
        self.check_right(&state)?;
        check_cell(&state.notebook, &question)?;
        let (kernel_session, agent) = target(&state.notebook, &state.kernels, question.kernel_session.as_ref())?;
        let agent = service.agents.reachable(&agent).ok_or_else(unreachable)?;
        self.send(service, question, kernel_session, agent).await
    }

    fn check_right(&self, state: &ReadState) -> Result<(), KernelAnswer> {
        if !Operation::Run.is_open_to(state.role) {
            return Err(QuestionRefusal::Forbidden.from_rejection(not_open(state.role, Operation::Run)));
        }
        if !self.identity.authority.scopes.contains(&Operation::Run.scope()) {
            return Err(QuestionRefusal::Forbidden.from_rejection(lacks_scope(Operation::Run.scope())));
        }
        Ok(())
    }

    async fn send(
        self,
        service: KernelAskService<'_>,
        question: AskKernelMessage,
        kernel_session: KernelSessionId,
        agent: Reachable,
    ) -> Result<KernelAnswer, KernelAnswer> {
        check_agent(&agent, &question.kind)?;
        let (answer, answered) = oneshot::channel();
        let (id, asker) = (self.number, self.asker(&question.kind));
        let waiting =
            OpenQuestion { asker: asker.clone(), kernel_session: kernel_session.clone(), agent: agent.client, answer };
        let _place = service.questions.wait(id, waiting)?;
        let timeout = match question.kind.is_about_code() {
            true => service.limits.kernel_question_timeout,
            false => service.limits.connection_schema_timeout,
        };
        let AskKernelMessage { notebook, code, cursor, kind, .. } = question;
        let timeout_ms = millis(timeout);
        let message = KernelQuestionMessage { id, notebook, kernel_session, asker, code, cursor, kind, timeout_ms };
        match agent.outbox.offer(frame(&ServerMessage::KernelQuestion(message))) {
            Offered::Queued => {}
            Offered::Full => return Err(too_many()),
            Offered::Closed => return Err(unreachable()),
        }
        match tokio::time::timeout(timeout + GRACE, answered).await {
            Ok(Ok(answer)) => Ok(answer),
            Ok(Err(_)) => Err(cancelled()),
            Err(_) => Err(QuestionRefusal::Timeout.because("the kernel did not answer in time: ask again")),
        }
    }

    /// Cancellation key: questions about code cancel each other, questions about tables or variables do not.
    fn asker(&self, kind: &QuestionKind) -> String {
        if kind.is_about_code() { self.name.clone() } else { format!("{}.{}", self.name, self.number) }
    }
}

fn check_names(kind: &QuestionKind) -> Result<(), KernelAnswer> {
    let QuestionKind::Describe { connection, matching } = kind else { return Ok(()) };
    if connection.len().max(matching.len()) > MAX_ASKED_BYTES {
        let message =
            format!("the name of a connection, and what tables must match, have at most {MAX_ASKED_BYTES} bytes");
        return Err(QuestionRefusal::LimitExceeded.because(message));
    }
    if connection.is_empty() {
        return Err(QuestionRefusal::InvalidValue.because("say which connection: duckdb is the one in the kernel"));
    }
    Ok(())
}

/// Checks that one table is named, and that filters, rows and texts are within the limits.
fn check_table(kind: &QuestionKind) -> Result<(), KernelAnswer> {
    let (of, texts) = match kind {
        QuestionKind::ReadTable(ReadTable { of, filters, search, count, .. }) => {
            if filters.len() > MAX_TABLE_FILTERS || *count > MAX_TABLE_ROWS {
                let message =
                    format!("a question has at most {MAX_TABLE_FILTERS} filters and asks for {MAX_TABLE_ROWS} rows");
                return Err(QuestionRefusal::LimitExceeded.because(message));
            }
            (of, filters.iter().map(|filter| &filter.value).chain([search]).collect::<Vec<_>>())
        }
        QuestionKind::SummarizeColumn(asked) => (&asked.of, Vec::new()),
        _ => return Ok(()),
    };
    let TableName { table, variable } = of;
    if table.is_some() == variable.is_some() {
        return Err(QuestionRefusal::InvalidValue.because("name the table of an output or a variable, one of both"));
    }
    if table.iter().chain(variable).chain(texts).any(|text| text.len() > MAX_TABLE_TEXT_BYTES) {
        let message = format!("names and texts of a question have at most {MAX_TABLE_TEXT_BYTES} bytes");
        return Err(QuestionRefusal::LimitExceeded.because(message));
    }
    Ok(())
}

fn check_format(kind: &QuestionKind) -> Result<(), KernelAnswer> {
    let QuestionKind::Format(FormatCells { cells }) = kind else { return Ok(()) };
    if cells.len() <= MAX_FORMATTED_CELLS && cells.iter().map(String::len).sum::<usize>() <= MAX_FORMATTED_BYTES {
        return Ok(());
    }
    let message = format!(
        "a question formats at most {MAX_FORMATTED_CELLS} cells and {MAX_FORMATTED_BYTES} bytes: ask for fewer at once"
    );
    Err(QuestionRefusal::LimitExceeded.because(message))
}

fn check_agent(agent: &Reachable, kind: &QuestionKind) -> Result<(), KernelAnswer> {
    let (is_known, what) = match kind {
        QuestionKind::Describe { .. } => (agent.knows.schemas, "tell the tables of a connection"),
        QuestionKind::Format(_) => (agent.knows.format, "format code"),
        _ => (agent.knows.tables || !kind.runs_python(), "tell the variables and tables of a kernel"),
    };
    if is_known {
        return Ok(());
    }
    let message = format!("the runtime agent {} is too old to {what}: update it, and restart it", agent.name);
    Err(QuestionRefusal::AgentTooOld.because(message))
}

fn check_code(question: &AskKernelMessage) -> Result<(), KernelAnswer> {
    if question.code.len() > MAX_CODE_BYTES {
        let message = format!("a question has at most {MAX_CODE_BYTES} bytes of code: ask with less around the cursor");
        return Err(QuestionRefusal::LimitExceeded.because(message));
    }
    match characters_before(&question.code, question.cursor) {
        Some(_) => Ok(()),
        None => Err(QuestionRefusal::InvalidValue.because(
            "the cursor is not a place in the code: count UTF-16 code units, and never into a surrogate pair",
        )),
    }
}

fn check_cell(notebook: &Document, question: &AskKernelMessage) -> Result<(), KernelAnswer> {
    let refused = |message: &str| Err(QuestionRefusal::NotRunnable.because(message));
    if notebook.archived {
        return refused("the notebook is archived: unarchive it first");
    }
    let Some(cell) = &question.cell_id else { return Ok(()) };
    let fits = |cell_type: CellType| match question.kind {
        QuestionKind::Complete {} | QuestionKind::Inspect { .. } => cell_type == CellType::Code,
        _ => cell_type.runs(),
    };
    match notebook.cells.get(cell) {
        Some(cell) if fits(cell.content.cell_type) => Ok(()),
        Some(_) => refused("only code cells ask kernels"),
        None => refused("this notebook has no such cell: it is in the trash, or is not there yet"),
    }
}

/// The kernel that the question names, or the notebook's default one, if it runs and is reachable.
fn target(
    notebook: &Document,
    statuses: &[KernelStatus],
    named: Option<&KernelSessionId>,
) -> Result<(KernelSessionId, AgentId), KernelAnswer> {
    let no_kernel = |message: &str| QuestionRefusal::NoKernel.because(message);
    let id = named.or_else(|| default_session(notebook));
    let id =
        id.ok_or_else(|| no_kernel("no kernel runs in this notebook: run a cell or start a kernel, then ask again"))?;
    let unknown = || format!("no kernel session {id} in this notebook: it has ended, or never was");
    let session = notebook.kernels.get(id).ok_or_else(|| QuestionRefusal::UnknownKernelSession.because(unknown()))?;
    let agent = match (session.phase, &session.agent) {
        (KernelPhase::Started, Some(agent)) => agent.clone(),
        (KernelPhase::Ending, _) => return Err(no_kernel("the kernel is ending: start another")),
        _ => return Err(no_kernel("the kernel is still starting: ask again when it runs")),
    };
    let is_reachable = statuses.iter().any(|status| status.kernel_session == *id && status.reachable);
    if !is_reachable {
        return Err(unreachable());
    }
    Ok((id.clone(), agent))
}

/// Wraps an answer as a message of this notebook.
pub fn answer_to(id: u32, notebook: NotebookId, answer: KernelAnswer) -> ServerMessage {
    ServerMessage::KernelAnswer(KernelAnswerMessage { id, notebook, answer })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn waiting(asker: &str) -> (OpenQuestion, oneshot::Receiver<KernelAnswer>) {
        let (answer, answered) = oneshot::channel();
        let (asker, kernel_session) = (asker.to_owned(), "k".parse().unwrap());
        (OpenQuestion { asker, kernel_session, agent: ClientId(1), answer }, answered)
    }

    #[test]
    fn of_two_questions_of_one_connection_the_later_counts_in_whichever_order_they_get_through() {
        let questions = KernelQuestions::default();
        let (earlier, mut answered) = waiting("a");
        let _places = [
            questions.wait(1, earlier).unwrap(),
            questions.wait(2, waiting("b").0).unwrap(),
            questions.wait(4, waiting("a").0).unwrap(),
        ];
        assert_eq!(answered.try_recv().unwrap(), cancelled());
        assert_eq!(questions.wait(3, waiting("a").0).err(), Some(cancelled()));
        assert_eq!(questions.state.lock().waiting.keys().copied().collect::<Vec<_>>(), [2, 4]);
    }

    #[test]
    fn only_the_connection_that_was_asked_answers_and_its_end_is_an_answer() {
        let questions = KernelQuestions::default();
        let (one, mut answered) = waiting("a");
        let _place = questions.wait(1, one).unwrap();
        questions.answer(ClientId(2), 1, cancelled());
        assert!(answered.try_recv().is_err());
        questions.agent_left(ClientId(1));
        assert_eq!(answered.try_recv().unwrap(), unreachable());
    }

    #[test]
    fn one_token_asks_so_often_and_an_agent_has_so_many() {
        let questions = KernelQuestions::default();
        let token = "t".parse().unwrap();
        for _ in 0..MAX_PER_WINDOW {
            questions.number(&token).unwrap();
        }
        let refused = questions.number(&token).unwrap_err();
        assert!(matches!(refused, KernelAnswer::Refused { code: QuestionRefusal::RateLimited, .. }), "{refused:?}");
        assert!(questions.number(&"other".parse().unwrap()).is_ok());
        let mut kept = Vec::new();
        for number in 0..=MAX_PER_AGENT as u64 {
            let (one, answered) = waiting(&number.to_string());
            kept.push((questions.wait(number, one), answered));
        }
        assert_eq!(kept.pop().unwrap().0.err(), Some(too_many()));
        assert!(kept.iter().all(|(waits, _)| waits.is_ok()));
    }
}
