//! Tests of people's runs in a kernel that ran an assistant's code: their texts are judged before they are decided.

use notarium_core::{Effect, Effects, KernelSessionId};

use super::{LAUNCH, Scene, agent, assistant, edit, user};
use crate::RoomConfig;
use crate::io::Input;
use crate::simulation::harmless;

const RUN: &str = r#"{"RequestExecution":{"target":{"cell":{"cell_id":"a"}}}}"#;
const ITS_RUN: &str =
    r#"{"RequestToolCall":{"call_id":"its","function":"execute_cell_async","arguments":{"cell_id":"a"}}}"#;

fn report(scene: &mut Scene, body: &str) {
    let message = scene.message(body);
    scene.execute_message(&agent(), message).unwrap();
}

/// A kernel that ran the assistant's code. Its judge is slow. Anna writes as client 1.
fn mixed() -> Scene {
    let mut scene = Scene::new(RoomConfig::default());
    scene.execute("anna", LAUNCH).unwrap();
    let session: KernelSessionId = scene.room.state.kernels.keys().next().unwrap().clone();
    scene.subscribe(9, &agent(), None);
    report(&mut scene, &format!(r#"{{"ClaimKernelLaunch":{{"kernel_session":"{session}"}}}}"#));
    let sandbox = r#"{"effects":"held","surprises":"ask"}"#;
    let started = format!(
        r#"{{"ReportKernelStarted":{{"kernel_session":"{session}","language_info":{{}},"sandbox":{sandbox}}}}}"#
    );
    report(&mut scene, &started);
    let message = scene.message(ITS_RUN);
    scene.execute_message(&assistant(), message).unwrap();
    assert!(scene.room.state.executions.values().any(|run| run.effects.judged().are_held()));
    scene.is_judge_held = true;
    scene
}

/// Answers the open questions to the judge.
fn judge(scene: &mut Scene, is_able: bool) {
    for (ticket, query) in std::mem::take(&mut scene.to_judge) {
        assert!(query.expects);
        scene.feed(Input::Judged { ticket, judgement: is_able.then(|| harmless(query)) });
    }
}

/// Source and effects of Anna's runs, in the order of their requests.
fn her_runs(scene: &Scene) -> Vec<(String, Effects)> {
    let mut runs: Vec<_> =
        scene.room.state.executions.values().filter(|run| !run.effects.judged().are_held()).collect();
    runs.sort_by_key(|run| run.requested_version);
    runs.into_iter().map(|run| (run.subject.source().to_owned(), run.effects.judged())).collect()
}

#[test]
fn runs_and_edits_keep_their_order() {
    let mut scene = mixed();
    scene.send(1, &user("anna"), RUN);
    let version = scene.room.state.version;
    scene.send(1, &user("anna"), &edit(version, r#"[[0,"x"]]"#));
    scene.send(1, &user("anna"), RUN);
    assert_eq!((scene.words(1), scene.to_judge.len()), (Vec::new(), 1), "the edit waits for the run before it");
    judge(&mut scene, true);
    assert_eq!((scene.words(1).len(), scene.to_judge.len()), (2, 1), "another text is judged");
    judge(&mut scene, true);
    assert_eq!((scene.words(1).len(), scene.to_judge.len()), (1, 0));
    let expected = Effects::expected([]);
    assert_eq!(her_runs(&scene), [(String::new(), expected.clone()), ("x".to_owned(), expected)]);
}

#[test]
fn a_text_that_the_judge_gives_up_may_do_everything() {
    let mut scene = mixed();
    scene.send(1, &user("anna"), RUN);
    judge(&mut scene, false);
    assert_eq!((scene.words(1).len(), scene.to_judge.len()), (1, 0));
    assert_eq!(her_runs(&scene), [(String::new(), Effects::expected(Effect::ALL))]);
}

#[test]
fn a_change_elsewhere_does_not_ask_the_judge_again() {
    let mut scene = mixed();
    let insert = r#"{"InsertCell":{"cell_id":"b","cell_type":"code","source":"y = 1"}}"#;
    scene.send(2, &user("anna"), insert);
    scene.send(1, &user("anna"), RUN);
    judge(&mut scene, true);
    assert_eq!((scene.words(1).len(), scene.to_judge.len()), (1, 0));
}

#[test]
fn a_failed_append_judges_again() {
    let mut scene = mixed();
    scene.send(1, &user("anna"), RUN);
    scene.failure = Some(crate::io::AppendFailure::VersionConflict);
    judge(&mut scene, true);
    assert_eq!((scene.words(1).len(), scene.to_judge.len()), (0, 1));
    judge(&mut scene, true);
    assert_eq!(scene.words(1).len(), 1);
    assert_eq!(her_runs(&scene).len(), 1);
}

#[test]
fn a_room_that_closes_waits_for_the_judge() {
    let mut scene = mixed();
    scene.send(1, &user("anna"), RUN);
    scene.feed(Input::ShutDown);
    assert!(scene.words(1).is_empty());
    judge(&mut scene, true);
    assert_eq!(scene.words(1).len(), 1);
}
