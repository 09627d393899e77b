//! The runs of a session: their state, the kernel's events that change it, and the functions that they register as tools.
//!
//! A refused registration is shown in the run that caused it. An invalid message fails only its own registration.

use bytes::Bytes;
use notarium_core::{
    CellId, Command, Effect, ExecutionId, ExecutionOutcome, ExecutionReport, ExplainedCause, FunctionPlace, Hash,
    KernelCause, KernelEnvironment, Millis, Open, RawObject, RefusalReport, Risk, UserFunction, Version,
};
use serde::Deserialize;
use serde_json::value::RawValue;
use sha2::{Digest, Sha256};

use super::reports::{ReportCommand, ToStore, notice};
use super::{KernelSessionMachine, SessionOutput, SessionPhase};
use crate::kernel::{EndCause, FinishStatus, KernelEvent, LossReason};
use crate::outputs::{KernelOutput, OutputCollector, OutputLimits};
use crate::supervisor::EffectRefusal;

/// Result of an execution, as the kernel reported it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct RunEnd {
    pub outcome: ExecutionOutcome,
    pub execution_count: Option<u64>,
}

#[derive(Debug)]
pub(super) struct SessionRun {
    /// Number of the run in its session.
    pub number: u64,
    pub fence: Version,
    pub collector: OutputCollector,
    pub end: Option<RunEnd>,
    /// True: interrupt when the kernel has begun the run.
    pub interrupt_wanted: bool,
    /// The run, or its kernel, was interrupted.
    pub is_interrupted: bool,
    pub waits_for_input: bool,
    /// A person requested the run of a cell: text that it offers goes into the cell.
    pub may_fill_cell: bool,
    /// The overflow file has output that is not reported.
    pub has_spilled: bool,
    /// Bytes of dropped output that are not reported.
    pub dropped_bytes: usize,
    timeout_ms: Option<Millis>,
    started_ms: Option<u64>,
    timed_out: bool,
    notices: Vec<String>,
}

/// Most notices that one run keeps; further ones would repeat the same.
const MAX_NOTICES: usize = 4;

impl SessionRun {
    pub fn new(number: u64, fence: Version, timeout_ms: Option<Millis>, limits: OutputLimits) -> Self {
        Self {
            number,
            fence,
            collector: OutputCollector::new(limits),
            end: None,
            interrupt_wanted: false,
            is_interrupted: false,
            waits_for_input: false,
            may_fill_cell: false,
            has_spilled: false,
            dropped_bytes: 0,
            timeout_ms,
            started_ms: None,
            timed_out: false,
            notices: Vec::new(),
        }
    }

    /// A report of the run, which is numbered when it is sent.
    pub fn report(&self, id: &ExecutionId, report: ExecutionReport, to_store: ToStore) -> ReportCommand {
        let command = Command::ReportExecution { execution_id: id.clone(), fence: self.fence, seq: 0, report };
        ReportCommand { to_store, ..ReportCommand::plain(command) }
    }

    pub fn start(&mut self, now_ms: u64) {
        self.started_ms.get_or_insert(now_ms);
    }

    pub fn is_started(&self) -> bool {
        self.started_ms.is_some()
    }

    pub fn is_finished(&self) -> bool {
        self.end.is_some()
    }

    /// Time of the next flush of outputs, or of the timeout.
    pub fn deadline(&self) -> Option<u64> {
        self.collector.deadline().into_iter().chain(self.timeout_deadline()).min()
    }

    fn timeout_deadline(&self) -> Option<u64> {
        let is_running = self.end.is_none() && !self.timed_out;
        Some(self.started_ms.filter(|_| is_running)?.saturating_add(self.timeout_ms?))
    }

    /// Returns true once, when the timeout of the request has passed.
    pub fn time_out(&mut self, now_ms: u64) -> bool {
        let is_over = self.timeout_deadline().is_some_and(|deadline| now_ms >= deadline);
        if is_over {
            self.timed_out = true;
            self.note(&format!(
                "interrupted after {}, as its request said",
                spoken(self.timeout_ms.unwrap_or_default())
            ));
        }
        is_over
    }

    /// Outcome if the kernel reports a failure.
    pub fn failure(&self) -> ExecutionOutcome {
        match (self.timed_out, self.is_interrupted) {
            (true, _) => ExecutionOutcome::TimedOut,
            (false, true) => ExecutionOutcome::Interrupted,
            (false, false) => ExecutionOutcome::Error,
        }
    }

    /// Adds a notice for people about the end of the run.
    pub fn note(&mut self, notice: &str) {
        if self.notices.len() < MAX_NOTICES && !self.notices.iter().any(|known| known == notice) {
            self.notices.push(notice.to_owned());
        }
    }

    pub fn notice(&self) -> Option<String> {
        (!self.notices.is_empty()).then(|| self.notices.join("; "))
    }
}

/// A duration in words.
pub(super) fn spoken(milliseconds: u64) -> String {
    match milliseconds {
        0..1000 => format!("{milliseconds} ms"),
        1000..120_000 => format!("{} s", milliseconds / 1000),
        120_000..7_200_000 => format!("{} minutes", milliseconds / 60_000),
        _ => format!("{} hours", milliseconds / 3_600_000),
    }
}

/// Longest prompt of an input request; the rest is cut.
const MAX_PROMPT_CHARACTERS: usize = 4_000;
/// Finished executions that are remembered for late outputs of their threads.
const MAX_FINISHED_RUNS: usize = 32;

impl KernelSessionMachine {
    pub(super) fn kernel(&mut self, now_ms: u64, event: KernelEvent) {
        match event {
            KernelEvent::Ready { language_info, sandbox, environment } => {
                let environment = environment.filter(|_| self.limits.reports_environment);
                self.ready(now_ms, language_info.as_deref(), sandbox, environment);
            }
            KernelEvent::Started { execution_id } => self.started(now_ms, &id_of(&execution_id)),
            KernelEvent::Output { execution_id, output } => self.output(now_ms, execution_id.as_ref(), output),
            KernelEvent::Functions { execution_id, data } => self.functions(now_ms, execution_id.as_ref(), &data),
            KernelEvent::Comm(comm) => self.comm(now_ms, comm),
            KernelEvent::InputRequest { execution_id, prompt, password } => {
                self.input_request(now_ms, execution_id.as_ref(), prompt, password);
            }
            KernelEvent::NextInput { execution_id, text, replace } => {
                self.next_input(now_ms, &id_of(&execution_id), text, replace);
            }
            KernelEvent::Finished { execution_id, status, execution_count } => {
                self.finished(now_ms, &id_of(&execution_id), status, execution_count);
            }
            KernelEvent::EffectRefused { execution_id, refusal } => self.effect_refused(&id_of(&execution_id), refusal),
            KernelEvent::HoldsOpen { execution_id, open } => self.holds_open(now_ms, &id_of(&execution_id), open),
            KernelEvent::OutputsLost { execution_id, reason } => self.outputs_lost(execution_id.as_ref(), reason),
            KernelEvent::Ended { cause, .. } => self.ended(now_ms, &cause),
        }
    }

    fn ready(
        &mut self,
        now_ms: u64,
        language_info: Option<&RawValue>,
        sandbox: RawObject,
        environment: Option<String>,
    ) {
        self.idle_since = now_ms;
        if self.phase != SessionPhase::Launching {
            return;
        }
        self.phase = SessionPhase::Running;
        let language_info = language_info.and_then(|info| RawObject::parse(info.get()).ok()).unwrap_or_default();
        let kernel_session = self.id.clone();
        let (environment, text) = environment.map(named_environment).unzip();
        let command = Command::ReportKernelStarted { kernel_session, language_info, sandbox, environment };
        self.push_report_of_start(command, text);
        self.flush();
    }

    pub(super) fn launch_failed(&mut self, why: ExplainedCause<KernelCause>) {
        match self.phase {
            SessionPhase::Launching => {
                let (kernel_session, ExplainedCause { cause, detail }) = (self.id.clone(), why);
                self.push_command(Command::ReportKernelLaunchFailed { kernel_session, cause, detail });
                self.phase = SessionPhase::Ended;
                self.flush();
            }
            SessionPhase::Stopping => {
                let shut_down = || ExplainedCause::new(KernelCause::ShutDown, "shut down while it was started");
                self.end_reported(self.own_cause.clone().unwrap_or_else(shut_down));
            }
            _ => {}
        }
    }

    fn started(&mut self, now_ms: u64, id: &Option<ExecutionId>) {
        let Some((id, run)) = id.as_ref().and_then(|id| Some((id, self.runs.get_mut(id)?))) else { return };
        run.start(now_ms);
        let wants_interrupt = std::mem::take(&mut run.interrupt_wanted);
        self.latest = Some(id.clone());
        let id = id.clone();
        self.push_report(now_ms, &id, ExecutionReport::Started {});
        if wants_interrupt {
            self.out.push(SessionOutput::Interrupt);
        }
    }

    fn output(&mut self, now_ms: u64, id: Option<&String>, output: KernelOutput) {
        let known = id.and_then(|id| id_of(id)).filter(|id| self.runs.contains_key(id)).or_else(|| self.latest.clone());
        let Some(id) = known else {
            // Output while a kernel starts belongs to its launch, not to a run.
            tracing::debug!(kernel_session = %self.id, "output of a kernel that has run nothing is not kept");
            return;
        };
        let Some(run) = self.runs.get_mut(&id) else { return };
        let mut emits = run.collector.handle(now_ms, output);
        if run.is_finished() {
            emits.extend(run.collector.finish(now_ms));
        }
        self.emit(now_ms, &id, emits);
    }

    fn input_request(&mut self, now_ms: u64, id: Option<&String>, prompt: String, password: bool) {
        let Some(id) = id.and_then(|id| id_of(id)).or_else(|| self.latest.clone()) else { return };
        let Some(run) = self.runs.get_mut(&id) else { return };
        run.waits_for_input = true;
        let prompt: String = prompt.chars().take(MAX_PROMPT_CHARACTERS).collect();
        let emits = run.collector.finish(now_ms);
        self.emit(now_ms, &id, emits);
        self.push_report(now_ms, &id, ExecutionReport::InputRequest { prompt, password });
        self.flush();
    }

    fn outputs_lost(&mut self, id: Option<&String>, reason: LossReason) {
        let id = id.and_then(|id| id_of(id)).or_else(|| self.latest.clone());
        if let Some(run) = id.and_then(|id| self.runs.get_mut(&id)) {
            run.note(match reason {
                LossReason::ReplyMissing => "the kernel did not say how this run ended: it may have been interrupted",
                LossReason::EndMissing | LossReason::Unreadable => "the kernel lost some of this run's output",
            });
        }
    }

    fn effect_refused(&mut self, id: &Option<ExecutionId>, refusal: EffectRefusal) {
        let Some((id, run)) = id.as_ref().and_then(|id| Some((id, self.runs.get(id)?))) else { return };
        let EffectRefusal { kind, target, count } = refusal;
        let (execution_id, fence) = (id.clone(), run.fence);
        self.push_command(Command::ReportEffectRefused(RefusalReport { execution_id, fence, kind, target, count }));
    }

    /// The kernel did not begin the run, so it has no other end.
    fn holds_open(&mut self, now_ms: u64, id: &Option<ExecutionId>, open: Vec<String>) {
        let Some(id) = id.as_ref().filter(|id| self.runs.contains_key(id)) else { return };
        self.push_report(now_ms, id, ExecutionReport::HoldsOpen { open });
        if let Some(run) = self.runs.get_mut(id) {
            run.end = Some(RunEnd { outcome: ExecutionOutcome::Error, execution_count: None });
        }
        self.forget_old_runs();
        self.idle_since = now_ms;
        self.flush();
    }

    fn finished(&mut self, now_ms: u64, id: &Option<ExecutionId>, status: FinishStatus, execution_count: Option<u64>) {
        let Some((id, run)) = id.as_ref().and_then(|id| Some((id, self.runs.get_mut(id)?))) else { return };
        // Some kernels (bash, R) reply "aborted" to an interrupt.
        if status == FinishStatus::Aborted && run.failure() == ExecutionOutcome::Error {
            run.note("the kernel did not run it, because one before it failed");
        }
        let outcome = if status == FinishStatus::Ok { ExecutionOutcome::Ok } else { run.failure() };
        run.end = Some(RunEnd { outcome, execution_count });
        self.close_progress(now_ms, id);
        self.complete(now_ms, id);
        self.forget_old_runs();
        self.idle_since = now_ms;
        self.flush();
    }

    /// Reports the run's queued outputs, and its end.
    fn complete(&mut self, now_ms: u64, id: &ExecutionId) {
        let Some(run) = self.runs.get_mut(id) else { return };
        let emits = run.collector.finish(now_ms);
        let needs_start = !run.is_started();
        if needs_start {
            run.start(now_ms);
            self.push_report(now_ms, id, ExecutionReport::Started {});
        }
        self.emit(now_ms, id, emits);
        self.mark_gap(now_ms, id);
        let Some(run) = self.runs.get_mut(id) else { return };
        let Some(end) = run.end else { return };
        let notice = run.notice();
        self.push_overflow(now_ms, id);
        // Before the end: an export at the end of the run has the widgets as the run left them.
        self.save_widgets(false);
        let RunEnd { outcome, execution_count } = end;
        let completed = ExecutionReport::Completed { outcome, execution_count, notice };
        self.push_report(now_ms, id, completed);
    }

    fn ended(&mut self, now_ms: u64, cause: &EndCause) {
        let open: Vec<ExecutionId> =
            self.runs.iter().filter(|(_, run)| !run.is_finished()).map(|(id, _)| id.clone()).collect();
        for id in open {
            let emits = self.runs.get_mut(&id).map(|run| run.collector.finish(now_ms)).unwrap_or_default();
            self.emit(now_ms, &id, emits);
            self.mark_gap(now_ms, &id);
            self.push_overflow(now_ms, &id);
        }
        let why = match (&self.own_cause, cause) {
            (Some(own), EndCause::Shutdown) => own.clone(),
            (_, cause) => cause.because(),
        };
        self.save_widgets(true);
        self.end_reported(why);
    }

    pub(super) fn end_reported(&mut self, ExplainedCause { cause, detail }: ExplainedCause<KernelCause>) {
        self.push_command(Command::ReportKernelEnded { kernel_session: self.id.clone(), cause, detail });
        self.phase = SessionPhase::Ended;
        self.flush();
    }

    /// Forgets the oldest finished runs; recent ones are kept for the outputs of their threads.
    fn forget_old_runs(&mut self) {
        while self.runs.values().filter(|run| run.is_finished()).count() > MAX_FINISHED_RUNS {
            let oldest = self.runs.iter().filter(|(_, run)| run.is_finished()).min_by_key(|(_, run)| run.number);
            let Some(id) = oldest.map(|(id, _)| id.clone()) else { return };
            self.runs.remove(&id);
        }
    }
}

/// The text of a kernel's environment as a blob.
fn named_environment(text: String) -> (KernelEnvironment, Bytes) {
    let (sha256, size_bytes) = (Hash(Sha256::digest(&text).into()), text.len() as u64);
    (KernelEnvironment { sha256, size_bytes }, text.into())
}

/// The driver passes our ids on as text.
fn id_of(text: &str) -> Option<ExecutionId> {
    ExecutionId::new(text).ok()
}

/// Largest registration message; the core's own limits are lower.
const MAX_REGISTRATION_BYTES: usize = 2 << 20;

#[derive(Deserialize)]
struct KernelRegistration {
    functions: Vec<DeclaredFunction>,
}

/// A function as the kernel's module describes it. A missing risk counts as the highest.
#[derive(Deserialize)]
struct DeclaredFunction {
    name: String,
    version: Option<String>,
    description: Option<String>,
    schema: RawObject,
    risk: Option<Box<RawValue>>,
    effects: Option<Vec<Open<Effect>>>,
    place: Option<DefinitionPlace>,
}

/// Location of the definition, for people. Unreadable fields are left out.
#[derive(Default, Deserialize)]
#[serde(default)]
struct DefinitionPlace {
    cell_id: Option<String>,
    module: Option<String>,
    line: Option<u64>,
}

impl KernelSessionMachine {
    pub(super) fn functions(&mut self, now_ms: u64, id: Option<&String>, data: &RawValue) {
        let known = id.and_then(|id| ExecutionId::new(id).ok()).filter(|id| self.runs.contains_key(id));
        let Some(id) = known.or_else(|| self.latest.clone()) else { return };
        let Some(fence) = self.runs.get(&id).map(|run| run.fence) else { return };
        match read(data) {
            Ok((functions, places)) => {
                let command = Command::RegisterFunctions { kernel_session: self.id.clone(), fence, functions, places };
                self.push_alone(ReportCommand { registered_by: Some(id), ..ReportCommand::plain(command) });
            }
            Err(problem) => self.say_of_functions(now_ms, &id, &not_registered(&problem)),
        }
    }

    pub(super) fn say_of_functions(&mut self, now_ms: u64, id: &ExecutionId, problem: &str) {
        self.push_report(now_ms, id, notice(&format!("\n[notarium: {problem}]\n")));
    }
}

pub(super) fn not_registered(problem: &str) -> String {
    format!("the functions were not registered: {problem}")
}

fn read(data: &RawValue) -> Result<(Vec<UserFunction>, Vec<FunctionPlace>), String> {
    if data.get().len() > MAX_REGISTRATION_BYTES {
        return Err(format!("they are described in more than {} MiB", MAX_REGISTRATION_BYTES >> 20));
    }
    let registration: KernelRegistration = serde_json::from_str(data.get()).map_err(|error| error.to_string())?;
    let places = registration.functions.iter().filter_map(DeclaredFunction::place).collect();
    Ok((registration.functions.into_iter().map(UserFunction::from).collect(), places))
}

impl DeclaredFunction {
    fn place(&self) -> Option<FunctionPlace> {
        let DefinitionPlace { cell_id, module, line } = self.place.as_ref()?;
        let cell_id = cell_id.as_deref().and_then(|id| CellId::new(id).ok());
        Some(FunctionPlace { name: self.name.clone(), cell_id, module: module.clone(), line: *line })
    }
}

impl From<DeclaredFunction> for UserFunction {
    fn from(declared: DeclaredFunction) -> Self {
        let risk = declared.risk.and_then(|risk| serde_json::from_str(risk.get()).ok()).unwrap_or(Risk::Destructive);
        // A function that names no effects has all that its risk allows.
        let all = if risk < Risk::Sensitive { &[][..] } else { &Effect::ALL[..] };
        let effects = declared.effects.unwrap_or_else(|| all.iter().copied().map(Open::Known).collect());
        Self {
            name: declared.name,
            version: declared.version.unwrap_or_default(),
            description: declared.description.unwrap_or_default(),
            schema: declared.schema,
            risk: risk.into(),
            effects,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outputs::raw_json;

    #[test]
    fn a_risk_that_is_not_known_is_the_worst() {
        let risk = |text: &str| {
            let sent = format!(r#"{{"functions":[{{"name":"f","schema":{{}},"extra":1{text}}}]}}"#);
            read(&raw_json(sent)).map(|(functions, _)| functions[0].risk.clone())
        };
        assert_eq!(risk(r#","risk":"read""#), Ok(Risk::Read.into()));
        for text in ["", r#","risk":"harmless""#, r#","risk":7"#, r#","risk":null"#] {
            assert_eq!(risk(text), Ok(Risk::Destructive.into()), "{text}");
        }
    }

    #[test]
    fn a_function_that_names_no_effects_has_all_that_its_risk_allows() {
        let effects = |text: &str| {
            let sent = format!(r#"{{"functions":[{{"name":"f","schema":{{}}{text}}}]}}"#);
            read(&raw_json(sent)).map(|(functions, _)| functions[0].effects.clone())
        };
        let all: Vec<Open<Effect>> = Effect::ALL.map(Open::Known).into();
        assert_eq!(effects(r#","risk":"sensitive""#), Ok(all.clone()));
        assert_eq!(effects(""), Ok(all));
        assert_eq!(effects(r#","risk":"edit""#), Ok(vec![]));
        assert_eq!(effects(r#","risk":"destructive","effects":[]"#), Ok(vec![]));
        assert_eq!(effects(r#","risk":"destructive","effects":["network"]"#), Ok(vec![Effect::Network.into()]));
    }

    #[test]
    fn what_is_no_registration_is_told() {
        for sent in [
            "null",
            "[]",
            "{}",
            r#"{"functions":{}}"#,
            r#"{"functions":[{"name":"f"}]}"#,
            r#"{"functions":[{"name":"f","schema":[]}]}"#,
        ] {
            assert!(read(&raw_json(sent.to_owned())).is_err(), "{sent}");
        }
    }
}
