//! Tools of the kernel: refusals before the run, the run that a start begins, and the answer read from its end.

use std::sync::Arc;

use crate::support::*;
use notarium_core::kernel_tools::{RESULT_MIME, answer, digest};
use notarium_core::{BlobPart, Event, Execution, ExecutionStatus, ExecutionSubject, RejectionCode as Code, Risk};

/// The call `tool` has been requested and passes.
fn asked(given: World, function: &str, arguments: serde_json::Value) -> World {
    given.with(&assistant_of("ann"), call("tool", function, arguments))
}

fn begin(world: &mut World) -> Vec<Event> {
    world.try_do(&reactor_of("ann"), &start("tool")).unwrap().0
}

fn turn() -> serde_json::Value {
    json!({"StartTurn": {"conversation_id": "talk", "turn_id": "turn", "text": "Look"}})
}

#[test]
fn the_start_of_a_call_begins_a_recorded_run_of_its_own_group() {
    let mut world = asked(talking(), "inspect_variable", json!({"name": "naïve"}));
    let events = begin(&mut world);
    assert_eq!(
        world.whole(&events),
        json!([
            {"ToolCallStarted": {"call_id": "tool", "passed_by": {"kind": "policy"}, "claimant": "instance"}},
            {"ExecutionRequested": {"execution_id": "000000YGJJ00000000000141R8", "subject": {"kind": "tool", "tool": "inspect_variable", "digest": "3189d598f1b1ffb6dbc6549a575a7313612071229dd9de0ab9e897406ccacefb", "call_id": "tool"}, "cause": "requested", "effects": {"held": {"allowed": []}}, "kernel_session": "$kernel", "timeout_ms": 30000}},
            {"ExecutionAssigned": {"execution_id": "000000YGJJ00000000000141R8", "kernel_session": "$kernel", "agent": "gpu", "fence": 15}},
        ])
    );
    let Event::ExecutionRequested(event) = &events[1] else { panic!("{events:?}") };
    let ExecutionSubject::Tool { tool, digest: code, call_id } = &event.subject else { panic!("{event:?}") };
    assert_eq!((tool.as_str(), call_id.as_str()), ("inspect_variable", "tool"));
    assert_eq!(Some(*code), digest("inspect_variable"), "the log names the code and does not hold it");
    assert_eq!((event.timeout_ms, event.stop_on_error), (Some(30_000), false));
    let execution = world.notebook.executions.values().next().unwrap();
    assert_eq!(execution.correlation_id.as_str(), "tool");
    assert_eq!(execution.requested_by, assistant_of("ann").actor);
    assert_eq!(world.notebook.latest.len(), 0, "no cell shows it");
}

#[test]
fn without_a_kernel_one_is_launched_and_the_run_waits() {
    let mut world = asked(with_cells().with(&user("ann"), turn()), "get_variables", json!({}));
    let events = begin(&mut world);
    assert_eq!(
        world.whole(&events),
        json!([
            {"ToolCallStarted": {"call_id": "tool", "passed_by": {"kind": "policy"}, "claimant": "instance"}},
            {"KernelLaunchRequested": {"kernel_session": "000000YGJF000000000000Y1R9", "kernelspec": "python3"}},
            {"ExecutionRequested": {"execution_id": "000000YGJF000000000000Y1R8", "subject": {"kind": "tool", "tool": "get_variables", "digest": "d4138e180303da2f31bae517a5daee3966d4a1c0fa0a5e1c4aebf1f81903c291", "call_id": "tool"}, "cause": "requested", "effects": {"held": {"allowed": []}}, "kernel_session": "000000YGJF000000000000Y1R9", "timeout_ms": 30000}},
        ])
    );
}

#[test]
fn a_tool_waits_behind_a_cell_and_outlives_its_failure() {
    let mut world = asked(running().with(&user("ann"), turn()), "get_variables", json!({}));
    let events = begin(&mut world);
    assert_eq!(
        world.whole(&events),
        json!([
            {"ToolCallStarted": {"call_id": "tool", "passed_by": {"kind": "policy"}, "claimant": "instance"}},
            {"ExecutionRequested": {"execution_id": "000000YGJM00000000000181R8", "subject": {"kind": "tool", "tool": "get_variables", "digest": "d4138e180303da2f31bae517a5daee3966d4a1c0fa0a5e1c4aebf1f81903c291", "call_id": "tool"}, "cause": "requested", "effects": {"held": {"allowed": []}}, "kernel_session": "$kernel", "timeout_ms": 30000}},
        ])
    );
    let (events, _) = world.try_do(&agent("gpu"), &report("run-a", 2, completed(false))).unwrap();
    assert_eq!(
        world.whole(&events),
        json!([
            {"ExecutionCompleted": {"execution_id": "run-a", "output_seq": 2, "outcome": "error", "execution_count": 1}},
            {"ExecutionAssigned": {"execution_id": "000000YGJM00000000000181R8", "kernel_session": "$kernel", "agent": "gpu", "fence": 15}},
        ])
    );
}

#[test]
fn a_tool_whose_person_may_not_run_is_refused() {
    let mut world = with_cells();
    world.step(&user("editor"), json!({"StartTurn": {"conversation_id": "talk", "turn_id": "turn", "text": "Look"}}));
    world.step(&user("ann"), grant("user", "editor", "viewer"));
    let refused = world.try_do(&assistant_of("editor"), &call("tool", "get_variables", json!({}))).unwrap_err();
    assert_eq!(refused.code, Code::Forbidden);
}

#[test]
fn what_needs_no_disk_is_refused_at_the_request() {
    let mut world = talking();
    let mut refused = |function: &str, arguments: serde_json::Value| {
        let rejection = world.try_do(&assistant_of("ann"), &call("tool", function, arguments)).unwrap_err();
        assert!(rejection.message.len() > 20, "{rejection}");
        rejection.code
    };
    for name in ["a.b", "a[0]", "", "1a", "x'''", "a b", "f()"] {
        assert_eq!(refused("inspect_variable", json!({"name": name})), Code::InvalidArguments, "{name}");
    }
    let paths =
        ["/etc/passwd", "../x", "a/../../x", "a/..", ".env", "a/.git/x", "~/x", "a\\x", "x\u{0}", "a/id_rsa", "b.PEM"];
    for path in paths {
        assert_eq!(refused("read_file", json!({"path": path})), Code::InvalidArguments, "{path}");
        assert_eq!(refused("list_files", json!({"path": path})), Code::InvalidArguments, "{path}");
        assert_eq!(refused("save_data", json!({"path": path, "content": ""})), Code::InvalidArguments, "{path}");
    }
    assert_eq!(refused("read_file", json!({"path": ""})), Code::InvalidArguments);
    assert_eq!(refused("save_data", json!({"path": "folder/", "content": ""})), Code::InvalidArguments);
    let wrong = json!({"path": "x.csv", "content": "", "overwrite": "abc"});
    assert_eq!(refused("save_data", wrong), Code::InvalidArguments);
    let large = "x".repeat((256 << 10) + 1);
    assert_eq!(refused("save_data", json!({"path": "x.csv", "content": large})), Code::LimitExceeded);
    let escaped = "\u{1}".repeat(256 << 10);
    assert_eq!(refused("save_data", json!({"path": "x.csv", "content": escaped})), Code::LimitExceeded);
}

#[test]
fn a_kernel_of_another_language_has_no_tools() {
    let mut told = claimed();
    told.step(
        &agent("gpu"),
        json!({"ReportKernelStarted": {"kernel_session": "$kernel", "language_info": {"name": "R"}, "sandbox": {"effects": "held"}}}),
    );
    let metadata = json!({"SetNotebookMetadata": {"metadata": {"kernelspec": {"name": "bash", "language": "bash"}}}});
    let written = with_cells().with(&user("ann"), metadata);
    for (given, language) in [(told, "R"), (written, "bash")] {
        let mut world = given.with(&user("ann"), turn());
        let refused = world.try_do(&assistant_of("ann"), &call("tool", "list_files", json!({}))).unwrap_err();
        assert_eq!(refused.code, Code::NotRunnable);
        assert!(refused.message.contains(language), "{refused}");
    }
}

#[test]
fn the_language_of_the_kernel_is_asked_again_at_the_start() {
    let mut world = asked(launched().with(&user("ann"), turn()), "get_variables", json!({}));
    world.step(&agent("gpu"), json!({"ClaimKernelLaunch": {"kernel_session": "$kernel"}}));
    let info = json!({"name": "julia"});
    world.step(&agent("gpu"), json!({"ReportKernelStarted": {"kernel_session": "$kernel", "language_info": info, "sandbox": {"effects": "held"}}}));
    let events = begin(&mut world);
    assert_eq!(
        world.whole(&events),
        json!([
            {"ToolCallStarted": {"call_id": "tool", "passed_by": {"kind": "policy"}, "claimant": "instance"}},
            {"ToolCallExecuted": {"call_id": "tool", "end": "error", "result": "get_variables needs a Python kernel, and this notebook's is julia: run code in a cell instead", "duration_ms": 0}},
        ])
    );
}

#[test]
fn to_look_is_to_read_and_to_write_code_asks() {
    let digest = "0".repeat(64);
    for (function, arguments, risk) in [
        ("get_variables", json!({}), Risk::Read),
        ("read_file", json!({"path": "os.system.txt"}), Risk::Read),
        ("save_data", json!({"path": "data/x.csv", "content": "import os; os.remove('x')"}), Risk::Edit),
        ("save_data", json!({"path": "helpers.PY", "content": ""}), Risk::Sensitive),
        ("save_data", json!({"path": "x.csv", "content": "", "overwrite": digest}), Risk::Destructive),
    ] {
        let mut world = talking();
        let (events, _) = world.try_do(&assistant_of("ann"), &call("tool", function, arguments)).unwrap();
        let Event::ToolCallRequested(event) = &events[0] else { panic!("{events:?}") };
        assert_eq!((event.risk.judged(), event.gate.waits()), (risk, risk > Risk::Edit), "{function}");
    }
}

// --- the end ---

fn ended(status: ExecutionStatus, outputs: serde_json::Value) -> Execution {
    let mut execution = Arc::unwrap_or_clone(running().notebook.executions.values().next().unwrap().clone());
    execution.status = status;
    execution.outputs = serde_json::from_value(outputs).unwrap();
    execution
}

fn nothing(_: &BlobPart) -> Option<Vec<u8>> {
    None
}

#[test]
fn the_answer_is_the_output_of_its_type_whole_or_in_a_blob() {
    let noise = json!({"content": {"output_type": "stream", "name": "stdout", "text": "{\"ok\": 0}"}});
    let inline = json!({"content": {"output_type": "display_data", "data": {RESULT_MIME: {"ok": {"a": [1]}}}}});
    let run = ended(ExecutionStatus::Ok, json!([noise, inline]));
    assert_eq!(answer(&run, &nothing), Ok(r#"{"a":[1]}"#.to_owned()));
    let pointer = format!("/data/{}", RESULT_MIME.replace('/', "~1"));
    let part = json!({"pointer": pointer, "sha256": "00", "size_bytes": 9000, "json": true});
    let stored = json!({"content": {"output_type": "display_data", "data": {}}, "blobs": [part]});
    let run = ended(ExecutionStatus::Ok, json!([stored]));
    assert_eq!(answer(&run, &|_| Some(br#"{"ok": "x"}"#.to_vec())), Ok("\"x\"".to_owned()));
    assert!(answer(&run, &nothing).unwrap_err().contains("cannot be read"));
    let refused = json!({"content": {"output_type": "display_data", "data": {RESULT_MIME: {"error": "no such file"}}}});
    assert_eq!(answer(&ended(ExecutionStatus::Ok, json!([refused])), &nothing), Err("no such file".to_owned()));
    let large =
        json!({"content": {"output_type": "display_data", "data": {RESULT_MIME: {"ok": "x".repeat(200 << 10)}}}});
    assert!(answer(&ended(ExecutionStatus::Ok, json!([large])), &nothing).unwrap_err().contains("ask for less"));
}

#[test]
fn a_run_without_an_answer_says_why() {
    let error = json!({"content": {"output_type": "error", "ename": "E", "evalue": "no", "traceback": ["one", "two"]}});
    let mut run = ended(ExecutionStatus::Error, json!([error]));
    run.notice = Some("interrupted after 30 s, as its request said".to_owned());
    let told = answer(&run, &nothing).unwrap_err();
    assert_eq!(told, "E: no\none\ntwo (interrupted after 30 s, as its request said)");
    for (status, word) in [
        (ExecutionStatus::Ok, "without an answer"),
        (ExecutionStatus::Cancelled, "cancelled"),
        (ExecutionStatus::Lost, "lost"),
        (ExecutionStatus::Running, "not ended"),
    ] {
        let told = answer(&ended(status, json!([])), &nothing).unwrap_err();
        assert!(told.contains(word), "{told}");
    }
}
