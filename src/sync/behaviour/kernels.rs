//! Tests of runtime agents: work, leases, answers, and control that overtakes output.

use notarium_core::{ExecutionStatus, KernelSessionId, RejectionCode};
use notarium_wire::{AckMessage, KernelUsage, ServerMessage};

use super::{LAUNCH, Scene, agent, edit, user};
use crate::RoomConfig;
use crate::io::{ClientId, ClientInput, Input, Output, ReplyTo, Submission};
use crate::room::queue::PendingCommand;

/// A started kernel of the agent on connection 9.
pub(crate) fn with_kernel() -> (Scene, KernelSessionId) {
    let mut scene = Scene::new(RoomConfig::default());
    scene.execute("anna", LAUNCH).unwrap();
    let session = scene.room.state.kernels.keys().next().unwrap().clone();
    scene.subscribe(9, &agent(), None);
    report(&mut scene, &format!(r#"{{"ClaimKernelLaunch":{{"kernel_session":"{session}"}}}}"#));
    report(&mut scene, &format!(r#"{{"ReportKernelStarted":{{"kernel_session":"{session}","language_info":{{}}}}}}"#));
    (scene, session)
}

fn report(scene: &mut Scene, body: &str) {
    let message = scene.message(body);
    scene.execute_message(&agent(), message).unwrap();
}

/// Requests a run of cell `a`; returns its id and fence.
fn run(scene: &mut Scene) -> (String, u64) {
    let ack = scene.execute("anna", r#"{"RequestExecution":{"target":{"cell":{"cell_id":"a"}}}}"#).unwrap();
    let id = ack.outcome.executions[0].clone();
    (id.to_string(), scene.room.state.executions[&id].fence.unwrap())
}

fn of_execution(run: &(String, u64), seq: u64, report: &str) -> String {
    let (id, fence) = run;
    format!(r#"{{"ReportExecution":{{"execution_id":"{id}","fence":{fence},"seq":{seq},"report":{report}}}}}"#)
}

#[test]
fn a_launch_is_work_until_somebody_claims_it_and_again_after_a_restart() {
    let is_wanted = |scene: &Scene| scene.others.iter().any(|it| matches!(it, Output::WorkWanted { .. }));
    let mut scene = Scene::new(RoomConfig::default());
    scene.execute("anna", LAUNCH).unwrap();
    assert!(is_wanted(&scene));
    let scene = scene.restarted(RoomConfig::default());
    assert!(is_wanted(&scene));
    let (scene, session) = with_kernel();
    let settled = |it: &Output| matches!(it, Output::WorkSettled { kernel_session } if *kernel_session == session);
    assert!(scene.others.iter().any(settled));
    assert!(!is_wanted(&scene.restarted(RoomConfig::default())));
}

#[test]
fn an_agent_that_is_gone_is_unreachable_then_its_kernel_is_given_up() {
    let (mut scene, session) = with_kernel();
    scene.subscribe(1, &user("anna"), None);
    scene.feed(Input::Client(ClientId(1), ClientInput::KernelStatus { kernel_session: session.clone(), busy: true }));
    scene.advance(100);
    assert!(!scene.words(1).contains(&"kernels [(true, true)]".to_owned()), "only its agent may say that");
    scene.feed(Input::Client(ClientId(9), ClientInput::KernelStatus { kernel_session: session, busy: true }));
    scene.advance(100);
    assert_eq!(scene.words(1), ["kernels [(true, true)]"]);
    run(&mut scene);
    scene.seen(1);
    scene.feed(Input::Client(ClientId(9), ClientInput::Unsubscribe));
    scene.advance(2_900);
    assert!(scene.words(1).is_empty());
    scene.advance(200);
    assert_eq!(scene.words(1), ["kernels [(false, true)]"]);
    scene.subscribe(9, &agent(), None);
    scene.advance(100);
    assert_eq!(scene.words(1), ["kernels [(true, true)]"]);
    scene.feed(Input::Client(ClientId(9), ClientInput::Unsubscribe));
    scene.advance(15 * 60_000 - 1_000);
    assert_eq!(scene.room.state.kernels.len(), 1);
    scene.advance(2_000);
    assert!(scene.room.state.kernels.is_empty());
    let lost = scene.room.state.executions.values().next().unwrap();
    assert_eq!(lost.status, notarium_core::ExecutionStatus::Lost);
    assert!(lost.notice.as_ref().unwrap().contains("15 minutes"));
}

#[test]
fn kernels_are_measured_while_somebody_looks() {
    let (mut scene, session) = with_kernel();
    let usage = |memory_bytes| KernelUsage { memory_bytes, cpu_percent: Some(50) };
    let use_of = |client, memory| {
        let (kernel_session, usage) = (session.clone(), usage(memory));
        Input::Client(ClientId(client), ClientInput::KernelUse { kernel_session, usage })
    };
    let told = |scene: &mut Scene| {
        let asks = scene.seen(9).into_iter().filter_map(|message| match message {
            ServerMessage::MeasureKernels { wanted, .. } => Some(wanted),
            _ => None,
        });
        asks.collect::<Vec<_>>()
    };
    let shown = |scene: &mut Scene| {
        scene.advance(100);
        scene.seen(1).into_iter().rev().find_map(|message| match message {
            ServerMessage::Subscribed(message) => Some(message.kernels[0].usage),
            ServerMessage::Kernels { kernels, .. } => Some(kernels[0].usage),
            _ => None,
        })
    };
    scene.feed(use_of(9, 1));
    assert!(told(&mut scene).is_empty(), "nobody looks");

    scene.subscribe(1, &user("anna"), None);
    assert_eq!(told(&mut scene), [true]);
    assert_eq!(shown(&mut scene), Some(None), "what came unasked is not kept");
    scene.feed(use_of(1, 2));
    assert_eq!(shown(&mut scene).flatten(), None, "only its agent may say that");
    scene.feed(use_of(9, 3));
    assert_eq!(shown(&mut scene), Some(Some(usage(3))));
    scene.subscribe(9, &agent(), None);
    assert_eq!(told(&mut scene), [true], "it does not remember it over a subscription");

    scene.feed(Input::Client(ClientId(9), ClientInput::Unsubscribe));
    assert_eq!(shown(&mut scene), Some(None), "it is gone");
    scene.subscribe(9, &agent(), None);
    scene.feed(Input::Client(ClientId(1), ClientInput::Unsubscribe));
    assert_eq!(told(&mut scene), [true, false]);
    scene.subscribe(1, &user("anna"), None);
    assert_eq!(shown(&mut scene), Some(None), "nothing is shown of the time before");
}

#[test]
fn a_kernel_outlives_a_restart_of_the_server_for_the_length_of_the_lease() {
    let (scene, _) = with_kernel();
    let mut scene = scene.restarted(RoomConfig::default());
    scene.advance(14 * 60_000);
    assert_eq!(scene.room.state.kernels.len(), 1);
    scene.subscribe(9, &agent(), None);
    scene.advance(60 * 60_000);
    assert_eq!(scene.room.state.kernels.len(), 1);
}

#[test]
fn an_answer_reaches_the_agent_alone_and_a_password_is_nowhere_else() {
    let (mut scene, _) = with_kernel();
    scene.subscribe(1, &user("anna"), None);
    let run = run(&mut scene);
    report(&mut scene, &of_execution(&run, 1, r#"{"started":{}}"#));
    report(&mut scene, &of_execution(&run, 2, r#"{"input_request":{"prompt":"?","password":true}}"#));
    scene.seen(1);
    scene.seen(9);
    let answer = |value: &str| format!(r#"{{"AnswerInput":{{"execution_id":"{}","value":"{value}"}}}}"#, run.0);
    let message = scene.named("answer", &answer("hunter2"));
    scene.execute_message(&user("anna"), message).unwrap();
    scene.advance(100);
    assert!(scene.words(9).contains(&"input hunter2".to_owned()));
    assert!(!scene.words(1).iter().any(|words| words.starts_with("input")));
    assert!(!scene.disk.events.iter().any(|stored| stored.payload.get().contains("hunter2")));
    // The stored digest is independent of the answer, so it reveals nothing.
    let record = scene.disk.command("user:anna", &"answer".parse().unwrap()).unwrap();
    let (identity, message) = (user("anna"), scene.named("x", &answer("guess")));
    let other = PendingCommand::new(Submission::where_all_are_active(identity, message, ReplyTo::Nobody), 0);
    assert_eq!(record.digest, other.digest);
}

#[test]
fn an_answer_waits_for_an_agent_that_is_away() {
    let (mut scene, _) = with_kernel();
    let run = run(&mut scene);
    report(&mut scene, &of_execution(&run, 1, r#"{"started":{}}"#));
    report(&mut scene, &of_execution(&run, 2, r#"{"input_request":{"prompt":"?","password":false}}"#));
    scene.feed(Input::Client(ClientId(9), ClientInput::Unsubscribe));
    scene.seen(9);
    scene.execute("anna", &format!(r#"{{"AnswerInput":{{"execution_id":"{}","value":"42"}}}}"#, run.0)).unwrap();
    assert!(scene.words(9).is_empty());
    scene.subscribe(9, &agent(), None);
    assert!(scene.words(9).contains(&"input 42".to_owned()));
    scene.subscribe(9, &agent(), None);
    assert!(!scene.words(9).contains(&"input 42".to_owned()), "once");
}

#[test]
fn an_interrupt_overtakes_the_output_that_waits() {
    let (mut scene, session) = with_kernel();
    let run = run(&mut scene);
    report(&mut scene, &of_execution(&run, 1, r#"{"started":{}}"#));
    scene.is_held = true;
    scene.send(1, &user("anna"), &edit(2, r#"[[0,"x"]]"#));
    let output = r#"{"output":{"outputs":[{"content":{"output_type":"stream","name":"stdout","text":"flood"}}]}}"#;
    for seq in 2..50 {
        scene.send(9, &agent(), &of_execution(&run, seq, output));
    }
    scene.send(1, &user("anna"), &format!(r#"{{"InterruptKernel":{{"kernel_session":"{session}"}}}}"#));
    while scene.release() > 0 {}
    let types: Vec<&str> = scene.disk.events.iter().rev().take(49).map(|it| &*it.envelope.event_type).collect();
    assert_eq!(types[48], "KernelInterruptRequested");
    assert!(types[..48].iter().all(|it| *it == "ExecutionOutputAppended"));
}

#[test]
fn a_stale_fence_is_refused() {
    let (mut scene, _) = with_kernel();
    let (id, fence) = run(&mut scene);
    let body = of_execution(&(id, fence - 1), 1, r#"{"started":{}}"#);
    let message = scene.message(&body);
    assert_eq!(scene.execute_message(&agent(), message).unwrap_err().code, RejectionCode::StaleFence);
}

#[test]
fn a_notebook_that_cannot_be_written_asks_for_no_work_and_ends_no_kernel_again_and_again() {
    let (mut scene, _) = with_kernel();
    scene.execute("anna", r#"{"LaunchKernel":{"kernelspec":"other"}}"#).unwrap();
    scene.disk.add_unknown_event();
    let written = scene.disk.events.len();
    let mut scene = scene.restarted(RoomConfig::default());
    scene.subscribe(9, &agent(), None);
    scene.feed(Input::Client(ClientId(9), ClientInput::Unsubscribe));
    scene.subscribe(1, &user("anna"), None);
    for _ in 0..60 {
        scene.advance(60_000);
        let now = scene.now;
        assert!(scene.room.wake_at(now).is_none_or(|at| at > now), "it wakes for nothing");
    }
    let asks = |it: &&Output| matches!(it, Output::WorkWanted { .. } | Output::WakeAssistants { .. });
    assert_eq!(scene.others.iter().filter(asks).count(), 0);
    assert_eq!(scene.disk.events.len(), written, "nothing is written");
}

/// Status of the last requested run; true if it is bound to a kernel.
fn status(scene: &Scene, ack: &AckMessage) -> (ExecutionStatus, bool) {
    let run = &scene.room.state.executions[&ack.outcome.executions[0]];
    (run.status, run.kernel_session.is_some())
}

#[test]
fn a_run_that_is_asked_for_while_the_agent_is_away_waits_until_it_says_what_lives() {
    const RUN: &str = r#"{"RequestExecution":{"target":{"cell":{"cell_id":"a"}}}}"#;
    for is_restart in [false, true] {
        let (mut scene, session) = with_kernel();
        if is_restart {
            scene = scene.restarted(RoomConfig::default());
        } else {
            scene.feed(Input::Client(ClientId(9), ClientInput::Unsubscribe));
        }
        let ack = scene.execute("anna", RUN).unwrap();
        assert_eq!(status(&scene, &ack), (ExecutionStatus::Queued, false));
        scene.subscribe(9, &agent(), None);
        report(&mut scene, &format!(r#"{{"ReconcileKernels":{{"alive":["{session}"]}}}}"#));
        assert_eq!(status(&scene, &ack), (ExecutionStatus::Assigned, true));
    }
}

#[test]
fn a_run_whose_kernel_did_not_come_back_is_work_for_whoever_offers_the_kernel() {
    let (mut scene, _) = with_kernel();
    scene.feed(Input::Client(ClientId(9), ClientInput::Unsubscribe));
    let ack = scene.execute("anna", r#"{"RequestExecution":{"target":{"cell":{"cell_id":"a"}}}}"#).unwrap();
    scene.others.clear();
    scene.advance(15 * 60_000 + 1_000);
    assert_eq!(status(&scene, &ack), (ExecutionStatus::Queued, false));
    assert!(scene.others.iter().any(|it| matches!(it, Output::WorkWanted { .. })));
}

const RUN: &str = r#"{"RequestExecution":{"target":{"cell":{"cell_id":"a"}}}}"#;

/// A kernel that has run code, whose agent goes; a run is requested at once. Returns that run.
fn left_with_a_run(scene: &mut Scene, replacement: &str) -> AckMessage {
    let (id, fence) = run(scene);
    let end = r#"{"completed":{"outcome":"ok"}}"#;
    let report_of = |seq, text: &str| of_execution(&(id.clone(), fence), seq, text);
    report(scene, &report_of(1, r#"{"started":{}}"#));
    report(scene, &report_of(2, end));
    scene.execute("anna", &format!(r#"{{"SetKernelSettings":{{"replacement":"{replacement}"}}}}"#)).unwrap();
    scene.feed(Input::Client(ClientId(9), ClientInput::Unsubscribe));
    scene.execute("anna", RUN).unwrap()
}

fn has_kernel(scene: &Scene, session: &KernelSessionId) -> bool {
    scene.room.state.kernels.contains_key(session)
}

#[test]
fn an_unused_kernel_of_an_absent_agent_is_replaced_as_soon_as_it_is_unreachable() {
    let (mut scene, session) = with_kernel();
    scene.feed(Input::Client(ClientId(9), ClientInput::Unsubscribe));
    let ack = scene.execute("anna", RUN).unwrap();
    scene.advance(2_800);
    assert!(has_kernel(&scene, &session), "a short cut replaces nothing");
    scene.others.clear();
    scene.advance(200);
    assert!(!has_kernel(&scene, &session));
    assert_eq!(status(&scene, &ack).0, ExecutionStatus::Queued);
    assert!(scene.others.iter().any(|it| matches!(it, Output::WorkWanted { .. })), "nobody typed anything");
}

#[test]
fn a_kernel_with_variables_is_replaced_asked_about_or_kept_as_the_notebook_says() {
    for (replacement, after_unreachable, after_lease) in
        [("ask", true, false), ("replace", false, false), ("wait", true, true)]
    {
        let (mut scene, session) = with_kernel();
        // Somebody follows the notebook, else its room would end.
        scene.subscribe(1, &user("anna"), None);
        let ack = left_with_a_run(&mut scene, replacement);
        scene.advance(3_100);
        assert_eq!(has_kernel(&scene, &session), after_unreachable, "{replacement}");
        scene.advance(16 * 60_000);
        assert_eq!(has_kernel(&scene, &session), after_lease, "{replacement}");
        assert_eq!(status(&scene, &ack).0, ExecutionStatus::Queued, "{replacement}: no run is lost");
        scene.subscribe(9, &agent(), None);
        let body = format!(r#"{{"ReconcileKernels":{{"alive":["{session}"]}}}}"#);
        report(&mut scene, &body);
        let is_run = status(&scene, &ack).0 == ExecutionStatus::Assigned;
        assert_eq!(
            is_run, after_lease,
            "{replacement}: the agent that comes back has its kernel, or another has the run"
        );
    }
}

#[test]
fn a_change_of_the_setting_counts_for_an_agent_that_is_gone_already() {
    let (mut scene, session) = with_kernel();
    left_with_a_run(&mut scene, "wait");
    scene.advance(60_000);
    assert!(has_kernel(&scene, &session));
    scene.execute("anna", r#"{"SetKernelSettings":{"replacement":"replace"}}"#).unwrap();
    scene.advance(100);
    assert!(!has_kernel(&scene, &session));
}
