//! Asks a kernel about code that is being written, or about tables and variables: rights, limits, the way to the
//! runtime agent.
//!
//! Questions and answers do not enter the log, and no kernel is started for one. Asking needs the right to run, because
//! kernels may run code to answer (a property, a `__dir__`).

use std::sync::Arc;
use std::time::Duration;

use notarium_core::{
    AgentId, CellType, Document, KernelPhase, KernelSessionId, NotebookId, Operation, RejectionCode, default_session,
    not_open,
};
use notarium_wire::{
    AskKernelMessage, FormatCells, KernelAnswer, KernelAnswerMessage, KernelQuestionMessage, KernelStatus,
    MAX_ASKED_BYTES, MAX_FORMATTED_BYTES, MAX_FORMATTED_CELLS, MAX_TABLE_FILTERS, MAX_TABLE_ROWS, MAX_TABLE_TEXT_BYTES,
    QuestionKind, QuestionRefusal, ReadTable, ServerMessage, TableName, characters_before,
};
use tokio::sync::oneshot;

use crate::agents::kernel_questions::{KernelQuestions, Waiting, cancelled, too_many, unreachable};
use crate::agents::{Agents, Reachable, frame};
use crate::limits::ServerLimits;
use crate::limits::clock::millis;
use crate::rooms::{Identity, Offered, ReadState, RoomHandle};

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
            return Err(QuestionRefusal::Forbidden.because(not_open(state.role, Operation::Run)));
        }
        if !self.identity.authority.scopes.contains(&Operation::Run.scope()) {
            let message = "this token lacks the scope run, and kernels may run code to answer: use one that has it";
            return Err(QuestionRefusal::Forbidden.because(message));
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
            Waiting { asker: asker.clone(), kernel_session: kernel_session.clone(), agent: agent.client, answer };
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
