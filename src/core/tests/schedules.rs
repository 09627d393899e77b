//! Schedules: set, removed and run by people, claimed once and ended by the server.

use crate::support::*;
use notarium_core::{Event, LimitName, RejectionCode as Code, RejectionDetails, ScheduledRunOutcome, Scope};
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::Value;

pub fn set(more: Value) -> Value {
    let mut fields = json!({"schedule_id": "daily", "cron": "0 6 * * 1-5"});
    fields.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    json!({ "SetSchedule": fields })
}

fn remove() -> Value {
    json!({"RemoveSchedule": {"schedule_id": "daily"}})
}

fn run(run: &str) -> Value {
    json!({"RunSchedule": {"schedule_id": "daily", "run": run}})
}

/// The claim of a minute that the world's clock has reached.
fn claim(due: u64, run: &str) -> Value {
    json!({"StartScheduledRun": {"schedule_id": "daily", "run": run, "due": due}})
}

fn end(more: Value) -> Value {
    let mut fields = json!({"schedule_id": "daily", "outcome": "succeeded"});
    fields.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    json!({ "EndScheduledRun": fields })
}

/// The runner's schedule, and a minute that is due.
fn scheduled() -> World {
    let mut world = with_cells().with(&user("runner"), set(json!({})));
    world.now += 600_000;
    world
}

const DUE: u64 = 1_440_000;

fn under_way() -> World {
    scheduled().with(&system(), claim(DUE, "run-1"))
}

fn ended() -> World {
    under_way().with(&system(), end(json!({"run": "run-1", "due": DUE})))
}

fn stopped() -> World {
    scheduled().with(&system(), end(json!({"due": DUE, "outcome": "refused", "detail": "the account is closed"})))
}

fn archived_schedule() -> World {
    scheduled().with(&user("ann"), json!({"ArchiveNotebook": {}}))
}

fn full() -> World {
    let mut world = scheduled();
    world.limits.max_schedules = 1;
    world
}

/// Every event of schedules, by two people and the server.
pub fn story() -> World {
    let more = json!({"timezone": "Europe/Berlin", "version": 3, "parameters": {"region": "north", "limit": 1.50},
        "labels": {"gpu": "a100"}, "catch_up": true, "max_run_minutes": 60, "kept_runs": 7});
    let mut world = ended();
    world.step(&user("editor"), set(more));
    world.step(&user("editor"), run("run-2"));
    let failed =
        json!({"run": "run-2", "outcome": "failed", "cell_id": "a", "error": "ValueError", "detail": "no rows"});
    world.step(&system(), end(failed));
    world.step(&user("ann"), set(json!({"schedule_id": "weekly", "agent": "gpu"})));
    world.now += 1_200_000;
    world.step(&system(), end(json!({"schedule_id": "daily", "due": DUE + 900_000, "outcome": "missed", "missed": 3})));
    world.step(&system(), end(json!({"schedule_id": "weekly", "due": world.now - 1, "outcome": "refused"})));
    world.step(&system(), claim(world.now - 2, "run-3"));
    world.step(&user("author"), insert("late", "code", "1"));
    world.step(&user("runner"), remove());
    world
}

pub fn cases() -> Vec<Case> {
    cases_of_settings().into_iter().chain(cases_of_runs()).collect()
}

fn cases_of_settings() -> Vec<Case> {
    let (ann, runner, server) = (|| user("ann"), || user("runner"), system);
    let narrow = || user("runner").with_scopes(&[Scope::Read, Scope::Run]);
    let odd = |more: Value| case(with_cells, user("runner"), set(more), rejected(Code::InvalidValue));
    let many = json!({"text": "x".repeat(65 << 10)});
    let labels: Value =
        (0..17).map(|number| (format!("k{number}"), json!("v"))).collect::<serde_json::Map<_, _>>().into();
    vec![
        // --- set ---
        case(with_cells, runner(), set(json!({})), events(["ScheduleSet"])),
        case(
            with_cells,
            ann(),
            set(json!({"version": 1, "agent": "gpu", "parameters": {"x": [1, null]}})),
            events(["ScheduleSet"]),
        ),
        case(scheduled, runner(), set(json!({})), nothing()),
        case(scheduled, runner(), set(json!({"cron": " 0 7 * * * "})), events(["ScheduleSet"])),
        case(scheduled, ann(), set(json!({})), events(["ScheduleSet"])),
        case(stopped, runner(), set(json!({})), events(["ScheduleSet"])),
        case(under_way, runner(), set(json!({"kept_runs": 1})), events(["ScheduleSet"])),
        case(full, ann(), set(json!({"kept_runs": 1})), events(["ScheduleSet"])),
        case(full, ann(), set(json!({"schedule_id": "other"})), rejected(Code::LimitExceeded)),
        case(with_cells, user("author"), set(json!({})), rejected(Code::Forbidden)),
        case(with_cells, user("viewer"), set(json!({})), rejected(Code::Forbidden)),
        case(with_cells, user("stranger"), set(json!({})), rejected(Code::UnknownNotebook)),
        case(with_cells, guest("link"), set(json!({})), rejected(Code::Forbidden)),
        case(talking, assistant_of("ann"), set(json!({})), rejected(Code::Forbidden)),
        case(with_cells, agent("gpu"), set(json!({})), rejected(Code::Forbidden)),
        case(with_cells, server(), set(json!({})), rejected(Code::Forbidden)),
        case(with_cells, narrow(), set(json!({})), rejected(Code::Forbidden)),
        case(with_cells, runner().bound(), set(json!({})), rejected(Code::Forbidden)),
        case(archived, ann(), set(json!({})), rejected(Code::NotebookArchived)),
        case(with_cells, runner(), set(json!({"version": 0})), rejected(Code::VersionInFuture)),
        case(with_cells, runner(), set(json!({"version": 999})), rejected(Code::VersionInFuture)),
        case(with_cells, runner(), set(json!({"parameters": many})), rejected(Code::LimitExceeded)),
        odd(json!({"cron": " "})),
        odd(json!({"cron": "0 6 * *\n*"})),
        odd(json!({"timezone": "x".repeat(201)})),
        odd(json!({"max_run_minutes": 0})),
        odd(json!({"max_run_minutes": 10_081})),
        odd(json!({"kept_runs": 0})),
        odd(json!({"kept_runs": 1_001})),
        odd(json!({"labels": labels})),
        // --- remove ---
        case(scheduled, ann(), remove(), events(["ScheduleRemoved"])),
        case(under_way, runner(), remove(), events(["ScheduledRunEnded", "ScheduleRemoved"])),
        case(archived_schedule, ann(), remove(), events(["ScheduleRemoved"])),
        case(with_cells, runner(), remove(), nothing()),
        case(scheduled, user("author"), remove(), rejected(Code::Forbidden)),
    ]
}

fn cases_of_runs() -> Vec<Case> {
    let (ann, runner, server) = (|| user("ann"), || user("runner"), system);
    vec![
        // --- run now ---
        case(scheduled, ann(), run("run-9"), events(["ScheduledRunStarted"])),
        case(ended, runner(), run("run-9"), events(["ScheduledRunStarted"])),
        case(under_way, ann(), run("run-9"), rejected(Code::ScheduleState)),
        case(with_cells, ann(), run("run-9"), rejected(Code::UnknownSchedule)),
        case(scheduled, ann(), run("nb"), rejected(Code::InvalidValue)),
        case(scheduled, user("viewer"), run("run-9"), rejected(Code::Forbidden)),
        case(scheduled, guest("link"), run("run-9"), rejected(Code::Forbidden)),
        case(archived_schedule, ann(), run("run-9"), rejected(Code::NotebookArchived)),
        // --- the server claims ---
        case(scheduled, server(), claim(DUE, "run-1"), events(["ScheduledRunStarted"])),
        case(ended, server(), claim(DUE + 60_000, "run-2"), events(["ScheduledRunStarted"])),
        case(ended, server(), claim(DUE, "run-2"), rejected(Code::ScheduleState)),
        case(under_way, server(), claim(DUE + 60_000, "run-2"), rejected(Code::ScheduleState)),
        case(scheduled, server(), claim(9_000_000, "run-1"), rejected(Code::ScheduleState)),
        case(stopped, server(), claim(DUE + 60_000, "run-1"), rejected(Code::ScheduleState)),
        case(archived_schedule, server(), claim(DUE, "run-1"), rejected(Code::NotebookArchived)),
        case(with_cells, server(), claim(DUE, "run-1"), rejected(Code::UnknownSchedule)),
        case(scheduled, ann(), claim(DUE, "run-1"), rejected(Code::Forbidden)),
        // --- the server ends ---
        case(under_way, server(), end(json!({"run": "run-1", "due": DUE})), events(["ScheduledRunEnded"])),
        case(under_way, server(), end(json!({"run": "run-7"})), nothing()),
        case(ended, server(), end(json!({"run": "run-1"})), nothing()),
        case(
            scheduled,
            server(),
            end(json!({"due": DUE, "outcome": "missed", "missed": 2})),
            events(["ScheduledRunEnded"]),
        ),
        case(ended, server(), end(json!({"due": DUE, "outcome": "missed"})), nothing()),
        case(under_way, ann(), end(json!({"run": "run-1"})), rejected(Code::Forbidden)),
    ]
}

#[test]
fn every_schedule_is_accepted_or_refused_as_written() {
    check_all("schedules", &cases());
}

#[test]
fn the_limit_is_named() {
    let rejection = full().try_do(&user("ann"), &set(json!({"schedule_id": "other"}))).unwrap_err();
    let Some(RejectionDetails::Limit { limit, max, .. }) = rejection.details.as_deref() else {
        panic!("{rejection:?}")
    };
    assert_eq!((*limit, *max), (LimitName::Schedules, 1));
}

#[test]
fn a_run_is_in_the_name_of_the_maker_or_of_the_person_who_asks_for_it() {
    let run_of = |world: &World| world.notebook.schedules[&"daily".parse().unwrap()].run.clone().unwrap();
    assert_eq!(run_of(&under_way()).actor, user("runner").actor);
    assert_eq!(run_of(&scheduled().with(&user("ann"), run("now"))).actor, user("ann").actor);
}

#[test]
fn the_version_is_the_pinned_one_or_the_newest() {
    let version = |mut world: World| {
        world.step(&system(), claim(DUE, "run-1"));
        let Some(Event::ScheduledRunStarted(event)) = world.recorded.last().map(|it| it.event.clone()) else {
            panic!()
        };
        event.version
    };
    let newest = scheduled();
    assert_eq!(version(newest.clone()), newest.version());
    let mut pinned = with_cells().with(&user("runner"), set(json!({"version": 2})));
    pinned.now += 600_000;
    assert_eq!(version(pinned), 2);
}

#[test]
fn a_refused_run_stops_the_schedule_until_somebody_sets_it_again() {
    let id = "daily".parse().unwrap();
    let mut world = stopped();
    let last = world.notebook.schedules[&id].last.clone().unwrap();
    assert_eq!(last.outcome.known(), Some(&ScheduledRunOutcome::Refused));
    assert!(world.notebook.schedules[&id].stopped);
    world.step(&user("ann"), set(json!({})));
    let schedule = &world.notebook.schedules[&id];
    assert!(!schedule.stopped && schedule.maker == user("ann").actor);
    assert_eq!(schedule.after, world.now, "what was due before is over");
    assert_eq!(schedule.last, Some(last), "the page still shows it");
}

#[test]
fn a_notebook_without_schedules_has_no_field_for_them() {
    assert!(!with_cells().json().to_string().contains("schedules"));
    let removed = scheduled().with(&user("ann"), remove());
    assert!(!removed.json().to_string().contains("schedules"));
}

#[test]
fn undo_leaves_schedules_alone() {
    let mut world = scheduled().with(&user("editor"), set(json!({})));
    assert_eq!(world.try_do(&user("editor"), &json!({"Undo": {}})).unwrap_err().code, Code::NothingToUndo);
}

/// Commands about a schedule, for the property tests.
pub fn any_command() -> impl Strategy<Value = Value> {
    let id = || select(vec!["daily", "weekly"]);
    prop_oneof![
        2 => (id(), 0..3).prop_map(|(id, hour)| json!({"SetSchedule": {"schedule_id": id, "cron": format!("0 {hour} * * *")}})),
        1 => id().prop_map(|id| json!({"RemoveSchedule": {"schedule_id": id}})),
        1 => (id(), 0..3).prop_map(|(id, run)| json!({"RunSchedule": {"schedule_id": id, "run": format!("run-{run}")}})),
    ]
}
