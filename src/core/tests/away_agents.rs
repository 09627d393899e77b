//! Runs that are requested while the agent of their kernel is away: they wait, and no kernel runs them twice.

use crate::support::*;
use notarium_core::{Event, ExecutionStatus as Status, KernelSessionId};
use serde_json::Value;

fn on_kernel(command: &str) -> Value {
    json!({command: {"kernel_session": "$kernel"}})
}

fn alive(sessions: &[&str]) -> Value {
    json!({"ReconcileKernels": {"alive": sessions}})
}

fn ended(cause: &str) -> Value {
    json!({"ReportKernelEnded": {"kernel_session": "$kernel", "cause": cause}})
}

fn kernel(world: &World) -> KernelSessionId {
    world.names["kernel"].trim_matches('"').parse().unwrap()
}

/// The kernel's agent is away, for a short time so far.
fn away(mut world: World) -> World {
    world.away.insert(kernel(&world));
    world
}

fn back(mut world: World) -> World {
    world.away.clear();
    world.unreachable.clear();
    world
}

/// The kernel's agent has been away so long that people are notified.
fn unreachable(mut world: World) -> World {
    world.unreachable.insert(kernel(&world));
    world
}

fn ask(world: World, cell: &str, run: &str) -> World {
    world.with(&user("ann"), request(cell, run))
}

fn told(world: &mut World, who: &Who, command: Value) -> (Vec<&'static str>, Vec<Event>) {
    let (events, _) = world.try_do(who, &command).unwrap_or_else(|rejection| panic!("{command}: {rejection:?}"));
    (types(&events), events)
}

/// Another agent starts the kernel that was launched last.
fn start_the_next(world: &mut World) -> Vec<&'static str> {
    let next = world.notebook.kernels.iter().max_by_key(|(_, session)| session.requested_version).unwrap().0.clone();
    world.name("kernel", format!("\"{next}\""));
    world.step(&agent("tpu"), on_kernel("ClaimKernelLaunch"));
    let started = json!({"ReportKernelStarted": {"kernel_session": "$kernel", "language_info": {}, "sandbox": {"effects": "held"}}});
    told(world, &agent("tpu"), started).0
}

#[test]
fn such_a_run_waits_and_the_kernel_that_lives_takes_it() {
    let mut world = away(finished());
    let (events, outcome) = world.try_do(&user("ann"), &request("c", "later")).unwrap();
    assert_eq!(types(&events), ["ExecutionRequested"]);
    assert_eq!(outcome.kernel_session, Some(kernel(&world)), "the kernel that it waits for");
    assert_eq!(world.execution("later").unwrap().kernel_session, None);
    let mut world = back(world);
    assert_eq!(told(&mut world, &agent("gpu"), alive(&["$kernel"])).0, ["ExecutionAssigned"]);
    assert_eq!(world.execution("later").unwrap().kernel_session, Some(kernel(&world)));
    assert!(told(&mut world, &agent("gpu"), alive(&["$kernel"])).0.is_empty(), "once");
}

#[test]
fn the_queue_goes_on_in_the_order_of_requests() {
    let mut world = back(ask(ask(away(finished()), "c", "one"), "a", "two"));
    let (events, _) = world.try_do(&user("ann"), &request("c", "three")).unwrap();
    let assigned = events.iter().find_map(|event| match event {
        Event::ExecutionAssigned(event) => Some(event.execution_id.as_str()),
        _ => None,
    });
    assert_eq!(assigned, Some("one"), "whoever comes first, what has waited longest is first");
    world.step(&agent("gpu"), report("one", 1, completed(true)));
    assert_eq!((world.status("two"), world.status("three")), (Status::Assigned, Status::Queued));
}

#[test]
fn where_the_kernel_is_gone_another_is_launched_that_says_what_is_lost() {
    for gone in [alive(&[]), ended("agent_lost"), ended("died")] {
        let mut world = back(ask(away(finished()), "c", "later"));
        let (types, events) = told(&mut world, &agent("gpu"), gone);
        assert_eq!(types, ["KernelSessionEnded", "KernelLaunchRequested"]);
        let Event::KernelLaunchRequested(launch) = &events[1] else { unreachable!() };
        assert_eq!(launch.replaces.as_ref().unwrap().kernel_session, kernel(&world));
        assert_eq!(world.status("later"), Status::Queued);
        assert_eq!(start_the_next(&mut world), ["KernelSessionStarted", "ExecutionAssigned"]);
        assert_eq!(world.execution("later").unwrap().kernel_session, Some(kernel(&world)));
    }
}

#[test]
fn a_kernel_in_which_nothing_had_run_is_replaced_without_a_word() {
    let mut world = back(ask(away(claimed()), "c", "later"));
    let (types, events) = told(&mut world, &agent("gpu"), alive(&[]));
    assert_eq!(types, ["KernelSessionEnded", "KernelLaunchRequested"]);
    assert!(matches!(&events[1], Event::KernelLaunchRequested(launch) if launch.replaces.is_none()));
}

#[test]
fn what_had_begun_is_lost_and_what_waited_behind_it_is_cancelled() {
    let mut world = back(ask(away(queued()), "a", "later"));
    let (types, _) = told(&mut world, &agent("gpu"), alive(&[]));
    assert_eq!(types, ["ExecutionLost", "ExecutionCancelled", "KernelSessionEnded", "KernelLaunchRequested"]);
    start_the_next(&mut world);
    let late = world.try_do(&agent("gpu"), &report("run-a", 2, output(&["late"]))).unwrap().0;
    assert_eq!(crate::support::types(&late), ["ExecutionOutputRecovered"]);
    let runs = world.recorded.iter().filter_map(|recorded| match &recorded.event {
        Event::ExecutionAssigned(event) => Some(event.execution_id.as_str()),
        _ => None,
    });
    assert_eq!(runs.collect::<Vec<_>>(), ["run-a", "later"], "each is given to a kernel once");
}

#[test]
fn what_has_waited_behind_another_since_ends_with_the_kernel() {
    let mut world = back(ask(ask(away(finished()), "c", "one"), "a", "two"));
    world.step(&agent("gpu"), alive(&["$kernel"]));
    assert_eq!(
        told(&mut world, &agent("gpu"), ended("died")).0,
        ["ExecutionLost", "ExecutionCancelled", "KernelSessionEnded"]
    );
}

#[test]
fn what_stops_with_a_run_that_is_lost_is_not_run_elsewhere() {
    let group = |cell: &str, run: &str| json!({"RequestExecution": {"execution_id": run, "target": {"cell": {"cell_id": cell}}, "stop_on_error": true}});
    let mut world = started();
    world.correlation = Some("all");
    world.step(&user("ann"), group("a", "one"));
    let mut world = away(world).with(&user("ann"), group("c", "two"));
    world.correlation = None;
    let (types, _) = told(&mut back(world), &agent("gpu"), alive(&[]));
    assert_eq!(types, ["ExecutionLost", "ExecutionCancelled", "KernelSessionEnded"]);
}

#[test]
fn a_person_who_gives_up_or_restarts_lets_it_run_elsewhere_and_who_shuts_down_does_not() {
    let waiting = || unreachable(ask(away(running()), "c", "later"));
    let mut restarted = waiting();
    told(&mut restarted, &user("ann"), on_kernel("RestartKernel"));
    let mut given_up = waiting();
    told(&mut given_up, &user("ann"), json!({"GiveUpExecution": {"execution_id": "run-a"}}));
    for mut world in [restarted, given_up] {
        assert_eq!(world.status("later"), Status::Queued);
        assert_eq!(start_the_next(&mut world), ["KernelSessionStarted", "ExecutionAssigned"]);
    }
    let mut shut_down = waiting();
    told(&mut shut_down, &user("ann"), on_kernel("ShutDownKernel"));
    assert_eq!(shut_down.status("later"), Status::Cancelled);
    let mut archived = waiting().with(&user("ann"), json!({"ArchiveNotebook": {}}));
    told(&mut archived, &system(), ended("agent_lost"));
    assert_eq!(archived.status("later"), Status::Cancelled);
}

#[test]
fn a_run_that_is_given_up_before_anybody_is_told_leaves_the_next_to_wait() {
    let mut world = ask(away(running()), "c", "later");
    let (types, _) = told(&mut world, &user("ann"), json!({"GiveUpExecution": {"execution_id": "run-a"}}));
    assert_eq!(types, ["ExecutionLost"]);
    assert_eq!(told(&mut back(world), &agent("gpu"), alive(&["$kernel"])).0, ["ExecutionAssigned"]);
}

#[test]
fn a_kernel_of_the_same_kind_takes_it_and_one_of_another_does_not() {
    for (kernelspec, status) in [("python3", Status::Assigned), ("ir", Status::Cancelled)] {
        let mut world = finished();
        let first = world.names["kernel"].clone();
        world.step(&user("ann"), json!({"LaunchKernel": {"kernelspec": kernelspec}}));
        start_the_next(&mut world);
        world.name("kernel", first);
        let mut world = back(ask(away(world), "c", "later"));
        told(&mut world, &agent("gpu"), alive(&[]));
        assert_eq!(world.status("later"), status, "{kernelspec}");
    }
}

#[test]
fn a_run_for_a_named_kernel_waits_for_that_one_alone() {
    let named = json!({"RequestExecution": {"execution_id": "named", "target": {"cell": {"cell_id": "c"}}, "kernel_session": "$kernel"}});
    let waiting = || back(away(finished()).with(&user("ann"), named.clone()));
    assert_eq!(told(&mut waiting(), &agent("gpu"), alive(&["$kernel"])).0, ["ExecutionAssigned"]);
    assert_eq!(told(&mut waiting(), &agent("gpu"), alive(&[])).0, ["ExecutionCancelled", "KernelSessionEnded"]);
}

#[test]
fn a_restart_that_the_agent_did_not_live_to_hear_of_ends_with_the_kernel() {
    let mut world = away(finished()).with(&user("ann"), on_kernel("RestartKernel"));
    world.away.extend(world.notebook.kernels.keys().cloned().collect::<Vec<_>>());
    let mut world = back(ask(world, "c", "later"));
    let mut heard = world.clone();
    assert!(told(&mut heard, &agent("gpu"), alive(&["$kernel"])).0.is_empty(), "what follows a living one is not dead");
    let (types, _) = told(&mut world, &agent("gpu"), ended("agent_lost"));
    assert_eq!(types, ["KernelSessionEnded", "KernelSessionEnded", "KernelLaunchRequested"]);
    assert_eq!(start_the_next(&mut world), ["KernelSessionStarted", "ExecutionAssigned"]);
}

#[test]
fn an_unused_kernel_that_cannot_be_reached_is_replaced_for_the_waiting_too() {
    let mut world = unreachable(ask(away(started()), "c", "first"));
    told(&mut world, &user("ann"), request("a", "second"));
    assert_eq!(start_the_next(&mut world), ["KernelSessionStarted", "ExecutionAssigned"]);
    assert_eq!((world.status("first"), world.status("second")), (Status::Assigned, Status::Queued));
}

#[test]
fn a_run_that_was_lost_before_its_agent_told_of_its_begin_says_so() {
    let assigned = started().with(&user("ann"), request("a", "run-a"));
    assert_eq!(assigned.status("run-a"), Status::Assigned);
    for (world, said) in [
        (assigned, "its runtime agent is gone; nobody knows whether it began"),
        (running(), "its runtime agent is gone"),
    ] {
        let world = world.with(&agent("gpu"), ended("agent_lost"));
        assert_eq!(world.status("run-a"), Status::Lost);
        assert_eq!(world.execution("run-a").unwrap().end_sentence().as_deref(), Some(said));
    }
}
