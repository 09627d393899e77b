//! Machines of kernels: launches for a named agent or for labels, settings of a notebook, and absent agents.

use crate::support::*;
use notarium_core::{
    Event, ExecutionStatus as Status, KernelPhase, KernelPlacement, KernelSessionId, Labels, RejectionCode as Code,
    is_kept_for_its_agent, is_replaced_for_waiting_runs,
};
use serde_json::Value;

fn labels(pairs: &[(&str, &str)]) -> Labels {
    pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
}

/// The agent `gpu` has the label `gpu=a100`.
fn labelled(mut world: World) -> World {
    world.labels.insert(agent("gpu").actor, labels(&[("gpu", "a100"), ("place", "cellar")]));
    world
}

fn launch(mut world: World, launch: Value) -> World {
    let session = world.step(&user("ann"), json!({"LaunchKernel": launch})).kernel_session.unwrap();
    world.name("kernel", format!("\"{session}\""));
    world
}

fn for_gpu2() -> World {
    launch(with_cells(), json!({"agent": "gpu2"}))
}

fn for_a100() -> World {
    labelled(launch(with_cells(), json!({"labels": {"gpu": "a100"}})))
}

fn claim() -> Value {
    json!({"ClaimKernelLaunch": {"kernel_session": "$kernel"}})
}

fn restart(more: Value) -> Value {
    let mut fields = more;
    fields["kernel_session"] = json!("$kernel");
    json!({"RestartKernel": fields})
}

fn settings(settings: Value) -> Value {
    json!({"SetKernelSettings": settings})
}

fn many() -> Value {
    (0..17).map(|number| (format!("k{number}"), json!("v"))).collect::<serde_json::Map<_, _>>().into()
}

pub fn cases() -> Vec<Case> {
    let (ann, gpu, tpu, gpu2) = (|| user("ann"), || agent("gpu"), || agent("tpu"), || agent("gpu2"));
    let asks = || launch(with_cells().with(&user("ann"), settings(json!({"labels": {"gpu": "a100"}}))), json!({}));
    let named = || json!({"LaunchKernel": {"agent": "gpu2"}});
    let odd = |labels: Value| json!({"LaunchKernel": {"labels": labels}});
    let ending = || queued().with(&user("ann"), json!({"ShutDownKernel": {"kernel_session": "$kernel"}}));
    vec![
        case(with_cells, ann(), named(), events(["KernelLaunchRequested"])),
        case(with_cells, ann(), odd(json!({"gpu": "a100"})), events(["KernelLaunchRequested"])),
        case(with_cells, ann(), odd(json!({"": "a100"})), rejected(Code::InvalidValue)),
        case(with_cells, ann(), odd(json!({"gpu": "a 100"})), rejected(Code::InvalidValue)),
        case(with_cells, ann(), odd(json!({"gpu": "x".repeat(64)})), rejected(Code::InvalidValue)),
        case(with_cells, ann(), odd(many()), rejected(Code::InvalidValue)),
        case(for_gpu2, gpu2(), claim(), events(["KernelLaunchClaimed"])),
        case(for_gpu2, gpu(), claim(), rejected(Code::AgentNotWanted)),
        case(for_a100, gpu(), claim(), events(["KernelLaunchClaimed"])),
        case(for_a100, tpu(), claim(), rejected(Code::AgentNotWanted)),
        case(asks, tpu(), claim(), rejected(Code::AgentNotWanted)),
        case(
            started,
            ann(),
            restart(json!({"agent": "gpu2"})),
            events(["KernelShutdownRequested", "KernelLaunchRequested"]),
        ),
        case(
            queued,
            ann(),
            restart(json!({"labels": {"gpu": "a100"}})),
            events(["ExecutionCancelled", "KernelShutdownRequested", "KernelLaunchRequested"]),
        ),
        case(
            for_gpu2,
            ann(),
            restart(json!({"labels": {}})),
            events(["KernelShutdownRequested", "KernelSessionEnded", "KernelLaunchRequested"]),
        ),
        case(for_gpu2, ann(), restart(json!({})), rejected(Code::KernelState)),
        case(ending, ann(), restart(json!({"agent": "gpu2"})), rejected(Code::KernelState)),
        case(started, ann(), restart(json!({"labels": {"": ""}})), rejected(Code::InvalidValue)),
        case(created, ann(), settings(json!({"replacement": "replace"})), events(["NotebookKernelSettingsSet"])),
        case(created, ann(), settings(json!({"replacement": "ask"})), nothing()),
        case(created, ann(), settings(json!({"labels": {"gpu": ""}})), rejected(Code::InvalidValue)),
        case(archived, ann(), settings(json!({"replacement": "wait"})), rejected(Code::NotebookArchived)),
        case(shared, user("runner"), settings(json!({"replacement": "wait"})), rejected(Code::Forbidden)),
    ]
}

#[test]
fn every_choice_of_a_machine_is_accepted_or_refused_as_written() {
    check_all("machines", &cases());
}

/// A notebook that asks for a GPU, a machine that is named, and a restart on another.
pub fn story() -> World {
    let mut world = labelled(with_cells());
    world.step(&user("ann"), settings(json!({"replacement": "replace", "labels": {"gpu": "a100"}})));
    let mut world = launch(world, json!({"agent": "gpu2", "labels": {"place": "cellar"}}));
    let next = world.step(&user("ann"), restart(json!({"labels": {"gpu": "a100"}}))).kernel_session.unwrap();
    world.name("kernel", format!("\"{next}\""));
    world.step(&agent("gpu"), claim());
    world.step(&agent("gpu"), report_started());
    let next = world.step(&user("ann"), restart(json!({}))).kernel_session.unwrap();
    world.step(&agent("gpu"), json!({"ReportKernelEnded": {"kernel_session": "$kernel", "cause": "restarted"}}));
    world.name("kernel", format!("\"{next}\""));
    world.step(&agent("gpu"), report_started());
    world.step(&user("ann"), settings(json!({"labels": {}, "replacement": "ask"})));
    world
}

fn kernel(world: &World) -> KernelSessionId {
    world.names["kernel"].trim_matches('"').parse().unwrap()
}

fn placement(world: &World) -> KernelPlacement {
    world.notebook.kernels[&kernel(world)].placement.clone()
}

#[test]
fn a_launch_asks_for_the_labels_of_the_notebook_unless_it_says_more() {
    let asks = || labelled(with_cells()).with(&user("ann"), settings(json!({"labels": {"gpu": "a100"}})));
    let of = |launch_of: Value| placement(&launch(asks(), launch_of));
    let (gpu, none) = (labels(&[("gpu", "a100")]), Labels::new());
    let named = |labels: &Labels| KernelPlacement { agent: Some("gpu2".parse().unwrap()), labels: labels.clone() };
    assert_eq!(of(json!({})), KernelPlacement::labelled(gpu.clone()));
    assert_eq!(of(json!({"labels": {}})), KernelPlacement::labelled(none.clone()));
    assert_eq!(of(json!({"agent": "gpu2"})), named(&none));
    assert_eq!(of(json!({"agent": "gpu2", "labels": {"gpu": "a100"}})), named(&gpu));
    let mut world = asks();
    let first = world.step(&user("ann"), request("a", "run-a")).kernel_session.unwrap();
    assert_eq!(world.notebook.kernels[&first].placement, KernelPlacement::labelled(gpu), "a run's launch too");
}

#[test]
fn a_restart_keeps_what_the_launch_asked_for() {
    let mut world = for_a100();
    world.step(&agent("gpu"), claim());
    world.step(&agent("gpu"), report_started());
    let next = world.step(&user("ann"), restart(json!({}))).kernel_session.unwrap();
    assert_eq!(world.notebook.kernels[&next].placement, KernelPlacement::labelled(labels(&[("gpu", "a100")])));
}

#[test]
fn a_restart_elsewhere_keeps_within_the_number_of_kernels() {
    let mut world = started();
    world.limits.max_kernels = 1;
    world.step(&user("ann"), restart(json!({"agent": "gpu2"})));
    let next = world.notebook.kernels.iter().find(|(_, session)| session.is_usable()).unwrap().0.clone();
    world.name("kernel", format!("\"{next}\""));
    let again = world.try_do(&user("ann"), &restart(json!({"agent": "gpu"})));
    assert_eq!(again.unwrap_err().code, Code::LimitExceeded, "the first has not ended");
}

#[test]
fn runs_that_waited_for_a_machine_go_to_the_one_that_is_chosen_next() {
    let mut world = ask(for_gpu2());
    for wanted in [json!({"agent": "gpu3"}), json!({"labels": {}})] {
        let next = world.step(&user("ann"), restart(wanted)).kernel_session.unwrap();
        world.name("kernel", format!("\"{next}\""));
    }
    assert_eq!(world.status("later"), Status::Queued);
    world.step(&agent("tpu"), claim());
    let (events, _) = world.try_do(&agent("tpu"), &report_started()).unwrap();
    assert_eq!(types(&events), ["KernelSessionStarted", "ExecutionAssigned"]);
}

// --- absent agents ---

/// The kernel's agent has been away so long that people are notified.
fn unreachable(mut world: World) -> World {
    world.unreachable.insert(kernel(&world));
    world
}

fn away(mut world: World) -> World {
    world.away.insert(kernel(&world));
    world
}

fn set(world: World, replacement: &str) -> World {
    world.with(&user("ann"), settings(json!({"replacement": replacement})))
}

fn ask(world: World) -> World {
    world.with(&user("ann"), request("c", "later"))
}

fn agent_lost(world: &mut World) -> Vec<Event> {
    let command = json!({"ReportKernelEnded": {"kernel_session": "$kernel", "cause": "agent_lost"}});
    world.try_do(&system(), &command).unwrap().0
}

#[test]
fn a_kernel_without_variables_is_replaced_whatever_the_setting() {
    for replacement in ["ask", "replace", "wait"] {
        let world = unreachable(ask(away(set(started(), replacement))));
        assert!(is_replaced_for_waiting_runs(&world.notebook, &kernel(&world)), "{replacement}");
        let idle = unreachable(set(started(), replacement));
        assert!(!is_replaced_for_waiting_runs(&idle.notebook, &kernel(&idle)), "no run waits");
        let mut asked = idle;
        let (events, _) = asked.try_do(&user("ann"), &request("c", "later")).unwrap();
        assert_eq!(types(&events), ["KernelSessionEnded", "KernelLaunchRequested", "ExecutionRequested"]);
    }
}

#[test]
fn a_kernel_with_variables_is_replaced_if_the_notebook_says_so() {
    for (replacement, is_replaced) in [("ask", false), ("wait", false), ("replace", true)] {
        let world = unreachable(ask(away(set(finished(), replacement))));
        assert_eq!(is_replaced_for_waiting_runs(&world.notebook, &kernel(&world)), is_replaced, "{replacement}");
        let mut asked = unreachable(set(finished(), replacement));
        let (events, _) = asked.try_do(&user("ann"), &request("c", "later")).unwrap();
        if !is_replaced {
            assert_eq!(types(&events), ["ExecutionRequested"], "{replacement}");
            continue;
        }
        assert_eq!(types(&events), ["KernelSessionEnded", "KernelLaunchRequested", "ExecutionRequested"]);
        let Event::KernelLaunchRequested(launch) = &events[1] else { unreachable!() };
        assert_eq!(launch.replaces.as_ref().unwrap().kernel_session, kernel(&asked), "says what is lost");
    }
}

#[test]
fn a_run_that_has_begun_keeps_its_kernel() {
    let world = unreachable(ask(away(set(running(), "replace"))));
    assert!(!is_replaced_for_waiting_runs(&world.notebook, &kernel(&world)));
    let mut world = unreachable(set(running(), "replace"));
    assert_eq!(types(&world.try_do(&user("ann"), &request("c", "later")).unwrap().0), ["ExecutionRequested"]);
}

#[test]
fn a_kernel_whose_agent_was_named_waits_for_that_agent() {
    let mut world = for_gpu2();
    world.step(&agent("gpu2"), claim());
    world.step(&agent("gpu2"), report_started());
    let mut world = unreachable(ask(away(set(world, "replace"))));
    assert!(!is_replaced_for_waiting_runs(&world.notebook, &kernel(&world)));
    agent_lost(&mut world);
    let (_, next) = world.notebook.kernels.first_key_value().unwrap();
    assert_eq!(next.placement.agent, Some("gpu2".parse().unwrap()), "after its end too");
    assert_eq!(world.status("later"), Status::Queued);
}

#[test]
fn a_replacement_has_the_labels_and_not_the_machine() {
    let mut world = for_a100();
    world.step(&agent("gpu"), claim());
    let mut world = unreachable(world);
    world.step(&user("ann"), request("c", "later"));
    let (_, next) = world.notebook.kernels.first_key_value().unwrap();
    assert_eq!((next.phase, &next.agent), (KernelPhase::Requested, &None));
    assert_eq!(next.placement, KernelPlacement::labelled(labels(&[("gpu", "a100")])));
}

#[test]
fn the_lease_ends_no_kernel_that_the_notebook_keeps() {
    for (replacement, given, is_kept) in [
        ("wait", finished as fn() -> World, true),
        ("wait", started, false),
        ("ask", finished, false),
        ("replace", finished, false),
    ] {
        let world = unreachable(set(given(), replacement));
        assert_eq!(is_kept_for_its_agent(&world.notebook, &kernel(&world)), is_kept, "{replacement}");
    }
}

/// An agent dies while it starts the kernel of a nightly run.
#[test]
fn runs_of_a_kernel_that_its_agent_lost_before_it_ran_anything_get_another() {
    let mut world = claimed().with(&user("ann"), request("a", "one")).with(&user("ann"), request("c", "two"));
    assert!(is_replaced_for_waiting_runs(&world.notebook, &kernel(&world)));
    assert_eq!(types(&agent_lost(&mut world)), ["KernelSessionEnded", "KernelLaunchRequested"]);
    let next = world.notebook.kernels.keys().next().unwrap().clone();
    world.name("kernel", format!("\"{next}\""));
    world.step(&agent("tpu"), claim());
    let (events, _) = world.try_do(&agent("tpu"), &report_started()).unwrap();
    assert_eq!(types(&events), ["KernelSessionStarted", "ExecutionAssigned"]);
    assert_eq!(world.execution("one").unwrap().kernel_session, Some(next));
    assert_eq!((world.status("one"), world.status("two")), (Status::Assigned, Status::Queued));
}

#[test]
fn a_run_moves_once_so_that_no_run_goes_through_all_machines() {
    let mut world = claimed().with(&user("ann"), request("a", "one"));
    agent_lost(&mut world);
    let next = world.notebook.kernels.keys().next().unwrap().clone();
    world.name("kernel", format!("\"{next}\""));
    world.step(&agent("tpu"), claim());
    assert_eq!(types(&agent_lost(&mut world)), ["ExecutionCancelled", "KernelSessionEnded"]);
}

#[test]
fn a_run_for_a_named_kernel_does_not_move_to_the_other() {
    let mut world = launch(finished(), json!({}));
    world.step(&agent("tpu"), claim());
    world.step(
        &user("ann"),
        json!({"RequestExecution": {"execution_id": "named", "target": {"cell": {"cell_id": "c"}}, "kernel_session": "$kernel"}}),
    );
    agent_lost(&mut world);
    assert_eq!(world.status("named"), Status::Cancelled);
}
