//! Executions: requested, cancelled, answered, recorded.

use crate::support::*;
use notarium_core::{Event, ExecutionStatus as Status, RejectionCode as Code};

#[allow(clippy::too_many_lines, reason = "a table")]
pub fn cases() -> Vec<Case> {
    let bo = || user("editor");
    let scratch = |source: &str, purpose: &str| json!({"RequestExecution": {"target": {"scratch": {"source": source, "purpose": purpose}}}});
    let on_kernel =
        |kernel: &str| json!({"RequestExecution": {"target": {"cell": {"cell_id": "a"}}, "kernel_session": kernel}});
    let cancel = |id: &str| json!({"CancelExecution": {"execution_id": id}});
    let give_up = |id: &str| json!({"GiveUpExecution": {"execution_id": id}});
    let answer = |id: &str| json!({"AnswerInput": {"execution_id": id, "value": "42"}});
    let record = |id: &str| json!({"RecordExecution": {"cell_id": id, "outputs": [text_output("1")]}});
    let restarting = || started().with(&user("ann"), json!({"RestartKernel": {"kernel_session": "$kernel"}}));
    let forgotten = || finished().with(&user("ann"), request("a", "second"));
    let archived_running = || queued().with(&user("ann"), json!({"ArchiveNotebook": {}}));
    vec![
        case(with_cells, bo(), request("a", "run"), events(["KernelLaunchRequested", "ExecutionRequested"])),
        case(launched, bo(), request("a", "run"), events(["ExecutionRequested"])),
        case(started, bo(), request("a", "run"), events(["ExecutionRequested", "ExecutionAssigned"])),
        case(running, bo(), request("a", "run"), events(["ExecutionRequested"])),
        case(started, bo(), scratch("1", "look"), events(["ExecutionRequested", "ExecutionAssigned"])),
        case(started, bo(), on_kernel("$kernel"), events(["ExecutionRequested", "ExecutionAssigned"])),
        case(started, bo(), on_kernel("nowhere"), rejected(Code::UnknownKernelSession)),
        case(restarting, bo(), on_kernel("$kernel"), rejected(Code::KernelState)),
        case(restarting, bo(), request("a", "run"), events(["ExecutionRequested"])),
        case(with_cells, bo(), request("b", "run"), rejected(Code::NotRunnable)),
        case(with_cells, bo(), request("nowhere", "run"), rejected(Code::UnknownCell)),
        case(with_cells, bo(), request("gone", "run"), rejected(Code::CellDeleted)),
        case(running, bo(), request("a", "run-a"), rejected(Code::InvalidValue)),
        case(forgotten, bo(), request("a", "run-a"), rejected(Code::InvalidValue)),
        case(
            with_cells,
            bo(),
            json!({"RequestExecution": {"target": {"cell": {"cell_id": "a", "cell_version": 1}}}}),
            rejected(Code::Conflict),
        ),
        case(
            started,
            bo(),
            json!({"RequestExecution": {"target": {"cell": {"cell_id": "a"}}, "timeout_ms": 0}}),
            rejected(Code::InvalidValue),
        ),
        case(started, bo(), scratch("a\rb", "look"), rejected(Code::InvalidValue)),
        case(started, bo(), scratch("1", ""), rejected(Code::InvalidValue)),
        case(started, bo(), scratch(&"x".repeat(2 << 20), "look"), rejected(Code::LimitExceeded)),
        case(archived, bo(), request("a", "run"), rejected(Code::NotebookArchived)),
        case(with_cells, user("author"), request("a", "run"), rejected(Code::Forbidden)),
        case(with_cells, user("runner"), request("a", "run"), events(["KernelLaunchRequested", "ExecutionRequested"])),
        case(queued, bo(), cancel("run-c"), events(["ExecutionCancelled"])),
        case(running, bo(), cancel("run-a"), events(["ExecutionCancelRequested"])),
        case(finished, bo(), cancel("run-a"), rejected(Code::ExecutionState)),
        case(finished, bo(), cancel("nothing"), rejected(Code::UnknownExecution)),
        case(running, user("author"), cancel("run-a"), rejected(Code::Forbidden)),
        case(archived_running, bo(), cancel("run-c"), events(["ExecutionCancelled"])),
        case(queued, bo(), give_up("run-a"), events(["ExecutionLost", "ExecutionAssigned"])),
        case(queued, bo(), give_up("run-c"), rejected(Code::ExecutionState)),
        case(finished, bo(), give_up("run-a"), rejected(Code::ExecutionState)),
        case(finished, bo(), give_up("nothing"), rejected(Code::UnknownExecution)),
        case(running, user("viewer"), give_up("run-a"), rejected(Code::Forbidden)),
        case(asking, user("runner"), answer("run-a"), events(["ExecutionInputAnswered"])),
        case(running, bo(), answer("run-a"), rejected(Code::NoInputRequested)),
        case(running, bo(), answer("nothing"), rejected(Code::UnknownExecution)),
        case(asking, user("author"), answer("run-a"), rejected(Code::Forbidden)),
        case(
            asking,
            bo(),
            json!({"AnswerInput": {"execution_id": "run-a", "value": "x".repeat(65 << 10)}}),
            rejected(Code::LimitExceeded),
        ),
        case(
            with_cells,
            bo(),
            record("a"),
            events(["ExecutionRequested", "ExecutionOutputAppended", "ExecutionCompleted"]),
        ),
        case(with_cells, bo(), record("nowhere"), rejected(Code::UnknownCell)),
        case(with_cells, bo(), record("gone"), rejected(Code::CellDeleted)),
        case(archived, bo(), record("a"), rejected(Code::NotebookArchived)),
        case(with_cells, user("runner"), record("a"), rejected(Code::Forbidden)),
    ]
}

/// A queue, a second run of a cell, a kernel that dies.
pub fn queue() -> World {
    let mut world = queued();
    let gpu = agent("gpu");
    world.step(&gpu, report("run-a", 2, output(&["1\n", "2\n"])));
    world.step(&user("ann"), request("a", "again"));
    world.step(&gpu, report("run-a", 3, completed(true)));
    world.step(&gpu, report("run-c", 1, json!({"started": {}})));
    world.step(&gpu, report("run-c", 2, output(&["3\n"])));
    world.step(&gpu, end_kernel());
    world.step(&gpu, report("run-c", 3, output(&["late\n"])));
    world
}

#[test]
fn every_execution_command_is_accepted_or_refused_as_written() {
    check_all("executions", &cases());
}

#[test]
fn what_is_asked_for_is_bounded() {
    let mut world = queued();
    world.limits.max_queued_executions = 2;
    assert_eq!(world.try_do(&user("ann"), &request("a", "more")).unwrap_err().code, Code::LimitExceeded);
    world.limits.max_recorded_output_bytes = 10;
    let record = json!({"RecordExecution": {"cell_id": "a", "outputs": [text_output("1")]}});
    assert_eq!(world.try_do(&user("ann"), &record).unwrap_err().code, Code::LimitExceeded);
    let mut world = with_cells();
    world.limits.max_kernels = 0;
    assert_eq!(world.try_do(&user("ann"), &request("a", "run")).unwrap_err().code, Code::LimitExceeded);
}

#[test]
fn the_queue_runs_in_the_order_of_requests() {
    let mut world = queued();
    world.step(&user("ann"), request("a", "Z-last"));
    world.step(&user("ann"), request("a", "A-later"));
    world.step(&user("editor"), json!({"CancelExecution": {"execution_id": "run-c"}}));
    world.step(&agent("gpu"), report("run-a", 2, completed(false)));
    assert_eq!(world.status("Z-last"), Status::Assigned);
    assert_eq!(world.status("A-later"), Status::Queued);
}

fn request_all(stop_on_error: bool) -> World {
    let mut world = started();
    world.correlation = Some("all");
    for (cell, id) in [("a", "run-a"), ("c", "run-c"), ("a", "run-a2")] {
        let mut command = request(cell, id);
        command["RequestExecution"]["stop_on_error"] = json!(stop_on_error);
        world.step(&user("ann"), command);
    }
    world.correlation = None;
    world.step(&user("ann"), request("c", "other"));
    world
}

#[test]
fn a_failure_stops_what_waits_behind_it_of_the_same_request() {
    let mut world = request_all(true);
    let (events, _) = world.try_do(&agent("gpu"), &report("run-a", 1, completed(false))).unwrap();
    assert_eq!(
        world.whole(&events),
        json!([
            {"ExecutionCompleted": {"execution_id": "run-a", "output_seq": 1, "outcome": "error", "execution_count": 1}},
            {"ExecutionBlocked": {"execution_id": "run-a2", "blocked_by": "run-a"}},
            {"ExecutionBlocked": {"execution_id": "run-c", "blocked_by": "run-a"}},
            {"ExecutionAssigned": {"execution_id": "other", "kernel_session": "$kernel", "agent": "gpu", "fence": 15}},
        ])
    );
    assert_eq!(world.status("other"), Status::Assigned);
}

#[test]
fn a_loss_stops_what_waits_too() {
    for end in [
        report("run-a", 1, json!({"lost": {"cause": "agent_lost"}})),
        json!({"GiveUpExecution": {"execution_id": "run-a"}}),
    ] {
        let mut world = request_all(true);
        let who = if end.get("ReportExecution").is_some() { agent("gpu") } else { user("ann") };
        world.step(&who, end);
        assert_eq!(world.status("other"), Status::Assigned);
        assert_eq!(world.status("run-a2"), Status::Blocked);
    }
}

#[test]
fn without_stop_on_error_the_queue_goes_on() {
    let mut world = request_all(false);
    world.step(&agent("gpu"), report("run-a", 1, completed(false)));
    assert_eq!(world.status("run-c"), Status::Assigned);
}

#[test]
fn stop_on_error_counts_on_the_run_that_waits_and_not_on_the_one_that_fails() {
    for (failing, waiting, status) in [(false, true, Status::Blocked), (true, false, Status::Assigned)] {
        let mut world = started();
        world.correlation = Some("all");
        for (cell, id, stop_on_error) in [("a", "run-a", failing), ("c", "run-c", waiting)] {
            let mut command = request(cell, id);
            command["RequestExecution"]["stop_on_error"] = json!(stop_on_error);
            world.step(&user("ann"), command);
        }
        world.step(&agent("gpu"), report("run-a", 1, completed(false)));
        assert_eq!(world.status("run-c"), status);
    }
}

#[test]
fn an_interrupted_run_ends_as_cancelled_but_one_that_finished_first_is_ok() {
    let cancelled = || running().with(&user("ann"), json!({"CancelExecution": {"execution_id": "run-a"}}));
    assert_eq!(
        cancelled().with(&agent("gpu"), report("run-a", 2, completed(false))).status("run-a"),
        Status::Cancelled
    );
    assert_eq!(cancelled().with(&agent("gpu"), report("run-a", 2, completed(true))).status("run-a"), Status::Ok);
}

#[test]
fn a_passwords_value_never_enters_the_log() {
    let ask = json!({"input_request": {"prompt": "secret?", "password": true}});
    let mut world = running().with(&agent("gpu"), report("run-a", 2, ask));
    world.step(&user("ann"), json!({"AnswerInput": {"execution_id": "run-a", "value": "hunter2"}}));
    assert!(!serde_json::to_string(&world.log).unwrap().contains("hunter2"));
    let again = world.try_do(&user("runner"), &json!({"AnswerInput": {"execution_id": "run-a", "value": "x"}}));
    assert_eq!(again.unwrap_err().code, Code::NoInputRequested, "one answer wins");
}

#[test]
fn a_recorded_run_is_shown_while_an_older_one_still_runs() {
    let mut world = running();
    world.step(
        &user("ann"),
        json!({"RecordExecution": {"cell_id": "a", "outputs": [text_output("file")], "execution_count": 7}}),
    );
    let (id, shown) = world.notebook.latest_execution(&cell_id("a")).unwrap();
    assert_eq!((shown.status, shown.execution_count), (Status::Ok, Some(7)));
    assert_ne!(id.as_str(), "run-a");
    assert_eq!(world.status("run-a"), Status::Running);
    world.step(&agent("gpu"), report("run-a", 2, completed(true)));
    assert!(world.execution("run-a").is_none());
}

#[test]
fn an_imported_error_is_an_error() {
    let error = json!({"content": {"output_type": "error", "ename": "E", "evalue": "", "traceback": []}});
    let world = with_cells().with(&user("ann"), json!({"RecordExecution": {"cell_id": "a", "outputs": [error]}}));
    assert_eq!(world.notebook.latest_execution(&cell_id("a")).unwrap().1.status, Status::Error);
}

#[test]
fn an_sql_cell_is_recorded_with_the_line_that_says_so_and_needs_a_python_kernel() {
    let mut world = started().with(&user("ann"), insert("sql", "sql", "SELECT 1"));
    let (events, _) = world.clone().try_do(&user("editor"), &request("sql", "run")).unwrap();
    let Event::ExecutionRequested(event) = &events[0] else { panic!("{events:?}") };
    assert_eq!(event.subject.source(), "%%notarium_sql\nSELECT 1");
    // The run keeps this text, whatever happens to the cell.
    world.step(&user("editor"), request("sql", "run"));
    assert!(!world.notebook.is_stale(&cell_id("sql")), "the line is no change of the cell");
    world.step(&user("ann"), json!({"ChangeCellType": {"cell_id": "sql", "cell_type": "code"}}));
    let (events, _) = world.try_do(&user("editor"), &request("sql", "again")).unwrap();
    let Event::ExecutionRequested(event) = &events[0] else { panic!("{events:?}") };
    assert_eq!(event.subject.source(), "SELECT 1");
}
