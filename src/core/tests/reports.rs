//! Reports of agents on executions: fences, numbers, outputs, late reports.

use crate::support::*;
use notarium_core::{ExecutionStatus as Status, RejectionCode as Code};

fn update(display_id: &str, text: &str) -> serde_json::Value {
    json!({"update_display": {"display_id": display_id, "output": display(display_id, text)}})
}

fn display(display_id: &str, text: &str) -> serde_json::Value {
    json!({"content": {"output_type": "display_data", "text": text}, "display_id": display_id})
}

fn shows(display_id: &str, text: &str) -> serde_json::Value {
    json!({"output": {"outputs": [display(display_id, text)]}})
}

pub fn cases() -> Vec<Case> {
    let gpu = || agent("gpu");
    let stale = |fence: u64| json!({"ReportExecution": {"execution_id": "run-a", "fence": fence, "seq": 9, "report": output(&["x"])}});
    let dead = || running().with(&agent("gpu"), end_kernel());
    let unassigned = || launched().with(&user("ann"), request("a", "run-a"));
    let unassigned_report =
        json!({"ReportExecution": {"execution_id": "run-a", "fence": 1, "seq": 1, "report": output(&["x"])}});
    let forgotten = || finished().with(&user("ann"), json!({"ClearOutputs": {"cell_id": "a"}}));
    let lost_report = json!({"lost": {"cause": "agent_lost"}});
    vec![
        case(started, gpu(), report("run-a", 1, json!({"started": {}})), rejected(Code::UnknownExecution)),
        case(running, gpu(), report("run-a", 2, json!({"started": {}})), nothing()),
        case(running, gpu(), report("run-a", 2, output(&["x"])), events(["ExecutionOutputAppended"])),
        case(running, gpu(), report("run-a", 2, output(&[])), nothing()),
        case(running, gpu(), report("run-a", 1, output(&["x"])), nothing()),
        case(running, gpu(), report("run-a", 3, output(&["x"])), rejected(Code::ReportGap)),
        case(running, gpu(), report("run-a", 3, completed(true)), rejected(Code::ReportGap)),
        case(running, gpu(), report("run-a", 2, update("d", "x")), events(["ExecutionOutputUpdated"])),
        case(running, gpu(), report("run-a", 2, json!({"clear": {"wait": true}})), events(["ExecutionOutputsCleared"])),
        case(
            running,
            gpu(),
            report("run-a", 2, json!({"input_request": {"prompt": "?", "password": true}})),
            events(["ExecutionInputRequested"]),
        ),
        case(running, gpu(), report("run-a", 2, completed(true)), events(["ExecutionCompleted"])),
        case(running, gpu(), report("run-a", 2, lost_report.clone()), events(["ExecutionLost"])),
        case(queued, gpu(), report("run-a", 2, lost_report.clone()), events(["ExecutionLost", "ExecutionAssigned"])),
        case(queued, gpu(), report("run-a", 2, completed(true)), events(["ExecutionCompleted", "ExecutionAssigned"])),
        case(running, system(), report("run-a", 2, lost_report.clone()), events(["ExecutionLost"])),
        case(running, gpu(), stale(3), rejected(Code::StaleFence)),
        case(running, agent("tpu"), report("run-a", 2, output(&["x"])), rejected(Code::StaleFence)),
        case(finished, agent("tpu"), report("run-a", 4, output(&["x"])), rejected(Code::StaleFence)),
        case(dead, agent("tpu"), report("run-a", 4, output(&["x"])), rejected(Code::StaleFence)),
        case(
            running,
            user("ann").with_role(notarium_core::Role::Agent),
            report("run-a", 2, output(&["x"])),
            rejected(Code::Forbidden),
        ),
        case(unassigned, gpu(), unassigned_report, rejected(Code::StaleFence)),
        case(running, user("ann"), report("run-a", 2, output(&["x"])), rejected(Code::Forbidden)),
        case(running, gpu(), report("run-a", 2, output(&[&"x".repeat(5 << 20)])), rejected(Code::LimitExceeded)),
        case(finished, gpu(), report("run-a", 4, output(&["thread"])), events(["ExecutionOutputAppended"])),
        case(finished, gpu(), report("run-a", 4, update("d", "x")), events(["ExecutionOutputUpdated"])),
        case(finished, gpu(), report("run-a", 4, completed(false)), nothing()),
        case(finished, gpu(), report("run-a", 4, lost_report), nothing()),
        case(finished, gpu(), report("run-a", 4, json!({"clear": {"wait": false}})), nothing()),
        case(
            finished,
            gpu(),
            report("run-a", 4, json!({"input_request": {"prompt": "?", "password": false}})),
            nothing(),
        ),
        case(forgotten, gpu(), report("run-a", 4, output(&["thread"])), events(["ExecutionOutputAppended"])),
        case(forgotten, gpu(), report("run-a", 2, output(&["again"])), nothing()),
        case(lost, gpu(), report("run-a", 3, output(&["late"])), events(["ExecutionOutputRecovered"])),
        case(lost, gpu(), report("run-a", 2, output(&["seen"])), nothing()),
        case(dead, gpu(), report("run-a", 2, output(&["late"])), events(["ExecutionOutputRecovered"])),
        case(dead, gpu(), report("run-a", 2, completed(true)), nothing()),
    ]
}

#[test]
fn every_report_is_accepted_or_refused_as_written() {
    check_all("reports", &cases());
}

#[test]
fn each_write_counts_once_however_often_it_is_sent() {
    let mut world = running();
    for (seq, text) in [(2, "1"), (2, "1"), (3, "2"), (2, "1"), (3, "2")] {
        world.step(&agent("gpu"), report("run-a", seq, output(&[text])));
    }
    assert_eq!(world.outputs("run-a"), ["1", "2"]);
}

#[test]
fn a_report_before_one_that_is_missing_is_refused_and_told_where_to_go_on() {
    let mut world = running().with(&agent("gpu"), report("run-a", 2, output(&["1"])));
    let refused = world.try_do(&agent("gpu"), &report("run-a", 5, completed(true))).unwrap_err();
    assert_eq!((refused.code, refused.expected_seq), (Code::ReportGap, Some(3)));
    world.step(&agent("gpu"), report("run-a", 3, output(&["2"])));
    world.step(&agent("gpu"), report("run-a", 4, completed(true)));
    assert_eq!((world.status("run-a"), world.outputs("run-a")), (Status::Ok, vec!["1".to_owned(), "2".to_owned()]));
}

#[test]
fn a_run_that_writes_without_end_gets_a_notice_and_its_end_is_taken() {
    let mut world = running();
    world.limits.max_output_bytes_per_run = 5_000;
    let piece = "x".repeat(1_000);
    let mut last = 1;
    let refused = loop {
        last += 1;
        let said = if last % 3 == 0 { update("d", &piece) } else { output(&[&piece]) };
        match world.try_do(&agent("gpu"), &report("run-a", last, said)) {
            Ok(_) => assert!(last < 10, "it takes everything"),
            Err(refused) => break refused,
        }
    };
    assert_eq!(refused.code, Code::OutputLimit);
    assert!(world.outputs("run-a").last().unwrap().contains("all that the server records of one run"));
    let clear = report("run-a", last, json!({"clear": {"wait": false}}));
    assert_eq!(world.try_do(&agent("gpu"), &clear).unwrap_err().code, Code::OutputLimit);
    world.step(&agent("gpu"), report("run-a", last, completed(true)));
    for thread in [output(&["late"]), output(&["later"])] {
        assert_eq!(
            world.try_do(&agent("gpu"), &report("run-a", last + 1, thread)).unwrap_err().code,
            Code::OutputLimit
        );
    }
    let mut forgotten = world.with(&user("ann"), json!({"ClearOutputs": {"cell_id": "a"}}));
    forgotten.notebook.ledger = notarium_core::Ledger::default();
    let late = forgotten.try_do(&agent("gpu"), &report("run-a", last + 1, output(&["late"])));
    assert_eq!(late.unwrap_err().code, Code::OutputLimit, "also when only the record knows");
}

#[test]
fn the_words_of_the_notice_printed_by_a_program_end_nothing() {
    let mut world = running();
    world.limits.max_output_bytes_per_run = 5_000;
    let seq = (2..)
        .find(|seq| {
            let said = output(&["x".repeat(1_000).as_str()]);
            let (events, _) = world.try_do(&agent("gpu"), &report("run-a", *seq, said)).unwrap();
            events.iter().any(
                |event| matches!(event, notarium_core::Event::ExecutionOutputAppended(event) if event.is_limit_notice),
            )
        })
        .unwrap();
    let notice = world.outputs("run-a").last().unwrap().clone();
    let over = world.try_do(&agent("gpu"), &report("run-a", seq + 1, output(&["more"]))).unwrap_err();
    assert_eq!(over.code, Code::OutputLimit);

    let mut other = running();
    other.step(&agent("gpu"), report("run-a", 2, output(&[&notice])));
    other.step(&agent("gpu"), report("run-a", 3, output(&["more"])));
    assert_eq!(other.outputs("run-a").last().unwrap(), "more");
}

#[test]
fn many_small_writes_are_no_way_round_the_limit() {
    let mut world = running();
    world.limits.max_output_bytes_per_run = 5_000;
    let refused = (2..)
        .find_map(|seq| world.try_do(&agent("gpu"), &report("run-a", seq, json!({"clear": {"wait": false}}))).err());
    assert_eq!(refused.unwrap().code, Code::OutputLimit);
    assert!(world.execution("run-a").unwrap().output_seq < 30);
}

#[test]
fn a_lost_run_keeps_what_it_showed_and_what_comes_late_is_in_the_record() {
    let mut world = lost();
    world.step(&agent("gpu"), report("run-a", 3, output(&["late"])));
    let again = world.try_do(&agent("gpu"), &report("run-a", 3, output(&["late"]))).unwrap();
    assert_eq!(again.0, [], "recovered once");
    assert_eq!((world.status("run-a"), world.outputs("run-a")), (Status::Lost, vec!["1".to_owned()]));
}

#[test]
fn a_run_that_was_given_up_frees_the_queue_but_does_not_end_twice() {
    let mut world = queued().with(&user("ann"), json!({"GiveUpExecution": {"execution_id": "run-a"}}));
    assert_eq!(world.status("run-c"), Status::Assigned);
    let (events, _) = world.try_do(&agent("gpu"), &report("run-a", 2, completed(true))).unwrap();
    assert_eq!(events, []);
    assert_eq!((world.status("run-a"), world.status("run-c")), (Status::Lost, Status::Assigned));
}

#[test]
fn clearing_at_once_and_clearing_with_the_next_output() {
    let mut world = running().with(&agent("gpu"), report("run-a", 2, output(&["1"])));
    world.step(&agent("gpu"), report("run-a", 3, json!({"clear": {"wait": true}})));
    assert_eq!(world.outputs("run-a"), ["1"], "until the next output comes");
    world.step(&agent("gpu"), report("run-a", 4, output(&["2"])));
    world.step(&agent("gpu"), report("run-a", 5, output(&["3"])));
    assert_eq!(world.outputs("run-a"), ["2", "3"]);
    world.step(&agent("gpu"), report("run-a", 6, json!({"clear": {"wait": true}})));
    world.step(&agent("gpu"), report("run-a", 7, json!({"clear": {"wait": false}})));
    world.step(&agent("gpu"), report("run-a", 8, output(&["4"])));
    world.step(&agent("gpu"), report("run-a", 9, output(&["5"])));
    assert_eq!(world.outputs("run-a"), ["4", "5"]);
    world.step(&agent("gpu"), report("run-a", 10, json!({"clear": {"wait": true}})));
    world.step(&agent("gpu"), report("run-a", 11, completed(true)));
    assert_eq!(world.outputs("run-a"), ["4", "5"], "no next output came");
}

#[test]
fn an_updated_display_changes_wherever_it_is_shown() {
    let mut world = queued();
    world.step(&agent("gpu"), report("run-a", 2, shows("bar", "10 %")));
    world.step(&agent("gpu"), report("run-a", 3, shows("other", "same")));
    world.step(&agent("gpu"), report("run-a", 4, completed(true)));
    world.step(&agent("gpu"), report("run-c", 1, shows("bar", "20 %")));
    world.step(&agent("gpu"), report("run-c", 2, update("bar", "30 %")));
    assert_eq!(world.outputs("run-a"), ["30 %", "same"]);
    assert_eq!(world.outputs("run-c"), ["30 %"]);
    world.step(&agent("gpu"), report("run-a", 5, update("bar", "done")));
    assert_eq!(world.outputs("run-c"), ["done"], "also late, from a thread of an ended run");
}

#[test]
fn a_restored_cell_shows_its_displays_as_they_were_updated() {
    let mut world = running();
    world.step(&agent("gpu"), report("run-a", 2, shows("bar", "10 %")));
    world.step(&agent("gpu"), report("run-a", 3, update("bar", "99 %")));
    world.step(&agent("gpu"), report("run-a", 4, completed(true)));
    world.step(&user("ann"), json!({"DeleteCell": {"cell_id": "a"}}));
    world.step(&user("ann"), json!({"RestoreCell": {"cell_id": "a"}}));
    assert_eq!(world.outputs("run-a"), ["99 %"]);
}

#[test]
fn an_old_run_leaves_the_state_when_the_cell_runs_again_and_stays_while_it_runs() {
    let mut world = finished().with(&user("ann"), request("a", "second"));
    assert!(world.execution("run-a").is_none());
    world.step(&user("ann"), request("a", "third"));
    assert_eq!((world.status("second"), world.status("third")), (Status::Assigned, Status::Queued));
    world.step(&agent("gpu"), report("second", 1, output(&["2"])));
    world.step(&agent("gpu"), report("second", 2, completed(true)));
    assert!(world.execution("second").is_none(), "ended, and the cell shows the third");
    assert_eq!(world.status("third"), Status::Assigned);
}

#[test]
fn a_question_is_over_when_the_run_is() {
    let world = asking().with(&agent("gpu"), report("run-a", 3, completed(false)));
    assert_eq!(world.execution("run-a").unwrap().pending_input, None);
}
