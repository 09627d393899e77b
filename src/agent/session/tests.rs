//! Behaviour of the session machine, as pairs of input and output.

use notarium_core::{
    Command, Effect, ExecutionReport, ExplainedCause, KernelCause, Open, RawObject, RejectionCode, sentence,
};

use super::*;
use crate::kernel::{CommKind, EndCause, ExitStatus, FinishStatus, KernelComm, KernelEvent};
use crate::outputs::KernelOutput;
use crate::supervisor::EffectRefusal;

fn id(text: &str) -> ExecutionId {
    text.parse().unwrap()
}

fn ada() -> Actor {
    Actor::User { id: "ada".parse().unwrap() }
}

fn view(phase: KernelPhase, assigned: Option<&str>) -> SessionInput {
    let assigned = assigned.map(|execution| AssignedRun {
        execution_id: id(execution),
        fence: 7,
        source: "1+1".into(),
        cell_id: None,
        timeout_ms: None,
        cancel_requested: false,
        effects: Effects::Free,
        requested_by: ada(),
    });
    SessionInput::View(SessionView { phase: Some(phase), assigned })
}

fn ready() -> SessionInput {
    SessionInput::Kernel(KernelEvent::Ready { language_info: None, sandbox: RawObject::default(), environment: None })
}

fn started(execution: &str) -> SessionInput {
    SessionInput::Kernel(KernelEvent::Started { execution_id: execution.into() })
}

fn text(execution: &str, text: &str) -> SessionInput {
    let output = KernelOutput::Stream { name: "stdout".into(), text: text.into() };
    SessionInput::Kernel(KernelEvent::Output { execution_id: Some(execution.into()), output })
}

fn finished(execution: &str, status: FinishStatus) -> SessionInput {
    let (execution_id, execution_count) = (execution.into(), Some(1));
    SessionInput::Kernel(KernelEvent::Finished { execution_id, status, execution_count })
}

fn died() -> SessionInput {
    let cause = EndCause::Died { status: ExitStatus::Signal(9), output_tail: String::new() };
    SessionInput::Kernel(KernelEvent::Ended { cause, unfinished: vec![] })
}

/// Short forms of the outputs: `execute e`, `report started, output …`.
fn said(outputs: &[SessionOutput]) -> Vec<String> {
    outputs.iter().map(say).collect()
}

fn say(output: &SessionOutput) -> String {
    match output {
        SessionOutput::Execute { execution_id, .. } => format!("execute {execution_id}"),
        SessionOutput::Report(report) => {
            let commands: Vec<String> = report.commands.iter().map(say_command).collect();
            format!("report {}", commands.join(", "))
        }
        SessionOutput::Spill { bytes, .. } => format!("spill {}", bytes.len()),
        SessionOutput::AnswerInput(value) => format!("answer {value}"),
        SessionOutput::Busy(busy) => format!("busy {busy}"),
        SessionOutput::Stop { .. } => "stop".into(),
        other => format!("{other:?}").to_lowercase(),
    }
}

fn say_command(pending: &ReportCommand) -> String {
    let report = match &pending.command {
        Command::ReportExecution { report, .. } => report,
        Command::ReportKernelStarted { .. } => return "kernel started".into(),
        Command::ReportKernelEnded { cause, detail, .. } => {
            return format!("kernel ended: {}", sentence(&(*cause).into(), detail.as_deref()));
        }
        Command::ReportKernelLaunchFailed { cause, detail, .. } => {
            return format!("launch failed: {}", sentence(&(*cause).into(), detail.as_deref()));
        }
        Command::SaveWidgets { state, .. } => return format!("widgets {}", state.get()),
        Command::RegisterFunctions { .. } => {
            return format!("functions of {}", pending.registered_by.as_ref().unwrap());
        }
        other => return format!("{other:?}"),
    };
    match report {
        ExecutionReport::Started {} => "started".into(),
        ExecutionReport::Completed { outcome, notice, .. } => {
            format!(
                "completed {}{}",
                Open::Known(*outcome),
                notice.as_ref().map(|notice| format!(" ({notice})")).unwrap_or_default()
            )
        }
        ExecutionReport::InputRequest { .. } => "input".into(),
        ExecutionReport::Output { .. } if matches!(pending.to_store, ToStore::Overflow) => "overflow".into(),
        ExecutionReport::Output { outputs } if outputs[0].content.get().contains("are missing here") => "gap".into(),
        ExecutionReport::Output { .. } => "output".into(),
        ExecutionReport::UpdateDisplay { .. } => "update".into(),
        other => format!("{other:?}"),
    }
}

/// A session with small limits.
struct Tested {
    session: KernelSessionMachine,
    now: u64,
    reports: Vec<Report>,
}

impl Tested {
    fn new(change: impl FnOnce(&mut KernelSessionLimits)) -> Self {
        let mut limits = KernelSessionLimits::default();
        change(&mut limits);
        Self { session: KernelSessionMachine::new("k".parse().unwrap(), limits, 0), now: 0, reports: Vec::new() }
    }

    /// A session whose kernel has started.
    fn running(change: impl FnOnce(&mut KernelSessionLimits)) -> Self {
        let mut tested = Self::new(change);
        tested.give(view(KernelPhase::Claimed, None));
        tested.give(ready());
        tested.answer_all(None);
        tested
    }

    fn give(&mut self, input: SessionInput) -> Vec<String> {
        let outputs = self.session.handle(self.now, input);
        let said = said(&outputs);
        self.reports.extend(outputs.into_iter().filter_map(|output| match output {
            SessionOutput::Report(report) => Some(report),
            _ => None,
        }));
        said
    }

    fn later(&mut self, milliseconds: u64) -> Vec<String> {
        self.now += milliseconds;
        self.give(SessionInput::Tick)
    }

    fn answer_all(&mut self, refusal: Option<RejectionCode>) -> Vec<String> {
        let reports = std::mem::take(&mut self.reports);
        let refusal = refusal.map(|code| (code, "because".to_owned()));
        reports
            .into_iter()
            .flat_map(|report| {
                let answer = refusal.clone().map_or(Ok(Vec::new()), Err);
                self.give(SessionInput::Answered { report, answer })
            })
            .collect()
    }
}

#[test]
fn a_claimed_session_is_launched_once_and_its_start_reported() {
    let mut tested = Tested::new(|_| ());
    assert_eq!(tested.give(view(KernelPhase::Claimed, None)), ["launch"]);
    assert!(tested.give(view(KernelPhase::Claimed, None)).is_empty());
    assert_eq!(tested.give(ready()), ["report kernel started"]);
}

#[test]
fn a_short_run_is_one_command() {
    let mut tested = Tested::running(|_| ());
    assert_eq!(tested.give(view(KernelPhase::Started, Some("e"))), ["execute e"]);
    assert!(tested.give(view(KernelPhase::Started, Some("e"))).is_empty(), "it runs once");
    assert!(tested.give(started("e")).is_empty());
    assert!(tested.give(text("e", "2\n")).is_empty());
    assert_eq!(tested.give(finished("e", FinishStatus::Ok)), ["report started, output, completed ok"]);
    assert_eq!(tested.session.deadline(), None);
}

#[test]
fn a_long_run_shows_its_start_and_outputs_meanwhile() {
    let mut tested = Tested::running(|_| ());
    tested.give(view(KernelPhase::Started, Some("e")));
    tested.give(started("e"));
    tested.give(text("e", "a"));
    assert_eq!(tested.later(10), ["busy true", "report started, output"]);
    tested.give(text("e", "b"));
    tested.now += 50;
    assert!(tested.later(50).contains(&"report output".to_owned()) || tested.later(50) == ["report output"]);
    assert_eq!(tested.give(finished("e", FinishStatus::Error)), ["busy false", "report completed error"]);
}

#[test]
fn an_updated_result_stays_a_result_with_its_count() {
    let mut tested = Tested::running(|_| ());
    tested.give(view(KernelPhase::Started, Some("e")));
    tested.give(started("e"));
    let output = |kind: &str, id: &str| {
        let object =
            format!(r#"{{"output_type":"{kind}","execution_count":7,"data":{{"text/plain":"a"}},"metadata":{{}}}}"#);
        let output = RawValue::from_string(object).unwrap();
        let output = KernelOutput::Object { output, display_id: Some(id.to_owned()) };
        SessionInput::Kernel(KernelEvent::Output { execution_id: Some("e".into()), output })
    };
    tested.give(output("execute_result", "result"));
    tested.give(output("display_data", "display"));
    for id in ["result", "display", "unknown"] {
        let content = RawValue::from_string(r#"{"data":{"text/plain":"b"},"metadata":{}}"#.to_owned()).unwrap();
        let output = KernelOutput::Update { display_id: id.to_owned(), content };
        tested.give(SessionInput::Kernel(KernelEvent::Output { execution_id: Some("e".into()), output }));
    }
    tested.give(finished("e", FinishStatus::Ok));
    let updates =
        tested.reports.iter().flat_map(|report| &report.commands).filter_map(|pending| match &pending.command {
            Command::ReportExecution { report: ExecutionReport::UpdateDisplay { output, .. }, .. } => Some(output),
            _ => None,
        });
    let updates: Vec<(Option<String>, bool)> = updates
        .map(|output| {
            let content: serde_json::Value = serde_json::from_str(output.content.get()).unwrap();
            assert_eq!(content["data"]["text/plain"], "b");
            (content["output_type"].as_str().map(str::to_owned), content["execution_count"] == 7)
        })
        .collect();
    let of = |kind: &str, has_count: bool| (Some(kind.to_owned()), has_count);
    assert_eq!(updates, [of("execute_result", true), of("display_data", false), of("display_data", false)]);
}

#[test]
fn an_interrupt_before_the_kernel_has_begun_is_sent_again_when_it_begins() {
    let mut tested = Tested::running(|_| ());
    tested.give(view(KernelPhase::Started, Some("e")));
    assert_eq!(tested.give(SessionInput::Interrupt { execution_id: Some(id("e")) }), ["interrupt"]);
    assert_eq!(tested.give(started("e")), ["interrupt"]);
    assert_eq!(tested.give(SessionInput::Interrupt { execution_id: Some(id("other")) }), Vec::<String>::new());
    assert_eq!(tested.give(SessionInput::Interrupt { execution_id: None }), ["interrupt"]);
}

#[test]
fn a_request_of_code_belongs_to_the_run_that_has_the_kernel() {
    let mut tested = Tested::running(|_| ());
    assert_eq!(tested.session.origin(), None);
    tested.give(view(KernelPhase::Started, Some("e")));
    let callers = KernelCallers { people: [ada()].into(), assistant: None };
    assert_eq!(tested.session.origin(), Some(KernelRequestOrigin { run: id("e"), callers }));
    tested.give(finished("e", FinishStatus::Ok));
    assert_eq!(tested.session.origin(), None, "a thread that lives on has no run");
}

#[test]
fn a_timeout_interrupts_and_says_so() {
    let mut tested = Tested::running(|_| ());
    let assigned = AssignedRun {
        execution_id: id("e"),
        fence: 7,
        source: "while True: pass".into(),
        cell_id: None,
        timeout_ms: Some(2000),
        cancel_requested: false,
        effects: Effects::Free,
        requested_by: ada(),
    };
    tested.give(SessionInput::View(SessionView { phase: Some(KernelPhase::Started), assigned: Some(assigned) }));
    tested.give(started("e"));
    tested.later(10);
    assert_eq!(tested.session.deadline(), Some(2000));
    assert_eq!(tested.later(1990), ["interrupt"]);
    assert!(tested.later(5000).is_empty(), "once");
    let end = tested.give(finished("e", FinishStatus::Error));
    assert_eq!(end.last().unwrap(), "report completed timed_out (interrupted after 2 s, as its request said)");
}

#[test]
fn a_question_goes_out_behind_what_was_written_before() {
    let mut tested = Tested::running(|_| ());
    tested.give(view(KernelPhase::Started, Some("e")));
    tested.give(started("e"));
    tested.give(text("e", "a"));
    tested.give(text("e", "b"));
    let execution_id = Some("e".to_owned());
    let question = KernelEvent::InputRequest { execution_id, prompt: "name?".into(), password: false };
    assert_eq!(tested.give(SessionInput::Kernel(question)), ["report started, output, output, input"]);
    assert_eq!(tested.give(SessionInput::Answer { execution_id: id("e"), value: "x".into() }), ["answer x"]);
    assert!(tested.give(SessionInput::Answer { execution_id: id("e"), value: "y".into() }).is_empty(), "answered once");
}

#[test]
fn a_dead_kernel_is_reported_behind_its_last_output_and_the_session_ends_when_that_is_acked() {
    let mut tested = Tested::running(|_| ());
    tested.give(view(KernelPhase::Started, Some("e")));
    tested.give(started("e"));
    tested.give(text("e", "a"));
    tested.give(text("e", "last words"));
    let said = tested.give(died());
    assert_eq!(said.len(), 1);
    assert!(
        said[0].starts_with("report started, output, output, kernel ended: the kernel process was killed"),
        "{said:?}"
    );
    assert_eq!(tested.answer_all(None), ["over"]);
}

#[test]
fn a_stale_fence_stops_the_writing_and_kills_the_kernel() {
    let mut tested = Tested::running(|_| ());
    tested.give(view(KernelPhase::Started, Some("e")));
    tested.give(started("e"));
    tested.later(10);
    assert_eq!(tested.answer_all(Some(RejectionCode::StaleFence)), ["kill", "over"]);
    assert!(tested.give(text("e", "more")).is_empty());
    assert!(tested.give(died()).is_empty());
}

#[test]
fn a_session_that_the_log_does_not_know_is_killed() {
    let mut tested = Tested::running(|_| ());
    assert_eq!(tested.give(SessionInput::View(SessionView { phase: None, assigned: None })), ["kill", "over"]);
}

#[test]
fn without_a_connection_the_middle_is_dropped_with_a_notice_and_the_end_is_kept() {
    let mut tested = Tested::running(|limits| {
        limits.max_buffered_bytes = 3000;
        limits.outputs.coalesce_ms = 0;
    });
    tested.give(SessionInput::Online(false));
    tested.give(view(KernelPhase::Started, Some("e")));
    tested.give(started("e"));
    for _ in 0..10 {
        tested.give(text("e", &"x".repeat(1000)));
        tested.later(20);
    }
    tested.give(finished("e", FinishStatus::Ok));
    let told: Vec<String> = tested.reports.iter().flat_map(|report| report.commands.iter().map(say_command)).collect();
    assert_eq!(told, ["started", "output", "output", "gap", "completed ok"]);
}

#[test]
fn a_connected_session_makes_the_kernel_wait_instead() {
    let mut tested = Tested::running(|limits| {
        limits.max_unanswered_bytes = 3000;
        limits.outputs.coalesce_ms = 0;
    });
    tested.give(view(KernelPhase::Started, Some("e")));
    tested.give(started("e"));
    tested.give(text("e", &"x".repeat(5000)));
    tested.later(20);
    assert!(!tested.session.takes_output());
    tested.answer_all(None);
    assert!(tested.session.takes_output());
}

#[test]
fn a_kernel_that_answers_an_interrupt_with_abort_was_interrupted() {
    let mut tested = Tested::running(|_| ());
    tested.give(view(KernelPhase::Started, Some("e")));
    tested.give(started("e"));
    tested.give(SessionInput::Interrupt { execution_id: None });
    let end = tested.give(finished("e", FinishStatus::Aborted));
    assert_eq!(end.last().unwrap(), "report started, completed interrupted");
    tested.give(view(KernelPhase::Started, Some("f")));
    let end = tested.give(finished("f", FinishStatus::Aborted));
    assert!(end.last().unwrap().contains("completed error (the kernel did not run it"), "{end:?}");
}

#[test]
fn what_goes_beyond_the_limit_is_spilled_and_named_before_the_end() {
    let mut tested = Tested::running(|limits| limits.outputs.max_log_lines = 2);
    tested.give(view(KernelPhase::Started, Some("e")));
    tested.give(started("e"));
    let spilled = tested.give(text("e", "1\n2\n3\n4\n"));
    assert_eq!(spilled, ["spill 4"]);
    let end = tested.give(finished("e", FinishStatus::Ok));
    assert_eq!(end.last().unwrap(), "report started, output, overflow, completed ok");
}

#[test]
fn output_of_a_thread_after_the_end_is_still_reported() {
    let mut tested = Tested::running(|_| ());
    tested.give(view(KernelPhase::Started, Some("e")));
    tested.give(started("e"));
    tested.give(finished("e", FinishStatus::Ok));
    tested.now += 1000;
    tested.give(text("e", "late"));
    assert_eq!(tested.later(10), ["report output"]);
}

#[test]
fn an_idle_kernel_is_shut_down_and_a_busy_one_is_not() {
    let mut tested = Tested::running(|limits| limits.idle_timeout_ms = Some(60_000));
    tested.give(view(KernelPhase::Started, Some("e")));
    tested.give(started("e"));
    assert!(!tested.later(100_000).contains(&"stop".to_owned()));
    tested.give(finished("e", FinishStatus::Ok));
    assert_eq!(tested.later(60_000), ["stop"]);
    let ended = SessionInput::Kernel(KernelEvent::Ended { cause: EndCause::Shutdown, unfinished: vec![] });
    assert_eq!(tested.give(ended), ["report kernel ended: shut down after 60 s without work"]);
}

#[test]
fn a_failed_launch_is_reported_with_its_cause() {
    let mut tested = Tested::new(|_| ());
    tested.give(view(KernelPhase::Claimed, None));
    let failed =
        tested.give(SessionInput::LaunchFailed(ExplainedCause::new(KernelCause::Died, "no module named ipykernel")));
    assert_eq!(failed, ["report launch failed: no module named ipykernel"]);
    assert_eq!(tested.answer_all(None), ["over"]);
}

#[test]
fn a_shutdown_while_launching_stops_the_launch() {
    let mut tested = Tested::new(|_| ());
    tested.give(view(KernelPhase::Claimed, None));
    assert_eq!(tested.give(view(KernelPhase::Ending, None)), ["stop"]);
    let failed = tested.give(SessionInput::LaunchFailed(KernelCause::CannotStart.into()));
    assert_eq!(failed, ["report kernel ended: shut down while it was started"]);
}

#[test]
fn functions_are_registered_alone_and_a_refusal_stands_in_the_run() {
    let functions = |data: &str| {
        let data = crate::outputs::raw_json(data.to_owned());
        SessionInput::Kernel(KernelEvent::Functions { execution_id: Some("e".into()), data })
    };
    let sound = r#"{"functions":[{"name":"f","schema":{"type":"object"}}]}"#;
    let mut tested = Tested::running(|_| ());
    assert!(tested.give(functions(sound)).is_empty(), "of a run that the session does not know");
    tested.give(view(KernelPhase::Started, Some("e")));
    tested.give(started("e"));
    assert_eq!(tested.give(functions(sound)), ["report started", "report functions of e"]);
    tested.answer_all(Some(RejectionCode::InvalidValue));
    assert!(tested.later(20).concat().contains("output"), "the refusal is told");
    tested.give(functions("7"));
    assert!(tested.later(20).concat().contains("output"), "a malformed one is told");
    assert_eq!(tested.session.phase, SessionPhase::Running);
}

fn assigned(execution: &str, effects: Effects) -> SessionInput {
    let SessionInput::View(SessionView { phase, assigned }) = view(KernelPhase::Started, Some(execution)) else {
        unreachable!("a view")
    };
    SessionInput::View(SessionView { phase, assigned: assigned.map(|run| AssignedRun { effects, ..run }) })
}

#[test]
fn a_run_has_its_effects_and_refused_ones_are_reported_before_its_end() {
    let mut tested = Tested::running(|_| ());
    let effects = Effects::held([Effect::Write]);
    let outputs = tested.session.handle(0, assigned("e", effects.clone()));
    assert!(matches!(&outputs[0], SessionOutput::Execute { effects: given, .. } if *given == effects), "{outputs:?}");
    tested.give(started("e"));
    let refusal = EffectRefusal { kind: Effect::Remove, target: "data.csv".into(), count: 3 };
    tested.give(SessionInput::Kernel(KernelEvent::EffectRefused { execution_id: "e".into(), refusal }));
    let end = tested.give(finished("e", FinishStatus::Error));
    let (refused, completed) = (end[0].find("ReportEffectRefused"), end[0].find("completed"));
    assert!(refused.is_some() && refused < completed, "{end:?}");
    assert!(end[0].contains("count: 3") && end[0].contains("data.csv"), "{end:?}");
}

#[test]
fn a_run_that_was_not_begun_is_reported_and_over() {
    let mut tested = Tested::running(|limits| limits.idle_timeout_ms = Some(60_000));
    tested.give(assigned("e", Effects::held([])));
    let open = vec!["sales.db".to_owned()];
    let told = tested.give(SessionInput::Kernel(KernelEvent::HoldsOpen { execution_id: "e".into(), open }));
    assert_eq!(told, [r#"report HoldsOpen { open: ["sales.db"] }"#]);
    assert_eq!(tested.later(60_000), ["stop"], "nothing runs");
}

#[test]
fn widgets_are_saved_before_the_end_of_a_run_that_changed_them() {
    let comm = |kind: CommKind, state: &str| {
        let data = RawObject::parse(&format!(r#"{{"method":"update","state":{state}}}"#)).unwrap();
        SessionInput::Kernel(KernelEvent::Comm(KernelComm { kind, comm_id: "s".into(), data, ..KernelComm::default() }))
    };
    let mut tested = Tested::running(|_| {});
    let mut saved = Vec::new();
    for (run, message) in [
        ("made", Some(comm(CommKind::Opened, r#"{"value":1}"#))),
        ("changed", Some(comm(CommKind::Message, r#"{"value":7}"#))),
        ("neither", None),
    ] {
        tested.give(view(KernelPhase::Started, Some(run)));
        tested.give(started(run));
        if let Some(message) = message {
            tested.give(message);
        }
        let reports = tested.give(finished(run, FinishStatus::Ok));
        saved.push(reports.into_iter().filter(|report| report.starts_with("report ")).collect::<Vec<_>>().join("; "));
        tested.answer_all(None);
    }
    let place = |text: &String, part: &str| text.find(part).unwrap_or_else(|| panic!("no {part} in {text}"));
    assert!(place(&saved[0], r#"widgets {"s":"#) < place(&saved[0], "completed ok"), "{saved:?}");
    assert!(place(&saved[1], r#""value":7"#) < place(&saved[1], "completed ok"), "{saved:?}");
    assert!(!saved[2].contains("widgets"), "{saved:?}");
}
